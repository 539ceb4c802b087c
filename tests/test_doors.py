"""What the door hands to the kernels, and what it does when the input moves under it."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankmeter as rm
from rankmeter._core.doors.mappings import JudgedMappings
from rankmeter.naming.parsing import compile_metrics


def naive_record(
    judged: dict[str, int], run: dict[str, float], *, by_id: bool
) -> tuple[list[int], list[float]]:
    order = sorted(run, reverse=True) if by_id else list(run)
    order.sort(key=lambda document: -run[document])
    found = [(rank, judged[d]) for rank, d in enumerate(order, 1) if d in judged]
    return [rank for rank, _ in found], [float(grade) for _, grade in found]


@pytest.mark.parametrize("ties", ["docid", "input"])
@pytest.mark.parametrize("n_judged", [1, 5, 12, 13, 60, 400])
@pytest.mark.parametrize("levels", [1, 3, 10**9])
def test_the_record_holds_every_judged_document(ties: str, n_judged: int, levels: int) -> None:
    rng = random.Random(f"{ties} {n_judged} {levels}")
    pool = [f"d{i}" for i in range(600)]
    judged = {d: rng.randint(-1, 3) for d in rng.sample(pool, n_judged)}
    run = {d: float(rng.randrange(levels)) for d in rng.sample(pool, 300)}
    judgments = JudgedMappings({"q": judged}, compile_metrics("map")[1], keep_all=True)
    record = judgments.describe(0, run, ties)
    ranks, grades = naive_record(judged, run, by_id=ties == "docid")
    assert (record["ranks"], record["grades"]) == (ranks, grades)
    assert record["ideal"] == sorted(judged.values(), reverse=True)
    assert (record["n_retrieved"], record["n_judged"]) == (300, n_judged)


class Mutating:
    """A number, or an id, that empties a container whenever it is looked at."""

    def __init__(self, victim: Any) -> None:
        self.victim = victim

    def __float__(self) -> float:
        self.victim.clear()
        return 1.0

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        self.victim.clear()
        return False


def test_a_score_that_empties_the_run_crashes_nothing() -> None:
    inner: dict[Any, Any] = {f"d{i}": 0.5 for i in range(50)}
    inner["a"] = Mutating(inner)
    assert rm.evaluate({"q": {"a": 1}}, {"q": inner}, "mrr")["mrr"] == 1.0


def test_a_grade_that_empties_the_qrels_crashes_nothing() -> None:
    inner: dict[Any, Any] = {f"d{i}": 1 for i in range(50)}
    inner["a"] = Mutating(inner)
    assert rm.evaluate({"q": inner}, {"q": ["a"]}, "recall@1")["recall@1"] == 1 / 51


def test_an_id_that_empties_the_run_crashes_nothing() -> None:
    inner: dict[Any, Any] = {}
    inner[Mutating(inner)] = 0.25
    inner |= {f"d{i}": 0.5 for i in range(50)}
    with pytest.raises(TypeError, match="does not equal itself"):
        rm.evaluate({"q": {"a": 1}}, {"q": inner}, "mrr")


def test_threads_get_the_same_digits() -> None:
    ids = [f"d{i}" for i in range(9_000)]
    expected: dict[int, float] = {}

    def value(depth: int) -> float:
        return rm.ndcg_at_k(ids[:depth], {ids[depth - 1]: 1}, depth)

    depths = list(range(500, 9_000, 250)) * 4
    with ThreadPoolExecutor(8) as threads:
        for depth, result in zip(depths, threads.map(value, depths), strict=True):
            assert expected.setdefault(depth, result) == result == value(depth)


def test_ids_that_json_cannot_tell_apart_are_refused() -> None:
    ev = rm.evaluate({1: {"a": 1}, "1": {"a": 1}}, {1: ["a"], "1": []}, "mrr")
    with pytest.raises(ValueError, match="both written as '1'"):
        ev.to_json()


@pytest.mark.parametrize("ranking", [{None: 1.0, "a": 0.5}, [None, "a"]])
def test_none_is_no_document_id(ranking: Any) -> None:
    with pytest.raises(TypeError, match="None"):
        rm.evaluate({"q": {"a": 1}}, {"q": ranking}, "mrr")


def test_numbers_beyond_all_doubles_are_refused() -> None:
    with pytest.raises(ValueError, match="rel must be"):
        rm.recall_at_k(["a"], {"a": 1}, 1, rel=10**400)
    with pytest.raises(ValueError, match="finite"):
        rm.ndcg_at_k(["a"], {"a": 1}, 1, gain={1: 10**400})


@pytest.mark.parametrize("time", [np.timedelta64(3, "s"), np.datetime64("2020-01-01")])
def test_times_are_no_numbers(time: Any, tmp_path: Path) -> None:
    of, path = {"q": {"a": time, "b": 2**60}}, tmp_path / "x"
    for call in (
        lambda: rm.evaluate({"q": {"a": 1}}, of, "mrr"),
        lambda: rm.fuse({"x": of, "y": {"q": ["a"]}}),
        lambda: rm.write_run(of, path),
    ):
        with pytest.raises(TypeError, match=r"'q': .*score of document 'a' is not a number: .*64"):
            call()
    for call in (lambda: rm.evaluate(of, {"q": ["a"]}, "mrr"), lambda: rm.write_qrels(of, path)):
        with pytest.raises(TypeError, match=r"'q': .*grade of document 'a' is not a number: .*64"):
            call()
