"""Ranks of the judged documents, without sorting the run.

The rank of a document is one more than the number of documents before it. So the scores above
each judged document's are counted, in whichever of two ways touches less: compare every score
with the judged ones, best first, until no further rank is needed (straight loops that the compiler
vectorises); or sort the judged scores and place every score among them.
"""

from libc.math cimport INFINITY, NAN, isfinite
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from rankmeter._core.driver cimport find_bounds, score, score_expected
from rankmeter._core.grades cimport sort_grades
from rankmeter._core.query cimport Group, Plan, Query, Values
from rankmeter._core.scratch cimport Found, Scratch, reserve_counts, reserve_judged


cdef extern from "counting.h":
    ctypedef struct Index "RankmeterIndex":
        const void *targets
        Py_ssize_t n_targets
        const Py_ssize_t *first
        double high
        double scale
        double last
        Py_ssize_t step
    bint rankmeter_has_avx2()
    bint rankmeter_wide
    void rankmeter_compare_float(
        const float *, Py_ssize_t, float, Py_ssize_t *, Py_ssize_t *) noexcept nogil
    void rankmeter_compare_double(
        const double *, Py_ssize_t, double, Py_ssize_t *, Py_ssize_t *) noexcept nogil
    bint rankmeter_any_nan_float(const float *, Py_ssize_t) noexcept nogil
    bint rankmeter_any_nan_double(const double *, Py_ssize_t) noexcept nogil
    Py_ssize_t rankmeter_locate_float(
        const float *, Py_ssize_t, const Index *, Py_ssize_t *) noexcept nogil
    Py_ssize_t rankmeter_locate_double(
        const double *, Py_ssize_t, const Index *, Py_ssize_t *) noexcept nogil
    void rankmeter_tie_float(
        const float *, Py_ssize_t, const Index *, Py_ssize_t *, const Py_ssize_t *,
        Py_ssize_t *, Py_ssize_t *) noexcept nogil
    void rankmeter_tie_double(
        const double *, Py_ssize_t, const Index *, Py_ssize_t *, const Py_ssize_t *,
        Py_ssize_t *, Py_ssize_t *) noexcept nogil
    void rankmeter_lanes_float(const float *, Py_ssize_t, float *) noexcept nogil
    void rankmeter_lanes_double(const double *, Py_ssize_t, double *) noexcept nogil
    Py_ssize_t rankmeter_bucket_float(const Index *, float) noexcept nogil
    Py_ssize_t rankmeter_bucket_double(const Index *, double) noexcept nogil

cdef extern from "thresholds.h":
    Py_ssize_t threshold "RANKMETER_THRESHOLD" (Py_ssize_t usual) noexcept nogil
    enum:
        LANES "RANKMETER_LANES"
        MOST_DEPTH "RANKMETER_MOST_DEPTH"

rankmeter_wide = rankmeter_has_avx2()

# Measured on x86-64 with 100 to 100,000 scores: up to about this many judged documents comparing
# wins over placing.
cdef Py_ssize_t FEW_FLOATS = threshold(14)
cdef Py_ssize_t FEW_DOUBLES = threshold(10)
cdef Py_ssize_t SHORT = threshold(24)   # insertion sort up to here
cdef Py_ssize_t MOST_BUCKETS = 1 << 20

cdef Py_ssize_t ROUNDS = threshold(4)   # scores that each lane needs to be worth its while


# Order

cdef int by_score(const void *a, const void *b) noexcept nogil:
    """High to low, and equals by place."""
    cdef const Found *x = <const Found *> a
    cdef const Found *y = <const Found *> b
    if x.score != y.score:
        return -1 if x.score > y.score else 1
    return (x.place > y.place) - (x.place < y.place)


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
        for i in range(1, n):
            if order(&found[i - 1], &found[i]) > 0:
                qsort(found, n, sizeof(Found), order)
                break
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


# Counting

cdef bint any_nan(const real *scores, Py_ssize_t n) noexcept nogil:
    if real is float:
        return rankmeter_any_nan_float(scores, n)
    else:
        return rankmeter_any_nan_double(scores, n)


