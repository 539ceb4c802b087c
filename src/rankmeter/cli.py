"""The command ``rankmeter``: score runs, list the metrics.

Exit code 0: done. 1: an input cannot be read or scored, or the output cannot be written; one line
on standard error says ``rankmeter: file:line: what is wrong``. 2: the command line is wrong.
A report is made whole before anything is written, so an error leaves no half of it.
"""

from __future__ import annotations

import argparse
import codecs
import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Literal, NamedTuple, TypeVar

from rankmeter._core.rows import PARAMETERS
from rankmeter.arrow import ROLES
from rankmeter.evaluation import Evaluation, Evaluator
from rankmeter.files import (
    STANDARD_INPUT,
    STANDARD_OUTPUT,
    Source,
    read_facets,
    shown_name,
    write_whole,
)
from rankmeter.inputs import FORMATS, SIDES
from rankmeter.metrics import METRICS, parse
from rankmeter.mistakes import MOST
from rankmeter.tables import render

DEFAULT_METRICS = ("ndcg@10", "recall@100", "map", "mrr")

_NO_LABEL = "(none)"
_SPREAD = ("min", "median", "max", "std")
_NAMED_IDS = 5  # a note names so many queries, and counts the rest

T = TypeVar("T")
Cell = str | int | float | None
Style = Literal["text", "markdown"]


class _BadInput(Exception):
    """What the user is told in one line; exit code 1."""


class _Scored(NamedTuple):
    """One run, evaluated."""

    run: str
    evaluation: Evaluation
    facets: Mapping[str, Mapping[str | None, Evaluation]]
    notes: list[str]


