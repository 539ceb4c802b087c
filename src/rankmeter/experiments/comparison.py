"""Systems side by side with a baseline: what differs, on which queries, and is it noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rankmeter._core.rounded import exact_means
from rankmeter.doors.how import Missing
from rankmeter.doors.integers import labels_as_text
from rankmeter.naming.metric import Metric, is_geometric
from rankmeter.naming.parsing import Wanted, column_of
from rankmeter.results.coverage import Coverage
from rankmeter.results.facets import FacetRows, roll_up
from rankmeter.results.plain import plain
from rankmeter.statistics.means import margin_of_mean, moments
from rankmeter.statistics.significance import (
    Correction,
    How,
    Test,
    adjust,
    differences_of,
    outcomes_of,
)
from rankmeter.writers.tables import Style, render

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]

Verdict = Literal["better", "worse", "can't tell"]

_CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "the correction of Benjamini and Hochberg",
}


class Settings(NamedTuple):
    """How evaluations were compared; see `compare`."""

    test: Test
    correction: Correction
    alpha: float
    confidence: float
    draws: int
    seed: int
    missing: Missing


Settings.__module__ = "rankmeter"


@dataclass(frozen=True)
class Difference:
    """A system against the baseline, by one metric.

    Attributes
    ----------
    system, metric : str
    baseline, mean : float
        Arithmetic means over the compared queries, of the baseline and of the system.
    difference : float
        Mean of the differences of each query.
    relative : float or None
        The difference as a share of the baseline's mean; None where that is 0.
    low, high : float
        Interval of the difference; infinite where there is one query only.
    p : float
        Two-sided, before the correction.
    adjusted_p : float
        After the correction.
    how : {"exact", "draws", "formula"}
        Where p is from: every pattern of signs, random ones, or a formula.
    wins, ties, losses : int
        Queries on which the system is better, equal and worse.
    smallest_p : float
        The lowest p that so many differing queries allow, whatever the differences.
    resolvable : bool
        Whether that is as low as alpha; if not, this comparison cannot tell anything.
    verdict : {"better", "worse", "can't tell"}
        Whether the adjusted p is at most alpha, and which way the difference points. Higher counts
        as better, for every metric.
    """

    __module__ = "rankmeter"

    system: str
    metric: str
    baseline: float
    mean: float
    difference: float
    relative: float | None
    low: float
    high: float
    p: float
    adjusted_p: float
    how: How
    wins: int
    ties: int
    losses: int
    smallest_p: float
    resolvable: bool
    verdict: Verdict

    @property
    def queries(self) -> int:
        """How many queries are compared."""
        return self.wins + self.ties + self.losses

    @property
    def changed(self) -> int:
        """How many queries differ."""
        return self.wins + self.losses


class Mover(NamedTuple):
    """A query that changed, with the values of both sides."""

    query: Any
    baseline: float
    value: float
    difference: float


class Movers(NamedTuple):
    """The queries that changed most, largest change first."""

    improved: list[Mover]
    regressed: list[Mover]


class Comparison:
    """Systems against a baseline, on the same queries. Made by `compare`.

    Attributes
    ----------
    baseline : str
        The name of the baseline.
    systems : tuple of str
        The names of the others.
    metrics : tuple of str
        Spelled as asked for.
    query_ids : tuple
        The compared queries, in the order of the baseline.
    values : dict of str to numpy.ndarray
        Name to float64, queries x metrics; the baseline's, too.
    rows : tuple of Difference
        System by system, metric by metric. ``comparison[system, metric]`` finds one.
    settings : Settings
        Test, correction, alpha, confidence, draws, seed and missing.
    unpaired : dict of str to int
        Name to the number of queries that others have and it lacks.
    left_out : int
        Queries left out because one side lacks them (``missing="skip"``).
    coverage : dict of str to Coverage
        What each evaluation said of its own queries.
    facets : dict
        What `by` gives for the facets that were passed to `compare`; empty without.
    comparisons : int
        Among how many p-values the correction was made.

    Notes
    -----
    Can be pickled.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> base = {query: ["x", "a"] for query in qrels}
    >>> new = {query: ["a", "x"] for query in qrels}
    >>> c = rm.compare(qrels, {"base": base, "new": new}, ["mrr", "hit@10"])
    >>> c["new", "mrr"].difference, c["new", "mrr"].p
    (0.5, 0.0078125)
    >>> c.notes[1]
    'hit@10: unresolvable, no query differs'
    """

    __module__ = "rankmeter"

    def __init__(
        self,
        query_ids: Sequence[Any],
        metrics: Mapping[str, Metric],
        values: Mapping[str, Floats],
        settings: Settings,
        *,
        unpaired: Mapping[str, int],
        left_out: int,
        coverage: Mapping[str, Coverage],
        integers: bool = False,
    ) -> None:
        self.query_ids = tuple(query_ids)
        self.metrics = tuple(metrics)
        self.named_metrics = dict(metrics)
        self.values = dict(values)
        self.baseline, *systems = self.values
        self.systems = tuple(systems)
        self.settings = settings
        self.unpaired = dict(unpaired)
        self.left_out = left_out
        self.coverage = dict(coverage)
        self.integer_ids = integers  # the queries are text, and were integers of a table or of JSON
        self.facets: dict[Any, Any] = {}
        self.comparisons = 0
        self._directions: list[int] = []
        self.rows = self._compared()
        _correct([self])

    def __getitem__(self, key: tuple[str, Wanted]) -> Difference:
        """Return the row of a system and a metric, in whatever spelling."""
        if not isinstance(key, tuple) or len(key) != 2:
            raise TypeError(f"a comparison is asked for [system, metric], not {key!r}")
        system, metric = key
        return self.rows[self._system(system) * len(self.metrics) + self.column(metric)]

    __iter__ = None

    def __len__(self) -> int:
        """Return how many queries are compared."""
        return len(self.query_ids)

    def _system(self, name: str) -> int:
        if name not in self.systems:
            raise KeyError(f"no system {name!r}; there are {', '.join(self.systems)}")
        return self.systems.index(name)

    def column(self, metric: Wanted) -> int:
        """Return the column of a metric, in whatever spelling."""
        return column_of(self.named_metrics, metric, "is not compared")

    def differences(self, system: str) -> Floats:
        """Return queries x metrics: the system's values less the baseline's.

        What rounding alone can make of equal values is 0.
        """
        self._system(system)
        return differences_of(self.values[self.baseline], self.values[system])

    def movers(self, system: str, metric: Wanted, n: int = 10) -> Movers:
        """Return the `n` most improved and the `n` most regressed queries, with both values.

        Queries with equal changes are in the order of the queries.

        Examples
        --------
        >>> import rankmeter as rm
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
        >>> runs = {"base": {"q1": ["x", "a"], "q2": ["a"]}, "new": {"q1": ["a"], "q2": ["a"]}}
        >>> rm.compare(qrels, runs, "mrr").movers("new", "mrr").improved
        [Mover(query='q1', baseline=0.5, value=1.0, difference=0.5)]
        """
        column = self.column(metric)
        change = self.differences(system)[:, column]
        before, after = self.values[self.baseline][:, column], self.values[system][:, column]

        def first(order: npt.NDArray[np.intp]) -> list[Mover]:
            return [
                Mover(self.query_ids[i], float(before[i]), float(after[i]), float(change[i]))
                for i in order[: max(0, n)].tolist()
            ]

        up, down = np.flatnonzero(change > 0.0), np.flatnonzero(change < 0.0)
        return Movers(
            first(up[np.argsort(-change[up], kind="stable")]),
            first(down[np.argsort(change[down], kind="stable")]),
        )

    def by(self, facets: Mapping[Any, Any]) -> dict[Any, Any]:
        """Compare within each label.

        Parameters
        ----------
        facets : mapping
            ``{query: label}``, or ``{facet: {query: label}}`` for several facets at once. Integers
            match queries as for `Evaluation.by`.

        Returns
        -------
        dict
            ``{label: Comparison}`` or ``{facet: {label: Comparison}}``. Queries without a label
            stand under None, as do those whose label is NaN, NA or NaT. The correction is over
            systems x metrics x labels of a facet: who looks at every label finds something in one
            of them.

        Raises
        ------
        TypeError
            If `facets` is not a mapping, or holds labels and mappings, or a label cannot be hashed.
        ValueError
            If no compared query has a label.
        """
        facets = labels_as_text(facets) if self.integer_ids else facets
        return roll_up(facets, self.query_ids, "compared", self._by_label)

    def _by_label(self, labels: FacetRows) -> dict[Any, Comparison]:
        parts = {
            label: Comparison(
                [self.query_ids[row] for row in rows],
                self.named_metrics,
                {name: values[rows] for name, values in self.values.items()},
                self.settings,
                unpaired={},
                left_out=0,
                coverage={},
                integers=self.integer_ids,
            )
            for label, rows in labels.items()
        }
        _correct(list(parts.values()))
        return parts

    def _compared(self) -> tuple[Difference, ...]:
        """Every row, not yet corrected."""
        theirs = self.values[self.baseline]
        differences = np.hstack([self.differences(system) for system in self.systems])
        sizes = np.hstack([np.abs(theirs) + np.abs(self.values[name]) for name in self.systems])
        test, _, _, confidence, draws, seed, _ = self.settings
        outcomes = outcomes_of(differences, sizes, test, draws, seed)
        before = exact_means(theirs) * len(self.systems)
        after = [mean for system in self.systems for mean in exact_means(self.values[system])]
        names = [(system, metric) for system in self.systems for metric in self.metrics]
        wins = (differences > 0.0).sum(axis=0).tolist()
        losses = (differences < 0.0).sum(axis=0).tolist()
        rows = []
        for i, outcome in enumerate(outcomes):
            mean, deviation = moments(differences[:, i])
            margin = margin_of_mean(deviation, len(self), confidence)
            rows.append(
                Difference(
                    *names[i],
                    baseline=before[i],
                    mean=after[i],
                    difference=mean,
                    relative=mean / before[i] if before[i] else None,
                    low=mean - margin,
                    high=mean + margin,
                    p=outcome.p,
                    adjusted_p=outcome.p,
                    how=outcome.how,
                    wins=wins[i],
                    ties=len(self) - wins[i] - losses[i],
                    losses=losses[i],
                    smallest_p=outcome.smallest,
                    resolvable=False,
                    verdict="can't tell",
                )
            )
        self._directions = [outcome.direction for outcome in outcomes]
        return tuple(rows)

    def table(self, style: Style = "text") -> str:
        """Return one line a system and metric as text, Markdown or HTML."""
        several = len(self.systems) > 1
        names = ["baseline", "mean"] if several else [self.baseline, *self.systems]
        share = f"{self.settings.confidence * 100:g}% interval"
        correction = self.settings.correction
        p_name = "p" if correction == "none" else f"p ({correction})"
        header = ["system"] * several + ["metric", "verdict", *names, "difference", "relative"]
        header += [share, p_name, "win/tie/loss"]
        rows = [
            [row.system] * several
            + [
                row.metric,
                row.verdict,
                f"{row.baseline:.4f}",
                f"{row.mean:.4f}",
                f"{row.difference:+.4f}",
                "" if row.relative is None else f"{row.relative:+.1%}",
                f"[{row.low:+.4f}, {row.high:+.4f}]",
                shown_p(row.adjusted_p),
                f"{row.wins}/{row.ties}/{row.losses}",
            ]
            for row in self.rows
        ]
        return render(header, rows, style, left=3 if several else 2)

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers should know, a sentence each; the first says how."""
        notes = [self._how()]
        for name, count in self.unpaired.items():
            if count:
                what = "left out" if self.settings.missing == "skip" else "counted as 0"
                notes.append(f"{name} lacks {_queries(count)} that others have ({what})")
        for name, coverage in self.coverage.items():
            if coverage.missing:
                what = "left out" if self.settings.missing == "skip" else "scored as empty"
                notes.append(f"the run of {name} lacks {_queries(coverage.missing)} ({what})")
        geometric = [name for name, metric in self.named_metrics.items() if is_geometric(metric)]
        if geometric:
            notes.append(
                f"{', '.join(geometric)}: compared by the value of each query, so the means here "
                "are arithmetic"
            )
        for row in self.rows:
            if not row.resolvable:
                where = f"{row.system}, {row.metric}" if len(self.systems) > 1 else row.metric
                why = unresolvable(row.changed, row.smallest_p)
                if row.changed and row.smallest_p <= self.settings.alpha:
                    why += " before the correction"
                notes.append(f"{where}: {why}")
        return notes

    def _how(self) -> str:
        test, correction, alpha, _, draws, seed, _ = self.settings
        ways = {row.how for row in self.rows}
        if test == "t":
            how = "paired t test"
        elif test == "wilcoxon":
            how = "Wilcoxon's signed-rank test"
        elif ways == {"exact"}:
            how = "exact randomisation test"
        else:
            how = f"randomisation test of {draws:,} draws (seed {seed})"
            if "exact" in ways:
                how += ", exact where few queries differ"
        against = f"alpha {alpha:g}"
        if correction != "none":
            of = "1 p-value" if self.comparisons == 1 else f"{self.comparisons} p-values"
            against += f" with {_CORRECTION_NAMES[correction]} for {of}"
        return f"{_queries(len(self))}, {how}, {against}"

    def __repr__(self) -> str:
        return "\n".join([self.table(), *self.notes])

    def _repr_html_(self) -> str:
        from html import escape

        return self.table("html") + "".join(f"<p>{escape(note)}</p>" for note in self.notes)

    def to_dict(self, *, movers: int = 5, per_query: bool = False) -> dict[str, Any]:
        """Return everything as plain containers.

        Parameters
        ----------
        movers : int
            So many most improved and most regressed queries for each system and metric.
        per_query : bool
            Whether to have the values of every query, too: ``{"query", "values": {name: {metric:
            value}}}``, one a query.
        """
        content: dict[str, Any] = {
            "baseline": self.baseline,
            "systems": list(self.systems),
            "metrics": list(self.metrics),
            "queries": len(self),
            "unpaired": dict(self.unpaired),
            "left_out": self.left_out,
            "coverage": {name: c._asdict() for name, c in self.coverage.items()},
            "settings": self.settings._asdict(),
            "comparisons": self.comparisons,
            "notes": self.notes,
            "rows": [self._row_dict(row, movers) for row in self.rows],
        }
        if self.facets:
            content["facets"] = _facets_dict(self.facets)
        if per_query:
            lists = {name: values.tolist() for name, values in self.values.items()}
            content["per_query"] = [
                {
                    "query": query,
                    "values": {
                        name: dict(zip(self.metrics, rows[i], strict=True))
                        for name, rows in lists.items()
                    },
                }
                for i, query in enumerate(self.query_ids)
            ]
        return content

    def _row_dict(self, row: Difference, movers: int) -> dict[str, Any]:
        up, down = self.movers(row.system, row.metric, movers)
        return asdict(row) | {
            "queries": row.queries,
            "changed": row.changed,
            "improved": [mover._asdict() for mover in up],
            "regressed": [mover._asdict() for mover in down],
        }

    def to_html(self, **options: Any) -> str:
        """Write one HTML page that needs no network; see `rankmeter.report.html` for the options.

        Raises
        ------
        ImportError
            Without ``rankmeter[report]``.
        """
        # Found by its name: the page knows comparisons, and they need not know it.
        page: str = import_module("rankmeter.report").html(self, **options)
        return page

    def to_json(
        self, *, movers: int = 5, per_query: bool = False, indent: int | None = None
    ) -> str:
        """Write `to_dict` as JSON, numbers with all their digits; infinite ones as null."""
        from json import dumps

        content = for_json(self.to_dict(movers=movers, per_query=per_query))
        return dumps(content, indent=indent, allow_nan=False)


