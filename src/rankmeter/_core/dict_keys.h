/* Whether all keys of a dict are exact str, without a look at any of them: CPython keeps that with
   the keys (dk_kind), behind a count and two bytes, in all versions from 3.11 on. That is not part
   of its interface, so the word is taken only if it is found right on import; where it is not, or
   says that there may be other keys, the caller looks at each. */

#ifndef RANKMETER_DICT_KEYS_H
#define RANKMETER_DICT_KEYS_H

#include <Python.h>

static int rankmeter_keys_have_kind = 0; /* set on import */

static inline int rankmeter_kind_of_keys(PyObject *dict) {
    const unsigned char *keys = (const unsigned char *) ((PyDictObject *) dict)->ma_keys;
    return keys[sizeof(Py_ssize_t) + 2];
}

/* 1: all are exact str; 0: not known. To be asked of dicts, which may be of a subclass. */
static inline int rankmeter_all_text(PyObject *dict) {
    return rankmeter_keys_have_kind && rankmeter_kind_of_keys(dict) == 1;
}

#endif
