"""What a golden set can tell: intervals of means, detectable differences, queries needed."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from made import evaluation

import rankmeter as rm
from rankmeter.experiments.resolution import margin, queries_needed

# ---------------------------------------------------------------------------------------------
# Intervals of means


def test_shares_are_binomial() -> None:
    stats = pytest.importorskip("scipy.stats")
    ev = evaluation([1.0] * 7 + [0.0] * 3, metrics="hit@10")
    found = rm.intervals(ev, confidence=0.9)["hit@10"]
    expected = stats.binomtest(7, 10).proportion_ci(0.9, "exact")
    assert found[:3] == pytest.approx((0.7, expected.low, expected.high), rel=1e-9)
    assert found.how == "binomial"
    assert rm.intervals(evaluation([0.0] * 20))["mrr"].high == pytest.approx(1 - 0.025**0.05)
    assert rm.intervals(evaluation([1.0, 0.5]))["mrr"].how == "bootstrap"
    # A count is not a share, even where all counts are 0 or 1.
    assert rm.intervals(evaluation([1.0] * 5, metrics="num_q"))["num_q"] == (
        1.0,
        1.0,
        1.0,
        "bootstrap",
    )


def test_a_geometric_mean_is_no_share() -> None:
    """Even where all values are 0 or 1."""
    found = rm.intervals(evaluation([1.0] * 5 + [0.0] * 5, metrics="gm_map"))["gm_map"]
    assert found.how == "bootstrap"
    assert found.low < found.mean < found.high
    assert found.mean == pytest.approx(10**-2.5, rel=1e-12)


@pytest.mark.parametrize("n", [20, 100])
def test_bootstrap_is_that_of_scipy(n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(n).beta(0.5, 1.5, n)
    draws = 20_000
    found = rm.intervals(evaluation(values), draws=draws)["mrr"]
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=draws, method="BCa", random_state=1
    ).confidence_interval
    # Two ends that are drawn, each with an error of some 3% of the standard error.
    error = 0.1 * values.std() / math.sqrt(n)
    assert found.low == pytest.approx(expected.low, abs=error)
    assert found.high == pytest.approx(expected.high, abs=error)
    assert found.mean == pytest.approx(values.mean(), rel=1e-15)


def test_geometric_mean_is_drawn_in_logarithms() -> None:
    values = np.random.default_rng(0).beta(1, 2, 50)
    values[0] = 0.0
    ev = evaluation(np.stack([values, values], axis=1), metrics=["gm_map", "map"])
    found = rm.intervals(ev)["gm_map"]
    assert found.mean == ev["gm_map"]
    logs = evaluation(np.log(np.maximum(values, 0.00001)))
    expected = rm.intervals(logs)["mrr"]
    assert found[1:3] == pytest.approx((math.exp(expected.low), math.exp(expected.high)))


def test_equal_values_and_one_query() -> None:
    assert rm.intervals(evaluation([0.3] * 7))["mrr"][1:3] == (0.3, 0.3)
    assert rm.intervals(evaluation([0.3]))["mrr"][1:3] == (-math.inf, math.inf)


@pytest.mark.parametrize("seed", range(6))
def test_one_draw_is_an_interval(seed: int) -> None:
    """Whether it lies above the mean or below."""
    found = rm.intervals(evaluation([1, 1 / 2, 1 / 3]), draws=1, seed=seed)["mrr"]
    assert 1 / 3 <= found.low == found.high <= 1


def test_the_seed_decides() -> None:
    ev = evaluation(np.random.default_rng(0).random((40, 3)), metrics=["mrr", "map", "ndcg"])
    assert rm.intervals(ev) == rm.intervals(ev)
    assert rm.intervals(ev, seed=1) != rm.intervals(ev)
    # The same draws for every metric, however many there are.
    alone = evaluation(ev.values[:, 2].copy(), metrics="ndcg")
    assert rm.intervals(alone)["ndcg"] == rm.intervals(ev)["ndcg"]


def test_intervals_print() -> None:
    ev = evaluation([[1.0, 0.25], [0.0, 0.5]], metrics=["hit@1", "mrr"])
    lines = repr(rm.intervals(ev)).splitlines()
    assert lines[0].split() == ["metric", "method", "mean", "95%", "interval"]
    assert lines[1].split()[:3] == ["hit@1", "binomial", "0.5000"]
    assert lines[-1] == "2 queries, 10,000 bootstrap samples (seed 0)"
    content = rm.intervals(ev, draws=10).to_dict()
    assert content["intervals"]["hit@1"]["how"] == "binomial"
    assert (content["queries"], content["draws"]) == (2, 10)
    json.dumps(content)


def test_intervals_refuse() -> None:
    with pytest.raises(TypeError, match="intervals takes an Evaluation, not dict"):
        rm.intervals({})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="confidence"):
        rm.intervals(evaluation([0.5]), confidence=95)
    with pytest.raises(ValueError, match="not finite"):
        rm.intervals(evaluation([math.nan, 0.5]))


# ---------------------------------------------------------------------------------------------
# Resolution


def of(differences: Any, **options: Any) -> Any:
    base = evaluation(np.zeros(len(differences)))
    return rm.resolution(base, evaluation(differences), **options)["new", "mrr"]


@pytest.mark.parametrize("n", [10, 30, 200, 5000])
@pytest.mark.parametrize("power", [0.8, 0.95])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_detectable_is_that_of_the_noncentral_t(n: int, power: float, alpha: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    critical = stats.t.ppf(1 - alpha / 2, n - 1)
    delta = margin(n, alpha, power) * math.sqrt(n)
    assert stats.nct.sf(critical, n - 1, delta) == pytest.approx(power, abs=0.02)


@pytest.mark.parametrize("difference", [0.5, 0.1, 0.01, 0.00001])
def test_needed_is_the_lowest_that_suffices(difference: float) -> None:
    n = queries_needed(difference, 0.3, 0.05, 0.8)
    assert n is not None
    assert margin(n, 0.05, 0.8) * 0.3 <= difference
    assert n == 2 or margin(n - 1, 0.05, 0.8) * 0.3 > difference


def test_needed_by_hand() -> None:
    # (1.96 + 0.8416)^2 * (0.3 / 0.1)^2 = 70.6, and two more because s is an estimate.
    assert queries_needed(0.1, 0.3, 0.05, 0.8) == 73
    assert queries_needed(0.0, 0.3, 0.05, 0.8) is None
    assert queries_needed(1e-9, 1.0, 0.05, 0.8) is None
    assert queries_needed(0.1, 0.0, 0.05, 0.8) == 2


def test_rows() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.02, 0.2, 50)
    row = of(values)
    assert row.queries == row.changed == 50
    assert row.deviation == pytest.approx(values.std(ddof=1), rel=1e-12)
    assert row.difference == pytest.approx(values.mean(), rel=1e-12)
    assert row.detectable == margin(50, 0.05, 0.8) * row.deviation
    assert row.needed == queries_needed(abs(row.difference), row.deviation, 0.05, 0.8)
    assert row.resolvable
    assert row.sentence.startswith("new, mrr: 50 queries show a difference of 0.0")
    assert of(values, difference=row.detectable).needed == 50
    assert of(values, difference={"mrr": -0.1}).needed == of(values, difference=0.1).needed
    assert of(values, alpha=0.001).detectable > row.detectable
    assert of(values, power=0.9).detectable > row.detectable


def test_unresolvable_is_said() -> None:
    row = of([0.5, 0.5, 0.25, 0.0, 0.0])
    assert (row.changed, row.smallest_p, row.resolvable) == (3, 0.25, False)
    assert "unresolvable, 3 queries differ and p cannot be below 0.25" in row.sentence
    row = of([0.5] * 5 + [0.25], alpha=2.0**-5)  # just the lowest p
    assert row.resolvable
    assert "unresolvable" not in row.sentence
    row = of([0.0] * 9)
    assert (row.detectable, row.needed, row.smallest_p) == (None, None, 1.0)
    assert row.sentence == "new, mrr: unresolvable, no query differs"
    assert of([0.5]).detectable is None


def test_of_a_comparison() -> None:
    evs = {n: evaluation(np.random.default_rng(i).random(20)) for i, n in enumerate("abc")}
    comparison = rm.compare(evs, alpha=0.01)
    found = rm.resolution(comparison)
    assert [row.system for row in found.rows] == ["b", "c"]
    assert found.alpha == 0.01
    assert found["c", "recip_rank"] is found.rows[1]
    content = json.loads(found.to_json())
    assert content["rows"][1]["needed"] == found.rows[1].needed
    lines = repr(found).splitlines()
    assert lines[0].split()[:5] == ["system", "metric", "queries", "differ", "deviation"]
    assert lines[3] == "power 80%, two-sided alpha 0.01, no correction"
    assert json.loads(rm.resolution(evaluation([0.0]), evaluation([1.0])).to_json())["rows"]


def test_resolution_refuses() -> None:
    ev = evaluation([0.5, 0.25])
    for given in (({},), (ev,), (ev, {}), (rm.compare({"a": ev, "b": ev}), ev)):
        with pytest.raises(TypeError):
            rm.resolution(*given)
    for options, error in (
        ({"power": 1}, ValueError),
        ({"alpha": 0}, ValueError),
        ({"difference": "x"}, TypeError),
        ({"difference": math.nan}, ValueError),
        ({"difference": {"map": 0.1}}, KeyError),
        ({"difference": {}}, ValueError),
    ):
        with pytest.raises(error):
            of([0.5, 0.25], **options)
    with pytest.raises(KeyError, match="no system 'x'; there are new"):
        rm.resolution(ev, ev)["x", "mrr"]
    with pytest.raises(TypeError, match=r"\[system, metric\]"):
        rm.resolution(ev, ev)["new"]  # type: ignore[index]


# ---------------------------------------------------------------------------------------------
# By simulation


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["beta", "mixed"])
@pytest.mark.parametrize("n", [50, 200])
def test_intervals_hold_the_truth_as_often_as_they_say(kind: str, n: int) -> None:
    rng = np.random.default_rng([n, len(kind)])
    held = 0
    for _ in range(2000):
        if kind == "beta":
            values, truth = rng.beta(2.0, 1.0, n), 2 / 3
        else:  # half of the queries at 0 or 1
            values = np.where(rng.random(n) < 0.5, rng.integers(0, 2, n), rng.random(n))
            truth = 0.5
        found = rm.intervals(evaluation(values), draws=2000)["mrr"]
        held += found.low <= truth <= found.high
    print(kind, n, held / 2000)
    assert 0.93 <= held / 2000 <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_binomial_intervals_never_hold_less_than_they_say(share: float) -> None:
    rng = np.random.default_rng(int(share * 100))
    held = 0
    for _ in range(2000):
        values = (rng.random(60) < share).astype(float)
        found = rm.intervals(evaluation(values))["mrr"]
        held += found.low <= share <= found.high
    assert held / 2000 >= 0.94


@pytest.mark.slow
def test_what_is_detectable_is_detected_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    n, deviation = 40, 0.3
    shift = margin(n, 0.05, 0.8) * deviation
    found = 0
    for _ in range(2000):
        base = evaluation(np.zeros(n))
        new = evaluation(rng.normal(shift, deviation, n))
        found += rm.compare({"base": base, "new": new}, draws=2000).rows[0].verdict == "better"
    assert 0.77 <= found / 2000 <= 0.83


def test_a_confidence_that_leaves_nothing_out_is_refused() -> None:
    ev = rm.evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"], "r": []}, "mrr")
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        rm.intervals(ev, confidence=1 - 2**-53)
