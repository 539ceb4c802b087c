"""Risk and coverage: values by hand, a naive reference, and what is refused."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankmeter as rm


def evaluation(values: list[float]) -> rm.Evaluation:
    """Of queries 0, 1, ..., whose mrr is 1 / n or 0."""
    qrels = {i: {"a": 1} for i in range(len(values))}
    run = {
        i: [*(f"x{j}" for j in range(round(1 / value) - 1)), "a"] if value else ["x"]
        for i, value in enumerate(values)
    }
    return rm.evaluate(qrels, run, "mrr")


def test_values_by_hand() -> None:
    # most confident first: 1, 0, 0.5, 1
    ev = evaluation([0.5, 1, 0, 1])
    curve = rm.risk_coverage(ev, "mrr", {0: 0.2, 1: 0.9, 2: 0.5, 3: 0.1, "else": 1})
    assert curve.query_ids == (1, 2, 0, 3)
    assert curve.confidence.tolist() == [0.9, 0.5, 0.2, 0.1]
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert curve.risk.tolist() == [0, 0.5, 0.5, 0.375]
    assert curve.oracle.tolist() == [0, 0, 0.5 / 3, 0.375]
    assert curve.random.tolist() == [0.375] * 4
    assert curve.aurc == 1.375 / 4
    assert curve.oracle_aurc == pytest.approx((0.5 / 3 + 0.375) / 4)
    assert curve.random_aurc == 0.375
    assert curve.excess_aurc == curve.aurc - curve.oracle_aurc
    with pytest.raises(ValueError, match="read-only"):
        curve.risk[0] = 1
    assert json.loads(json.dumps(curve.to_dict()))["risk"] == [0, 0.5, 0.5, 0.375]


def test_equal_confidence_is_the_mean_over_orders() -> None:
    ev = evaluation([1, 0, 0.5, 1])
    confidence = {0: 1.0, 1: 1.0, 2: 1.0, 3: 0.0}
    curve = rm.risk_coverage(ev, "mrr", confidence)
    assert curve.risk.tolist() == pytest.approx([0.5, 0.5, 0.5, 0.375])


pairs_of_values = st.tuples(st.sampled_from([0, 1, 0.5, 0.25]), st.integers(0, 2))


@given(st.lists(pairs_of_values, min_size=1, max_size=5))
def test_naive_reference(pairs: list[tuple[float, int]]) -> None:
    values = [value for value, _ in pairs]
    n = len(values)
    curve = rm.risk_coverage(evaluation(values), "mrr", {i: c for i, (_, c) in enumerate(pairs)})
    orders = [
        order
        for order in itertools.permutations(range(n))
        if all(pairs[a][1] >= pairs[b][1] for a, b in itertools.pairwise(order))
    ]

    def mean_risk(orders: Any, i: int) -> float:
        return float(np.mean([1 - sum(values[q] for q in order[:i]) / i for order in orders]))

    every = list(itertools.permutations(range(n)))
    best = [sorted(range(n), key=lambda q: -values[q])]
    for i in range(1, n + 1):
        assert curve.risk[i - 1] == pytest.approx(mean_risk(orders, i), abs=1e-12)
        assert curve.random[i - 1] == pytest.approx(mean_risk(every, i), abs=1e-12)
        assert curve.oracle[i - 1] == pytest.approx(mean_risk(best, i), abs=1e-12)
    assert curve.aurc == pytest.approx(curve.risk.mean())
    assert curve.excess_aurc >= -1e-12


def test_the_top_score_is_the_default(tmp_path: Path) -> None:
    qrels = {q: {"a": 1} for q in ("q1", "q2", "q3")}
    run = {"q1": {"x": 3.0, "a": 1.0}, "q2": {"a": 7.0}, "q4": {"a": 9.0}}
    ev = rm.evaluate(qrels, run, ["mrr", "hit@1"])
    curve = rm.risk_coverage(ev, "hit@1", run=run)
    assert curve.query_ids == ("q2", "q1", "q3")
    assert curve.confidence.tolist() == [7, 3, -math.inf]
    assert curve.risk.tolist() == [0, 0.5, pytest.approx(2 / 3)]
    path = tmp_path / "run"
    rm.write_run(run, path)
    assert rm.risk_coverage(ev, "hit@1", run=path).to_dict() == curve.to_dict()


@pytest.mark.parametrize("base", [2**53, 1_700_000_000_000_000_000])
def test_large_integers_order_as_integers(base: int) -> None:
    ev = rm.evaluate({"x": {"a": 1}, "y": {"a": 1}}, {"x": ["a"], "y": ["b"]}, "mrr")
    given = {"x": base + 1, "y": base}
    curve = rm.risk_coverage(ev, "mrr", given)
    assert curve.risk.tolist() == [0.0, 0.5]
    assert curve.confidence.tolist() == [float(base + 1), float(base)]
    run = {query: {"a": score} for query, score in given.items()}
    assert rm.risk_coverage(ev, "mrr", run=run).risk.tolist() == [0.0, 0.5]


def test_a_perfect_system_has_no_risk() -> None:
    curve = rm.risk_coverage(evaluation([1] * 10), "mrr", dict.fromkeys(range(10), 0.3))
    assert curve.risk.tolist() == [0] * 10
    assert (curve.aurc, curve.excess_aurc) == (0, 0)


def test_what_is_shown() -> None:
    curve = rm.risk_coverage(evaluation([1, 0] * 12), "mrr", {i: -i for i in range(24)})
    lines = repr(curve).splitlines()
    assert len(lines) == 1 + 10 + 1 + 1
    assert lines[10].split() == ["100%", "0.5000", "0.5000", "0.5000"]
    assert lines[-1].startswith("risk = 1 - mrr, 24 queries")
    assert "<table>" in curve._repr_html_()


EV = evaluation([1, 0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (({}, "mrr", {}), TypeError, "ev must be an Evaluation"),
        ((EV, "map", {0: 1, 1: 1}), KeyError, "was not evaluated"),
        ((EV, "mrr"), TypeError, "either confidence="),
        ((EV, "mrr", {0: 1}, {0: {}}), TypeError, "either confidence="),
        ((EV, "mrr", [1, 2]), TypeError, "confidence must be a mapping"),
        ((EV, "mrr", {0: 1}), ValueError, "1 query has no confidence, such as 1"),
        ((EV, "mrr", {7: 1}), ValueError, "2 queries have no confidence, such as 0"),
        ((EV, "mrr", {"0": 1, "1": 2}), TypeError, "no query has a confidence; str ids .* number"),
        ((EV, "mrr", {0: 1, 1: math.nan}), ValueError, "query 1: .*NaN"),
        ((EV, "mrr", {0: 1, 1: "high"}), TypeError, "query 1: 'high' is not a number"),
        ((EV, "mrr", {0: 1, 1: None}), TypeError, "query 1: None is not a number"),
        ((EV, "mrr", None, {0: ["a"]}), ValueError, "query 0: a list has no scores"),
        ((EV, "mrr", None, {0: {"a": math.nan}}), ValueError, "query 0: .*NaN"),
        ((EV, "mrr", None, [1]), TypeError, "run must be a mapping"),
    ],
)
def test_what_is_refused(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rm.risk_coverage(*arguments)


def test_metrics_above_1_have_no_risk() -> None:
    ev = rm.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, "num_rel_ret")
    with pytest.raises(ValueError, match="query 'q': num_rel_ret is 2"):
        rm.risk_coverage(ev, "num_rel_ret", {"q": 1})
