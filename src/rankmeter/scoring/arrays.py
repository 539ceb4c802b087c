"""Arrays in: scores with labels, rankings of integer ids, grades in rank order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from rankmeter._core.doors import arrays as core
from rankmeter._core.doors.array_rows import ArrayRows
from rankmeter.doors.arrays import (
    LARGEST_ID,
    Array,
    as_array,
    check_rows,
    describe_problem,
    group_rows,
    indptr_of_groups,
    is_compressed,
    lay_side_by_side,
    name_queries,
    no_judgments,
    read_judgments,
    readable_grades,
    readable_ids,
    readable_scores,
    require_shape,
    split_rows,
)
from rankmeter.doors.threads import count_usable, pool
from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import Wanted, compile_metrics
from rankmeter.results.coverage import Coverage
from rankmeter.results.evaluation import Evaluation

Metrics = Wanted | Iterable[Wanted]


def evaluate_scores(
    scores: Any,
    labels: Any,
    metrics: Metrics,
    *,
    mask: Any = None,
    groups: Any = None,
    query_ids: Any = None,
    ties: Literal["input", "expected"] = "input",
    threads: int = 1,
) -> Evaluation:
    """Evaluate the scores of a model against labels.

    Only the order of the scores matters: logits, negative scores and infinities are scores like
    others. Every candidate with a label is judged, so the ideal is drawn from all of them.

    Parameters
    ----------
    scores : array
        Queries x candidates; or, with `groups` or `query_ids`, one-dimensional. Floating, half
        precision and bfloat16 too, or integers.
    labels : array, scipy.sparse matrix or array, or tuple
        The grades: of the shape of `scores`, bool, integer or floating. Or compressed rows over
        the columns of `scores`: a sparse matrix, or ``(indptr, indices, data)``; then only what is
        stored is judged.
    metrics : str, Metric, or sequence of these
        Such as ``["ndcg@10", "recall@100", "mrr"]``; see `parse`.
    mask : array of bool, optional
        Of the shape of `scores`: False where there is no candidate, whatever stands there.
    groups : array of int, optional
        How many rows belong to each query, one after the other, as LightGBM and XGBoost hold it.
    query_ids : array or sequence of hashable, optional
        For one-dimensional scores without `groups`: the query of each row, in any order. Otherwise
        the name of each query; without them queries are numbered from 0, and `concat`
        numbers on.
    ties : {"input", "expected"}
        Equal scores: the one further left (or further up) stands first; or the mean over all
        orders, in closed form (McSherry and Najork, ECIR 2008). `Evaluation.ties` and
        `Evaluation.bounds` say how much that matters.
    threads : int
        Among how many threads to split the queries, at most as many as there are processors. The
        digits do not depend on it.

    Returns
    -------
    Evaluation
        One row a query, in the order of the rows, of the groups, or of the first appearance of
        each id. A query without candidates has the value 0.

    Raises
    ------
    TypeError
        For an array of the wrong dtype.
    ValueError
        For shapes that do not fit, a score that is NaN, a label that is not finite or has no gain,
        or a tensor that is not on the CPU.

    Notes
    -----
    An array is anything with ``__array__``, ``__dlpack__`` or the buffer protocol, or a list.
    Nothing is copied of float32 and float64 scores, and of bool, uint8, int16, int32, int64,
    float32 and float64 labels, where rows are contiguous. Other types and layouts are copied, as
    are masked rows (one at a time), ``indptr``, ``indices`` that are not int64, ``data`` that are
    not float64, and rows in the order of `query_ids` where these are not grouped already. The GIL
    is released.

    Examples
    --------
    >>> import numpy as np
    >>> import rankmeter as rm
    >>> scores = np.array([[0.2, 0.9, 0.4], [1.5, -0.3, 0.0]])
    >>> labels = np.array([[1, 0, 0], [3, 0, 1]])
    >>> ev = rm.evaluate_scores(scores, labels, ["ndcg@10", "mrr"])
    >>> ev.per_query[1]
    {'ndcg@10': 1.0, 'mrr': 1.0}
    >>> flat = rm.evaluate_scores(scores.ravel(), labels.ravel(), "mrr", groups=[3, 3])
    >>> flat["mrr"] == ev["mrr"]
    True
    """
    names, compiled = compile_metrics(metrics)
    if ties not in ("input", "expected"):
        raise ValueError(f"ties must be 'input' or 'expected', not {ties!r}")
    scores = readable_scores(as_array("scores", scores))
    if scores.ndim not in (1, 2):
        raise ValueError(f"scores must have one or two dimensions, not the shape {scores.shape}")
    sparse = is_compressed(labels)
    if not sparse:
        labels = readable_grades("labels", as_array("labels", labels))
        require_shape("labels", labels, scores)
    if mask is not None:
        mask = as_array("mask", mask)
        if mask.dtype != np.bool_:
            raise TypeError(
                f"mask must be bool, not {mask.dtype}; where 0 means that there is no candidate, "
                "pass np.asarray(mask) != 0"
            )
        require_shape("mask", mask, scores)
        mask = lay_side_by_side(mask)

    indptr, where = None, _in_row
    if scores.ndim == 2:
        if groups is not None:
            raise ValueError("groups are for one-dimensional scores")
        if scores.shape[1] == 0 and scores.shape[0]:
            raise ValueError("scores have no candidates: their shape is " + str(scores.shape))
    elif sparse:
        raise ValueError("compressed labels are for two-dimensional scores")
    elif groups is not None:
        indptr = indptr_of_groups(groups, len(scores))
        starts = indptr

        def where(row: int, place: int) -> str:
            return f"group {row}, row {starts[row] + place}"

    elif query_ids is not None:
        order, indptr, query_ids = group_rows(query_ids, len(scores))
        if order is not None:
            scores, labels = scores[order], labels[order]
            mask = None if mask is None else mask[order]
        starts, names_of_rows = indptr, query_ids

        def where(row: int, place: int) -> str:
            place += starts[row]
            return f"query {names_of_rows[row]!r}, row {place if order is None else order[place]}"

    else:
        raise ValueError(
            "one-dimensional scores need groups= or query_ids=; for one query pass scores[None]"
        )
    rows = ArrayRows(scores, indptr)
    judgments = None
    if sparse:
        judgments = read_judgments("labels", labels, rows.count, scores.shape[1])
    label_rows = None if sparse else ArrayRows(labels, indptr)
    mask_rows = None if mask is None else ArrayRows(mask, indptr)

    def part(begin: int, end: int, values: Array, answerable: Array) -> Any:
        return core.evaluate_scores(
            compiled,
            rows,
            label_rows,
            judgments,
            mask_rows,
            ties == "expected",
            begin,
            end,
            values,
            answerable,
        )

    return _evaluate(part, names, rows.count, scores.size, query_ids, threads, where, tied=True)


def evaluate_rankings(
    rankings: Any,
    judgments: Any,
    metrics: Metrics,
    *,
    pad: int = -1,
    query_ids: Any = None,
    threads: int = 1,
) -> Evaluation:
    """Evaluate rankings of integer ids, as a vector index returns them.

    Parameters
    ----------
    rankings : array of int, or tuple
        Queries x ranks, best first, filled up with `pad`; or a tuple ``(values, indptr)``, where
        row i is ``values[indptr[i]:indptr[i + 1]]``. Ids are not negative. Read only as deep as
        the metrics need.
    judgments : scipy.sparse matrix or array, or tuple
        Compressed rows ``(indptr, indices, data)``: the judged ids of each query and their grades.
    metrics : str, Metric, or sequence of these
        Such as ``["ndcg@10", "recall@100", "mrr"]``; see `parse`.
    pad : int
        What stands at the end of a row that is not full.
    query_ids : array or sequence, optional
        The name of each query; without them queries are numbered from 0, and `concat`
        numbers on.
    threads : int
        Among how many threads to split the queries, at most as many as there are processors. The
        digits do not depend on it.

    Returns
    -------
    Evaluation
        One row a query. A query without an id has the value 0.

    Raises
    ------
    TypeError
        For ids that are not integers, or an array of the wrong dtype.
    ValueError
        For numbers of rows that differ, an id that stands twice in a row, is negative or stands
        behind `pad`, an ``indptr`` that falls or ends outside, a column that is judged twice, and
        a grade that is not finite or has no gain.

    Notes
    -----
    int32, int64 and uint64 ids are not copied where rows are contiguous; other integers are, and
    so are ``indptr``, ``indices`` that are not int64 and ``data`` that are not float64. The largest
    uint32 and uint64, which is -1 in disguise, is taken for -1. The GIL is released.

    Examples
    --------
    >>> import numpy as np
    >>> import rankmeter as rm
    >>> rankings = np.array([[7, 2, 5], [4, 9, -1]])
    >>> judgments = [0, 2, 3], [2, 5, 9], [1, 3, 1]
    >>> ev = rm.evaluate_rankings(rankings, tuple(judgments), ["mrr", "recall@2"])
    >>> ev.per_query[0]
    {'mrr': 0.5, 'recall@2': 0.5}
    """
    names, compiled = compile_metrics(metrics)
    if isinstance(pad, bool) or not isinstance(pad, (int, np.integer)):
        raise TypeError(f"pad must be an integer, not {pad!r}")
    given, indptr = split_rows("rankings", rankings)
    ids = readable_ids("rankings", given)
    unsigned = given.dtype if given.dtype.kind == "u" else None
    if unsigned is not None and given.itemsize >= 4 and pad == np.iinfo(unsigned).max:
        pad = -1
    if not -(2**63) <= pad <= LARGEST_ID:
        raise ValueError(f"pad must be an int64, not {pad}")
    indptr = check_rows("rankings", ids, indptr)
    rows = ArrayRows(ids, indptr)
    if not is_compressed(judgments):
        raise no_judgments(judgments)
    columns = read_judgments("judgments", judgments, rows.count, None, pad)

    def part(begin: int, end: int, values: Array, answerable: Array) -> Any:
        return core.evaluate_rankings(
            compiled, rows, columns, int(pad), begin, end, values, answerable
        )

    return _evaluate(
        part, names, rows.count, ids.size, query_ids, threads, _in_row, unsigned=unsigned
    )


def evaluate_grades(
    grades: Any,
    metrics: Metrics,
    *,
    ideal: Any,
    query_ids: Any = None,
    threads: int = 1,
) -> Evaluation:
    """Evaluate grades that stand in rank order already.

    Parameters
    ----------
    grades : array, or tuple
        Queries x ranks: the grade of each retrieved document, best rank first; 0 where it is not
        judged. Or a tuple ``(values, indptr)``, whose row i is
        ``values[indptr[i]:indptr[i + 1]]``. The end of a floating row may be filled up with NaN;
        zeros there change nothing either.
    metrics : str, Metric, or sequence of these
        Such as ``["ndcg@10", "recall@100", "mrr"]``; see `parse`.
    ideal : array, tuple, or "retrieved"
        The grades of all judged documents of each query, retrieved or not, in any order, in the
        same forms as `grades`. Recall, average precision and nDCG divide by what follows from
        them, so there is no default. ``"retrieved"`` draws the ideal from the list itself, which
        hides whatever was not retrieved.
    query_ids : array or sequence, optional
        The name of each query; without them queries are numbered from 0, and `concat`
        numbers on.
    threads : int
        Among how many threads to split the queries, at most as many as there are processors. The
        digits do not depend on it.

    Returns
    -------
    Evaluation
        One row a query. A query without grades has the value 0.

    Raises
    ------
    TypeError
        For an array of the wrong dtype.
    ValueError
        For numbers of rows that differ, a grade that is not finite or has no gain, and a row that
        holds more than its ideal does.

    Notes
    -----
    bool, uint8, int16, int32, int64, float32 and float64 are not copied where rows are contiguous.
    The GIL is released.

    Examples
    --------
    >>> import rankmeter as rm
    >>> ev = rm.evaluate_grades([[0, 3, 1]], "ndcg@3", ideal=[[3, 1, 1]])
    >>> ev["ndcg@3"]
    0.6046674...
    >>> rm.evaluate_grades([[0, 3, 1]], "ndcg@3", ideal="retrieved")["ndcg@3"]
    0.6442869...
    """
    names, compiled = compile_metrics(metrics)
    given, indptr = split_rows("grades", grades)
    array = readable_grades("grades", given)
    rows = ArrayRows(array, check_rows("grades", array, indptr))
    ideals = None
    if not (isinstance(ideal, str) and ideal == "retrieved"):
        if ideal is None or isinstance(ideal, str):
            raise ValueError(
                f"ideal must be the grades of all judged documents or 'retrieved', not {ideal!r}"
            )
        given, indptr = split_rows("ideal", ideal)
        array = readable_grades("ideal", given)
        ideals = ArrayRows(array, check_rows("ideal", array, indptr, rows.count))

    def part(begin: int, end: int, values: Array, answerable: Array) -> Any:
        return core.evaluate_grades(compiled, rows, ideals, begin, end, values, answerable)

    def where(row: int, place: int) -> str:
        return _in_row(row, place) if place >= 0 else f"ideal, {_in_row(row, -1 - place)}"

    return _evaluate(part, names, rows.count, array.size, query_ids, threads, where)


# From parts to a whole


def _in_row(row: int, place: int) -> str:
    return f"row {row}, column {place}"


def _evaluate(
    part: Callable[[int, int, Array, Array], Any],
    names: Mapping[str, Metric],
    count: int,
    size: int,
    query_ids: Any,
    threads: int,
    where: Callable[[int, int], str],
    *,
    tied: bool = False,
    unsigned: np.dtype[Any] | None = None,
) -> Evaluation:
    if not count:
        raise ValueError("there is no query to evaluate")
    threads = min(count_usable(threads, size), count)
    names_of_queries = range(count) if query_ids is None else name_queries(query_ids, count)
    values = np.empty((3 if tied else 1, count, len(names)))
    answerable = np.empty(count, np.uint8)
    if threads == 1:
        problem = part(0, count, values, answerable)
    else:
        cuts = [count * i // threads for i in range(threads + 1)]
        others = [
            pool().submit(part, begin, end, values, answerable) for begin, end in pairwise(cuts[1:])
        ]
        problems = [part(0, cuts[1], values, answerable), *(one.result() for one in others)]
        problem = next((one for one in problems if one is not None), None)
    if problem is not None:
        raise ValueError(describe_problem(problem, where, unsigned))
    return Evaluation(
        names_of_queries,
        names,
        values[0],
        Coverage(count, count, 0, 0, count - int(np.count_nonzero(answerable))),
        lowest=values[1 if tied else 0],
        highest=values[2 if tied else 0],
        retrieved=np.ones(count, np.bool_),
        answerable=answerable.view(np.bool_),
        numbered=query_ids is None,
    )
