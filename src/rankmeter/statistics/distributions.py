"""Quantiles of Student's t and exact binomial intervals, without any further package."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from rankmeter._core.rounded import exponential_of

_ROOT_OF_TWO_PI = math.sqrt(2.0 * math.pi)
_STEPS = 200
_PRECISION = 1e-16
_LARGEST_T = 1e9
_MANY_DEGREES = 1000.0


def normal_quantile(probability: float) -> float:
    """Return the value that a standard normal variable stays below with this probability."""
    from statistics import NormalDist  # costs more than the rest of this module

    return NormalDist().inv_cdf(probability)


def normal_cdf(value: float) -> float:
    """Return the probability that a standard normal variable stays below this.

    By its series (Marsaglia, Journal of Statistical Software 2004), to some 15 decimal places, the
    same on every platform.
    """
    if abs(value) > 9.0:
        return 0.0 if value < 0.0 else 1.0
    square = value * value
    term = total = value
    divisor = 1.0
    while abs(term) > 1e-17 * abs(total):
        divisor += 2.0
        term *= square / divisor
        total += term
    return min(max(0.5 + exponential_of(-square / 2.0) / _ROOT_OF_TWO_PI * total, 0.0), 1.0)


@lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: float) -> float:
    """Return the value that a t-distributed variable stays below with this probability.

    Parameters
    ----------
    probability : float
        Between 0 and 1, both excluded.
    degrees : float
        Degrees of freedom, above 0.

    Examples
    --------
    >>> round(t_quantile(0.975, 9), 4)
    2.2622
    """
    if probability < 0.5:
        return -t_quantile(1.0 - probability, degrees)
    if degrees > _MANY_DEGREES:
        return _nearly_normal(probability, degrees)
    tail = 2.0 * (1.0 - probability)

    def too_small(t: float) -> bool:
        return beta_cdf(degrees / (degrees + t * t), degrees / 2.0, 0.5) > tail

    high = 1.0
    while high < _LARGEST_T and too_small(high):
        high *= 2.0
    return bisect(too_small, 0.0, high)


def _nearly_normal(probability: float, degrees: float) -> float:
    """The quantile by its expansion in 1 / degrees (Abramowitz and Stegun, 26.7.5)."""
    z = normal_quantile(probability)
    first = (z**3 + z) / 4.0
    second = (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0
    third = (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0
    return z + (first + (second + third / degrees) / degrees) / degrees


def binomial_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return the interval of a share by Clopper and Pearson (Biometrika 1934).

    It holds the true share with at least this probability, however few trials there are.

    Examples
    --------
    >>> [round(end, 4) for end in binomial_interval(8, 10, 0.95)]
    [0.4439, 0.9748]
    """
    tail = (1.0 - confidence) / 2.0
    low, high = 0.0, 1.0
    if successes > 0:
        a, b = float(successes), trials - successes + 1.0
        low = bisect(lambda x: beta_cdf(x, a, b) < tail, 0.0, 1.0)
    if successes < trials:
        c, d = successes + 1.0, float(trials - successes)
        high = bisect(lambda x: beta_cdf(x, c, d) < 1.0 - tail, 0.0, 1.0)
    return low, high


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b).

    By its continued fraction (Abramowitz and Stegun, 26.5.8), evaluated forwards by Lentz's
    method; on the side of the mean where it converges fast.
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - beta_cdf(1.0 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_front += a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300  # instead of 0, which must not be divided by
    numerator, denominator = 1.0, 1.0 / ((1.0 - (a + b) * x / (a + 1.0)) or tiny)
    value = denominator
    for m in range(1, _STEPS + int(10.0 * math.sqrt(max(a, b)))):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for step in (even, odd):
            denominator = 1.0 / ((1.0 + step * denominator) or tiny)
            numerator = (1.0 + step / numerator) or tiny
            value *= numerator * denominator
        if abs(numerator * denominator - 1.0) < _PRECISION:
            break
    return value


def bisect(too_small: Callable[[float], bool], low: float, high: float) -> float:
    """Return the number between two at which it is no longer too small."""
    while True:
        middle = low + (high - low) / 2.0
        if middle in (low, high):
            return middle
        if too_small(middle):
            low = middle
        else:
            high = middle
