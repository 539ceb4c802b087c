from cpython.object cimport PyObject

from rankmeter._core.experiments.scales cimport Keyed, Part, Scale
from rankmeter._core.ids cimport Table


cdef object ABSENT              # the ranking of a query that a run lacks


cdef class Union:
    cdef list documents         # each once, in the order of their appearance
    cdef tuple names
    cdef Scale scale
    cdef double k
    cdef Part *parts
    cdef Py_ssize_t n_parts
    cdef Py_ssize_t capacity
    cdef double *memory
    cdef double *sums
    cdef double *counts         # runs that hold the document
    cdef Keyed *keyed
    cdef Keyed *spare
    cdef Py_ssize_t *last       # 1 + the last run that held the document
    cdef Table table            # of exact documents
    cdef Py_ssize_t n_slots

    cdef int reserve(self, Py_ssize_t n) except -1
    cdef int lay_out(self, const Py_ssize_t *sizes) except -1
    cdef int read(self, object query, list rankings) except -1
    cdef bint read_exact(self, object query, list rankings) except -1
    cdef Py_ssize_t place_of(self, PyObject *document) except -1
    cdef Py_ssize_t read_exact_dict(self, dict ranking, Py_ssize_t i, Py_ssize_t n) except -2
    cdef Py_ssize_t read_exact_list(self, list ranking, Py_ssize_t i, Py_ssize_t n) except -2
    cdef int read_any(self, object query, list rankings) except -1
    cdef int check_kinds(self, object query) except -1
    cdef int share(self, object query, Part *part) except -1
    cdef double by_rank(self, Py_ssize_t rank, Py_ssize_t n) noexcept nogil
    cdef Keyed *in_order(self, object query, Py_ssize_t n) except NULL
    cdef int add(self, object query, const double *weights, bint counted) except -1
    cdef int count(self) noexcept
    cdef dict fused(self, object query, const double *weights, bint counted, Py_ssize_t depth)
