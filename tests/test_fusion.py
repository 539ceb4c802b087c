"""Several runs made one: values by hand, a naive reference, ranx, and what is refused."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import UserDict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankmeter as rm

METHODS = ["rrf", "wsum", "combsum", "combmnz"]
NORMS = ["min-max", "z-score", "rank", None]

DENSE = {"q": {"a": 0.9, "b": 0.7, "c": 0.1}}
BM25 = {"q": {"b": 12.0, "d": 8.0}}
BOTH = {"dense": DENSE, "bm25": BM25}
Z = math.sqrt(1.5)  # of scores 1, 2, 3


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        ("rrf", {}, {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "d": 1 / 62, "c": 1 / 63}),
        ("rrf", {"k": 0}, {"b": 1.5, "a": 1.0, "d": 0.5, "c": 1 / 3}),
        ("rrf", {"k": 0, "weights": [2, 1]}, {"b": 2.0, "a": 2.0, "c": 2 / 3, "d": 0.5}),
        ("rrf", {"k": 1, "depth": 1}, {"b": 1 / 3 + 1 / 2}),
        ("wsum", {"weights": {"bm25": 0.25, "dense": 0.75}}, None),
        ("combsum", {}, {"b": 1.75, "a": 1.0, "d": 0.0, "c": 0.0}),
        ("combmnz", {}, {"b": 3.5, "a": 1.0, "d": 0.0, "c": 0.0}),
        ("combsum", {"norm": None}, {"b": 12.7, "d": 8.0, "a": 0.9, "c": 0.1}),
        ("combsum", {"norm": "rank"}, {"b": 2 / 3 + 1, "a": 1.0, "d": 0.5, "c": 1 / 3}),
        ("combmnz", {"norm": "rank"}, {"b": 2 * (2 / 3 + 1), "a": 1.0, "d": 0.5, "c": 1 / 3}),
    ],
)
def test_values_by_hand(method: Any, options: Any, expected: Any) -> None:
    fused = rm.fuse(BOTH, method, **options)
    if expected is None:
        expected = {"b": 0.75 * 0.75 + 0.25, "a": 0.75, "d": 0.0, "c": 0.0}
    assert list(fused) == ["q"]
    assert fused["q"] == pytest.approx(expected, rel=1e-15)
    assert list(fused["q"]) == list(expected)  # best first, equals by id, high to low


def test_z_scores_by_hand() -> None:
    runs = {"a": {"q": {"x": 1.0, "y": 2.0, "z": 3.0}}, "b": {"q": {"z": 5.0, "w": 5.0}}}
    fused = rm.fuse(runs, "combsum", norm="z-score")
    assert fused["q"] == pytest.approx({"z": Z, "y": 0.0, "w": 0.0, "x": -Z})
    assert list(fused["q"]) == ["z", "y", "w", "x"]


@pytest.mark.parametrize(
    ("norm", "expected"), [("min-max", 1.0), ("z-score", 0.0), ("rank", None), (None, 0.1)]
)
@pytest.mark.parametrize("n", [1, 10])
def test_equal_scores(norm: Any, expected: float | None, n: int) -> None:
    run = {"q": {f"d{i}": 0.1 for i in range(n)}}  # their mean is not exactly 0.1
    fused = rm.fuse({"only": run}, "wsum", norm=norm)["q"]
    wanted = [(n - i) / n for i in range(n)] if expected is None else [expected] * n
    assert list(fused.values()) == wanted
    assert list(fused) == sorted(run["q"], reverse=True)


def test_equal_scores_rank_by_id_high_to_low() -> None:
    run = {"q": {"a": 1.0, "c": 1.0, "b": 1.0, "é": 2.0, "z": 0.5}}
    fused = rm.fuse({"only": run}, "rrf", k=0)["q"]
    assert list(fused.items()) == [("é", 1.0), ("c", 1 / 2), ("b", 1 / 3), ("a", 1 / 4), ("z", 0.2)]


def test_lists_have_ranks_and_the_scores_n_to_1() -> None:
    lists: Any = {"q": ["c", "a", "b"]}
    scores = {"q": {"c": 3.0, "a": 2.0, "b": 1.0}}
    for method, norm in itertools.product(METHODS, NORMS):
        given_lists = rm.fuse({"one": lists, "other": BM25}, method, norm=norm)  # type: ignore[arg-type]
        given_scores = rm.fuse({"one": scores, "other": BM25}, method, norm=norm)  # type: ignore[arg-type]
        assert given_lists == given_scores


def test_queries_that_one_run_has() -> None:
    runs: Any = {"a": {"q2": ["x"], "q1": {"y": 1.0}}, "b": {"q3": ["z"], "q1": {}, "q4": []}}
    fused = rm.fuse(runs, "rrf", k=0)
    assert fused == {"q2": {"x": 1.0}, "q1": {"y": 1.0}, "q3": {"z": 1.0}, "q4": {}}
    assert list(fused) == ["q2", "q1", "q3", "q4"]


@pytest.mark.parametrize("norm", ["min-max", "z-score"])
def test_no_score_is_too_large_or_too_small_to_be_normalised(norm: Any) -> None:
    shape = {"a": 1.0, "b": -1.0, "c": 0.5}
    plain = rm.fuse({"r": {"q": shape}}, "wsum", norm=norm)
    for factor in (1.7e308, 1e-300, 2.0**900):
        run = {"q": {document: score * factor for document, score in shape.items()}}
        fused = rm.fuse({"r": run}, "wsum", norm=norm)["q"]
        assert fused == pytest.approx(plain["q"], rel=1e-12)


@pytest.mark.parametrize("method", ["rrf", "wsum"])
def test_infinite_scores_have_ranks(method: Any) -> None:
    run = {"q": {"a": 1.0, "b": math.inf, "c": -math.inf}}
    assert list(rm.fuse({"r": run}, method, norm="rank")["q"]) == ["b", "a", "c"]


# A naive reference

few_ids = st.sampled_from(["a", "b", "c", "é", "\ud800", "\uffff", "😀"])
ids = st.one_of(few_ids, st.text(max_size=2))
numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.0]),
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.integers(-5, 5),
)
rankings = st.one_of(st.lists(ids, unique=True, max_size=8), st.dictionaries(ids, numbers))
runs_of_queries = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), rankings)


def ranked(scores: dict[str, float]) -> list[str]:
    by_id = sorted(scores, reverse=True)
    return sorted(by_id, key=lambda document: -scores[document])


def normalised(ranking: Any, scale: Any, k: float) -> dict[str, float]:
    if isinstance(ranking, list):
        ranking = {document: len(ranking) - i for i, document in enumerate(ranking)}
    scores = {document: float(score) for document, score in ranking.items()}
    n = len(scores)
    if scale is None or not n:
        return scores
    ranks = {document: i for i, document in enumerate(ranked(scores), 1)}
    low, high = min(scores.values()), max(scores.values())
    if scale == "rrf":
        return {document: 1 / (k + ranks[document]) for document in scores}
    if scale == "rank":
        return {document: (n + 1 - ranks[document]) / n for document in scores}
    if scale == "min-max":
        return {d: (s - low) / (high - low) if high > low else 1.0 for d, s in scores.items()}
    exact = [Fraction(score) for score in scores.values()]
    mean = sum(exact) / n
    variance = sum((x - mean) ** 2 for x in exact) / n
    if low == high:
        return dict.fromkeys(scores, 0.0)
    deviation = math.sqrt(variance)
    return {d: float(Fraction(s) - mean) / deviation for d, s in scores.items()}


def naive(runs: dict[str, Any], method: str, weights: list[float], norm: Any, k: float) -> Any:
    fused: dict[str, dict[str, float]] = {}
    for query in dict.fromkeys(itertools.chain(*runs.values())):
        sums: dict[str, float] = {}
        held: dict[str, int] = {}
        for run, weight in zip(runs.values(), weights, strict=True):
            shares = normalised(run.get(query, {}), "rrf" if method == "rrf" else norm, k)
            for document, share in shares.items():
                sums[document] = sums.get(document, 0.0) + weight * share
                held[document] = held.get(document, 0) + 1
        if method == "combmnz":
            sums = {document: total * held[document] for document, total in sums.items()}
        fused[query] = {document: sums[document] for document in ranked(sums)}
    return fused


@given(
    st.lists(runs_of_queries, min_size=1, max_size=4),
    st.sampled_from(METHODS),
    st.sampled_from(NORMS),
    st.sampled_from([0, 1, 60, 0.5]),
    st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5]), min_size=4, max_size=4),
)
@example([{"q1": ["a", "b"]}, {"q1": {"b": 1.0}}], "rrf", "rank", 60, [0.3, 1.0, 1.0, 1.0])
def test_naive_reference(given_runs: Any, method: Any, norm: Any, k: Any, numbers: Any) -> None:
    runs = dict(zip("wxyz", given_runs, strict=False))
    weights = numbers[: len(runs)]
    if not any(weights):
        weights[0] = 1.0
    fused = rm.fuse(runs, method, weights, norm, k=k)
    expected = naive(runs, method, weights, norm, k)
    assert list(fused) == list(expected)
    if norm == "z-score" and method != "rrf":
        for query, documents in expected.items():
            assert fused[query] == pytest.approx(documents, rel=1e-7, abs=1e-7)
    else:
        assert fused == expected
        for query, documents in expected.items():
            assert list(fused[query]) == list(documents)
    for depth in (1, 3):
        cut = rm.fuse(runs, method, weights, norm, k=k, depth=depth)
        assert {q: list(d.items()) for q, d in cut.items()} == {
            q: list(d.items())[:depth] for q, d in fused.items()
        }


class Text(str):
    """No exact str."""

    __slots__ = ()


def careful(run: dict[str, Any]) -> Any:
    """Return the same run in types that no fast path takes."""
    made: dict[Any, Any] = {}
    for query, ranking in run.items():
        if isinstance(ranking, list):
            made[query] = tuple(Text(document) for document in ranking)
        else:
            made[query] = UserDict({Text(d): np.float64(s) for d, s in ranking.items()})
    return UserDict(made)


@given(
    st.lists(runs_of_queries, min_size=1, max_size=3),
    st.sampled_from(METHODS),
    st.sampled_from(NORMS),
)
def test_other_containers_give_the_same_digits(given_runs: Any, method: Any, norm: Any) -> None:
    runs = dict(zip("xyz", given_runs, strict=False))
    fused = rm.fuse(runs, method, norm=norm)
    again = rm.fuse({name: careful(run) for name, run in runs.items()}, method, norm=norm)
    texts = {q: {str(d): score for d, score in ranking.items()} for q, ranking in again.items()}
    assert repr(texts) == repr(fused)


@pytest.mark.parametrize("n", [9, 70, 1000])
@pytest.mark.parametrize("kind", ["drawn", "tied", "rising", "falling"])
def test_long_rankings(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    numbers = {
        "drawn": rng.random(n),
        "tied": rng.integers(0, 5, n).astype(float),
        "rising": np.arange(n, dtype=float),
        "falling": -np.arange(n, dtype=float),
    }[kind]
    first = {"q": dict(zip(map(str, rng.permutation(n).tolist()), numbers.tolist(), strict=True))}
    second = {"q": list(map(str, rng.permutation(2 * n)[:n].tolist()))}
    runs = {"first": first, "second": second}
    for method in METHODS:
        fused = rm.fuse(runs, method, norm="rank")  # type: ignore[arg-type]
        expected = naive(runs, method, [1, 1], "rank", 60)
        assert list(fused["q"].items()) == list(expected["q"].items())


def test_many_runs() -> None:
    runs = {i: {"q": [f"d{i}", "all"]} for i in range(100)}
    fused = rm.fuse(runs, "combmnz", norm="rank")["q"]
    assert next(iter(fused)) == "all"
    assert fused["all"] == pytest.approx(100 * 50)
    assert len(fused) == 101


# Files and tables


def test_files_and_tables(tmp_path: Path) -> None:
    paths = {}
    for name, run in BOTH.items():
        paths[name] = tmp_path / f"{name}.run"
        rm.write_run(run, paths[name])
    assert rm.fuse(paths) == rm.fuse(BOTH)
    json_file = tmp_path / "lists.json"
    json_file.write_text('{"q": ["b", "d"]}')
    assert rm.fuse({"dense": paths["dense"], "bm25": json_file}) == rm.fuse(BOTH)
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"qid": ["q", "q"], "doc_id": ["b", "d"], "score": [12.0, 8.0]})
    fused = rm.fuse({"dense": DENSE, "bm25": table}, columns={"query_id": "qid"})
    assert fused == rm.fuse(BOTH)


# What is refused

BIG = 10**400


@pytest.mark.parametrize(
    ("runs", "options", "error", "message"),
    [
        ([DENSE, BM25], {}, TypeError, "runs must be a mapping from name to run, not list"),
        ({}, {}, ValueError, "there is no run to fuse"),
        ({"a": [1]}, {}, TypeError, "run 'a' must be a mapping"),
        (BOTH, {"method": "max"}, ValueError, "method must be one of rrf, wsum"),
        (BOTH, {"norm": "max"}, ValueError, "norm must be 'min-max'"),
        (BOTH, {"k": -1}, ValueError, "k must not be negative"),
        (BOTH, {"k": math.nan}, ValueError, "k must be finite"),
        (BOTH, {"k": "60"}, TypeError, "k must be a number"),
        (BOTH, {"depth": 0}, ValueError, "depth must be 1 or more"),
        (BOTH, {"depth": 1.5}, TypeError, "depth must be an integer"),
        (BOTH, {"depth": True}, TypeError, "depth must be an integer"),
        (BOTH, {"weights": [1]}, ValueError, "1 weights for 2 runs"),
        (BOTH, {"weights": 0.5}, TypeError, "weights must be a mapping"),
        (BOTH, {"weights": {"dense": 1}}, ValueError, "run 'bm25' has no weight"),
        (BOTH, {"weights": {"dense": 1, "bm25": 1, "x": 1}}, ValueError, "weight for 'x'"),
        (BOTH, {"weights": [1, -1]}, ValueError, "weight of run 'bm25' is negative"),
        (BOTH, {"weights": [1, math.nan]}, ValueError, "weight of run 'bm25' must be finite"),
        (BOTH, {"weights": [1, None]}, TypeError, "weight of run 'bm25' must be a number"),
        (BOTH, {"weights": [0, 0]}, ValueError, "all weights are 0"),
        ({"a": {"q": {"d": math.nan}}}, {}, ValueError, "query 'q': run 'a': .*'d' is NaN"),
        ({"a": {"q": {"d": math.inf}}}, {"method": "wsum"}, ValueError, "run 'a': .*'d' is inf"),
        ({"a": {"q": {"d": "high"}}}, {}, TypeError, "'d' is not a number: 'high'"),
        (
            {"a": {"q": {"d": BIG}}},
            {"method": "wsum", "norm": None},
            ValueError,
            "'d' is not a double",
        ),
        (
            {"a": {"q": {"d": 2**53 + 1}}},
            {"method": "wsum", "norm": None},
            ValueError,
            "not a double",
        ),
        ({"a": {"q": ["d", "e", "d"]}}, {}, ValueError, "run 'a': document 'd' stands twice"),
        ({"a": {"q": [None]}}, {}, TypeError, "None cannot be an id"),
        ({"a": {"q": [[]]}}, {}, TypeError, r"\[\] cannot be an id: .*unhashable"),
        ({"a": {"q": "text"}}, {}, TypeError, "run 'a': a ranking must be a sequence"),
        ({"a": {"q": {"d"}}}, {}, TypeError, "a set has no order"),
        ({"a": {"q": {1: 1.0, "1": 1.0}}}, {}, TypeError, "query 'q': .* cannot be ordered by id"),
        (
            {"a": {"q": {"d": 1e308}}, "b": {"q": {"d": 1e308}}},
            {"method": "combsum", "norm": None},
            ValueError,
            "query 'q': the sum for document 'd' is too large",
        ),
        ({"a": Path("no such file")}, {}, OSError, "no such file"),
    ],
)
def test_what_is_refused(runs: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rm.fuse(runs, **options)


def test_a_run_that_changes_while_it_is_read() -> None:
    """Any answer or built-in exception, never a crash."""

    class Meddler(float):
        def __float__(self) -> float:
            run["q"].clear()
            other["q"].clear()
            return 1.0

    class Id(str):
        __slots__ = ()

        def __lt__(self, other_id: object) -> bool:
            run["q"].clear()
            other["q"].clear()
            return False

        def __hash__(self) -> int:
            return hash(str(self))

        def __eq__(self, other_id: object) -> bool:
            other["q"].clear()
            return str(self) == other_id

    for meddler in (Meddler(1), Id("d 3")):
        run: Any = {"q": {f"d {i}": 1.0 for i in range(50)}}
        other: Any = {"q": [f"d {i}" for i in range(50)]}
        if isinstance(meddler, Meddler):
            run["q"]["d 25"] = meddler
        else:
            run["q"][meddler] = 1.0
        for order in (("run", "other"), ("other", "run")):
            runs = {name: {"run": run, "other": other}[name] for name in order}
            with contextlib.suppress(RuntimeError, ValueError, TypeError):
                rm.fuse(runs, "rrf")


# ranx, on runs without ties


@pytest.mark.filterwarnings("ignore")  # of numba, about ranx
@pytest.mark.parametrize(
    ("method", "norm", "theirs", "their_norm", "params"),
    [
        ("rrf", "min-max", "rrf", None, {"k": 60}),
        ("wsum", "min-max", "wsum", "min-max", {"weights": [0.7, 0.3]}),
        ("wsum", "z-score", "wsum", "zmuv", {"weights": [0.7, 0.3]}),
        ("wsum", "rank", "wsum", "rank", {"weights": [0.7, 0.3]}),
        ("combsum", "min-max", "sum", "min-max", {}),
        ("combmnz", "min-max", "mnz", "min-max", {}),
        ("combmnz", None, "mnz", None, {}),
    ],
)
def test_ranx(method: Any, norm: Any, theirs: str, their_norm: str | None, params: Any) -> None:
    ranx = pytest.importorskip("ranx")
    rng = np.random.default_rng(7)
    runs = {}
    for name in ("a", "b"):
        runs[name] = {
            f"q{q}": {
                f"d{d}": float(score)
                for d, score in zip(rng.permutation(60)[:40], rng.normal(size=40), strict=True)
            }
            for q in range(20)
        }
    weights = params.get("weights")
    fused = rm.fuse(runs, method, weights, norm)
    expected = ranx.fuse(
        [ranx.Run(run) for run in runs.values()],
        norm=their_norm,
        method=theirs,
        params=params or None,
    ).to_dict()
    assert set(fused) == set(expected)
    for query, documents in expected.items():
        assert fused[query] == pytest.approx(documents, rel=1e-9, abs=1e-12)
