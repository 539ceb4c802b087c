"""Every metric again, in plain slow Python, straight from its formula.

Nothing here is shared with the package: the run is sorted, the ranks are counted, each formula is
written as in a text book. Only the order of the float operations is the pinned one, so that the
package and this file must agree to the last bit. What is refused is said in words that the package
must use too, among others.

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
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import log, log2
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
        raise ValueError(f"grade {grade:g} is over 1023")
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


def natural_log(value: float) -> float:
    """The logarithm of a double, rounded once."""
    with _sixty_digits():
        return float(Decimal(value).ln())


def binary_log(value: float) -> float:
    """The logarithm to base 2 of a double, rounded once."""
    with _sixty_digits():
        return float(Decimal(value).ln() / Decimal(2).ln())


def power_of_two(exponent: float) -> float:
    """2**exponent, rounded once."""
    if exponent > 1023:
        raise ValueError(f"2**{exponent} is too large")
    if exponent == int(exponent):
        return 2.0 ** int(exponent)
    with _sixty_digits():
        return float((Decimal(exponent) * Decimal(2).ln()).exp())


def geometric_mean(values: Sequence[float]) -> float:
    """exp(mean of the logarithms), rounded once; a value below 1e-5 counts as 1e-5."""
    with _sixty_digits():
        logs = [Decimal(max(value, 1e-5)).ln() for value in values]
        return float((sum(logs) / len(logs)).exp())


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
            raise ValueError(f"grade {grade:g} has no gain in the mapping")
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


def _quotient(numerator: float, denominator: float) -> float:
    """One division; 0 where there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


def _precisions(ranked: Ranked, grades: Grades, k: int | None, rel: float) -> list[float]:
    """Precision at the rank of each relevant document, best first."""
    return [i / rank for i, rank in enumerate(_found(ranked, grades, k, rel), 1)]


def _in_order(values: Iterable[float]) -> float:
    """One after the other: neither ``sum`` (compensated in new Pythons) nor ``fsum``."""
    total = 0.0
    for value in values:
        total += value
    return total


def average_precision(
    ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0, norm: str = "all"
) -> float:
    """(sum of precision at each relevant rank) / all relevant, or those that fit in the top k."""
    if norm not in ("all", "capped"):
        raise ValueError(f"no such norm: {norm}")
    possible = _relevant(grades, rel)
    if norm == "capped" and k is not None:
        possible = min(k, possible)
    return _quotient(_in_order(_precisions(ranked, grades, k, rel)), possible)


