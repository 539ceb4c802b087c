"""The command ``rankmeter compare``: systems against a baseline, and a gate for what they lose.

Exit code 3: a metric drops by more than its budget.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from rankmeter.cli.input import (
    DEFAULT_METRICS,
    add_command,
    add_metrics,
    add_reading,
    add_rules,
    add_tests,
    check_inputs,
    name_errors,
    qrels_notes,
    read_labels,
    read_qrels,
    score_run,
    share,
    unjudged_notes,
    whole,
)
from rankmeter.cli.output import (
    BadInput,
    Cell,
    Sheet,
    add_digits,
    add_output,
    bound,
    complain,
    csv_of,
    deliver,
    in_markdown,
    lay_out,
    list_lines,
    list_notes,
    make_printable,
)
from rankmeter.doors.source import shown_name
from rankmeter.experiments import budgets
from rankmeter.naming.parsing import parse
from rankmeter.writers.tables import Style

if TYPE_CHECKING:
    from rankmeter.experiments.comparison import Comparison, Difference

EXCEEDED = 3
STYLES: Mapping[str, Style] = {"table": "text", "markdown": "markdown", "html": "html"}

_ALPHA = 0.05

_DESCRIPTION = """\
Compare runs with a baseline, query by query: one row for each candidate and metric, and whether it
is better, worse, or nothing can be told.

The files are those of "rankmeter eval". All runs are compared on the same queries.
"""

_EPILOG = """\
columns:
  verdict       better or worse where p is at most alpha; else can't tell. Higher counts as better
  difference    mean of the differences of each query
  relative      the same as a share of the baseline's mean
  interval      of the difference, by the t statistic
  p             two-sided, after the correction over candidates x metrics; with --by over
                candidates x metrics x labels of a facet
  win/tie/loss  queries on which the candidate is better, equal and worse

budgets:
  --budget ndcg@10=0.01     exit code 3 if the mean of a candidate drops by more than 0.01
  --budget recall@100=2%    ... by more than 2% of the baseline's mean
  Every drop counts, noise or not. With --alpha, only one that is significant, too: the verdict must
  be "worse". The metric is added if -m does not name it. What is exceeded is said on standard
  error, a line each.

formats:
  table         for reading; notes below
  markdown      the same as Markdown, with the verdict and the budgets as sentences above:
                a summary for a pull request
  html          the same as a page
  csv           one table with all digits: the comparison, or that of --by, or that of --movers.
                Notes go to standard error.
  json          all digits: {"qrels": path, "baseline": run, "systems": [run, ...], "metrics": ...,
                "settings": ..., "notes": ..., "rows": [{"system": run, "metric": ...,
                "difference": ..., "verdict": ...}, ...], "facets": ..., "budgets":
                [{"system": run, "metric": ..., "allowed": ..., "drop": ..., "outcome": "kept",
                "exceeded" or "not significant"}, ...], ...}

exit code:
  0 done, 1 bad input, 2 wrong command line, 3 a budget is exceeded

examples:
  rankmeter compare qrels.txt bm25.run dense.run
  rankmeter compare qrels.txt bm25.run dense.run fused.run -m ndcg@10 -m recall@100 --movers 10
  rankmeter compare qrels.txt main.run new.run --budget ndcg@10=0.01 --budget recall@100=2%
  rankmeter compare qrels.txt main.run new.run --budget ndcg@10=0 --alpha 0.05
