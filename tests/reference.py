"""Every metric again, in plain slow Python, straight from its formula.

Nothing here is shared with the package: the run is sorted, the ranks are counted, each formula is
written as in a text book. Only the order of the float operations is the pinned one, so that the
package and this file must agree to the last bit.

``REFERENCE`` names one function for each metric, ``evaluate`` scores many queries with them, and
``HAND`` holds small rankings whose values were worked out on paper.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import log2
from numbers import Integral
from typing import Any, TypeVar

T = TypeVar("T")
Ranked = Sequence[Hashable]
Grades = Mapping[Hashable, float]

# ---------------------------------------------------------------------------------------------
# Constants, rounded once from sixty decimal digits


def _sixty_digits() -> Any:
    return localcontext(Context(prec=60))


@cache
def log2_discount(rank: int) -> float:
    """1 / log2(rank + 1)."""
    with _sixty_digits():
        return float(Decimal(2).ln() / Decimal(rank + 1).ln())


def jarvelin_discount(rank: int) -> float:
    """1 / max(1, log2(rank)): the other discount, one rank later."""
    return 1.0 if rank <= 2 else log2_discount(rank - 1)


@cache
def exponential_gain(grade: float) -> float:
    """2**grade - 1."""
    if grade <= 0:
        return 0.0
    if grade > 1023:
        raise ValueError(f"2**{grade} is too large")
    if grade == int(grade):
        # An exact integer: 2**54 - 1 lies half-way between two doubles, where digits do not help.
        return float(2 ** int(grade) - 1)
    with _sixty_digits():
        exponent = Decimal(grade) * Decimal(2).ln()
        if exponent >= 1:
            return float(exponent.exp() - 1)
        # exp(x) - 1 would cancel for a small x, its series does not.
        total = term = exponent
        n = 1
        while total + term != total:
            n += 1
            term = term * exponent / n
            total += term
        return float(total)


def linear_gain(grade: float) -> float:
    """The grade itself; a negative one gains nothing."""
    return grade if grade > 0 else 0.0


DISCOUNTS: dict[str, Callable[[int], float]] = {
    "log2": log2_discount,
    "jarvelin": jarvelin_discount,
}


def gain_function(gain: str | Mapping[float, float]) -> Callable[[float], float]:
    """Turn the parameter ``gain`` into a function of the grade."""
    if gain == "exponential":
        return exponential_gain
    if gain == "linear":
        return linear_gain
    if isinstance(gain, str):
        raise ValueError(f"no such gain: {gain}")
    table = {float(grade): float(value) for grade, value in gain.items()}
    for grade, value in table.items():
        if not math.isfinite(grade) or not math.isfinite(value) or value < 0:
            raise ValueError(f"bad gain {value} of grade {grade}")
        if grade <= 0 and value != 0:
            raise ValueError(f"grade {grade} cannot gain {value}")

    def look_up(grade: float) -> float:
        if grade <= 0:
            return 0.0
        if grade not in table:
            raise ValueError(f"the mapping has no gain of grade {grade}")
        return table[grade]

    return look_up


# ---------------------------------------------------------------------------------------------
# The formulas: ids best first, grade of each judged id, cut-off, parameters


def _top(in_order: Sequence[T], k: int | None) -> Sequence[T]:
    return in_order if k is None else in_order[:k]


def _relevant(grades: Grades, rel: float) -> int:
    return sum(1 for grade in grades.values() if grade >= rel)


def _found(ranked: Ranked, grades: Grades, k: int | None, rel: float) -> list[int]:
    """Ranks of the relevant documents, best first."""
    return [
        rank for rank, doc in enumerate(_top(ranked, k), 1) if doc in grades and grades[doc] >= rel
    ]


def recall(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Relevant in the top k / all relevant."""
    relevant = _relevant(grades, rel)
    return len(_found(ranked, grades, k, rel)) / relevant if relevant else 0.0


