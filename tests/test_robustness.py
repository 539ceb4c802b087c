"""Input that is wrong, input that changes while it is read, memory, threads."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import math
import re
import sys
import threading
import tracemalloc
from collections import UserDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rankmeter as rm
from rankmeter._core import driver, ids, rounded
from rankmeter._core.doors import mappings, text_rows
from rankmeter._core.experiments import resampling
from rankmeter._core.metrics import rows
from rankmeter.naming.parsing import PARAMETERS, compile_metrics
from rankmeter.naming.rows import METRICS as ROWS

METRICS = ["ndcg@10", "map", "mrr", "recall@10", "precision@10", "hit@10"]
BUILT_IN = (RuntimeError, ValueError, TypeError, KeyError, IndexError, OverflowError)


# ---------------------------------------------------------------------------------------------
# Input that changes while it is read: any answer and any built-in exception, never a crash


def fresh(name: str, n: int) -> list[str]:
    """Strings that nobody else holds, so that clearing their container frees them."""
    return [f"{name} {i} {'x' * (i % 50)}" for i in range(n)]


class Meddler:
    """A score, a grade, or an id that calls something whenever it is looked at."""

    def __init__(self, meddle: Callable[[], object], hash_: int = 0) -> None:
        self.meddle = meddle
        self.hash = hash_

    def __float__(self) -> float:
        self.meddle()
        return 1.0

    def __hash__(self) -> int:
        if MEDDLING[0]:
            self.meddle()
        return self.hash

    def __eq__(self, other: object) -> bool:
        if MEDDLING[0]:
            self.meddle()
        return self is other

    def __lt__(self, other: object) -> bool:
        self.meddle()
        return id(self) < id(other)

    __gt__ = __lt__

    def __repr__(self) -> str:
        self.meddle()
        return "Meddler"


MEDDLING = [False]  # not while the containers are made


class Sequence:
    """A ranking that calls something for every item."""

    def __init__(self, meddle: Callable[[], object], ids: list[Any]) -> None:
        self.meddle = meddle
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, i: int) -> Any:
        self.meddle()
        return self.ids[i]


@contextlib.contextmanager
def meddling() -> Any:
    MEDDLING[0] = True
    try:
        yield
    finally:
        MEDDLING[0] = False


def overwrite(junk: list[Any]) -> None:
    """Use memory that was just freed for something else."""
    if len(junk) < 5_000:
        junk += [bytes(40 + i % 60) for i in range(500)]


def survive(call: Callable[[], object]) -> None:
    with contextlib.suppress(*BUILT_IN), meddling():
        call()


def change(container: Any, how: str) -> None:
    if how == "clear":
        container.clear()
    elif how == "grow":
        for i in range(100):
            if isinstance(container, list):
                container.append(f"new {i}")
            elif len(container) < 5_000:
                container[f"new {len(container)} {i}"] = 1.0
    elif isinstance(container, list):
        container[:] = fresh("other", len(container))
    else:
        for key in list(container):  # the same size, other values
            dict.__setitem__(container, key, 2.0)


Place = str
PLACES = ["score", "unread score", "grade", "doc of run", "doc of qrels", "query", "list", "items"]


def scene(place: Place, victim: str, how: str, wrap: Callable[[Any], Any]) -> None:
    junk: list[Any] = []
    ids = fresh("d", 40)
    judged: dict[Any, Any] = dict.fromkeys(ids[:20], 1)
    inner: Any = {doc: float(i % 3) for i, doc in enumerate(ids[10:])}
    if place == "list":
        inner = list(ids[10:])
    qrels: dict[Any, Any] = {"q": judged, "r": dict(judged)}
    run: dict[Any, Any] = {"q": inner, "r": dict.fromkeys(ids, 1.0)}
    victims = {"judged": judged, "inner": inner, "qrels": qrels, "run": run}

    def meddle() -> None:
        change(victims[victim], how)
        overwrite(junk)

    same_hash = hash(ids[12])
    if place == "score":
        inner[ids[12]] = Meddler(meddle)
    elif place == "unread score":
        inner["unjudged"] = Meddler(meddle)
    elif place == "grade":
        judged[ids[12]] = Meddler(meddle)
    elif place == "doc of run":
        inner[Meddler(meddle, same_hash)] = 1.0
    elif place == "doc of qrels":
        judged[Meddler(meddle, same_hash)] = 1
    elif place == "query":
        run = {Meddler(meddle, hash("q")): inner, **run}
        qrels = {Meddler(meddle, hash("r")): judged, **qrels}
        victims |= {"qrels": qrels, "run": run}
    elif place == "list":
        inner.insert(5, Meddler(meddle, same_hash))
    else:

        class Items(dict[Any, Any]):
            def items(self) -> Any:
                meddle()
                return super().items()

        run["q"] = Items(inner)
        qrels["r"] = Items(judged)
    del ids
    run["q"] = wrap(run["q"]) if isinstance(run["q"], dict) else run["q"]
    for ties in ("docid", "input"):
        survive(lambda ties=ties: rm.evaluate(qrels, run, METRICS, ties=ties))  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["clear", "grow", "replace"])
@pytest.mark.parametrize("victim", ["judged", "inner", "qrels", "run"])
@pytest.mark.parametrize("place", PLACES)
def test_evaluate_survives_input_that_changes(place: Place, victim: str, how: str) -> None:
    scene(place, victim, how, lambda mapping: mapping)
    scene(place, victim, how, lambda mapping: UserDict(mapping) if mapping else mapping)


@pytest.mark.parametrize("place", ["sequence", "id", "equal id", "tolist", "hash only"])
def test_the_single_functions_survive_judgments_that_change(place: str) -> None:
    """The ranking is read after the judgments, which must not be lost meanwhile."""
    for _ in range(30):
        junk: list[Any] = []
        ids = fresh("d", 300)
        qrels = dict.fromkeys(ids, 1)
        ranked: Any = list(ids[200:])
        del ids

        def meddle(qrels: Any = qrels, junk: Any = junk) -> None:
            qrels.clear()
            overwrite(junk)

        if place == "sequence":
            ranked = Sequence(meddle, ranked)
        elif place == "id":
            ranked = [Meddler(meddle), "a"]
        elif place == "equal id":
            ranked = ["a", Meddler(meddle, hash("a"))]
        elif place == "hash only":
            ranked = [Meddler(meddle, 7)]
        else:

            class Array(list[Any]):
                def tolist(self, meddle: Any = meddle) -> list[Any]:
                    meddle()
                    return ["a", "b"]

            ranked = Array()
        survive(lambda: rm.average_precision(ranked, qrels))  # noqa: B023
        survive(lambda: rm.retrieval_metrics(ranked, qrels))  # noqa: B023


def test_judgments_emptied_between_two_queries() -> None:
    """The garbage collector may run the caller's code at any allocation."""
    for _ in range(30):
        qrels: dict[Any, Any] = {}

        class Last:
            def __init__(self, qrels: Any = qrels) -> None:
                self.qrels = qrels
                self.itself = self

            def __del__(self) -> None:
                self.qrels.clear()

        class Grades(dict[Any, Any]):
            def items(self) -> Any:
                gc.collect()
                return super().items()

        for i in range(20):
            qrels[f"q{i}"] = (Grades if i % 5 == 1 else dict)(dict.fromkeys(fresh("d", 30), 1))
        Last()
        survive(lambda: rm.Evaluator(qrels, METRICS))  # noqa: B023