cdef inline void compare(
    const real *scores, Py_ssize_t n, double target, Py_ssize_t *above, Py_ssize_t *tied
) noexcept nogil:
    if real is float:
        rankmeter_compare_float(scores, n, <float> target, above, tied)
    else:
        rankmeter_compare_double(scores, n, target, above, tied)


cdef inline Py_ssize_t bucket_of(const Index *index, real value) noexcept nogil:
    if real is float:
        return rankmeter_bucket_float(index, value)
    else:
        return rankmeter_bucket_double(index, value)


cdef inline Py_ssize_t best_of(const real *targets, Py_ssize_t n) noexcept nogil:
    """The place of the highest number, the first of equals, or -1 where there are only NaNs."""
    cdef real a = -INFINITY, b = -INFINITY, c = -INFINITY, d = -INFINITY
    cdef Py_ssize_t i = 0
    while i + 4 <= n:                       # four chains of maxima, not one that waits
        a = targets[i] if targets[i] > a else a
        b = targets[i + 1] if targets[i + 1] > b else b
        c = targets[i + 2] if targets[i + 2] > c else c
        d = targets[i + 3] if targets[i + 3] > d else d
        i += 4
    while i < n:
        a = targets[i] if targets[i] > a else a
        i += 1
    a = max(max(a, b), max(c, d))
    for i in range(n):
        if targets[i] == a:
            return i
    return -1


cdef inline void order_few(Found *found, const real *targets, Py_ssize_t n) noexcept nogil:
    """Sort by score, first places first, without a branch that is hard to foresee."""
    cdef Py_ssize_t i, j, ahead
    for i in range(n):
        ahead = 0
        for j in range(i):
            ahead += targets[j] >= targets[i]
        for j in range(i + 1, n):
            ahead += targets[j] > targets[i]
        found[ahead].rank = i


cdef Py_ssize_t place_few(
    const real *scores, Py_ssize_t n_scores, Scratch *scratch, Py_ssize_t n_found,
    const Plan *plan, Py_ssize_t few, bint by_place,
) noexcept nogil:
    """Place the best documents, as many as the plan needs, or return -1 where these have more than
    a few scores."""
    cdef real *targets = <real *> scratch.targets
    cdef Found *placed = scratch.spare
    cdef Found *best
    cdef Py_ssize_t i, j, above, tied, first, n_placed = 0, n_groups = 0
    cdef bint first_seen = plan.first_rel == 0.0
    cdef real target
    for i in range(n_found):
        targets[i] = <real> scratch.found[i].score
    if n_found <= few:
        order_few(placed, targets, n_found)
    while n_placed < n_found:
        best = &placed[n_placed]
        if n_placed and first_seen and best[-1].above + best[-1].tied >= plan.depth_of_all:
            break
        if n_groups == few:
            return -1
        n_groups += 1
        first = n_placed
        if n_found <= few:
            target = targets[best.rank]
            while n_placed < n_found and targets[placed[n_placed].rank] == target:
                placed[n_placed] = scratch.found[placed[n_placed].rank]
                n_placed += 1
        else:
            j = best_of(targets, n_found)
            target = targets[j]
            for i in range(j, n_found):
                if targets[i] == target:
                    targets[i] = <real> NAN     # taken
                    placed[n_placed] = scratch.found[i]
                    n_placed += 1
        compare(scores, n_scores, target, &above, &tied)
        for i in range(first, n_placed):
            placed[i].above = above
            placed[i].tied = tied
            placed[i].rank = above + 1
        if by_place and tied > 1:
            rank_by_place(scores, best, n_placed - first, plan, first_seen)
        for i in range(first, n_placed):
            first_seen |= placed[i].grade >= plan.first_rel
    scratch.found, scratch.spare = placed, scratch.found
    return n_placed


cdef void rank_by_place(
    const real *scores, Found *found, Py_ssize_t n_found, const Plan *plan, bint first_seen
) noexcept nogil:
    """Rank documents of equal score by their place, as far down as the plan needs the ranks."""
    cdef Py_ssize_t i, above, equal, place = 0, before = 0
    sort(found, n_found, by_score)
    for i in range(n_found):
        if i and first_seen and found[i - 1].rank > plan.depth_of_all:
            found[i].rank = found[i - 1].rank + 1
            continue
        compare(scores + place, found[i].place - place, <real> found[i].score, &above, &equal)
        before += equal
        place = found[i].place
        found[i].rank += before
        first_seen |= found[i].grade >= plan.first_rel