def precision(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Relevant in the top k / k."""
    assert k is not None
    return len(_found(ranked, grades, k, rel)) / k


def hit(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """1 if anything relevant is in the top k."""
    return 1.0 if _found(ranked, grades, k, rel) else 0.0


def mrr(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """1 / rank of the first relevant document."""
    found = _found(ranked, grades, k, rel)
    return 1 / found[0] if found else 0.0


def average_precision(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """(sum of precision at each relevant rank) / all relevant."""
    relevant = _relevant(grades, rel)
    total = 0.0
    for i, rank in enumerate(_found(ranked, grades, k, rel), 1):
        total += i / rank
    return total / relevant if relevant else 0.0


def ndcg(
    ranked: Ranked,
    grades: Grades,
    k: int | None,
    gain: str | Mapping[float, float] = "exponential",
    discount: str = "log2",
) -> float:
    """DCG / DCG of all judged documents in order of gain."""
    if discount not in DISCOUNTS:
        raise ValueError(f"no such discount: {discount}")
    gain_of = gain_function(gain)
    gains = {doc: gain_of(grade) for doc, grade in grades.items()}

    def dcg(in_order: Iterable[float]) -> float:
        total = 0.0
        for rank, value in enumerate(in_order, 1):
            if value:  # a gain of zero adds nothing, and needs no constant
                total += value * DISCOUNTS[discount](rank)
        return total

    best = dcg(_top(sorted(gains.values(), reverse=True), k))
    return dcg(gains.get(doc, 0.0) for doc in _top(ranked, k)) / best if best else 0.0


REFERENCE: dict[str, Callable[..., float]] = {
    "recall": recall,
    "precision": precision,
    "hit": hit,
    "mrr": mrr,
    "map": average_precision,
    "ndcg": ndcg,
}


# ---------------------------------------------------------------------------------------------
# Many queries


def parse(text: str) -> tuple[str, int | None, dict[str, Any]]:
    """Split ``name[@k][(param=value,...)]``; only the package's own spelling."""
    match = re.fullmatch(r"([a-z]+)(?:@([0-9]+))?(?:\((.*)\))?", text)
    if match is None or match[1] not in REFERENCE or (match[2] and int(match[2]) < 1):
        raise ValueError(f"no such metric: {text}")
    parameters: dict[str, Any] = {}
    for part in re.findall(r"\w+=(?:\{[^}]*\}|[^,]*)", match[3] or ""):
        name, value = part.split("=", 1)
        parameters[name] = value if value.isidentifier() else ast.literal_eval(value)
    return match[1], int(match[2]) if match[2] else None, parameters


@dataclass(frozen=True)
class Result:
    """What the package's Evaluation must say too."""

    query_ids: tuple[Hashable, ...]
    per_query: dict[Hashable, dict[str, float]]
    lowest: dict[Hashable, dict[str, float]]  # over the orders that were looked at
    highest: dict[Hashable, dict[str, float]]
    mean: dict[str, float]
    coverage: dict[str, int]


def evaluate(
    qrels: Mapping[Any, Mapping[Any, Any]],
    run: Mapping[Any, Any],
    metrics: Sequence[str],
    *,
    ties: str = "docid",
    missing: str = "zero",
    duplicates: str = "error",
) -> Result:
    """Score each query of the qrels."""
    requests = {text: parse(text) for text in metrics}
    if not requests:
        raise ValueError("no metrics")
    if len(requests) < len(metrics):
        raise ValueError("the same name twice")
    cutoffs = [k for _, k, _ in requests.values()]
    depth = None if None in cutoffs else max(k for k in cutoffs if k is not None)

    judgments = {query: _grades(judged) for query, judged in qrels.items()}
    for grades in judgments.values():  # a judgment that cannot be scored is bad without a run too
        for name, k, parameters in requests.values():
            REFERENCE[name]([], grades, k, **parameters)

    found = [query for query in judgments if query in run]
    if not found:
        raise ValueError("no query in common")
    if missing == "error" and len(found) < len(judgments):
        raise ValueError("a query is missing from the run")
    scored = found if missing == "skip" else list(judgments)

    per_query: dict[Hashable, dict[str, float]] = {}
    lowest: dict[Hashable, dict[str, float]] = {}
    highest: dict[Hashable, dict[str, float]] = {}
    for query in scored:
        grades = judgments[query]
        entry = run.get(query, [])
        if ties == "expected":
            rankings = orders(entry, duplicates, depth)
        else:
            rankings = [ranking(entry, ties, duplicates, depth)]
        _refuse_types_that_cannot_match(rankings[0], grades)
        values = {
            text: [REFERENCE[name](ranked, grades, k, **parameters) for ranked in rankings]
            for text, (name, k, parameters) in requests.items()
        }
        per_query[query] = {text: _exact_mean(every) for text, every in values.items()}
        lowest[query] = {text: min(every) for text, every in values.items()}
        highest[query] = {text: max(every) for text, every in values.items()}
    return Result(
        query_ids=tuple(scored),
        per_query=per_query,
        lowest=lowest,
        highest=highest,
        mean={
            text: math.fsum(values[text] for values in per_query.values()) / len(per_query)
            for text in requests
        },
        coverage={
            "judged": len(judgments),
            "evaluated": len(found),
            "missing": len(judgments) - len(found),
            "unjudged": sum(1 for query in run if query not in judgments),
            "no_relevant": sum(1 for grades in judgments.values() if not _relevant(grades, 1.0)),
        },
    )


def ranking(entry: Any, ties: str, duplicates: str, depth: int | None) -> list[Hashable]:
    """Ids best first: a mapping is sorted by its scores, a sequence is ranked already."""
    if isinstance(entry, Mapping):
        return _by_score(entry, ties)
    if isinstance(entry, (str, bytes)) or not hasattr(type(entry), "__getitem__"):
        raise TypeError(f"not a ranking: {entry!r}")
    ids = list(entry)
    if duplicates == "first":
        return list(dict.fromkeys(ids))
    ids = ids[:depth]
    if len(set(ids)) < len(ids):
        raise ValueError(f"an id twice: {ids}")
    return ids


def orders(entry: Any, duplicates: str, depth: int | None) -> list[list[Hashable]]:
    """Every ranking that equal scores allow."""
    if not isinstance(entry, Mapping):
        return [ranking(entry, "input", duplicates, depth)]
    groups: dict[float | int, list[Hashable]] = {}
    for doc, score in entry.items():
        groups.setdefault(_score(score), []).append(doc)
    in_order = [groups[score] for score in sorted(groups, reverse=True)]
    assert math.prod(math.factorial(len(group)) for group in in_order) <= 5_040, "too many orders"
    return [
        [doc for group in choice for doc in group]
        for choice in itertools.product(*map(itertools.permutations, in_order))
    ]


def _exact_mean(values: Sequence[float]) -> float:
    return float(sum(map(Fraction, values)) / len(values))


def _by_score(scores: Mapping[Any, Any], ties: str) -> list[Hashable]:
    exact = {doc: _score(score) for doc, score in scores.items()}
    if ties == "input":
        return sorted(exact, key=lambda doc: exact[doc], reverse=True)
    return sorted(exact, key=lambda doc: (exact[doc], _id_order(doc)), reverse=True)


def _id_order(doc: Any) -> Any:
    return doc.encode("utf-8", "surrogatepass") if isinstance(doc, str) else doc


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)) or not hasattr(type(value), "__float__"):
        raise TypeError(f"not a number: {value!r}")
    return float(value)


