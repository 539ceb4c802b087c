"""Generated qrels, runs and metrics, for hypothesis.

The metrics come from the rows of ``METRICS``: a new row joins every property test by existing. Only
a new *parameter* needs a line in ``PARAMETERS`` below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rankmeter.naming.parsing import parse
from rankmeter.naming.rows import METRICS

Qrels = dict[Hashable, dict[Hashable, Any]]
Run = dict[Hashable, Any]


@dataclass
class Example:
    """One call of ``evaluate``."""

    qrels: Qrels
    run: Run
    metrics: list[str]
    options: dict[str, Any] = field(default_factory=dict)


class Floatable:
    """A number of somebody else's making: all it has is ``__float__``."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"Floatable({self.value!r})"


# Characters whose order in UTF-8 differs from that in UTF-16, in a locale or in a signed char; a
# lone surrogate has no UTF-8 but must have a place. The empty string is an id like any other.
texts = st.text(
    st.sampled_from(["a", "b", "Z", "\x00", "\x7f", "é", "中", "\ud800", "\udfff", "\uffff", "😀"]),
    max_size=3,
)
# 0 and 2**61 - 1 have the same hash in CPython, -1 and -2 too.
integers = st.one_of(
    st.integers(-4, 12),
    st.sampled_from([2**61 - 1, 2**63 - 1, 2**63, 2**64 + 1, -(2**63), -(2**63) - 1, -(2**70)]),
)


def id_pools(largest: int = 14) -> st.SearchStrategy[list[Hashable]]:
    """Different ids of one type."""
    return st.one_of(
        st.lists(texts, min_size=3, max_size=largest, unique=True),
        st.lists(integers, min_size=3, max_size=largest, unique=True),
        st.integers(1, largest).map(lambda n: [f"d{i}" for i in range(n)]),
        st.just(
            ["\uffff", "\U00010000", "\ud800", "\udfff", "中", "é", "~", "", "a\x00", "a", "ab"]
        ),
    )


grades = st.one_of(
    st.integers(-2, 4),
    st.sampled_from([0, 1, 1, 1, 2, 3]),
    st.booleans(),
    st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.75, -0.5, -0.0, 0.1]),
    st.floats(-2, 9).filter(lambda grade: not 0 < grade < 1e-290),  # see test_digits for those
    st.sampled_from([np.int8(2), np.int64(1), np.uint16(3), np.float32(0.1), np.float64(1.5)]),
    st.sampled_from([np.bool_(True), np.float16(0.3), np.int32(-1)]),
)

# Few different scores, so that ties are common; whole numbers that a double cannot tell apart;
# neighbours in double that are equal in float.
scores = st.one_of(
    st.sampled_from([0.0, 0.5, 1.0, 1, 2, True, False]),
    st.sampled_from([0.0, -0.0, float("inf"), float("-inf"), 1e-320, -1.5, 1.7976931348623157e308]),
    st.sampled_from([2**53, 2**53 + 1, float(2**53), -(2**53) - 1, 2**63 + 1, 2**64, 10**22 + 1]),
    st.sampled_from([0.1, 0.10000000000000002, np.float32(0.1), np.float64(0.1), np.int64(1)]),
    st.sampled_from([np.int32(2), np.float16(0.5), np.bool_(True), np.uint8(1), np.float32("inf")]),
    st.sampled_from([Floatable(1.0), Floatable(0.5), Fraction(1, 2), Decimal("0.1")]),
)
neighbours = st.sampled_from([2**53 + 1, 2**53, float(2**53), 2**53 + 2, np.int64(2**53 + 1)])
plain_scores = st.one_of(
    st.floats(allow_nan=False), st.sampled_from([0.0, 0.25, 0.5]), st.integers(-3, 3)
)


@st.composite
def rankings(draw: st.DrawFn, pool: list[Hashable], duplicates: bool) -> list[Hashable]:
    """Some or all ids of the pool, in any order; with ``duplicates``, perhaps some again."""
    ids = draw(st.permutations(pool))[: draw(st.integers(0, 2 * len(pool)))]
    if duplicates and ids and draw(st.booleans()):
        again = st.tuples(st.integers(0, len(ids)), st.sampled_from(ids))
        for place, doc in draw(st.lists(again, max_size=3)):
            ids.insert(place, doc)
    return ids


@st.composite
def scored(draw: st.DrawFn, pool: list[Hashable]) -> dict[Hashable, Any]:
    """Some ids of the pool with their scores, in any order; often only a few different ones."""
    docs = draw(rankings(pool, False))
    values = draw(st.sampled_from([scores, plain_scores, neighbours]))
    if draw(st.integers(0, 3)):
        values = st.sampled_from(draw(st.lists(values, min_size=1, max_size=4)))
    return {doc: draw(values) for doc in docs}


@st.composite
def judgments(draw: st.DrawFn, pool: list[Hashable]) -> dict[Hashable, Any]:
    """Some ids of the pool with their grades."""
    docs = draw(st.permutations(pool))[: draw(st.integers(0, 2 * len(pool)))]
    return {doc: draw(grades) for doc in docs}


# ---------------------------------------------------------------------------------------------
# Metrics, from the rows


