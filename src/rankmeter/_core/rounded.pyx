"""Correctly rounded constants and sums: the same bits on every platform.

The logarithms and powers of C libraries differ in the last bit from one platform to the next.
Here they are computed as unevaluated sums of two doubles (some 105 bits, Dekker 1971) with
nothing but the four operations that IEEE 754 fixes, then rounded once.
"""

cimport cython
from libc.math cimport INFINITY, fabs, floor, frexp, ldexp
from libc.stdint cimport uint64_t

from rankmeter._core.memory cimport allocate


cdef struct Pair:       # the number high + low, |low| at most half a unit of high's last place
    double high
    double low


cdef inline Pair two_sum(double a, double b) noexcept nogil:
    cdef double total = a + b
    cdef double b_part = total - a
    return Pair(total, (a - (total - b_part)) + (b - b_part))


cdef inline Pair two_product(double a, double b) noexcept nogil:
    cdef double product = a * b
    cdef double scaled = 134217729.0 * a        # 2^27 + 1 splits a double into two halves
    cdef double a_high = scaled - (scaled - a)
    cdef double a_low = a - a_high
    scaled = 134217729.0 * b
    cdef double b_high = scaled - (scaled - b)
    cdef double b_low = b - b_high
    cdef double error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high)
    return Pair(product, error + a_low * b_low)


cdef inline Pair add(Pair a, Pair b) noexcept nogil:
    cdef Pair high = two_sum(a.high, b.high)
    cdef Pair low = two_sum(a.low, b.low)
    high = two_sum(high.high, high.low + low.high)
    return two_sum(high.high, high.low + low.low)


cdef inline Pair multiply(Pair a, Pair b) noexcept nogil:
    cdef Pair product = two_product(a.high, b.high)
    return two_sum(product.high, product.low + (a.high * b.low + a.low * b.high))


cdef inline Pair divide(Pair a, Pair b) noexcept nogil:
    cdef double quotient = a.high / b.high
    cdef Pair rest = multiply(b, Pair(-quotient, 0.0))
    rest = add(a, rest)
    cdef double correction = rest.high / b.high
    rest = add(rest, multiply(b, Pair(-correction, 0.0)))
    return add(two_sum(quotient, correction), Pair(rest.high / b.high, 0.0))


cdef inline Pair log_step(Py_ssize_t n) noexcept nogil:
    """log((n + 1) / n) = 2 atanh(1 / (2n + 1)), by its series."""
    cdef Pair z = divide(Pair(1.0, 0.0), Pair(2.0 * n + 1.0, 0.0))
    cdef Pair square = multiply(z, z)
    cdef Pair power = z
    cdef Pair total = z
    cdef double divisor = 1.0
    while power.high > total.high * 1e-34:
        power = multiply(power, square)
        divisor += 2.0
        total = add(total, divide(power, Pair(divisor, 0.0)))
    return Pair(2.0 * total.high, 2.0 * total.low)


cdef Pair LOG_2 = log_step(1)

# A table holds 1 / log2(rank + 1) at index rank. The first one is made on import and never changes,
# so that no lock is needed for the ranks most queries end at. For deeper ones the table is grown
# under a lock; the one it replaces is not freed, since another thread may be reading it (all the
# replaced ones together are smaller than the one in use).
cdef Py_ssize_t FIRST_CAPACITY = 1024
cdef const double *FIRST_TABLE = NULL
cdef const double *TABLE = NULL
cdef Py_ssize_t CAPACITY = 0
cdef Pair LAST_LOG                      # log(CAPACITY)
cdef cython.pymutex GROWING


cdef int grow(Py_ssize_t capacity) except -1 nogil:
    global TABLE, CAPACITY, LAST_LOG
    cdef Py_ssize_t rank
    cdef double *table = <double *> allocate(capacity, sizeof(double))
    table[0] = 0.0                      # there is no rank 0
    for rank in range(1, CAPACITY):
        table[rank] = TABLE[rank]
    for rank in range(max(CAPACITY, 1), capacity):
        LAST_LOG = add(LAST_LOG, log_step(rank))
        table[rank] = divide(LOG_2, LAST_LOG).high
    TABLE = table
    CAPACITY = capacity
    return 0


