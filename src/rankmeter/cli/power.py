"""The command ``rankmeter power``: what a golden set can tell."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rankmeter.cli.compare import STYLES
from rankmeter.cli.input import (
    DEFAULT_METRICS,
    add_command,
    add_confidence,
    add_draws,
    add_metrics,
    add_reading,
    add_rules,
    check_inputs,
    number,
    qrels_notes,
    read_qrels,
    run_notes,
    score_run,
    share,
)
from rankmeter.cli.output import (
    BadInput,
    Cell,
    Sheet,
    add_digits,
    add_output,
    bound,
    csv_of,
    deliver,
    lay_out,
    list_notes,
)
from rankmeter.doors.source import shown_name

if TYPE_CHECKING:
    from rankmeter.experiments.intervals import Intervals
    from rankmeter.results.evaluation import Evaluation

_DESCRIPTION = """\
Tell how far each mean may be from that of all questions of this kind, which difference of two
systems so many queries would show, and how many queries a difference needs.

The files are those of "rankmeter eval". With a CANDIDATE, the spread is that of its differences
from RUN. Without one, it is that of a system whose values have nothing to do with those of RUN;
real systems are more alike, so that fewer queries do.
"""

_EPILOG = """\
columns:
  interval           of the mean: exact binomial where every value is 0 or 1, else bootstrap
  differ             queries on which the two differ
  deviation          standard deviation of the differences
  shows              the smallest difference that so many queries show, in 80 % of cases (--power)
  difference         --difference; without it the observed one
  needs              queries that would show it
  lowest p           that so many differing queries allow, whatever the differences; a comparison is
                     unresolvable if that is above alpha

exit code:
  0 done, 1 bad input, 2 wrong command line

examples:
  rankmeter power qrels.txt bm25.run
  rankmeter power qrels.txt bm25.run dense.run -m ndcg@10 --difference 0.01