def _gains(positive: list[float]) -> st.SearchStrategy[str]:
    """A gain for each grade that the qrels hold; the grades at and below 0 may be there too."""

    def spell(gains: list[float], with_zero: bool) -> str:
        pairs = [f"{g!r}:{v!r}" for g, v in zip(positive, gains, strict=True)]
        return "{" + ",".join((["0:0"] if with_zero else []) + (pairs or ["1:1"])) + "}"

    gain = st.sampled_from([0, 0.5, 1, 2, 3, 7.25, 1e-3])
    return st.builds(
        spell, st.lists(gain, min_size=len(positive), max_size=len(positive)), st.booleans()
    )


def _highest_grades(positive: list[float]) -> st.SearchStrategy[str]:
    """A highest grade that no grade of the qrels is above."""
    least = max(1, math.ceil(max(positive, default=1)))
    return st.sampled_from([least, least + 1, least + 7]).map(str)


PARAMETERS: Mapping[str, Callable[[list[float]], st.SearchStrategy[str]]] = {
    "rel": lambda positive: st.sampled_from(["1", "2", "3", "0.5", "1.5", "1.0"]),
    "gain": lambda positive: st.one_of(
        st.sampled_from(["exponential", "linear"]), _gains(positive)
    ),
    "discount": lambda positive: st.sampled_from(["log2", "jarvelin"]),
    "judged_only": lambda positive: st.sampled_from(["true", "false"]),
    "norm": lambda positive: st.sampled_from(["all", "capped"]),
    "multiple": lambda positive: st.sampled_from(["1", "0.01", "0.2", "0.5", "0.7", "1.5", "3"]),
    "recall": lambda positive: st.one_of(
        st.integers(0, 10).map(lambda i: repr(i / 10)),
        st.sampled_from(["0", "1", "0.25", "0.75", "0.01", "0.999", "0.3333"]),
    ),
    "rounding": lambda positive: st.sampled_from(["nearest", "up"]),
    "p": lambda positive: st.sampled_from(["0.8", "0.5", "0.95", "0.1", "0.001", "0.999"]),
    "grading": lambda positive: st.sampled_from(["binary", "graded"]),
    "max": _highest_grades,
    "beta": lambda positive: st.sampled_from(["1", "2", "0.5", "0.1", "3.7"]),
    "weight": lambda positive: st.sampled_from(["squared", "plain"]),
    **{
        name: lambda positive: st.sampled_from(["0", "1", "-1", "0.5", "-2.25", "0.1", "100"])
        for name in "abcd"
    },
    "negative": lambda positive: st.sampled_from(["unjudged", "judged"]),
    "documents": lambda positive: st.sampled_from(["0", "10", "1000", "8841823"]),
}


def _must_be_written(name: str, parameter: str, positive: list[float]) -> bool:
    """Whether the metric cannot be had without the parameter."""
    if (name, parameter) == ("iprec", "recall"):
        return True  # it has no default
    # The default of err must not be below a grade.
    return (name, parameter) == ("err", "max") and max(positive, default=0) > 4


@st.composite
def metric_texts(draw: st.DrawFn, positive: list[float], name: str | None = None) -> str:
    """A metric of any row, with any of its parameters, spelled in the package's own way."""
    row = METRICS[name or draw(st.sampled_from(sorted(METRICS)))]
    text = row.name
    if row.cutoff == "required" or (row.cutoff == "optional" and draw(st.booleans())):
        text += f"@{draw(st.sampled_from([1, 2, 3, 5, 10, 1000]))}"
    parameters = [
        f"{parameter}={draw(PARAMETERS[parameter](positive))}"
        for parameter in row.parameters
        if _must_be_written(row.name, parameter, positive) or draw(st.integers(0, 2)) == 0
    ]
    return f"{text}({','.join(parameters)})" if parameters else text


def positive_grades(qrels: Qrels) -> list[float]:
    """Each grade above 0, once."""
    return sorted({float(g) for judged in qrels.values() for g in judged.values() if float(g) > 0})


# ---------------------------------------------------------------------------------------------
# Whole calls


@st.composite
def examples(draw: st.DrawFn, *, valid: bool = False) -> Example:
    """Any call of ``evaluate`` whose types are right; ``valid``: that is not refused either."""
    pool = draw(id_pools())
    queries = draw(st.permutations(["a", "b", "c", "é", 0, 1]))
    both, judged_only, answered_only = queries[:3], queries[3:4], queries[4:]
    shared = 0 if not valid and draw(st.integers(0, 24)) == 7 else draw(st.integers(1, 3))
    judged = both[:shared] + judged_only[: draw(st.integers(0 if shared else 1, 1))]
    answered = answered_only[: draw(st.integers(0, 2))] + both[:shared][::-1]

    duplicates = draw(st.sampled_from(["error", "first"]))
    entries = st.one_of(scored(pool), rankings(pool, duplicates == "first"))
    if not valid:
        entries = st.one_of(entries, rankings(pool, True))
    qrels: Qrels = {query: draw(judgments(pool)) for query in judged}
    positive = positive_grades(qrels)
    if not valid and positive and draw(st.booleans()):
        positive.pop()  # a grade without a gain, should a mapping be drawn
    missing = ["zero", "skip"] if valid else ["zero", "skip", "zero", "skip", "error"]
    return Example(
        qrels=qrels,
        run={query: draw(entries) for query in answered},
        metrics=draw(st.lists(metric_texts(positive), min_size=1, max_size=5, unique_by=parse)),
        options={
            "ties": draw(st.sampled_from(["docid", "input"])),
            "missing": draw(st.sampled_from(missing)),
            "duplicates": duplicates,
        },
    )
