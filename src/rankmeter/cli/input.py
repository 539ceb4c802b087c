"""What the commands read: their files and the options for these, and what was not scored."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

from rankmeter.cli.output import BadInput
from rankmeter.doors.facet_files import read_facets
from rankmeter.doors.how import How, Reading
from rankmeter.doors.mistakes import MOST
from rankmeter.doors.opening import FORMATS, SIDES
from rankmeter.doors.rows import ROLES
from rankmeter.doors.scored import Scored
from rankmeter.doors.source import STANDARD_INPUT, STANDARD_OUTPUT, Source, shown_name
from rankmeter.doors.threads import count_processors
from rankmeter.naming.parsing import named_metrics, parse
from rankmeter.results.coverage import lost_text
from rankmeter.results.evaluation import Evaluation
from rankmeter.scoring.evaluator import Evaluator, evaluation_of
from rankmeter.statistics.significance import CORRECTIONS, MOST_ENUMERATED, TESTS

DEFAULT_METRICS = ("ndcg@10", "recall@100", "map", "mrr")

_NAMED_IDS = 5  # a note names so many queries, and counts the rest

T = TypeVar("T")


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    summary: str,
    description: str,
    epilog: str,
) -> argparse.ArgumentParser:
    """Add a command that reads judgments; return its parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=run, usage_error=parser.error)
    parser.add_argument("qrels", metavar="QRELS", help="relevance judgments")
    return parser


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Add -m."""
    parser.add_argument(
        "-m",
        "--metric",
        dest="metrics",
        metavar="METRIC",
        action="append",
        type=_parse_metric,
        help=f"a metric; may be repeated (default: {', '.join(DEFAULT_METRICS)})",
    )


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add --ties, --missing and --duplicates."""
    parser.add_argument(
        "--ties",
        choices=("docid", "input", "expected"),
        default="docid",
        help="order of equal scores: by document id, high to low, as trec_eval does; as they "
        "stand in the file; or the mean over all orders (default: docid)",
    )
    parser.add_argument(
        "--missing",
        choices=("zero", "skip", "error"),
        default="zero",
        help="judged queries that are not in the run: take as empty rankings, leave out, or refuse "
        "(default: zero; trec_eval leaves out)",
    )
    parser.add_argument(
        "--duplicates",
        choices=("error", "first"),
        default="error",
        help="the same document twice for a query of a run: refuse, or keep the one that stands "
        "first in the file (default: error)",
    )


def add_reading(parser: argparse.ArgumentParser, *, threads: bool = True) -> None:
    """Add what says how to read files."""
    parser.add_argument(
        "--input-format",
        dest="input_formats",
        metavar="[SIDE=]FORMAT",
        action="append",
        type=_parse_format,
        default=[],
        help=f"one of {', '.join(FORMATS)}; for one side only with qrels= or run= before it",
    )
    parser.add_argument(
        "--column",
        dest="columns",
        metavar="[SIDE.]COLUMN=NAME",
        action="append",
        type=_parse_column,
        default=[],
        help="what a column of a table, or a key of JSON's rows, is called there, such as "
        "query_id=user or run.score=sim",
    )
    parser.add_argument(
        "--errors",
        choices=("raise", "collect"),
        default="raise",
        help=f"stop at the first mistake in a file, or tell up to {MOST} (default: raise)",
    )
    if not threads:
        return
    parser.add_argument(
        "--threads",
        type=_parse_threads,
        metavar="N",
        default=count_processors(),
        help="among how many threads to split a run (default: one for each processor)",
    )


def _parse_metric(text: str) -> str:
    try:
        parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _parse_format(text: str) -> dict[str, str]:
    side, _, name = text.rpartition("=")
    if name not in FORMATS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(FORMATS)}")
    return _spread(side, name, text)


def _parse_column(text: str) -> dict[str, tuple[str, str]]:
    role, found, name = text.partition("=")
    side, _, role = role.rpartition(".")
    if role not in ROLES or not found:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not COLUMN=NAME, where COLUMN is one of {', '.join(ROLES)}"
        )
    return _spread(side, (role, name), text)


def _spread(side: str, value: T, text: str) -> dict[str, T]:
    if side not in ("", *SIDES):
        raise argparse.ArgumentTypeError(f"{text!r}: the side is qrels or run, not {side}")
    return dict.fromkeys([side] if side else SIDES, value)


def _parse_threads(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)


def number(low: float, high: float, what: str) -> Callable[[str], float]:
    """Return what reads a number between the two, both excluded."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low
        if not low < value < high:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return value

    return read


share = number(0.0, 1.0, "a number between 0 and 1")


def whole(low: int, high: int, what: str) -> Callable[[str], int]:
    """Return what reads a whole number from the one to the other."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,20}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return int(text)

    return read


def add_tests(parser: argparse.ArgumentParser) -> None:
    """Add --test, --correction, --confidence and the draws of the randomisation test."""
    parser.add_argument(
        "--test",
        choices=TESTS,
        default=TESTS[0],
        help="Fisher's randomisation test, the paired t test, or Wilcoxon's signed-rank test; the "
        "last two need rankmeter[stats] (default: randomisation)",
    )
    parser.add_argument(
        "--correction",
        choices=CORRECTIONS,
        default=CORRECTIONS[0],
        help="for looking at many p at once; bh is that of Benjamini and Hochberg (default: holm)",
    )
    add_confidence(parser)
    more = f"where more than {MOST_ENUMERATED} queries differ"
    add_draws(parser, 100_000, f"the randomisation test, {more}")


