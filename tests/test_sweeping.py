"""A sweep: the same values as the long way, folds, intervals, and what is refused."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from draws import middle, sampled_means
from hypothesis import given, settings
from hypothesis import strategies as st

import rankmeter as rm
from rankmeter.experiments.sweep import _split
from rankmeter.naming.rows import METRICS

GRID = [0, 0.25, 0.5, 0.7, 1.0]


def drawn(seed: int, queries: int = 30, ids: int = 40, depth: int = 25) -> Any:
    """Judgments and two runs, of which each lacks a query, with ties."""
    rng = random.Random(seed)
    qrels = {
        f"q{q}": {f"d{d}": rng.choice([0, 0, 1, 2, 3]) for d in rng.sample(range(ids), 8)}
        for q in range(queries)
    }

    def run(without: str) -> dict[str, dict[str, float]]:
        return {
            query: {f"d{d}": rng.randint(0, 12) / 4 for d in rng.sample(range(ids), depth)}
            for query in qrels
            if query not in (without, "q5")
        }

    return qrels, {"dense": run("q3"), "bm25": run("q4")}


def long_way(qrels: Any, runs: Any, weight: float, metric: str, **how: Any) -> Any:
    fused = rm.fuse(runs, weights=[weight, 1 - weight], **how)
    return rm.evaluate(qrels, fused, metric).values[:, 0]


@pytest.mark.parametrize("method", ["rrf", "wsum", "combsum", "combmnz"])
@pytest.mark.parametrize("norm", ["min-max", "z-score", "rank", None])
def test_values_are_those_of_fuse_and_evaluate(method: Any, norm: Any) -> None:
    qrels, runs = drawn(1)
    for metric in ("ndcg@10", "map", "bpref", "recall@5(judged_only=true)"):
        swept = rm.sweep(runs, GRID, qrels, metric, method=method, norm=norm, draws=5)
        for column, weight in enumerate(GRID):
            expected = long_way(qrels, runs, weight, metric, method=method, norm=norm)
            assert swept.values[:, column].tolist() == expected.tolist()


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_metric(name: str) -> None:
    qrels, runs = drawn(2)
    metric = next(m for m in (name, f"{name}@5", f"{name}(recall=0.5)") if _is_metric(m))
    swept = rm.sweep(runs, [0.3, 0.6], qrels, metric, draws=5)
    assert swept.values[:, 1].tolist() == long_way(qrels, runs, 0.6, metric, method="wsum").tolist()
    fused = rm.fuse(runs, "wsum", [0.6, 1 - 0.6])
    assert swept.means[1] == rm.evaluate(qrels, fused, metric)[metric]


def _is_metric(metric: str) -> bool:
    try:
        rm.parse(metric)
    except ValueError:
        return False
    return True


def test_every_door_for_runs_and_judgments(tmp_path: Path) -> None:
    qrels, runs = drawn(3)
    expected = rm.sweep(runs, GRID, qrels, "ndcg@10").values.tolist()
    paths: Any = {}
    for name, run in runs.items():
        paths[name] = tmp_path / name
        rm.write_run(run, paths[name])
    rm.write_qrels(qrels, tmp_path / "qrels")
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    for judged in (qrels, tmp_path / "qrels", tmp_path / "qrels.json"):
        assert rm.sweep(paths, GRID, judged, "ndcg@10").values.tolist() == expected
    numpy_scores: Any = {
        name: {q: {d: np.float32(s) for d, s in ranking.items()} for q, ranking in run.items()}
        for name, run in runs.items()
    }
    assert rm.sweep(numpy_scores, GRID, qrels, "ndcg@10").values.tolist() == expected


@given(st.integers(0, 10_000), st.sampled_from([1, 3]), st.sampled_from(["rrf", "combmnz"]))
@settings(max_examples=30)
def test_small_sets(seed: int, queries: int, method: Any) -> None:
    qrels, runs = drawn(seed, queries=queries + 1, ids=9, depth=4)
    swept = rm.sweep(runs, GRID, qrels, "map", method=method, folds=2, draws=3)
    for column, weight in enumerate(GRID):
        expected = long_way(qrels, runs, weight, "map", method=method)
        assert swept.values[:, column].tolist() == expected.tolist()


def test_ids_without_an_order_take_the_long_way() -> None:
    qrels = {i: {1: 1, "b": 2} for i in range(4)}
    runs: Any = {
        "x": {i: {1: 3.0, "b": 1.0} for i in range(4)},
        "y": {i: {"b": 1.0} for i in range(4)},
    }
    swept = rm.sweep(runs, [0.2, 0.9], qrels, "mrr(rel=2)", method="wsum", folds=2)
    assert swept.values.tolist() == [[1.0, 0.5]] * 4


@pytest.mark.parametrize("ties", ["input", "expected"])
def test_other_orders_of_ties(ties: Any) -> None:
    qrels, runs = drawn(4)
    swept = rm.sweep(runs, [0.5, 0.4], qrels, "ndcg@10", method="wsum", norm="rank", ties=ties)
    fused = rm.fuse(runs, "wsum", [0.4, 0.6], "rank")
    expected = rm.evaluate(qrels, fused, "ndcg@10", ties=ties).values[:, 0]
    assert swept.values[:, 1].tolist() == expected.tolist()


# Any function, and the choice


def by_hit(values: dict[str, list[int]]) -> Any:
    """Return judgments, and a function from a setting to a run whose hit@1 are these."""
    qrels = {f"q{i}": {"a": 1} for i in range(len(next(iter(values.values()))))}

    def system(setting: str) -> dict[str, list[str]]:
        return {f"q{i}": ["a" if hit else "x"] for i, hit in enumerate(values[setting])}

    return qrels, system


def test_cross_validation_by_hand() -> None:
    # Each query is a fold. Without one of the first two, "b" is the better one elsewhere.
    values = {"a": [1, 1, 0, 0], "b": [0, 0, 1, 0]}
    qrels, system = by_hit(values)
    swept = rm.sweep(system, ["a", "b"], qrels, "hit@1", folds=4)
    assert swept.grid == ("a", "b")
    assert swept.means == (0.5, 0.25)
    assert (swept.best, swept.best_mean) == ("a", 0.5)
    by_query = {fold.query_ids: fold for fold in swept.folds}
    assert set(by_query) == {("q0",), ("q1",), ("q2",), ("q3",)}
    # Without q0: a has 1/3, b has 1/3, and the first in the grid is taken.
    assert {q[0]: fold.chosen for q, fold in by_query.items()} == dict.fromkeys(qrels, "a")
    assert by_query[("q0",)].mean_elsewhere == pytest.approx(1 / 3)
    assert by_query[("q0",)].mean == 1
    assert swept.cross_validated == 0.5
    other = rm.sweep(system, ["b", "a"], qrels, "hit@1", folds=4)
    chosen = {fold.query_ids[0]: fold.chosen for fold in other.folds}
    assert chosen == {"q0": "b", "q1": "b", "q2": "a", "q3": "a"}
    assert other.cross_validated == 0
    assert other.best == "a"


def test_the_winner_is_not_judged_on_what_it_was_picked_on() -> None:
    rng = np.random.default_rng(0)
    best, honest = [], []
    for _ in range(40):
        values = {str(i): rng.integers(0, 2, 60).tolist() for i in range(50)}  # only noise
        qrels, system = by_hit(values)
        swept = rm.sweep(system, list(values), qrels, "hit@1", folds=5, draws=2)
        best.append(swept.best_mean)
        honest.append(swept.cross_validated)
    assert np.mean(best) > 0.6
    assert np.mean(honest) == pytest.approx(0.5, abs=0.06)


def test_the_split_depends_on_ids_and_seed_alone() -> None:
    queries = [f"q{i}" for i in range(23)]
    parts = [{queries[row] for row in rows} for rows in _split(queries, 5, 7)]
    assert sorted(map(len, parts)) == [4, 4, 5, 5, 5]
    assert set().union(*parts) == set(queries)
    mixed = random.Random(1).sample(queries, len(queries))
    assert [{mixed[row] for row in rows} for rows in _split(mixed, 5, 7)] == parts
    assert [{queries[row] for row in rows} for rows in _split(queries, 5, 8)] != parts
    assert sorted(_split([1, "a", (2,)], 3, 0)) == [[0], [1], [2]]  # of any types
    # As it has always been.
    assert _split(["a", "b", "c", "d", "e"], 2, 0) == [[0, 3, 4], [1, 2]]


def test_the_order_of_the_input_makes_no_difference() -> None:
    qrels, runs = drawn(5)
    swept = rm.sweep(runs, GRID, qrels, "ndcg@10")
    backwards = rm.sweep(
        {name: dict(reversed(run.items())) for name, run in runs.items()},
        GRID,
        dict(reversed(qrels.items())),
        "ndcg@10",
    )
    assert backwards.cross_validated == swept.cross_validated
    assert backwards.folds == swept.folds
    assert backwards.means == swept.means


def test_intervals() -> None:
    rng = np.random.default_rng(1)
    values = {"a": (rng.random(400) < 0.3).tolist(), "all": [1] * 400}
    qrels, system = by_hit(values)
    swept = rm.sweep(system, list(values), qrels, "hit@1", draws=2000)
    expected = sampled_means(swept.values[:, 0].tolist(), 2000)
    (low, high), all_of_them = swept.intervals
    assert (low, high) == middle(expected)
    half = 1.96 * np.sqrt(0.3 * 0.7 / 400)
    assert low == pytest.approx(swept.means[0] - half, abs=0.01)
    assert high == pytest.approx(swept.means[0] + half, abs=0.01)
    assert all_of_them == (1, 1)
    assert swept.cross_validated_interval == (1, 1)
    assert rm.sweep(system, list(values), qrels, "hit@1", seed=1).intervals != swept.intervals


def test_intervals_of_a_geometric_mean() -> None:
    qrels = {f"q{rank}": {"a": 1} for rank in range(1, 5)}
    run = {f"q{rank}": [*"xyz"[: rank - 1], "a"] for rank in range(1, 5)}
    swept = rm.sweep(lambda _: run, ["one"], qrels, "gm_map", folds=2)
    logarithms = [math.log(1 / rank) for rank in range(1, 5)]
    low, high = middle(sampled_means(logarithms, 1000))
    assert swept.means[0] == pytest.approx((1 / 24) ** 0.25, rel=1e-15)
    assert swept.intervals[0] == pytest.approx((math.exp(low), math.exp(high)), rel=1e-14)
    assert swept.intervals[0] == pytest.approx((0.2887, 0.7598), abs=0.0001)


def test_what_is_shown_and_told() -> None:
    qrels, runs = drawn(6)
    swept = rm.sweep(runs, np.linspace(0, 1, 5), qrels, "ndcg@10")
    assert swept.grid == (0.0, 0.25, 0.5, 0.75, 1.0)
    lines = repr(swept).splitlines()
    assert lines[0].split() == ["value", "ndcg@10", "from", "to"]
    best = [line.split()[0] for line in lines if line.endswith("best")]
    assert best == [str(swept.best)]
    assert f"cross-validated: {swept.cross_validated:.4f}" in repr(swept)
    assert "<table>" in swept._repr_html_()
    told = json.loads(json.dumps(swept.to_dict()))
    assert [point["mean"] for point in told["curve"]] == list(swept.means)
    assert told["queries"] == 30
    assert sum(len(fold["query_ids"]) for fold in told["folds"]) == 30
    with pytest.raises(ValueError, match="read-only"):
        swept.values[0, 0] = 1


QRELS, RUNS = drawn(7)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((RUNS, [], QRELS, "mrr"), {}, ValueError, "grid has no setting"),
        ((RUNS, "ab", QRELS, "mrr"), {}, TypeError, "grid must be an iterable"),
        ((RUNS, [0, 0.0], QRELS, "mrr"), {}, ValueError, "grid has the setting 0.0 twice"),
        ((RUNS, [0.5, 1.5], QRELS, "mrr"), {}, ValueError, "from 0 to 1, not 1.5"),
        ((RUNS, ["x"], QRELS, "mrr"), {}, TypeError, "a weight must be a number"),
        ((RUNS, [0.5], QRELS, ["mrr"]), {}, TypeError, "metric must be one name"),
        ((RUNS, [0.5], QRELS, "mrx"), {}, ValueError, "mrx"),
        ((RUNS, [0.5], QRELS, "mrr"), {"folds": 1}, ValueError, "folds must be 2 or more"),
        ((RUNS, [0.5], QRELS, "mrr"), {"folds": 31}, ValueError, "31 folds need as many queries"),
        ((RUNS, [0.5], QRELS, "mrr"), {"folds": 2.0}, TypeError, "folds must be an integer"),
        ((RUNS, [0.5], QRELS, "mrr"), {"draws": 0}, ValueError, "draws must be at least 1"),
        ((RUNS, [0.5], QRELS, "mrr"), {"seed": -1}, ValueError, "seed must be from 0 to"),
        ((RUNS, [0.5], QRELS, "mrr"), {"method": "x"}, ValueError, "method must be one of"),
        ((RUNS, [0.5], QRELS, "mrr"), {"ties": "x"}, ValueError, "ties must be"),
        (({**RUNS, "c": {}}, [0.5], QRELS, "mrr"), {}, ValueError, "two runs, not of 3"),
        ((3, [0.5], QRELS, "mrr"), {}, TypeError, "system must be a mapping of two runs"),
        ((RUNS, [0.5], {"q": {"a": 1}, "r": {}}, "mrr"), {"folds": 2}, ValueError, "no query in"),
        ((lambda _: None, [0.5], QRELS, "mrr"), {}, TypeError, "run must be a mapping"),
    ],
)
def test_what_is_refused(arguments: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rm.sweep(*arguments, **options)


def test_a_sum_that_is_too_large_at_some_weight() -> None:
    qrels = {"q": {"d": 1}, "r": {"d": 1}}
    big = {"q": {"d": 1.5e308}}
    run = {"a": big, "b": big}
    with pytest.raises(ValueError, match="query 'q': the sum for document 'd' is too large"):
        rm.sweep(run, [0, 0.5], qrels, "mrr", method="combmnz", norm=None, folds=2)


def test_a_type_that_never_matches_is_told() -> None:
    runs = {name: {q: {1: 0.5, 2: 0.4} for q in QRELS} for name in "ab"}
    with pytest.raises(TypeError, match="can never match"):
        rm.sweep(runs, [0.5, 0.6], QRELS, "mrr")
