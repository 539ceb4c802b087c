cdef struct Found:
    double score            # of a judged document in the run, where the run has scores
    double grade
    Py_ssize_t document     # its place among the judged documents of the query
    Py_ssize_t above        # documents with a higher score
    Py_ssize_t tied         # documents with the same score, itself included
    Py_ssize_t rank


# One place of the hash table that finds ids in a list.
cdef struct Slot:
    unsigned int tag
    int place               # place in the list + 1; 0: empty


# All memory that ranking one query takes, kept from query to query: start() before the first use,
# release() after the last.
cdef struct Scratch:
    Py_ssize_t run_capacity
    Py_ssize_t judged_capacity
    Py_ssize_t slot_capacity
    double *scores
    Slot *slots
    Found *found
    Py_ssize_t *ranks
    double *grades
    double *targets
    Py_ssize_t *counts


cdef void start(Scratch *scratch) noexcept nogil
cdef void release(Scratch *scratch) noexcept nogil
cdef int reserve_scores(Scratch *scratch, Py_ssize_t n) except -1 nogil
cdef int reserve_slots(Scratch *scratch, Py_ssize_t n) except -1 nogil
cdef int reserve_judged(Scratch *scratch, Py_ssize_t n) except -1 nogil
cdef void count_above(Scratch *scratch, Py_ssize_t n_scores, Py_ssize_t n_found) noexcept nogil
cdef void finish(Scratch *scratch, Py_ssize_t n_found) noexcept nogil