def test_an_evaluator_keeps_its_own_judgments() -> None:
    qrels: dict[Any, Any] = {"q": dict.fromkeys(fresh("d", 50), 1)}
    run = {"q": fresh("d", 50)}
    scorer = rm.Evaluator(qrels, METRICS)
    before = scorer.evaluate(run).values.tolist()
    qrels["q"].clear()
    qrels.clear()
    junk: list[Any] = []
    overwrite(junk)
    assert scorer.evaluate(run).values.tolist() == before


def test_one_evaluator_inside_itself() -> None:
    scorer = rm.Evaluator({"q": {"a": 1, "b": 2}}, METRICS)
    inside: list[list[list[float]]] = []

    class Score:
        def __float__(self) -> float:
            inside.append(scorer.evaluate({"q": {"a": 1.0, "x": 2.0, "b": 3.0}}).values.tolist())
            return 5.0

    outer = scorer.evaluate({"q": {"x": 9.0, "a": Score(), "b": 1.0}}).values.tolist()
    assert outer == scorer.evaluate({"q": ["x", "a", "b"]}).values.tolist()
    assert inside == [scorer.evaluate({"q": ["b", "x", "a"]}).values.tolist()]


class Failing:
    def __float__(self) -> float:
        raise ZeroDivisionError("of the caller")


def test_an_exception_of_the_callers_own_code_comes_through() -> None:
    with pytest.raises(ZeroDivisionError, match="of the caller"):
        rm.evaluate({"q": {"a": 1}}, {"q": {"a": Failing()}}, "mrr")
    with pytest.raises(ZeroDivisionError, match="of the caller"):
        rm.evaluate({"q": {"a": Failing()}}, {"q": ["a"]}, "mrr")


