/* The one mixing function behind all hash tables: 64 bits times 64 bits, the halves of the product
   folded. Every bit of the word reaches the upper half of the result, from which tables take
   theirs. */

#ifndef RANKMETER_MIXING_H
#define RANKMETER_MIXING_H

#include <stdint.h>

#if defined(_M_X64) || defined(_M_ARM64)
#include <intrin.h>
#endif

static inline uint64_t rankmeter_fold(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = (unsigned __int128) a * b;
    return (uint64_t) product ^ (uint64_t) (product >> 64);
#elif defined(_M_X64) || defined(_M_ARM64)
    return a * b ^ __umulh(a, b);
#else
    const uint64_t a_low = (uint32_t) a, a_high = a >> 32, b_low = (uint32_t) b, b_high = b >> 32;
    const uint64_t low = a_low * b_low, one = a_high * b_low, two = a_low * b_high;
    const uint64_t middle = (low >> 32) + (uint32_t) one + (uint32_t) two;
    return a * b ^ (a_high * b_high + (one >> 32) + (two >> 32) + (middle >> 32));
#endif
}

#endif
