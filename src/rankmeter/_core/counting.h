/* The loops over all scores of a query, for float and for double. They are C because a compiler
   vectorises them only in this form, and because the widest instructions are chosen at run time. */

#ifndef RANKMETER_COUNTING_H
#define RANKMETER_COUNTING_H

#include "thresholds.h"

#if defined(__GNUC__) && defined(__x86_64__)
#define RANKMETER_AVX2 __attribute__((target("avx2")))
static int rankmeter_has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
static int rankmeter_has_avx2(void) { return 0; }
#endif

#if defined(__GNUC__)
#define RANKMETER_INLINE inline __attribute__((always_inline))
#else
#define RANKMETER_INLINE inline
#endif

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define RANKMETER_SSE2 1
#endif

static int rankmeter_wide = 0; /* set on import */

/* How many scores are above the target, and how many equal it. The counter is as wide as a score. */
#define RANKMETER_COUNT(counter)                                                                 \
    counter higher = 0, equal = 0;                                                               \
    for (Py_ssize_t i = 0; i < n; i++) {                                                         \
        higher += scores[i] > target;                                                            \
        equal += scores[i] == target;                                                            \
    }                                                                                            \
    *above += (Py_ssize_t) higher;                                                               \
    *tied += (Py_ssize_t) equal;

static void rankmeter_count_float(
    const float *scores, Py_ssize_t n, float target, Py_ssize_t *above, Py_ssize_t *tied
) {
    RANKMETER_COUNT(int)
}

/* GCC does not vectorise this one for baseline x86-64, so that is spelled out: four times faster. */
static void rankmeter_count_double(
    const double *scores, Py_ssize_t n, double target, Py_ssize_t *above, Py_ssize_t *tied
) {
#ifdef RANKMETER_SSE2
    const __m128d pair = _mm_set1_pd(target);
    __m128i highers = _mm_setzero_si128(), equals = _mm_setzero_si128();
    long long sums[4];
    for (; n >= 2; n -= 2, scores += 2) {
        const __m128d score = _mm_loadu_pd(scores);
        highers = _mm_sub_epi64(highers, _mm_castpd_si128(_mm_cmpgt_pd(score, pair)));
        equals = _mm_sub_epi64(equals, _mm_castpd_si128(_mm_cmpeq_pd(score, pair)));
    }
    _mm_storeu_si128((__m128i *) sums, highers);
    _mm_storeu_si128((__m128i *) (sums + 2), equals);
    *above += (Py_ssize_t) (sums[0] + sums[1]);
    *tied += (Py_ssize_t) (sums[2] + sums[3]);
#endif
    RANKMETER_COUNT(long long)
}

#ifdef RANKMETER_AVX2
RANKMETER_AVX2 static void rankmeter_count_float_avx2(
    const float *scores, Py_ssize_t n, float target, Py_ssize_t *above, Py_ssize_t *tied
) {
    RANKMETER_COUNT(int)
}

RANKMETER_AVX2 static void rankmeter_count_double_avx2(
    const double *scores, Py_ssize_t n, double target, Py_ssize_t *above, Py_ssize_t *tied
) {
    RANKMETER_COUNT(long long)
}
#else
#define rankmeter_count_float_avx2 rankmeter_count_float
#define rankmeter_count_double_avx2 rankmeter_count_double
#endif

/* A block fits the counters whatever its scores are. */
#define RANKMETER_BLOCK ((Py_ssize_t) 1 << 30)

