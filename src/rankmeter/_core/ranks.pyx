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


cdef void compare_all(const double *scores, Py_ssize_t n_scores, Found *found) noexcept nogil:
    cdef double target = found.score
    cdef Py_ssize_t i, above = 0, tied = 0
    for i in range(n_scores):
        above += scores[i] > target
        tied += scores[i] == target
    found.above = above
    found.tied = tied


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
    sort(scratch.found, n_found, by_score)
    if n_found <= FEW_JUDGED:
        for i in range(n_found):
            compare_all(scratch.scores, n_scores, &scratch.found[i])
    else:
        place_all(scratch, n_scores, n_found)


cdef void finish(Scratch *scratch, Py_ssize_t n_found) noexcept nogil:
    """Lay out ranks and grades as a Query wants them."""
    cdef Py_ssize_t i
    sort(scratch.found, n_found, by_rank)
    for i in range(n_found):
        scratch.ranks[i] = scratch.found[i].rank
        scratch.grades[i] = scratch.found[i].grade
