cdef void sort_grades(const double *grades, Py_ssize_t n, double *ordered) noexcept nogil
cdef bint places_by_grade(
    const double *grades, Py_ssize_t n, Py_ssize_t *places
) noexcept nogil