"""


def add_compare(commands: Any) -> None:
    """Add the command to those of the parser."""
    parser = add_command(
        commands,
        "compare",
        _compare,
        summary="compare runs with a baseline",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("base", metavar="BASE", help="the run of the baseline")
    parser.add_argument(
        "candidates", metavar="CANDIDATE", nargs="+", help="a run to compare with it"
    )
    add_metrics(parser)
    parser.add_argument("--by", metavar="FACETS", help="compare within each label, too")
    parser.add_argument(
        "--movers",
        type=whole(0, 10**9, "a number from 0 up"),
        metavar="N",
        default=0,
        help="name the N most improved and the N most regressed queries (default: 0)",
    )
    parser.add_argument(
        "--budget",
        dest="budgets",
        metavar="METRIC=DROP",
        action="append",
        type=_budget,
        default=[],
        help="exit with 3 if a metric drops by more than this; may be repeated; see below",
    )
    parser.add_argument(
        "--alpha",
        type=share,
        metavar="A",
        help=f"a difference counts as one if p is at most this (default: {_ALPHA}); given with "
        "--budget, only drops that count as one exceed it",
    )
    add_tests(parser)
    add_rules(parser)
    parser.add_argument(
        "--format",
        choices=(*STYLES, "json", "csv"),
        default="table",
        help="default: table; see below",
    )
    add_digits(parser)
    add_reading(parser)
    add_output(parser)


def _budget(text: str) -> budgets.Budget:
    try:
        return budgets.read_budget(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _compare(arguments: argparse.Namespace) -> int:
    runs = [arguments.base, *arguments.candidates]
    check_inputs(arguments, runs)
    if arguments.format == "csv" and arguments.by is not None and arguments.movers:
        arguments.usage_error("csv holds one table: choose --by or --movers")
    metrics = _metrics(arguments)
    evaluator = read_qrels(metrics, arguments)
    labels = read_labels(arguments)
    notes = qrels_notes(evaluator, labels, arguments)
    evaluations = {}
    for run in runs:
        evaluation, absent, unjudged = score_run(run, evaluator, arguments)
        evaluations[shown_name(run)] = evaluation
        # What a run lacks is among the notes of the comparison.
        notes += unjudged_notes(run, len(evaluator.query_ids) - len(absent), unjudged)
    comparison = _compare_runs(evaluations, labels, arguments)
    checked = budgets.check(
        comparison, arguments.budgets, only_significant=arguments.alpha is not None
    )
    notes = [
        *comparison.notes,
        *_facet_notes(comparison),
        *budgets.never_exceeded(comparison, arguments.budgets),
        *notes,
    ]
    code = deliver(*_report(comparison, checked, notes, arguments), arguments.output)
    for one in checked:
        if one.outcome != "kept":
            complain(one.sentence if one.outcome == "exceeded" else f"note: {one.sentence}")
    exceeded = any(one.outcome == "exceeded" for one in checked)
    return EXCEEDED if exceeded and code == 0 else code


def _metrics(arguments: argparse.Namespace) -> list[str]:
    """Return what was asked for, and what else has a budget."""
    metrics = list(arguments.metrics or DEFAULT_METRICS)
    parsed = [parse(metric) for metric in metrics]
    seen = []
    for budget in arguments.budgets:
        metric = parse(budget.metric)
        if metric in seen:
            arguments.usage_error(f"the metric {budget.metric} has two budgets")
        seen.append(metric)
        if metric not in parsed:
            metrics.append(budget.metric)
    return metrics


def _compare_runs(
    evaluations: Mapping[str, Any],
    labels: Mapping[str, Mapping[str, str]] | None,
    arguments: argparse.Namespace,
) -> Comparison:
    from rankmeter.experiments.compare import compare

    try:
        comparison = compare(
            evaluations,
            test=arguments.test,
            correction=arguments.correction,
            alpha=_ALPHA if arguments.alpha is None else arguments.alpha,
            confidence=arguments.confidence,
            draws=arguments.draws,
            seed=arguments.seed,
            missing=arguments.missing,
        )
    except (ValueError, ImportError) as error:
        raise BadInput(str(error)) from error
    if labels is not None:
        with name_errors(arguments.by):
            comparison.facets = comparison.by(labels)
    return comparison


def _facet_notes(comparison: Comparison) -> list[str]:
    if comparison.settings.correction == "none":
        return []
    notes = []
    for facet, parts in comparison.facets.items():
        count = next(iter(parts.values())).comparisons
        notes.append(f"{facet}: corrected for {'1 p-value' if count == 1 else f'{count} p-values'}")
    return notes


# ---------------------------------------------------------------------------------------------
# Reports


def _report(
    comparison: Comparison,
    checked: Sequence[budgets.Checked],
    notes: Sequence[str],
    arguments: argparse.Namespace,
) -> tuple[str, Sequence[str]]:
    """Make the report, and the notes that it does not hold."""
    if arguments.format == "json":
        return _json(comparison, checked, notes, arguments), []
    if arguments.format == "csv":
        if arguments.by is not None:
            return csv_of(_facet_rows(comparison)), notes
        if arguments.movers:
            return csv_of(_movers(comparison, arguments.movers)), notes
        return csv_of(_rows(comparison)), notes
    style = STYLES[arguments.format]
    digits = arguments.digits
    parts = [lay_out(_table(comparison, digits), style, digits)]
    if arguments.by is not None:
        parts.append(lay_out(_facet_table(comparison, digits), style, digits))
    if arguments.movers:
        parts.append(lay_out(_movers(comparison, arguments.movers, digits), style, digits))
    title = f"{', '.join(comparison.systems)} against {comparison.baseline}"
    if style != "text":  # on a terminal, the budgets are said on standard error
        if checked:
            lines = [f"budget {one.outcome}: {one.sentence}" for one in checked]
            parts.insert(0, list_lines(lines, style))
        parts.insert(0, _verdict(comparison, style))
    parts.append(list_notes(notes, style))
    return bound(parts, style, title), []


def _verdict(comparison: Comparison, style: Style) -> str:
    """Say in a sentence for each system by which metrics it is better and worse."""
    lines = []
    for system in comparison.systems:
        rows = [row for row in comparison.rows if row.system == system]
        found = []
        for verdict in ("better", "worse", "can't tell"):
            names = [row.metric for row in rows if row.verdict == verdict]
            if names:
                found.append(f"{verdict} by {', '.join(names)}")
        lines.append(make_printable(f"{system} against {comparison.baseline}: {'; '.join(found)}"))
    if style == "html":
        from html import escape

        return "\n".join(f"<p>{escape(line)}</p>" for line in lines)
    return "\n\n".join(f"**{in_markdown(line)}**" for line in lines)


def _table(comparison: Comparison, digits: int) -> Sheet:
    header, keys = _header(comparison)
    several = len(comparison.systems) > 1
    return Sheet(header, keys, [_cells(row, several, digits) for row in comparison.rows])


def _facet_table(comparison: Comparison, digits: int) -> Sheet:
    header, keys = _header(comparison)
    header.insert(keys, "queries")
    several = len(comparison.systems) > 1
    rows: list[list[Cell]] = []
    for facet, parts in comparison.facets.items():
        for label, part in parts.items():
            for row in part.rows:
                cells = _cells(row, several, digits)
                cells.insert(keys, len(part))
                rows.append([facet, label, *cells])
    return Sheet(["facet", "label", *header], 2 + keys, rows)


def _header(comparison: Comparison) -> tuple[list[str], int]:
    several = len(comparison.systems) > 1
    keys = ["candidate"] * several + ["metric", "verdict"]
    settings = comparison.settings
    return [
        *keys,
        comparison.baseline,
        "candidate" if several else comparison.systems[0],
        "difference",
        "relative",
        f"{settings.confidence * 100:g}% interval",
        "p" if settings.correction == "none" else f"p ({settings.correction})",
        "win/tie/loss",
    ], len(keys)


def _cells(row: Difference, several: bool, digits: int) -> list[Cell]:
    from rankmeter.experiments.comparison import shown_p

    system: list[Cell] = [row.system] if several else []
    return [
        *system,
        row.metric,
        row.verdict,
        row.baseline,
        row.mean,
        f"{row.difference:+.{digits}f}",
        None if row.relative is None else f"{row.relative:+.1%}",
        f"[{row.low:+.{digits}f}, {row.high:+.{digits}f}]",
        shown_p(row.adjusted_p),
        f"{row.wins}/{row.ties}/{row.losses}",
    ]


def _movers(comparison: Comparison, most: int, digits: int | None = None) -> Sheet:
    """List the queries that changed most; for a program without `digits`."""
    plain = digits is None
    several = plain or len(comparison.systems) > 1
    rows: list[list[Cell]] = []
    for row in comparison.rows:
        system: list[Cell] = [row.system] if several else []
        for mover in (m for side in comparison.movers(row.system, row.metric, most) for m in side):
            change: Cell = mover.difference if plain else f"{mover.difference:+.{digits}f}"
            rows.append([*system, row.metric, mover.query, mover.baseline, mover.value, change])
    if plain:
        names = ["system", "metric", "query", "baseline", "value", "difference"]
    else:
        value = "candidate" if several else comparison.systems[0]
        names = ["candidate"] * several + ["metric", "query"]
        names += [comparison.baseline, value, "difference"]
    return Sheet(names, 2 + several, rows)


def _rows(comparison: Comparison) -> Sheet:
    names = _names(comparison)
    return Sheet(names, 2, [_plain(row, names) for row in comparison.rows])


def _facet_rows(comparison: Comparison) -> Sheet:
    names = _names(comparison)
    rows: list[list[Cell]] = [
        [facet, label, len(part), *_plain(row, names)]
        for facet, parts in comparison.facets.items()
        for label, part in parts.items()
        for row in part.rows
    ]
    return Sheet(["facet", "label", "queries", *names], 5, rows)


def _names(comparison: Comparison) -> list[str]:
    return [field.name for field in fields(comparison.rows[0])]


def _plain(row: Difference, names: Sequence[str]) -> list[Cell]:
    content = asdict(row)
    return [
        str(content[name]).lower() if isinstance(content[name], bool) else content[name]
        for name in names
    ]


def _json(
    comparison: Comparison,
    checked: Sequence[budgets.Checked],
    notes: Sequence[str],
    arguments: argparse.Namespace,
) -> str:
    from rankmeter.experiments.comparison import for_json

    report = {"qrels": arguments.qrels, "ties": arguments.ties}
    report |= comparison.to_dict(movers=arguments.movers)
    report |= {"notes": list(notes), "budgets": [one.to_dict() for one in checked]}
    return json.dumps(for_json(report), indent=2, allow_nan=False) + "\n"
