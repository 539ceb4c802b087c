/* The values of a dict, without a look at its keys, which may lie all over memory.

   Before 3.13 PyDict_Next reads the hash of each key, asked for or not, and dicts of str have it
   from the str: a miss of the cache for each. So do PyDict_Values and PyDict_Copy. An iterator
   reads the values alone. From 3.13 on PyDict_Next leaves alone what it is not asked for, and, other
   than an iterator, it does not touch the values either, so that they can be asked for ahead; where
   there is no GIL it spares two atomic counts for each, in a critical section. */

#ifndef RANKMETER_DICT_VALUES_H
#define RANKMETER_DICT_VALUES_H

#include <Python.h>

#if defined(__GNUC__)
#define RANKMETER_PREFETCH(address) __builtin_prefetch(address)
#else
#define RANKMETER_PREFETCH(address) ((void) (address))
#endif

#define RANKMETER_VALUES_BY_ITERATOR (PY_VERSION_HEX < 0x030D0000)

/* Values of `dict` from `position` on, `most` or fewer, borrowed; 0 at the end. `iterator` goes through
   them, where there must be one. To be asked while nobody else can change the dict. */
static inline Py_ssize_t rankmeter_next_values(
    PyObject *dict, PyObject *iterator, Py_ssize_t *position, PyObject **values, Py_ssize_t most
) {
    Py_ssize_t n = 0;
#if RANKMETER_VALUES_BY_ITERATOR
    iternextfunc next = Py_TYPE(iterator)->tp_iternext;
    PyObject *value;
    (void) dict, (void) position;
    while (n < most && (value = next(iterator)) != NULL) {
        Py_DECREF(value); /* the dict has it */
        values[n++] = value;
    }
#else
    (void) iterator;
    while (n < most && PyDict_Next(dict, position, NULL, &values[n])) {
        RANKMETER_PREFETCH(values[n]);
        n++;
    }
#endif
    return n;
}

#endif
