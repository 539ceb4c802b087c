"""What a golden set can tell: differences that would show, and queries that it would take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rankmeter.arguments import check_number, check_share
from rankmeter.doors.how import Missing
from rankmeter.experiments.compare import compare
from rankmeter.experiments.comparison import Comparison, for_json, unresolvable
from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import Wanted, column_of
from rankmeter.results.evaluation import Evaluation
from rankmeter.statistics.distributions import normal_quantile, t_quantile
from rankmeter.statistics.means import moments
from rankmeter.statistics.significance import smallest_p
from rankmeter.writers.tables import Style, render

_DRAWS = 100_000
_MOST_QUERIES = 10**12


@dataclass(frozen=True)
class Detectable:
    """What can be told of a system and the baseline, by one metric.

    Attributes
    ----------
    system, metric : str
    queries, changed : int
        Queries compared, and those that differ.
    deviation : float
        Standard deviation of the differences over the queries.
    detectable : float or None
        The smallest true difference that so many queries would show, with the power asked for.
        None where no query differs: nothing is known of the spread then.
    difference : float
        The one asked for, or the observed one.
    needed : int or None
        How many queries it takes for it. None where it is 0 or nothing is known of the spread.
    smallest_p : float
        The lowest p that so many differing queries allow, whatever the differences.
    resolvable : bool
        Whether that is as low as alpha.
    sentence : str
        All this in words.
    """

    __module__ = "rankmeter"

    system: str
    metric: str
    queries: int
    changed: int
    deviation: float
    detectable: float | None
    difference: float
    needed: int | None
    smallest_p: float
    resolvable: bool
    sentence: str


class Resolution:
    """What a golden set can resolve. Made by `resolution`.

    Attributes
    ----------
    rows : tuple of Detectable
        System by system, metric by metric. ``resolution[system, metric]`` finds one.
    power, alpha : float
    """

    __module__ = "rankmeter"

    def __init__(
        self,
        rows: tuple[Detectable, ...],
        power: float,
        alpha: float,
        metrics: Mapping[str, Metric],
    ) -> None:
        self.rows = rows
        self._metrics = metrics
        self.power = power
        self.alpha = alpha

    def __getitem__(self, key: tuple[str, Wanted]) -> Detectable:
        """Return the row of a system and a metric, in whatever spelling."""
        if not isinstance(key, tuple) or len(key) != 2:
            raise TypeError(f"a resolution is asked for [system, metric], not {key!r}")
        rows = [row for row in self.rows if row.system == key[0]]
        if not rows:
            names = ", ".join(dict.fromkeys(row.system for row in self.rows))
            raise KeyError(f"no system {key[0]!r}; there are {names}")
        return rows[column_of(self._metrics, key[1], "is not compared")]

    __iter__ = None

    def table(self, style: Style = "text") -> str:
        """Return one line a system and metric as text, Markdown or HTML."""
        header = ["system", "metric", "queries", "differ", "deviation", "detectable"]
        header += ["difference", "needs", "lowest p"]
        rows = [
            [
                row.system,
                row.metric,
                f"{row.queries:,}",
                f"{row.changed:,}",
                f"{row.deviation:.4f}",
                "" if row.detectable is None else f"{row.detectable:.4f}",
                f"{row.difference:+.4f}",
                "" if row.needed is None else f"{row.needed:,}",
                f"{row.smallest_p:.2g}",
            ]
            for row in self.rows
        ]
        return render(header, rows, style, left=2)

    def __repr__(self) -> str:
        how = f"power {self.power * 100:g}%, two-sided alpha {self.alpha:g}, no correction"
        return "\n".join([self.table(), how, *(row.sentence for row in self.rows)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain containers."""
        rows = [asdict(row) for row in self.rows]
        return {"power": self.power, "alpha": self.alpha, "rows": rows}

    def to_json(self, *, indent: int | None = None) -> str:
        """Write `to_dict` as JSON, numbers with all their digits; infinite ones as null."""
        from json import dumps

        return dumps(for_json(self.to_dict()), indent=indent, allow_nan=False)


