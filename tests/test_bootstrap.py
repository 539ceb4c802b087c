"""Samples of rows and the intervals that they give, against the bootstrap written out."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from draws import drawn_rows, middle, quantile, sampled_means
from made import evaluation

import rankmeter as rm
from rankmeter._core.experiments.resampling import WIDE, bootstrap_sums
from rankmeter.statistics import bootstrap
from rankmeter.statistics.bootstrap import bootstrap_intervals, corrected_ends, percentile_ends

Table = np.ndarray[Any, np.dtype[np.float64]]


def ends_of(values: Table, ends: Any = percentile_ends, **options: Any) -> Any:
    how: dict[str, Any] = {"confidence": 0.95, "draws": 200, "seed": 0, "least": 0.00001}
    columns = values.shape[1]
    return bootstrap_intervals(values, ends, **(how | {"geometric": [False] * columns} | options))


@pytest.mark.parametrize("columns", [2, WIDE - 2, WIDE, WIDE + 4, 2 * WIDE])
@pytest.mark.parametrize("rows", [1, 7, 40])
def test_samples_of_the_core(rows: int, columns: int) -> None:
    seed, draws = 99, 30
    values = np.random.default_rng(0).random((rows, columns))
    expected = np.zeros((draws, columns))
    for draw in range(draws):
        for row in drawn_rows(rows, draw, seed):
            expected[draw] += values[row]
    sums = np.empty((draws, columns))
    bootstrap_sums(values, 0, draws, seed, sums)
    assert sums.tolist() == expected.tolist()
    bootstrap_sums(values, 10, 20, seed, sums[:10])
    assert sums[:10].tolist() == expected[10:20].tolist()


@pytest.mark.parametrize(
    ("values", "room"), [((0, 2), (1, 2)), ((3, 1), (1, 1)), ((3, 2), (2, 2)), ((3, 2), (1, 4))]
)
def test_the_core_refuses(values: Any, room: Any) -> None:
    with pytest.raises(ValueError, match="there must be"):
        bootstrap_sums(np.zeros(values), 0, 1, 0, np.zeros(room))


def test_the_middle_of_the_means() -> None:
    values = np.random.default_rng(1).random((50, 1))
    expected = middle(sampled_means(values[:, 0].tolist(), 200, seed=3), 0.8)
    assert ends_of(values, confidence=0.8, seed=3)[0] == expected


def test_corrected_for_bias_and_skewness() -> None:
    values = np.random.default_rng(2).beta(0.5, 2, (30, 1))
    means = sampled_means(values[:, 0].tolist(), 500)
    normal = NormalDist()
    mean = values.mean()
    bias = normal.inv_cdf(sum(m < mean for m in means) / 500)
    centred = values - mean
    a = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    shares = [
        normal.cdf(bias + (bias + z) / (1 - a * (bias + z)))
        for z in (normal.inv_cdf(0.05), normal.inv_cdf(0.95))
    ]
    expected = [quantile(means, share) for share in shares]
    found = ends_of(values, corrected_ends, confidence=0.9, draws=500)[0]
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("ends", [percentile_ends, corrected_ends])
def test_several_calls_give_the_intervals_of_one(
    ends: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(3).random((50, WIDE + 3))
    whole = ends_of(values, ends)
    monkeypatch.setattr(bootstrap, "_ADDITIONS_A_CALL", 7 * 50 * WIDE)  # 200 is no multiple of 7
    assert ends_of(values, ends) == whole
    monkeypatch.setattr(bootstrap, "_ADDITIONS_A_CALL", 1)
    assert ends_of(values, ends) == whole
    alone = [ends_of(values[:, i : i + 1], ends)[0] for i in range(values.shape[1])]
    assert alone == whole


def test_geometric_means_are_drawn_in_logarithms() -> None:
    values = np.random.default_rng(4).random((20, 2))
    values[0] = 0.0
    drawn, plain = ends_of(values, geometric=[True, False])
    logarithms = [math.log(max(value, 0.00001)) for value in values[:, 0].tolist()]
    expected = [math.exp(end) for end in middle(sampled_means(logarithms, 200))]
    assert drawn == pytest.approx(expected, rel=1e-14)
    assert plain == ends_of(values[:, 1:])[0]


@pytest.mark.parametrize("ends", [percentile_ends, corrected_ends])
def test_values_without_a_spread(ends: Any) -> None:
    values = np.array([[0.3, 0.3, 0.0]] * 7)
    found = ends_of(values, ends, geometric=[False, True, True])
    assert found == [(0.3, 0.3), (0.3, 0.3), (0.00001, 0.00001)]
    found = ends_of(values[:1], ends, geometric=[False, True, True])
    assert found == [(-math.inf, math.inf), (0.0, math.inf), (0.0, math.inf)]


def test_values_that_hardly_differ() -> None:
    """The cube of their spread is below all doubles."""
    low, high = ends_of(np.array([[0.0], [1e-110]]), corrected_ends)[0]
    assert low == high == 5e-111


@pytest.mark.parametrize("seed", range(6))
def test_no_sample_or_each_is_below_the_mean(seed: int) -> None:
    found = rm.intervals(evaluation([1, 1 / 2, 1 / 3]), draws=1, seed=seed)["mrr"]
    (mean,) = sampled_means([1, 1 / 2, 1 / 3], 1, seed)
    assert found[1:3] == (mean, mean)


def test_the_digits() -> None:
    """They must come out on every platform."""
    values = 1.0 / np.arange(1, 41)[:, np.newaxis]
    found = ends_of(values), ends_of(values, corrected_ends), ends_of(values, geometric=[True])
    assert [[end.hex() for end in ends[0]] for ends in found] == [
        ["0x1.0ab7843f1452bp-4", "0x1.6b02aed4269acp-3"],
        ["0x1.1bfe8a96b9ecep-4", "0x1.73762f4cb3e9ap-3"],
        ["0x1.a32282d91baeap-5", "0x1.5a7f331426c0cp-4"],
    ]
