"""The command ``rankmeter``: score runs, compare them, list the metrics.

Exit code 0: done. 1: an input cannot be read or scored, or the output cannot be written; one line
on standard error says ``rankmeter: file:line: what is wrong``. 2: the command line is wrong.
3: a metric drops by more than its budget.
A report is made whole before anything is written, so an error leaves no half of it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rankmeter._core.metrics.rows import PARAMETERS
from rankmeter.cli.compare import add_compare
from rankmeter.cli.input import (
    DEFAULT_METRICS,
    add_command,
    add_metrics,
    add_reading,
    add_rules,
    check_inputs,
    name_errors,
    qrels_notes,
    read_labels,
    read_qrels,
    run_notes,
    score_run,
)
from rankmeter.cli.output import (
    BadInput,
    Cell,
    Sheet,
    add_digits,
    add_output,
    csv_of,
    deliver,
    fail,
    lay_out,
    list_notes,
    print_out,
)
from rankmeter.cli.power import add_power
from rankmeter.cli.report import add_report
from rankmeter.doors.source import shown_name
from rankmeter.naming.rows import METRICS
from rankmeter.results.evaluation import Evaluation
from rankmeter.scoring.evaluator import Evaluator
from rankmeter.writers.tables import Style, render

_SPREAD = ("min", "median", "max", "std")


class _Scored(NamedTuple):
    """One run, evaluated."""

    run: str
    evaluation: Evaluation
    facets: Mapping[str, Mapping[str | None, Evaluation]]
    notes: list[str]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if not given.

    Returns
    -------
    int
        0, or 1 for bad input, or 3 for a budget that is exceeded.

    Raises
    ------
    SystemExit
        With code 2 for a wrong command line; with code 0 after ``--help``.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["trec-eval"]:  # it reads its arguments as trec_eval does
        return _trec_eval(given[1:])
    parser = _parser()
    arguments = parser.parse_args(given)
    arguments.words = given
    if arguments.version:
        return print_out(f"rankmeter {_version()}\n")
    if arguments.command is None:
        parser.error("give a command: eval, compare, report, power, trec-eval or metrics")
    try:
        return arguments.command(arguments)  # type: ignore[no-any-return]
    except BadInput as bad:
        return fail(str(bad))
    except KeyboardInterrupt:
        return 130


# ---------------------------------------------------------------------------------------------
# The command line

_DESCRIPTION = "Score what a search system returned against relevance judgments."

_EXAMPLES = """\
examples:
  rankmeter eval qrels.txt bm25.run
  rankmeter eval qrels.txt bm25.run dense.run -m ndcg@10 -m recall@100
  rankmeter eval qrels.txt bm25.run --per-query --format csv --output scores.csv
  rankmeter eval qrels.txt bm25.run --by facets.tsv
  cat part-*.run | rankmeter eval qrels.txt - -m "ndcg@10(gain=linear)"
  rankmeter compare qrels.txt bm25.run dense.run
  rankmeter power qrels.txt bm25.run dense.run --difference 0.01
  rankmeter metrics
"""

_EVAL = """\
Print one row for each metric and one column for each run: the mean over the queries of the qrels.

files:
  --by FACETS   query TAB label; or, below a header line query_id TAB facet TAB facet ...,
                a query and its label in each facet. An empty cell is not a label. A header
                may start with qid, query, topic and the like, too.
  QRELS and RUN are of one of these formats, recognised by content or named by --input-format:
  trec          QRELS: query iteration document grade; RUN: query Q0 document rank score tag,
                ranked by score. Columns are separated by blanks, lines of # are comments
  beir          QRELS: query document grade, below a header; RUN: as json
  msmarco       QRELS: as trec; RUN: query document rank
  jsonl         one query a line: QRELS: {"query_id": ..., "qrels": {document: grade}}
                RUN: {"query_id": ..., "scores": {document: score}} or {..., "ranked": [documents]}
  json          QRELS: {query: {document: grade}}
                RUN: {query: {document: score}} or {query: [documents]}
  jsonl, json   rows too, as lines or as one list: objects with the columns below as keys
  parquet       columns query_id, doc_id and grade or relevance; query_id, doc_id and score or rank
  arrow         the same, as Arrow IPC or Feather; both need rankmeter[arrow]
  Each may be compressed (gzip, bzip2, xz, Zstandard), whatever its name. "-" is standard input.