# ---------------------------------------------------------------------------------------------
# Memory


def careful(work: Callable[[], object]) -> None:
    with contextlib.suppress(ValueError, TypeError, ZeroDivisionError):
        work()


DOCS = [f"d{i}" for i in range(60)]
JUDGED: dict[str, Any] = {doc: i % 4 - 1 for i, doc in enumerate(DOCS[::2])}
SCORED: dict[str, Any] = {doc: float(i % 7) for i, doc in enumerate(DOCS)}


def jobs() -> dict[str, Callable[[], object]]:
    one = {"q": JUDGED}
    scorer = rm.Evaluator(one, METRICS)
    return {
        "scores": lambda: rm.evaluate(one, {"q": SCORED}, METRICS),
        "ties by input": lambda: rm.evaluate(one, {"q": SCORED}, METRICS, ties="input"),
        "list": lambda: rm.evaluate(one, {"q": DOCS}, METRICS),
        "array": lambda: rm.evaluate(one, {"q": np.array(DOCS)}, METRICS),
        "mappings": lambda: rm.evaluate(UserDict(one), {"q": UserDict(SCORED)}, METRICS),
        "evaluator": lambda: scorer.evaluate({"q": SCORED}),
        "twice, first": lambda: scorer.evaluate({"q": DOCS + DOCS}, duplicates="first"),
        "twice": lambda: scorer.evaluate({"q": DOCS + DOCS}),
        "tuple ids": lambda: rm.average_precision([(1, 2), (3, 4)], {(3, 4): 1}),
        "one": lambda: rm.ndcg_at_k(DOCS, JUDGED),
        "one, mapped": lambda: rm.ndcg_at_k(DOCS, JUDGED, gain={1: 1, 2: 5}),
        "five": lambda: rm.retrieval_metrics(DOCS, JUDGED),
        "nan score": lambda: scorer.evaluate({"q": SCORED | {"z": math.nan}}),
        "no score": lambda: scorer.evaluate({"q": SCORED | {"z": "1"}}),
        "failing score": lambda: scorer.evaluate({"q": SCORED | {"z": Failing()}}),
        "nan grade": lambda: rm.Evaluator({"p": JUDGED, "q": JUDGED | {"z": math.nan}}, METRICS),
        "failing grade": lambda: rm.average_precision(DOCS, JUDGED | {"z": Failing()}),
        "huge grade": lambda: rm.Evaluator({"q": JUDGED | {"z": 2000}}, METRICS),
        "huge grade, one": lambda: rm.ndcg_at_k(DOCS, JUDGED | {"z": 2000}),
        "lacking gain": lambda: rm.ndcg_at_k(DOCS, JUDGED, gain={1: 1}),
        "wrong gain": lambda: rm.ndcg_at_k(DOCS, JUDGED, gain={1: 1, 2: -1}),
        "twice, one": lambda: rm.average_precision([*DOCS, "d0"], JUDGED),
        "no ids": lambda: rm.average_precision([*DOCS, []], JUDGED),
        "numbers": lambda: rm.average_precision([1, 2], JUDGED),
        "no query": lambda: scorer.evaluate({"p": DOCS}),
        "no ranking": lambda: scorer.evaluate({"q": "text"}),
        "unordered ids": lambda: scorer.evaluate({"q": SCORED | {(1,): 1.0}}),
        "no metric": lambda: rm.evaluate(one, {"q": DOCS}, "ndgc@10"),
        "below one": lambda: rm.recall_at_k(DOCS, JUDGED, 0),
    }


# Without the GIL, Python frees some objects late, some hundred at a time.
ROUND = 100 if getattr(sys, "_is_gil_enabled", lambda: True)() else 3_000


