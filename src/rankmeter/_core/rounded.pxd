# Both grow or compute deterministically: see rounded.pyx.
cdef const double *discounts(Py_ssize_t last_rank) except NULL nogil
cdef double exp2m1(double x) noexcept nogil
cdef double log_of(double x) noexcept nogil
cdef double log2_of(double x) noexcept nogil
cdef double exp2_of(double x) noexcept nogil