metrics:
  name[@k][(parameter=value,...)], such as recall@100, mrr, map@10, precision@5(rel=2),
  ndcg@10(gain=linear). "rankmeter metrics" lists them. trec_eval's names are read too.
"""

_FORMATS = """\
formats:
  table         for reading; what was not scored is list_notes below
  markdown      the same, as Markdown
  csv           one table with all digits: the means; with --per-query the values of each query;
                with --by the roll-up. Notes go to standard error.
  json          all digits:
                {"qrels": path, "metrics": [metric, ...], "ties": ..., "missing": ...,
                 "runs": [{"run": path, "mean": {metric: value},
                           "coverage": {"judged": n, "evaluated": n, "missing": n,
                                        "unjudged": n, "no_relevant": n, "unmatched": n},
                           "per_query": {query: {metric: value}},
                           "facets": {facet: [{"label": label or null, "n": n,
                                               "mean": {metric: value}}, ...]}}, ...]}
                "per_query", "facets" and, as "mean", "min", "median", "max" and "std" are there
                if asked for; null is the standard deviation of one query.

coverage:
  judged        queries in the qrels
  evaluated     of these, those that the run holds
  missing       of these, those that it does not; see --missing
  unjudged      queries of the run without judgments; they are not scored
  no_relevant   judged queries without a document of grade 1 or more
  unmatched     evaluated queries, if no relevant document was found for any; otherwise 0

exit code:
  0 done, 1 bad input, 2 wrong command line
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rankmeter",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(
        title="commands", metavar="eval | compare | report | power | trec-eval | metrics"
    )

    scoring = add_command(
        commands,
        "eval",
        _eval,
        summary="score runs",
        description=_EVAL,
        epilog=_FORMATS + "\n" + _EXAMPLES,
    )
    scoring.add_argument("runs", metavar="RUN", nargs="+", help="what a system returned")
    add_metrics(scoring)
    scoring.add_argument("--per-query", action="store_true", help="give the value of each query")
    scoring.add_argument(
        "--spread",
        action="store_true",
        help="give minimum, median, maximum and standard deviation beside the mean",
    )
    scoring.add_argument(
        "--by", metavar="FACETS", help="give the mean of each label too, with its n queries"
    )
    add_rules(scoring)
    scoring.add_argument(
        "--format",
        choices=("table", "json", "csv", "markdown"),
        default="table",
        help="default: table; see below",
    )
    add_digits(scoring)
    add_reading(scoring)
    add_output(scoring)

    add_compare(commands)
    add_report(commands)
    add_power(commands)
    commands.add_parser(
        "trec-eval", help="print what trec_eval prints for the same arguments", add_help=False
    )

    listing = commands.add_parser(
        "metrics",
        help="list the metrics, their parameters, formulas and conventions",
        description="List the metrics, their parameters, formulas and conventions.",
        allow_abbrev=False,
    )
    listing.set_defaults(command=_list_metrics)
    listing.add_argument(
        "--format", choices=("table", "markdown", "json"), default="table", help="default: table"
    )
    return parser


def _version() -> str:
    from importlib.metadata import version  # costs more than the rest of the command's imports

    return version("rankmeter")


# ---------------------------------------------------------------------------------------------
# rankmeter eval