@pytest.mark.parametrize("name", jobs())
def test_nothing_is_left_behind(name: str) -> None:
    """Neither Python objects nor references; memory of the core is looked at below."""
    work = jobs()[name]
    watched = [*DOCS, *JUDGED.values(), *SCORED.values(), JUDGED, SCORED]
    for _ in range(20):
        careful(work)
    gc.collect()
    counts = [sys.getrefcount(thing) for thing in watched]
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(6):
            for _ in range(ROUND):
                careful(work)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # A leak grows in every round, by an object a call; the free lists of others go up and down.
    growth = [after - before for before, after in itertools.pairwise(sizes)]
    assert min(growth) < 16 * ROUND, f"{growth} bytes more for every {ROUND} repetitions"
    # small integers are shared with everybody, and immortal from 3.12 on
    changed = [
        thing
        for thing, count in zip(watched, counts, strict=True)
        if not isinstance(thing, int) and abs(sys.getrefcount(thing) - count) > 2
    ]
    assert changed == []


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_memory_of_the_core_does_not_grow() -> None:
    """Each repetition takes some 400 kB for scratch; 200 lost ones would be 80 MB."""
    n = 5_000
    ids = [f"d{i}" for i in range(n)]
    judged: dict[str, Any] = dict.fromkeys(ids[::2], 1)
    scored: dict[str, Any] = {doc: float(i) for i, doc in enumerate(ids)}
    nan = scored | {ids[-1]: math.nan}
    scorer = rm.Evaluator({"q": judged}, ["map", "ndcg"])
    works: list[Callable[[], object]] = [
        lambda: scorer.evaluate({"q": scored}),
        lambda: scorer.evaluate({"q": nan}),
        lambda: scorer.evaluate({"q": ids}),
        lambda: scorer.evaluate({"q": [*ids, ids[0]]}),
        lambda: rm.Evaluator({"q": judged}, "map"),
        lambda: rm.Evaluator({"q": judged | {"z": math.inf}}, "map"),
        lambda: rm.average_precision(ids, judged),
        lambda: rm.average_precision([*ids, ids[0]], judged),
    ]
    for work in works:
        for _ in range(5):
            careful(work)
        gc.collect()
        before = resident()
        for _ in range(60):
            careful(work)
        gc.collect()
        assert resident() - before < 8_000_000


# ---------------------------------------------------------------------------------------------
# Threads


