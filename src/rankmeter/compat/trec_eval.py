"""``rankmeter trec-eval``: the command line and the output of trec_eval 10.0.

What differs, on purpose: queries that the run lacks are left out, as trec_eval says, where version
10.0 stops; and where it divides nothing by nothing and prints nan (interpolated precision of a
query with no document left), the value is 0. Files may be compressed.
"""

from __future__ import annotations

import getopt
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankmeter.compat.trec_measures import (
    Column,
    TrecPlan,
    TrecRows,
    Values,
    has_gains,
)
from rankmeter.compat.trec_names import MEASURES, NICKNAMES
from rankmeter.doors.how import How, Reading
from rankmeter.doors.judged import RowJudgments
from rankmeter.doors.mistakes import Mistakes
from rankmeter.doors.opening import decode, encode, judge_rows, mapping_of, open_input
from rankmeter.doors.scored import Scored
from rankmeter.doors.source import Source, shown_name
from rankmeter.doors.text import tag_of
from rankmeter.doors.threads import count_processors
from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import compile_metrics
from rankmeter.naming.rows import LEAST
from rankmeter.scoring.evaluator import Evaluator

VERSION = "10.0"

HELP = """\
usage: rankmeter trec-eval [options] QRELS RUN

Print what trec_eval 10.0 prints for the same arguments.

QRELS    query iteration document grade
RUN      query Q0 document rank score tag, ranked by score, equal scores by document, high to low;
         "-" is standard input
Columns are separated by blanks, lines of # are comments. Both may be compressed.

options, a value attached or after a blank:
  -m, --measure MEASURE[.PARAMETERS]
                       a measure or a set of them; may be repeated (default: official)
  -q, --query_eval_wanted
                       print the value of each query too
  -n, --nosummary      do not print the means
  -c, --complete_rel_info_wanted
                       count judged queries that the run lacks, mostly as 0
  -l, --level_for_rel N
                       grades from N on are relevant (default: 1)
  -J, --Judged_docs_only
                       take documents that are not judged out of the run first
  -M, --Max_retrieved_per_topic N
                       use the first N documents of each query only
  -N, --Number_docs_in_coll N
                       the size of the collection, for utility (default: 0)
  -Z, --Zscore FILE    print (value - mean) / deviation, with lines of query measure mean deviation
  -R, --Rel_info_format qrels
  -T, --Results_format trec_results
                       the only formats
  -D, --Debug_level LEVEL[.QUERY]
                       use QUERY only; LEVEL is ignored
  -v, --version        print the version
  -h, --help           print this

sets:
  official  {official}
  set       {set}
  all_trec  all but dcg, ideal_dcg and yaap

measures:
  {measures}

parameters:
  P recall map_cut ndcg_cut relative_P success unj      cut-offs: P.5,10
  iprec_at_recall 11pt_avg                              levels of recall: 11pt_avg.0.2,0.5,0.8
  Rprec_mult                                            multiples of R: Rprec_mult.0.5,1.0
  ndcg dcg ideal_dcg ndcg_rel Rndcg G                   gains of grades: ndcg.1=3,2=7
  rbp rbp_resid                                         persistence: rbp.p=0.8
  utility                                               four numbers: utility.2,-1,0,0
  set_F                                                 weight of recall: set_F.0.5
  relstring                                             how many ranks: relstring.20

exit code:
  0 done, 1 wrong command line, 2 a file or a parameter is wrong, 4 utility has not four numbers,
  7 no query in common, 255 the file of -Z is wrong
"""

_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
_LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure=": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel=": "l",
    "nosummary": "n",
    "Debug_level=": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll=": "N",
    "Max_retrieved_per_topic=": "M",
    "Rel_info_format=": "R",
    "Results_format=": "T",
    "Output_old_results_format=": "o",
    "Zscore=": "Z",
}
_FORMATS = {"R": "qrels", "T": "trec_results"}
_MISSING_Z = -1_000_000.0

Scores = Mapping[str, Mapping[str, tuple[float, float]]]