def _score(value: Any) -> float | int:
    # A whole number is compared as what it is: 2**53 + 1 stands above 2**53.
    score = int(value) if isinstance(value, Integral) else _number(value)
    if score != score:
        raise ValueError("a score is NaN")
    return score


def _grades(judged: Mapping[Any, Any]) -> dict[Hashable, float]:
    if not isinstance(judged, Mapping):
        raise TypeError(f"not judgments: {judged!r}")
    grades = {}
    for doc, value in judged.items():
        try:
            grades[doc] = _number(value)
        except OverflowError:
            raise ValueError(f"grade {value} is too large") from None
        if not math.isfinite(grades[doc]):
            raise ValueError(f"grade {value} is not finite")
    return grades


def _refuse_types_that_cannot_match(ranked: Ranked, grades: Grades) -> None:
    texts = {isinstance(doc, str) for doc in ranked}, {isinstance(doc, str) for doc in grades}
    if texts in (({True}, {False}), ({False}, {True})):
        raise TypeError("ids of types that cannot match")


# ---------------------------------------------------------------------------------------------
# Worked out on paper


@dataclass(frozen=True)
class Hand:
    """One ranking and the value that its arithmetic gives: exact, or a formula in logarithms."""

    ranked: tuple[str, ...]
    qrels: dict[str, float]
    metric: str
    value: Fraction | float


# Three relevant (a, b, c), one judged not relevant (d), one judged negative (e); x, y, z unjudged.
# a, b and c stand at ranks 2, 4 and 5.
RANKED = ("x", "a", "d", "b", "c", "e", "y")
JUDGED: dict[str, float] = {"a": 1, "b": 3, "c": 2, "d": 0, "e": -1}