def test_many_threads_find_the_same_digits_while_the_discounts_grow() -> None:
    depths = [900, 1023, 1024, 1025, 2100, 5200, 9000, 17_000, 40_000]
    last = sys.getswitchinterval()
    jobs = []
    for depth in depths:
        ids = [f"d{i}" for i in range(depth)]
        judged = {"d0": 1, ids[depth // 2]: 2, ids[-1]: 3}
        run = {"q": {doc: -float(i) for i, doc in enumerate(ids)}, "r": ids}
        # the formula itself, for ranks that the table does not hold yet
        dcg = 1 + 3 / math.log2(depth // 2 + 2) + 7 / math.log2(depth + 1)
        ideal = 7 + 3 / math.log2(3) + 1 / 2
        jobs.append(
            (ids, judged, run, dcg / ideal, rm.Evaluator(dict.fromkeys("qr", judged), "ndcg"))
        )
    sys.setswitchinterval(1e-5)
    start = threading.Barrier(6)

    def work(seed: int) -> list[tuple[float, ...]]:
        start.wait()
        results: list[tuple[float, ...]] = [()] * len(jobs)
        for step in range(len(jobs)):
            i = (step * (seed % 2 * 2 - 1) + seed) % len(jobs)
            ids, judged, run, _, scorer = jobs[i]
            q, r = scorer.evaluate(run).values[:, 0].tolist()
            alone = rm.ndcg_at_k(ids, judged, len(ids))
            fresh = rm.evaluate({"q": judged}, run, "ndcg")["ndcg"]
            results[i] = (q, r, alone, fresh, rm.average_precision(ids, judged))
        return results

    try:
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(work, range(6)))
    finally:
        sys.setswitchinterval(last)
    assert all(results == found[0] for results in found)
    for (q, r, alone, fresh, _), (*_, expected, _) in zip(found[0], jobs, strict=True):
        assert q == r == alone == fresh == pytest.approx(expected, rel=1e-14)


# ---------------------------------------------------------------------------------------------
# Bad input: a built-in exception that names query, id and value


def says(error: type[Exception], *words: str) -> Any:
    pattern = "".join(f"(?=.*{word})" for word in words)
    return pytest.raises(error, match=rf"(?s)^{pattern}")


def score(ranking: Any, judged: Any = None, metrics: Any = "map", **options: Any) -> Any:
    if judged is None:
        judged = {"doc-A": 1}
    return rm.evaluate({"query-7": judged}, {"query-7": ranking}, metrics, **options)


@pytest.mark.parametrize("nan", [math.nan, np.float32("nan"), np.float64("nan")], ids=repr)
@pytest.mark.parametrize("doc", ["doc-A", "doc-B"])
def test_a_score_that_is_nan(doc: str, nan: Any) -> None:
    for wrap in (dict, UserDict):
        with says(ValueError, "query-7", doc, "NaN"):
            score(wrap({"x": 1.0, doc: nan}))


@pytest.mark.parametrize("value", [None, "0.5", b"1", [1], 1j, {}], ids=repr)
@pytest.mark.parametrize("doc", ["doc-A", "doc-B"])
def test_a_score_that_is_no_number(doc: str, value: Any) -> None:
    with says(TypeError, "query-7", doc, "score", "number"):
        score({"x": 1.0, doc: value})


@pytest.mark.parametrize("make", [np.array, np.float16, np.float32, np.float64, np.longdouble])
def test_a_score_of_numpy_is_a_number(make: Any) -> None:
    """Also one that has ``__index__`` and refuses to be an integer."""
    assert score({"x": make(0.75), "doc-A": make(0.5)})["map"] == 0.5


@pytest.mark.parametrize("value", [None, "1", [1], 1j], ids=repr)
@pytest.mark.parametrize("doc", ["doc-A", "doc-B"])
def test_a_grade_that_is_no_number(doc: str, value: Any) -> None:
    for wrap in (dict, UserDict):
        with says(TypeError, "query-7", doc, "grade", "number"):
            score(["doc-A"], wrap({"x": 1, doc: value}))


NO_NUMBERS = [
    np.complex128(1 + 9j), np.complex64(1), np.array(1 + 9j), np.array(1 + 0j), np.void(b"9"),
    np.array("9"), np.array(b"9"), np.array("9", object), np.bytes_(b"9"), np.str_("9"),
    np.datetime64(9, "ns"), np.array(9, "m8[ns]"),
]  # fmt: skip


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_numpy_would_make_a_number_of(value: Any) -> None:
    for wrap in (dict, UserDict):
        with says(TypeError, "query-7", "doc-A", "score", "number"):
            score(wrap({"x": 1.0, "doc-A": value}))
        with says(TypeError, "query-7", "doc-A", "grade", "number"):
            score(["doc-A"], wrap({"x": 1, "doc-A": value}))
    with says(TypeError, "doc-A", "number"):
        rm.recall_at_k(["doc-A"], {"doc-A": value}, 5)
    runs: dict[str, Any] = {name: {"q": {"doc-A": 1.0}, "r": {"doc-A": 1.0}} for name in "ab"}
    qrels = {"q": {"doc-A": 1}, "r": {"doc-A": 1}}
    with says(TypeError, "doc-A", "number"):
        rm.fuse({"a": {"q": {"doc-A": value}}})
    with says(TypeError, "weight", "number"):
        rm.fuse(runs, weights=[1, value])
    with says(TypeError, "weight", "number"):
        rm.sweep(runs, [value], qrels, "mrr", folds=2)
    ev = rm.evaluate(qrels, runs["a"], "mrr")
    with says(TypeError, "'q'", "number"):
        rm.risk_coverage(ev, "mrr", {"q": value, "r": 1.0})
    comparison = rm.compare({"a": ev, "b": ev})
    with says(TypeError, "difference", "number"):
        rm.resolution(comparison, difference=value)
    with says(TypeError, "rel must be a number"):
        rm.Metric("map", rel=value)
    with says(TypeError, "gain maps numbers to numbers"):
        rm.Metric("ndcg", 5, gain={1: value})


def test_arrays_of_what_is_no_number() -> None:
    for dtype in (complex, "U1", "M8[ns]", "m8[ns]", "V1"):
        wrong = np.ones((1, 2)).astype(dtype) if dtype != "V1" else np.zeros((1, 2), "V1")
        with pytest.raises(TypeError, match="scores"):
            rm.evaluate_scores(wrong, np.ones((1, 2)), "mrr")
        with pytest.raises(TypeError, match="labels"):
            rm.evaluate_scores(np.ones((1, 2)), wrong, "mrr")
        with pytest.raises(TypeError, match="grades"):
            rm.evaluate_grades(wrong, "mrr")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("inf")], ids=repr)
def test_a_grade_that_is_not_finite(value: Any) -> None:
    with says(ValueError, "query-7", "doc-B", "(inf|nan)"):
        score(["doc-A"], {"x": 1, "doc-B": value})
    with says(ValueError, "query-7", "doc-B"):
        score(["doc-A"], {"x": 1, "doc-B": 10**400})


@pytest.mark.parametrize("value", [1024, 1023.5, 1e300])
def test_a_grade_that_overflows(value: float) -> None:
    with says(ValueError, "query-7", "doc-B", "1023", "linear"):
        score(["doc-A"], {"x": 1, "doc-B": value}, ["map", "ndcg@10"])
    assert score(["doc-B"], {"doc-B": value}, ["map", "ndcg(gain=linear)"]).mean["map"] == 1.0
    assert score(["doc-B"], {"doc-B": 1023}, "ndcg")["ndcg"] == 1.0


