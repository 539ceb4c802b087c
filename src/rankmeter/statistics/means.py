"""Means, spreads and the margins of means, the same digits on every platform; numbers in order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankmeter._core.rounded import exact_means, exact_sums
from rankmeter.statistics.distributions import t_quantile

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def moments(column: Floats) -> tuple[float, float]:
    """Return mean and standard deviation as of a sample, the same digits everywhere.

    The deviation of one value is infinite: it may be anything.
    """
    mean = exact_means(column[:, np.newaxis])[0]
    if len(column) < 2:
        return mean, math.inf
    squares = exact_sums(((column - mean) ** 2)[:, np.newaxis])[0]
    return mean, math.sqrt(squares / (len(column) - 1))


def margin_of_mean(deviation: float, count: int, confidence: float) -> float:
    """Return half the width of the t interval of a mean."""
    if count < 2:
        return math.inf
    return t_quantile((1.0 + confidence) / 2.0, count - 1) * deviation / math.sqrt(count)


def as_doubles(numbers: list[float]) -> list[float]:
    """Return the numbers; or doubles in the same order, if there are integers among them.

    Integers are what doubles would round, and make the same as their neighbours.
    """
    if int not in map(type, numbers):
        return numbers
    places = {number: place for place, number in enumerate(sorted(set(numbers)))}
    return [float(places[number]) for number in numbers]
