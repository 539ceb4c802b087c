"""Python's own containers, read in place: what the doors for them share."""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_AsDouble, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject

from rankmeter._core.ids cimport is_number


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
    const double EXACT_INTEGERS "9007199254740992.0"    # from 2^53 on, doubles skip integers

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


cdef inline bint read_integer(PyObject *value, double *number) noexcept:
    """The double that is an exact integer. False for other types, and where doubles skip some."""
    if not PyLong_CheckExact(<object> value):
        return False
    try:
        number[0] = PyLong_AsDouble(<object> value)
    except OverflowError:
        return False
    return -EXACT_INTEGERS < number[0] < EXACT_INTEGERS


cdef inline double number_of(object value, str where, str what, object document) except? -1:
    """The double that any object stands for."""
    try:
        if not PyFloat_Check(value) and not is_number(value):
            raise TypeError
        return PyFloat_AsDouble(value)
    except TypeError:
        raise TypeError(
            f"{where}the {what} of document {document!r} is not a number: {value!r}"
        ) from None
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"{where}the {what} of document {document!r} is not a double: {value!r} ({error})"
        ) from None
