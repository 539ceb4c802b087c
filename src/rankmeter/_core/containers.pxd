"""Python's own containers, read in place: what the doors for them share."""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.object cimport PyObject, PyTypeObject


cdef extern from "Python.h":
    ctypedef struct PyListObject:
        PyObject **ob_item
    bint PyObject_RichCompareBool(object a, object b, int operation) except -1
    int Py_EQ
    PyTypeObject *Py_TYPE(object instance)
    PyTypeObject PyFloat_Type

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


cdef inline bint read_double(PyObject *value, double *number, PyTypeObject **latest) noexcept:
    """The double that a float holds, or an instance of a subclass, such as numpy's float64.

    No code of the caller's is run. False for other types. `latest` is the type of the value before,
    which is likely to come again.
    """
    if Py_TYPE(<object> value) != latest[0]:
        if not PyFloat_Check(<object> value):
            return False
        latest[0] = Py_TYPE(<object> value)
    number[0] = PyFloat_AS_DOUBLE(<object> value)
    return True