class Refused(Exception):
    """What the user is told, with the exit code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class _Options:
    """The command line."""

    qrels: str = ""
    run: str = ""
    measures: dict[str, str | None] = field(default_factory=dict)
    per_query: bool = False
    summary: bool = True
    complete: bool = False
    level: int = 1
    judged_only: bool = False
    most: int | None = None
    documents: int = 0
    query: str | None = None
    z_scores: str | None = None


def output(arguments: Sequence[str]) -> str:
    """Evaluate a run as a command line of trec_eval asks for.

    Parameters
    ----------
    arguments : sequence of str
        Those behind the name of the command.

    Returns
    -------
    str
        What is to be printed.

    Raises
    ------
    Refused
        The command line is wrong, or a file.
    """
    try:
        pairs, files = getopt.gnu_getopt(list(arguments), _SHORT, [*_LONG])
    except getopt.GetoptError as error:
        raise Refused(1, f"{error}; try rankmeter trec-eval --help") from None
    given = [(_short(option), value) for option, value in pairs]
    letters = {letter for letter, _ in given}
    if "v" in letters:
        from importlib.metadata import version

        return f"rankmeter {version('rankmeter')}, as trec_eval {VERSION}\n"
    if "h" in letters:
        return _help()
    options = _options(given)
    if len(files) != 2:
        raise Refused(1, f"two files are needed, QRELS and RUN, not {len(files)}")
    options.qrels, options.run = files
    if files == ["-", "-"]:
        raise Refused(1, "standard input (-) can be read once only")
    return _evaluated(options)


def _help() -> str:
    def wrapped(names: Iterable[str], indent: str) -> str:
        from textwrap import fill

        return fill(" ".join(names), 88, subsequent_indent=indent)

    return HELP.format(
        official=wrapped(NICKNAMES["official"], " " * 12),
        set=wrapped(NICKNAMES["set"], " " * 12),
        measures=wrapped(MEASURES, "  "),
    )


def _short(option: str) -> str:
    name = option.lstrip("-")
    return _LONG.get(name) or _LONG.get(f"{name}=") or name


def _options(given: Iterable[tuple[str, str]]) -> _Options:
    options = _Options()
    parameters: dict[str, str] = {}
    marked: set[str] = set()
    for letter, value in given:
        if letter in _FORMATS and value != _FORMATS[letter]:
            raise Refused(
                2, f"-{letter} {value}: this format is not read, only {_FORMATS[letter]} is"
            )
    for letter, value in given:
        if letter == "m":
            _mark(value, marked, parameters)
        elif letter == "q":
            options.per_query = True
        elif letter == "n":
            options.summary = False
        elif letter == "c":
            options.complete = True
        elif letter == "J":
            options.judged_only = True
        elif letter == "l":
            options.level = _whole(letter, value, 1)
        elif letter == "M":
            options.most = _whole(letter, value, 0)
        elif letter == "N":
            options.documents = _whole(letter, value, 0)
        elif letter == "D":
            options.query = value.partition(".")[2] or None
        elif letter == "Z":
            options.z_scores = value
    marked = marked or set(NICKNAMES["official"])
    options.measures = {name: parameters.get(name) for name in MEASURES if name in marked}
    return options


def _mark(text: str, marked: set[str], parameters: dict[str, str]) -> None:
    name, point, given = text.partition(".")
    if point and not given:
        raise Refused(1, f"-m {text}: there are no parameters behind the point")
    if name not in NICKNAMES and name not in MEASURES:
        hint = ""
        if name.startswith(("prefs", "all_prefs")) or name.endswith(("_avgjg", "_jg")):
            hint = "; measures of preferences and of groups of judgments are not computed"
        raise Refused(1, f"-m {text}: there is no measure {name!r}{hint}")
    if point:
        parameters.setdefault(name, given)  # of several, the first counts
    marked.update(NICKNAMES.get(name, [name]))


def _whole(letter: str, text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise Refused(1, f"-{letter} {text}: a whole number of at least {least} is needed")
    return number


def _evaluated(options: _Options) -> str:
    qrels = _opened(options.qrels)
    grades: set[float] = set()
    if has_gains(options.measures):
        judged = _reading(qrels.name, Evaluator, qrels, "num_q", format="trec")
        grades = {grade for grades in _judgments(judged).values() for grade in grades.values()}
    try:
        plan = TrecPlan(
            options.measures,
            level=options.level,
            judged_only=options.judged_only,
            documents=options.documents,
            grades=grades,
            strings=options.per_query,
        )
    except ValueError as error:
        raise Refused(4 if str(error).startswith("utility") else 2, f"-m {error}") from None
    evaluator = _reading(qrels.name, Evaluator, qrels, list(plan.metrics), format="trec")
    run = _opened(options.run)
    tag = ""
    if "runid" in options.measures and options.summary:
        tag = decode(_reading(run.name, tag_of, run))
    rankings: Any = run
    if options.most is not None:
        rankings = _reading(run.name, _cut, run, options.most)
    z_scores = None
    if options.z_scores is not None:
        z_scores = _read_z_scores(options.z_scores)

    values, there = _reading(run.name, _scored, evaluator, rankings)
    if not (there.any() or options.complete):
        raise Refused(7, f"{options.qrels} and {options.run} have no query in common")
    pooled = None
    if plan.depth and any(column.strings for column in plan.columns):
        pooled = _pooled(evaluator, rankings, plan.depth, options.judged_only, run.name)
    chosen = [
        row
        for row, query in enumerate(evaluator.query_ids)
        if (options.complete or there[row]) and options.query in (None, query)
    ]
    if not chosen:
        raise Refused(7, f"query {options.query!r} is not in both files")
    chosen.sort(key=lambda row: encode(evaluator.query_ids[row]))
    rows = TrecRows(values[chosen], ~there[chosen], None if pooled is None else pooled[chosen])
    queries = [evaluator.query_ids[row] for row in chosen]
    table = [column.of(rows) for column in plan.columns]
    if z_scores is not None:
        table = [
            _standardised(column.name, numbers, queries, z_scores)
            for column, numbers in zip(plan.columns, table, strict=True)
        ]
    text = _per_query(plan.columns, table, rows, queries, z_scores) if options.per_query else ""
    if options.summary:
        count = len(values) if options.complete else len(queries)
        relevant = values[:, plan.all_relevant].sum() if options.complete else None
        text += _summary(plan.columns, table, count, relevant, tag, z_scores)
    return text


def _reading(name: str, read: Any, *arguments: Any, **named: Any) -> Any:
    """Call what reads a file; put what is wrong with it in words that name the file."""
    try:
        return read(*arguments, **named)
    except OSError as error:
        raise Refused(2, f"{name}: {error.strerror or error}") from error
    except (ValueError, TypeError, ImportError) as error:
        message = str(error)
        raise Refused(
            2, message if message.startswith(f"{name}:") else f"{name}: {message}"
        ) from error


def _opened(path: str) -> Source:
    source: Source = _reading(shown_name(path), Source, path)
    return source


def _judgments(evaluator: Evaluator) -> dict[str, dict[str, float]]:
    assert isinstance(evaluator.judged, RowJudgments)  # these were read from a file
    return evaluator.judged.mapping()


def _scored(evaluator: Evaluator, run: Any) -> tuple[Values, Any]:
    """The values of all judged queries, and which of them the run holds."""
    scored = Scored.empty(len(evaluator.query_ids), len(evaluator.metrics))
    how = How(threads=count_processors(), reading=Reading("trec"))
    evaluator.judged.score(run, how, scored)
    evaluator.judged.complete(scored)
    return scored.values, scored.retrieved


def _cut(run: Source, most: int) -> dict[str, dict[str, float]]:
    """Read a run; leave the first documents of each query."""
    given: Any = open_input(run, "run", "trec", None)
    _, compiled = compile_metrics("num_q")
    rankings = None
    with suppress(ValueError):  # such as infinite scores, which grades must not be
        if (read := judge_rows(given, compiled)) is not None:
            rankings = read.mapping()
    if rankings is None:
        rankings = mapping_of(given.read_carefully(Mistakes(given.name, "raise")))
    return {query: _first(scores, most) for query, scores in rankings.items()}


def _first(scores: dict[str, float], most: int) -> dict[str, float]:
    """The documents with the highest scores; of equal ones, those with the highest ids."""
    if len(scores) <= most:
        return scores
    if most == 0:
        return {}
    numbers = np.fromiter(scores.values(), np.float64, len(scores))
    lowest = float(np.partition(numbers, -most)[-most])
    first = {document: score for document, score in scores.items() if score > lowest}
    tied = sorted((d for d, score in scores.items() if score == lowest), key=encode)
    return first | dict.fromkeys(tied[len(tied) - most + len(first) :], lowest)


def _pooled(
    evaluator: Evaluator, run: Any, depth: int, judged_only: bool, name: str
) -> Values | None:
    """How many documents up to each rank are in the pool, but not judged."""
    if judged_only:
        return None
    pool = {
        query: {document: 1 for document, grade in grades.items() if grade < 0}
        for query, grades in _judgments(evaluator).items()
    }
    if not any(pool.values()):
        return None
    # Each query needs a document.
    pool = {query: documents or {"": 0} for query, documents in pool.items()}
    finder = Evaluator(pool, [Metric("precision", r) for r in range(1, depth + 1)])
    values: Values = _reading(name, _scored, finder, run)[0]
    return values * np.arange(1, depth + 1)


# ---------------------------------------------------------------------------------------------
# Standard scores


def _read_z_scores(path: str) -> Scores:
    """Query to measure to mean and deviation."""
    name = shown_name(path)
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    try:
        lines = Source(path).read().splitlines()
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if len(fields) != 4:
                raise Refused(
                    255,
                    f"{name}:{number}: {len(fields)} columns instead of 4 (query, measure, mean, "
                    "deviation)",
                )
            query, measure = map(decode, fields[:2])
            try:
                scores.setdefault(query, {})[measure] = float(fields[2]), float(fields[3])
            except ValueError:
                raise Refused(255, f"{name}:{number}: mean and deviation must be numbers") from None
    except (OSError, ValueError) as error:
        raise Refused(255, f"{name}: {getattr(error, 'strerror', None) or error}") from error
    return scores


def _standardised(measure: str, numbers: Values, queries: Sequence[str], scores: Scores) -> Values:
    standardised = np.full(len(numbers), _MISSING_Z)
    for row, (query, value) in enumerate(zip(queries, numbers.tolist(), strict=True)):
        known = scores.get(query, {}).get(measure)
        if known is None:
            continue
        mean, deviation = known
        if deviation:
            standardised[row] = (value - mean) / deviation
        elif value == mean:
            standardised[row] = 0.0
    return standardised


# ---------------------------------------------------------------------------------------------
# Output


def _per_query(
    columns: Sequence[Column],
    table: Sequence[Values],
    rows: TrecRows,
    queries: Sequence[str],
    z_scores: Scores | None,
) -> str:
    template = ""
    printed: list[list[Any]] = []
    for column, numbers in zip(columns, table, strict=True):
        if not column.per_query:
            continue
        if column.strings is not None:
            template += f"{_padded(column.name)}\t\0\t'%s'\n"
            printed.append(column.strings(rows))
        else:
            template += _line(column, "\0", z_scores)
            printed.append(numbers.tolist())
    return "".join(
        template.replace("\0", query.replace("%", "%%")) % values
        for query, *values_of in zip(queries, *printed, strict=True)
        for values in [tuple(values_of)]
    )


def _summary(
    columns: Sequence[Column],
    table: Sequence[Values],
    count: int,
    relevant: float | None,
    tag: str,
    z_scores: Scores | None,
) -> str:
    text = ""
    for column, numbers in zip(columns, table, strict=True):
        if column.summary == "none":
            continue
        if column.summary == "run":
            text += f"{_padded(column.name)}\tall\t{tag}\n"
            continue
        # One after the other, as trec_eval adds, so that what stands half-way rounds alike.
        value = float(np.add.accumulate(numbers)[-1])
        if column.summary == "mean":
            value /= count
        elif column.summary == "queries":
            value = count
        elif column.summary == "relevant" and relevant is not None:
            value = float(relevant)
        elif column.summary == "geometric":
            value += (count - len(numbers)) * math.log(LEAST)
            value = math.exp(value / count)
        text += _line(column, "all", z_scores) % value
    return text


def _line(column: Column, query: str, z_scores: Scores | None) -> str:
    name = _padded(column.name).replace("%", "%%")
    if z_scores is not None:
        return f"Z{name}\t{query}\t%6.4f\n"
    return f"{name}\t{query}\t{'%d' if column.whole else '%6.4f'}\n"


def _padded(name: str) -> str:
    return f"{name:22}"
