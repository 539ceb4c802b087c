"""The doors for arrays: the same digits as the door for dicts, and what they refuse."""

from __future__ import annotations

import array
import math
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import reference
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import rankmeter as rm
from rankmeter._core.doors.groups import number_ids, number_integers, sort_numbers
from rankmeter.doors.threads import count_processors, count_usable
from rankmeter.naming.rows import METRICS

SIX = ["ndcg@10", "map", "mrr", "recall@10", "precision@10", "hit@10"]
SHALLOW = ["ndcg@3", "recall@2", "precision@3", "hit@1", "mrr@2", "map@3"]

SCORE_TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "g", "?", ">f4"]
LABEL_TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", ">i4"]


def as_dicts(scores: Any, labels: Any, keep: Any = None) -> tuple[dict[int, Any], dict[int, Any]]:
    """The same rows as qrels and run of the dict door; the ids are the columns."""
    qrels, run = {}, {}
    for row in range(len(scores)):
        columns = [c for c in range(len(scores[row])) if keep is None or keep[row][c]]
        qrels[row] = {c: labels[row][c].item() for c in columns}
        run[row] = {c: scores[row][c].item() for c in columns}
    return qrels, run


def same(ours: rm.Evaluation, theirs: rm.Evaluation) -> None:
    assert ours.values.tobytes() == theirs.values.tobytes()
    assert ours.mean == theirs.mean
    assert ours.coverage == theirs.coverage._replace(unmatched=0)  # which arrays do not count
    assert ours.ties == theirs.ties
    assert ours.bounds.lowest.values.tobytes() == theirs.bounds.lowest.values.tobytes()
    assert ours.bounds.highest.values.tobytes() == theirs.bounds.highest.values.tobytes()


def by_dicts(qrels: Any, run: Any, metrics: Any = SIX, ties: Any = "input") -> rm.Evaluation:
    """The evaluation of dicts; where there is one order, its values are those of plain Python."""
    ev = rm.evaluate(qrels, run, metrics, ties=ties)
    if ties != "expected":
        plain = reference.evaluate(qrels, run, metrics, ties=ties).per_query
        assert (
            ev.values.tobytes() == np.array([[*row.values()] for row in plain.values()]).tobytes()
        )
    return ev