def resolution(
    given: Comparison | Evaluation,
    other: Evaluation | None = None,
    *,
    difference: float | Mapping[str, float] | None = None,
    power: float = 0.8,
    alpha: float | None = None,
    missing: Missing = "zero",
) -> Resolution:
    """Tell which differences a golden set can show, and how many queries a difference needs.

    Parameters
    ----------
    given : Comparison, or Evaluation of the baseline
    other : Evaluation, optional
        Of the system, where `given` is an Evaluation; it is called "new" in the result.
    difference : float or mapping from metric to float, optional
        The difference of means that matters; by default the observed one.
    power : float
        The chance that a difference is found.
    alpha : float, optional
        Two-sided, for one comparison: by default that of the comparison, or 0.05. Where several
        are corrected for, a share of it, such as alpha / 12, is on the safe side.
    missing : {"zero", "skip", "error"}
        As for `compare`, for two evaluations.

    Returns
    -------
    Resolution

    Raises
    ------
    KeyError
        If `difference` names a metric that is not compared.
    TypeError
        If something is of the wrong type.
    ValueError
        If `power` or `alpha` does not lie between 0 and 1, or as for `compare`.

    Notes
    -----
    With s the standard deviation of the paired differences, n queries show a difference of
    (t_{1 - alpha/2} + t_{power}) * s / sqrt(n), with n - 1 degrees of freedom. From 10 queries on
    it is within two per cent of what the noncentral t distribution gives. The spread is that of
    this pair of systems: two that are more alike have less.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> base = rm.evaluate(qrels, {query: ["x", "a"] for query in qrels}, "mrr")
    >>> new = rm.evaluate(qrels, {query: ["x", "a"] for query in qrels} | {"q0": ["a"]}, "mrr")
    >>> rm.resolution(base, new)["new", "mrr"].sentence
    'new, mrr: unresolvable, 1 query differs and p cannot be below 1; 34 queries ...'
    """
    if isinstance(given, Comparison):
        if other is not None:
            raise TypeError("pass a Comparison, or two Evaluations")
        comparison, draws = given, given.settings.draws
    elif isinstance(given, Evaluation) and isinstance(other, Evaluation):
        comparison = compare({"base": given, "new": other}, draws=1, missing=missing)
        draws = _DRAWS  # what a comparison would take; this one's p is not looked at
    else:
        raise TypeError("resolution takes a Comparison, or two Evaluations")
    alpha = comparison.settings.alpha if alpha is None else alpha
    check_share("power", power)
    check_share("alpha", alpha)
    wanted = _read_wanted(comparison, difference)
    rows = []
    for system in comparison.systems:
        differences = comparison.differences(system)
        for column, metric in enumerate(comparison.metrics):
            observed, deviation = moments(differences[:, column])
            changed = int((differences[:, column] != 0.0).sum())
            rows.append(
                _detectable(
                    (system, metric),
                    len(comparison),
                    changed,
                    smallest_p(changed, comparison.settings.test, draws),
                    deviation,
                    observed if wanted is None else wanted[metric],
                    power,
                    alpha,
                )
            )
    return Resolution(tuple(rows), float(power), float(alpha), comparison.named_metrics)


def _read_wanted(comparison: Comparison, difference: Any) -> dict[str, float] | None:
    if difference is None:
        return None
    if not isinstance(difference, Mapping):
        return dict.fromkeys(comparison.metrics, check_number("a difference", difference))
    given = {
        comparison.metrics[comparison.column(metric)]: check_number("a difference", value)
        for metric, value in difference.items()
    }
    for metric in comparison.metrics:
        if metric not in given:
            raise ValueError(f"difference has nothing for {metric}")
    return given


def _detectable(
    names: tuple[str, str],
    queries: int,
    changed: int,
    smallest: float,
    deviation: float,
    difference: float,
    power: float,
    alpha: float,
) -> Detectable:
    known = changed > 0 and queries > 1
    shown = margin(queries, alpha, power) * deviation if known else None
    needed = queries_needed(abs(difference), deviation, alpha, power) if known else None
    parts = []
    if smallest > alpha:
        parts.append(unresolvable(changed, smallest))
    elif shown is not None:
        parts.append(
            f"{queries:,} queries show a difference of {shown:.4f} in {power * 100:g}% of cases"
        )
    if needed is not None:
        parts.append(f"{needed:,} queries would show one of {abs(difference):.4f}")
    return Detectable(
        *names,
        queries=queries,
        changed=changed,
        deviation=deviation,
        detectable=shown,
        difference=difference,
        needed=needed,
        smallest_p=smallest,
        resolvable=smallest <= alpha,
        sentence=f"{names[0]}, {names[1]}: {'; '.join(parts)}",
    )


def margin(queries: int, alpha: float, power: float) -> float:
    """Return how many standard deviations a difference must have for so many queries to show it."""
    degrees = queries - 1
    total = t_quantile(1.0 - alpha / 2.0, degrees) + t_quantile(power, degrees)
    return max(total, 0.0) / math.sqrt(queries)


def queries_needed(difference: float, deviation: float, alpha: float, power: float) -> int | None:
    """Return the lowest number of queries that shows a difference; None where none does."""
    if difference <= 0.0:
        return None
    z = max(normal_quantile(1.0 - alpha / 2.0) + normal_quantile(power), 0.0)
    guess = (z * deviation / difference) ** 2
    if guess > _MOST_QUERIES:
        return None
    low = max(2, math.ceil(guess))  # t is wider than the normal: never fewer than that
    while margin(low, alpha, power) * deviation > difference:
        low += 1
    return low
