"""The same run in another order, of other types, or elsewhere in memory: the same digits.

And nothing in how it lies makes it cost more than a little more. What a cost is made of is counted.
"""

from __future__ import annotations

import random
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Floatable

import rankmeter as rm

METRICS = ["ndcg@3", "ndcg", "map", "mrr", "recall@5", "precision@2", "bpref", "judged@4"]
TIES: list[Any] = ["docid", "input", "expected"]

Runs = tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]


@st.composite
def plain_runs(draw: st.DrawFn) -> Runs:
    """Judgments and a run of text and small integers, with ties."""
    queries = [f"q{i}" for i in range(draw(st.integers(1, 4)))]
    pool = [f"d{i}" for i in range(draw(st.integers(1, 60)))]
    some = st.lists(st.sampled_from(pool), unique=True, min_size=1)
    numbers = st.integers(-4, draw(st.sampled_from([0, 9, 1000])))
    return (
        {q: {d: draw(st.integers(-1, 3)) for d in draw(some)} for q in queries},
        {q: {d: draw(numbers) for d in draw(some)} for q in queries},
    )


def digits(qrels: Any, run: Any, ties: Any) -> Any:
    """All that is computed, to the bit, or what is wrong."""
    metrics = METRICS if ties != "expected" else [m for m in METRICS if m != "bpref"]
    ev = rm.evaluate(qrels, run, metrics, ties=ties)
    return ev.values.tobytes(), [side.values.tobytes() for side in ev.bounds]


# ---------------------------------------------------------------------------------------------
# The same digits


class Dict(dict):  # type: ignore[type-arg]
    """A dict that is not exactly a dict."""


class Loud(dict):  # type: ignore[type-arg]
    """A dict of whose own methods items() makes no use."""

    def fail(self, *_: Any) -> Any:
        raise AssertionError("nobody asked for this")

    __getitem__ = __contains__ = get = keys = values = __missing__ = fail


class Forwarding(Mapping[Any, Any]):
    """A mapping of somebody else's making."""

    def __init__(self, given: dict[Any, Any]) -> None:
        self.given = given

    def __getitem__(self, key: Any) -> Any:
        return self.given[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def in_order(given: dict[Any, Any]) -> OrderedDict[Any, Any]:
    """The same order, but not in memory."""
    ordered = OrderedDict(reversed(given.items()))
    for key in given:
        ordered.move_to_end(key)
    return ordered


def with_holes(given: dict[Any, Any]) -> dict[Any, Any]:
    """A dict from which something was taken."""
    full: dict[Any, Any] = {}
    for i, (key, value) in enumerate(given.items()):
        full |= {f"gone {i}": 1e9, key: value}
    for i in range(len(given)):
        del full[f"gone {i}"]
    return full


def of_an_object(given: dict[Any, Any]) -> dict[str, Any]:
    """The dict of attributes, which shares its keys with others of its class."""

    class Named:
        pass

    for other in (Named(), Named()):
        vars(other).update(given)
    return vars(other)


MAPPINGS: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "subclass": Dict,
    "loud": Loud,
    "defaultdict": lambda d: defaultdict(dict, d),
    "OrderedDict": OrderedDict,
    "OrderedDict, moved": in_order,
    "UserDict": UserDict,
    "UserDict of another": lambda d: UserDict(UserDict(d)),
    "MappingProxyType": MappingProxyType,
    "MappingProxyType of another": lambda d: MappingProxyType(Forwarding(d)),
    "ChainMap": lambda d: ChainMap({}, d),
    "Mapping": Forwarding,
    "with holes": with_holes,
    "of an object": of_an_object,
}
IDS: dict[str, Callable[[str], Any]] = {
    "another object": lambda d: "".join(list(d)),
    "bytes": str.encode,
    "numpy's text": np.str_,
    "subclass": type("Text", (str,), {}),
    "tuples": lambda d: ("corpus", d),
    "named tuples": lambda d: Pair("corpus", d),
    "tuples of numpy's": lambda d: (np.str_(d), np.int64(7)),
}
NUMBERS: dict[str, Callable[[int], Any]] = {
    "float": float,
    "subclass of float": type("Float", (float,), {}),
    "subclass of int": type("Int", (int,), {}),
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "int64": np.int64,
    "int16": np.int16,
    "Decimal": Decimal,
    "Fraction": Fraction,
    "__float__": lambda n: Floatable(float(n)),
    "beyond doubles": lambda n: 2**60 + n,
    "beyond doubles, of numpy": lambda n: np.int64(2**60 + n),
    "one of another type": lambda n: np.float32(n) if n == 0 else n,
}
GRADES = {kind: NUMBERS[kind] for kind in NUMBERS if not kind.startswith("beyond")}


class Pair(tuple[str, str]):
    """A subclass of tuple."""

    __slots__ = ()

    def __new__(cls, *parts: str) -> Pair:
        return super().__new__(cls, parts)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("mapping", MAPPINGS)