def extremes(qrels: Any, run: Any, metrics: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values, by plain Python, where equal scores stand in the worst and in the best order."""

    def values(sign: int) -> np.ndarray:
        ranked = {
            query: sorted(scores, key=lambda doc: (-scores[doc], sign * qrels[query][doc]))
            for query, scores in run.items()
        }
        plain = reference.evaluate(qrels, ranked, metrics).per_query
        return np.array([[*row.values()] for row in plain.values()])

    return values(1), values(-1)


def compressed(labels: Any) -> tuple[Any, Any, Any]:
    """Rows of (column, grade) pairs as indptr, indices and data."""
    indptr = np.cumsum([0] + [len(row) for row in labels])
    pairs = [pair for row in labels for pair in row]
    return indptr, np.array([c for c, _ in pairs], int), np.array([g for _, g in pairs], float)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def drawn(
    rng: np.random.Generator, rows: int, columns: int, values: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and grades; `values`: how many different scores there are, 0 for all different."""
    scores = rng.standard_normal((rows, columns))
    if values:
        scores = np.floor(scores * values / 3) / 4
    return scores, np.where(rng.random((rows, columns)) < 0.3, rng.integers(-1, 4, scores.shape), 0)


# ---------------------------------------------------------------------------------------------
# Scores


@st.composite
def matrices(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, list[str], str]:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = rng.standard_normal((rows, columns))
    different = draw(st.sampled_from([0, 1, 2, 5, 20]))
    if different:
        scores = rng.integers(-different, different, scores.shape) / 4
    if draw(st.booleans()):
        scores[rng.random(scores.shape) < 0.2] = draw(st.sampled_from([math.inf, -math.inf, -0.0]))
    labels = rng.choice(
        draw(
            st.sampled_from([[0, 1], [0, 0, 0, 0, 3], [-2, 0, 1, 2, 3], [0.5, 1, 1.5, -0.25, 17]])
        ),
        scores.shape,
    )
    mask = rng.random(scores.shape) < 0.7 if draw(st.booleans()) else None
    positive = sorted({float(label) for label in labels.ravel() if label > 0})
    metrics = draw(
        st.lists(strategies.metric_texts(positive), min_size=1, max_size=5, unique_by=rm.parse)
    )
    closed = all(METRICS[rm.parse(text).name].closed_form for text in metrics)
    ties = draw(st.sampled_from(["input", "expected"])) if closed else "input"
    return scores.astype(draw(st.sampled_from(["f4", "f8"]))), labels, mask, metrics, ties


def check_matrix(example: Any) -> None:
    scores, labels, mask, metrics, ties = example
    expected = by_dicts(*as_dicts(scores, labels, mask), metrics, ties)
    options: Any = {"ties": ties, "mask": mask}
    same(rm.evaluate_scores(scores, labels, metrics, **options), expected)
    same(rm.evaluate_scores(scores, labels, metrics, **options, threads=3), expected)
    full = np.full(len(scores), scores.shape[1])
    flat = None if mask is None else mask.ravel()
    same(
        rm.evaluate_scores(
            scores.ravel(), labels.ravel(), metrics, groups=full, ties=ties, mask=flat
        ),
        expected,
    )
    triple = compressed([[(c, label) for c, label in enumerate(row)] for row in labels])
    same(rm.evaluate_scores(scores, triple, metrics, **options), expected)


@settings(max_examples=200)
@given(matrices())
def test_scores_give_the_digits_of_dicts(example: Any) -> None:
    check_matrix(example)


@pytest.mark.slow
@settings(max_examples=5_000)
@given(matrices())
def test_scores_give_the_digits_of_dicts_many(example: Any) -> None:
    check_matrix(example)


@pytest.mark.parametrize("metrics", [SIX, SHALLOW, ["mrr"], ["mrr(rel=3)", "mrr", "recall@1"]])
@pytest.mark.parametrize("values", [0, 3, 100])
@pytest.mark.parametrize("relevant", [1, 5, 12, 16, 60, 700])
def test_few_and_many_judged(
    metrics: list[str], values: int, relevant: int, rng: np.random.Generator
) -> None:
    """Each way of counting, and each place where one gives way to the other."""
    for dtype in ("f4", "f8"):
        scores, _ = drawn(rng, 6, 900, values)
        scores = scores.astype(dtype)
        labels = np.zeros(scores.shape, int)
        for row in labels:
            row[rng.choice(900, relevant, replace=False)] = rng.integers(1, 4, relevant)
        better = scores + (labels > 0) * np.asarray(rng.choice([0, 2], (6, 1)), dtype)
        qrels, run = as_dicts(better, labels)
        lowest, highest = extremes(qrels, run, metrics)
        for ties in ("input", "expected"):
            expected = by_dicts(qrels, run, metrics, ties)
            assert expected.bounds.lowest.values.tobytes() == lowest.tobytes()
            assert expected.bounds.highest.values.tobytes() == highest.tobytes()
            same(rm.evaluate_scores(better, labels, metrics, ties=ties), expected)


@pytest.mark.parametrize("spread", ["normal", "skewed", "huge", "tiny", "infinite", "two"])
def test_scores_of_any_spread(spread: str, rng: np.random.Generator) -> None:
    """The index over the judged scores must find its way in all of them."""
    scores, labels = drawn(rng, 8, 400)
    labels[:, ::3] = 1
    scores = {
        "normal": lambda: scores,
        "skewed": lambda: np.exp(scores * 30),
        "huge": lambda: scores * 3e307,
        "tiny": lambda: scores * 5e-324 * 1000,
        "infinite": lambda: np.where(
            abs(scores) > 1, np.copysign(math.inf, scores), np.round(scores, 1)
        ),
        "two": lambda: np.where(scores > 0, 1.0, -1.0),
    }[spread]()
    with np.errstate(over="ignore"):
        single = np.clip(scores, -3.4e38, 3.4e38).astype("f4") if spread != "infinite" else scores
    for values in (scores, single):
        qrels, run = as_dicts(values, labels)
        for ties in ("input", "expected"):
            same(
                rm.evaluate_scores(values, labels, SIX, ties=ties),
                by_dicts(qrels, run, ties=ties),
            )


@pytest.mark.parametrize("dtype", SCORE_TYPES)
def test_scores_of_any_type(dtype: str, rng: np.random.Generator) -> None:
    scores, labels = drawn(rng, 5, 60, 9)
    scores = (abs(scores) * 8).astype(dtype)
    qrels, run = as_dicts(scores.astype("f8"), labels)
    before = scores.copy()
    ours = rm.evaluate_scores(scores, labels, SIX)
    same(ours, by_dicts(qrels, run))
    assert scores.tobytes() == before.tobytes()


@pytest.mark.parametrize("metrics", [[*SIX, "recall@5(rel=0.25)", "map(rel=0.6)"], SHALLOW])
@pytest.mark.parametrize("columns", [60, 257, 303])
@pytest.mark.parametrize("dtype", LABEL_TYPES)
def test_labels_of_any_type(
    dtype: str, columns: int, metrics: list[str], rng: np.random.Generator
) -> None:
    """Among 256 scores or more, cut-offs alone need the labels of the best only."""
    scores, labels = drawn(rng, 5, columns)
    typed = (abs(labels) if "u" in dtype else labels).astype(dtype)
    if dtype in ("f2", "f4", "f8"):
        typed = typed / np.asarray(4, dtype)
    qrels, run = as_dicts(scores, typed.astype("f8"))
    same(rm.evaluate_scores(scores, typed, metrics), by_dicts(qrels, run, metrics))


@pytest.mark.parametrize("dtype", LABEL_TYPES[1:])
def test_high_grades_among_many_labels(dtype: str) -> None:
    scores = np.arange(257.0)[None]
    metrics = ["idcg@5(gain=linear)", "ndcg@5(gain=linear)"]
    for column in (0, 3, 255, 256):
        for grade in (15, 16, 17, 127):
            labels = np.zeros((1, 257), dtype)
            labels[0, column] = grade
            ev = rm.evaluate_scores(scores, labels, metrics)
            found = reference.log2_discount(257 - column) if column > 251 else 0.0
            assert ev.values.tolist() == [[grade, grade * found / grade]]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("column", [0, 7, 255, 256, 298, 299])
def test_a_nan_among_many_scores(dtype: str, column: int) -> None:
    scores = np.arange(300, dtype=dtype)[None]
    scores[0, column] = math.nan
    labels = np.zeros((1, 300), int)
    labels[0, 299] = 1
    with pytest.raises(ValueError, match=f"row 0, column {column}: the score is NaN"):
        rm.evaluate_scores(scores, labels, "ndcg@10")


def test_a_metric_whose_least_grade_is_higher_looks_deeper() -> None:
    metrics = ["mrr(rel=3)", "recall@1"]
    for ties in ("docid", "input", "expected"):
        ev = rm.evaluate({"q": {"a": 1, "b": 3}}, {"q": {"a": 2, "b": 1}}, metrics, ties=ties)
        assert ev.values.tolist() == [[0.5, 0.5]]
    assert rm.evaluate_scores([[2.0, 1.0]], [[1, 3]], metrics).values.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers_that_doubles_round_together_keep_their_order(dtype: str) -> None:
    scores = np.array([[2**53, 2**53 + 1, 2**53 + 2]], dtype)
    assert rm.evaluate_scores(scores, [[0, 1, 0]], "mrr")["mrr"] == 0.5
    assert rm.evaluate_scores(scores, [[0, 1, 0]], "mrr", ties="expected").ties == 0
    if dtype == "i8":
        assert rm.evaluate_scores(-scores, [[0, 1, 0]], "mrr", ties="expected")["mrr"] == 0.5


def test_long_doubles_keep_their_order() -> None:
    if np.finfo("g").eps >= np.finfo("f8").eps:
        pytest.skip("long double is double here")
    scores = np.array([[1, 1 + np.finfo("g").eps, 0]], "g")
    assert rm.evaluate_scores(scores, [[0, 1, 0]], "mrr")["mrr"] == 1.0
    with pytest.raises(ValueError, match="row 0, column 1: the score is NaN"):
        rm.evaluate_scores(np.array([[1 + np.finfo("g").eps, np.nan]], "g"), [[0, 1]], "mrr")


def strided(values: np.ndarray) -> np.ndarray:
    room = np.zeros((values.shape[0], 2 * values.shape[1]), values.dtype)
    room[:, ::2] = values
    return room[:, ::2]


def unaligned(values: np.ndarray) -> np.ndarray:
    room = np.zeros(values.nbytes + 1, "u1")
    moved = room[1:].view(values.dtype).reshape(values.shape)
    moved[...] = values
    return moved


def read_only(values: np.ndarray) -> np.ndarray:
    copied = values.copy()
    copied.flags.writeable = False
    return copied


class Exported:
    """All it has is the DLPack protocol."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class Interface:
    """All it has is ``__array__``."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values


LAYOUTS = {
    "C": lambda values: values,
    "Fortran": np.asfortranarray,
    "reversed": lambda values: values[::-1, ::-1].copy()[::-1, ::-1],
    "strided": strided,
    "rows of a wider one": lambda values: np.hstack([values, values])[:, : values.shape[1]],
    "read-only": read_only,
    "unaligned": unaligned,
    "list": lambda values: values.tolist(),
    "memoryview": memoryview,
    "matrix": np.asmatrix,
    "dlpack": Exported,
    "__array__": Interface,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_arrays_of_any_layout(layout: str, rng: np.random.Generator) -> None:
    scores, labels = drawn(rng, 7, 30, 5)
    mask = rng.random(scores.shape) < 0.8
    change = LAYOUTS[layout]
    expected = rm.evaluate_scores(scores, labels, SIX, mask=mask)
    # numpy exports no bool before 1.25
    bare = layout == "dlpack" and np.lib.NumpyVersion(np.__version__) < "1.25.0"
    given_mask = mask if bare else change(mask)
    same(rm.evaluate_scores(change(scores), change(labels), SIX, mask=given_mask), expected)
    rankings = np.argsort(-scores, axis=1)
    triple = compressed([list(enumerate(row)) for row in labels])
    same(
        rm.evaluate_rankings(change(rankings), triple, SIX),
        rm.evaluate_rankings(rankings, triple, SIX),
    )
    in_order = np.take_along_axis(labels, rankings, axis=1)
    same(
        rm.evaluate_grades(change(in_order), SIX, ideal=change(labels)),
        rm.evaluate_grades(in_order, SIX, ideal=labels),
    )


def test_columns_of_lists() -> None:
    rows = [[0.5, 0.25, 1.0], [1.0, 2.0, 3.0]]
    objects = np.empty(2, object)
    objects[:] = [np.array(row) for row in rows]
    assert rm.evaluate_scores(objects, [[0, 1, 0]] * 2, "mrr").values.tolist() == [[1 / 3], [0.5]]
    objects[:] = [np.array(row, object) for row in rows]
    with pytest.raises(TypeError, match="scores has dtype object: pass an array of numbers"):
        rm.evaluate_scores(objects, [[0, 1, 0]] * 2, "mrr")


def test_broadcast_arrays() -> None:
    scores = np.broadcast_to(np.array([0.5, 0.25, 1.0]), (4, 3))
    same(
        rm.evaluate_scores(scores, np.broadcast_to([0, 1, 0], (4, 3)), SIX),
        rm.evaluate_scores(scores.copy(), [[0, 1, 0]] * 4, SIX),
    )
    tied = np.broadcast_to(np.array([[0.5], [2.0]]), (2, 3))
    assert rm.evaluate_scores(tied, [[0, 0, 1]] * 2, "mrr", ties="expected")["mrr"] == 11 / 18


def test_an_array_in_several_parts() -> None:
    class Parts(Interface):
        def __dlpack_device__(self) -> Any:
            raise BufferError("not in one piece")

    assert rm.evaluate_scores(Parts(TWO), Parts(ONES), "mrr")["mrr"] == 1.0


def test_an_array_of_the_standard_library() -> None:
    scores, labels = array.array("f", [0.5, 0.25, 1]), array.array("b", [0, 1, 0])
    assert rm.evaluate_scores(scores, labels, "mrr", groups=[3])["mrr"] == 1 / 3


# ---------------------------------------------------------------------------------------------
# Groups and query ids


def test_groups_of_different_sizes(rng: np.random.Generator) -> None:
    sizes = [3, 0, 17, 1, 40]
    scores, labels = (one[0] for one in drawn(rng, 1, sum(sizes), 6))
    cuts = np.cumsum([0, *sizes])
    parts = list(pairwise(cuts))
    expected = by_dicts(*as_dicts([scores[a:b] for a, b in parts], [labels[a:b] for a, b in parts]))
    for groups in (sizes, np.array(sizes, "u1"), tuple(sizes)):
        same(rm.evaluate_scores(scores, labels, SIX, groups=groups), expected)
        same(rm.evaluate_scores(scores, labels, SIX, groups=groups, threads=2), expected)
    named = rm.evaluate_scores(scores, labels, SIX, groups=sizes, query_ids=list("abcde"))
    assert named.query_ids == tuple("abcde")
    same(named, expected)


@pytest.mark.parametrize("kind", ["i8", "u2", "U3", "S3", "list"])
def test_query_ids_in_any_order(kind: str, rng: np.random.Generator) -> None:
    ids = rng.integers(0, 9, 200)
    scores, labels = (one[0] for one in drawn(rng, 1, 200, 6))
    mask = rng.random(200) < 0.9
    order = list(dict.fromkeys(ids.tolist()))
    parts = [ids == i for i in order]
    qrels, run = as_dicts(
        [scores[p] for p in parts], [labels[p] for p in parts], [mask[p] for p in parts]
    )
    expected = by_dicts(qrels, run)
    given: Any = ids.tolist() if kind == "list" else ids.astype(kind)
    ours = rm.evaluate_scores(scores, labels, SIX, query_ids=given, mask=mask)
    same(ours, expected)
    if kind in ("i8", "u2", "list"):
        assert ours.query_ids == tuple(order)
    # together already: nothing is moved
    at = np.argsort([order.index(i) for i in ids], kind="stable")
    same(
        rm.evaluate_scores(scores[at], labels[at], SIX, query_ids=ids[at], mask=mask[at]), expected
    )


def test_rows_may_have_names() -> None:
    ev = rm.evaluate_scores([[1.0, 2.0]] * 2, [[0, 1], [1, 0]], "mrr", query_ids=["a", "b"])
    assert ev.per_query == {"a": {"mrr": 1.0}, "b": {"mrr": 0.5}}
    assert rm.evaluate_scores([[1.0]] * 2, [[1]] * 2, "mrr").query_ids == (0, 1)
    assert ev.by({"a": "x"})["x"]["mrr"] == 1.0
    numbered = rm.evaluate_scores([[1.0]], [[1]], "mrr", query_ids=np.array([7]))
    assert numbered.query_ids == (7,)


def test_the_coverage_of_arrays() -> None:
    ev = rm.evaluate_scores([[1.0, 0.0]] * 3, [[0, 0], [2, 0], [0.5, 0]], "recall@1(rel=0.5)")
    assert ev.coverage == rm.Coverage(3, 3, 0, 0, 2)
    ev = rm.evaluate_scores([[1.0, 0.0]] * 2, [[0, 2], [3, 0]], "recall@1(rel=3)")
    assert ev.coverage.no_relevant == 0


def test_masked_candidates_are_not_there() -> None:
    scores = np.array([[np.nan, 3.0, 2.0, 1.0], [np.nan] * 4])
    labels = np.array([[np.nan, np.inf, 0, 1], [1, 1, 1, 1]])
    mask = np.array([[False, False, True, True], [False] * 4])
    ev = rm.evaluate_scores(scores, labels, ["mrr", "recall@1"], mask=mask)
    assert ev.values.tolist() == [[0.5, 0.0], [0.0, 0.0]]
    assert ev.coverage.no_relevant == 1


def test_a_masked_candidate_at_the_end_is_not_that_of_the_row_before() -> None:
    mask = np.array([[True, True, True], [True, True, False]])
    judgments = ([0, 1, 2], [2, 2], [1, 1])
    scores = np.array([[1.0, 2.0, 3.0]] * 2)
    ev = rm.evaluate_scores(scores, judgments, ["num_rel", "mrr"], mask=mask)
    assert ev.values.tolist() == [[1.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    "ids", [[1, "1", 1, "1"], ["a", "a\0", "a", "a\0"], [(1, 2), (2, 1), (1, 2), (2, 1)]], ids=repr
)
def test_query_ids_that_numpy_would_confuse(ids: list[Any]) -> None:
    ev = rm.evaluate_scores([0.1, 0.5, 0.2, 0.4], [1, 1, 0, 0], "mrr", query_ids=ids)
    assert ev.per_query == {ids[0]: {"mrr": 0.5}, ids[1]: {"mrr": 1.0}}


def test_query_ids_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    ids = pandas.Series(["x", "y", "x", "y"])
    for column in (ids, ids.astype(object), ids.to_numpy(object), ids.astype("category")):
        ev = rm.evaluate_scores([0.1, 0.5, 0.2, 0.4], [1, 1, 0, 0], "mrr", query_ids=column)
        assert ev.per_query == {"x": {"mrr": 0.5}, "y": {"mrr": 1.0}}
    with pytest.raises(TypeError, match="a sequence of ids, not DataFrame"):
        rm.evaluate_scores(TWO, ONES, "mrr", query_ids=ids.to_frame())
    named = rm.evaluate_scores(TWO, ONES, "mrr", query_ids=ids[:2])
    assert named.query_ids == ("x", "y")
    assert rm.evaluate_scores(TWO, ONES, "mrr", query_ids={"a": 1, "b": 2}.keys()).query_ids == (
        "a",
        "b",
    )


def test_query_ids_of_polars() -> None:
    polars = pytest.importorskip("polars")
    ids = polars.Series(["x", "y", "x", "y"])
    for column in (ids, ids.cast(polars.Categorical)):
        ev = rm.evaluate_scores([0.1, 0.5, 0.2, 0.4], [1, 1, 0, 0], "mrr", query_ids=column)
        assert ev.per_query == {"x": {"mrr": 0.5}, "y": {"mrr": 1.0}}
    with pytest.raises(TypeError, match="None"):
        rm.evaluate_scores(TWO[0], ONES[0], "mrr", query_ids=polars.Series(["x", None]))


def no_ids() -> Iterator[Any]:
    """Pairs of what cannot be ids, for they never equal each other or stand for nothing."""
    nan = float("nan")
    yield pytest.param([object(), object()], id="objects")
    yield pytest.param([(1, nan), (2, nan)], id="tuples of NaN")
    yield pytest.param([(1, [2]), (2, [2])], id="tuples of lists")
    with suppress(ImportError):
        import torch

        yield pytest.param(list(torch.tensor([0, 1])), id="torch")
    with suppress(ImportError):
        import pandas

        yield pytest.param([pandas.NA, 1], id="NA")
        yield pytest.param(pandas.array([None, 1], dtype="Int64"), id="integers with gaps")


@pytest.mark.parametrize("ids", list(no_ids()))
def test_query_ids_that_are_no_ids(ids: Any) -> None:
    for scores, query_ids in ((TWO, ids), (TWO[0], ids), (TWO.ravel(), [*ids, *ids])):
        with pytest.raises(TypeError, match="query"):
            rm.evaluate_scores(scores, np.ones(scores.shape), "mrr", query_ids=query_ids)


@pytest.mark.parametrize("name", [None, math.nan, np.float64("nan"), np.datetime64("NaT", "s")])
def test_query_ids_that_stand_for_nothing(name: Any) -> None:
    for ids in ([name, 1], np.array([name, name])):
        for scores in (TWO, TWO[0]):
            with pytest.raises(TypeError, match="query"):
                rm.evaluate_scores(scores, np.ones(scores.shape), "mrr", query_ids=ids)


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "g", "M8[D]", "M8[ns]", "m8[s]", "i8", "U1"])
def test_arrays_of_query_ids_are_grouped_at_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_by_one(found: list[Any], what: str) -> None:
        assert len(found) < len(ids), what

    ids = np.array([3, 1, 3, 2, 1]).astype(kind)
    scores, labels = [0.1, 0.4, 0.3, 0.2, 0.5], [1, 1, 0, 1, 0]
    want = rm.evaluate_scores(scores, labels, "mrr", query_ids=[3, 1, 3, 2, 1])
    monkeypatch.setattr("rankmeter.doors.arrays.check_ids", one_by_one)
    ev = rm.evaluate_scores(scores, labels, "mrr", query_ids=ids)
    assert ev.values.tobytes() == want.values.tobytes()
    names = list(ids) if ids.dtype.kind in "mM" else ids.tolist()
    assert ev.query_ids == (names[0], names[1], names[3])
    assert {type(query) for query in ev.query_ids} == {type(names[0])}
    ids = ids[:2]
    ev = rm.evaluate_scores(TWO, ONES, "mrr", query_ids=ids)
    assert ev.query_ids == tuple(names[:2])
    with pytest.raises(ValueError, match="is named twice"):
        rm.evaluate_scores(TWO, ONES, "mrr", query_ids=ids[[0, 0]])


def test_zeros_of_both_signs_are_one_query() -> None:
    ev = rm.evaluate_scores([0.1, 0.4, 0.3], [1, 0, 0], "mrr", query_ids=np.array([-0.0, 1.0, 0.0]))
    assert list(map(str, ev.query_ids)) == ["-0.0", "1.0"]
    assert ev.values.tolist() == [[0.5], [0.0]]


def test_names_are_kept_whatever_becomes_of_the_list() -> None:
    names = ["a", "b"]
    ev = rm.evaluate_scores(TWO, ONES, "mrr", query_ids=names)
    names.clear()
    assert ev.query_ids == ("a", "b")


def test_the_row_of_a_fault_is_that_of_the_input() -> None:
    scores = [1.0, 2.0, 3.0, math.nan]
    with pytest.raises(ValueError, match="query 'b', row 3: the score is NaN"):
        rm.evaluate_scores(scores, [1, 0, 0, 1], "mrr", query_ids=["a", "b", "a", "b"])


# ---------------------------------------------------------------------------------------------
# Rankings


@pytest.mark.parametrize("dtype", ["i4", "i8", "u8", "i2", "u4"])
@pytest.mark.parametrize("pad", [-1, 0, 32_000])
@pytest.mark.parametrize("metrics", [SIX, SHALLOW])
def test_rankings_give_the_digits_of_dicts(
    dtype: str, pad: int, metrics: list[str], rng: np.random.Generator
) -> None:
    if pad < 0 and dtype == "u4":
        pytest.skip("cannot hold the pad")
    depth, rows = 50, 40
    rankings = np.array([1 + rng.permutation(200)[:depth] for _ in range(rows)], "i8")
    lengths = rng.integers(0, depth + 1, rows)
    judged = [
        [(1 + int(c), int(rng.integers(-1, 4))) for c in rng.choice(200, n, replace=False)]
        for n in rng.integers(0, 30, rows)
    ]
    padded = rankings.copy()
    for row, length in zip(padded, lengths, strict=True):
        row[length:] = pad
    qrels = {row: dict(pairs) for row, pairs in enumerate(judged)}
    run = {row: rankings[row, :n].tolist() for row, n in enumerate(lengths)}
    expected = by_dicts(qrels, run, metrics)
    triple = compressed(judged)
    given = padded.astype(dtype)
    same(rm.evaluate_rankings(given, triple, metrics, pad=pad), expected)
    same(rm.evaluate_rankings(given, triple, metrics, pad=np.int64(pad), threads=3), expected)
    ragged = np.concatenate([rankings[row, :n] for row, n in enumerate(lengths)]).astype(dtype)
    indptr = np.cumsum([0, *lengths])
    same(rm.evaluate_rankings((ragged, indptr), triple, metrics, pad=pad), expected)
    same(rm.evaluate_rankings((ragged, indptr.tolist()), triple, metrics, pad=pad), expected)


def test_rankings_are_read_as_deep_as_the_metrics_need() -> None:
    twice_below = [[1, 2, 3, 1]]
    triple = ([0, 1], [2], [1])
    assert rm.evaluate_rankings(twice_below, triple, "mrr@3")["mrr@3"] == 0.5
    with pytest.raises(ValueError, match="row 0: id 1 stands twice in the ranking, at columns 0 "):
        rm.evaluate_rankings(twice_below, triple, "mrr")


def test_rankings_without_any_id() -> None:
    for empty in ([], np.array([], int)):
        assert rm.evaluate_rankings((empty, [0, 0]), ([0, 1], [3], [1]), "mrr")["mrr"] == 0.0


def test_pads_in_disguise() -> None:
    judgments = ([0, 1], [7], [1])
    for dtype in ("u4", "u8"):
        ids = np.array([[5, 7, -1, -1]]).astype(dtype)
        assert rm.evaluate_rankings(ids, judgments, "mrr")["mrr"] == 0.5
    assert rm.evaluate_rankings(ids, judgments, "mrr", pad=2**64 - 1)["mrr"] == 0.5


def test_a_stored_zero_is_judged_however_it_is_stored() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    diagonal = sparse.dia_matrix(np.diag([1.0, 0.0, 2.0]))
    scores = np.arange(9.0).reshape(3, 3)
    same(
        rm.evaluate_scores(scores, diagonal, "mrr"),
        rm.evaluate_scores(scores, sparse.csr_matrix(diagonal), "mrr"),
    )
    if hasattr(sparse, "coo_array"):
        with pytest.raises(ValueError, match="two dimensions"):
            rm.evaluate_scores(scores, sparse.coo_array(np.ones(3)), "mrr")


def test_scipy_sparse_judgments(rng: np.random.Generator) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    scores, labels = drawn(rng, 6, 40)
    wide, unsorted, spare = (sparse.csr_array(labels) for _ in range(3))
    wide.indptr, wide.indices = wide.indptr.astype("i8"), wide.indices.astype("i8")
    for start, stop in pairwise(unsorted.indptr):
        unsorted.indices[start:stop] = unsorted.indices[start:stop][::-1].copy()
        unsorted.data[start:stop] = unsorted.data[start:stop][::-1].copy()
    spare.indices, spare.data = np.append(spare.indices, 3), np.append(spare.data, 7)
    makers = [getattr(sparse, f"{name}_array") for name in ("csr", "csc", "coo", "lil", "dok")]
    for judgments in (
        *(make(labels) for make in (sparse.csr_matrix, *makers)),
        wide,
        unsorted,
        spare,
    ):
        dense = [[(c, g) for c, g in enumerate(row) if g] for row in labels.tolist()]
        same(
            rm.evaluate_scores(scores, judgments, SIX),
            rm.evaluate_scores(scores, compressed(dense), SIX),
        )
        rankings = np.argsort(-scores, axis=1)
        same(
            rm.evaluate_rankings(rankings, judgments, SIX),
            rm.evaluate_scores(scores, judgments, SIX),
        )
    with pytest.raises(ValueError, match=r"same shape, not \(6, 41\) and \(6, 40\)"):
        rm.evaluate_scores(scores, sparse.csr_array((6, 41)), SIX)
    twice = sparse.coo_array(([1, 1], ([0, 0], [3, 3])), shape=(6, 40))
    with pytest.raises(ValueError, match=r"holds two values for one place, \(0, 3\)"):
        rm.evaluate_scores(scores, twice, SIX)
    with pytest.raises(TypeError, match="scores must be dense"):
        rm.evaluate_scores(sparse.csr_array(scores), labels, SIX)


# ---------------------------------------------------------------------------------------------
# Grades


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "f4", "f8"])
def test_grades_give_the_digits_of_lists(dtype: str, rng: np.random.Generator) -> None:
    rows, depth = 30, 20
    pool = rng.integers(0, 4, (rows, 35))
    lengths = rng.integers(0, depth + 1, rows)
    qrels = {row: dict(enumerate(pool[row].tolist())) for row in range(rows)}
    run = {row: list(range(n)) for row, n in enumerate(lengths)}
    expected = by_dicts(qrels, run)
    grades = pool[:, :depth].astype(dtype)
    ragged = np.concatenate([grades[row, :n] for row, n in enumerate(lengths)])
    indptr = np.cumsum([0, *lengths])
    ideals: list[Any] = [pool, pool[:, ::-1].astype("f8"), (pool.ravel(), np.arange(rows + 1) * 35)]
    for ideal in ideals:
        same(rm.evaluate_grades((ragged, indptr), SIX, ideal=ideal), expected)
    padded = grades.copy()
    for row, n in zip(padded, lengths, strict=True):
        row[n:] = np.nan if dtype[0] == "f" else 0
    same(rm.evaluate_grades(padded, SIX, ideal=pool), expected)
    same(rm.evaluate_grades(padded, SIX, ideal=pool, threads=4), expected)
    alone = rm.evaluate_grades((ragged, indptr), SIX, ideal="retrieved")
    qrels = {row: dict(enumerate(pool[row, :n].tolist())) for row, n in enumerate(lengths)}
    same(alone, by_dicts(qrels, run))


