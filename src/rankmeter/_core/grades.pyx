"""The order of grades. Few of them are distinct, as a rule, so they are counted."""

from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset


cdef int high_to_low(const void *a, const void *b) noexcept nogil:
    cdef double x = (<const double *> a)[0]
    cdef double y = (<const double *> b)[0]
    return (x < y) - (x > y)


cdef void sort_grades(const double *grades, Py_ssize_t n, double *ordered) noexcept nogil:
    """High to low. Small whole numbers are the rule: count them, and look up the place of each."""
    cdef int places[16]
    cdef int whole, highest = 0
    cdef Py_ssize_t i
    memset(places, 0, sizeof(places))
    for i in range(n):
        if not 0.0 <= grades[i] < 16.0 or i > 0x3FFFFFFF:
            break
        whole = <int> grades[i]
        if <double> whole != grades[i]:
            break
        places[whole] += 1
        highest = max(highest, whole)
    else:
        for whole in range(highest - 1, -1, -1):    # [whole]: how many are as high
            places[whole] += places[whole + 1]
        for i in range(n):
            whole = <int> grades[i]
            places[whole] -= 1
            ordered[places[whole]] = grades[i]
        return
    memcpy(ordered, grades, n * sizeof(double))
    qsort(ordered, n, sizeof(double), high_to_low)


cdef bint places_by_grade(
    const double *grades, Py_ssize_t n, Py_ssize_t *places
) noexcept nogil:
    """Where each would stand, best first, equals in their order; False where many are distinct.

    Few distinct grades are the rule: count them.
    """
    cdef double values[16]
    cdef Py_ssize_t counts[16]
    cdef Py_ssize_t i, j, bucket, n_buckets = 0, first = 0, size
    for i in range(n):
        bucket = 0
        while bucket < n_buckets and values[bucket] > grades[i]:
            bucket += 1
        if bucket < n_buckets and values[bucket] == grades[i]:
            counts[bucket] += 1
            continue
        if n_buckets == 16:
            return False
        for j in range(n_buckets, bucket, -1):
            values[j] = values[j - 1]
            counts[j] = counts[j - 1]
        values[bucket] = grades[i]
        counts[bucket] = 1
        n_buckets += 1
    for bucket in range(n_buckets):
        size = counts[bucket]
        counts[bucket] = first
        first += size
    for i in range(n):
        bucket = 0
        while values[bucket] != grades[i]:
            bucket += 1
        places[i] = counts[bucket]
        counts[bucket] += 1
    return True