@settings(max_examples=20)
@given(plain=plain_runs())
def test_other_mappings(mapping: str, ties: Any, plain: Runs) -> None:
    qrels, run = plain
    kind = MAPPINGS[mapping]
    expected = digits(qrels, run, ties)
    inner = {q: kind(scores) for q, scores in run.items()}
    judged = {q: kind(grades) for q, grades in qrels.items()}
    assert digits(judged, inner, ties) == expected
    assert digits(kind(judged), kind(inner), ties) == expected


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("ids", IDS)
@settings(max_examples=20)
@given(plain=plain_runs())
def test_other_ids(ids: str, ties: Any, plain: Runs) -> None:
    qrels, run = plain
    kind = IDS[ids]
    changed = {q: {kind(d): score for d, score in scores.items()} for q, scores in run.items()}
    judged = {q: {kind(d): grade for d, grade in grades.items()} for q, grades in qrels.items()}
    assert digits(judged, changed, ties) == digits(qrels, run, ties)
    lists = {q: list(scores) for q, scores in run.items()}
    changed_lists = {q: list(scores) for q, scores in changed.items()}
    expected = digits(qrels, lists, ties)
    assert digits(judged, changed_lists, ties) == expected
    if ids in ("another object", "numpy's text", "subclass"):  # these equal the plain ones
        assert digits(qrels, changed_lists, ties) == digits(judged, lists, ties) == expected


@pytest.mark.parametrize("kind", [np.int64, np.uint8, type("Int", (int,), {})])
@settings(max_examples=20)
@given(plain=plain_runs())
def test_integers_as_ids(kind: Any, plain: Runs) -> None:
    exact, other = ([{q: {of(d[1:]): n for d, n in ds.items()} for q, ds in side.items()}
                     for side in plain] for of in (int, lambda d: kind(int(d))))  # fmt: skip
    for ties in TIES:
        assert digits(*other, ties) == digits(*exact, ties)
        assert digits(other[0], exact[1], ties) == digits(exact[0], other[1], ties)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("numbers", NUMBERS)
@settings(max_examples=20)
@given(plain=plain_runs())
def test_other_numbers(numbers: str, ties: Any, plain: Runs) -> None:
    qrels, run = plain
    kind = NUMBERS[numbers]
    changed = {q: {d: kind(n) for d, n in scores.items()} for q, scores in run.items()}
    expected = digits(qrels, run, ties)
    assert digits(qrels, changed, ties) == expected
    assert digits(qrels, {q: Dict(d) for q, d in changed.items()}, ties) == expected
    if numbers in GRADES:
        judged = {q: {d: kind(n) for d, n in grades.items()} for q, grades in qrels.items()}
        assert digits(judged, run, ties) == expected


@settings(max_examples=20)
@given(plain=plain_runs(), seed=st.randoms())
def test_another_order(plain: Runs, seed: random.Random) -> None:
    qrels, run = plain

    def shuffled(given: dict[Any, Any]) -> dict[Any, Any]:
        return dict(seed.sample(list(given.items()), len(given)))

    other = {q: shuffled(scores) for q, scores in shuffled(run).items()}
    judged = {q: shuffled(grades) for q, grades in qrels.items()}
    for ties in ("docid", "expected"):
        assert digits(judged, other, ties) == digits(qrels, run, ties)


# ---------------------------------------------------------------------------------------------
# What a subclass overrides


class Other(dict):  # type: ignore[type-arg]
    """A dict that says something else than it holds."""

    def items(self) -> Any:
        return {"b": 2.0, "a": 1.0, "c": 0.5}.items()


class OtherOrdered(OrderedDict[str, float]):
    def items(self) -> Any:
        return Other().items()


@pytest.mark.parametrize("kind", [Other, OtherOrdered])
def test_items_of_a_subclass_are_what_counts(kind: Any) -> None:
    given = kind({"x": 9.0, "a": 3.0})
    assert rm.evaluate({"q": {"a": 1}}, {"q": given}, "mrr")["mrr"] == 0.5
    assert rm.evaluate({"q": given}, {"q": ["c"]}, "recall@1(rel=0.5)").values[0, 0] == 1 / 3
    assert rm.evaluate({"q": {"a": 1}}, {"q": MappingProxyType(given)}, "mrr")["mrr"] == 0.5


def test_numbers_of_a_subclass_are_what_they_hold() -> None:
    class Negative(float):
        def __float__(self) -> float:
            return -1.0

    class NegativeInt(int):
        def __float__(self) -> float:
            return -1.0

        __index__ = __int__ = __float__  # type: ignore[assignment]

    for kind in (Negative, NegativeInt):
        run = {"q": {"x": kind(9), "a": kind(3), "b": kind(2)}}
        assert rm.evaluate({"q": {"a": 1}}, run, "mrr")["mrr"] == 0.5
        assert rm.evaluate({"q": {"a": kind(1), "b": kind(0)}}, run, "recall@2")["recall@2"] == 1


def test_a_float_of_another_class_is_asked() -> None:
    class Number(np.float32):
        def __float__(self) -> float:
            return 5.0

    run = {"q": {"x": 4.0, "a": Number(3.0)}}
    assert rm.evaluate({"q": {"a": 1}}, run, "mrr")["mrr"] == 1.0


# ---------------------------------------------------------------------------------------------
# Costs, counted


class Counted(str):
    """Text that counts how often it is hashed or compared."""

    __slots__ = ()
    count = 0

    def __hash__(self) -> int:
        Counted.count += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        Counted.count += 1
        return str.__eq__(self, other)


def counted(work: Callable[[], Any]) -> int:
    Counted.count = 0
    work()
    return Counted.count


@pytest.mark.parametrize("mapping", ["subclass", "OrderedDict", "UserDict", "MappingProxyType"])
@pytest.mark.parametrize("number", [float, np.float32])
def test_documents_of_a_run_are_neither_hashed_nor_copied(mapping: str, number: Any) -> None:
    scores = {Counted(f"d{i}"): number(i) for i in range(1000)}
    run = {"q": MAPPINGS[mapping](scores)}
    qrels = {"q": {"d3": 1, "d500": 2, "nowhere": 1}}
    assert counted(lambda: rm.evaluate(qrels, run, METRICS)) <= 10