cdef int make_index(
    Index *index, Scratch *scratch, Py_ssize_t n_found, double largest, real _
) except -1 nogil:
    """Sort the found documents by score, and make an index of their scores, each once."""
    cdef Found *found = scratch.found
    cdef real *targets = <real *> scratch.targets
    cdef Py_ssize_t i, bucket, begin, n_buckets = 64, fullest = 1
    cdef double high = -INFINITY, low = INFINITY, scale = 0.0
    for i in range(n_found):
        if isfinite(found[i].score):
            high = max(high, found[i].score)
            low = min(low, found[i].score)
    while n_buckets < 4 * n_found and n_buckets < MOST_BUCKETS:
        n_buckets *= 2
    if high > low:
        scale = <double> n_buckets / (high - low)
    if not 0.0 < scale <= largest or not isfinite(<double> <real> (high - low)):
        high = scale = 0.0
        n_buckets = 1
    reserve_counts(scratch, n_buckets + 1 + 6 * (n_found + 1))
    index.targets = targets
    index.n_targets = 0
    index.first = scratch.counts
    index.high = high
    index.scale = scale
    index.last = <double> (n_buckets - 1)
    cdef Py_ssize_t *first = scratch.counts     # [b + 1]: first the targets in bucket b
    memset(first, 0, (n_buckets + 1) * sizeof(Py_ssize_t))
    for i in range(n_found):
        first[bucket_of(index, <real> found[i].score) + 1] += 1
    for bucket in range(1, n_buckets + 1):
        first[bucket] += first[bucket - 1]
    for i in range(n_found):
        bucket = bucket_of(index, <real> found[i].score)
        scratch.spare[first[bucket]] = found[i]
        first[bucket] += 1
    scratch.found, scratch.spare = scratch.spare, found
    found = scratch.found
    begin = 0
    for i in range(1, n_found + 1):
        if i == n_found or bucket_of(index, <real> found[i].score) != bucket_of(
            index, <real> found[begin].score
        ):
            sort(&found[begin], i - begin, by_score)
            begin = i
    memset(first, 0, (n_buckets + 1) * sizeof(Py_ssize_t))
    targets[0] = <real> NAN
    for i in range(n_found):
        if i == 0 or found[i].score != found[i - 1].score:
            index.n_targets += 1
            targets[index.n_targets] = <real> found[i].score
            first[bucket_of(index, <real> found[i].score) + 1] += 1
    for bucket in range(1, n_buckets + 1):
        fullest = max(fullest, first[bucket])
        first[bucket] += first[bucket - 1]
    index.step = 1
    while 2 * index.step - 1 < fullest:
        index.step *= 2
    for i in range(index.n_targets + 1, index.n_targets + 2 * index.step + 1):
        targets[i] = <real> NAN
    return 0


