"""What the kernels see of a query: the record also holds what later metrics need.

The record is compared with a sort of the whole run, on random data with many ties.
"""

from __future__ import annotations

import math
import random
import sys
from collections import UserDict
from typing import Any

import pytest

from rankmeter._core.doors.mappings import JudgedMappings
from rankmeter._core.driver import Metrics
from rankmeter.naming.parsing import parse
from rankmeter.naming.rows import METRICS

FULL_DEPTH = [(METRICS["map"], None, {})]


def record(judged: Any, ranking: Any, *, keep_all: bool = True, **options: str) -> dict[str, Any]:
    judgments = JudgedMappings({"q": judged}, Metrics(FULL_DEPTH), keep_all=keep_all)
    return judgments.describe(0, ranking, **options)


def expected(judged: dict[Any, Any], ranked: list[Any]) -> dict[str, Any]:
    ranks = [rank for rank, doc in enumerate(ranked, 1) if doc in judged]
    return {
        "n_retrieved": len(ranked),
        "n_judged": len(judged),
        "ranks": ranks,
        "grades": [float(judged[ranked[rank - 1]]) for rank in ranks],
        "ideal": sorted(map(float, judged.values()), reverse=True),
    }


def sorted_run(run: dict[Any, Any], ties: str) -> list[Any]:
    ids = list(run)
    if ties == "docid":
        ids.sort(key=lambda doc: doc.encode() if isinstance(doc, str) else doc, reverse=True)
    return sorted(ids, key=run.__getitem__, reverse=True)


