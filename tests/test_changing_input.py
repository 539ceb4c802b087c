"""Input that changes while it is read: any value that some order could have, or an error.

Never a value out of the range of its metric, and never a crash.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import rankmeter as rm
from rankmeter.naming.rows import METRICS

ERRORS = (ValueError, TypeError, RuntimeError)
COUNTS = [2, 9, 10, 30, 300]

UNBOUNDED = {"dcg", "idcg", "utility", "yaap"}


def every_metric() -> list[str]:
    """All rows, with a cut-off where there must be one."""
    names = []
    for row in METRICS.values():
        needed = [f"{p}=0.5" for p, default in row.defaults.items() if default is None]
        k = "@7" if row.cutoff == "required" else ""
        names.append(f"{row.name}{k}" + (f"({','.join(needed)})" if needed else ""))
        if row.cutoff == "optional":
            names.append(f"{row.name}@7" + (f"({','.join(needed)})" if needed else ""))
    return names


EVERY = every_metric()


def highest_values(grades: Any) -> dict[str, float]:
    """The most that a ranking of these judgments can reach, of metrics that are not shares."""
    count = len(grades)
    judged = {f"d{i}": float(grade) for i, grade in enumerate(grades)}
    best = sorted(judged, key=lambda d: -judged[d])
    values = rm.evaluate({"q": judged}, {"q": best}, EVERY).per_query["q"]
    return {name: max(values[name], float(count)) for name in EVERY}


def in_range(ev: rm.Evaluation, most: dict[str, float]) -> None:
    for name, column in zip(ev.metrics, ev.values.T, strict=True):
        row = name.partition("@")[0].partition("(")[0]
        assert np.isfinite(column).all(), (name, column)
        if row in UNBOUNDED or row.startswith("num_"):
            assert (np.abs(column) <= 3 * most[name] + 3).all(), (name, column)
        else:
            assert ((column >= 0) & (column <= 1)).all(), (name, column)


@contextmanager
def changed(change: Callable[[], None]) -> Iterator[None]:
    """Change something over and over in another thread, once at least."""
    stop = threading.Event()
    started = threading.Event()

    def work() -> None:
        while not stop.is_set():
            change()
            started.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert started.wait(60)
        yield
    finally:
        stop.set()
        thread.join()


OTHERS = ["nan", "huge", "other", "tied"]


def others(kind: str, n: int) -> Any:
    return {
        "nan": np.full(n, np.nan),
        "huge": np.where(np.arange(n) % 2, 1e300, -1e300),
        "other": -np.arange(n, dtype=np.float64),
        "tied": np.zeros(n),
    }[kind]


@pytest.mark.parametrize("found", COUNTS)
@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("ties", ["input", "expected"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_that_change(found: int, kind: str, ties: Any, dtype: Any) -> None:
    n = 20_000
    usual = np.arange(n, dtype=dtype)
    scores = usual[None].copy()
    with np.errstate(over="ignore"):
        other = others(kind, n).astype(dtype)
    labels = np.zeros((1, n), np.int64)
    labels[0, np.linspace(0, n - 1, found).astype(int)] = np.arange(found) % 3 + 1
    grades = labels[0][labels[0] > 0]
    metrics = [m for m in EVERY if ties == "input" or closed(m)]
    most = highest_values([*grades, *[0] * (n - found)]) if found < 10 else None
    most = most or dict.fromkeys(EVERY, 7.0 * n)

    def change() -> None:
        scores[0] = other
        scores[0] = usual

    in_range(rm.evaluate_scores(scores, labels, metrics, ties=ties), most)
    with changed(change):
        for _ in range(12):
            for wanted in (metrics, ["ndcg@10"], ["bing"] if ties == "input" else ["map"]):
                try:
                    ev = rm.evaluate_scores(scores, labels, wanted, ties=ties)
                except ERRORS:
                    continue
                in_range(ev, most)


def closed(name: str) -> bool:
    return METRICS[name.partition("@")[0].partition("(")[0]].closed_form


@pytest.mark.parametrize("found", COUNTS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64])
def test_labels_that_change(found: int, dtype: Any) -> None:
    n = 5_000
    scores = np.arange(n, dtype=np.float32)[None]
    labels = np.zeros((1, n), dtype)
    few = labels.copy()
    few[0, -found:] = 1
    many = np.full((1, n), 15, dtype)
    wild = np.full((1, n), np.nan if dtype in (np.float32, np.float64) else 100, dtype)

    def change() -> None:
        for values in (few, many, wild, few):
            labels[:] = values

    in_range(rm.evaluate_scores(scores, few, EVERY), dict.fromkeys(EVERY, 1e6 * n))
    with changed(change):
        for _ in range(40):
            for wanted in (EVERY, ["ndcg@10"], ["precision@5", "mrr"]):
                try:
                    ev = rm.evaluate_scores(scores, labels, wanted)
                except ERRORS:
                    continue
                in_range(ev, dict.fromkeys(EVERY, 1e6 * n))


@pytest.mark.parametrize("found", COUNTS)
def test_rankings_that_change(found: int) -> None:
    n = 2_000
    usual = np.arange(n)
    rankings = usual[None].copy()
    indices = np.arange(found)
    judgments = (np.array([0, found]), indices, np.ones(found))

    def change() -> None:
        rankings[0] = 0
        rankings[0] = usual[::-1]
        rankings[0] = usual

    in_range(rm.evaluate_rankings(rankings, judgments, EVERY), dict.fromkeys(EVERY, 10.0 * n))
    with changed(change):
        for _ in range(60):
            try:
                ev = rm.evaluate_rankings(rankings, judgments, EVERY)
            except ERRORS:
                continue
            in_range(ev, dict.fromkeys(EVERY, 10.0 * n))


@pytest.mark.parametrize("found", COUNTS)
def test_grades_that_change(found: int) -> None:
    n = 2_000
    grades = np.zeros((1, n))
    some = np.zeros(n)
    some[:found] = 1

    def change() -> None:
        grades[0] = np.nan
        grades[0] = 3
        grades[0] = some

    in_range(
        rm.evaluate_grades(some[None], EVERY, ideal="retrieved"), dict.fromkeys(EVERY, 10.0 * n)
    )
    with changed(change):
        for _ in range(60):
            for ideal in ("retrieved", np.array([[3.0] * found])):
                try:
                    ev = rm.evaluate_grades(grades, EVERY, ideal=ideal)
                except ERRORS:
                    continue
                in_range(ev, dict.fromkeys(EVERY, 10.0 * n))


# ---------------------------------------------------------------------------------------------
# Code of the caller's that runs while a container is read


class Key(str):
    """Text that does something whenever it is compared."""

    __slots__ = ("act",)

    def __new__(cls, text: str, act: Callable[[], None]) -> Key:
        key = super().__new__(cls, text)
        key.act = act
        return key

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        self.act()
        return str.__eq__(self, other)


class Number:
    """A score that does something whenever it is read."""

    def __init__(self, value: float, act: Callable[[], None]) -> None:
        self.value = value
        self.act = act

    def __float__(self) -> float:
        self.act()
        return self.value


ACTS: dict[str, Callable[[dict[Any, Any]], None]] = {
    "nan": lambda d: d.update(dict.fromkeys(list(d), math.nan)),
    "huge": lambda d: d.update(dict.fromkeys(list(d), 1e18)),
    "huge integers": lambda d: d.update(dict.fromkeys(list(d), 10**400)),
    "text": lambda d: d.update(dict.fromkeys(list(d), "x")),
    "other order": lambda d: d.update({k: -i for i, k in enumerate(list(d))}),
    "shrunk": lambda d: [d.pop(k) for k in list(d)[3:]] and None,
    "empty": lambda d: d.clear(),
    "grown": lambda d: d.update({f"new{i}": 7.0 for i in range(1000)}),
}


@pytest.mark.parametrize("found", COUNTS)
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("where", ["key", "score", "judged"])
@pytest.mark.parametrize("ties", ["docid", "input", "expected"])
def test_containers_that_change(found: int, act: str, where: str, ties: Any) -> None:
    metrics = [m for m in EVERY if ties != "expected" or closed(m)]
    for tied in (False, True):
        run: dict[Any, Any] = {f"x{i}": 1.0 if tied else float(-i) for i in range(50)}
        run |= {f"d{i}": 1.0 if tied else float(i % 7) for i in range(found)}
        qrels: dict[Any, Any] = {f"d{i}": i % 3 + 1 for i in range(found)}
        busy = [False]
        acted = []

        def call(
            run: dict[Any, Any] = run, busy: list[bool] = busy, acted: list[str] = acted
        ) -> None:
            if not busy[0]:
                busy[0] = True
                ACTS[act](run)
                acted.append(act)
                busy[0] = False

        if where == "judged":
            qrels = {Key(d, call): grade for d, grade in qrels.items()}
        elif where == "score":
            run["d1"] = Number(0.5, call)
        else:
            run.pop("d1")
            run[Key("d1", call)] = 0.5
        for given in (run, list(run)):
            try:
                ev = rm.evaluate({"q": qrels}, {"q": given}, metrics, ties=ties)
            except ERRORS:
                continue
            in_range(ev, dict.fromkeys(EVERY, 100.0 * (found + 50)))
        for method in ("rrf", "combmnz"):
            try:
                fused = rm.fuse({"a": {"q": run}, "b": {"q": dict(run)}}, method)  # type: ignore[arg-type]
            except ERRORS:
                continue
            assert all(math.isfinite(score) for score in fused["q"].values())
        assert acted


def test_dicts_that_other_threads_change() -> None:
    run: dict[Any, Any] = {f"d{i}": float(i) for i in range(3_000)}
    qrels = {"q": {f"d{i}": 1 for i in range(0, 3_000, 10)}}

    def change() -> None:
        run["d10"] = 1e18
        run["new"] = 5.0
        run.pop("new", None)
        run["d10"] = math.nan
        run["d10"] = 10.0

    with changed(change):
        for _ in range(300):
            try:
                ev = rm.evaluate(qrels, {"q": run}, EVERY)
            except ERRORS:
                continue
            in_range(ev, dict.fromkeys(EVERY, 1e5))
