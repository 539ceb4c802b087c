from rankmeter._core.ids cimport Table
from rankmeter._core.query cimport Group, Plan, Query, Values


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


cdef struct Found:
    double score            # of a judged document in the run, where the run has scores
    double grade
    Py_ssize_t place        # among the judged documents of the query, or among its candidates
    Py_ssize_t above        # documents with a higher score
    Py_ssize_t tied         # documents with the same score, itself included
    Py_ssize_t rank


# All memory that ranking one query takes, kept from query to query: start() before the first use,
# release() after the last.
cdef struct Scratch:
    Py_ssize_t run_capacity
    Py_ssize_t judged_capacity
    Py_ssize_t slot_capacity
    Py_ssize_t count_capacity
    double *scores
    Table table             # of the ids of a ranking; earlier rankings are up to its base
    Py_ssize_t depth        # ... and those of this one so many further
    Found *found
    Found *spare
    Py_ssize_t *ranks
    double *grades
    double *arranged        # a second array of grades, for bounds
    double *ideal
    double *targets
    Py_ssize_t *columns
    Group *groups
    Py_ssize_t *counts


cdef void start(Scratch *scratch) noexcept nogil
cdef void release(Scratch *scratch) noexcept nogil
cdef int reserve_scores(Scratch *scratch, Py_ssize_t n) except -1 nogil
cdef int open_table(Scratch *scratch, Py_ssize_t n, Py_ssize_t room) except -1 nogil
cdef int reserve_judged(Scratch *scratch, Py_ssize_t n) except -1 nogil
cdef int reserve_counts(Scratch *scratch, Py_ssize_t n) except -1 nogil
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
cdef void sort_grades(const double *grades, Py_ssize_t n, double *ordered) noexcept nogil
cdef bint places_by_grade(
    const double *grades, Py_ssize_t n, Py_ssize_t *places
) noexcept nogil
cdef int score_found(
    const Plan *plan, bint expected, Scratch *scratch, Py_ssize_t n_found, Query *record,
    Values *values,
) except -1 nogil
cdef Ties ties_of(object ties) except *