def _eval(arguments: argparse.Namespace) -> int:
    check_inputs(arguments, arguments.runs)
    if arguments.format == "csv" and arguments.per_query and arguments.by is not None:
        arguments.usage_error("csv holds one table: choose --per-query or --by")
    metrics = arguments.metrics or list(DEFAULT_METRICS)
    evaluator = read_qrels(metrics, arguments)
    facets = read_labels(arguments)
    scored = [_score(run, evaluator, facets, arguments) for run in arguments.runs]
    notes = qrels_notes(evaluator, facets, arguments)
    notes += [note for one in scored for note in one.notes]
    return deliver(*_report(scored, notes, metrics, arguments), arguments.output)


def _score(
    run: str,
    evaluator: Evaluator,
    facets: Mapping[str, Mapping[str, str]] | None,
    arguments: argparse.Namespace,
) -> _Scored:
    evaluation, absent, unjudged = score_run(run, evaluator, arguments)
    rolled_up: Mapping[str, Mapping[str | None, Evaluation]] = {}
    if facets is not None:
        with name_errors(f"{shown_name(arguments.by)}, {shown_name(run)}"):
            rolled_up = evaluation.by(facets)
    notes = run_notes(run, evaluator, evaluation, absent, unjudged, arguments.missing)
    return _Scored(run, evaluation, rolled_up, notes)


# ---------------------------------------------------------------------------------------------
# Reports


def _report(
    scored: Sequence[_Scored],
    notes: Sequence[str],
    metrics: Sequence[str],
    arguments: argparse.Namespace,
) -> tuple[str, Sequence[str]]:
    """Make the report, and the notes that it does not hold."""
    if arguments.format == "json":
        return _json(scored, metrics, arguments), []
    sheets = []
    if arguments.per_query:
        sheets.append(_queries_sheet(scored, metrics))
    if arguments.by is not None:
        sheets.append(_facets_sheet(scored, metrics))
    if arguments.format == "csv":
        means = _means_sheet(scored, metrics, spread=arguments.spread)
        return csv_of(sheets[0] if sheets else means), notes
    sheets.append(_means_sheet(scored, metrics, spread=arguments.spread))
    style: Style = "text" if arguments.format == "table" else "markdown"
    parts = [lay_out(sheet, style, arguments.digits) for sheet in sheets]
    if notes:
        parts.append(list_notes(notes, style))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts), []


def _means_sheet(scored: Sequence[_Scored], metrics: Sequence[str], *, spread: bool) -> Sheet:
    if spread:
        rows: list[list[Cell]] = []
        for metric in metrics:
            for name in ("mean", *_SPREAD):
                values = [getattr(one.evaluation, name)[metric] for one in scored]
                rows.append([metric, name, *(None if v != v else v for v in values)])
        return Sheet(["metric", "", *(one.run for one in scored)], 2, rows)
    rows = [[metric, *(float(one.evaluation.mean[metric]) for one in scored)] for metric in metrics]
    return Sheet(["metric", *(one.run for one in scored)], 1, rows)


def _queries_sheet(scored: Sequence[_Scored], metrics: Sequence[str]) -> Sheet:
    values = [one.evaluation.per_query for one in scored]
    rows: list[list[Cell]] = []
    # With queries left out, the runs need not have the same ones.
    for query in dict.fromkeys(query for per_query in values for query in per_query):
        for metric in metrics:
            cells = [per_query.get(query, {}).get(metric) for per_query in values]
            rows.append([query, metric, *cells])
    return Sheet(["query", "metric", *(one.run for one in scored)], 2, rows)


def _facets_sheet(scored: Sequence[_Scored], metrics: Sequence[str]) -> Sheet:
    rows: list[list[Cell]] = []
    for facet in scored[0].facets:
        for label in dict.fromkeys(label for one in scored for label in one.facets[facet]):
            parts = [one.facets[facet].get(label) for one in scored]
            sizes = [0 if part is None else len(part) for part in parts]
            rows.append([facet, label, "n", *sizes])
            for metric in metrics:
                means = [None if part is None else float(part.mean[metric]) for part in parts]
                rows.append([facet, label, metric, *means])
    return Sheet(["facet", "label", "metric", *(one.run for one in scored)], 3, rows)