def f1(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """The harmonic mean of precision and recall, which is 2 * hits / (k + all relevant)."""
    assert k is not None
    return 2 * len(_found(ranked, grades, k, rel)) / (k + _relevant(grades, rel))


def relative_precision(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Relevant in the top k / the most that could be there."""
    assert k is not None
    return _quotient(len(_found(ranked, grades, k, rel)), min(k, _relevant(grades, rel)))


def rprec(
    ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0, multiple: float = 1.0
) -> float:
    """Precision at (a multiple of) the number of relevant documents."""
    depth = math.floor(float(multiple) * _relevant(grades, rel) + 0.9)
    return _quotient(len(_found(ranked, grades, depth, rel)), depth)


def iprec(
    ranked: Ranked,
    grades: Grades,
    k: int | None,
    rel: float = 1.0,
    *,
    recall: float,
    rounding: str = "nearest",
) -> float:
    """The best precision at this recall or a higher one."""
    product = float(recall) * _relevant(grades, rel)
    if rounding == "nearest":  # half away from zero: Python's round would go to the even one
        needed = int(Decimal(product).to_integral_value(ROUND_HALF_UP))
    elif rounding == "up":
        needed = math.floor(product + 0.9)
    else:
        raise ValueError(f"no such rounding: {rounding}")
    return max(_precisions(ranked, grades, None, rel)[max(needed, 1) - 1 :], default=0.0)


def iprec11(
    ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0, rounding: str = "nearest"
) -> float:
    """Interpolated precision, averaged over recall 0, 0.1, ..., 1."""
    points = [iprec(ranked, grades, None, rel, recall=i / 10, rounding=rounding) for i in range(11)]
    return _in_order(points) / 11


def yaap(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Yet another average precision: the log-odds of the smoothed one."""
    total = _in_order(_precisions(ranked, grades, None, rel))
    with _sixty_digits():  # to round once, also where the division of doubles rounds twice
        odds = float(Decimal(1.0 + total) / Decimal(1.0 + _relevant(grades, rel) - total))
    return natural_log(odds)


def bing(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Each relevant document discounted by the non-relevant ones above it."""
    found = _found(ranked, grades, None, rel)
    weights = (log2_discount(rank - i + 1) for i, rank in enumerate(found, 1))
    return _quotient(_in_order(weights), _relevant(grades, rel))


# Graded


Gain = str | Mapping[float, float]


def _dcg(in_order: Iterable[float], discount: str = "log2") -> float:
    if discount not in DISCOUNTS:
        raise ValueError(f"no such discount: {discount}")
    total = 0.0
    for rank, value in enumerate(in_order, 1):
        if value:  # a gain of zero adds nothing, and needs no constant
            total += value * DISCOUNTS[discount](rank)
    return total


def _gains(ranked: Ranked, grades: Grades, gain: Gain) -> tuple[list[float], list[float]]:
    """The gain at each rank; the positive gains of all judged documents, high to low."""
    gain_of = gain_function(gain)
    gains = {doc: gain_of(grade) for doc, grade in grades.items()}
    best = sorted((value for value in gains.values() if value), reverse=True)
    return [gains.get(doc, 0.0) for doc in ranked], best


def dcg(
    ranked: Ranked,
    grades: Grades,
    k: int | None,
    gain: Gain = "exponential",
    discount: str = "log2",
) -> float:
    """Sum of gain * discount."""
    return _dcg(_top(_gains(ranked, grades, gain)[0], k), discount)


def idcg(
    ranked: Ranked,
    grades: Grades,
    k: int | None,
    gain: Gain = "exponential",
    discount: str = "log2",
) -> float:
    """DCG of all judged documents in order of gain."""
    return _dcg(_top(_gains(ranked, grades, gain)[1], k), discount)


def ndcg(
    ranked: Ranked,
    grades: Grades,
    k: int | None,
    gain: Gain = "exponential",
    discount: str = "log2",
) -> float:
    """DCG / DCG of all judged documents in order of gain."""
    return _quotient(
        dcg(ranked, grades, k, gain, discount), idcg(ranked, grades, k, gain, discount)
    )


def ndcg_rel(ranked: Ranked, grades: Grades, k: int | None, gain: Gain = "linear") -> float:
    """nDCG at the rank of each document that gains; where one is missing, that of the whole."""
    gains, best = _gains(ranked, grades, gain)
    if not best:
        return 0.0
    found = [rank for rank, value in enumerate(gains, 1) if value]
    values = [_dcg(gains[:rank]) / _dcg(best[:rank]) for rank in found]
    values.append((len(best) - len(found)) * (_dcg(gains) / _dcg(best)))
    return _in_order(values) / len(best)


def rndcg(ranked: Ranked, grades: Grades, k: int | None, gain: Gain = "linear") -> float:
    """nDCG averaged over the ranks where an ideal ranking steps down to a lower gain."""
    gains, best = _gains(ranked, grades, gain)
    if not best:
        return 0.0
    steps = [n for n in range(1, len(best) + 1) if n == len(best) or best[n] < best[n - 1]]
    values = [_dcg(gains[:n]) / _dcg(best[:n]) for n in steps]
    # trec_eval sees one more step at the end of the ranking, but not if only one document is left.
    if len(ranked) > len(best) + 1:
        values.append(_dcg(gains) / _dcg(best))
    return _in_order(values) / len(values)


def g(ranked: Ranked, grades: Grades, k: int | None, gain: Gain = "linear") -> float:
    """Each gain discounted by what an ideal ranking would have over this one by then."""
    gains, best = _gains(ranked, grades, gain)
    ideal = cost = seen = total = 0.0
    for value in best:
        ideal += value
    for rank, value in enumerate(gains, 1):
        # An ideal ranking moves on by one at least, also where its gains are small or used up.
        if rank <= len(best):
            cost += max(best[rank - 1], 1.0)
        beyond = float(max(0, rank - len(best)))
        seen += value
        if value:
            # The cost is never less than what was seen, but its sum is rounded otherwise. The two
            # are near each other and may be large, so 2 is added to their difference.
            total += value / binary_log(2.0 + max(cost + beyond - seen, 0.0))
    return _quotient(total, ideal)


def rbp(
    ranked: Ranked,
    grades: Grades,
    k: int | None,
    rel: float = 1.0,
    p: float = 0.8,
    grading: str = "binary",
) -> float:
    """Rank-biased precision: the reader goes on from each rank with the probability p."""
    if grading not in ("binary", "graded"):
        raise ValueError(f"no such grading: {grading}")
    highest = max([1.0, *grades.values()])
    total = 0.0
    power = 1.0
    for doc in _top(ranked, k):
        grade = grades.get(doc, 0.0)
        if grading == "graded":
            weight = grade / highest if grade > 0 else 0.0
        else:
            weight = 1.0 if grade >= rel else 0.0
        total += weight * power
        power *= p
    return (1.0 - p) * total


def err(ranked: Ranked, grades: Grades, k: int | None, max: float = 4.0) -> float:
    """Expected reciprocal rank: the reader stops at a document with the probability R."""
    for grade in grades.values():
        if grade > max:
            raise ValueError(f"grade {grade:g} is above the scale of err")
    total = 0.0
    still_reading = 1.0
    for rank, doc in enumerate(_top(ranked, k), 1):
        stops = exponential_gain(grades.get(doc, 0.0)) / power_of_two(max)
        total += 1.0 / rank * stops * still_reading
        still_reading *= 1.0 - stops
    return total


# Sets


def set_precision(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Relevant and retrieved / retrieved."""
    return _quotient(len(_found(ranked, grades, None, rel)), len(ranked))


def set_recall(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Relevant and retrieved / relevant."""
    return _quotient(len(_found(ranked, grades, None, rel)), _relevant(grades, rel))


def set_map(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Precision * recall of the set, as one quotient."""
    hits = len(_found(ranked, grades, None, rel))
    return _quotient(hits * hits, len(ranked) * _relevant(grades, rel))


def set_relative_precision(
    ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0
) -> float:
    """Relevant and retrieved / the most that could be."""
    hits = len(_found(ranked, grades, None, rel))
    return _quotient(hits, min(len(ranked), _relevant(grades, rel)))


def set_f(
    ranked: Ranked,
    grades: Grades,
    k: int | None,
    rel: float = 1.0,
    beta: float = 1.0,
    weight: str = "squared",
) -> float:
    """The weighted harmonic mean of precision and recall."""
    if weight not in ("squared", "plain"):
        raise ValueError(f"no such weight: {weight}")
    w = float(beta * beta if weight == "squared" else beta)
    precise = set_precision(ranked, grades, None, rel)
    complete = set_recall(ranked, grades, None, rel)
    return _quotient((1.0 + w) * precise * complete, w * precise + complete)


def num_q(ranked: Ranked, grades: Grades, k: int | None) -> float:
    """One for each query."""
    return 1.0


def num_ret(ranked: Ranked, grades: Grades, k: int | None) -> float:
    """Retrieved."""
    return float(len(ranked))


def num_rel(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Relevant."""
    return float(_relevant(grades, rel))


def num_rel_ret(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Relevant and retrieved."""
    return float(len(_found(ranked, grades, None, rel)))


def num_nonrel_judged_ret(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Judged, not relevant, and retrieved."""
    return float(sum(1 for doc in ranked if 0 <= grades.get(doc, -1.0) < rel))


def utility(
    ranked: Ranked,
    grades: Grades,
    k: int | None,
    rel: float = 1.0,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    documents: float = 0.0,
) -> float:
    """What each cell of the table retrieved / relevant is worth."""
    hits = float(len(_found(ranked, grades, None, rel)))
    retrieved = float(len(ranked))
    relevant = float(_relevant(grades, rel))
    return (
        a * hits
        + b * (retrieved - hits)
        + c * (relevant - hits)
        + d * (documents + hits - retrieved - relevant)
    )


# What was judged, and what was not


def is_judged(doc: Hashable, grades: Grades) -> bool:
    """A negative grade stands for: in the pool, but not judged."""
    return doc in grades and grades[doc] >= 0


def bpref(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """How often a relevant document stands above a judged one that is not relevant."""
    relevant = _relevant(grades, rel)
    not_relevant = sum(1 for grade in grades.values() if 0 <= grade < rel)
    total = 0.0
    above = 0
    for doc in ranked:
        if not is_judged(doc, grades):
            continue
        if grades[doc] < rel:
            above += 1
        elif above == 0:
            total += 1.0
        else:
            total += 1.0 - min(above, relevant) / min(not_relevant, relevant)
    return _quotient(total, relevant)


def infap(ranked: Ranked, grades: Grades, k: int | None, rel: float = 1.0) -> float:
    """Average precision inferred from a pool of which a sample was judged."""
    epsilon = 0.00001
    total = 0.0
    relevant = not_relevant = in_pool = 0
    for j, doc in enumerate(ranked):
        if doc not in grades:
            continue
        if grades[doc] < 0:
            in_pool += 1
        elif grades[doc] < rel:
            not_relevant += 1
        else:
            if j == 0:
                total += 1.0
            else:
                share = (relevant + not_relevant + in_pool) / j
                inferred = (relevant + epsilon) / (relevant + not_relevant + 2 * epsilon)
                total += 1.0 / (j + 1) + (j / (j + 1)) * share * inferred
            relevant += 1
    return _quotient(total, _relevant(grades, rel))


def judged(ranked: Ranked, grades: Grades, k: int | None, negative: str = "unjudged") -> float:
    """Judged in the top k / retrieved there; a negative grade may count, too."""
    top = _top(ranked, k)
    counts = grades.__contains__ if negative == "judged" else lambda doc: is_judged(doc, grades)
    return _quotient(sum(1 for doc in top if counts(doc)), len(top))


def unjudged(ranked: Ranked, grades: Grades, k: int | None) -> float:
    """Retrieved in the top k but not judged / k."""
    assert k is not None
    return sum(1 for doc in ranked[:k] if not is_judged(doc, grades)) / k


def rbp_residual(ranked: Ranked, grades: Grades, k: int | None, p: float = 0.8) -> float:
    """What rank-biased precision would gain at most, were everything judged and read on."""
    total = 0.0
    power = 1.0
    for doc in _top(ranked, k):
        if not is_judged(doc, grades):
            total += power
        power *= p
    return power + (1.0 - p) * total


REFERENCE: dict[str, Callable[..., float]] = {
    "recall": recall,
    "precision": precision,
    "hit": hit,
    "mrr": mrr,
    "map": average_precision,
    "gm_map": average_precision,  # another mean over the queries
    "f1": f1,
    "relative_precision": relative_precision,
    "capped_recall": relative_precision,
    "rprec": rprec,
    "iprec": iprec,
    "iprec11": iprec11,
    "yaap": yaap,
    "bing": bing,
    "ndcg": ndcg,
    "dcg": dcg,
    "idcg": idcg,
    "ndcg_rel": ndcg_rel,
    "rndcg": rndcg,
    "g": g,
    "rbp": rbp,
    "err": err,
    "set_precision": set_precision,
    "set_recall": set_recall,
    "set_map": set_map,
    "set_relative_precision": set_relative_precision,
    "set_f": set_f,
    "num_q": num_q,
    "num_ret": num_ret,
    "num_rel": num_rel,
    "num_rel_ret": num_rel_ret,
    "num_nonrel_judged_ret": num_nonrel_judged_ret,
    "utility": utility,
    "bpref": bpref,
    "gm_bpref": bpref,  # another mean over the queries
    "infap": infap,
    "judged": judged,
    "unjudged": unjudged,
    "rbp_residual": rbp_residual,
}

GEOMETRIC = {"gm_map", "gm_bpref"}
"""Metrics whose mean over the queries is the geometric one."""

COUNTS = {
    *("recall", "precision", "hit", "mrr", "f1", "relative_precision", "capped_recall", "rprec"),
    *("iprec", "set_precision", "set_recall", "set_map", "set_relative_precision"),
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
    *("judged", "unjudged"),
}
"""Metrics that are one count, or one quotient of two: rounded once, so right to the last bit."""


def score(
    name: str, ranked: Ranked, grades: Grades, k: int | None, parameters: Mapping[str, Any]
) -> float:
    """One metric of one ranking. ``judged_only`` means the same for each: a shorter ranking."""
    own = dict(parameters)
    if own.pop("judged_only", False):
        ranked = [doc for doc in ranked if is_judged(doc, grades)]
    return REFERENCE[name](ranked, grades, k, **own)


# ---------------------------------------------------------------------------------------------
# Many queries


def parse(text: str) -> tuple[str, int | None, dict[str, Any]]:
    """Split ``name[@k][(param=value,...)]``; only the package's own spelling."""
    match = re.fullmatch(r"([a-z][a-z0-9_]*)(?:@([0-9]+))?(?:\((.*)\))?", text)
    if match is None or match[1] not in REFERENCE or (match[2] and int(match[2]) < 1):
        raise ValueError(f"no such metric: {text}")
    parameters: dict[str, Any] = {}
    for part in re.findall(r"\w+=(?:\{[^}]*\}|[^,]*)", match[3] or ""):
        name, value = part.split("=", 1)
        parameters[name] = _value(value)
    return match[1], int(match[2]) if match[2] else None, parameters


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return text if text.isidentifier() else ast.literal_eval(text)


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
        raise ValueError("no metric was named")
    if len(requests) < len(metrics):
        raise ValueError("is named twice")
    cutoffs = [  # what is left of a ranking without the unjudged may come from any depth
        None if parameters.get("judged_only") else k for _, k, parameters in requests.values()
    ]
    depth = None if None in cutoffs else max(k for k in cutoffs if k is not None)

    judgments = {query: _grades(judged) for query, judged in qrels.items()}
    for grades in judgments.values():  # a judgment that cannot be scored is bad without a run too
        for name, k, parameters in requests.values():
            score(name, [], grades, k, parameters)

    if not judgments:
        raise ValueError("qrels hold no query")
    found = [query for query in judgments if query in run]
    if not found:
        raise ValueError("no query in common")
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
            text: [score(name, ranked, grades, k, parameters) for ranked in rankings]
            for text, (name, k, parameters) in requests.items()
        }
        per_query[query] = {text: _exact_mean(every) for text, every in values.items()}
        lowest[query] = {text: min(every) for text, every in values.items()}
        highest[query] = {text: max(every) for text, every in values.items()}
    if missing == "error" and len(found) < len(judgments):
        raise ValueError("the run lacks")
    return Result(
        query_ids=tuple(scored),
        per_query=per_query,
        lowest=lowest,
        highest=highest,
        mean={
            text: _mean(name, [values[text] for values in per_query.values()])
            for text, (name, _, _) in requests.items()
        },
        coverage={
            "judged": len(judgments),
            "evaluated": len(found),
            "missing": len(judgments) - len(found),
            "unjudged": sum(1 for query in run if query not in judgments),
            "no_relevant": sum(1 for grades in judgments.values() if not _relevant(grades, 1.0)),
            "unmatched": 0,  # not looked at
        },
    )


def _mean(name: str, values: Sequence[float]) -> float:
    return geometric_mean(values) if name in GEOMETRIC else math.fsum(values) / len(values)


def ranking(entry: Any, ties: str, duplicates: str, depth: int | None) -> list[Hashable]:
    """Ids best first: a mapping is sorted by its scores, a sequence is ranked already."""
    if isinstance(entry, Mapping):
        return _by_score(entry, ties)
    if isinstance(entry, set):
        raise TypeError("a set has no order")
    if isinstance(entry, (str, bytes)) or not hasattr(type(entry), "__getitem__"):
        raise TypeError("a ranking must be a sequence of document ids")
    ids = list(entry)
    if duplicates == "first":
        return list(dict.fromkeys(ids))
    first: dict[Hashable, int] = {}
    for rank, doc in enumerate(ids[:depth], 1):
        if first.setdefault(doc, rank) < rank:
            ranks = f"{first[doc]} and {rank}"
            raise ValueError(f"document {doc!r} stands twice in the ranking, at ranks {ranks}")
    return ids[:depth]


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
    if not isinstance(doc, str):
        return doc
    try:
        return doc.encode("utf-8", "surrogateescape")  # as it stood in a file
    except UnicodeEncodeError:
        return doc.encode("utf-8", "surrogatepass")


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)) or not hasattr(type(value), "__float__"):
        raise TypeError(f"number: {value!r}")
    return float(value)


def _score(value: Any) -> float | int:
    # A whole number is compared as what it is: 2**53 + 1 stands above 2**53.
    score = int(value) if isinstance(value, Integral) else _number(value)
    if score != score:
        raise ValueError("is NaN")
    return score


def _grades(judged: Mapping[Any, Any]) -> dict[Hashable, float]:
    if not isinstance(judged, Mapping):
        raise TypeError("qrels must be a mapping from document id to grade")
    grades = {}
    for doc, value in judged.items():
        try:
            grades[doc] = _number(value)
        except OverflowError:
            raise ValueError("double") from None
        if not math.isfinite(grades[doc]):
            raise ValueError(f"is not finite: {value!r}")
    return grades


def _refuse_types_that_cannot_match(ranked: Ranked, grades: Grades) -> None:
    texts = {isinstance(doc, str) for doc in ranked}, {isinstance(doc, str) for doc in grades}
    if texts in (({True}, {False}), ({False}, {True})):
        raise TypeError("can never match")


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
# a, b and c stand at ranks 2, 4 and 5; without the unjudged it reads a, d, b, c.
RANKED = ("x", "a", "d", "b", "c", "e", "y")
JUDGED: dict[str, float] = {"a": 1, "b": 3, "c": 2, "d": 0, "e": -1}

# Three relevant at ranks 1, 3 and 5, so that precision falls: 1, 2/3, 3/5.
FALLING = ("a", "x", "b", "y", "c")
THREE: dict[str, float] = {"a": 1, "b": 1, "c": 1}

# Two judged not relevant between three relevant, a third one not retrieved.
MIXED = ("a", "n1", "b", "n2", "c")
MIXED_JUDGED: dict[str, float] = {"a": 2, "b": 2, "c": 1, "n1": 0, "n2": 0, "n3": 0}

# infAP adds this, and twice this below.
EPSILON = Fraction(1, 100_000)


HAND: dict[str, list[Hand]] = {
    "recall": [
        Hand(RANKED, JUDGED, "recall@1", Fraction(0)),
        Hand(RANKED, JUDGED, "recall@4", Fraction(2, 3)),  # a and b of a, b, c
        Hand(RANKED, JUDGED, "recall@100", Fraction(1)),  # the list ends at rank 7
        Hand(RANKED, JUDGED, "recall@4(rel=2)", Fraction(1, 2)),  # b of b, c
        Hand(RANKED, {"d": 0}, "recall@5", Fraction(0)),  # nothing relevant to find
        Hand(("a",), {"a": 1, "b": 1, "c": 1, "z": 1}, "recall@1", Fraction(1, 4)),
        Hand(RANKED, JUDGED, "recall@1(judged_only=true)", Fraction(1, 3)),  # a, d, b, c
    ],
    "precision": [
        Hand(RANKED, JUDGED, "precision@1", Fraction(0)),
        Hand(RANKED, JUDGED, "precision@4", Fraction(1, 2)),  # ranks 2 and 4 of four
        Hand(RANKED, JUDGED, "precision@5", Fraction(3, 5)),
        Hand(RANKED, JUDGED, "precision@10", Fraction(3, 10)),  # by k, not by the seven returned
        Hand(RANKED, JUDGED, "precision@5(rel=3)", Fraction(1, 5)),  # only b
        # k counts in a, d, b, c
        Hand(RANKED, JUDGED, "precision@3(judged_only=true)", Fraction(2, 3)),
        Hand(RANKED, JUDGED, "precision@3(judged_only=false)", Fraction(1, 3)),
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
        # 1/2 at a, divided by the two that fit
        Hand(RANKED, JUDGED, "map@2(norm=capped)", Fraction(1, 4)),
        Hand(RANKED, JUDGED, "map@2(norm=all)", Fraction(1, 6)),
        # more fit than there are: divided by three
        Hand(RANKED, JUDGED, "map@4(norm=capped)", Fraction(1, 3)),
        Hand(RANKED, JUDGED, "map(norm=capped)", Fraction(8, 15)),
        Hand(RANKED, {"d": 0}, "map@5(norm=capped)", Fraction(0)),
        # a, d, b, c: (1/1 + 2/3 + 3/4) / 3 = 29/36
        Hand(RANKED, JUDGED, "map(judged_only=true)", Fraction(29, 36)),
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
    "gm_map": [
        # of one query, the geometric mean is the value
        Hand(RANKED, JUDGED, "gm_map", Fraction(8, 15)),
        Hand(RANKED, JUDGED, "gm_map(rel=2)", Fraction(13, 40)),
    ],
    "f1": [
        Hand(RANKED, JUDGED, "f1@4", Fraction(4, 7)),  # 2 * 2 / (4 + 3)
        Hand(RANKED, JUDGED, "f1@10", Fraction(6, 13)),  # 2 * 3 / (10 + 3)
        Hand(RANKED, JUDGED, "f1@4(rel=2)", Fraction(1, 3)),  # b: 2 * 1 / (4 + 2)
        Hand(RANKED, {"d": 0}, "f1@4", Fraction(0)),
    ],
    "relative_precision": [
        Hand(RANKED, JUDGED, "relative_precision@2", Fraction(1, 2)),  # a of two places
        Hand(RANKED, JUDGED, "relative_precision@4", Fraction(2, 3)),  # three of four could be
        Hand(RANKED, JUDGED, "relative_precision@10", Fraction(1)),
        Hand(RANKED, JUDGED, "relative_precision@4(rel=2)", Fraction(1, 2)),  # b of b, c
        Hand(RANKED, {"d": 0}, "relative_precision@4", Fraction(0)),
        # by the two places, though only one document was returned
        Hand(("a",), THREE, "relative_precision@2", Fraction(1, 2)),
    ],
    "capped_recall": [
        Hand(RANKED, JUDGED, "capped_recall@2", Fraction(1, 2)),
        Hand(RANKED, JUDGED, "capped_recall@4", Fraction(2, 3)),
        Hand(RANKED, JUDGED, "capped_recall@4(rel=2)", Fraction(1, 2)),
        Hand(RANKED, {"d": 0}, "capped_recall@4", Fraction(0)),
    ],
    "rprec": [
        Hand(RANKED, JUDGED, "rprec", Fraction(1, 3)),  # a in the top three
        Hand(RANKED, JUDGED, "rprec(rel=2)", Fraction(0)),  # neither b nor c in the top two
        Hand(RANKED, JUDGED, "rprec(multiple=2)", Fraction(1, 2)),  # all three in the top six
        # floor(1.5 + 0.9) = 2: a in the top two
        Hand(RANKED, JUDGED, "rprec(multiple=0.5)", Fraction(1, 2)),
        # floor(1.2 + 0.9) = 2: the same
        Hand(RANKED, JUDGED, "rprec(multiple=0.4)", Fraction(1, 2)),
        # floor(0.75 + 0.9) = 1: nothing there
        Hand(RANKED, JUDGED, "rprec(multiple=0.25)", Fraction(0)),
        # floor(0.03 + 0.9) = 0: nothing to divide by
        Hand(FALLING, THREE, "rprec(multiple=0.01)", Fraction(0)),
        # twelve places, the list ends at rank 7
        Hand(RANKED, JUDGED, "rprec(multiple=4)", Fraction(1, 4)),
        Hand(RANKED, JUDGED, "rprec(rel=2,multiple=2)", Fraction(1, 4)),  # b in the top four
        Hand(RANKED, {"d": 0}, "rprec", Fraction(0)),
    ],
    "iprec": [
        # precision 1/2, 2/4, 3/5: the last one is the best from everywhere
        Hand(RANKED, JUDGED, "iprec(recall=0)", Fraction(3, 5)),
        Hand(RANKED, JUDGED, "iprec(rel=2,recall=0.5)", Fraction(2, 5)),  # 1/4, 2/5
        Hand(FALLING, THREE, "iprec(recall=0)", Fraction(1)),
        # 0.4 * 3 = 1.2 is one document, or two when 0.9 is added (2.1)
        Hand(FALLING, THREE, "iprec(recall=0.4)", Fraction(1)),
        Hand(FALLING, THREE, "iprec(recall=0.4,rounding=nearest)", Fraction(1)),
        Hand(FALLING, THREE, "iprec(recall=0.4,rounding=up)", Fraction(2, 3)),
        # 1.5 is two either way (2.4)
        Hand(FALLING, THREE, "iprec(recall=0.5)", Fraction(2, 3)),
        Hand(FALLING, THREE, "iprec(recall=0.5,rounding=up)", Fraction(2, 3)),
        Hand(FALLING, THREE, "iprec(recall=1)", Fraction(3, 5)),
        # 0.5 * 5 = 2.5 is three: half goes away from zero, not to the even one
        Hand(FALLING, {**THREE, "z1": 1, "z2": 1}, "iprec(recall=0.5)", Fraction(3, 5)),
        # 0.75 * 5 = 3.75 is four, and only three are found
        Hand(FALLING, {**THREE, "z1": 1, "z2": 1}, "iprec(recall=0.75)", Fraction(0)),
        Hand(RANKED, {"d": 0}, "iprec(recall=0)", Fraction(0)),
        Hand(("x",), {"a": 1}, "iprec(recall=0)", Fraction(0)),
    ],
    "iprec11": [
        Hand(RANKED, JUDGED, "iprec11", Fraction(3, 5)),  # 3/5 at each point
        Hand(RANKED, JUDGED, "iprec11(rel=2)", Fraction(2, 5)),
        # needed 0 0 1 1 1 2 2 2 2 3 3: (5 * 1 + 4 * 2/3 + 2 * 3/5) / 11
        Hand(FALLING, THREE, "iprec11", Fraction(133, 165)),
        # of two at ranks 1 and 3. nearest: 0 0 0 1 1 1 1 1 2 2 2: (8 * 1 + 3 * 2/3) / 11
        Hand(FALLING, {"a": 1, "b": 1}, "iprec11", Fraction(10, 11)),
        # up: 0 1 1 1 1 1 2 2 2 2 2: (6 * 1 + 5 * 2/3) / 11
        Hand(FALLING, {"a": 1, "b": 1}, "iprec11(rounding=up)", Fraction(28, 33)),
    ],
    "yaap": [
        # 1/2 + 2/4 + 3/5 = 8/5 of three: (1 + 8/5) / (1 + 3 - 8/5) = 13/12
        Hand(RANKED, JUDGED, "yaap", log(13 / 12)),
        # 1/4 + 2/5 = 13/20 of two: (33/20) / (47/20)
        Hand(RANKED, JUDGED, "yaap(rel=2)", log(33 / 47)),
        Hand(("x",), THREE, "yaap", log(1 / 4)),  # nothing found: 1 / (1 + 3)
        Hand(("a",), {"a": 1}, "yaap", log(2)),  # all found: 2 / 1
        Hand(RANKED, {"d": 0}, "yaap", Fraction(0)),  # nothing to find: log(1)
    ],
    "bing": [
        # one not relevant before a, two before b and c: log2(3), log2(4), log2(4)
        Hand(RANKED, JUDGED, "bing", (1 / log2(3) + 1 / 2 + 1 / 2) / 3),
        Hand(RANKED, JUDGED, "bing(rel=2)", 1 / log2(5)),  # three before b and c
        Hand(("a", "b"), THREE, "bing", Fraction(2, 3)),
        Hand(RANKED, {"d": 0}, "bing", Fraction(0)),
    ],
    "dcg": [
        # gains 1, 7, 3 at ranks 2, 4, 5
        Hand(RANKED, JUDGED, "dcg", 1 / log2(3) + 7 / log2(5) + 3 / log2(6)),
        Hand(RANKED, JUDGED, "dcg@4", 1 / log2(3) + 7 / log2(5)),
        Hand(RANKED, JUDGED, "dcg(gain=linear)", 1 / log2(3) + 3 / log2(5) + 2 / log2(6)),
        # weights 1, 1/2 and 1/log2(5)
        Hand(RANKED, JUDGED, "dcg(discount=jarvelin)", 1 + 7 / 2 + 3 / log2(5)),
        Hand(RANKED, {"d": 0}, "dcg", Fraction(0)),
    ],
    "idcg": [
        # gains 7, 3, 1 at ranks 1, 2, 3, whatever was retrieved
        Hand(RANKED, JUDGED, "idcg", 7 + 3 / log2(3) + 1 / 2),
        Hand(("x",), JUDGED, "idcg", 7 + 3 / log2(3) + 1 / 2),
        Hand(RANKED, JUDGED, "idcg@1", Fraction(7)),
        Hand(RANKED, JUDGED, "idcg@2(gain=linear)", 3 + 2 / log2(3)),
        Hand(RANKED, JUDGED, "idcg@1(gain={1:5,2:1,3:0})", Fraction(5)),  # a, by its gain
        Hand(RANKED, JUDGED, "idcg(discount=jarvelin)", 7 + 3 + 1 / log2(3)),
        Hand(RANKED, {"d": 0}, "idcg", Fraction(0)),
    ],
    "ndcg_rel": [
        # gains 1, 7, 3 at ranks 2, 4, 5. Ideal 7 + 3/log2(3) at rank 2, 1/2 more at 4 and 5
        Hand(
            RANKED,
            JUDGED,
            "ndcg_rel(gain=exponential)",
            (
                (1 / log2(3)) / (7 + 3 / log2(3))
                + (1 / log2(3) + 7 / log2(5)) / (7 + 3 / log2(3) + 1 / 2)
                + (1 / log2(3) + 7 / log2(5) + 3 / log2(6)) / (7 + 3 / log2(3) + 1 / 2)
            )
            / 3,
        ),
        # gains 1 and 3 at ranks 1 and 3, 2 never found. Ideal 3 at rank 1, all of it at rank 3;
        # what is missing counts as the whole
        Hand(
            ("a", "x", "b"),
            {"a": 1, "b": 3, "c": 2},
            "ndcg_rel(gain=linear)",
            (1 / 3 + 2 * (1 + 3 / 2) / (3 + 2 / log2(3) + 1 / 2)) / 3,
        ),
        Hand(("b", "a"), {"a": 1, "b": 3}, "ndcg_rel(gain=exponential)", Fraction(1)),
        # what gains nothing is not counted: only b
        Hand(("a", "x", "b"), {"a": 1, "b": 3}, "ndcg_rel(gain={1:0,3:4})", Fraction(1, 2)),
        Hand(RANKED, {"d": 0}, "ndcg_rel(gain=exponential)", Fraction(0)),
        Hand((), {"a": 1}, "ndcg_rel(gain=exponential)", Fraction(0)),
    ],
    "rndcg": [
        # the ideal 7, 3, 1 steps down after ranks 1, 2 and 3; then the whole of seven
        Hand(
            RANKED,
            JUDGED,
            "rndcg(gain=exponential)",
            (
                0
                + (1 / log2(3)) / (7 + 3 / log2(3))
                + (1 / log2(3)) / (7 + 3 / log2(3) + 1 / 2)
                + (1 / log2(3) + 7 / log2(5) + 3 / log2(6)) / (7 + 3 / log2(3) + 1 / 2)
            )
            / 4,
        ),
        # linear, ideal 2, 1: one document more than gain is not a step of its own
        Hand(
            ("b", "x", "a"),
            {"a": 1, "b": 2},
            "rndcg(gain=linear)",
            (1 + 2 / (2 + 1 / log2(3))) / 2,
        ),
        # two more are
        Hand(
            ("b", "x", "a", "y"),
            {"a": 1, "b": 2},
            "rndcg(gain=linear)",
            (1 + 2 / (2 + 1 / log2(3)) + (2 + 1 / 2) / (2 + 1 / log2(3))) / 3,
        ),
        # the list ends before the second step
        Hand(("b",), {"a": 1, "b": 2}, "rndcg(gain=linear)", (1 + 2 / (2 + 1 / log2(3))) / 2),
        # grades of one gain are one step, here of two; a grade that gains nothing is none
        Hand(
            ("a", "x"), {"a": 1, "b": 2, "c": 3}, "rndcg(gain={1:5,2:5,3:0})", 1 / (1 + 1 / log2(3))
        ),
        Hand(RANKED, {"d": 0}, "rndcg(gain=exponential)", Fraction(0)),
    ],
    "g": [
        # gains 1, 7, 3 at ranks 2, 4, 5; seen there 1, 8, 11. The ideal 7, 3, 1, then 1 for each
        # rank: 10, 12, 13. So 2 + 10 - 1, 2 + 12 - 8, 2 + 13 - 11
        Hand(RANKED, JUDGED, "g(gain=exponential)", (1 / log2(11) + 7 / log2(6) + 3 / 2) / 11),
        # gains 1, 3, 2, seen 1, 4, 6; ideal 3, 2, 1, 1, 1: 5, 7, 8
        Hand(RANKED, JUDGED, "g(gain=linear)", (1 / log2(6) + 3 / log2(5) + 2 / log2(4)) / 6),
        # gains 1/2, 2, 1/2, seen 0.5, 2.5, 3; ideal 2, then 1 for each rank: 3, 5, 6
        Hand(
            RANKED,
            JUDGED,
            "g(gain={1:0.5,2:0.5,3:2})",
            (0.5 / log2(4.5) + 2 / log2(4.5) + 0.5 / log2(5)) / 3,
        ),
        Hand(("b", "a"), {"a": 1, "b": 3}, "g(gain=exponential)", Fraction(1)),
        # half of all gain is never found
        Hand(("a",), {"a": 1, "z": 1}, "g(gain=exponential)", Fraction(1, 2)),
        Hand(RANKED, {"d": 0}, "g(gain=exponential)", Fraction(0)),
    ],
    "rbp": [
        # 1/5 * (4/5 + 64/125 + 256/625) at ranks 2, 4, 5
        Hand(RANKED, JUDGED, "rbp", Fraction(1076, 3125)),
        Hand(RANKED, JUDGED, "rbp(p=0.5)", Fraction(11, 32)),  # 1/2 * (1/2 + 1/8 + 1/16)
        Hand(RANKED, JUDGED, "rbp@4(p=0.5)", Fraction(5, 16)),  # 1/2 * (1/2 + 1/8)
        Hand(RANKED, JUDGED, "rbp(rel=2,p=0.5)", Fraction(3, 32)),  # 1/2 * (1/8 + 1/16)
        Hand(RANKED, JUDGED, "rbp(p=0.5,grading=binary)", Fraction(11, 32)),
        # weights 1/3, 3/3, 2/3: 1/2 * (1/6 + 1/8 + 1/24)
        Hand(RANKED, JUDGED, "rbp(p=0.5,grading=graded)", Fraction(1, 6)),
        # the highest grade is no less than 1: 1/2 * 1/2
        Hand(("a",), {"a": 0.5}, "rbp(p=0.5,grading=graded)", Fraction(1, 4)),
        # the highest grade counts though it is never found: 1/2 * 1/4
        Hand(("a",), {"a": 1, "z": 4}, "rbp(p=0.5,grading=graded)", Fraction(1, 8)),
        Hand(RANKED, {"d": 0, "e": -1}, "rbp(grading=graded)", Fraction(0)),
    ],
    "err": [
        # R = 1/16, 7/16, 3/16 at ranks 2, 4, 5:
        # 1/2 * 1/16 + 1/4 * 7/16 * 15/16 + 1/5 * 3/16 * 15/16 * 9/16
        Hand(RANKED, JUDGED, "err", Fraction(629, 4096)),
        Hand(RANKED, JUDGED, "err@4", Fraction(137, 1024)),
        # R = 1/8, 7/8, 3/8: 1/2 * 1/8 + 1/4 * 7/8 * 7/8 + 1/5 * 3/8 * 7/8 * 1/8
        Hand(RANKED, JUDGED, "err(max=3)", Fraction(671, 2560)),
        Hand(RANKED, {"d": 0, "e": -1}, "err", Fraction(0)),
    ],
    "set_precision": [
        Hand(RANKED, JUDGED, "set_precision", Fraction(3, 7)),
        Hand(RANKED, JUDGED, "set_precision(rel=2)", Fraction(2, 7)),
        Hand(RANKED, JUDGED, "set_precision(judged_only=true)", Fraction(3, 4)),
        Hand((), JUDGED, "set_precision", Fraction(0)),
    ],
    "set_recall": [
        Hand(RANKED, JUDGED, "set_recall", Fraction(1)),
        Hand(("a", "x"), JUDGED, "set_recall", Fraction(1, 3)),
        Hand(("b", "x"), JUDGED, "set_recall(rel=2)", Fraction(1, 2)),
        Hand(RANKED, {"d": 0}, "set_recall", Fraction(0)),
    ],
    "set_map": [
        Hand(RANKED, JUDGED, "set_map", Fraction(3, 7)),  # 3 * 3 / (7 * 3)
        Hand(("a", "x"), JUDGED, "set_map", Fraction(1, 6)),  # 1 * 1 / (2 * 3)
        Hand(("a", "b"), JUDGED, "set_map(rel=2)", Fraction(1, 4)),  # 1 * 1 / (2 * 2)
        Hand((), JUDGED, "set_map", Fraction(0)),
        Hand(RANKED, {"d": 0}, "set_map", Fraction(0)),
    ],
    "set_relative_precision": [
        Hand(RANKED, JUDGED, "set_relative_precision", Fraction(1)),  # three of three
        Hand(("a", "x"), JUDGED, "set_relative_precision", Fraction(1, 2)),  # one of two places
        # b of b, c
        Hand(("b", "x", "y"), JUDGED, "set_relative_precision(rel=2)", Fraction(1, 2)),
        Hand((), JUDGED, "set_relative_precision", Fraction(0)),
    ],
    "set_f": [
        # precision 3/7, recall 1: 2 * 3/7 / (3/7 + 1)
        Hand(RANKED, JUDGED, "set_f", Fraction(3, 5)),
        # w = 4: 5 * 3/7 / (12/7 + 1)
        Hand(RANKED, JUDGED, "set_f(beta=2)", Fraction(15, 19)),
        Hand(RANKED, JUDGED, "set_f(beta=2,weight=squared)", Fraction(15, 19)),
        # w = 2: 3 * 3/7 / (6/7 + 1)
        Hand(RANKED, JUDGED, "set_f(beta=2,weight=plain)", Fraction(9, 13)),
        Hand(RANKED, JUDGED, "set_f(rel=2)", Fraction(4, 9)),  # 2 * 2/7 / (2/7 + 1)
        Hand(("x",), JUDGED, "set_f", Fraction(0)),
    ],
    "num_q": [
        Hand(RANKED, JUDGED, "num_q", Fraction(1)),
        Hand((), {"d": 0}, "num_q", Fraction(1)),
    ],
    "num_ret": [
        Hand(RANKED, JUDGED, "num_ret", Fraction(7)),
        Hand(RANKED, JUDGED, "num_ret(judged_only=true)", Fraction(4)),
    ],
    "num_rel": [
        Hand(RANKED, JUDGED, "num_rel", Fraction(3)),
        Hand((), JUDGED, "num_rel(rel=2)", Fraction(2)),
    ],
    "num_rel_ret": [
        Hand(RANKED, JUDGED, "num_rel_ret", Fraction(3)),
        Hand(("a", "b", "x"), JUDGED, "num_rel_ret(rel=2)", Fraction(1)),
    ],
    "num_nonrel_judged_ret": [
        Hand(RANKED, JUDGED, "num_nonrel_judged_ret", Fraction(1)),  # d, not e
        Hand(RANKED, JUDGED, "num_nonrel_judged_ret(rel=2)", Fraction(2)),  # a and d
    ],
    "utility": [
        Hand(RANKED, JUDGED, "utility", Fraction(-1)),  # 3 - 4
        Hand(RANKED, JUDGED, "utility(rel=2)", Fraction(-3)),  # 2 - 5
        Hand(RANKED, JUDGED, "utility(a=2,b=-0.5)", Fraction(4)),  # 6 - 2
        Hand(("a", "x"), JUDGED, "utility(c=-2)", Fraction(-4)),  # 1 - 1 - 2 * 2
        # of ten documents, three are neither retrieved nor relevant: 3 - 4 + 3/2
        Hand(RANKED, JUDGED, "utility(d=0.5,documents=10)", Fraction(1, 2)),
    ],
    "bpref": [
        # one judged not relevant, d: above b and c, not above a
        Hand(RANKED, JUDGED, "bpref", Fraction(1, 3)),
        # three judged not relevant, none, one and two of them above: (1 + 2/3 + 1/3) / 3
        Hand(MIXED, MIXED_JUDGED, "bpref", Fraction(2, 3)),
        # a and b of two; four not relevant, but two is the most: (1 + 1/2) / 2
        Hand(MIXED, MIXED_JUDGED, "bpref(rel=2)", Fraction(3, 4)),
        Hand(RANKED, {"d": 0}, "bpref", Fraction(0)),
        # two stand above the one, and no more than one counts: 1 - 1/1
        Hand(("n1", "n2", "a"), {"a": 1, "n1": 0, "n2": 0}, "bpref", Fraction(0)),
        Hand(("x", "a"), {"a": 1, "z": 1}, "bpref", Fraction(1, 2)),  # x was not judged
    ],
    "gm_bpref": [
        Hand(MIXED, MIXED_JUDGED, "gm_bpref", Fraction(2, 3)),
        Hand(MIXED, MIXED_JUDGED, "gm_bpref(rel=2)", Fraction(3, 4)),
    ],
    "infap": [
        # a below x: 1/2 and nothing of the pool. b: 1/4 + 3/4 * 2/3 * (1 + e)/(2 + 2e) = 1/2.
        # c: 1/5 + 4/5 * 3/4 * (2 + e)/(3 + 2e)
        Hand(
            RANKED,
            JUDGED,
            "infap",
            (1 + Fraction(1, 5) + Fraction(3, 5) * (2 + EPSILON) / (3 + 2 * EPSILON)) / 3,
        ),
        # b: 1/4 + 3/4 * 2/3 * e/(2 + 2e). c: 1/5 + 4/5 * 3/4 * (1 + e)/(3 + 2e)
        Hand(
            RANKED,
            JUDGED,
            "infap(rel=2)",
            (
                Fraction(1, 4)
                + Fraction(1, 2) * EPSILON / (2 + 2 * EPSILON)
                + Fraction(1, 5)
                + Fraction(3, 5) * (1 + EPSILON) / (3 + 2 * EPSILON)
            )
            / 2,
        ),
        # e is in the pool, not judged: 1/2 + 1/2 * 1/1 * e/(2e)
        Hand(("e", "a"), {"a": 1, "e": -1}, "infap", Fraction(3, 4)),
        Hand(("a", "x"), {"a": 1, "z": 1}, "infap", Fraction(1, 2)),
        Hand(RANKED, {"d": 0}, "infap", Fraction(0)),
    ],
    "judged": [
        Hand(RANKED, JUDGED, "judged@5", Fraction(4, 5)),  # all but x
        Hand(RANKED, JUDGED, "judged@6", Fraction(4, 6)),  # e is not judged either
        Hand(RANKED, JUDGED, "judged@10", Fraction(4, 7)),  # seven were retrieved
        Hand((), JUDGED, "judged@10", Fraction(0)),
        Hand(RANKED, JUDGED, "judged", Fraction(4, 7)),
        Hand(RANKED, JUDGED, "judged(negative=judged)", Fraction(5, 7)),  # e, too
    ],
    "unjudged": [
        Hand(RANKED, JUDGED, "unjudged@5", Fraction(1, 5)),
        Hand(RANKED, JUDGED, "unjudged@7", Fraction(3, 7)),  # x, e, y
        Hand(RANKED, JUDGED, "unjudged@10", Fraction(3, 10)),  # what is missing is not unjudged
        Hand((), JUDGED, "unjudged@10", Fraction(0)),
    ],
    "rbp_residual": [
        # x, e, y at ranks 1, 6, 7, and all after: 1/2 * (1 + 1/32 + 1/64) + 1/128
        Hand(RANKED, JUDGED, "rbp_residual(p=0.5)", Fraction(17, 32)),
        Hand(RANKED, JUDGED, "rbp_residual@2(p=0.5)", Fraction(3, 4)),  # 1/2 * 1 + 1/4
        Hand(("a",), {"a": 1}, "rbp_residual", Fraction(4, 5)),  # only what comes after
        Hand(("x",), {"a": 1}, "rbp_residual@5", Fraction(1)),  # 1/5 and 4/5
        Hand((), {"a": 1}, "rbp_residual", Fraction(1)),
        # a, d, b, c
        Hand(RANKED, JUDGED, "rbp_residual(p=0.5,judged_only=true)", Fraction(1, 16)),
    ],
}
