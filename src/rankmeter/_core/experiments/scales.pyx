"""Scores of different runs brought to one scale, and put in order."""

from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, sqrt
from libc.string cimport memcpy


cdef extern from "thresholds.h":
    Py_ssize_t threshold "RANKMETER_THRESHOLD" (Py_ssize_t usual) noexcept nogil

cdef Py_ssize_t SHORT = threshold(8)    # insertion sort up to here


cdef inline bint is_before(const Keyed *a, const Keyed *b) noexcept nogil:
    return a.score > b.score


cdef Keyed *sort_keyed(Keyed *keyed, Keyed *spare, Py_ssize_t n) noexcept nogil:
    """Sort by score, high to low, equals in their order; returns where the result stands."""
    cdef Py_ssize_t i, j, first, middle, end, width = SHORT, out
    cdef Keyed moved
    cdef Keyed *swapped
    for i in range(1, n):
        if is_before(&keyed[i], &keyed[i - 1]):
            break
    else:
        return keyed
    first = 0
    while first < n:
        end = min(first + SHORT, n)
        for i in range(first + 1, end):
            moved = keyed[i]
            j = i
            while j > first and is_before(&moved, &keyed[j - 1]):
                keyed[j] = keyed[j - 1]
                j -= 1
            keyed[j] = moved
        first = end
    while width < n:
        first = 0
        while first < n:
            middle = min(first + width, n)
            end = min(middle + width, n)
            i = first
            j = middle
            out = first
            if middle < end and is_before(&keyed[middle], &keyed[middle - 1]):
                while i < middle and j < end:
                    if is_before(&keyed[j], &keyed[i]):
                        spare[out] = keyed[j]
                        j += 1
                    else:
                        spare[out] = keyed[i]
                        i += 1
                    out += 1
            memcpy(spare + out, keyed + i, (middle - i) * sizeof(Keyed))
            out += middle - i
            memcpy(spare + out, keyed + j, (end - j) * sizeof(Keyed))
            first = end
        swapped = keyed
        keyed = spare
        spare = swapped
        width *= 2
    return keyed


cdef void scale_min_max(Part *part) noexcept nogil:
    """All scores equal: all of them are the highest."""
    cdef Py_ssize_t i
    cdef double lowest = INFINITY, highest = -INFINITY, factor = 1.0, spread
    for i in range(part.n):
        lowest = min(lowest, part.scores[i])
        highest = max(highest, part.scores[i])
    if lowest == highest:
        for i in range(part.n):
            part.shares[i] = 1.0
        return
    if not isfinite(highest - lowest):
        factor = 0.5
    lowest = lowest * factor
    spread = highest * factor - lowest
    for i in range(part.n):
        part.shares[i] = (part.scores[i] * factor - lowest) / spread


cdef void scale_z(Part *part) noexcept nogil:
    """All scores equal: 0, even where the mean is not exactly theirs."""
    cdef Py_ssize_t i
    cdef double largest = 0.0, total = 0.0, mean, deviation
    cdef bint spread = False
    cdef int exponent
    for i in range(part.n):
        largest = max(largest, fabs(part.scores[i]))
        spread |= part.scores[i] != part.scores[0]
    if not spread:
        for i in range(part.n):
            part.shares[i] = 0.0
        return
    # Scaled by a power of two, which changes no digit, so that no square is too large or small.
    frexp(largest, &exponent)
    for i in range(part.n):
        part.shares[i] = ldexp(part.scores[i], -exponent)
        total += part.shares[i]
    mean = total / part.n
    total = 0.0
    for i in range(part.n):
        part.shares[i] -= mean
        total += part.shares[i] * part.shares[i]
    deviation = sqrt(total / part.n)
    for i in range(part.n):
        part.shares[i] /= deviation