def _correct(parts: Sequence[Comparison]) -> None:
    """Correct the p-values of all parts for their number, and pass the verdicts."""
    settings = parts[0].settings
    p_values = iter(adjust([row.p for part in parts for row in part.rows], settings.correction))
    count = sum(len(part.rows) for part in parts)
    for part in parts:
        part.comparisons = count
        part.rows = tuple(
            _judge(row, next(p_values), direction, count, settings)
            for row, direction in zip(part.rows, part._directions, strict=True)
        )


def _judge(
    row: Difference, adjusted_p: float, direction: int, count: int, settings: Settings
) -> Difference:
    # Under Bonferroni every p is multiplied; under the others the lowest one may be spared that by
    # being the last of all.
    factor = count if settings.correction == "bonferroni" else 1
    verdict: Verdict = "can't tell"
    if adjusted_p <= settings.alpha and row.difference * direction > 0.0:
        verdict = "better" if direction > 0 else "worse"
    return replace(
        row,
        adjusted_p=adjusted_p,
        resolvable=row.smallest_p * factor <= settings.alpha,
        verdict=verdict,
    )


def unresolvable(changed: int, smallest: float) -> str:
    """Say why no difference of so few queries could be told from noise."""
    if changed == 0:
        return "unresolvable, no query differs"
    differ = "1 query differs" if changed == 1 else f"{changed:,} queries differ"
    return f"unresolvable, {differ} and p cannot be below {smallest:.2g}"


def shown_p(p: float) -> str:
    """Return p with four digits; one that these would round to 0 as less than that."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def for_json(content: Any) -> Any:
    """Return the content with null for what JSON has no number for."""
    if isinstance(content, Mapping):
        return {key: for_json(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [for_json(value) for value in content]
    content = plain(content)
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content if isinstance(content, (str, int, float, type(None))) else str(content)


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"


def _facets_dict(facets: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """One entry a facet and label: labels may be of any type, which keys of JSON may not."""
    entries = []
    for facet, parts in facets.items():
        labels = parts if isinstance(parts, dict) else {facet: parts}
        for label, part in labels.items():
            entries.append(
                {
                    "facet": facet if labels is parts else None,
                    "label": label,
                    "queries": len(part),
                    "rows": [asdict(row) for row in part.rows],
                }
            )
    return entries
