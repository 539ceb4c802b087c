"""The command ``rankmeter report``: a comparison as a page."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from rankmeter.cli.input import (
    DEFAULT_METRICS,
    add_command,
    add_metrics,
    add_reading,
    add_rules,
    add_tests,
    check_inputs,
    collect_reading,
    name_errors,
    read_labels,
    share,
    watch,
)
from rankmeter.cli.output import BadInput, deliver
from rankmeter.scoring.evaluator import Evaluator

_DESCRIPTION = """\
Write one HTML file that compares runs with a baseline: verdict, metrics with intervals, curves,
every query, facets, risk and coverage, and the rankings of the queries that moved most. It needs
neither a network nor anything beside it. Needs rankmeter[report].

QRELS, BASE and CANDIDATE are read as by "rankmeter eval", see there.
"""

_EXAMPLES = """\
examples:
  rankmeter report qrels.txt bm25.run dense.run -o report.html
  rankmeter report qrels.txt bm25.run dense.run fused.run -m ndcg@10 --by facets.tsv -o report.html
"""


def add_report(commands: Any) -> None:
    """Add the command to those of the parser."""
    parser = add_command(
        commands,
        "report",
        _report,
        summary="compare runs, as a page",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("base", metavar="BASE", help="the run to compare with")
    parser.add_argument("candidates", metavar="CANDIDATE", nargs="+", help="the runs to compare")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the page; - is standard output"
    )
    add_metrics(parser)
    parser.add_argument("--by", metavar="FACETS", help="compare within each label, too")
    parser.add_argument("--title", help="of the page (default: the names of the runs)")
    parser.add_argument(
        "--alpha",
        type=share,
        default=0.05,
        metavar="A",
        help="a difference counts as one if p is at most this (default: 0.05)",
    )
    add_tests(parser)
    add_rules(parser)
    add_reading(parser, threads=False)  # it needs the rankings themselves


def _report(arguments: argparse.Namespace) -> int:
    from rankmeter.doors.mappings import whole_mapping
    from rankmeter.experiments.compare import compare
    from rankmeter.report import html, library

    check_inputs(arguments, [arguments.base, *arguments.candidates])
    try:
        library()  # before minutes go into collect_reading
    except ImportError as error:
        raise BadInput(str(error)) from error

    def read(path: str, side: str) -> dict[Any, Any]:
        duplicates = arguments.duplicates if side == "run" else None
        with name_errors(path), watch(path) as source:
            return whole_mapping(source, side, duplicates=duplicates, **collect_reading(arguments))

    qrels = read(arguments.qrels, "qrels")
    runs = {path: read(path, "run") for path in (arguments.base, *arguments.candidates)}
    facets = read_labels(arguments)
    with name_errors(arguments.qrels):
        evaluator = Evaluator(qrels, arguments.metrics or list(DEFAULT_METRICS))
    evaluations = {}
    for path, run in runs.items():
        with name_errors(path):
            evaluations[path] = evaluator.evaluate(
                run, ties=arguments.ties, missing=arguments.missing
            )
    with name_errors(arguments.qrels):
        comparison = compare(
            evaluations,
            test=arguments.test,
            correction=arguments.correction,
            alpha=arguments.alpha,
            confidence=arguments.confidence,
            draws=arguments.draws,
            seed=arguments.seed,
            missing=arguments.missing,
        )
    if facets is not None:
        with name_errors(arguments.by):
            comparison.facets = comparison.by(facets)
    with name_errors(arguments.qrels):
        page = html(
            comparison,
            runs=runs,
            qrels=qrels,
            command=shlex.join(["rankmeter", *arguments.words]),
            title=arguments.title,
            ties=arguments.ties,
        )
    return deliver(page, [], arguments.output)