def _json(scored: Sequence[_Scored], metrics: Sequence[str], arguments: argparse.Namespace) -> str:
    runs = []
    for one in scored:
        run: dict[str, Any] = {
            "run": one.run,
            "mean": one.evaluation.mean,
            "coverage": one.evaluation.coverage._asdict(),
        }
        if arguments.spread:
            for name in _SPREAD:
                values = getattr(one.evaluation, name)
                run[name] = {metric: None if v != v else v for metric, v in values.items()}
        if arguments.per_query:
            run["per_query"] = one.evaluation.per_query
        if arguments.by is not None:
            run["facets"] = {
                facet: [
                    {"label": label, "n": len(part), "mean": part.mean}
                    for label, part in labels.items()
                ]
                for facet, labels in one.facets.items()
            }
        runs.append(run)
    report = {
        "qrels": arguments.qrels,
        "metrics": list(metrics),
        "ties": arguments.ties,
        "missing": arguments.missing,
        "runs": runs,
    }
    return json.dumps(report, indent=2, allow_nan=False) + "\n"


# ---------------------------------------------------------------------------------------------
# rankmeter trec-eval


def _trec_eval(arguments: Sequence[str]) -> int:
    from rankmeter.compat.trec_eval import Refused, output

    try:
        return print_out(output(arguments))
    except Refused as refused:
        fail(str(refused))
        return refused.code
    except KeyboardInterrupt:
        return 130


# ---------------------------------------------------------------------------------------------
# rankmeter metrics


def _list_metrics(arguments: argparse.Namespace) -> int:
    fields = ("summary", "formula", "convention", "source")
    cutoffs = {"required": "@k", "optional": "[@k]", "none": ""}
    if arguments.format == "json":
        listing = [
            {
                "name": row.name,
                "cutoff": row.cutoff,
                "defaults": dict(row.defaults),
                "mean": row.mean,
                "ties_expected": row.closed_form,
                **{field: getattr(row, field) for field in fields},
                "trec_eval": dict(row.trec_eval),
            }
            for row in METRICS.values()
        ]
        return print_out(json.dumps(listing, indent=2) + "\n")

    records = [
        (
            row.name + cutoffs[row.cutoff],
            {
                "parameters": ", ".join(p for p in row.parameters if p != "judged_only"),
                **{field: getattr(row, field) for field in fields},
                "trec_eval": ", ".join(f"{a} = {b}" for a, b in row.trec_eval.items()),
            },
        )
        for row in METRICS.values()
    ]
    if arguments.format == "markdown":
        names = list(records[0][1])
        rows = [[metric, *record.values()] for metric, record in records]
        metrics = render(["metric", *names], rows, "markdown", left=1 + len(names))
        return print_out(f"{metrics.rstrip()}\n\n{_ABOUT_PARAMETERS}\n\n{_parameters('markdown')}")
    # Sentences side by side would be wider than a terminal: one line each.
    lines = []
    for metric, record in records:
        given = [(name, text) for name, text in record.items() if text]
        lines += [["" if i else metric, name, text] for i, (name, text) in enumerate(given)]
    metrics = render(["metric", "", ""], lines, "text", left=3)
    return print_out(f"{metrics.rstrip()}\n\n{_ABOUT_PARAMETERS}\n\n{_parameters('text')}")


_ABOUT_PARAMETERS = "Every metric takes judged_only, too."


def _parameters(style: Style) -> str:
    rows: list[list[str]] = []
    for parameter in PARAMETERS.values():
        default = parameter.default
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        told = all(word in parameter.meaning for word in parameter.words)
        words = "" if told else f" ({' or '.join(parameter.words)})"
        if default is None:
            shown = "must be given"
        elif isinstance(default, float):
            shown = f"{default:g}"
        rows.append([parameter.name, shown, parameter.meaning + words])
    return render(["parameter", "default", "meaning"], rows, style, left=3)