def test_the_ideal_must_be_stated() -> None:
    with pytest.raises(TypeError, match="ideal"):
        rm.evaluate_grades([[1]], "ndcg@1")  # type: ignore[call-arg]
    for wrong in (None, "all", "list"):
        with pytest.raises(ValueError, match=f"or 'retrieved', not {wrong!r}"):
            rm.evaluate_grades([[1]], "ndcg@1", ideal=wrong)


def test_more_than_the_ideal_is_refused() -> None:
    for grades, ideal, number in (([[1, 3]], [[1, 1]], 3), ([[2, 2]], [[2, 1]], 2)):
        with pytest.raises(ValueError, match=f"row 0: more of grade {number} or higher"):
            rm.evaluate_grades(grades, "ndcg@2", ideal=ideal)
    with pytest.raises(ValueError, match="row 1: more of grade 1"):
        rm.evaluate_grades([[1], [1]], "recall@1", ideal=([1], [0, 1, 1]))
    assert rm.evaluate_grades([[0, -1, 1]], "mrr", ideal=[[1]])["mrr"] == 1 / 3


# ---------------------------------------------------------------------------------------------
# What is refused

TWO = np.array([[0.5, 0.25], [1.0, 2.0]])
ONES = np.ones((2, 2), int)
TRIPLE: tuple[Any, Any, Any] = ([0, 1, 2], [0, 1], [1, 1])


