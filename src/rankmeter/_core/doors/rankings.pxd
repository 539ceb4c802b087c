from cpython.object cimport PyObject

from rankmeter._core.query cimport Plan, Query
from rankmeter._core.ranks cimport Ties
from rankmeter._core.scratch cimport Scratch


# The judged documents of a query, best grade first. Somebody else owns them.
cdef struct Sought:
    Py_ssize_t n            # to be found
    Py_ssize_t n_documents  # there are, if not one that no metric can feel
    PyObject **documents
    const double *grades


cdef object ALONE               # the query of a ranking that has none

cdef str locate(object query)
cdef object unwrapped(object mapping)
cdef bint keeps_first(object duplicates) except -1
cdef Py_ssize_t rank_any(
    object ranking, const Plan *plan, const Sought *sought, bint exact, bint integers, Ties ties,
    bint keep_first, object query, Scratch *scratch, Query *record,
) except -1
