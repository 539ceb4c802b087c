"""What stands on the page, as plain values: nothing here knows of HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankmeter._core.ids import with_text_keys
from rankmeter.doors.how import Ties
from rankmeter.doors.mappings import whole_mappings
from rankmeter.experiments.comparison import Comparison, Difference, Mover, shown_p
from rankmeter.experiments.risk import risk_coverage
from rankmeter.naming.metric import Metric
from rankmeter.naming.rows import METRICS
from rankmeter.results.evaluation import Evaluation
from rankmeter.scoring.evaluator import Evaluator

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

DEPTH = 10  # documents of a ranking that are shown
MOST_RANKED = 500  # queries whose rankings are on the page
MOST_LABELS = 50  # of a facet
_EACH_WAY = 100  # movers of a system and a metric, before that
_CURVES = ("recall", "ndcg")
_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
_LEAST_DEPTH = 5
_POINTS = 200  # of a curve
_SHARES = (0.25, 0.5, 0.75, 1.0)
_DIGITS = 6

TIES = {
    "docid": "Equal scores are ordered by document id, high to low, as trec_eval does.",
    "input": "Equal scores keep the order of the input.",
    "expected": "Where scores are equal, a value is the mean over all orders of these documents; "
    "rankings show them by document id, high to low.",
}
MISSING = {
    "zero": "A query that a run lacks counts as an empty ranking.",
    "skip": "Queries that a run lacks are left out.",
    "error": "No run may lack a query.",
}


class Content:
    """Everything that the template asks for.

    Parameters
    ----------
    comparison, runs, qrels, facets, ties
        As for `rankmeter.report.html`.

    Attributes
    ----------
    data : dict
        What the script of the page works on.
    """

    def __init__(
        self, comparison: Comparison, runs: Any, qrels: Any, facets: Any, ties: Ties
    ) -> None:
        if not isinstance(comparison, Comparison):
            raise TypeError(f"a report is of a Comparison, not of {type(comparison).__name__}")
        if (runs is None) != (qrels is None):
            raise TypeError("give runs= and qrels= together, or neither")
        if ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}, not {ties!r}")
        self.comparison = comparison
        self.names = [comparison.baseline, *comparison.systems]
        self.title = f"{', '.join(comparison.systems)} against {comparison.baseline}"
        self.several = len(comparison.systems) > 1
        self.share = f"{comparison.settings.confidence * 100:g} %"
        self.queries = len(comparison)
        self.verdicts = [self._verdict(system) for system in comparison.systems]
        self.rows = [_row(row) for row in comparison.rows]
        self.facets = _facets(comparison.facets if facets is None else comparison.by(facets))
        self.has_runs = runs is not None
        self.curves: list[dict[str, Any]] = []
        self.risks: list[dict[str, Any]] = []
        self.no_risk: list[str] = []
        self.ranked = 0
        self.depth = DEPTH
        self.conventions = self._conventions(ties)
        self.metrics = _explain(comparison.named_metrics)
        self.notes = comparison.notes
        self.coverage = [
            {"name": name, **coverage._asdict()} for name, coverage in comparison.coverage.items()
        ]
        self.version = _version()
        rankings: dict[int, Any] = {}
        risk: dict[str, Any] = {}
        if runs is not None:
            given, judged = _read(runs, qrels, self.names, comparison.integer_ids)
            evaluations = self._evaluated(given, judged, ties)
            self.curves = self._curves_of(given, judged, ties)
            risk = self._risk(evaluations, given)
            rankings = self._rankings(given, judged, ties)
            self.ranked = len(rankings)
        self.data = {
            "baseline": comparison.baseline,
            "systems": list(comparison.systems),
            "metrics": list(comparison.metrics),
            "queries": [str(query) for query in comparison.query_ids],
            "values": {
                name: [_short(column) for column in comparison.values[name].T]
                for name in self.names
            },
            "differences": {
                name: [_short(column) for column in comparison.differences(name).T]
                for name in comparison.systems
            },
            "rankings": rankings,
            "has_runs": self.has_runs,
            "curves": self.curves,
            "risk": risk,
            "facets": [
                {**row, "facet": i}
                for i, facet in enumerate(self.facets)
                for label in facet["labels"]
                for row in label["points"]
            ],
        }

    def _verdict(self, system: str) -> dict[str, Any]:
        rows = [row for row in self.comparison.rows if row.system == system]
        kinds: dict[str, list[str]] = {"better": [], "worse": [], "can't tell": []}
        for row in rows:
            change = f"{row.metric} ({row.difference:+.4f})"
            kinds[row.verdict].append(change)
        better, worse, unknown = kinds.values()
        name, baseline = system, self.comparison.baseline
        if better and worse:
            text = f"{name} is better than {baseline} by {_list(better)}"
            text += f", but worse by {_list(worse)}"
        elif better or worse:
            word = "better" if better else "worse"
            text = f"{name} is {word} than {baseline} by {_list(better or worse)}"
        else:
            text = f"These {self.queries:,} queries can't tell {name} from {baseline}"
            if self.queries == 1:
                text = f"One query can't tell {name} from {baseline}"
            text += f" by {_list(unknown)}"
            unknown = []
        if unknown:
            text += f"; {_list(unknown)} can't tell"
        kind = "mixed" if better and worse else "better" if better else "worse" if worse else "none"
        return {"text": text + ".", "kind": kind}

    def _conventions(self, ties: str) -> list[str]:
        comparison = self.comparison
        said = [MISSING[comparison.settings.missing]]
        if self.has_runs:
            said.insert(0, TIES[ties])
        said.append(
            f"The {self.share} interval is of the mean difference, by the paired t statistic."
        )
        said.append(
            "A system is called better or worse where the corrected p is at most "
            f"{comparison.settings.alpha:g}; higher values count as better."
        )
        return said

    def _evaluated(self, runs: Any, qrels: Any, ties: Ties) -> dict[str, Evaluation]:
        """Evaluate once more, so that what is shown is what was compared."""
        comparison = self.comparison
        scorer = Evaluator(qrels, list(comparison.named_metrics.values()))
        chosen = _places(scorer.query_ids, comparison.query_ids)
        evaluations = {}
        for name in self.names:
            evaluation = scorer.evaluate(runs[name], ties=ties, duplicates="first").part(chosen)
            differ = ~np.isclose(evaluation.values, comparison.values[name], rtol=0, atol=1e-9)
            if differ.any():
                query, metric = (int(place) for place in np.argwhere(differ)[0])
                here, there = (
                    evaluation.values[query, metric],
                    comparison.values[name][query, metric],
                )
                raise ValueError(
                    f"these are not the runs and judgments that were compared: {name!r} has "
                    f"{comparison.metrics[metric]} {here:g} for query "
                    f"{comparison.query_ids[query]!r}, the comparison has {there:g}; "
                    "were the ties broken in another way?"
                )
            evaluations[name] = evaluation
        return evaluations

    def _curves_of(self, runs: Any, qrels: Any, ties: Ties) -> list[dict[str, Any]]:
        """Means of recall and nDCG at several k, with the parameters of the compared ones."""
        depth = max(len(ranking) for name in self.names for ranking in runs[name].values())
        depth = max(depth, _LEAST_DEPTH)
        cutoffs = [k for i, k in enumerate(_CUTOFFS) if i == 0 or _CUTOFFS[i - 1] < depth]
        compared = list(self.comparison.named_metrics.values())
        curves = []
        for family in _CURVES:
            same = next((metric for metric in compared if metric.name == family), None)
            parameters = dict(same.parameters) if same is not None else {}
            metrics = [Metric(family, k, **parameters) for k in cutoffs]
            try:
                scorer = Evaluator(qrels, metrics)
            except ValueError:  # grades that this metric has no gains for; nobody asked for it
                continue
            chosen = _places(scorer.query_ids, self.comparison.query_ids)
            shown = str(metrics[0]).replace("@1", "@k", 1)
            for name in self.names:
                evaluation = scorer.evaluate(runs[name], ties=ties, duplicates="first")
                means = evaluation.values[chosen].mean(axis=0)
                values = [round(value, _DIGITS) for value in means.tolist()]
                points = [
                    {"k": k, "value": value} for k, value in zip(cutoffs, values, strict=True)
                ]
                curves.append({"metric": shown, "system": name, "points": points})
        return curves

    def _risk(self, evaluations: Mapping[str, Evaluation], runs: Any) -> dict[str, Any]:
        queries = self.comparison.query_ids
        confidences: dict[str, dict[Any, float]] = {}
        for name in self.names:
            tops = _top_scores(runs[name], queries)
            if tops is None:
                self.no_risk.append(f"{name} has no scores.")
            elif len(set(tops.values())) == 1 and self.queries > 1:
                self.no_risk.append(f"The top scores of {name} are all the same.")
            else:
                confidences[name] = tops
        curves: dict[str, Any] = {}
        compared = list(self.comparison.named_metrics.values())
        for column, metric in enumerate(self.comparison.metrics):
            of_metric = []
            for name, confidence in confidences.items():
                values = self.comparison.values[name][:, column]
                if values.min() < 0 or values.max() > 1:
                    continue
                risk = risk_coverage(evaluations[name], compared[column], confidence)
                steps = np.linspace(1, len(queries), min(len(queries), _POINTS))
                places = np.unique(steps.round().astype(int)) - 1
                of_metric.append(
                    {
                        "system": name,
                        "coverage": _short(risk.coverage[places]),
                        "risk": _short(risk.risk[places]),
                        "random": round(float(risk.random[-1]), _DIGITS),
                        "oracle": _short(risk.oracle[places]),
                    }
                )
                at = [risk.risk[math.ceil(len(queries) * share) - 1] for share in _SHARES]
                self.risks.append(
                    {
                        "metric": metric,
                        "system": name,
                        "at": [f"{value:.4f}" for value in at],
                        "areas": [
                            f"{area:.4f}"
                            for area in (risk.aurc, risk.random_aurc, risk.oracle_aurc)
                        ],
                    }
                )
            if of_metric:
                curves[metric] = of_metric
        return curves

    def _rankings(self, runs: Any, qrels: Any, ties: str) -> dict[int, Any]:
        """The rankings of the queries that moved most, by any system and metric, as ids, grades."""
        comparison = self.comparison
        place = {query: i for i, query in enumerate(comparison.query_ids)}
        lists: list[Sequence[Mover]] = []
        for system in comparison.systems:
            for metric in comparison.metrics:
                lists += comparison.movers(system, metric, _EACH_WAY)
        chosen: dict[Any, None] = {}
        for i in range(_EACH_WAY):
            for movers in lists:
                if i < len(movers) and len(chosen) < MOST_RANKED:
                    chosen[movers[i].query] = None
        for query in comparison.query_ids:  # those that are the same, while there is room
            if len(chosen) >= MOST_RANKED:
                break
            chosen[query] = None
        rankings = {}
        for query in sorted(chosen, key=place.__getitem__):
            grades = qrels[query]
            of_query = []
            for name in self.names:
                order = ranked(runs[name].get(query, ()), ties)
                of_query.append([[str(id_), _grade(grades.get(id_))] for id_ in order[:DEPTH]])
            rankings[place[query]] = of_query
        return rankings


def ranked(ranking: Any, ties: str) -> list[Any]:
    """Return the ids of a ranking in their order, best first, without repetitions."""
    if not hasattr(ranking, "items"):
        return list(dict.fromkeys(list(ranking)))
    items = list(ranking.items())
    if ties != "input":
        try:
            items.sort(key=lambda item: _comparable(item[0]), reverse=True)
        except TypeError:
            items.sort(key=lambda item: str(item[0]), reverse=True)
    items.sort(key=lambda item: item[1], reverse=True)
    return [id_ for id_, _ in items]


def _comparable(id_: Any) -> Any:
    return id_.encode("utf-8", "surrogatepass") if isinstance(id_, str) else id_


def _read(
    runs: Any, qrels: Any, names: Sequence[str], integers: bool
) -> tuple[dict[str, Any], dict[Any, Any]]:
    if not hasattr(runs, "items"):
        raise TypeError(f"runs must be a mapping from name to run, not {type(runs).__name__}")
    lacking = [name for name in names if name not in runs]
    if lacking:
        raise ValueError(f"runs lack {', '.join(map(repr, lacking))}, which is compared")
    sides = [("qrels", qrels, "qrels"), *(("run", runs[name], "run") for name in names)]
    judged, *read = whole_mappings(sides)
    if integers:  # of the queries, which are text in the comparison
        judged, *read = (with_text_keys(side.items(), "query") for side in (judged, *read))
    return dict(zip(names, read, strict=True)), judged


def _places(every: Sequence[Any], chosen: Sequence[Any]) -> list[int]:
    places = {query: i for i, query in enumerate(every)}
    for query in chosen:
        if query not in places:
            raise ValueError(f"query {query!r} was compared, but is not in the judgments")
    return [places[query] for query in chosen]


def _top_scores(run: Any, queries: Sequence[Any]) -> dict[Any, float] | None:
    """The highest score of each query, or None for a run without scores."""
    tops = {}
    for query in queries:
        ranking = run.get(query, {})
        if not hasattr(ranking, "values"):
            return None
        tops[query] = max(map(float, ranking.values()), default=-math.inf)
    return tops


def _row(row: Difference) -> dict[str, Any]:
    return {
        "system": row.system,
        "metric": row.metric,
        "verdict": row.verdict,
        "baseline": f"{row.baseline:.4f}",
        "mean": f"{row.mean:.4f}",
        "difference": f"{row.difference:+.4f}",
        "relative": "" if row.relative is None else f"{row.relative:+.1%}",
        "interval": f"{row.low:+.4f} to {row.high:+.4f}" if math.isfinite(row.low) else "unknown",
        "p": shown_p(row.adjusted_p),
        "outcome": f"{row.wins:,} / {row.ties:,} / {row.losses:,}",
    }


def _facets(given: Mapping[Any, Any]) -> list[dict[str, Any]]:
    flat = {label: part for label, part in given.items() if isinstance(part, Comparison)}
    nested = {"facet": flat} if flat else given
    facets = []
    for facet, parts in nested.items():
        labels = sorted(parts.items(), key=lambda item: -len(item[1]))
        facets.append(
            {
                "name": str(facet),
                "hidden": max(0, len(labels) - MOST_LABELS),
                "labels": [_label(label, part) for label, part in labels[:MOST_LABELS]],
            }
        )
    return facets


def _label(label: Any, part: Comparison) -> dict[str, Any]:
    name = "(none)" if label is None else str(label)
    points = [
        {
            "label": f"{name} ({len(part):,})",
            "system": row.system,
            "metric": row.metric,
            "difference": round(row.difference, _DIGITS),
            "low": round(row.low, _DIGITS) if math.isfinite(row.low) else None,
            "high": round(row.high, _DIGITS) if math.isfinite(row.high) else None,
            "verdict": row.verdict,
        }
        for row in part.rows
    ]
    return {
        "label": name,
        "queries": len(part),
        "rows": [_row(row) for row in part.rows],
        "points": points,
    }


def _explain(metrics: Mapping[str, Metric]) -> list[dict[str, str]]:
    explained = []
    for name, metric in metrics.items():
        row = METRICS[metric.name]
        explained.append(
            {
                "name": name,
                "is": str(metric),
                "summary": row.summary,
                "formula": row.formula,
                "convention": row.convention,
            }
        )
    return explained


def _grade(grade: Any) -> float | None:
    return None if grade is None else float(grade)


def _short(values: Floats) -> list[float]:
    """Six digits: enough to look at, and much shorter."""
    return [float(f"{value:.{_DIGITS}g}") for value in values.tolist()]


def _list(items: Sequence[str]) -> str:
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last


def _version() -> str:
    from importlib.metadata import version

    return version("rankmeter")