cdef const double *discounts(Py_ssize_t last_rank) except NULL nogil:
    """The table of 1 / log2(rank + 1), valid at least up to `last_rank`."""
    if last_rank < FIRST_CAPACITY:
        return FIRST_TABLE
    with GROWING:
        if last_rank >= CAPACITY:
            grow(max(2 * CAPACITY, last_rank + 1))
        return TABLE


cdef double tiny_exp2m1(double x) noexcept nogil:
    """2^x - 1 = x log(2) for x so small that the low half of a pair would underflow."""
    cdef double up = ldexp(1.0, 200), down = ldexp(1.0, -200)
    cdef Pair product = multiply(LOG_2, Pair(x * up, 0.0))
    cdef double value = product.high * down
    # Below the normal range that was a second rounding: where it met a tie, the low half decides.
    cdef double rest = product.high - value * up
    if rest == ldexp(1.0, -875) and product.low > 0.0:
        value += ldexp(1.0, -1074)
    elif rest == -ldexp(1.0, -875) and product.low < 0.0:
        value -= ldexp(1.0, -1074)
    return value


cdef double exp2m1(double x) noexcept nogil:
    """2^x - 1 for 0 <= x <= 1023."""
    cdef int small = <int> x
    if x == <double> small and small < 64:
        return <double> ((<uint64_t> 1 << small) - 1)
    if 0.0 < x < 1e-280:
        return tiny_exp2m1(x)
    cdef double whole = floor(x)
    cdef double fraction = x - whole
    cdef double scale = ldexp(1.0, <int> whole)
    if fraction == 0.0:
        return scale - 1.0
    # 2^x - 1 = (scale - 1) + scale * (e^y - 1), y = fraction * log(2)
    cdef Pair y = multiply(LOG_2, Pair(fraction, 0.0))
    cdef Pair term = y
    cdef Pair total = y
    cdef double n = 1.0
    while term.high > total.high * 1e-34:
        n += 1.0
        term = divide(multiply(term, y), Pair(n, 0.0))
        total = add(total, term)
    total = Pair(scale * total.high, scale * total.low)
    return add(two_sum(scale, -1.0), total).high


# Powers and logarithms of any number

cdef Pair logarithm(double x) noexcept nogil:
    """log(x) for a finite x > 0: x = m * 2^e, log(m) = 2 atanh((m - 1) / (m + 1)) by its series."""
    cdef int exponent
    cdef double mantissa = frexp(x, &exponent)
    if mantissa < 0.70710678118654752:
        mantissa *= 2.0
        exponent -= 1
    cdef Pair z = divide(two_sum(mantissa, -1.0), two_sum(mantissa, 1.0))
    cdef Pair square = multiply(z, z)
    cdef Pair power = z
    cdef Pair total = z
    cdef double divisor = 1.0
    while fabs(power.high) > fabs(total.high) * 1e-34:
        power = multiply(power, square)
        divisor += 2.0
        total = add(total, divide(power, Pair(divisor, 0.0)))
    return add(multiply(LOG_2, Pair(exponent, 0.0)), Pair(2.0 * total.high, 2.0 * total.low))


cdef double log_of(double x) noexcept nogil:
    """log(x) for a finite x > 0."""
    return logarithm(x).high


cdef double log2_of(double x) noexcept nogil:
    """log2(x) for a finite x > 0."""
    return divide(logarithm(x), LOG_2).high


cdef double exp2_of(double x) noexcept nogil:
    """2^x for -1000 < x <= 1023."""
    cdef double whole = floor(x)
    if x == whole:
        return ldexp(1.0, <int> whole)
    return ldexp(exponential(multiply(LOG_2, Pair(x - whole, 0.0))), <int> whole)


cdef double exponential(Pair x) noexcept nogil:
    """e^x for -700 < x < 700."""
    cdef double whole = floor(x.high / LOG_2.high + 0.5)
    cdef Pair y = add(x, multiply(LOG_2, Pair(-whole, 0.0)))
    cdef Pair term = Pair(1.0, 0.0)
    cdef Pair total = term
    cdef double n = 0.0
    while fabs(term.high) > 1e-34:
        n += 1.0
        term = divide(multiply(term, y), Pair(n, 0.0))
        total = add(total, term)
    return ldexp(total.high, <int> whole)