@pytest.mark.parametrize("doc", ["doc-A", "doc-B"])
@pytest.mark.parametrize("wrap", [list, tuple, np.array])
def test_the_same_id_twice(wrap: Any, doc: str) -> None:
    ranked = wrap(["x", doc, "y", "z", doc])
    with says(ValueError, "query-7", doc, "2", "5", "first"):
        score(ranked)
    first = score(ranked, duplicates="first")["map"]
    assert first == score(["x", doc, "y", "z"])["map"]
    with says(ValueError, "'last'"):
        score(ranked, duplicates="last")


def test_an_unknown_metric_names_the_nearest() -> None:
    for wrong, right in {
        "ndgc@10": "'ndcg@10'",
        "recal@5": "'recall@5'",
        "p@5": "'precision@5'",
        "success@3": "'hit@3'",
        "reciprocal_rank": "'mrr'",
        "Map": "'map'",
    }.items():
        with says(ValueError, wrong, right):
            score(["doc-A"], metrics=["mrr@2", wrong])
    with says(ValueError, "zzzz", "recall", "ndcg"):
        score(["doc-A"], metrics="zzzz")


def test_an_ambiguous_metric_names_both_meanings() -> None:
    for wrong in ("nDCG@10", "NDCG@10"):
        with says(ValueError, wrong, r"'ndcg@10'", r"'ndcg@10\(gain=linear\)'"):
            score(["doc-A"], metrics=wrong)


@pytest.mark.parametrize("wrong", ["recall@0", "recall@-3", "mrr@1.5", "map@x", "ndcg@", "hit"])
def test_a_cutoff_that_is_wrong(wrong: str) -> None:
    with says(ValueError, wrong):
        score(["doc-A"], metrics=wrong)


@pytest.mark.parametrize("k", [2**63, 10**30, True, [5], "5", 2.0, None], ids=repr)
def test_a_number_that_is_no_cutoff(k: Any) -> None:
    for function in (rm.recall_at_k, rm.ndcg_at_k, rm.retrieval_metrics):
        with pytest.raises((TypeError, ValueError), match=r"^k must be"):
            function(["doc-A"], {"doc-A": 1}, k)


@pytest.mark.parametrize(
    "text", ["{1:3,1.0:4}", "{1:3,2:4, 1:3}", "{0:0,-0.0:0}"], ids=repr
)  # fmt: skip
def test_a_gain_that_is_given_twice(text: str) -> None:
    with says(ValueError, "ndcg@10", "gain of grade -?[01] is given twice"):
        rm.parse(f"ndcg@10(gain={text})")
    pairs = tuple(tuple(map(float, pair.split(":"))) for pair in text[1:-1].split(","))
    with says(ValueError, "is given twice"):
        rm.Metric("ndcg", 10, gain=pairs)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("set_f(beta=1e151)", "beta must be a number from 0 to 1e.150, not 1e.151"),
        ("set_f(beta=1e155,weight=plain)", "beta must be"),
        ("utility(a=1e308)", r"a must be a number from -1e\+100 to 1e\+100, not 1e.308"),
        ("utility(b=-1e101)", "b must be"),
        ("utility(c=1e101)", "c must be"),
        ("utility(d=1e101)", "d must be"),
        ("utility(documents=1e19)", "documents must be a number from 0 to 1e.18"),
    ],
)
def test_parameters_that_would_overflow(wrong: str, hint: str) -> None:
    with says(ValueError, hint):
        rm.parse(wrong)


def test_parameters_at_their_bounds_give_numbers() -> None:
    """Every number of every metric, as small and as large as it may be."""
    tiny = [0.0, 5e-324, 1e-300, 1e-9]
    candidates = [*tiny, *(1.0 - x for x in tiny[2:]), 1.0, 1023.0]
    candidates += [sign * x for x in (1e18, 1e100, 1e150, 1e154, 1.7e308) for sign in (1, -1)]
    qrels = {"q": {"a": 1, "b": 2, "c": 0, "d": 1, "e": -1}, "r": {"a": 1}, "s": {"a": 0}}
    runs: list[Any] = [
        {"q": {"a": 3.0, "x": 2.0, "b": 2.0, "c": 1.0, "e": 0.5}, "r": {"x": 1.0}, "s": {}},
        {"q": {}, "r": {"a": 1.0}, "s": {"x": 1.0}},
    ]
    metrics: dict[rm.Metric, None] = {}
    for name, row in ROWS.items():
        others = {"gain", "judged_only"} | {p for p in row.parameters if PARAMETERS[p].words}
        numbers = [p for p in row.parameters if p not in others]
        k = 3 if row.cutoff == "required" else None
        needed = {p: 0.5 for p in numbers if row.defaults[p] is None}
        for value in candidates:
            for words in ({}, {"weight": "plain"}, {"grading": "graded"}):
                for given in ({p: value} for p in numbers):
                    with contextlib.suppress(ValueError):
                        metrics[rm.Metric(name, k, **(needed | given | words))] = None  # type: ignore[arg-type]
            with contextlib.suppress(ValueError):
                metrics[rm.Metric(name, k, **dict.fromkeys(numbers, value))] = None
    for run in runs:
        fitting = [metric for metric in metrics if metric.name != "err" or metric.max >= 2]
        ev = rm.evaluate(qrels, run, fitting)
        wrong = ~np.isfinite(ev.values).all(axis=0)
        assert not wrong.any(), np.array(ev.metrics)[wrong]