def random_query(
    rng: random.Random, n_judged: int, kind: type
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    size = rng.choice([1, 2, 12, 60, 300])
    numbers = rng.sample(range(3 * max(size, n_judged)), max(size, n_judged) + n_judged)
    ids = [f"d{number}é" if kind is str else number for number in numbers]
    levels = rng.choice([1, 2, 5, 10_000])
    run = {doc: rng.randrange(levels) / rng.choice([1, 4]) - 1 for doc in ids[:size]}
    # some judged documents are in the run, some are not
    n_inside = min(size, rng.randint(0, n_judged))
    chosen = rng.sample(ids[:size], n_inside) + ids[size : size + n_judged - n_inside]
    grades = rng.choice([[-1, 0], [0, 1], [-2, 0, 1, 2, 3], [i / 8 for i in range(-20, 40)]])
    return {doc: rng.choice(grades) for doc in chosen}, run


# Up to ten found documents are compared with every score; more are placed by an index of their
# scores, whose buckets are sorted by insertion up to 24.
@pytest.mark.parametrize("ties", ["docid", "input"])
@pytest.mark.parametrize("kind", [str, int])
@pytest.mark.parametrize("n_judged", [0, 1, 3, 9, 10, 11, 12, 24, 25, 80, 250])
def test_the_record_of_a_scored_run(
    n_judged: int, kind: type, ties: str, rng: random.Random
) -> None:
    for _ in range(40):
        judged, run = random_query(rng, n_judged, kind)
        ranked = sorted_run(run, ties)
        assert record(judged, run, ties=ties) == expected(judged, ranked)
        # the careful path, for other mappings
        assert record(UserDict(judged), UserDict(run), ties=ties) == expected(judged, ranked)
        assert record(judged, ranked, ties=ties) == expected(judged, ranked)
        assert record(judged, tuple(ranked), ties=ties) == expected(judged, ranked)


@pytest.mark.parametrize("ties", ["docid", "input"])
@pytest.mark.parametrize(
    ("metrics", "depth", "first"),
    [
        (["ndcg@5", "recall@3"], 5, math.inf),
        (["mrr@4", "hit@1"], 4, math.inf),
        (["mrr(rel=2)", "precision@2"], 2, 2),  # the first of grade 2 wherever it stands
        (["mrr", "mrr(rel=3)"], 0, 3),
    ],
)
def test_a_record_ends_where_no_metric_looks(
    metrics: list[str], depth: int, first: float, ties: str, rng: random.Random
) -> None:
    parsed = [parse(text) for text in metrics]
    specifications = [(METRICS[one.name], one.k, dict(one.parameters)) for one in parsed]
    shorter = 0
    for n_judged in [1, 3, 9, 10, 11, 25, 80] * 30:
        judged, run = random_query(rng, n_judged, str)
        ranked = sorted_run(run, ties)
        whole = expected(judged, ranked)
        needed = sum(rank <= depth for rank in whole["ranks"])
        needed = max(needed, next((i for i, g in enumerate(whole["grades"], 1) if g >= first), 0))
        judgments = JudgedMappings({"q": judged}, Metrics(specifications), keep_all=True)
        for ranking in (run, ranked, UserDict(run)):
            found = judgments.describe(0, ranking, ties=ties)
            assert len(found["ranks"]) >= needed
            for part in ("ranks", "grades"):
                assert found[part] == whole[part][: len(found["ranks"])]
            for part in ("n_retrieved", "n_judged", "ideal"):
                assert found[part] == whole[part]
            shorter += len(found["ranks"]) < len(whole["ranks"])
    assert shorter, "all were read to the end"


@pytest.mark.parametrize("n_judged", [5, 12, 13, 100])
def test_all_scores_equal(n_judged: int) -> None:
    ids = [f"d{i:03}" for i in range(200)]
    judged = {doc: i % 3 - 1 for i, doc in enumerate(ids[:: 200 // n_judged])}
    run = dict.fromkeys(ids, 0.0)
    run["d001"] = -0.0
    assert record(judged, run, ties="input") == expected(judged, ids)
    assert record(judged, run, ties="docid") == expected(judged, ids[::-1])


def test_documents_that_are_judged_not_relevant_have_ranks() -> None:
    judged = {"a": 0, "b": -3, "c": 1, "never": 0}
    found = record(judged, ["x", "b", "a", "y", "c"])
    assert found == {
        "n_retrieved": 5,
        "n_judged": 4,
        "ranks": [2, 3, 5],
        "grades": [-3.0, 0.0, 1.0],
        "ideal": [1.0, 0.0, 0.0, -3.0],
    }


def test_only_what_the_metrics_feel_is_sought_unless_all_is_wanted() -> None:
    judged = {"a": 0, "b": -3, "c": 1, "d": 2}
    for ranking in (["b", "a", "c"], {"b": 3.0, "a": 2.0, "c": 1.0}):
        found = record(judged, ranking, keep_all=False)
        assert found["ranks"] == [3]
        assert found["grades"] == [1.0]
        assert found["n_retrieved"] == 3
        assert found["n_judged"] == 4
        assert found["ideal"] == [2.0, 1.0, 0.0, -3.0]


@pytest.mark.parametrize("wrap", [list, tuple])
def test_repeated_documents_are_counted_once(wrap: type, rng: random.Random) -> None:
    for _ in range(60):
        ranked = [f"d{rng.randrange(25)}" for _ in range(rng.randint(1, 60))]
        judged = {f"d{i}": i % 4 - 1 for i in rng.sample(range(30), 15)}
        closed = list(dict.fromkeys(ranked))
        found = record(judged, wrap(ranked), duplicates="first")
        assert found == expected(judged, closed)


def test_each_query_has_its_own_record(rng: random.Random) -> None:
    queries = [random_query(rng, rng.choice([0, 2, 12, 40]), str) for _ in range(50)]
    qrels = {f"q{i}": judged for i, (judged, _) in enumerate(queries)}
    judgments = JudgedMappings(qrels, Metrics(FULL_DEPTH), keep_all=True)
    assert judgments.queries == tuple(qrels)
    for i, (judged, run) in enumerate(queries):
        assert judgments.describe(i, run) == expected(judged, sorted_run(run, "docid"))
    for i in (-1, 50, sys.maxsize):
        with pytest.raises(IndexError):
            judgments.describe(i, {})
