from rankmeter._core.ids cimport Table
from rankmeter._core.query cimport Group


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
