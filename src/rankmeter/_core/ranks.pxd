from rankmeter._core.query cimport Plan, Query, Values
from rankmeter._core.scratch cimport Scratch


ctypedef fused real:
    float
    double


# The order of documents of equal score.
cdef enum Ties:
    BY_ID
    BY_INPUT
    EXPECTED


cdef extern from "thresholds.h":
    enum:
        MOST_BEST "RANKMETER_MOST_BEST"     # documents that find_best() may find


cdef bint any_nan(const real *scores, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t place_found(
    const real *scores, Py_ssize_t n_scores, Scratch *scratch, Py_ssize_t n_found,
    const Plan *plan, bint by_place,
) except -1 nogil
cdef bint best_are_few(Py_ssize_t n, Py_ssize_t depth) noexcept nogil
cdef Py_ssize_t find_best(
    const real *scores, Py_ssize_t n, Py_ssize_t depth, Scratch *scratch
) except -2 nogil
cdef bint any_tied(const Scratch *scratch, Py_ssize_t n_found) noexcept nogil
cdef bint any_relevant(const Scratch *scratch, Py_ssize_t n_found) noexcept nogil
cdef void finish(Scratch *scratch, Py_ssize_t n_found, Query *record) noexcept nogil
cdef int score_found(
    const Plan *plan, bint expected, Scratch *scratch, Py_ssize_t n_found, Query *record,
    Values *values,
) except -1 nogil
cdef Ties ties_of(object ties) except *
