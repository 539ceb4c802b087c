"""Ranks of the judged documents, without sorting the run.

The rank of a document is one more than the number of documents before it. So the scores above
each judged document's are counted, in whichever of two ways touches less: compare every score
with every judged one (straight loops that the compiler vectorises), or sort the few judged
scores and place every score among them by binary search.
"""

from libc.math cimport NAN
from libc.stdlib cimport free, malloc, qsort

# Measured on x86-64 with 100 to 1,000 scores: up to about this many judged documents the straight
# loops win.
cdef Py_ssize_t FEW_JUDGED = 12
cdef Py_ssize_t SHORT = 24      # insertion sort up to here


cdef void start(Scratch *scratch) noexcept nogil:
    scratch.run_capacity = scratch.judged_capacity = scratch.slot_capacity = 0
    scratch.scores = NULL
    scratch.slots = NULL
    scratch.found = NULL
    scratch.ranks = NULL
    scratch.grades = NULL
    scratch.targets = NULL
    scratch.counts = NULL


cdef void release(Scratch *scratch) noexcept nogil:
    free(scratch.scores)
    free(scratch.slots)
    free(scratch.found)


cdef int no_memory() except -1 nogil:
    with gil:
        raise MemoryError()


cdef int reserve_scores(Scratch *scratch, Py_ssize_t n) except -1 nogil:
    if n <= scratch.run_capacity:
        return 0
    free(scratch.scores)
    scratch.run_capacity = 0
    scratch.scores = <double *> malloc(2 * n * sizeof(double))
    if scratch.scores == NULL:
        no_memory()
    scratch.run_capacity = 2 * n
    return 0


cdef int reserve_slots(Scratch *scratch, Py_ssize_t n) except -1 nogil:
    """`n` must be a power of two."""
    if n <= scratch.slot_capacity:
        return 0
    free(scratch.slots)
    scratch.slot_capacity = 0
    scratch.slots = <Slot *> malloc(n * sizeof(Slot))
    if scratch.slots == NULL:
        no_memory()
    scratch.slot_capacity = n
    return 0


cdef int reserve_judged(Scratch *scratch, Py_ssize_t n) except -1 nogil:
    if n <= scratch.judged_capacity:
        return 0
    n = 2 * n
    free(scratch.found)
    scratch.judged_capacity = 0
    # one block for all five; the targets and counts have one place more, see count_above
    scratch.found = <Found *> malloc(
        n * (sizeof(Found) + sizeof(Py_ssize_t) + sizeof(double))
        + (n + 1) * (sizeof(double) + 2 * sizeof(Py_ssize_t))
    )
    if scratch.found == NULL:
        no_memory()
    scratch.ranks = <Py_ssize_t *> (scratch.found + n)
    scratch.grades = <double *> (scratch.ranks + n)
    scratch.targets = scratch.grades + n
    scratch.counts = <Py_ssize_t *> (scratch.targets + n + 1)
    scratch.judged_capacity = n
    return 0


cdef int by_score(const void *a, const void *b) noexcept nogil:
    cdef double x = (<const Found *> a).score
    cdef double y = (<const Found *> b).score
    return (x < y) - (x > y)


cdef int by_rank(const void *a, const void *b) noexcept nogil:
    cdef Py_ssize_t x = (<const Found *> a).rank
    cdef Py_ssize_t y = (<const Found *> b).rank
    return (x > y) - (x < y)


