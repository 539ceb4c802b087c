"""Python's own containers, read in place: what the doors for them share."""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_AsDouble, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_Check
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject, PyTypeObject

from rankmeter._core.ids cimport is_integer, is_known_number, is_number


cdef extern from "Python.h":
    ctypedef struct PyListObject:
        PyObject **ob_item
    bint PyObject_RichCompareBool(object a, object b, int operation) except -1
    int Py_EQ
    PyTypeObject *Py_TYPE(object instance)
    PyTypeObject PyFloat_Type

cdef extern from *:
    const double EXACT_INTEGERS "9007199254740992.0"    # from 2^53 on, doubles skip integers

cdef extern from "dict_values.h":
    enum:
        VALUES_BY_ITERATOR "RANKMETER_VALUES_BY_ITERATOR"
    void prefetch "RANKMETER_PREFETCH" (const void *address) noexcept nogil
    Py_ssize_t next_values "rankmeter_next_values" (
        object mapping, object iterator, Py_ssize_t *position, PyObject **values, Py_ssize_t most
    ) noexcept

cdef enum:
    BATCH = 32              # documents that are asked for before the first is needed


cdef inline bint has_items_of_dict(object given) except -1:
    """Whether this is a dict, or of a subclass whose items() says no more than that of dict.

    It is read in place then: whatever else it overrides, its items() would not ask for that.
    """
    return type(given) is dict or (isinstance(given, dict) and type(given).items is dict.items)


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
    """The double that an int is, or an instance of a subclass, such as bool.

    No code of the caller's is run. False for other types, and where doubles skip some.
    """
    if not PyLong_Check(<object> value):
        return False
    try:
        number[0] = PyLong_AsDouble(<object> value)
    except OverflowError:
        return False
    return -EXACT_INTEGERS < number[0] < EXACT_INTEGERS


# The type of the number before, which is likely to come again.
cdef struct Kind:
    PyTypeObject *type
    bint integral


cdef inline bint read_known(object value, Kind *latest, double *number) except -1:
    """The double that a number of a known type is. False for others, and where doubles skip some.

    False, too, if it is none for its own reasons. Code of the caller's may run.
    """
    if Py_TYPE(value) != latest.type:
        if PyFloat_Check(value):
            number[0] = PyFloat_AS_DOUBLE(value)
            return True
        if not is_known_number(value):
            return False
        latest.type = Py_TYPE(value)
        latest.integral = is_integer(value)
    if latest.integral:
        value = PyNumber_Index(value)
        return read_integer(<PyObject *> value, number)
    try:
        number[0] = PyFloat_AsDouble(value)
    except (OverflowError, TypeError, ValueError):
        return False
    return True


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
