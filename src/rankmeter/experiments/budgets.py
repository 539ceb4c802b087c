"""By how much a metric may drop: the gate of ``rankmeter compare``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rankmeter.naming.parsing import parse

if TYPE_CHECKING:
    from rankmeter.experiments.comparison import Comparison, Difference

_AMOUNT = re.compile(r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]-?[0-9]{1,2})?)(%?)")
_MAY_BE_NEGATIVE = ("utility", "yaap")


class Budget(NamedTuple):
    """How much of a metric may be lost.

    Attributes
    ----------
    metric : str
    amount : float
    relative : bool
        Whether the amount is a share of the baseline's mean.
    text : str
        The amount as it was given.
    """

    metric: str
    amount: float
    relative: bool
    text: str


class Checked(NamedTuple):
    """A system against a budget.

    Attributes
    ----------
    system, metric, budget : str
    allowed, drop : float
        Of the mean, both as a difference; a gain is a negative drop.
    adjusted_p : float
    outcome : {"kept", "exceeded", "not significant"}
        The last is a drop by more than the budget which may be noise, where only other drops count.
    sentence : str
        What happened, in words.
    """

    system: str
    metric: str
    budget: str
    allowed: float
    drop: float
    adjusted_p: float
    outcome: Literal["kept", "exceeded", "not significant"]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the sentence."""
        content = self._asdict()
        del content["sentence"]
        return content


def read_budget(text: str) -> Budget:
    """Read ``metric=0.01`` or ``metric=2%``.

    Raises
    ------
    ValueError
        If it is neither.

    Examples
    --------
    >>> read_budget("ndcg@10(gain=linear)=2%")
    Budget(metric='ndcg@10(gain=linear)', amount=0.02, relative=True, text='2%')
    """
    metric, found, given = text.rpartition("=")  # a metric has = in its parameters
    amount = _AMOUNT.fullmatch(given)
    if not found or amount is None:
        raise ValueError(f"{text!r} is not METRIC=DROP, such as ndcg@10=0.01 or recall@100=2%")
    parse(metric)
    if amount[2]:
        return Budget(metric, float(amount[1]) / 100.0, True, given)
    return Budget(metric, float(amount[1]), False, given)


def check(
    comparison: Comparison, budgets: Iterable[Budget], *, only_significant: bool
) -> list[Checked]:
    """Hold every system against every budget.

    Parameters
    ----------
    comparison : Comparison
    budgets : iterable of Budget
    only_significant : bool
        Whether a drop counts only if the comparison finds the system worse by that metric.
    """
    return [
        _check_one(
            comparison[system, budget.metric], budget, only_significant, comparison.settings.alpha
        )
        for budget in budgets
        for system in comparison.systems
    ]


def _check_one(row: Difference, budget: Budget, only_significant: bool, alpha: float) -> Checked:
    allowed = abs(row.baseline) * budget.amount if budget.relative else budget.amount
    drop = 0.0 - row.difference
    outcome: Literal["kept", "exceeded", "not significant"] = "kept"
    more = f"its budget of {budget.text}" + (f" ({allowed:.4g})" if budget.relative else "")
    lost = f"{row.metric} of {row.system} drops by {drop:.4g}, from {row.baseline:.4g}"
    sentence = f"{row.metric} of {row.system} keeps {more}"
    # A drop of just the budget must not fail because 0.5 - 0.49 is a little more than 0.01.
    if drop > allowed and not math.isclose(drop, allowed, rel_tol=1e-9, abs_tol=1e-12):
        if only_significant and row.verdict != "worse":
            outcome = "not significant"
            sentence = f"{lost}, more than {more}, but it may be noise: {_why(row, alpha)}"
        else:
            outcome = "exceeded"
            sentence = f"{lost}, more than {more}"
            if only_significant:
                sentence += f", and p is {row.adjusted_p:.4g}"
    return Checked(
        row.system, row.metric, budget.text, allowed, drop, row.adjusted_p, outcome, sentence
    )


def _why(row: Difference, alpha: float) -> str:
    from rankmeter.experiments.comparison import unresolvable

    if not row.resolvable:
        return unresolvable(row.changed, row.smallest_p)
    return f"p is {row.adjusted_p:.4g}, alpha {alpha:g}"


def never_exceeded(comparison: Comparison, budgets: Iterable[Budget]) -> list[str]:
    """Say which budgets allow all that there is to lose, such as 2 for 2%."""
    notes = []
    for budget in budgets:
        row = comparison[comparison.systems[0], budget.metric]
        allowed = row.baseline * budget.amount if budget.relative else budget.amount
        if allowed >= row.baseline and parse(budget.metric).name not in _MAY_BE_NEGATIVE:
            notes.append(
                f"{budget.metric}: its budget of {budget.text} cannot be exceeded, the mean of "
                f"{comparison.baseline} is {row.baseline:.4g}"
            )
    return notes