@pytest.mark.parametrize(
    "gain", [{Fraction(1, 3): 1, 1 / 3: 2}, {2**53: 1, 2**53 + 1: 1}], ids=repr
)
def test_two_gains_of_one_grade(gain: Any) -> None:
    with says(ValueError, "two entries for one grade"):
        rm.ndcg_at_k(["a"], {"a": 1}, gain=gain)
    with says(ValueError, "two entries for one grade"):
        rm.Metric("ndcg", 2, gain=gain)


@pytest.mark.parametrize(
    ("wrong", "hints"),
    [
        ("nDCG@10(gain=linear)", ["'ndcg@10(gain=linear)'"]),
        ("P_5(rel=2)", ["'precision@5(rel=2)'"]),
        ("recall5", ["'recall@5'"]),
        ("mrr,map", ["pass a list"]),
    ],
)
def test_names_that_are_nearly_right(wrong: str, hints: list[str]) -> None:
    with says(ValueError, *map(re.escape, [wrong, *hints])):
        score(["doc-A"], metrics=wrong)


@pytest.mark.parametrize("none", [[], (), iter(())], ids=["list", "tuple", "iterator"])
def test_no_metric(none: Any) -> None:
    with says(ValueError, "metric"):
        score(["doc-A"], metrics=none)


@pytest.mark.parametrize("wrong", [None, 3, [None], [3], [["mrr"]], b"mrr"], ids=repr)
def test_what_is_no_metric(wrong: Any) -> None:
    with pytest.raises(TypeError):
        score(["doc-A"], metrics=wrong)


def test_no_query_in_common() -> None:
    with says(ValueError, "no query in common", "query-7", "query-8"):
        rm.evaluate({"query-7": {"a": 1}}, {"query-8": ["a"]}, "mrr")
    with says(ValueError, "no query in common", "number ids", "str ids"):
        rm.evaluate({"7": {"a": 1}}, {7: ["a"]}, "mrr")
    with says(ValueError, "no query"):
        rm.evaluate({}, {"q": ["a"]}, "mrr")


@pytest.mark.parametrize("ranking", [[1, 2], (1, 2), {1: 0.5, 2: 0.1}, np.array([1, 2])], ids=repr)
def test_ids_that_can_never_match(ranking: Any) -> None:
    with says(TypeError, "query-7", "number ids", "str ids", "'1'"):
        score(ranking, {"1": 1, "2": 0})
    with says(TypeError, "query-7", "number ids", "str ids"):
        score(ranking, {"2": 0})  # nothing relevant


def test_pairs_where_a_run_with_scores_is_meant() -> None:
    with says(TypeError, "query-7", "tuple ids", r"dict\(pairs\)"):
        score([("doc-A", 0.9), ("doc-B", 0.5)])


@pytest.mark.parametrize(
    "number", [Fraction(10**400), Decimal("sNaN"), 10**400], ids=["fraction", "nan", "int"]
)
def test_numbers_that_are_no_doubles(number: Any) -> None:
    with says(ValueError, "query-7", "grade", "doc-A"):
        score(["doc-A"], {"doc-A": number})
    if not isinstance(number, int):  # all integers can be compared
        with says(ValueError, "query-7", "score", "doc-A"):
            score({"doc-A": number})


@pytest.mark.parametrize(
    "ranking",
    [None, "doc-A", b"doc-A", {"doc-A"}, 3, iter(["doc-A"])],
    ids=lambda ranking: type(ranking).__name__,
)
def test_what_is_no_ranking(ranking: Any) -> None:
    with says(TypeError, "query-7", type(ranking).__name__):
        score(ranking)