HAND: dict[str, list[Hand]] = {
    "recall": [
        Hand(RANKED, JUDGED, "recall@1", Fraction(0)),
        Hand(RANKED, JUDGED, "recall@4", Fraction(2, 3)),  # a and b of a, b, c
        Hand(RANKED, JUDGED, "recall@100", Fraction(1)),  # the list ends at rank 7
        Hand(RANKED, JUDGED, "recall@4(rel=2)", Fraction(1, 2)),  # b of b, c
        Hand(RANKED, {"d": 0}, "recall@5", Fraction(0)),  # nothing relevant to find
        Hand(("a",), {"a": 1, "b": 1, "c": 1, "z": 1}, "recall@1", Fraction(1, 4)),
    ],
    "precision": [
        Hand(RANKED, JUDGED, "precision@1", Fraction(0)),
        Hand(RANKED, JUDGED, "precision@4", Fraction(1, 2)),  # ranks 2 and 4 of four
        Hand(RANKED, JUDGED, "precision@5", Fraction(3, 5)),
        Hand(RANKED, JUDGED, "precision@10", Fraction(3, 10)),  # by k, not by the seven returned
        Hand(RANKED, JUDGED, "precision@5(rel=3)", Fraction(1, 5)),  # only b
    ],
    "hit": [
        Hand(RANKED, JUDGED, "hit@1", Fraction(0)),
        Hand(RANKED, JUDGED, "hit@2", Fraction(1)),
        Hand(RANKED, JUDGED, "hit@3(rel=2)", Fraction(0)),  # b comes at rank 4
        Hand(RANKED, {"d": 0, "e": -1}, "hit@9", Fraction(0)),
    ],
    "mrr": [
        Hand(RANKED, JUDGED, "mrr", Fraction(1, 2)),
        Hand(RANKED, JUDGED, "mrr@1", Fraction(0)),  # rank 2 lies outside
        Hand(RANKED, JUDGED, "mrr@2", Fraction(1, 2)),
        Hand(RANKED, JUDGED, "mrr(rel=2)", Fraction(1, 4)),  # b at rank 4
        Hand(RANKED, {"z": 1}, "mrr", Fraction(0)),  # never found
    ],
    "map": [
        # 1/2 at a, 2/4 at b, 3/5 at c: (1/2 + 1/2 + 3/5) / 3 = 8/15
        Hand(RANKED, JUDGED, "map", Fraction(8, 15)),
        # cut before c, still divided by three: (1/2 + 1/2) / 3
        Hand(RANKED, JUDGED, "map@4", Fraction(1, 3)),
        # only b and c count, at ranks 4 and 5: (1/4 + 2/5) / 2 = 13/40
        Hand(RANKED, JUDGED, "map(rel=2)", Fraction(13, 40)),
        # one of two is never found: (1/1) / 2
        Hand(("a", "x"), {"a": 1, "z": 1}, "map", Fraction(1, 2)),
        Hand(RANKED, {"d": 0}, "map", Fraction(0)),
    ],
    "ndcg": [
        # gains 1, 7, 3 at ranks 2, 4, 5; ideal 7, 3, 1 at ranks 1, 2, 3; log2(3 + 1) = 2
        Hand(
            RANKED,
            JUDGED,
            "ndcg",
            (1 / log2(3) + 7 / log2(5) + 3 / log2(6)) / (7 + 3 / log2(3) + 1 / 2),
        ),
        # cut at 3: only a is seen, the ideal is whole
        Hand(RANKED, JUDGED, "ndcg@3", (1 / log2(3)) / (7 + 3 / log2(3) + 1 / 2)),
        # cut at 1 and nothing there
        Hand(RANKED, JUDGED, "ndcg@1", Fraction(0)),
        # gains are the grades 1, 3, 2
        Hand(
            RANKED,
            JUDGED,
            "ndcg@5(gain=linear)",
            (1 / log2(3) + 3 / log2(5) + 2 / log2(6)) / (3 + 2 / log2(3) + 1 / 2),
        ),
        # 2002: ranks 1 and 2 weigh 1, rank 4 weighs 1/2, rank 5 1/log2(5); ideal 3 + 2 + 1/log2(3)
        Hand(
            RANKED,
            JUDGED,
            "ndcg(gain=linear,discount=jarvelin)",
            (1 + 3 / 2 + 2 / log2(5)) / (3 + 2 + 1 / log2(3)),
        ),
        # gains 5, 0, 1 turn the ideal order round: a (5), c (1), b (0)
        Hand(
            RANKED,
            JUDGED,
            "ndcg(gain={1:5,2:1,3:0})",
            (5 / log2(3) + 1 / log2(6)) / (5 + 1 / log2(3)),
        ),
        # the two relevant ones on top in the wrong order, weights 1 and 1: no loss in the 2002 form
        Hand(("b", "a"), {"a": 2, "b": 1}, "ndcg@2(discount=jarvelin)", Fraction(1)),
        # relevant only at rank 3: 1 / log2(4)
        Hand(("x", "y", "a"), {"a": 1}, "ndcg", Fraction(1, 2)),
        Hand(("x", "a"), {"a": 0, "x": -2}, "ndcg", Fraction(0)),
    ],
}
