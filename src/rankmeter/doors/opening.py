"""What was given, and who reads it: a mapping, a file of some format, or a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from rankmeter._core.doors.columns import JudgedRows
from rankmeter._core.doors.mappings import JudgedMappings
from rankmeter._core.doors.text_rows import TextRows
from rankmeter._core.driver import Metrics
from rankmeter._core.ids import add_types
from rankmeter.doors.arrow import Table
from rankmeter.doors.integers import NO_INTEGERS, Integers
from rankmeter.doors.json import Json, JsonRows, first_object, is_line, is_row
from rankmeter.doors.mistakes import Mistakes
from rankmeter.doors.rows import ROLES
from rankmeter.doors.source import Source
from rankmeter.doors.text import THREE_COLUMNS, TREC, Grouped, recognise, rows_of

FORMATS = ("trec", "beir", "msmarco", "jsonl", "json", "parquet", "arrow")
SIDES = ("qrels", "run")

_ARROW_FILES = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
}
_JSON_LINE = re.compile(rb"\s*\{\s*\"query_id\"\s*:\s*[\"0-9-]")
_JSON = re.compile(rb"[ \t]*(\{\s*[\"}]|\[\s*\{\s*\")")
_BELOW_BLANKS = re.compile(rb"\s+\{")  # an id may begin so


class Columnar(Protocol):
    """A file or a table of rows, each with a query, a document and a number.

    `read_pieces` and `read_whole` are the fast way, for what is as it should be. None stands for
    what the careful reader should look at: `read_carefully` goes row by row, takes rows in any
    order, and says what is wrong with each.
    """

    name: str
    integers: Integers  # whether they stand there as integers; they are read as decimal text

    def read_pieces(self) -> Iterator[TextRows | None]:
        """Yield all rows, cut between two queries."""

    def read_whole(self) -> TextRows | None:
        """Return all rows."""

    def read_carefully(self, mistakes: Mistakes) -> Grouped:
        """Read every row, and put what is wrong with it on record."""


def open_input(given: Any, side: str, format: Any, columns: Any) -> Columnar | Json:
    """Find out who reads this.

    Parameters
    ----------
    given : path, binary file, Source or object with ``__arrow_c_stream__``
    side : {"qrels", "run"}
    format : str, mapping or None
        One of `FORMATS`, or from side to one of them. None: recognise by content.
    columns : mapping or None
        From the name of a column of a table to its name there, or from side to such a mapping.

    Raises
    ------
    OSError
        A file cannot be read.
    TypeError
        `format` or `columns` is of another type, or a column of a table.
    ValueError
        `format` or `columns` names what there is not, or a table lacks a column.
    """
    wanted = _format_of(side, format)
    names = _columns_of(side, columns)
    if hasattr(given, "__arrow_c_stream__"):
        return Table(given, side, names)
    source = given if isinstance(given, Source) else Source(given)
    start = source.start()
    kind = wanted or _recognise(start)
    if kind == "jsonl" and is_row(first_object(start)):
        return JsonRows(source, side, names, lines=True)
    if kind in ("json", "jsonl") or (kind == "beir" and side == "run"):
        if kind != "jsonl" and start.lstrip().startswith(b"["):
            return JsonRows(source, side, names, lines=False)
        return Json(source, side, lines=kind == "jsonl")
    if kind in _ARROW_FILES.values():
        return Table(source, side, names)
    layout = None
    if kind == "trec" or (kind == "msmarco" and side == "qrels"):
        layout = TREC[side]
    elif kind is not None:
        layout = THREE_COLUMNS[side]
    return recognise(source, side, start, layout)


def read_qrels(
    given: Any, metrics: Metrics, format: Any, columns: Any, errors: str
) -> tuple[JudgedRows | JudgedMappings, Integers]:
    """Prepare judgments from a file or a table; tell whether their ids are integers, too.

    Raises
    ------
    OSError, TypeError, ValueError
        As for `open_input`, and for what is wrong with the judgments.
    """
    judged = open_input(given, "qrels", format, columns)
    mistakes = Mistakes(judged.name, errors)
    if isinstance(judged, Json):
        qrels: dict[str, Any] = {}
        for queries in judged.mappings(mistakes):
            qrels |= queries
        with _name_errors(judged.name):
            return prepare(qrels, metrics), judged.integers
    with _name_errors(judged.name):
        read = judge_rows(judged, metrics)
        if read is None:
            read = JudgedRows(rows_of(judged.read_carefully(mistakes)), metrics)
        return read, judged.integers


def judge_rows(given: Columnar, metrics: Metrics) -> JudgedRows | None:
    """Prepare judgments as they stand, or put in order; None where each row must be looked at."""
    if (rows := given.read_whole()) is None:
        return None
    judged = JudgedRows(rows, metrics)
    if not judged.usual and (rows := rows.in_order()) is not None:
        judged = JudgedRows(rows, metrics)
    return judged if judged.usual else None


@contextmanager
def _name_errors(name: str) -> Iterator[None]:
    """Put the name of a file before what is wrong with it."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        raise ValueError(message if message.startswith(name) else f"{name}: {message}") from None


