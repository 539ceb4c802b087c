"""From evaluations, or from judgments and runs, to a comparison: the same queries for everybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

import numpy as np

from rankmeter._core.ids import type_mismatch, with_text_keys
from rankmeter.arguments import check_draws, check_mapping, check_share, check_word
from rankmeter.doors.how import Missing, Ties
from rankmeter.doors.kinds import Duplicates, Errors, Format, Names, Qrels, Run
from rankmeter.doors.threads import count_usable
from rankmeter.experiments.comparison import Comparison, Settings
from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import named_metrics
from rankmeter.results.evaluation import Evaluation
from rankmeter.results.plain import sample
from rankmeter.scoring.evaluator import Evaluator
from rankmeter.statistics.significance import CORRECTIONS, TESTS, Correction, Test


def compare(
    given: Mapping[str, Evaluation] | Qrels,
    runs: Mapping[str, Run] | None = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    baseline: str | None = None,
    test: Test = "randomisation",
    correction: Correction = "holm",
    alpha: float = 0.05,
    confidence: float = 0.95,
    draws: int = 100_000,
    seed: int = 0,
    missing: Missing = "zero",
    facets: Mapping[Any, Any] | None = None,
    ties: Ties = "docid",
    duplicates: Duplicates = "error",
    threads: int = 1,
    format: Format = None,
    columns: Names = None,
    errors: Errors = "raise",
) -> Comparison:
    """Compare systems with a baseline, query by query.

    Parameters
    ----------
    given : mapping, path, binary file or table
        ``{name: Evaluation}``, evaluations of the same judgments; or judgments as for `evaluate`.
    runs : mapping, optional
        With judgments: ``{name: run}``, each as for `evaluate`. The judgments are read once.
    metrics : str, Metric, or sequence of these, optional
        By default all that every evaluation has. Needed with judgments.
    baseline : str, optional
        The name of the one that the others are compared with; by default the first.
    test : {"randomisation", "t", "wilcoxon"}
        Fisher's randomisation test: how often random signs of the differences make as large an
        absolute sum. With 22 differing queries or fewer all signs are gone through; otherwise
        `draws` patterns are drawn, and p = (as large + 1) / (draws + 1), which is never 0. Or the
        paired t test, or Wilcoxon's signed-rank test of the queries that differ; these two need
        ``rankmeter[stats]``. All are two-sided.
    correction : {"holm", "bonferroni", "bh", "none"}
        For looking at systems x metrics at once: Holm, Bonferroni, Benjamini and Hochberg, or none.
    alpha : float
        A difference counts as one if its corrected p is at most this.
    confidence : float
        Of the interval of the mean difference.
    draws, seed : int
        Of the randomisation test. The same seed gives the same p on every platform; a drawn p moves
        within its error with what else is compared, as all are tested with the same signs.
    missing : {"zero", "skip", "error"}
        What to do with queries that one has and another lacks: count all its values as 0, leave
        them out, or refuse. With judgments it is also how the runs are evaluated.
    facets : mapping, optional
        As for `Comparison.by`, whose result stands in `Comparison.facets`.
    ties, duplicates, threads, format, columns, errors : optional
        With judgments, as for `evaluate`.

    Returns
    -------
    Comparison

    Raises
    ------
    ImportError
        For a test or a file that needs a library that is not there.
    KeyError
        If a metric was not evaluated.
    OSError
        As for `evaluate`.
    TypeError
        If something is of the wrong type.
    ValueError
        For fewer than two names, an unknown baseline or option, no metric or query in common,
        queries that one side lacks under ``missing="error"``, a value that is not finite, or as
        for `evaluate`.

    Notes
    -----
    Queries are paired by id; the order of the evaluations does not matter. All systems are
    compared on the same queries: those that any has with ``missing="zero"``, those that all have
    with ``"skip"``.

    The interval is that of the paired t statistic. From some 30 queries on it holds
    what it promises, also where most differences are 0 and the rest is skewed; percentiles of a
    bootstrap are too narrow for few queries, and the t interval needs neither draws nor a seed. It
    can disagree with the randomisation test where that is at its limit.

    Metrics with a geometric mean (gm_map, gm_bpref) are compared by their values of each query:
    the means of a comparison are arithmetic.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> base = rm.evaluate(qrels, {"q1": ["a"], "q2": ["x", "b"]}, "mrr")
    >>> new = rm.evaluate(qrels, {"q1": ["a"], "q2": ["b"]}, "mrr")
    >>> row = rm.compare({"base": base, "new": new})["new", "mrr"]
    >>> row.difference, row.p, row.verdict
    (0.25, 1.0, "can't tell")
    """
    settings = _settings(test, correction, alpha, confidence, draws, seed, missing)
    if runs is None:
        count_usable(threads)  # refused even where there is nothing to read
        evaluations = _evaluations(given)
    else:
        if metrics is None:
            raise TypeError("judgments and runs need metrics: pass for example ['ndcg@10', 'mrr']")
        check_mapping("runs", "name to run", runs)
        named: dict[str, Any] = dict(runs.items())
        _check_names(named, baseline)
        qrels = cast("Qrels", given)
        scorer = Evaluator(qrels, metrics, format=format, columns=columns, errors=errors)
        evaluations = {
            name: scorer.evaluate(
                run,
                ties=ties,
                missing=missing,
                duplicates=duplicates,
                threads=threads,
                format=format,
                columns=columns,
                errors=errors,
            )
            for name, run in named.items()
        }
    _check_names(evaluations, baseline)
    if baseline is not None:
        evaluations = {baseline: evaluations[baseline]} | evaluations
    comparison = _pair_up(evaluations, _metrics_in_common(evaluations, metrics), settings)
    if facets is not None:
        comparison.facets = comparison.by(facets)
    return comparison


def _pair_up(
    evaluations: Mapping[str, Evaluation], metrics: Mapping[str, Metric], settings: Settings
) -> Comparison:
    """Bring the rows of all evaluations into one order, and compare them."""
    integers = any(ev.integer_ids for ev in evaluations.values())
    places: dict[str, dict[Any, int]] = {}
    for name, ev in evaluations.items():
        rows = [(query, i) for i, query in enumerate(ev.query_ids)]
        places[name] = with_text_keys(rows, f"{name!r}: query") if integers else dict(rows)
    everybodys = dict.fromkeys(query for place in places.values() for query in place)
    lacking = {
        name: [query for query in everybodys if query not in place]
        for name, place in places.items()
    }
    shared = [q for q in everybodys if all(q in place for place in places.values())]
    if not shared:
        one, two = list(evaluations)[:2]
        raise ValueError(
            f"no query in common: {one!r} has {sample(list(places[one]))}, "
            f"{two!r} has {sample(list(places[two]))}" + type_mismatch(places[one], places[two])
        )
    if settings.missing == "error":
        for name, queries in lacking.items():
            if queries:
                raise ValueError(f"{name!r} lacks {sample(queries)} that others have")
    queries = shared if settings.missing == "skip" else list(everybodys)
    values = {}
    for name, ev in evaluations.items():
        chosen = ev.values[:, [ev.column(metric) for metric in metrics.values()]]
        if not np.isfinite(chosen).all():
            raise ValueError(f"{name!r} holds values that are not finite")
        # One more row, for the queries that it lacks.
        filled = np.vstack([chosen, np.zeros(len(metrics))])
        aligned = filled[[places[name].get(query, len(ev)) for query in queries]]
        aligned.flags.writeable = False
        values[name] = aligned
    return Comparison(
        queries,
        metrics,
        values,
        settings,
        unpaired={name: len(queries) for name, queries in lacking.items()},
        left_out=len(everybodys) - len(queries),
        coverage={name: ev.coverage for name, ev in evaluations.items()},
        integers=integers,
    )


def _evaluations(given: Any) -> dict[str, Evaluation]:
    what = "compare takes {name: Evaluation}, or qrels, {name: run} and metrics"
    if not isinstance(given, Mapping):
        raise TypeError(f"{what}, not {type(given).__name__}")
    for ev in given.values():
        if not isinstance(ev, Evaluation):
            raise TypeError(f"{what}, not a mapping to {type(ev).__name__}")
    return dict(given.items())


def _check_names(named: Mapping[str, Any], baseline: str | None) -> None:
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"a system is named by a string, not {name!r}")
    if len(named) < 2:
        raise ValueError(f"there must be two systems or more to compare, not {len(named)}")
    if baseline is not None and baseline not in named:
        raise ValueError(f"no system {baseline!r} for a baseline; there are {', '.join(named)}")


def _metrics_in_common(evaluations: Mapping[str, Evaluation], metrics: Any) -> dict[str, Metric]:
    first, *others = evaluations.values()
    named = list(first.named_metrics.values())
    if metrics is not None:
        one = isinstance(metrics, str) or not isinstance(metrics, Iterable)
        given = [metrics] if one else list(metrics)
        if not given:
            raise ValueError("no metric was named")
        for ev in evaluations.values():
            for metric in given:
                ev.column(metric)
        return named_metrics((str(metric), named[first.column(metric)]) for metric in given)
    common = {
        name: metric
        for name, metric in first.named_metrics.items()
        if all(metric in e for e in others)
    }
    if not common:
        raise ValueError(
            "no metric in common: "
            + "; ".join(f"{name}: {', '.join(ev.metrics)}" for name, ev in evaluations.items())
        )
    return common


def _settings(
    test: Any, correction: Any, alpha: Any, confidence: Any, draws: Any, seed: Any, missing: Any
) -> Settings:
    check_word("test", test, TESTS)
    check_word("correction", correction, CORRECTIONS)
    check_word("missing", missing, get_args(Missing))
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    draws, seed = check_draws(draws, seed)
    return Settings(test, correction, float(alpha), float(confidence), draws, seed, missing)