def geometric_means(const double[:, :] values, double least):
    """The geometric mean of each column; numbers below `least` count as that.

    Parameters
    ----------
    values : float64 array, rows x columns
        Finite numbers; at least one row.
    least : float
        Above 0.

    Returns
    -------
    list of float
    """
    cdef Py_ssize_t i, j
    cdef Pair total
    if values.shape[0] == 0 or not 0.0 < least < INFINITY:
        raise ValueError("there must be a row, and the least number must be above 0 and finite")
    means = []
    for j in range(values.shape[1]):
        total = Pair(0.0, 0.0)
        for i in range(values.shape[0]):
            if not values[i, j] < INFINITY:
                raise ValueError(f"{values[i, j]} has no logarithm")
            total = add(total, logarithm(max(values[i, j], least)))
        means.append(exponential(divide(total, Pair(<double> values.shape[0], 0.0))))
    return means


def logarithms(const double[:] values):
    """The logarithms of finite numbers above 0, correctly rounded.

    Parameters
    ----------
    values : float64 array

    Returns
    -------
    list of float
    """
    cdef Py_ssize_t i
    for i in range(values.shape[0]):
        if not 0.0 < values[i] < INFINITY:
            raise ValueError(f"{values[i]} has no logarithm")
    return [log_of(values[i]) for i in range(values.shape[0])]


def exponential_of(double x):
    """e^x for -700 < x < 700, correctly rounded."""
    if not -700.0 < x < 700.0:
        raise ValueError(f"e^{x} is too far from 1")
    return exponential(Pair(x, 0.0))


# Sums

cdef double plain_sum(const double *values, Py_ssize_t n, Py_ssize_t stride) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        total += values[i * stride]
    return total


cdef double exact_sum(const double *values, Py_ssize_t n, Py_ssize_t stride) noexcept nogil:
    """The sum of numbers, rounded once, as math.fsum does it (Shewchuk 1997).

    Between two steps the exact sum is that of the parts, which do not overlap and grow in
    magnitude; 2,098 binary places hold no more than 40 of them. What is not finite, or becomes so,
    gives what plain addition gives.
    """
    cdef double parts[48]
    cdef double x, y, total, rest
    cdef Py_ssize_t i, j, kept, n_parts = 0
    for i in range(n):
        x = values[i * stride]
        kept = 0
        for j in range(n_parts):
            y = parts[j]
            if fabs(x) < fabs(y):
                x, y = y, x
            total = x + y
            rest = y - (total - x)
            if rest != rest:
                return plain_sum(values, n, stride)
            if rest != 0.0:
                parts[kept] = rest
                kept += 1
            x = total
        if x - x != 0.0:
            return plain_sum(values, n, stride)
        parts[kept] = x
        n_parts = kept + 1
    if n_parts == 0:
        return 0.0
    n_parts -= 1
    total = parts[n_parts]
    rest = 0.0
    while n_parts > 0 and rest == 0.0:
        n_parts -= 1
        x = total
        total = x + parts[n_parts]
        rest = parts[n_parts] - (total - x)
    # Half-way between two doubles, the sign of what is left decides.
    if n_parts > 0 and rest != 0.0 and (rest < 0.0) == (parts[n_parts - 1] < 0.0):
        y = 2.0 * rest
        x = total + y
        if y == x - total:
            total = x
    return total + 0.0          # no negative zero


def exact_sums(const double[:, :] values):
    """The exactly rounded sum of each column of finite numbers.

    Parameters
    ----------
    values : float64 array, rows x columns

    Returns
    -------
    list of float
    """
    cdef Py_ssize_t i
    if values.strides[0] % <Py_ssize_t> sizeof(double):
        raise ValueError("the rows are not a whole number of doubles apart")
    if values.shape[0] == 0:
        return [0.0] * values.shape[1]
    return [
        exact_sum(
            &values[0, i], values.shape[0], values.strides[0] // <Py_ssize_t> sizeof(double)
        )
        for i in range(values.shape[1])
    ]


def exact_means(const double[:, :] values):
    """The exactly rounded sum of each column of finite numbers / the number of rows.

    Divided here, since the arithmetic of the interpreter rounds twice where it was compiled for the
    x87 unit of 32-bit x86.

    Parameters
    ----------
    values : float64 array, rows x columns
        At least one row.

    Returns
    -------
    list of float
    """
    cdef double total
    if values.shape[0] == 0:
        raise ValueError("there must be a row")
    means = []
    for total in exact_sums(values):
        means.append(total / <double> values.shape[0])
    return means


grow(FIRST_CAPACITY)
FIRST_TABLE = TABLE