#define RANKMETER_LOOPS(real)                                                                    \
    static void rankmeter_compare_##real(                                                        \
        const real *scores, Py_ssize_t n, real target, Py_ssize_t *above, Py_ssize_t *tied       \
    ) {                                                                                          \
        *above = *tied = 0;                                                                      \
        for (; n > 0; n -= RANKMETER_BLOCK, scores += RANKMETER_BLOCK) {                         \
            const Py_ssize_t size = n < RANKMETER_BLOCK ? n : RANKMETER_BLOCK;                   \
            if (rankmeter_wide)                                                                  \
                rankmeter_count_##real##_avx2(scores, size, target, above, tied);                \
            else                                                                                 \
                rankmeter_count_##real(scores, size, target, above, tied);                       \
        }                                                                                        \
    }                                                                                            \
                                                                                                 \
    static int rankmeter_any_nan_##real(const real *scores, Py_ssize_t n) {                      \
        int found = 0;                                                                           \
        for (Py_ssize_t i = 0; i < n; i++)                                                       \
            found |= scores[i] != scores[i];                                                     \
        return found;                                                                            \
    }                                                                                            \
                                                                                                 \
    static RANKMETER_INLINE Py_ssize_t rankmeter_locate_steps_##real(                            \
        const real *scores, Py_ssize_t n, const RankmeterIndex *index, Py_ssize_t *places,       \
        const Py_ssize_t step                                                                    \
    ) {                                                                                          \
        RANKMETER_OPEN(real)                                                                     \
        const Py_ssize_t width = index->n_targets + 1;                                           \
        Py_ssize_t equal = 0, i = 0, place;                                                      \
        for (; i + 4 <= n; i += 4) {                                                             \
            RANKMETER_LOCATE(real, scores[i], places[place]++)                                   \
            RANKMETER_LOCATE(real, scores[i + 1], places[width + place]++)                       \
            RANKMETER_LOCATE(real, scores[i + 2], places[2 * width + place]++)                   \
            RANKMETER_LOCATE(real, scores[i + 3], places[3 * width + place]++)                   \
        }                                                                                        \
        for (; i < n; i++) {                                                                     \
            RANKMETER_LOCATE(real, scores[i], places[place]++)                                   \
        }                                                                                        \
        return equal;                                                                            \
    }                                                                                            \
                                                                                                 \
    /* Counts in places[p] the scores with exactly p targets at least as high; returns how many  \
       scores equal a target. Four sets of counts, one after the other, so that two increments   \
       of one place do not wait for each other; the usual numbers of steps without a loop. */    \
    static Py_ssize_t rankmeter_locate_##real(                                                   \
        const real *scores, Py_ssize_t n, const RankmeterIndex *index, Py_ssize_t *places        \
    ) {                                                                                          \
        if (index->step == 1)                                                                    \
            return rankmeter_locate_steps_##real(scores, n, index, places, 1);                   \
        if (index->step == 2)                                                                    \
            return rankmeter_locate_steps_##real(scores, n, index, places, 2);                   \
        if (index->step == 4)                                                                    \
            return rankmeter_locate_steps_##real(scores, n, index, places, 4);                   \
        return rankmeter_locate_steps_##real(scores, n, index, places, index->step);             \
    }                                                                                            \
                                                                                                 \
    /* The highest of every RANKMETER_LANES-th score. */                                         \
    static void rankmeter_lanes_##real(const real *scores, Py_ssize_t n, real *highest) {        \
        Py_ssize_t i, j;                                                                         \
        for (j = 0; j < RANKMETER_LANES; j++)                                                    \
            highest[j] = scores[j];                                                              \
        for (i = RANKMETER_LANES; i + RANKMETER_LANES <= n; i += RANKMETER_LANES)                \
            for (j = 0; j < RANKMETER_LANES; j++)                                                \
                highest[j] = scores[i + j] > highest[j] ? scores[i + j] : highest[j];            \
        for (j = 0; i + j < n; j++)                                                              \
            highest[j] = scores[i + j] > highest[j] ? scores[i + j] : highest[j];                \
    }                                                                                            \
                                                                                                 \
    /* Counts in ties[p] the scores that equal target p. At the columns in `columns`, ascending  \
       for each target, the count so far goes to `before`; `next` holds where those of target p  \
       begin. */                                                                                 \
    static void rankmeter_tie_##real(                                                            \
        const real *scores, Py_ssize_t n, const RankmeterIndex *index, Py_ssize_t *ties,         \
        const Py_ssize_t *columns, Py_ssize_t *before, Py_ssize_t *next                          \
    ) {                                                                                          \
        RANKMETER_OPEN(real)                                                                     \
        const Py_ssize_t step = index->step;                                                     \
        Py_ssize_t equal, place;                                                                 \
        for (Py_ssize_t i = 0; i < n; i++) {                                                     \
            equal = 0;                                                                           \
            RANKMETER_LOCATE(real, scores[i], (void) 0)                                          \
            if (equal) {                                                                         \
                if (columns[next[place]] == i)                                                   \
                    before[next[place]++] = ties[place];                                         \
                ties[place]++;                                                                   \
            }                                                                                    \
        }                                                                                        \
    }

/* Targets, each once and sorted high to low, stand at [1 .. n_targets]; at [0] and behind them stand NaNs, which
   equal nothing and are above nothing. Buckets of equal width split their range: a score needs to
   be compared only with the targets of its own bucket, of which there are less than 2 * step. */
typedef struct {
    const void *targets;
    Py_ssize_t n_targets;
    const Py_ssize_t *first; /* [n_buckets] targets in the buckets before */
    double high;
    double scale;
    double last; /* n_buckets - 1 */
    Py_ssize_t step;
} RankmeterIndex;

#define RANKMETER_OPEN(real)                                                                     \
    const real *const targets = (const real *) index->targets;                                   \
    const Py_ssize_t *const first = index->first;                                                \
    const real high = (real) index->high, scale = (real) index->scale;                           \
    const real last = (real) index->last, none = last - last;

/* `none` is 0, in a form of which the compiler makes no branch. */
#define RANKMETER_BUCKET(bucket, score)                                                          \
    bucket = (high - (score)) * scale;                                                           \
    bucket = none > bucket ? none : bucket;                                                      \
    bucket = bucket < last ? bucket : last;

/* Behind the targets at least as high stands the last of these: it equals the score if it is not
   higher. */
#define RANKMETER_LOCATE(real, score_, act)                                                      \
    {                                                                                            \
        const real score = score_;                                                               \
        real bucket;                                                                             \
        RANKMETER_BUCKET(bucket, score)                                                          \
        place = first[(Py_ssize_t) bucket];                                                      \
        for (Py_ssize_t half = step; half; half >>= 1)                                           \
            place += targets[place + half] >= score ? half : 0;                                  \
        equal += score >= targets[place];                                                        \
        act;                                                                                     \
    }

RANKMETER_LOOPS(float)
RANKMETER_LOOPS(double)

static inline Py_ssize_t rankmeter_bucket_float(const RankmeterIndex *index, float score) {
    const float high = (float) index->high, scale = (float) index->scale;
    const float last = (float) index->last, none = last - last;
    float bucket;
    RANKMETER_BUCKET(bucket, score)
    return (Py_ssize_t) bucket;
}

static inline Py_ssize_t rankmeter_bucket_double(const RankmeterIndex *index, double score) {
    const double high = index->high, scale = index->scale;
    const double last = index->last, none = last - last;
    double bucket;
    RANKMETER_BUCKET(bucket, score)
    return (Py_ssize_t) bucket;
}

#endif