def mapping_of(queries: Grouped, integers: Integers = NO_INTEGERS) -> dict[Any, dict[Any, float]]:
    """Give the door of mappings what was read carefully; some ids as the integers that they are."""
    query_id, document_id = (int if there else decode for there in integers)
    return {
        query_id(query): {document_id(document): number for document, number in found.items()}
        for query, found in queries.items()
    }


def _recognise(start: bytes) -> str | None:
    """The format of a file that begins so; None for columns of text."""
    for magic, kind in _ARROW_FILES.items():
        if start.startswith(magic):
            return kind
    below_blanks = not _JSON.match(start)
    if below_blanks and not _BELOW_BLANKS.match(start):
        return None
    first = first_object(start)
    if is_row(first) or is_line(first):
        return "jsonl"
    if below_blanks:
        return None
    return "jsonl" if not first and _JSON_LINE.match(start) else "json"


def prepare(qrels: dict[Any, dict[Any, float]], metrics: Metrics) -> JudgedRows | JudgedMappings:
    """Give the core judgments as rows, if they can be."""
    kinds: set[type] = set()
    add_types(qrels, kinds)
    for grades in qrels.values():
        add_types(grades, kinds)
    if kinds != {str}:
        return JudgedMappings(qrels, metrics)
    with suppress(UnicodeEncodeError, OverflowError):  # no UTF-8, no double
        grouped = {
            encode(query): {encode(document): float(grade) for document, grade in grades.items()}
            for query, grades in qrels.items()
        }
        # A query without judgments has no row, and two ids may have the same bytes.
        sizes = [len(grades) for grades in grouped.values()]
        if all(sizes) and sizes == [len(grades) for grades in qrels.values()]:
            return JudgedRows(rows_of(grouped), metrics)
    return JudgedMappings(qrels, metrics)


def encode(id_: str) -> bytes:
    """Return the bytes of an id."""
    return id_.encode("utf-8", "surrogateescape")


def decode(id_: bytes) -> str:
    """Return the text of an id, whatever its bytes."""
    return id_.decode("utf-8", "surrogateescape")


def check_options(format: Any, columns: Any) -> None:
    """Refuse what `open_input` would refuse, whether there is something to open or not."""
    for side in SIDES:
        _format_of(side, format)
        _columns_of(side, columns)


def _format_of(side: str, format: Any) -> str | None:
    if isinstance(format, Mapping):
        _check_keys("format", format, SIDES)
        format = format.get(side)
    if format is None:
        return None
    if not isinstance(format, str):
        raise TypeError(f"format must be a string or a mapping from side to one, not {format!r}")
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    return format


def _columns_of(side: str, columns: Any) -> Mapping[str, str]:
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns must be a mapping, not {type(columns).__name__}")
    if any(isinstance(value, Mapping) for value in columns.values()):
        _check_keys("columns", columns, SIDES)
        return _columns_of(side, columns.get(side))
    _check_keys("columns", columns, ROLES)
    for name in columns.values():
        if not isinstance(name, str):
            raise TypeError(f"columns must give names of columns, not {name!r}")
    return columns


def _check_keys(what: str, given: Mapping[Any, Any], allowed: Sequence[str]) -> None:
    for key in given:
        if key not in allowed:
            raise ValueError(f"{what} has the key {key!r}; there are {', '.join(allowed)}")