def add_draws(parser: argparse.ArgumentParser, default: int, what: str) -> None:
    """Add --draws and --seed."""
    parser.add_argument(
        "--draws",
        type=whole(1, 10**9, "a number from 1 to 1,000,000,000"),
        metavar="N",
        default=default,
        help=f"random draws of {what} (default: {default:,})",
    )
    parser.add_argument(
        "--seed",
        type=whole(0, 2**64 - 1, "a number from 0 to 2^64 - 1"),
        metavar="N",
        default=0,
        help="of these draws: the same seed, the same numbers on every platform (default: 0)",
    )


def add_confidence(parser: argparse.ArgumentParser) -> None:
    """Add --confidence."""
    parser.add_argument(
        "--confidence",
        type=share,
        metavar="C",
        default=0.95,
        help="of the intervals (default: 0.95)",
    )


def check_inputs(arguments: argparse.Namespace, runs: Sequence[str]) -> None:
    """Refuse files and metrics that are given twice, and an output that is an input."""
    usage_error: Callable[[str], None] = arguments.usage_error
    inputs = [arguments.qrels, *runs]
    if getattr(arguments, "by", None) is not None:
        inputs.append(arguments.by)
    for run in runs:
        if runs.count(run) > 1:
            usage_error(f"the run {run} is given twice")
    try:
        named_metrics((metric, metric) for metric in arguments.metrics or ())
    except ValueError as error:
        usage_error(str(error))
    if inputs.count(STANDARD_INPUT) > 1:
        usage_error("standard input (-) can be read once only")
    if arguments.output not in (None, STANDARD_OUTPUT):
        for file in inputs:
            with suppress(OSError):
                if os.path.samefile(file, arguments.output):
                    usage_error(f"--output would replace the input {file}")


def read_qrels(metrics: Sequence[str], arguments: argparse.Namespace) -> Evaluator:
    """Read the judgments."""
    with name_errors(arguments.qrels), watch(arguments.qrels) as qrels:
        return Evaluator(qrels, metrics, **collect_reading(arguments))


def read_labels(arguments: argparse.Namespace) -> dict[str, dict[str, str]] | None:
    """Read the file of --by, if there is one."""
    if arguments.by is None:
        return None
    with name_errors(arguments.by):
        return read_facets(arguments.by)


def score_run(
    run: str, evaluator: Evaluator, arguments: argparse.Namespace
) -> tuple[Evaluation, list[str], list[str]]:
    """Return the evaluation, the judged queries that the run lacks, and those not judged."""
    with name_errors(run), watch(run) as source:
        judged = evaluator.judged
        how = How(
            arguments.ties,
            arguments.duplicates,
            arguments.missing,
            arguments.threads,
            Reading(**collect_reading(arguments)),
        )
        scored = Scored.empty(len(evaluator.query_ids), len(evaluator.metrics))
        judged.score(source, how, scored)
        there = scored.retrieved.tolist()
        evaluation = evaluation_of(judged, evaluator.named_metrics, scored, how.missing)
    absent = [q for q, found in zip(evaluator.query_ids, there, strict=True) if not found]
    return evaluation, absent, scored.unjudged


def collect_reading(arguments: argparse.Namespace) -> dict[str, Any]:
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
def watch(path: str) -> Iterator[Any]:
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
def name_errors(file: str) -> Iterator[None]:
    """Turn what goes wrong into a line that names the file."""
    name = shown_name(file)
    try:
        yield
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror or error}") from error
    except (ValueError, TypeError, ImportError) as error:
        message = str(error)
        named = message.startswith(f"{name}:")
        raise BadInput(message if named else f"{name}: {message}") from error


def qrels_notes(
    evaluator: Evaluator,
    facets: Mapping[str, Mapping[str, str]] | None,
    arguments: argparse.Namespace,
) -> list[str]:
    """Say what of the judgments and the labels has no effect."""
    notes = []
    queries = evaluator.query_ids
    answerable = evaluator.judged.answerable.tolist()
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


def run_notes(
    run: str,
    evaluator: Evaluator,
    evaluation: Evaluation,
    absent: list[str],
    unjudged: list[str],
    missing: str,
) -> list[str]:
    """Say what of a run was not scored, or not found."""
    notes = []
    if evaluation.lost is not None:
        notes.append(f"{shown_name(run)}: {lost_text(*evaluation.lost)}")
    if absent:
        effect = "left out" if missing == "skip" else "taken as empty"
        whose = f"{shown_name(run)}: {_of(absent, len(evaluator.query_ids))}"
        notes.append(f"{whose} missing from the run, {effect}: {_ids(absent)}")
    return notes + unjudged_notes(run, len(evaluator.query_ids) - len(absent), unjudged)


def unjudged_notes(run: str, judged: int, unjudged: list[str]) -> list[str]:
    """Say which queries of a run are not judged, beside those that are."""
    if not unjudged:
        return []
    whose = f"{shown_name(run)}: {_of(unjudged, judged + len(unjudged))}"
    return [f"{whose} not judged, not scored: {_ids(unjudged)}"]


def _of(some: Sequence[str], every: int) -> str:
    return f"{len(some)} of {every} {'query' if every == 1 else 'queries'}"


def _ids(queries: Sequence[str]) -> str:
    rest = len(queries) - _NAMED_IDS
    named = ", ".join(queries[:_NAMED_IDS])
    return f"{named} and {rest} more" if rest > 0 else named