cdef int place_all(
    const real *scores, Py_ssize_t n_scores, Scratch *scratch, Py_ssize_t n_found, bint by_place
) except -1 nogil:
    """Place every document."""
    cdef Index index
    cdef Found *found
    cdef Py_ssize_t *counts
    cdef Py_ssize_t *before
    cdef Py_ssize_t *following
    cdef Py_ssize_t i, n_equal, target = 0, sets, width = n_found + 1, above = 0
    if real is float:
        make_index[float](&index, scratch, n_found, 3e38, 0.0)
    else:
        make_index[double](&index, scratch, n_found, 1e308, 0.0)
    found = scratch.found
    sets = index.n_targets + 1
    counts = scratch.counts + <Py_ssize_t> index.last + 2
    memset(counts, 0, 4 * sets * sizeof(Py_ssize_t))
    if real is float:
        n_equal = rankmeter_locate_float(scores, n_scores, &index, counts)
    else:
        n_equal = rankmeter_locate_double(scores, n_scores, &index, counts)
    for i in range(n_found):
        if i == 0 or found[i].score != found[i - 1].score:
            above += (
                counts[target] + counts[sets + target] + counts[2 * sets + target]
                + counts[3 * sets + target]
            )
            target += 1
        found[i].above = above
        found[i].rank = above + 1
        found[i].tied = 1
    if n_equal == index.n_targets:
        return 0
    # For each target: how many scores equal it, and which of the documents is met next.
    before = counts + 4 * width
    following = counts + 5 * width
    memset(counts, 0, 6 * width * sizeof(Py_ssize_t))
    target = 0
    for i in range(n_found):
        scratch.columns[i] = found[i].place if by_place else -1
        if i == 0 or found[i].score != found[i - 1].score:
            target += 1
            following[target] = i
    scratch.columns[n_found] = -1
    if real is float:
        rankmeter_tie_float(scores, n_scores, &index, counts, scratch.columns, before, following)
    else:
        rankmeter_tie_double(scores, n_scores, &index, counts, scratch.columns, before, following)
    target = 0
    for i in range(n_found):
        if i == 0 or found[i].score != found[i - 1].score:
            target += 1
        found[i].tied = counts[target]
        found[i].rank += before[i]
    return 0


cdef Py_ssize_t place_found(
    const real *scores, Py_ssize_t n_scores, Scratch *scratch, Py_ssize_t n_found,
    const Plan *plan, bint by_place,
) except -1 nogil:
    """Sort the found documents by score, high to low, and fill in `above`, `tied` and `rank`.

    Equals are ranked by their place among the scores (`by_place`), or else they all get the best
    rank. Returns how many documents the plan needs; those behind are in no order. The scores must
    hold those of the found documents, and no NaN; where somebody changes them meanwhile, what is
    filled in may be wrong, but finish() and group() make a record of it all the same.
    """
    cdef Py_ssize_t i, n = -1
    cdef Py_ssize_t few = FEW_FLOATS if real is float else FEW_DOUBLES
    for i in range(n_found):
        if scratch.found[i].score != scratch.found[i].score:
            with gil:
                raise ValueError("a score became NaN while it was read")
    if n_found <= few or plan.depth_of_all < n_scores:
        n = place_few(scores, n_scores, scratch, n_found, plan, few, by_place)
    if n < 0:
        n = n_found
        place_all(scores, n_scores, scratch, n_found, by_place)
    return n


# The best of all

cdef bint best_are_few(Py_ssize_t n, Py_ssize_t depth) noexcept nogil:
    """Whether the lanes of find_best() are long enough, and few of them need a closer look."""
    return 0 < depth <= MOST_DEPTH and n >= ROUNDS * LANES


cdef Py_ssize_t find_best(
    const real *scores, Py_ssize_t n, Py_ssize_t depth, Scratch *scratch
) except -2 nogil:
    """Lay out the best `depth` scores or more, sorted, with their places and ranks, as found.

    The scores are dealt to lanes. As many lanes as `depth` have a highest score at least as high as
    the lowest of these, so there are that many scores as high, and only those lanes hold any. To be
    asked only where best_are_few(); returns -1 where too many scores are that high.
    """
    cdef real highest[LANES]
    cdef real best[MOST_DEPTH]
    cdef real latest, bound
    cdef Py_ssize_t i, j, end, n_best = 0, count = 0
    cdef Found *found
    if real is float:
        rankmeter_lanes_float(scores, n, highest)
    else:
        rankmeter_lanes_double(scores, n, highest)
    for i in range(LANES):
        latest = highest[i]
        if n_best == depth:
            if not latest > best[depth - 1]:
                continue
            n_best -= 1
        j = n_best
        while j > 0 and best[j - 1] < latest:
            best[j] = best[j - 1]
            j -= 1
        best[j] = latest
        n_best += 1
    bound = best[depth - 1]
    reserve_judged(scratch, MOST_BEST)
    found = scratch.found
    for i in range(LANES):
        if not highest[i] >= bound:
            continue
        j = i
        while j < n:
            latest = scores[j]
            if latest >= bound:
                if count == MOST_BEST:
                    return -1
                found[count].score = latest
                found[count].place = j
                count += 1
            j += LANES
    sort(found, count, by_score)
    i = 0
    while i < count:
        end = i + 1
        while end < count and found[end].score == found[i].score:
            end += 1
        for j in range(i, end):
            found[j].above = i
            found[j].tied = end - i
            found[j].rank = j + 1
        i = end
    return count


