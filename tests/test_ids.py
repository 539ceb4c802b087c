"""One rule for all doors: what may be an id, and which ids can never match."""

# ruff: noqa: B023  (every lambda is called where it is made)

from __future__ import annotations

import datetime
import enum
import math
import uuid
from collections import UserDict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankmeter as rm


class Plain:
    """An object that equals only itself."""


class Tensor:
    """What a framework gives for one element: equal by value, but hashed by address."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.value)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tensor) and other.value == self.value


class Missing:
    """As of pandas: comparing it gives no truth."""

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise TypeError("ambiguous")

    def __hash__(self) -> int:
        return 7


class Color(enum.Enum):
    RED = 1


class Text(str):
    __slots__ = ()


TWO = np.array([[1.0, 0.0], [1.0, 0.0]])
UID = uuid.UUID(int=5)
GOOD = [
    "a", "", "\udcff", b"a", 0, -3, 2**80, True, Text("t"), np.str_("a"), np.bytes_(b"a"),
    np.int8(3), np.uint64(2**63), (), ("a", 1), (("a", b"b"), 3), UID, 2.5, Color.RED,
    datetime.date(2026, 1, 1),
]  # fmt: skip
BAD = [
    None, math.nan, float("nan"), np.float32("nan"), Decimal("nan"), Decimal("snan"),
    np.datetime64("NaT", "s"), np.timedelta64("NaT", "s"), Missing(), Plain(), Plain, Tensor(3),
    np.array(3), ["a"], {"a"}, bytearray(b"a"), ("a", None), ("a", (math.nan,)), (Tensor(1), 2),
]  # fmt: skip


def refused(call: Callable[[], Any], *words: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), caught.value


def hashable(id_: Any) -> bool:
    try:
        hash(id_)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("id_", GOOD)
def test_what_may_be_an_id(id_: Any) -> None:
    other = ["x"] if isinstance(id_, str) else [("x",)] if isinstance(id_, tuple) else []
    for qrels in ({id_: 1}, UserDict({id_: 1})):
        for run in ([*other, id_], {id_: 1.0, **dict.fromkeys(other, 2.0)}, UserDict({id_: 1.0})):
            place = 1 / (1 + len(other)) if not isinstance(run, UserDict) else 1.0
            assert rm.evaluate({id_: qrels}, {id_: run}, "mrr").values[0, 0] == place
    assert rm.reciprocal_rank([id_], {id_: 1}) == 1.0
    assert rm.fuse({"a": {id_: [id_]}, "b": {id_: {id_: 1.0}}}) == {id_: {id_: 2 / 61}}
    rm.evaluate_scores([1.0, 0.5], [0, 1], "mrr", query_ids=[id_, id_])


@pytest.mark.parametrize("id_", BAD)
def test_what_can_be_no_id(id_: Any) -> None:
    shown = repr(id_)[:20]
    where = ("query 'q'", "cannot be an id", shown)
    refused(lambda: rm.evaluate({"q": {"a": 1}}, {"q": ["a", id_]}, "recall@2"), *where, "rank 2")
    refused(lambda: rm.reciprocal_rank(["b", id_], {"a": 1}), "rank 2", shown)
    refused(lambda: rm.fuse({"x": {"q": ["a", id_]}}), "run 'x'", *where)
    refused(lambda: rm.write_run({"q": ["a", id_]}, "-"), shown)
    if hashable(id_):
        for make in (dict, UserDict):
            refused(
                lambda: rm.evaluate({"q": {"a": 1}}, {"q": make({"a": 1.0, id_: 0.5})}, "mrr"),
                *where,
            )
            refused(lambda: rm.evaluate({"q": make({"a": 1, id_: 0})}, {"q": ["a"]}, "mrr"), *where)
            refused(lambda: rm.recall_at_k(["a"], make({"a": 1, id_: 1}), 1), shown)
            refused(
                lambda: rm.evaluate(make({"q": {"a": 1}, id_: {"a": 1}}), {"q": ["a"]}, "mrr"),
                "query", shown,
            )  # fmt: skip
            refused(
                lambda: rm.evaluate({"q": {"a": 1}}, make({"q": ["a"], id_: ["a"]}), "mrr"),
                "query", shown,
            )  # fmt: skip
            refused(lambda: rm.fuse({"x": make({id_: ["a"]})}), "run 'x'", shown)
            refused(lambda: rm.fuse({"x": {"q": make({id_: 1.0})}}), "run 'x'", *where)
        runs = {"x": {"q": {"a": 1.0, id_: 0.5}}, "y": {"q": {"a": 1.0}}}
        qrels = {"q": {"a": 1}, "r": {"a": 1}}
        refused(lambda: rm.sweep(runs, [0, 1], qrels, "mrr", folds=2), shown)
        refused(lambda: rm.compare({"q": {"a": 1}}, runs, "mrr"), shown)


@pytest.mark.parametrize("id_", BAD)
def test_what_can_be_no_query_of_rows(id_: Any) -> None:
    with pytest.raises(TypeError, match="id"):
        rm.evaluate_scores([0.5, 1.0], [0, 1], "mrr", query_ids=["a", id_])
    with pytest.raises(TypeError, match="id"):
        rm.evaluate_scores([[0.5], [1.0]], [[0], [1]], "mrr", query_ids=["a", id_])


@pytest.mark.parametrize("kind", ["M8[D]", "M8[ns]", "m8[D]", "m8[ns]"])
def test_arrays_of_dates_and_spans_of_time(kind: str) -> None:
    days = np.array([18262, 18263]).astype(kind)
    ids = list(days)
    counts = {int(n): 1 for n in days.astype(np.int64)}
    for given in (days, days[::-1][::-1], ids):
        assert rm.evaluate({"q": {ids[1]: 1}}, {"q": given}, "mrr")["mrr"] == 0.5
        assert rm.reciprocal_rank(given, {ids[1]: 1}) == 0.5
        assert list(rm.fuse({"a": {"q": given}})["q"]) == ids
        assert list(map(type, rm.fuse({"a": {"q": given}})["q"])) == list(map(type, ids))
        assert rm.evaluate_scores(TWO, TWO, "mrr", query_ids=given).query_ids == tuple(ids)
        assert rm.evaluate_scores(TWO[0], TWO[0], "mrr", query_ids=given).query_ids == tuple(ids)
        assert rm.recall_at_k(given, counts | {ids[0]: 1}, 5) == 1 / 3
        with pytest.raises(TypeError, match="is not an id"):
            rm.write_run({"q": given}, "-")
    none = days.copy()
    none[0] = "NaT"
    refused(lambda: rm.recall_at_k(none, {ids[0]: 1}, 5), "NaT", "cannot be an id")
    refused(lambda: rm.recall_at_k(days[None], {ids[0]: 1}, 5), "one dimension, not 2")
    refused(lambda: rm.recall_at_k(days[0, ...], {ids[0]: 1}, 5), "dimension")


def test_dates_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    days = np.array(["2020-01-01", "2020-01-02"], "M8[ns]")
    for ids in (pandas.DatetimeIndex(days), pandas.DatetimeIndex(days, tz="Europe/Rome")):
        stamps = list(ids)
        assert rm.recall_at_k(ids, {stamps[0]: 1}, 5) == 1.0
        assert list(rm.fuse({"a": {"q": ids}})["q"]) == stamps
        if ids.tz is None and hash(days[0]) == hash(stamps[0]):  # not in every numpy
            assert rm.recall_at_k(ids, {days[0]: 1}, 5) == 1.0
        for given in (ids, pandas.Series(ids)):
            for scores in (TWO, TWO[0]):
                ev = rm.evaluate_scores(scores, scores, "mrr", query_ids=given)
                assert ev.query_ids == tuple(stamps)
                assert set(map(type, ev.query_ids)) == {pandas.Timestamp}


def test_elements_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    ids = list(torch.tensor([3, 4]))
    refused(lambda: rm.evaluate({"q": {3: 1}}, {"q": ids}, "mrr"), "tensor(3)", ".tolist()")
    refused(lambda: rm.evaluate({"q": {3: 1}}, {"q": dict.fromkeys(ids, 1.0)}, "mrr"), ".tolist()")
    refused(lambda: rm.evaluate({"q": {ids[0]: 1}}, {"q": [3]}, "mrr"), ".tolist()")
    refused(lambda: rm.reciprocal_rank(ids, {3: 1}), ".tolist()")
    groups = list(torch.tensor([0, 0, 1, 1]))
    with pytest.raises(TypeError, match=r"tolist|none"):
        rm.evaluate_scores([0.9, 0.1, 0.2, 0.8], [1, 0, 1, 0], "mrr", query_ids=groups)
    assert rm.evaluate({"q": {3: 1}}, {"q": torch.tensor([3, 4])}, "mrr")["mrr"] == 1.0


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("1", 1), ("a", b"a"), (b"a", 1), (str(UID), UID), (UID.int, UID), ("RED", Color.RED),
        (("a",), "a"), ("2026-01-01", datetime.date(2026, 1, 1)), (Path("a"), "a"),
    ],
    ids=repr,
)  # fmt: skip
def test_ids_that_can_never_match(one: Any, two: Any) -> None:
    for a, b in ((one, two), (two, one)):
        for run in ([a], {a: 1.0}, UserDict({a: 1.0}), (a,)):
            refused(lambda: rm.evaluate({"q": {b: 1}}, {"q": run}, "mrr"), "'q'", "never match")
        refused(lambda: rm.reciprocal_rank([a], {b: 1}), "never match")
        with pytest.raises(ValueError, match=r"no query in common.*never match"):
            rm.evaluate({b: {"d": 1}}, {a: ["d"]}, "mrr")
        for ranking in ([a], {a: 1.0}):
            refused(
                lambda: rm.fuse({"x": {"q": ranking}, "y": {"q": [b]}}),
                "query 'q'", "'x'", "'y'", "never match",
            )  # fmt: skip
        refused(lambda: rm.fuse({"x": {a: ["d"]}, "y": {b: ["d"]}}), "'x'", "'y'", "never match")
        qrels = {"q": {a: 1}, "r": {a: 1}}
        runs = {"x": {"q": {a: 1.0}}, "y": {"q": {b: 1.0}}}
        refused(lambda: rm.sweep(runs, [0, 1], qrels, "mrr", folds=2), "never match")


def test_classes_that_know_each_other_may_match() -> None:
    class Name:
        def __init__(self, text: str) -> None:
            self.text = text

        def __hash__(self) -> int:
            return hash(self.text)

        def __eq__(self, other: object) -> bool:
            return self.text == (other.text if isinstance(other, Name) else other)

    assert rm.evaluate({"q": {"a": 1}}, {"q": [Name("x"), Name("a")]}, "mrr")["mrr"] == 0.5
    assert rm.evaluate({"q": {"a": 1}}, {"q": [Name("x")]}, "mrr")["mrr"] == 0.0
    assert rm.evaluate({"q": {3: 1}}, {"q": [4.0, 3.0]}, "mrr")["mrr"] == 0.5


def test_a_series_is_told_from_nothing() -> None:
    pandas = pytest.importorskip("pandas")
    for series in (pandas.Series([30, 10]), pandas.Series([0.5, 0.1], index=["a", "b"])):
        words = ("query 'q'", "Series", ".tolist()", ".to_dict()")
        refused(lambda: rm.evaluate({"q": {30: 1}}, {"q": series}, "mrr"), *words)
        refused(lambda: rm.evaluate({"q": series}, {"q": [30]}, "mrr"), *words)
        refused(lambda: rm.fuse({"x": {"q": series}}), *words)
        refused(lambda: rm.reciprocal_rank(series, {30: 1}), *words[1:])
    lists = pandas.Series({"u": [30, 10]})
    assert rm.evaluate({"u": {10: 1}}, lists, "mrr")["mrr"] == 0.5


def test_ids_that_are_not_utf_8_tie_by_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"q Q0 \xff 1 1.0 t\nq Q0 \xf0\x9f\x98\x80 2 1.0 t\n")
    run = {"q": {"\udcff": 1.0, "\U0001f600": 1.0}}
    for qrels in ({"q": {"\udcff": 1}}, {"q": UserDict({"\udcff": 1})}, UserDict(q={"\udcff": 1})):
        for given in (path, run, UserDict(run), {"q": UserDict(run["q"])}):
            assert rm.evaluate(qrels, given, "mrr")["mrr"] == 1.0
    fused = rm.fuse({"x": run}, "wsum", norm=None)
    assert list(fused["q"]) == ["\udcff", "\U0001f600"]
    other = {"q": {"\udcff": 1.0}}
    swept = rm.sweep({"x": run, "y": run}, [0, 0.5, 1], other | {"r": {"a": 1}}, "mrr", folds=2)
    assert swept.values[0].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "ranking",
    [
        np.array(None, object),
        np.array("2020", "M8[D]"),
        np.array(7),
        SimpleNamespace(tolist=lambda: 7),
    ],
)
def test_arrays_without_a_dimension(ranking: Any) -> None:
    with pytest.raises(TypeError, match="query 'q': a ranking must have one dimension, not none"):
        rm.evaluate({"q": {"a": 1}}, {"q": ranking}, "mrr")


def test_tuples_that_lie_deep_in_each_other() -> None:
    deep: Any = ()
    for _ in range(40_000):
        deep = (deep,)
    with pytest.raises(TypeError, match=r"query 'q': rank 1: document .* cannot be an id: of"):
        rm.evaluate({"q": {("a",): 1}}, {"q": [deep]}, "mrr")
    shallow: Any = ()
    for _ in range(99):
        shallow = (shallow,)
    assert rm.evaluate({"q": {shallow: 1}}, {"q": [shallow]}, "mrr")["mrr"] == 1.0
    del deep


def test_ids_are_escaped_in_notebooks() -> None:
    ev = rm.evaluate({"<q>": {"<dbpedia:A>": 1}}, {"<q>": ["<dbpedia:B>"]}, "mrr")
    assert "&lt;dbpedia:A&gt;" in ev._repr_html_()
    assert "<dbpedia" not in ev._repr_html_()


# ---------------------------------------------------------------------------------------------
# Integers of any size


@pytest.mark.parametrize("base", [2**53, 2**63, 2**64, 10**400, -(2**60)])
def test_large_integers_order_as_integers(base: int) -> None:
    scores = {"x": base + 1, "y": base, "z": base - 1}
    for run in (scores, UserDict(scores), {**scores, "w": base - 1.5 if abs(base) < 2**99 else 0}):
        assert rm.evaluate({"q": {"x": 1}}, {"q": run}, "mrr")["mrr"] == 1.0
        assert rm.evaluate({"q": {"y": 1}}, {"q": run}, "mrr")["mrr"] == 0.5
    methods: list[tuple[Any, Any]] = [("rrf", None), ("wsum", "rank"), ("wsum", "min-max")]
    for method, norm in [*methods, ("combmnz", "z-score")]:
        assert list(rm.fuse({"a": {"q": scores}}, method, norm=norm)["q"]) == ["x", "y", "z"]
    swept = rm.sweep(
        {"a": {"q": scores}, "b": {"q": scores}}, [0, 0.3, 1], {"q": {"y": 1}, "r": {"y": 1}},
        "mrr", folds=2,
    )  # fmt: skip
    assert swept.values[0].tolist() == [0.5, 0.5, 0.5]
    with pytest.raises(ValueError, match="'x' is not a double"):
        rm.fuse({"a": {"q": {"x": 2**53 + 1}}}, "wsum", norm=None)


# ---------------------------------------------------------------------------------------------
# Ids that fit nothing


def test_ids_that_fit_nothing_are_told(tmp_path: Path) -> None:
    qrels = {"q1": {"doc4": 1, "doc5": 0}, "q2": {"doc7": 2}, "q3": {"doc8": 0}}
    run = {"q1": {"4": 1.0, "5": 0.5}, "q2": {"7": 1.0}, "q3": {"8": 1.0}}
    path = tmp_path / "run"
    rm.write_run(run, path)
    lists = {q: list(scores) for q, scores in run.items()}
    for given in (run, lists, path):
        ev = rm.evaluate(qrels, given, ["mrr", "recall@10"])
        assert ev.coverage.unmatched == ev.coverage.evaluated == 3
        assert ev.lost is not None
        query, judged, retrieved = ev.lost
        assert judged in qrels[query]
        assert retrieved in run[query]
        assert f"query {query!r} has {judged!r}, the run has {retrieved!r}" in repr(ev)
        assert "are the ids the same ones?" in ev._repr_html_()
    found = rm.evaluate({**qrels, "q4": {"a": 1}}, {**run, "q4": ["a"]}, "mrr")
    assert (found.coverage.unmatched, found.lost) == (0, None)
    assert "same ones" not in repr(found)
    nothing = rm.evaluate({"q": {"a": 0}}, {"q": ["b"]}, "mrr")
    assert nothing.coverage.unmatched == 0
    for metrics in (["mrr"], ["mrr", "judged@5"], ["mrr", "bpref"]):  # whatever else is looked up
        holds = rm.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["b"]}, metrics)
        assert (holds.coverage.unmatched, holds.lost) == (1, ("q", "a", "b"))
        path.write_text("q Q0 b 1 1 t\n")
        assert rm.evaluate({"q": {"a": 1, "b": 0}}, path, metrics).lost == ("q", "a", "b")
    assert rm.evaluate({"q": {"a": 0}}, {"q": ["b"]}, "judged@5").lost is None
    path.write_text("q Q0 b 1 1 t\n")
    assert rm.evaluate({"q": {"a": 0}}, path, "judged@5").lost is None
    part = rm.evaluate({"q0": {"x": 1}}, {"q0": ["y"]}, "mrr")
    for parts in ([part, nothing], [nothing, part]):
        whole = rm.concat(parts)
        assert (whole.coverage.unmatched, whole.lost) == (2, ("q0", "x", "y"))
    both = rm.concat([rm.evaluate({"q0": {"x": 1}}, {"q0": ["y"]}, "mrr"),
                      rm.evaluate({"q9": {"x": 1}}, {"q9": ["y"]}, "mrr")])  # fmt: skip
    assert (both.coverage.unmatched, both.lost) == (2, ("q0", "x", "y"))
    mixed = rm.concat([rm.evaluate({"q0": {"x": 1}}, {"q0": ["y"]}, "mrr"),
                       rm.evaluate({"q9": {"x": 1}}, {"q9": ["x"]}, "mrr")])  # fmt: skip
    assert (mixed.coverage.unmatched, mixed.lost) == (0, None)