def changed(values: np.ndarray, value: float, *place: int) -> np.ndarray:
    copied = values.astype(float)
    copied[place] = value
    return copied


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((TWO, ONES[:, :1]), {}, ValueError, r"same shape, not \(2, 1\) and \(2, 2\)"),
        (
            (TWO, ONES),
            {"mask": ONES[:1] > 0},
            ValueError,
            r"mask and scores .* \(1, 2\) and \(2, 2",
        ),
        (
            (TWO, ONES),
            {"mask": ONES.astype("i8")},
            TypeError,
            "bool, not int64; .* pass np.asarray.mask. != 0",
        ),
        (
            (TWO, ONES),
            {"mask": [[True, None]] * 2},
            TypeError,
            r"True and False, but \[0, 1\] is N",
        ),
        ((TWO.ravel(), ONES.ravel()), {}, ValueError, "need groups= or query_ids="),
        ((TWO.ravel(), ONES.ravel()), {"groups": [3, 2]}, ValueError, "hold 5 rows.* 4 scores"),
        ((TWO.ravel(), ONES.ravel()), {"groups": [0, 0, 1, 1]}, ValueError, "query_ids= takes"),
        ((TWO.ravel(), ONES.ravel()), {"groups": [2, None]}, TypeError, r"groups .* \[1\] is None"),
        ((TWO.ravel(), ONES.ravel()), {"groups": [[2], [1, 1]]}, ValueError, "must be one list"),
        ((TWO.ravel(), ONES.ravel()), {"groups": [5, -1]}, ValueError, "group 1 has the size -1"),
        ((TWO.ravel(), ONES.ravel()), {"groups": [2.0, 2.0]}, TypeError, "groups must be integers"),
        ((TWO.ravel(), ONES.ravel()), {"groups": [[2, 2]]}, ValueError, "groups .* one dimension"),
        ((TWO.ravel(), ONES.ravel()), {"query_ids": [1]}, ValueError, "each of the 4 scores"),
        ((TWO.ravel(), ONES.ravel()), {"query_ids": [None] * 4}, TypeError, "None cannot be an id"),
        (
            (TWO.ravel(), ONES.ravel()),
            {"query_ids": [math.nan] * 4},
            TypeError,
            "nan cannot be an id",
        ),
        ((TWO.ravel(), ONES.ravel()), {"query_ids": "abcd"}, TypeError, "not str"),
        ((TWO.ravel(), ONES.ravel()), {"groups": 2.0}, ValueError, "groups must have one dim"),
        ((TWO, ONES), {"query_ids": "ab"}, TypeError, "query_ids must be a sequence .* not str"),
        ((TWO, ONES), {"query_ids": np.array([[1], [2]])}, TypeError, "cannot be an id"),
        ((TWO, ONES), {"query_ids": np.array(1)}, TypeError, "must have one dimension"),
        ((TWO, ONES), {"query_ids": {"a", "b"}}, TypeError, "a sequence of ids, not set"),
        ((TWO, ONES), {"query_ids": {0: "a", 1: "b"}}, TypeError, "a sequence of ids, not dict"),
        ((TWO, ONES), {"query_ids": 7}, TypeError, "a sequence of ids, not int"),
        ((TWO.ravel(), TRIPLE), {"groups": [2, 2]}, ValueError, "two-dimensional scores"),
        ((TWO, ONES), {"groups": [2, 2]}, ValueError, "groups are for one-dimensional"),
        (
            (TWO[None], ONES[None]),
            {},
            ValueError,
            r"one or two dimensions, not the shape \(1, 2, 2",
        ),
        ((np.float64(1), np.int64(1)), {}, ValueError, "one or two dimensions"),
        ((1.0, ONES), {}, ValueError, r"one or two dimensions, not the shape \(\)"),
        ((TWO[:0], ONES[:0]), {}, ValueError, "no query"),
        ((np.empty(0), np.empty(0)), {"groups": []}, ValueError, "no query"),
        ((np.empty(0), np.empty(0)), {"query_ids": []}, (ValueError, TypeError), "query"),
        ((TWO[:, :0], ONES[:, :0]), {}, ValueError, r"no candidates: their shape is \(2, 0\)"),
        ((changed(TWO, math.nan, 1, 0), ONES), {}, ValueError, "row 1, column 0: the score is NaN"),
        ((TWO, changed(ONES, math.nan, 1, 1)), {}, ValueError, "row 1, column 1: the grade is not"),
        ((TWO, changed(ONES, math.inf, 0, 1)), {}, ValueError, "row 0, column 1: .* finite: inf"),
        ((TWO, changed(ONES, 2000, 0, 1)), {}, ValueError, "row 0, column 1: grade 2000 is over"),
        ((TWO.astype(object), ONES), {}, TypeError, "scores has dtype object"),
        ((TWO, ONES.astype(object)), {}, TypeError, "labels has dtype object"),
        ((TWO.astype(complex), ONES), {}, TypeError, "scores must be numbers, not complex128"),
        ((TWO.astype(str), ONES), {}, TypeError, "scores must be numbers"),
        ((TWO, ONES.astype("M8[s]")), {}, TypeError, "labels must be numbers"),
        ((np.ma.masked_array(TWO), ONES), {}, TypeError, r"mask=~np.ma.getmaskarray\(scores\)"),
        ((None, ONES), {}, TypeError, "scores must be an array of numbers, not NoneType"),
        (({"q": [1, 2]}, ONES), {}, TypeError, "scores must be an array of numbers, not dict"),
        (((row for row in TWO), ONES), {}, TypeError, "array of numbers, not generator"),
        ((np.ndarray, ONES), {}, TypeError, "scores must be an array of numbers, not type"),
        (([[1, None], [2, 3]], ONES), {}, TypeError, r"\[0, 1\] is None; mask= leaves candidates"),
        ((TWO, [{0}, {1}]), {}, TypeError, r"\[0\] is \{0\}; .* relevant are \(indptr"),
        (([[[1], [2, 3]]] * 2, ONES), {}, TypeError, "scores cannot be read as an array: "),
        ((np.zeros((2, 2), [("a", "f8")]), ONES), {}, TypeError, "scores must be numbers"),
        ((TWO, np.array([0, 1])), {}, ValueError, r"\(2, 2\); where each row has one relevant id"),
        ((TWO, ONES), {"ties": "docid"}, ValueError, "ties must be 'input' or 'expected'"),
        ((TWO, ONES), {"threads": 0}, ValueError, "threads must be at least 1"),
        ((TWO, ONES), {"threads": 1.5}, TypeError, "threads must be an integer"),
        ((TWO, ONES), {"threads": True}, TypeError, "threads must be an integer"),
        ((TWO, ONES), {"query_ids": ["a"]}, ValueError, "each of the 2 queries; they name 1"),
        ((TWO, ONES), {"query_ids": ["a", "a"]}, ValueError, "query 'a' is named twice"),
        ((TWO, ([0, 1, 2], [0, 2], [1, 1])), {}, ValueError, "row 1 of the judgments: .* column 2"),
        ((TWO, ([0, 1, 2], [0, -1], [1, 1])), {}, ValueError, "there is no column -1"),
        ((TWO, ([0, 2, 2], [1, 1], [1, 1])), {}, ValueError, "row 0 .* column 1 is judged twice"),
        ((TWO, ([0, 1, 3], [0, 1], [1, 1])), {}, ValueError, "ends with 3, but there are 2 values"),
        ((TWO, ([0, 0, 1], [0, 1], [1, 1])), {}, ValueError, "ends with 1, but there are 2 values"),
        ((TWO, ([0, 1, 2], {0, 1}, [1, 1])), {}, TypeError, "the indices of labels .* not set"),
        ((TWO, ([0, 1, 2], [0, 2.0**63], [1, 1])), {}, TypeError, "integers below 2.63, not float"),
        (
            (TWO, (np.array([0, 1, 2**63], "u8"), [0, 1], [1, 1])),
            {},
            ValueError,
            f"ends with {2**63}",
        ),
        ((TWO, ([0, 2, 1], [0, 1], [1, 1])), {}, ValueError, "labels falls at place 2"),
        ((TWO, ([1, 1, 2], [0, 1], [1, 1])), {}, ValueError, "must start with 0, not 1"),
        ((TWO, ([0, 2], [0, 1], [1, 1])), {}, ValueError, "has 1 rows, but there are 2 queries"),
        ((TWO, ([0, 1, 2], [0.0, 1.0], [1, 1])), {}, TypeError, "indices of labels must be integ"),
        ((TWO, ([0, 1, 2], [0, 1], [1])), {}, ValueError, r"shapes \(3,\), \(2,\) and \(1,\)"),
        ((TWO, ([0.0, 1.0, 2.0], [0, 1], [1, 1])), {}, TypeError, "indptr of labels must be int"),
        ((TWO, ([], [0, 1], [1, 1])), {}, (TypeError, ValueError), "indptr of labels must"),
        ((TWO, ([0, 1, 2], [0, 1], [1, math.nan])), {}, ValueError, "row 1, column 1: .* finite"),
        ((TWO, ([0, 1, 2], [0, 1], ["a", "b"])), {}, TypeError, "data of labels must be numbers"),
    ],
)
def test_scores_that_are_refused(arguments: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rm.evaluate_scores(*arguments, ["ndcg@10"], **options)


@pytest.mark.parametrize(
    ("rankings", "judgments", "options", "error", "message"),
    [
        ([[1, 2], [3, 3]], TRIPLE, {}, ValueError, "row 1: id 3 stands twice .* columns 0 and 1"),
        (
            [[1, 2], [3, -2]],
            TRIPLE,
            {},
            ValueError,
            "row 1, column 1: id -2 is negative and is not",
        ),
        (
            [[1, -1, 2], [3, 4, 5]],
            TRIPLE,
            {},
            ValueError,
            "row 0: an id stands behind the pad -1 at",
        ),
        ([[-1, -1, 2], [3, 4, 5]], TRIPLE, {}, ValueError, "row 0: an id stands behind the pad -1"),
        ([[1, 9, 2], [3, 4, 5]], TRIPLE, {"pad": 9}, ValueError, "behind the pad 9 at column 1"),
        ([[1, 0, 0], [3, 4, 5]], TRIPLE, {"pad": 0}, ValueError, "id 0 is judged, but is the pad"),
        ([[1.0, 2.0]], TRIPLE, {}, TypeError, "not float64: ids, .*scores are for evaluate_scores"),
        ([[2**63, 0], [1, 2]], TRIPLE, {}, TypeError, "must be integers below 2.63, not float64"),
        ([[2**70, 0], [1, 2]], TRIPLE, {}, TypeError, "dtype object: .* integers below 2.63"),
        ([[1, None], [1, 2]], TRIPLE, {}, TypeError, r"rankings must hold .* \[0, 1\] is None"),
        (np.ma.masked_array([[1], [2]]), TRIPLE, {}, TypeError, "pass .filled"),
        ([["a"]], TRIPLE, {}, TypeError, "rankings must be integers"),
        ([[True]], TRIPLE, {}, TypeError, "rankings must be integers, not bool"),
        ([1, 2], TRIPLE, {}, ValueError, r"not the shape \(2,\); for one query pass \[rankings\]"),
        ([[[1]]], TRIPLE, {}, ValueError, "two dimensions"),
        (np.empty((0, 3), int), ([0], [], []), {}, ValueError, "no query"),
        (np.empty((2, 0), int), TRIPLE, {}, ValueError, "no columns"),
        (
            ([1, 2], [0, 1]),
            ([0, 1], [1], [1]),
            {},
            ValueError,
            "ends with 1, but there are 2 values",
        ),
        (([1, 2], [0, 3]), ([0, 1], [1], [1]), {}, ValueError, "ends with 3, but there are 2"),
        (([1, 2], [0, 2, 1, 2]), TRIPLE, {}, ValueError, "indptr of rankings falls at place 2"),
        (([[1], [2]], [0, 1, 2]), TRIPLE, {}, ValueError, "one dimension"),
        (([1], [0, 1], [1]), TRIPLE, {}, ValueError, "an array or .values, indptr., not 3 items"),
        ([[1]], TRIPLE, {}, ValueError, "has 2 rows, but there are 1 queries"),
        # the other way round
        (
            ([0, 2, 3], [1, 2, 3]),
            TRIPLE,
            {},
            ValueError,
            r"start with 0, not 1: rankings .* \(values, indptr\); .* shapes \(3,\) and \(3,\)",
        ),
        (
            [[1], [2]],
            ([1, 1, 1], [5, 6, 7], [0, 1, 3]),
            {},
            ValueError,
            r"0, not 1: judgments must be \(indptr, indices, data\); .* \(3,\), \(3,\) and \(3,\)",
        ),
        # scores beside ids, as an index returns them
        ((np.ones((2, 3), int), np.ones((2, 3))), TRIPLE, {}, ValueError, r"\(2, 3\) and \(2, 3\)"),
        (([1, 2], None), TRIPLE, {}, TypeError, "indptr of rankings must be .* not NoneType"),
        ([[1], [2]], np.ones((2, 2)), {}, TypeError, r"not ndarray; .*csr_array\(judgments\)"),
        ([[1], [2]], [[1], [2, 3]], {}, TypeError, "not list; of rows of relevant ids make indptr"),
        ([[1], [2]], [{1}, {2, 3}], {}, TypeError, "not list; of rows of relevant ids make indptr"),
        ([[1], [2]], ([1], [2, 3]), {}, TypeError, "not 2 items; of rows of relevant ids make ind"),
        ([[1], [2]], np.array([1, 2]), {}, TypeError, "not ndarray; where each row has one relev"),
        ([[1], [2]], [{1: 2}, {2: 3}], {}, TypeError, "not list; {query: {id: grade}} is for eval"),
        ([[1], [2]], {0: {1: 2}}, {}, TypeError, "not dict; {query: {id: grade}} is for evaluate"),
        ([[1], [2]], np.array(1), {}, TypeError, "not ndarray$"),
        ([[1], [2]], "qrels.txt", {}, TypeError, "not str$"),
        ([[1], [2]], None, {}, TypeError, "not NoneType$"),
        ([[1], [2]], TRIPLE, {"pad": 0.5}, TypeError, "pad must be an integer, not 0.5"),
        ([[1], [2]], TRIPLE, {"pad": 2**63}, ValueError, "pad must be an int64"),
        (
            [[1], [2]],
            ([0, 2, 2], [5, 5], [1, 1]),
            {},
            ValueError,
            "row 0 .* column 5 is judged twice",
        ),
        ([[1], [2]], ([0, 1, 2], [5, -5], [1, 1]), {}, ValueError, "row 1 .* no column -5"),
        ([[1], [2]], ([0, 1, 2], [5, 6], [1, 1e9]), {}, ValueError, "row 1, column 6: grade 1e"),
        (
            [[1], [2]],
            ([0, 1, 2], [5, 6], [1, np.inf]),
            {},
            ValueError,
            "row 1, column 6: .* finite",
        ),
    ],
)
def test_rankings_that_are_refused(
    rankings: Any, judgments: Any, options: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        rm.evaluate_rankings(rankings, judgments, ["ndcg@10"], **options)


@pytest.mark.parametrize(
    ("grades", "ideal", "error", "message"),
    [
        (
            [[1, math.nan, 1.0]],
            [[1.0, 1.0]],
            ValueError,
            "row 0, column 1: the grade is not finite",
        ),
        ([[1.0]], [[math.nan, 1.0]], ValueError, "ideal, row 0, column 0: the grade is not finite"),
        ([[1.0]], [[1.0, math.inf]], ValueError, "ideal, row 0, column 1: the grade is not finite"),
        ([[1.0]], [[1.0, 1500]], ValueError, "ideal, row 0, column 1: grade 1500 is over 1023"),
        ([[1.0]], [[1.0], [2.0]], ValueError, "ideal has 2 rows, but there are 1 queries"),
        ([1.0], [[1.0]], ValueError, r"grades must have two dimensions.* pass \[grades\]"),
        (([0, 1], [1.0]), [[1.0]], TypeError, r"not float64: .* shapes \(2,\) and \(1,\)"),
        ([[1.0]], [1.0], ValueError, "ideal must have two dimensions"),
        ([["a"]], [[1.0]], TypeError, "grades must be numbers"),
        ([[None]], [[1.0]], TypeError, r"grades must hold numbers, but \[0, 0\] is None"),
        (np.empty((0, 1)), np.empty((0, 1)), ValueError, "no query"),
        (([1.0], [0, 2]), [[1.0]], ValueError, "ends with 2"),
    ],
)
def test_grades_that_are_refused(grades: Any, ideal: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rm.evaluate_grades(grades, ["ndcg@10"], ideal=ideal)


@pytest.mark.parametrize("rows", [[[1, 0, 1], [1]], [np.ones(3, int), np.ones(1, int)], "objects"])
def test_rows_of_different_lengths(rows: Any) -> None:
    if rows == "objects":
        rows = np.array([[1, 0, 1], [1]], object)
    lengths = "rows of {} differ in length: row 0 has 3, row 1 has 1; .*{}"
    with pytest.raises(ValueError, match=lengths.format("scores", "groups=.* mask=")):
        rm.evaluate_scores(rows, ONES, "mrr")
    with pytest.raises(ValueError, match=lengths.format("labels", r"mask=; .* \(indptr, indices")):
        rm.evaluate_scores(TWO, rows, "mrr")
    with pytest.raises(ValueError, match=lengths.format("mask", "mask=")):
        rm.evaluate_scores(TWO, ONES, "mrr", mask=rows)
    with pytest.raises(ValueError, match=lengths.format("rankings", r"pad=.*\(values, indptr\)")):
        rm.evaluate_rankings(rows, TRIPLE, "mrr")
    with pytest.raises(ValueError, match=lengths.format("grades", r"\(values, indptr\)")):
        rm.evaluate_grades(rows, "mrr", ideal=ONES)
    with pytest.raises(ValueError, match=lengths.format("ideal", r"\(values, indptr\)")):
        rm.evaluate_grades(ONES, "mrr", ideal=rows)
    with pytest.raises(ValueError, match="row 0 has 3, row 1 is None"):
        rm.evaluate_scores([[1.0, 2.0, 3.0], None], ONES, "mrr")


def test_unsigned_ids_are_told_as_they_were_passed() -> None:
    large = 2**63 + 5
    for ids, message in (
        ([[large, 1], [0, 2]], f"row 0, column 0: id {large} is 2.63 or more and is not the pad"),
        ([[1, 2], [0, 2**64 - 2]], f"row 1, column 1: id {2**64 - 2} is 2.63 or more"),
        ([[2**64 - 1, 1], [0, 2]], f"row 0: an id stands behind the pad {2**64 - 1} at column 0"),
    ):
        with pytest.raises(ValueError, match=message):
            rm.evaluate_rankings(np.array(ids, "u8"), TRIPLE, "mrr")
    for dtype, largest in (("u4", 2**32 - 1), ("u8", 2**64 - 1)):
        ids = np.array([[1, largest], [0, 2]], dtype)
        with pytest.raises(ValueError, match=f"id {largest} is -1 in disguise and is not the pad"):
            rm.evaluate_rankings(ids, TRIPLE, "mrr", pad=9)
        assert rm.evaluate_rankings(ids, TRIPLE, "mrr", pad=largest)["mrr"] == 0.0
    indices = np.array([1, large], "u8")
    with pytest.raises(ValueError, match=f"the indices of judgments hold {large}, which is 2.63"):
        rm.evaluate_rankings([[1], [2]], ([0, 1, 2], indices, [1, 1]), "mrr")
    # ids of judgments are not unsigned ones
    with pytest.raises(ValueError, match="there is no column -5"):
        rm.evaluate_rankings(np.array([[1], [2]], "u8"), ([0, 1, 2], [5, -5], [1, 1]), "mrr")


def test_judgments_made_as_the_messages_say() -> None:
    rankings = [[2, 1, 0], [0, 2, 1]]
    rows = [[0], {1, 2}]
    indices = [id for row in rows for id in row]
    judgments = np.cumsum([0, *map(len, rows)]), indices, np.ones(len(indices))
    assert rm.evaluate_rankings(rankings, judgments, "mrr").values.tolist() == [[1 / 3], [0.5]]
    ids = [1, 1]
    judgments = np.arange(len(ids) + 1), ids, np.ones(len(ids))
    assert rm.evaluate_rankings(rankings, judgments, "mrr").values.tolist() == [[0.5], [1 / 3]]


def test_faults_in_groups_and_queries_are_named() -> None:
    scores, labels = np.array([1.0, 2.0, math.nan, 4.0]), np.array([1, 0, 0, 1])
    with pytest.raises(ValueError, match="group 1, row 2: the score is NaN"):
        rm.evaluate_scores(scores, labels, "mrr", groups=[2, 2])
    with pytest.raises(ValueError, match="query 'b', row 2: the score is NaN"):
        rm.evaluate_scores(scores, labels, "mrr", query_ids=["a", "b", "b", "a"])
    mask = np.array([False, True, True, True])
    with pytest.raises(ValueError, match="group 0, row 2: the score is NaN"):
        rm.evaluate_scores(scores, labels, "mrr", groups=[4], mask=mask)
    with pytest.raises(ValueError, match="row 0, column 2: grade 3 has no gain"):
        rm.evaluate_scores(
            [[3.0, 2.0, 1.0]], [[1, 1, 3]], "ndcg(gain={1:1})", mask=[[False, True, True]]
        )


def test_the_first_fault_is_told_whatever_the_threads() -> None:
    scores = np.zeros((50, 3))
    scores[[7, 20, 45], 1] = math.nan
    for threads in (1, 2, 5, 60):
        with pytest.raises(ValueError, match="row 7, column 1"):
            rm.evaluate_scores(scores, np.ones((50, 3)), "mrr", threads=threads)


class OnAnotherDevice:
    device = "cuda:0"

    def __dlpack__(self, **options: Any) -> Any:
        raise AssertionError("must not be asked")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_a_tensor_on_a_gpu_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scores is not on the CPU but on cuda:0.*\.cpu\(\)"):
        rm.evaluate_scores(OnAnotherDevice(), ONES, "mrr")
    with pytest.raises(ValueError, match="rankings is not on the CPU"):
        rm.evaluate_rankings(OnAnotherDevice(), TRIPLE, "mrr")


# ---------------------------------------------------------------------------------------------
# Threads


@pytest.mark.parametrize("threads", [2, 3, 8, 10**12, np.int8(100)])
def test_digits_do_not_depend_on_the_number_of_threads(
    threads: int, rng: np.random.Generator
) -> None:
    scores, labels = drawn(rng, 90, 200, 8)
    for ties in ("input", "expected"):
        options: Any = {"ties": ties}
        same(
            rm.evaluate_scores(scores, labels, SIX, threads=threads, **options),
            rm.evaluate_scores(scores, labels, SIX, **options),
        )


@pytest.mark.parametrize(
    ("available", "threads", "submitted"),
    [(1, 10**6, 0), (4, 10**6, 3), (4, 2, 1), (10**4, 10**6, 255)],
)
def test_no_more_pieces_than_processors(
    available: int, threads: int, submitted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = ThreadPoolExecutor.submit
    pieces: list[Any] = []

    def counted(*arguments: Any) -> Any:
        pieces.append(arguments)
        return submit(*arguments)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
    monkeypatch.setattr("rankmeter.doors.threads.count_processors", lambda: available)
    rm.evaluate_scores(np.eye(1000, 3), np.eye(1000, 3), "mrr", threads=threads)
    assert len(pieces) == submitted  # and one of them by the calling thread


def test_small_work_stays_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankmeter.doors.threads.LEAST_WORK", 1000)
    assert [count_usable(8, work) for work in (0, 999, 2999, 10**6)] == [1, 1, 2, 8]
    monkeypatch.setattr(ThreadPoolExecutor, "submit", None)
    assert rm.evaluate_scores(np.eye(9), np.eye(9), "mrr", threads=8)["mrr"] == 1.0


@pytest.mark.parametrize(
    "ids",
    [
        np.array([7, -3, 7, 5, -3, 7, 5]),
        np.array([100, -100, 100, 3, -100, 100, 3], np.int8),
        np.array([2**63, 2**64 - 1, 2**63, 5, 2**64 - 1, 2**63, 5], np.uint64),
        np.array([70_000, 3, 70_000, 2**31, 3, 70_000, 2**31]),
        np.array([0.5, -1.0, 0.5, 9.0, -1.0, 0.5, 9.0]),
        ["b", "a", "b", "c", "a", "b", "c"],
        ["b", 1, "b", ("c",), 1, "b", ("c",)],
    ],
    ids=repr,
)
def test_queries_in_any_order_are_as_those_in_order(ids: Any) -> None:
    scores, labels = np.array([0.1, 0.5, 0.9, 0.3, 0.5, 0.9, 0.7]), np.array([1, 0, 0, 1, 1, 1, 0])
    given = rm.evaluate_scores(scores, labels, SIX, query_ids=ids)
    order = [0, 2, 5, 1, 4, 3, 6]
    rows = rm.evaluate_scores(scores[order], labels[order], SIX, groups=[3, 2, 2])
    assert given.values.tobytes() == rows.values.tobytes()
    assert [str(query) for query in given.query_ids] == [str(ids[i]) for i in (0, 1, 3)]


@pytest.mark.parametrize("ids", [["a", ["b"], "a"], ["a", None, "a"], [1.5, float("nan"), 1.5]])
def test_what_cannot_be_a_query_among_many(ids: list[Any]) -> None:
    with pytest.raises(TypeError, match=r"query_ids: .* cannot be an id"):
        rm.evaluate_scores(np.arange(3.0), np.ones(3), "mrr", query_ids=ids)


def test_the_core_refuses_groups_that_do_not_fit() -> None:
    three, two = np.zeros(3, np.int64), np.zeros(2, np.int64)
    for call in (
        lambda: number_ids(["a"], two),
        lambda: number_integers(three, two),
        lambda: sort_numbers(three, two, two),
        lambda: sort_numbers(three, np.zeros(0, np.int64), three.copy()),
        lambda: sort_numbers(three + 1, two, three.copy()),
    ):
        with pytest.raises(ValueError):
            call()


def test_many_queries_in_any_order(rng: np.random.Generator) -> None:
    for most in (300, 2**20, 2**40):
        ids = rng.integers(0, most, 3_000) % 500 * (most // 500)
        scores, labels = rng.random(3_000), rng.integers(0, 3, 3_000)
        given = rm.evaluate_scores(scores, labels, SIX, query_ids=ids)
        names = list(dict.fromkeys(ids.tolist()))
        assert list(given.query_ids) == names
        parts = [ids == name for name in names]
        order = np.concatenate([np.flatnonzero(part) for part in parts])
        groups = [int(part.sum()) for part in parts]
        rows = rm.evaluate_scores(scores[order], labels[order], SIX, groups=groups)
        assert given.values.tobytes() == rows.values.tobytes()


def test_the_processors_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5}, raising=False)
    assert count_processors() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert count_processors() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert count_processors() == 1


def test_many_threads_call_at_once(rng: np.random.Generator) -> None:
    scores, labels = drawn(rng, 40, 3_000, 50)
    triple = compressed([list(enumerate(row)) for row in labels[:, :100]])
    rankings = np.argsort(-scores, axis=1)
    calls = [
        lambda: rm.evaluate_scores(scores, labels, SIX, threads=2),
        lambda: rm.evaluate_scores(scores, labels, ["map", "ndcg"], ties="expected"),
        lambda: rm.evaluate_rankings(rankings, triple, ["ndcg", "map"]),
        lambda: rm.evaluate_grades(labels, ["ndcg", "mrr"], ideal="retrieved"),
    ]
    expected = [call().values.tobytes() for call in calls]
    barrier = threading.Barrier(8)

    def work(first: int) -> list[bytes]:
        barrier.wait()
        return [calls[(first + i) % 4]().values.tobytes() for i in range(12)]

    with ThreadPoolExecutor(8) as pool:
        for first, found in enumerate(pool.map(work, range(8))):
            assert found == [expected[(first + i) % 4] for i in range(12)]


def test_arrays_that_change_while_they_are_read(rng: np.random.Generator) -> None:
    """Any answer or any ValueError, but no crash."""
    scores, labels = drawn(rng, 50, 500)
    labels = np.abs(labels)
    indptr = np.arange(0, 50 * 20 + 1, 20)
    indices = np.array([rng.choice(500, 20, replace=False) for _ in range(50)])
    rankings = np.argsort(-scores, axis=1)
    mask = rng.random(scores.shape) < 0.5
    kept = labels.copy()
    few = (np.arange(51) * 5, np.tile(np.arange(0, 15, 3), 50), np.ones(250))
    done = threading.Event()

    def meddle() -> None:
        noise = np.random.default_rng(1)
        while not done.is_set():
            scores[:, ::3] = math.nan
            scores[:, ::3] = 0.5
            mask[:] = noise.random(mask.shape) < 0.5
            labels[:] = noise.integers(0, 2**40, labels.shape)
            indices[:] = noise.integers(-(2**40), 2**40, indices.shape)
            rankings[:] = noise.integers(-(2**40), 2**40, rankings.shape)
            scores[:] = noise.standard_normal(scores.shape)

    meddler = threading.Thread(target=meddle)
    meddler.start()
    try:
        for _ in range(60):
            for call in (
                lambda: rm.evaluate_scores(scores, labels, ["map", "ndcg(gain=linear)"]),
                lambda: rm.evaluate_scores(
                    scores, (indptr, indices.ravel(), np.ones(1000)), SIX, threads=2
                ),
                lambda: rm.evaluate_scores(scores, kept, ["ndcg@5"], mask=mask),
                lambda: rm.evaluate_scores(scores, kept, ["map", "ndcg"], ties="expected"),
                lambda: rm.evaluate_scores(scores, few, ["map", "ndcg"], mask=mask),
                lambda: rm.evaluate_rankings(
                    rankings, (indptr, indices.ravel(), np.ones(1000)), SIX
                ),
            ):
                with suppress(ValueError):
                    call()
    finally:
        done.set()
        meddler.join()


# ---------------------------------------------------------------------------------------------
# All metrics


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_metric_through_every_door(name: str, rng: np.random.Generator) -> None:
    scores, labels = drawn(rng, 12, 80)
    rankings = np.argsort(-scores, axis=1)
    judged = compressed([list(enumerate(row)) for row in labels])
    in_order = np.take_along_axis(labels, rankings, axis=1)
    metrics = [f"{name}@{k}" for k in (1, 10, 1_000)]
    if METRICS[name].cutoff == "none":
        metrics = ["iprec(recall=0.5)" if name == "iprec" else name]
    metrics += [
        text[:-1] + ",judged_only=true)" if text.endswith(")") else text + "(judged_only=true)"
        for text in metrics
    ]
    qrels, run = as_dicts(scores, labels)
    if not METRICS[name].closed_form:
        with pytest.raises(ValueError, match="no closed form"):
            rm.evaluate_scores(scores, labels, metrics, ties="expected")
    expected = by_dicts(qrels, run, metrics)
    same(rm.evaluate_scores(scores, labels, metrics), expected)
    same(rm.evaluate_scores(scores, judged, metrics), expected)
    same(rm.evaluate_rankings(rankings, judged, metrics), expected)
    same(rm.evaluate_grades(in_order, metrics, ideal=labels), expected)


@pytest.mark.skipif(sys.maxsize < 2**32, reason="an array cannot be that long")
def test_rankings_that_are_too_long() -> None:
    ids = np.zeros((1, 2**30), np.int32)
    with pytest.raises(ValueError, match="one ranking has 1073741824 ids to read, which are too"):
        rm.evaluate_rankings(ids, ([0, 1], [2], [1.0]), "mrr")