"""


class _Row(NamedTuple):
    """What can be told by one metric."""

    metric: str
    queries: int
    changed: int | None
    deviation: float
    detectable: float | None
    difference: float | None
    needed: int | None
    smallest_p: float
    resolvable: bool
    sentence: str


def add_power(commands: Any) -> None:
    """Add the command to those of the parser."""
    parser = add_command(
        commands,
        "power",
        _power,
        summary="tell which differences the queries can show",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("run", metavar="RUN", help="what a system returned")
    parser.add_argument(
        "candidate", metavar="CANDIDATE", nargs="?", help="what another system returned"
    )
    add_metrics(parser)
    parser.add_argument(
        "--difference",
        type=number(0.0, math.inf, "a number above 0"),
        metavar="D",
        help="the difference of means that matters",
    )
    parser.add_argument(
        "--power",
        type=share,
        metavar="P",
        default=0.8,
        help="the chance that a difference is found (default: 0.8)",
    )
    parser.add_argument(
        "--alpha",
        type=share,
        metavar="A",
        default=0.05,
        help="of one two-sided test (default: 0.05)",
    )
    add_confidence(parser)
    add_draws(parser, 10_000, "the bootstrap")
    add_rules(parser)
    parser.add_argument(
        "--format", choices=(*STYLES, "json", "csv"), default="table", help="default: table"
    )
    add_digits(parser)
    add_reading(parser)
    add_output(parser)


def _power(arguments: argparse.Namespace) -> int:
    runs = [arguments.run] + ([] if arguments.candidate is None else [arguments.candidate])
    check_inputs(arguments, runs)
    evaluator = read_qrels(arguments.metrics or list(DEFAULT_METRICS), arguments)
    notes = qrels_notes(evaluator, None, arguments)
    evaluations = {}
    for run in runs:
        evaluation, absent, unjudged = score_run(run, evaluator, arguments)
        evaluations[shown_name(run)] = evaluation
        missing = arguments.missing
        notes += run_notes(run, evaluator, evaluation, absent, unjudged, missing)

    from rankmeter.experiments.intervals import intervals

    try:
        found = {
            name: intervals(
                evaluation,
                confidence=arguments.confidence,
                draws=arguments.draws,
                seed=arguments.seed,
            )
            for name, evaluation in evaluations.items()
        }
        rows = _of_two(evaluations, arguments) if len(runs) == 2 else _of_one(evaluation, arguments)
    except ValueError as error:
        raise BadInput(str(error)) from error
    notes = [*_say(rows, found, arguments), *notes]
    return deliver(*_report(found, rows, notes, arguments), arguments.output)


def _of_two(evaluations: Mapping[str, Evaluation], arguments: argparse.Namespace) -> list[_Row]:
    from rankmeter.experiments.compare import compare
    from rankmeter.experiments.resolution import resolution

    comparison = compare(
        evaluations, correction="none", alpha=arguments.alpha, missing=arguments.missing
    )
    resolved = resolution(comparison, difference=arguments.difference, power=arguments.power)
    return [
        _Row(
            row.metric,
            row.queries,
            row.changed,
            row.deviation,
            row.detectable,
            row.difference,
            row.needed,
            row.smallest_p,
            row.resolvable,
            row.sentence.removeprefix(f"{row.system}, "),
        )
        for row in resolved.rows
    ]


def _of_one(evaluation: Evaluation, arguments: argparse.Namespace) -> list[_Row]:
    """Take the other system for one that has the same spread and nothing else in common."""
    from rankmeter.experiments.resolution import margin, queries_needed
    from rankmeter.statistics.means import moments

    queries, alpha, power = len(evaluation), arguments.alpha, arguments.power
    lowest = 2.0 ** (1 - queries) if queries else 1.0
    rows = []
    for column, metric in enumerate(evaluation.metrics):
        deviation = moments(evaluation.values[:, column])[1] * math.sqrt(2.0)
        known = queries > 1 and deviation > 0.0
        shown = margin(queries, alpha, power) * deviation if known else None
        wanted = arguments.difference
        needed = queries_needed(wanted, deviation, alpha, power) if known and wanted else None
        said = []
        if lowest > alpha:
            count = "1 query" if queries == 1 else f"{queries} queries"
            said.append(f"unresolvable, with {count} p cannot be below {lowest:.2g}")
        elif shown is not None:
            share = f"{power * 100:g}% of cases"
            said.append(f"{queries:,} queries show a difference of {shown:.4f} in {share}")
        else:
            said.append("every query has the same value, so nothing is known of the spread")
        if needed is not None:
            said.append(f"{needed:,} queries would show one of {wanted:.4f}")
        rows.append(
            _Row(
                metric,
                queries,
                None,
                deviation,
                shown,
                wanted,
                needed,
                lowest,
                lowest <= alpha,
                f"{metric}: {'; '.join(said)}",
            )
        )
    return rows


def _say(
    rows: Sequence[_Row], found: Mapping[str, Intervals], arguments: argparse.Namespace
) -> list[str]:
    how = f"power {arguments.power * 100:g}%, two-sided alpha {arguments.alpha:g}, no correction"
    if any(interval.how == "bootstrap" for one in found.values() for interval in one.values()):
        how += f"; {arguments.draws:,} bootstrap samples (seed {arguments.seed})"
    notes = [row.sentence for row in rows] + [how]
    if len(found) == 1:
        notes.append(
            "the spread is that of two systems with nothing in common; a candidate gives that of "
            "its differences, which is mostly less"
        )
    return notes


# ---------------------------------------------------------------------------------------------
# Reports


def _report(
    found: Mapping[str, Intervals],
    rows: Sequence[_Row],
    notes: Sequence[str],
    arguments: argparse.Namespace,
) -> tuple[str, Sequence[str]]:
    """Make the report, and the notes that it does not hold."""
    if arguments.format == "json":
        return _json(found, rows, notes, arguments), []
    if arguments.format == "csv":
        return csv_of(_plain(found, rows)), notes
    style, digits = STYLES[arguments.format], arguments.digits
    parts = [
        lay_out(_interval_table(found, digits), style, digits),
        lay_out(_resolution_table(rows, digits), style, digits),
        list_notes(notes, style),
    ]
    return bound(parts, style, f"What {arguments.qrels} can tell"), []


def _interval_table(found: Mapping[str, Intervals], digits: int) -> Sheet:
    rows: list[list[Cell]] = [
        [run, metric, i.how, i.mean, f"[{i.low:.{digits}f}, {i.high:.{digits}f}]"]
        for run, of_run in found.items()
        for metric, i in of_run.items()
    ]
    confidence = next(iter(found.values())).confidence
    return Sheet(["run", "metric", "method", "mean", f"{confidence * 100:g}% interval"], 3, rows)


def _resolution_table(rows: Sequence[_Row], digits: int) -> Sheet:
    header = ["metric", "queries", "differ", "deviation", "shows", "difference", "needs"]
    cells: list[list[Cell]] = [
        [
            row.metric,
            row.queries,
            row.changed,
            row.deviation,
            row.detectable,
            None if row.difference is None else f"{row.difference:+.{digits}f}",
            row.needed,
            f"{row.smallest_p:.2g}",
        ]
        for row in rows
    ]
    return Sheet([*header, "lowest p"], 1, cells)


def _plain(found: Mapping[str, Intervals], rows: Sequence[_Row]) -> Sheet:
    header = ["metric"]
    lines: list[list[Cell]] = [[row.metric] for row in rows]
    for of_run, side in zip(found.values(), ("", "candidate_"), strict=False):
        header += [side + name for name in ("mean", "low", "high", "method")]
        for line, i in zip(lines, of_run.values(), strict=True):
            line += [i.mean, i.low, i.high, i.how]
    header += ["queries", "changed", "deviation", "detectable", "difference", "needed"]
    header += ["smallest_p", "resolvable"]
    for line, row in zip(lines, rows, strict=True):
        line += [row.queries, row.changed, row.deviation, row.detectable, row.difference]
        line += [row.needed, row.smallest_p, str(row.resolvable).lower()]
    return Sheet(header, 1, lines)


def _json(
    found: Mapping[str, Intervals],
    rows: Sequence[_Row],
    notes: Sequence[str],
    arguments: argparse.Namespace,
) -> str:
    from rankmeter.experiments.comparison import for_json

    report = {
        "qrels": arguments.qrels,
        "ties": arguments.ties,
        "missing": arguments.missing,
        "power": arguments.power,
        "alpha": arguments.alpha,
        "runs": [{"run": run, **of_run.to_dict()} for run, of_run in found.items()],
        "rows": [row._asdict() for row in rows],
        "notes": list(notes),
    }
    return json.dumps(for_json(report), indent=2, allow_nan=False) + "\n"
