/* Decimal text to the nearest double, as float() of Python gives it, for the numbers that files are
   full of: up to 19 digits and small exponents. */

#ifndef RANKMETER_DECIMAL_H
#define RANKMETER_DECIMAL_H

#include <math.h>
#include <stdint.h>

static const uint64_t rankmeter_powers[] = {
    1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull, 10000000ull, 100000000ull,
    1000000000ull, 10000000000ull, 100000000000ull, 1000000000000ull, 10000000000000ull,
    100000000000000ull, 1000000000000000ull, 10000000000000000ull, 100000000000000000ull,
    1000000000000000000ull, 10000000000000000000ull,
};

/* Returns 1 and the number; or 0 where the text is of another kind or not a number at all. */
static int rankmeter_decimal(const char *text, Py_ssize_t length, double *number) {
    const char *p = text, *const end = text + length, *first;
    uint64_t digits = 0;
    Py_ssize_t n_digits, exponent = 0;
    int negative = 0;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    const char *const start = p;
    while (p < end && *p == '0')
        p++;
    for (first = p; p < end && (unsigned char) (*p - '0') < 10; p++)
        digits = 10 * digits + (uint64_t) (*p - '0');
    n_digits = p - first;
    if (p < end && *p == '.') {
        const char *const point = ++p;
        if (n_digits == 0)
            while (p < end && *p == '0')
                p++;
        for (first = p; p < end && (unsigned char) (*p - '0') < 10; p++)
            digits = 10 * digits + (uint64_t) (*p - '0');
        n_digits += p - first;
        exponent = point - p;
        if (p == start + 1)
            return 0; /* a point alone */
    } else if (p == start)
        return 0;
    if (n_digits > 19)
        return 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        Py_ssize_t given = 0;
        int down = 0;
        if (++p < end && (*p == '-' || *p == '+'))
            down = *p++ == '-';
        if (p == end || end - p > 4)
            return 0;
        for (; p < end && (unsigned char) (*p - '0') < 10; p++)
            given = 10 * given + (*p - '0');
        exponent += down ? -given : given;
    }
    if (p != end || exponent < -19 || exponent > 19)
        return 0;
    if (digits <= ((uint64_t) 1 << 53) && exponent >= 0) {
        /* Powers of ten up to 10^22 are doubles, so there is one rounding only. */
        *number = (double) digits * (double) rankmeter_powers[exponent];
    } else if (digits <= ((uint64_t) 1 << 53)) {
        *number = (double) digits / (double) rankmeter_powers[-exponent];
    } else {
#ifdef __SIZEOF_INT128__
        /* A quotient of 55 bits or more, and whether anything is left. */
        unsigned __int128 above = digits, quotient;
        int shift = 0;
        if (exponent >= 0)
            return 0;
        while (shift < 63 && !(above >> 126)) {
            above <<= 1;
            shift++;
        }
        quotient = above / rankmeter_powers[-exponent];
        const int left = above % rankmeter_powers[-exponent] != 0;
        int bits = 128;
        while (!(quotient >> (bits - 1)))
            bits--;
        if (bits < 55)
            return 0;
        const int cut = bits - 53;
        uint64_t kept = (uint64_t) (quotient >> cut);
        const unsigned __int128 rest = quotient & ((((unsigned __int128) 1) << cut) - 1);
        const unsigned __int128 half = ((unsigned __int128) 1) << (cut - 1);
        if (rest > half || (rest == half && (left || (kept & 1))))
            kept++;
        *number = ldexp((double) kept, cut - shift);
#else
        return 0;
#endif
    }
    if (negative)
        *number = -*number;
    return 1;
}

#endif