cdef void sort(
    Found *found, Py_ssize_t n, int (*order)(const void *, const void *) noexcept nogil
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef Found moved
    if n > SHORT:
        qsort(found, n, sizeof(Found), order)
        return
    for i in range(1, n):
        if order(&found[i - 1], &found[i]) <= 0:
            continue
        moved = found[i]
        j = i
        while j > 0 and order(&found[j - 1], &moved) > 0:
            found[j] = found[j - 1]
            j -= 1
        found[j] = moved


# GCC does not vectorise a count of compared doubles for baseline x86-64, so that is spelled out:
# there, four times faster. Elsewhere the compiler manages.
cdef extern from *:
    """
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #define RANKMETER_SSE2 1
    #endif

    static void rankmeter_compare(
        const double *scores, Py_ssize_t n, double target, Py_ssize_t *above, Py_ssize_t *tied
    ) {
        Py_ssize_t i = 0, higher = 0, equal = 0;
    #ifdef RANKMETER_SSE2
        const __m128d pair = _mm_set1_pd(target);
        __m128i highers = _mm_setzero_si128(), equals = _mm_setzero_si128();
        long long sums[4];
        for (; i + 2 <= n; i += 2) {
            const __m128d score = _mm_loadu_pd(scores + i);
            highers = _mm_sub_epi64(highers, _mm_castpd_si128(_mm_cmpgt_pd(score, pair)));
            equals = _mm_sub_epi64(equals, _mm_castpd_si128(_mm_cmpeq_pd(score, pair)));
        }
        _mm_storeu_si128((__m128i *) sums, highers);
        _mm_storeu_si128((__m128i *) (sums + 2), equals);
        higher = (Py_ssize_t) (sums[0] + sums[1]);
        equal = (Py_ssize_t) (sums[2] + sums[3]);
    #endif
        for (; i < n; i++) {
            higher += scores[i] > target;
            equal += scores[i] == target;
        }
        *above = higher;
        *tied = equal;
    }
    """
    void compare "rankmeter_compare" (
        const double *scores, Py_ssize_t n, double target, Py_ssize_t *above, Py_ssize_t *tied
    ) noexcept nogil


cdef void place_all(Scratch *scratch, Py_ssize_t n_scores, Py_ssize_t n_found) noexcept nogil:
    """Count by binary search. Needs the found documents sorted by score, high to low."""
    cdef Found *found = scratch.found
    cdef double *targets = scratch.targets          # [1 .. n_found]; [0] equals no score
    cdef Py_ssize_t *places = scratch.counts        # [p]: scores with p targets at least as high
    cdef Py_ssize_t *ties = scratch.counts + n_found + 1    # [p]: of these, equal to target p
    cdef Py_ssize_t i, place, length, half, above = 0
    cdef double score
    targets[0] = NAN
    for i in range(n_found):
        targets[i + 1] = found[i].score
    for i in range(2 * (n_found + 1)):
        places[i] = 0
    for i in range(n_scores):
        score = scratch.scores[i]
        place = 0
        length = n_found
        while length > 1:
            half = length >> 1
            place += half if targets[place + half] >= score else 0
            length -= half
        place += targets[place + 1] >= score
        places[place] += 1
        ties[place] += targets[place] == score
    for i in range(n_found):
        above += places[i]
        found[i].above = above
        found[i].tied = ties[i + 1]
    # Among equal targets every equal score was counted at the last, and they share one `above`.
    for i in range(n_found - 2, -1, -1):
        if found[i].score == found[i + 1].score:
            found[i].tied = found[i + 1].tied


cdef void count_above(Scratch *scratch, Py_ssize_t n_scores, Py_ssize_t n_found) noexcept nogil:
    """Fill in `above` and `tied` of every found document, and sort them by score, high to low."""
    cdef Py_ssize_t i
    cdef Found *found
    sort(scratch.found, n_found, by_score)
    if n_found <= FEW_JUDGED:
        for i in range(n_found):
            found = &scratch.found[i]
            compare(scratch.scores, n_scores, found.score, &found.above, &found.tied)
    else:
        place_all(scratch, n_scores, n_found)


cdef void finish(Scratch *scratch, Py_ssize_t n_found) noexcept nogil:
    """Lay out ranks and grades as a Query wants them."""
    cdef Py_ssize_t i
    sort(scratch.found, n_found, by_rank)
    for i in range(n_found):
        scratch.ranks[i] = scratch.found[i].rank
        scratch.grades[i] = scratch.found[i].grade