# From found documents to a record. What query.pxd promises is made true here, whatever the door has
# found: the input may have changed under it.

cdef bint any_relevant(const Scratch *scratch, Py_ssize_t n_found) noexcept nogil:
    """Whether a document of grade 1 or higher was found."""
    cdef Py_ssize_t i
    for i in range(n_found):
        if scratch.found[i].grade >= 1.0:
            return True
    return False


cdef bint any_tied(const Scratch *scratch, Py_ssize_t n_found) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n_found):
        if scratch.found[i].tied > 1:
            return True
    return False


cdef inline Py_ssize_t between(Py_ssize_t low, Py_ssize_t value, Py_ssize_t high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef void group(Scratch *scratch, Py_ssize_t n_found, Query *record) noexcept nogil:
    """Lay out found documents, sorted by score, in groups of equal score.

    The groups follow one another within the ranking, and each has room for its documents.
    """
    cdef Found *found = scratch.found
    cdef Py_ssize_t i, j, room, first = 0, n_groups = 0, next_above = 0
    cdef Group *group
    for i in range(1, n_found + 1):
        if i < n_found and found[i].score == found[first].score:
            continue
        room = record.n_retrieved - (n_found - i)       # the documents behind need the rest
        group = &scratch.groups[n_groups]
        group.above = between(next_above, found[first].above, room - (i - first))
        group.size = between(i - first, found[first].tied, room - group.above)
        group.first = first
        group.end = i
        next_above = group.above + group.size
        for j in range(first, i):
            scratch.targets[j - first] = found[j].grade
        sort_grades(scratch.targets, i - first, scratch.grades + first)
        n_groups += 1
        first = i
    record.n_found = n_found
    record.grades = scratch.grades
    record.ranks = scratch.ranks
    record.groups = scratch.groups
    record.n_groups = n_groups


cdef void finish(Scratch *scratch, Py_ssize_t n_found, Query *record) noexcept nogil:
    """Lay out found documents by rank. Ranks ascend within the ranking, and no two are equal."""
    cdef Py_ssize_t i, rank = 0
    for i in range(1, n_found):
        if scratch.found[i].rank < scratch.found[i - 1].rank:
            sort(scratch.found, n_found, by_rank)
            break
    for i in range(n_found):
        rank = between(rank + 1, scratch.found[i].rank, record.n_retrieved - (n_found - 1 - i))
        scratch.ranks[i] = rank
        scratch.grades[i] = scratch.found[i].grade
    record.n_found = n_found
    record.grades = scratch.grades
    record.ranks = scratch.ranks
    record.groups = NULL
    record.n_groups = 0


cdef int score_found(
    const Plan *plan, bint expected, Scratch *scratch, Py_ssize_t n_found, Query *record,
    Values *values,
) except -1 nogil:
    """From found documents, sorted by score where any are tied, to values."""
    cdef bint tied
    n_found = min(n_found, record.n_retrieved, record.n_ideal)
    tied = values.lowest != NULL and any_tied(scratch, n_found)
    if tied:
        group(scratch, n_found, record)
        find_bounds(plan, record, scratch.ranks, scratch.arranged, values)
        if expected:
            return score_expected(plan, record, values)
    finish(scratch, n_found, record)
    score(plan, record, values.value)
    if values.lowest != NULL and not tied:
        memcpy(values.lowest, values.value, plan.n_tasks * sizeof(double))
        memcpy(values.highest, values.value, plan.n_tasks * sizeof(double))
    return 0


cdef Ties ties_of(object ties) except *:
    if ties == "docid":
        return BY_ID
    if ties == "input":
        return BY_INPUT
    if ties == "expected":
        return EXPECTED
    raise ValueError(f"ties must be 'docid', 'input' or 'expected', not {ties!r}")