class _Sheet(NamedTuple):
    """A table before its cells are text; the first ``keys`` columns name the row."""

    header: list[str]
    keys: int
    rows: list[list[Cell]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if not given.

    Returns
    -------
    int
        0, or 1 for bad input.

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
    if arguments.version:
        return _print(f"rankmeter {_version()}\n")
    if arguments.command is None:
        parser.error("give a command: eval, trec-eval or metrics")
    try:
        return arguments.command(arguments)  # type: ignore[no-any-return]
    except _BadInput as bad:
        return _fail(str(bad))
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
  rankmeter metrics
"""

_EVAL = """\
Print one row for each metric and one column for each run: the mean over the queries of the qrels.

files:
  --by FACETS   query TAB label; or, below a header line query_id TAB facet TAB facet ...,
                a query and its label in each facet. An empty cell is no label.
  QRELS and RUN are of one of these formats, recognised by content or named by --input-format:
  trec          QRELS: query iteration document grade; RUN: query Q0 document rank score tag,
                ranked by score. Columns are separated by blanks, lines of # are comments
  beir          QRELS: query document grade, below a header; RUN: as json
  msmarco       QRELS: as trec; RUN: query document rank
  jsonl         one query a line: QRELS: {"query_id": ..., "qrels": {document: grade}}
                RUN: {"query_id": ..., "scores": {document: score}} or {..., "ranked": [documents]}
  json          QRELS: {query: {document: grade}}
                RUN: {query: {document: score}} or {query: [documents]}
  parquet       columns query_id, doc_id and grade or relevance; query_id, doc_id and score or rank
  arrow         the same, as Arrow IPC or Feather; both need rankmeter[arrow]
  Each may be compressed (gzip, bzip2, xz, Zstandard), whatever its name. "-" is standard input.

metrics:
  name[@k][(parameter=value,...)], such as recall@100, mrr, map@10, precision@5(rel=2),
  ndcg@10(gain=linear). "rankmeter metrics" lists them. trec_eval's names are read too.
"""

_FORMATS = """\
formats:
  table         for reading; what was not scored is noted below
  markdown      the same, as Markdown
  csv           one table with all digits: the means; with --per-query the values of each query;
                with --by the roll-up. Notes go to standard error.
  json          all digits:
                {"qrels": path, "metrics": [metric, ...], "ties": ..., "missing": ...,
                 "runs": [{"run": path, "mean": {metric: value},
                           "coverage": {"judged": n, "evaluated": n, "missing": n,
                                        "unjudged": n, "no_relevant": n},
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
    commands = parser.add_subparsers(title="commands", metavar="eval | trec-eval | metrics")

    scoring = commands.add_parser(
        "eval",
        help="score runs",
        description=_EVAL,
        epilog=_FORMATS + "\n" + _EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    scoring.set_defaults(command=_eval, usage_error=scoring.error)
    scoring.add_argument("qrels", metavar="QRELS", help="relevance judgments")
    scoring.add_argument("runs", metavar="RUN", nargs="+", help="what a system returned")
    scoring.add_argument(
        "-m",
        "--metric",
        dest="metrics",
        metavar="METRIC",
        action="append",
        type=_metric,
        help=f"a metric; may be repeated (default: {', '.join(DEFAULT_METRICS)})",
    )
    scoring.add_argument("--per-query", action="store_true", help="give the value of each query")
    scoring.add_argument(
        "--spread",
        action="store_true",
        help="give minimum, median, maximum and standard deviation beside the mean",
    )
    scoring.add_argument(
        "--by", metavar="FACETS", help="give the mean of each label too, with its n queries"
    )
    scoring.add_argument(
        "--ties",
        choices=("docid", "input", "expected"),
        default="docid",
        help="order of equal scores: by document id, high to low, as trec_eval does; as they "
        "stand in the file; or the mean over all orders (default: docid)",
    )
    scoring.add_argument(
        "--missing",
        choices=("zero", "skip", "error"),
        default="zero",
        help="judged queries that are not in the run: take as empty rankings, leave out, or refuse "
        "(default: zero; trec_eval leaves out)",
    )
    scoring.add_argument(
        "--format",
        choices=("table", "json", "csv", "markdown"),
        default="table",
        help="default: table; see below",
    )
    scoring.add_argument(
        "--digits",
        type=_digits,
        metavar="N",
        default=4,
        help="digits after the point in table and markdown (default: 4)",
    )
    scoring.add_argument(
        "--input-format",
        dest="input_formats",
        metavar="[SIDE=]FORMAT",
        action="append",
        type=_input_format,
        default=[],
        help=f"one of {', '.join(FORMATS)}; for one side only with qrels= or run= before it",
    )
    scoring.add_argument(
        "--column",
        dest="columns",
        metavar="[SIDE.]COLUMN=NAME",
        action="append",
        type=_column,
        default=[],
        help="what a column of a table is called there, such as query_id=qid or run.score=sim",
    )
    scoring.add_argument(
        "--errors",
        choices=("raise", "collect"),
        default="raise",
        help=f"stop at the first mistake in a file, or tell up to {MOST} (default: raise)",
    )
    scoring.add_argument(
        "--threads",
        type=_threads,
        metavar="N",
        default=os.cpu_count() or 1,
        help="among how many threads to split a run (default: one for each core)",
    )
    scoring.add_argument(
        "--output",
        metavar="FILE",
        help="write to this file, whole or not at all (default: -, standard output)",
    )

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


def _metric(text: str) -> str:
    try:
        parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _input_format(text: str) -> dict[str, str]:
    side, _, name = text.rpartition("=")
    if name not in FORMATS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(FORMATS)}")
    return _of_sides(side, name, text)


def _column(text: str) -> dict[str, tuple[str, str]]:
    role, found, name = text.partition("=")
    side, _, role = role.rpartition(".")
    if role not in ROLES or not found:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not COLUMN=NAME, where COLUMN is one of {', '.join(ROLES)}"
        )
    return _of_sides(side, (role, name), text)


def _of_sides(side: str, value: T, text: str) -> dict[str, T]:
    if side not in ("", *SIDES):
        raise argparse.ArgumentTypeError(f"{text!r}: the side is qrels or run, not {side}")
    return dict.fromkeys([side] if side else SIDES, value)


def _digits(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,2}", text) or int(text) > 17:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 17")
    return int(text)


def _threads(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)


def _version() -> str:
    from importlib.metadata import version  # costs more than the rest of the command's imports

    return version("rankmeter")


# ---------------------------------------------------------------------------------------------
# rankmeter eval


def _eval(arguments: argparse.Namespace) -> int:
    _check_usage(arguments)
    metrics = arguments.metrics or list(DEFAULT_METRICS)
    with _naming(arguments.qrels), _watched(arguments.qrels) as qrels:
        evaluator = Evaluator(qrels, metrics, **_reading(arguments))
    facets = None
    if arguments.by is not None:
        with _naming(arguments.by):
            facets = read_facets(arguments.by)
    scored = [_score(run, evaluator, facets, arguments) for run in arguments.runs]
    notes = _qrels_notes(evaluator, facets, arguments)
    notes += [note for one in scored for note in one.notes]
    return _deliver(*_report(scored, notes, metrics, arguments), arguments.output)


def _check_usage(arguments: argparse.Namespace) -> None:
    usage_error: Callable[[str], None] = arguments.usage_error
    inputs = [arguments.qrels, *arguments.runs]
    if arguments.by is not None:
        inputs.append(arguments.by)
    for run in arguments.runs:
        if arguments.runs.count(run) > 1:
            usage_error(f"the run {run} is given twice")
    for metric in arguments.metrics or ():
        if arguments.metrics.count(metric) > 1:
            usage_error(f"the metric {metric} is named twice")
    if inputs.count(STANDARD_INPUT) > 1:
        usage_error("standard input (-) can be read once only")
    if arguments.format == "csv" and arguments.per_query and arguments.by is not None:
        usage_error("csv holds one table: choose --per-query or --by")
    if arguments.output not in (None, STANDARD_OUTPUT):
        for file in inputs:
            with suppress(OSError):
                if os.path.samefile(file, arguments.output):
                    usage_error(f"--output would replace the input {file}")


def _score(
    run: str,
    evaluator: Evaluator,
    facets: Mapping[str, Mapping[str, str]] | None,
    arguments: argparse.Namespace,
) -> _Scored:
    with _naming(run), _watched(run) as source:
        values, retrieved, unjudged = evaluator._score(
            source, arguments.ties, "error", arguments.threads, **_reading(arguments)
        )
        evaluation = evaluator._result(values, retrieved, unjudged, arguments.missing)
    rolled_up: Mapping[str, Mapping[str | None, Evaluation]] = {}
    if facets is not None:
        with _naming(f"{shown_name(arguments.by)}, {shown_name(run)}"):
            rolled_up = evaluation.by(facets)
    found = retrieved.tolist()
    absent = [q for q, there in zip(evaluator.query_ids, found, strict=True) if not there]
    notes = _run_notes(run, evaluator, absent, unjudged, arguments.missing)
    return _Scored(run, evaluation, rolled_up, notes)


def _reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """How files are to be read, in the words of Evaluator."""
    formats: dict[str, str] = {}
    columns: dict[str, dict[str, str]] = {}
    for sides in arguments.input_formats:
        formats |= sides
    for sides in arguments.columns:
        for side, (role, name) in sides.items():
            columns.setdefault(side, {})[role] = name
    return {"format": formats, "columns": columns, "errors": arguments.errors}


@contextmanager
def _watched(path: str) -> Iterator[Any]:
    """Open a file, with a bar on the terminal if reading takes more than a second."""
    with ExitStack() as stack:
        source = Source(path)
        if sys.stderr is not None and sys.stderr.isatty():
            with suppress(ImportError):
                from tqdm import tqdm

                bar = stack.enter_context(
                    tqdm(
                        desc=os.path.basename(source.name),
                        total=source.size,
                        unit="B",
                        unit_scale=True,
                        delay=1,
                        leave=False,
                    )
                )
                source.progress = lambda position: bar.update(position - bar.n)
        yield source


@contextmanager
def _naming(file: str) -> Iterator[None]:
    """Turn what goes wrong into a line that names the file."""
    name = shown_name(file)
    try:
        yield
    except OSError as error:
        raise _BadInput(f"{name}: {error.strerror or error}") from error
    except (ValueError, TypeError, ImportError) as error:
        message = str(error)
        named = message.startswith(f"{name}:")
        raise _BadInput(message if named else f"{name}: {message}") from error


# ---------------------------------------------------------------------------------------------
# Notes: what was not scored


def _qrels_notes(
    evaluator: Evaluator,
    facets: Mapping[str, Mapping[str, str]] | None,
    arguments: argparse.Namespace,
) -> list[str]:
    notes = []
    queries = evaluator.query_ids
    answerable = evaluator._answerable.tolist()
    irrelevant = [q for q, relevant in zip(queries, answerable, strict=True) if not relevant]
    if irrelevant:
        whose = f"{shown_name(arguments.qrels)}: {_of(irrelevant, len(queries))}"
        notes.append(f"{whose} without a document of grade 1 or more: {_ids(irrelevant)}")
    if facets is not None:
        judged = set(queries)
        labelled = dict.fromkeys(query for labels in facets.values() for query in labels)
        unjudged = [query for query in labelled if query not in judged]
        if unjudged:
            whose = f"{shown_name(arguments.by)}: {_of(unjudged, len(labelled))}"
            notes.append(f"{whose} not judged: {_ids(unjudged)}")
    return notes


def _run_notes(
    run: str, evaluator: Evaluator, absent: list[str], unjudged: list[str], missing: str
) -> list[str]:
    notes = []
    judged = len(evaluator.query_ids)
    if absent:
        effect = "left out" if missing == "skip" else "counted 0"
        whose = f"{shown_name(run)}: {_of(absent, judged)}"
        notes.append(f"{whose} missing from the run, {effect}: {_ids(absent)}")
    if unjudged:
        whose = f"{shown_name(run)}: {_of(unjudged, judged - len(absent) + len(unjudged))}"
        notes.append(f"{whose} not judged, not scored: {_ids(unjudged)}")
    return notes


def _of(some: Sequence[str], every: int) -> str:
    return f"{len(some)} of {every} {'query' if every == 1 else 'queries'}"


def _ids(queries: Sequence[str]) -> str:
    rest = len(queries) - _NAMED_IDS
    named = ", ".join(queries[:_NAMED_IDS])
    return f"{named} and {rest} more" if rest > 0 else named


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
        return _csv(sheets[0] if sheets else means), notes
    sheets.append(_means_sheet(scored, metrics, spread=arguments.spread))
    style: Style = "text" if arguments.format == "table" else "markdown"
    parts = [_table(sheet, style, arguments.digits) for sheet in sheets]
    if notes:
        parts.append(_noted(notes, style))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts), []


def _means_sheet(scored: Sequence[_Scored], metrics: Sequence[str], *, spread: bool) -> _Sheet:
    if spread:
        rows: list[list[Cell]] = []
        for metric in metrics:
            for name in ("mean", *_SPREAD):
                values = [getattr(one.evaluation, name)[metric] for one in scored]
                rows.append([metric, name, *(None if v != v else v for v in values)])
        return _Sheet(["metric", "", *(one.run for one in scored)], 2, rows)
    rows = [[metric, *(float(one.evaluation.mean[metric]) for one in scored)] for metric in metrics]
    return _Sheet(["metric", *(one.run for one in scored)], 1, rows)


def _queries_sheet(scored: Sequence[_Scored], metrics: Sequence[str]) -> _Sheet:
    values = [one.evaluation.per_query for one in scored]
    rows: list[list[Cell]] = []
    # With queries left out, the runs need not have the same ones.
    for query in dict.fromkeys(query for per_query in values for query in per_query):
        for metric in metrics:
            cells = [per_query.get(query, {}).get(metric) for per_query in values]
            rows.append([query, metric, *cells])
    return _Sheet(["query", "metric", *(one.run for one in scored)], 2, rows)


def _facets_sheet(scored: Sequence[_Scored], metrics: Sequence[str]) -> _Sheet:
    rows: list[list[Cell]] = []
    for facet in scored[0].facets:
        for label in dict.fromkeys(label for one in scored for label in one.facets[facet]):
            parts = [one.facets[facet].get(label) for one in scored]
            sizes = [0 if part is None else len(part) for part in parts]
            rows.append([facet, label, "n", *sizes])
            for metric in metrics:
                means = [None if part is None else float(part.mean[metric]) for part in parts]
                rows.append([facet, label, metric, *means])
    return _Sheet(["facet", "label", "metric", *(one.run for one in scored)], 3, rows)


def _table(sheet: _Sheet, style: Style, digits: int) -> str:
    def text(cell: Cell, is_key: bool) -> str:
        if cell is None:
            return _NO_LABEL if is_key else "-"
        if isinstance(cell, float):
            return f"{cell:.{digits}f}"
        return _printable(str(cell))

    header = [_printable(name) for name in sheet.header]
    rows = [[text(cell, i < sheet.keys) for i, cell in enumerate(row)] for row in sheet.rows]
    return render(header, rows, style, left=sheet.keys)


def _noted(notes: Sequence[str], style: Style) -> str:
    lines = [f"note: {_printable(note)}" for note in notes]
    if style == "text":
        return "\n".join(lines)
    # A list, so that each note keeps a line of its own.
    return "\n".join("- " + re.sub(r"([\\`*_\[\]<>&|~#])", r"\\\1", line) for line in lines)


def _csv(sheet: _Sheet) -> str:
    # repr() gives the digits that read back as the same number.
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(sheet.header)
    for row in sheet.rows:
        writer.writerow(repr(cell) if isinstance(cell, float) else cell for cell in row)
    return buffer.getvalue()


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
    from rankmeter.trec_eval import Refused, output

    try:
        return _print(output(arguments))
    except Refused as refused:
        _fail(str(refused))
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
        return _print(json.dumps(listing, indent=2) + "\n")

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
        return _print(f"{metrics.rstrip()}\n\n{_ABOUT_PARAMETERS}\n\n{_parameters('markdown')}")
    # Sentences side by side would be wider than a terminal: one line each.
    lines = []
    for metric, record in records:
        given = [(name, text) for name, text in record.items() if text]
        lines += [["" if i else metric, name, text] for i, (name, text) in enumerate(given)]
    metrics = render(["metric", "", ""], lines, "text", left=3)
    return _print(f"{metrics.rstrip()}\n\n{_ABOUT_PARAMETERS}\n\n{_parameters('text')}")


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


# ---------------------------------------------------------------------------------------------
# Output


def _deliver(report: str, notes: Iterable[str], output: str | None) -> int:
    if output is None or output == STANDARD_OUTPUT:
        code = _print(report)
    else:
        try:
            write_whole(output, report)
        except BrokenPipeError:
            return 0
        except OSError as error:
            raise _BadInput(f"{output}: {error.strerror or error}") from error
        code = 0
    for note in notes:
        print(f"rankmeter: note: {_printable(note)}", file=sys.stderr)
    return code


def _print(text: str) -> int:
    """Write to standard output what its encoding can hold, and escape the rest."""
    stream = sys.stdout
    try:
        encoding = codecs.lookup(stream.encoding or "utf-8").name
        errors = "surrogateescape" if encoding == "utf-8" else "backslashreplace"
        raw = getattr(stream, "buffer", None)
        if raw is None:
            stream.write(text)
        else:
            stream.flush()
            raw.write(text.encode(encoding, errors))
            raw.flush()
    except BrokenPipeError:  # the reader has seen enough
        _abandon_output()
        return 0
    except OSError as error:
        _abandon_output()
        return _fail(f"standard output: {error.strerror or error}")
    return 0


def _abandon_output() -> None:
    # The interpreter would try once more when it ends, and complain.
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _fail(message: str) -> int:
    for line in message.split("\n"):
        print(f"rankmeter: {_printable(line)}", file=sys.stderr)
    return 1


def _printable(text: str) -> str:
    """Escape what would break the line, change the terminal or have no encoding."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
