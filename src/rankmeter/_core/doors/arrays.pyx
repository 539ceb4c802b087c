"""The doors for arrays: scores with labels, rankings of integer ids, and grades in rank order.

Arrays are read where they lie, with the GIL released. The wrapper has brought them to the types
that are read here; every value is checked here, as it is read, so that an array that somebody
changes meanwhile gives a wrong value at worst.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, qsort
from libc.string cimport memset

from rankmeter._core.doors.array_rows cimport (
    BAD_GRADE, BEYOND_IDEAL, COLUMN_OUTSIDE, COLUMN_TWICE, ID_AFTER_PAD, ID_NEGATIVE, ID_TWICE,
    NAN_SCORE, NO_GAIN, NOTHING, ArrayRows, Problem, check_part, describe_problem, read_grades,
    read_row, set_ideal, tally_row, value_at,
)
from rankmeter._core.driver cimport Metrics, complain
from rankmeter._core.ids cimport Probe, Table, look_for, next_alike, put, tag_of_word
from rankmeter._core.memory cimport allocate
from rankmeter._core.query cimport Plan, Query, Values
from rankmeter._core.ranks cimport any_nan, best_are_few, find_best, place_found, real, score_found
from rankmeter._core.scratch cimport (
    Scratch, open_table, release, reserve_counts, reserve_judged, reserve_scores, start,
)

ctypedef fused integer_id:
    int32_t
    int64_t


# Masks

# A row without the candidates that a mask leaves out.
cdef struct Compact:
    Py_ssize_t capacity
    double *labels
    Py_ssize_t *places          # of each column, where it is now
    Py_ssize_t *columns         # of each place, where it was


cdef int reserve_compact(Compact *compact, Py_ssize_t n) except -1 nogil:
    if n <= compact.capacity:
        return 0
    free(compact.labels)
    compact.capacity = 0
    compact.labels = NULL
    compact.labels = <double *> allocate(n, sizeof(double) + 2 * sizeof(Py_ssize_t))
    compact.places = <Py_ssize_t *> (compact.labels + n)
    compact.columns = compact.places + n
    compact.capacity = n
    return 0


# Judgments by row

cdef int ascending(const void *a, const void *b) noexcept nogil:
    cdef Py_ssize_t x = (<const Py_ssize_t *> a)[0]
    cdef Py_ssize_t y = (<const Py_ssize_t *> b)[0]
    return (x > y) - (x < y)


cdef class JudgedArrays:
    """Judged documents in compressed rows.

    Parameters
    ----------
    columns, grades : ArrayRows
        int64 and float64, cut alike: the documents that are judged, and their grades.
    n_columns : int
        Every column must be smaller.
    """

    cdef ArrayRows columns
    cdef ArrayRows grades
    cdef int64_t n_columns

    def __cinit__(self, ArrayRows columns not None, ArrayRows grades not None, int64_t n_columns):
        if (columns.kind != b"i" or columns.buffer.itemsize != 8
                or grades.kind != b"f" or grades.buffer.itemsize != 8):
            raise TypeError("columns must be int64, grades float64")
        if columns.starts == NULL or columns.starts != grades.starts:
            raise ValueError("columns and grades must be cut by the same indptr")
        self.columns = columns
        self.grades = grades
        self.n_columns = n_columns

    cdef Py_ssize_t read(
        self, Py_ssize_t i, double lowest, const Compact *compact, Py_ssize_t kept,
        Scratch *scratch, Query *record, Problem *problem,
    ) except -1 nogil:
        """Find the judged documents of grade `lowest` or more in row `i`, unless masked."""
        cdef Py_ssize_t j, n, count = 0, n_judged = 0
        cdef const int64_t *columns = <const int64_t *> self.columns.row(i, &n)
        cdef const double *grades = <const double *> self.grades.row(i, &n)
        cdef int64_t column, last = -1
        cdef double grade
        cdef bint rising = True
        reserve_judged(scratch, n)
        reserve_counts(scratch, n)
        for j in range(n):
            column = columns[j]
            grade = grades[j]
            problem.place = problem.id = column
            problem.number = grade
            if not 0 <= column < self.n_columns:
                problem.fault = COLUMN_OUTSIDE
                return 0
            if not isfinite(grade):
                problem.fault = BAD_GRADE
                return 0
            rising &= column > last
            last = column
            scratch.counts[j] = column
            if compact != NULL:
                column = compact.places[column]
                if column >= kept or compact.columns[column] != scratch.counts[j]:
                    continue
            n_judged += 1
            if grade >= lowest:
                scratch.found[count].place = column
                scratch.found[count].grade = scratch.grades[count] = grade
                count += 1
        if not rising:
            qsort(scratch.counts, n, sizeof(Py_ssize_t), ascending)
            for j in range(1, n):
                if scratch.counts[j] == scratch.counts[j - 1]:
                    problem.fault = COLUMN_TWICE
                    problem.id = scratch.counts[j]
                    return 0
        record.n_judged = n_judged
        return count


# Scores

cdef Py_ssize_t find_in_best(
    const real *scores, Py_ssize_t n, ArrayRows labels, const void *row, const Plan *plan,
    Scratch *scratch, Query *record,
) except -2 nogil:
    """Complete a record from the best scores alone, whose labels are looked at then.

    Returns how many documents were found; -1 where the plan needs more than the best, or where
    there is something that needs a closer look.
    """
    cdef Py_ssize_t j, n_best, place, n_found = 0
    cdef bint first_seen = plan.first_rel == 0.0
    cdef double grade
    if any_nan(scores, n):
        return -1
    record.n_ideal = tally_row(labels, row, n, plan.lowest, scratch)
    if record.n_ideal < 0:
        return -1
    record.ideal = scratch.ideal
    if complain(plan, scratch.ideal, record.n_ideal, &place):
        return -1
    n_best = find_best(scores, n, plan.depth_of_all, scratch)
    for j in range(n_best):
        grade = value_at(labels, row, scratch.found[j].place)
        if grade >= plan.lowest:
            # The tally is still there: a grade that it does not hold was changed meanwhile.
            if not 0.0 <= grade < 16.0 or scratch.counts[<Py_ssize_t> grade] == 0:
                return -1
            scratch.counts[<Py_ssize_t> grade] -= 1
            scratch.found[n_found] = scratch.found[j]
            scratch.found[n_found].grade = grade
            n_found += 1
            first_seen |= grade >= plan.first_rel
    return n_found if n_best >= 0 and first_seen else -1


cdef int score_row(
    const real *scores, Py_ssize_t n, Py_ssize_t i, ArrayRows labels, JudgedArrays judgments,
    const uint8_t *mask, const Plan *plan, bint expected, Scratch *scratch, Compact *compact,
    Query *record, Values *values, Problem *problem,
) except -1 nogil:
    cdef Py_ssize_t j, kept = 0, n_found = 0
    cdef const void *row = labels.row(i, &j) if labels is not None else NULL
    if mask != NULL:
        reserve_compact(compact, n)
        reserve_scores(scratch, n)
        for j in range(n):
            compact.places[j] = kept
            if mask[j]:
                (<real *> scratch.scores)[kept] = scores[j]
                compact.columns[kept] = j
                if row != NULL:
                    compact.labels[kept] = value_at(labels, row, j)
                kept += 1
        scores = <const real *> scratch.scores
        n = kept
    record.n_judged = record.n_retrieved = n
    if judgments is None and mask == NULL and best_are_few(n, plan.depth_of_all):
        n_found = find_in_best(scores, n, labels, row, plan, scratch, record)
        if n_found >= 0:
            return score_found(plan, expected, scratch, n_found, record, values)
        n_found = 0
    if judgments is not None:
        n_found = judgments.read(
            i, plan.lowest, compact if mask != NULL else NULL, kept, scratch, record, problem
        )
    elif mask != NULL:
        n_found = read_grades(compact.labels, n, plan.lowest, scratch, problem)
    else:
        n_found = read_row(labels, row, n, plan.lowest, scratch, problem)
    if problem.fault == NOTHING and set_ideal(plan, n_found, scratch, record, problem):
        if any_nan(scores, n):
            problem.fault = NAN_SCORE
            problem.place = 0
            while problem.place < n - 1 and scores[problem.place] == scores[problem.place]:
                problem.place += 1
    if problem.fault != NOTHING:
        if mask != NULL and (
            judgments is None or problem.fault == NO_GAIN or problem.fault == NAN_SCORE
        ):
            problem.place = compact.columns[problem.place]
        return 0
    for j in range(n_found):
        scratch.found[j].score = scores[scratch.found[j].place]
        if scratch.found[j].score != scratch.found[j].score:    # since any_nan() was asked
            problem.fault = NAN_SCORE
            problem.place = scratch.found[j].place
            return 0
    n_found = place_found(scores, n, scratch, n_found, plan, not expected)
    return score_found(plan, expected, scratch, n_found, record, values)


def evaluate_scores(
    Metrics metrics not None, ArrayRows scores not None, ArrayRows labels, JudgedArrays judgments,
    ArrayRows mask, bint expected, Py_ssize_t begin, Py_ssize_t end, double[:, :, ::1] values,
    unsigned char[::1] answerable,
):
    """Fill rows `begin` to `end` of `values`; returns what is wrong, or None.

    Parameters
    ----------
    metrics : Metrics
    scores : ArrayRows
        float32 or float64.
    labels : ArrayRows or None
        Of the shape of `scores`, or else `judgments` over the columns.
    judgments : JudgedArrays or None
    mask : ArrayRows or None
        uint8, of the shape of `scores`: 0 where there is no candidate.
    expected : bool
        The mean over all orders of equal scores, instead of the order of the columns.
    begin, end : int
    values : float64 array, 3 x rows x metrics
        The values, and the lowest and the highest that an order of equal scores can give.
    answerable : uint8 array, rows
        Set where a document has grade 1 or higher.
    """
    cdef Py_ssize_t i, n, n_labels
    cdef const void *row
    cdef const uint8_t *masked = NULL
    cdef Scratch scratch
    cdef Compact compact
    cdef Query record
    cdef Values out
    cdef Problem problem
    check_part(begin, end, scores, &metrics.plan, values, 3, answerable)
    if scores.kind != b"f" or (labels is None) == (judgments is None):
        raise TypeError("scores must be floating, and there must be labels or judgments")
    for other in (labels, mask, None if judgments is None else judgments.columns):
        if other is not None and other.count != scores.count:
            raise ValueError("the numbers of rows differ")
    if mask is not None and (mask.kind != b"u" or mask.starts != scores.starts):
        raise TypeError("the mask must be uint8, in rows like the scores")
    if mask is not None and mask.starts == NULL and (
            mask.buffer.shape[1] != scores.buffer.shape[1]):
        raise ValueError("mask and scores differ in their columns")
    if judgments is not None and (
            scores.starts != NULL or judgments.n_columns > scores.buffer.shape[1]):
        raise ValueError("judgments must be over the columns of two-dimensional scores")
    metrics.require_expectations(expected)
    start(&scratch)
    memset(&compact, 0, sizeof(Compact))
    memset(&problem, 0, sizeof(Problem))
    try:
        with nogil:
            for i in range(begin, end):
                row = scores.row(i, &n)
                if labels is not None:
                    labels.row(i, &n_labels)
                    if n_labels != n:
                        with gil:
                            raise ValueError("the lengths of rows differ")
                if mask is not None:
                    masked = <const uint8_t *> mask.row(i, &n_labels)
                out = Values(&values[0, i, 0], &values[1, i, 0], &values[2, i, 0])
                if scores.buffer.itemsize == 4:
                    score_row(
                        <const float *> row, n, i, labels, judgments, masked, &metrics.plan,
                        expected, &scratch, &compact, &record, &out, &problem,
                    )
                else:
                    score_row(
                        <const double *> row, n, i, labels, judgments, masked, &metrics.plan,
                        expected, &scratch, &compact, &record, &out, &problem,
                    )
                if problem.fault != NOTHING:
                    problem.row = i
                    break
                answerable[i] = record.n_ideal > 0 and record.ideal[0] >= 1.0
    finally:
        release(&scratch)
        free(compact.labels)
    return describe_problem(&problem)


# Rankings

cdef Py_ssize_t rank_ids(
    const integer_id *ids, Py_ssize_t n, int64_t pad, const Plan *plan, Scratch *scratch,
    Py_ssize_t n_sought, Query *record, Problem *problem,
) except -1 nogil:
    """Find the sought documents in a row of ids."""
    cdef Py_ssize_t i, j, depth, found = 0
    cdef int64_t document
    cdef Table table
    cdef Probe probe
    while n > 0 and ids[n - 1] == pad:
        n -= 1
    record.n_retrieved = n
    depth = min(n, plan.depth)
    if depth > 0x3FFFFFFF:
        with gil:
            raise ValueError(f"one ranking has {depth} ids to read, which are too many")
    open_table(scratch, depth, 4)
    table = scratch.table
    for i in range(depth):
        document = ids[i]
        probe = look_for(tag_of_word(<uint64_t> document))
        while next_alike(&table, &probe):
            if ids[probe.place] == document:
                problem.fault = ID_AFTER_PAD if document == pad else ID_TWICE
                problem.place = i
                problem.id = document
                problem.number = <double> probe.place
                return 0
        put(&table, &probe, i)
        if document < 0 or document == pad:
            problem.fault = ID_AFTER_PAD if document == pad else ID_NEGATIVE
            problem.place = i
            problem.id = document
            return 0
    for j in range(n_sought):
        document = scratch.found[j].place
        probe = look_for(tag_of_word(<uint64_t> document))
        while next_alike(&table, &probe):
            if ids[probe.place] == document:
                scratch.found[found].rank = probe.place + 1
                scratch.found[found].tied = 1
                scratch.found[found].grade = scratch.found[j].grade
                found += 1
                break
    return found


def evaluate_rankings(
    Metrics metrics not None, ArrayRows rankings not None, JudgedArrays judgments not None,
    int64_t pad, Py_ssize_t begin, Py_ssize_t end, double[:, :, ::1] values,
    unsigned char[::1] answerable,
):
    """Fill rows `begin` to `end` of `values`; returns what is wrong, or None.

    Parameters
    ----------
    metrics : Metrics
    rankings : ArrayRows
        int32 or int64: ids, best first.
    judgments : JudgedArrays
        As many rows.
    pad : int
        The id that fills a row up at its end.
    begin, end, values, answerable
        As for `evaluate_scores`, but for `values` of 1 x rows x metrics: nothing is tied.
    """
    cdef Py_ssize_t i, n, n_found
    cdef const void *row
    cdef Scratch scratch
    cdef Query record
    cdef Values out
    cdef Problem problem
    check_part(begin, end, rankings, &metrics.plan, values, 1, answerable)
    if rankings.kind != b"i" or rankings.buffer.itemsize < 4:
        raise TypeError("rankings must be int32 or int64")
    if judgments.columns.count != rankings.count:
        raise ValueError("the numbers of rows differ")
    start(&scratch)
    memset(&problem, 0, sizeof(Problem))
    try:
        with nogil:
            for i in range(begin, end):
                n_found = judgments.read(
                    i, metrics.plan.lowest, NULL, 0, &scratch, &record, &problem
                )
                if problem.fault == NOTHING and set_ideal(
                    &metrics.plan, n_found, &scratch, &record, &problem
                ):
                    row = rankings.row(i, &n)
                    if rankings.buffer.itemsize == 4:
                        n_found = rank_ids(
                            <const int32_t *> row, n, pad, &metrics.plan, &scratch, n_found,
                            &record, &problem,
                        )
                    else:
                        n_found = rank_ids(
                            <const int64_t *> row, n, pad, &metrics.plan, &scratch, n_found,
                            &record, &problem,
                        )
                if problem.fault != NOTHING:
                    problem.row = i
                    break
                out = Values(&values[0, i, 0], NULL, NULL)
                score_found(&metrics.plan, False, &scratch, n_found, &record, &out)
                answerable[i] = record.n_ideal > 0 and record.ideal[0] >= 1.0
    finally:
        release(&scratch)
    return describe_problem(&problem)


# Grades in rank order

cdef Py_ssize_t read_list(
    ArrayRows rows, Py_ssize_t i, double lowest, Scratch *scratch, Problem *problem,
    Py_ssize_t *length,
) except -1 nogil:
    """The same as read_row(), of a row that may be filled up with NaN."""
    cdef Py_ssize_t n
    cdef const void *row = rows.row(i, &n)
    cdef double last
    while n > 0:
        last = value_at(rows, row, n - 1)
        if last == last:
            break
        n -= 1
    length[0] = n
    return read_row(rows, row, n, lowest, scratch, problem)


def evaluate_grades(
    Metrics metrics not None, ArrayRows grades not None, ArrayRows ideal, Py_ssize_t begin,
    Py_ssize_t end, double[:, :, ::1] values, unsigned char[::1] answerable,
):
    """Fill rows `begin` to `end` of `values`; returns what is wrong, or None.

    Parameters
    ----------
    metrics : Metrics
    grades : ArrayRows
        The grade at each rank; a floating row may end with NaNs, which stand for nothing.
    ideal : ArrayRows or None
        The grades of all judged documents, in any order; None: those retrieved are all.
    begin, end, values, answerable
        As for `evaluate_rankings`. A fault in `ideal` counts its places from -1 down.
    """
    cdef Py_ssize_t i, j, n_found, n_ideal
    cdef Scratch scratch
    cdef Scratch room
    cdef Query record
    cdef Values out
    cdef Problem problem
    check_part(begin, end, grades, &metrics.plan, values, 1, answerable)
    if ideal is not None and ideal.count != grades.count:
        raise ValueError("the numbers of rows differ")
    start(&scratch)
    start(&room)
    memset(&problem, 0, sizeof(Problem))
    try:
        with nogil:
            for i in range(begin, end):
                n_found = read_list(
                    grades, i, metrics.plan.lowest, &scratch, &problem, &record.n_retrieved
                )
                record.n_judged = record.n_retrieved
                if problem.fault == NOTHING:
                    set_ideal(&metrics.plan, n_found, &scratch, &record, &problem)
                if problem.fault == NOTHING and ideal is not None:
                    n_ideal = read_list(
                        ideal, i, metrics.plan.lowest, &room, &problem, &record.n_judged
                    )
                    if problem.fault == NOTHING:
                        set_ideal(&metrics.plan, n_ideal, &room, &record, &problem)
                    if problem.fault != NOTHING:
                        problem.place = -1 - problem.place
                    else:
                        for j in range(n_found):
                            if j >= n_ideal or scratch.ideal[j] > room.ideal[j]:
                                problem.fault = BEYOND_IDEAL
                                problem.number = scratch.ideal[j]
                                break
                if problem.fault != NOTHING:
                    problem.row = i
                    break
                for j in range(n_found):
                    scratch.found[j].rank = scratch.found[j].place + 1
                    scratch.found[j].tied = 1
                out = Values(&values[0, i, 0], NULL, NULL)
                score_found(&metrics.plan, False, &scratch, n_found, &record, &out)
                answerable[i] = record.n_ideal > 0 and record.ideal[0] >= 1.0
    finally:
        release(&scratch)
        release(&room)
    return describe_problem(&problem)
