"""Python's own containers, read in place: what the doors for them share."""

from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject, PyObject_Hash
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport uint64_t


cdef extern from "Python.h":
    ctypedef struct PyASCIIObject:
        Py_hash_t hash
    ctypedef struct PyListObject:
        PyObject **ob_item
    bint PyObject_RichCompareBool(object a, object b, int operation) except -1
    int Py_EQ

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define rankmeter_prefetch(address) __builtin_prefetch(address)
    #else
    #define rankmeter_prefetch(address) ((void) (address))
    #endif
    """
    void prefetch "rankmeter_prefetch" (const void *address) noexcept nogil

cdef enum:
    BATCH = 32              # documents that are asked for before the first is needed


cdef inline bint is_exact_id(PyObject *document) noexcept:
    return PyUnicode_CheckExact(<object> document) or PyLong_CheckExact(<object> document)


cdef inline unsigned int tag_of(PyObject *document) except? 0:
    """32 well-mixed bits of the hash. Strings keep theirs, mostly."""
    cdef Py_hash_t value = -1
    if PyUnicode_CheckExact(<object> document):
        value = (<PyASCIIObject *> document).hash
    if value == -1:
        value = PyObject_Hash(<object> document)
    return <unsigned int> ((<uint64_t> value * <uint64_t> 0x9E3779B97F4A7C15) >> 32)
