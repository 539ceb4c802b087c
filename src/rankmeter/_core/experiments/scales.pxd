# What a document gets from a run that holds it, before the weight.
cdef enum Scale:
    AS_IS                   # its score
    MIN_MAX                 # 0 for the lowest score, 1 for the highest
    Z_SCORE                 # standard deviations above the mean
    RANK                    # 1 for the first, 1 / n for the last
    RECIPROCAL              # 1 / (k + rank)


# What one run says of the query at hand.
cdef struct Part:
    Py_ssize_t n
    double *scores
    Py_ssize_t *places      # of the documents, in the order of the run
    double *shares          # what each document gets
    bint ranked             # a list: the order is that of the list


cdef struct Keyed:
    double score
    Py_ssize_t place


cdef Keyed *sort_keyed(Keyed *keyed, Keyed *spare, Py_ssize_t n) noexcept nogil
cdef void scale_min_max(Part *part) noexcept nogil
cdef void scale_z(Part *part) noexcept nogil
