"""Is a mean difference more than noise: tests of paired differences, and corrections for many."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]

Test = Literal["randomisation", "t", "wilcoxon"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
How = Literal["exact", "draws", "formula"]

TESTS = ("randomisation", "t", "wilcoxon")
CORRECTIONS = ("holm", "bonferroni", "bh", "none")
MOST_ENUMERATED = 22
"""With so many differences or fewer, the randomisation test goes through all 2^n signs."""

_SUM_BITS = 60  # the absolute differences of a column add up to 2^60
_DRAWS_A_CALL = 1 << 15
_ULPS = 2.0**-51


class Outcome(NamedTuple):
    """What a test of one column of differences said.

    Attributes
    ----------
    p : float
        Two-sided.
    how : {"exact", "draws", "formula"}
        All sign patterns counted; random ones drawn; or a formula.
    smallest : float
        The lowest p that this number of differing queries allows.
    direction : int
        Which way what was tested points: 1 up, -1 down, 0 neither. That of ranks need not be that
        of the mean.
    """

    p: float
    how: How
    smallest: float
    direction: int


def differences_of(theirs: Floats, ours: Floats) -> Floats:
    """Return `ours` - `theirs`, where what rounding alone can make of equal values is 0."""
    difference = ours - theirs
    noise = 2.0 * _ULPS * np.maximum(np.abs(theirs), np.abs(ours))
    difference[np.abs(difference) <= noise] = 0.0
    return difference


def outcomes_of(
    differences: Floats, sizes: Floats, test: str, draws: int, seed: int
) -> list[Outcome]:
    """Test each column of differences.

    Parameters
    ----------
    differences : float64, queries x columns
    sizes : float64, queries x columns
        Absolute values of both sides, added up: how large rounding errors can be.
    test, draws, seed
        As for `rankmeter.compare`.
    """
    if test == "randomisation":
        return _randomisation(differences, sizes, draws, seed)
    return [_by_formula(column, test) for column in differences.T]


def smallest_p(differing: int, test: str, draws: int) -> float:
    """Return the lowest p that so many differing queries allow.

    All of them point the same way then: of the 2^n patterns of signs, two are as extreme. A drawn
    p has 1 / (draws + 1) for a floor, too. The t test has none but that of its assumptions.
    """
    if differing == 0:
        return 1.0
    if test == "t":
        return 0.0 if differing > 1 else 1.0
    exact = 2.0 ** (1 - differing)
    if test == "randomisation" and differing > MOST_ENUMERATED:
        return max(exact, 1.0 / (draws + 1))
    return exact


def adjust(p_values: Sequence[float], correction: str) -> list[float]:
    """Return the p-values adjusted for their number.

    Holm (1979) and Bonferroni bound the chance of any false alarm, Benjamini and Hochberg (1995)
    the expected share of false alarms.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03], "holm")
    [0.03, 0.06, 0.06]
    """
    count = len(p_values)
    if correction == "none":
        return list(p_values)
    if correction == "bonferroni":
        return [min(1.0, p * count) for p in p_values]
    ascending = sorted(range(count), key=p_values.__getitem__)
    result = [0.0] * count
    bound = 0.0 if correction == "holm" else 1.0
    if correction == "holm":
        for rank, i in enumerate(ascending):
            bound = max(bound, min(1.0, p_values[i] * (count - rank)))
            result[i] = bound
    else:
        for rank, i in reversed(list(enumerate(ascending, start=1))):
            bound = min(bound, p_values[i] * count / rank)
            result[i] = bound
    return result


def _by_formula(differences: Floats, test: str) -> Outcome:
    stats = scipy_stats(f"test={test!r}")
    differing = differences[differences != 0.0]
    smallest = smallest_p(len(differing), test, 0)
    if len(differing) == 0 or len(differences) < 2:
        return Outcome(1.0, "formula", 1.0, 0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about few queries; the table says how many there are
        if test == "t":
            p = stats.ttest_rel(differences, np.zeros_like(differences)).pvalue
            direction = np.sign(differing.sum())
        else:
            p = stats.wilcoxon(differing).pvalue
            direction = np.sign((np.sign(differing) * stats.rankdata(np.abs(differing))).sum())
    p = 1.0 if math.isnan(p) else float(p)
    return Outcome(p, "formula", smallest, int(direction))


def scipy_stats(what: str) -> Any:
    """Return `scipy.stats`, or raise an ImportError that says what to install."""
    try:
        from scipy import stats
    except ImportError as error:
        raise ImportError(f"{what} needs scipy: pip install 'rankmeter[stats]'") from error
    return stats


def _randomisation(differences: Floats, sizes: Floats, draws: int, seed: int) -> list[Outcome]:
    """Fisher's test: how often random signs make as large a sum.

    In integers, so that a sum has no order; sums that rounding of the values could have made equal
    count as equal, which is on the side of caution.
    """
    whole, thresholds = _integers(differences, sizes)
    differing = differences != 0.0
    counts = differing.sum(axis=0).tolist()
    p_values = [1.0] * len(counts)
    for column, count in enumerate(counts):
        if 0 < count <= MOST_ENUMERATED:
            from rankmeter._core.experiments.resampling import flip_all_signs

            chosen = whole[differing[:, column], column]
            p_values[column] = flip_all_signs(chosen, int(thresholds[column])) / 2.0 ** (count - 1)
    drawn = [column for column, count in enumerate(counts) if count > MOST_ENUMERATED]
    if drawn:
        hits = _draw(whole[:, drawn], thresholds[drawn], draws, seed)
        for column, hit in zip(drawn, hits, strict=True):
            p_values[column] = (hit + 1) / (draws + 1)
    directions = np.sign(whole.sum(axis=0)).tolist()
    return [
        Outcome(
            p,
            "exact" if count <= MOST_ENUMERATED else "draws",
            smallest_p(count, "randomisation", draws),
            direction,
        )
        for p, count, direction in zip(p_values, counts, directions, strict=True)
    ]


def _integers(
    differences: Floats, sizes: Floats
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Scale each column to integers whose absolute sum is 2^60; and what a sum has to reach."""
    totals = np.abs(differences).sum(axis=0)
    exponents = _SUM_BITS - np.frexp(totals)[1]
    whole = np.rint(np.ldexp(differences, exponents)).astype(np.int64)
    differing = differences != 0.0
    # Both sums are off by what rounding did to each value and by half a unit of the integers.
    errors = np.ldexp(np.where(differing, sizes, 0.0).sum(axis=0), exponents) * _ULPS
    slack = np.minimum(2.0 * errors + differing.sum(axis=0), 2.0**_SUM_BITS)
    return whole, np.abs(whole.sum(axis=0)) - np.ceil(slack).astype(np.int64)


def _draw(
    whole: npt.NDArray[np.int64], thresholds: npt.NDArray[np.int64], draws: int, seed: int
) -> list[int]:
    from rankmeter._core.experiments.resampling import LANES, ROWS_A_WORD, flip_signs

    changed = whole[(whole != 0).any(axis=1)]  # the others need no sign
    rows, columns = changed.shape
    filled = np.zeros((rows + -rows % ROWS_A_WORD, columns + -columns % LANES), dtype=np.int64)
    filled[:rows, :columns] = changed
    bounds = np.zeros(filled.shape[1], dtype=np.int64)
    bounds[:columns] = thresholds

    hits = [0] * filled.shape[1]
    for begin in range(0, draws, _DRAWS_A_CALL):  # between two calls, it can be interrupted
        more = flip_signs(filled, bounds, begin, min(begin + _DRAWS_A_CALL, draws), seed)
        hits = [old + new for old, new in zip(hits, more, strict=True)]
    return hits[:columns]
