"""Quantiles and exact intervals, against scipy."""

from __future__ import annotations

import math

import pytest

from rankmeter.statistics.distributions import beta_cdf, binomial_interval, normal_cdf, t_quantile

DEGREES = [1, 2, 3, 4.5, 9, 30, 99, 999, 1001, 5000, 10**6, 10**11]


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("probability", [0.0005, 0.1, 0.5, 0.8, 0.975, 0.995, 0.99999])
def test_t_quantile(degrees: float, probability: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.t.ppf(probability, degrees)
    assert t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("degrees", [1001, 5000])
@pytest.mark.parametrize("probability", [0.1, 0.8, 0.975])
def test_t_quantile_of_many_degrees(degrees: float, probability: float) -> None:
    """Each term of the expansion counts."""
    stats = pytest.importorskip("scipy.stats")
    expected = stats.t.ppf(probability, degrees)
    assert t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-11)


def test_t_quantile_of_one_degree_is_that_of_cauchy() -> None:
    assert t_quantile(0.975, 1) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-12)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 7), (3, 7), (50, 50)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_binomial_interval(successes: int, trials: int, confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(successes, trials).proportion_ci(confidence, "exact")
    found = binomial_interval(successes, trials, confidence)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_binomial_interval_of_many() -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(12_345, 200_000).proportion_ci(0.95, "exact")
    found = binomial_interval(12_345, 200_000, 0.95)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-8)


def test_no_success_in_n_has_a_closed_form() -> None:
    low, high = binomial_interval(0, 20, 0.95)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025 ** (1 / 20), rel=1e-12)


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1, 1), (3, 0.5), (200, 3), (50, 50)])
def test_beta_cdf(x: float, a: float, b: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    assert beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("value", [-50.0, -9.1, -8.0, -3.0, -0.1, 0.0, 1e-300, 0.7, 2.0, 8.9, 1e10])
def test_normal_cdf(value: float) -> None:
    expected = math.erfc(-value / math.sqrt(2)) / 2
    assert normal_cdf(value) == pytest.approx(expected, rel=0, abs=4e-16)
    assert 0.0 <= normal_cdf(value) <= 1.0


def test_normal_cdf_of_known_quantiles() -> None:
    assert normal_cdf(0.0) == 0.5
    assert normal_cdf(-1.959963984540054) == pytest.approx(0.025, rel=1e-12)