def test_none_is_no_id() -> None:
    for ranking in (["doc-A", None], ("doc-A", None), UserDict({"doc-A": 1.0, None: 0.5})):
        with says(TypeError, "query-7", "None"):
            score(ranking)
    with says(TypeError, "query-7", "None"):
        score(["doc-A"], {"doc-A": 1, None: 1})


def test_none_is_no_mapping() -> None:
    for qrels in (None, [], 3, {"query-7": None}, {"query-7": ["doc-A"]}):
        with says(TypeError, "mapping"):
            rm.evaluate(qrels, {"query-7": ["doc-A"]}, "mrr")  # type: ignore[arg-type]
    for run in (None, [], 3):
        with says(TypeError, "mapping"):
            rm.evaluate({"query-7": {"doc-A": 1}}, run, "mrr")  # type: ignore[arg-type]


@pytest.mark.parametrize("ids", [["doc-A"], {"doc-A"}, ("doc-A",), np.array(["doc-A"])], ids=repr)
def test_ids_without_grades(ids: Any) -> None:
    way = type(ids).__name__, r"dict\.fromkeys\(ids, 1\)"
    for call in (
        lambda: rm.evaluate({"query-7": ids}, {"query-7": ["doc-A"]}, "mrr"),
        lambda: rm.evaluate({"query-7": ids}, io.BytesIO(b"query-7 Q0 doc-A 1 1.0 t"), "mrr"),
        lambda: rm.Evaluator({"query-7": ids}, "mrr"),
    ):
        with says(TypeError, "query-7", *way):
            call()
    for call in (
        lambda: rm.reciprocal_rank(["doc-A"], ids),
        lambda: rm.ndcg_at_k(["doc-A"], ids, gain={1: 1}),
        lambda: rm.retrieval_metrics(["doc-A"], ids),
    ):
        with says(TypeError, *way):
            call()
    assert rm.reciprocal_rank(["doc-A"], dict.fromkeys(ids, 1)) == 1.0


def test_options_that_are_unknown() -> None:
    for option in ("ties", "missing", "duplicates"):
        for value in ("other", None):
            with says(ValueError, option, repr(value)):
                score(["doc-A"], **{option: value})


# ---------------------------------------------------------------------------------------------
# What nobody should call


def _judgments() -> mappings.JudgedMappings:
    return mappings.JudgedMappings({"q": {"a": 1}}, compile_metrics("map")[1])


MADE_OF_NOTHING: Any = rows.MetricRow.__new__(rows.MetricRow)
SHAPE = (3, 1, 1)
NUMBERS = [0.0, -0.0, -1.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize(
    "call",
    [
        lambda none: driver.Metrics([(none, 5, {})]),
        lambda none: driver.Metrics([(MADE_OF_NOTHING, None, {})]),
        lambda none: driver.Metrics([(ROWS["map"], None, none)]),
        lambda none: driver.Metrics(none),
        lambda none: mappings.score_one(
            MADE_OF_NOTHING, ["a"], {"a": 1}, None, 1, "linear", "log2", "error"
        ),
        lambda none: mappings.score_one(none, ["a"], {"a": 1}, None, 1, "linear", "log2", "error"),
        lambda none: mappings.score_all(none, ["a"], {"a": 1}, "error"),
        lambda none: _judgments().evaluate(
            none, "docid", "error", np.zeros(SHAPE), np.zeros(1, np.uint8)
        ),
        lambda none: _judgments().evaluate({"q": ["a"]}, "docid", "error", none, none),
        lambda none: _judgments().score_missing(none, none),
        lambda none: _judgments().mark_answerable(none),
        lambda none: text_rows.number_of(none),
        lambda none: ids.add_types([], none),
        lambda none: resampling.flip_all_signs(none, 0),
        lambda none: resampling.bootstrap_sums(none, 0, 1, 0, none),
        lambda none: rounded.geometric_means(none, 1.0),
        lambda none: rounded.exact_means(none),
    ],
)
def test_nothing_where_the_core_wants_something(call: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)):
        call(None)


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_have_no_logarithm(number: float) -> None:
    with says(ValueError, "no logarithm"):
        rounded.logarithms(np.array([1.0, number]))
    if not number < 1.0:
        with says(ValueError, "no logarithm"):
            rounded.geometric_means(np.array([[1.0], [number]]), 0.5)
    with says(ValueError, "least number must be above 0 and finite"):
        rounded.geometric_means(np.array([[1.0]]), number)


@pytest.mark.parametrize("number", [1e308, -1e308, 700.0, -700.0, math.inf, math.nan])
def test_powers_that_are_too_large(number: float) -> None:
    with says(ValueError, "too far"):
        rounded.exponential_of(number)
