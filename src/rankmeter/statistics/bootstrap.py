"""Intervals of means by drawing the rows again, the same digits on every platform.

Only what IEEE 754 fixes is used, and sums whose order is fixed: no library for linear algebra, no
logarithm of the C library, no generator whose stream may change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankmeter._core.experiments.resampling import LANES, WIDE, bootstrap_sums
from rankmeter._core.rounded import exact_sums, exponential_of, logarithms
from rankmeter.statistics.distributions import bisect, normal_cdf

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ends = Callable[[Floats, Floats, float], tuple[float, float]]

_ADDITIONS_A_CALL = 1 << 26


def bootstrap_intervals(
    values: Floats,
    ends: Ends,
    *,
    geometric: Sequence[bool],
    least: float,
    confidence: float,
    draws: int,
    seed: int,
) -> list[tuple[float, float]]:
    """Return the interval of each column's mean.

    Parameters
    ----------
    values : numpy.ndarray
        float64, rows x columns, finite. All columns see the same samples of rows.
    ends : callable
        `percentile_ends` or `corrected_ends`.
    geometric : sequence of bool
        Of which columns the mean is the geometric one; these are drawn in logarithms.
    least : float
        What lower values count as in a geometric mean.
    confidence : float
    draws, seed : int

    Returns
    -------
    list of (float, float)
        Of equal values, that value twice. One row tells nothing: infinite.
    """
    if len(values) == 1:
        return [(0.0 if logarithmic else -math.inf, math.inf) for logarithmic in geometric]
    seen = np.where(geometric, np.maximum(values, least), values)
    lowest, highest = seen.min(axis=0).tolist(), seen.max(axis=0).tolist()
    for column in np.flatnonzero(geometric).tolist():
        seen[:, column] = logarithms(seen[:, column])
    found = []
    for column, means in enumerate(_sample_means(seen, draws, seed)):
        low, high = lowest[column], highest[column]
        if low < high:
            low, high = ends(seen[:, column], means, confidence)
            if geometric[column]:
                low, high = exponential_of(low), exponential_of(high)
        found.append((low, high))
    return found


def _sample_means(values: Floats, draws: int, seed: int) -> Floats:
    """Return columns x draws: the means of samples of the rows, drawn with replacement, sorted."""
    rows, columns = values.shape
    means = np.empty((columns, draws))
    step = max(1, _ADDITIONS_A_CALL // (rows * WIDE))
    for first in range(0, columns, WIDE):
        block = values[:, first : first + WIDE]
        width = block.shape[1]
        filled = np.zeros((rows, width + -width % LANES))
        filled[:, :width] = block
        for begin in range(0, draws, step):  # between two calls, it can be interrupted
            end = min(begin + step, draws)
            sums = np.empty((end - begin, filled.shape[1]))
            bootstrap_sums(filled, begin, end, seed, sums)
            means[first : first + width, begin:end] = sums[:, :width].T / rows
    means.sort(axis=1)
    return means


def percentile_ends(_values: Floats, means: Floats, confidence: float) -> tuple[float, float]:
    """Return where the middle of the means of samples lies."""
    tail = (1.0 - confidence) / 2.0
    return _quantile(means, tail), _quantile(means, 1.0 - tail)


def corrected_ends(values: Floats, means: Floats, confidence: float) -> tuple[float, float]:
    """Return the interval corrected for bias and skewness (Efron, BCa, 1987)."""
    mean = _sum(values) / len(values)
    centred = values - mean
    squares = _sum(centred * centred)
    scale = squares * math.sqrt(squares)
    if scale == 0.0:  # they hardly differ
        return mean, mean
    acceleration = _sum(centred * centred * centred) / (6.0 * scale)
    below = (int((means < mean).sum()) + int((means == mean).sum()) / 2.0) / len(means)
    bias = _score(min(max(below, 0.5 / len(means)), 1.0 - 0.5 / len(means)))

    def share(z: float) -> float:
        return normal_cdf(bias + (bias + z) / max(1.0 - acceleration * (bias + z), 1e-9))

    z = _score((1.0 + confidence) / 2.0)
    return _quantile(means, share(-z)), _quantile(means, share(z))


def _score(probability: float) -> float:
    """Return what a standard normal variable stays below with this probability."""
    return bisect(lambda z: normal_cdf(z) < probability, -9.0, 9.0)


def _quantile(ordered: Floats, share: float) -> float:
    """Return what that share of the sample stays below, between the two nearest in proportion."""
    place = (len(ordered) - 1) * share
    below = int(place)
    low, high = ordered[[below, min(below + 1, len(ordered) - 1)]].tolist()
    return float(low + (high - low) * (place - below))


def _sum(column: Floats) -> float:
    return exact_sums(column[:, np.newaxis])[0]
