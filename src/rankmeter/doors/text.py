"""Columns of text, separated by blanks: TREC, BEIR and MS MARCO.

Columns are separated by ASCII blanks and nothing else, so an id may hold ``#``, a no-break space or
bytes that are not UTF-8. Ids are the bytes of the file and match byte for byte.

A line whose first column begins with ``#`` is a comment, unless it is a whole line of data: it has
the right columns, a number where one belongs, and ``Q0`` or an integer in the second column of
TREC's formats. One that has the query of the line before is not a comment but a mistake.

A blank inside an id shifts the columns behind it, and a rank may become a score. So the rank of
TREC's runs, which orders nothing, must be a number (``1``, or ``2.5`` as some write for ties), and
a line is refused that has other columns if it is split at tabs alone. The tag may hold blanks.

`Text.read_pieces` is the fast way, which gives rows to the core. `Text.read_carefully` reads line
by line, whatever the order of the lines, and says what is wrong.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterator
from io import SEEK_END, BytesIO
from typing import Any, NamedTuple

import numpy as np

from rankmeter._core.doors.text_rows import LONGEST_LINE, TextRows, last_query, number_of
from rankmeter.doors.facet_files import QUERY_COLUMN
from rankmeter.doors.integers import NO_INTEGERS
from rankmeter.doors.mistakes import Mistakes, count, shown
from rankmeter.doors.source import Source
from rankmeter.statistics.means import as_doubles

Grouped = dict[bytes, dict[bytes, float]]  # query to document to number

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLOCK = 1 << 18  # bytes that are read at once, so that they are still in the cache when scored
_NO_COMMENT = re.compile(rb"[Qq]0|[0-9]+")
_HEADER = re.compile(
    QUERY_COLUMN.encode() + rb"\s.*\s(score|grade|relevance|rel|label|rank)\s*", re.IGNORECASE
)


class Layout(NamedTuple):
    """What a line holds."""

    columns: tuple[str, ...]
    more_columns: bool = False

    @property
    def noun(self) -> str:
        """What its number is."""
        return next(c for c in self.columns[::-1] if c in ("grade", "score", "rank"))


TREC = {
    "qrels": Layout(("query", "iteration", "document", "grade")),
    "run": Layout(("query", "Q0", "document", "rank", "score", "tag"), more_columns=True),
}
THREE_COLUMNS = {
    "qrels": Layout(("query", "document", "grade")),
    "run": Layout(("query", "document", "rank")),
}
_SCORES = Layout(("query", "document", "score"))  # if a header says so


class Text:
    """A file of such lines.

    Parameters
    ----------
    source : Source
    side : {"qrels", "run"}
    layout : Layout
    header : int
        How many bytes to skip at the start: a header and what stands above it.
    """

    integers = NO_INTEGERS

    def __init__(self, source: Source, side: str, layout: Layout, header: int = 0) -> None:
        self.name = source.name
        self._source = source
        self._side = side
        self._layout = layout
        self._header = header

    def read_pieces(self) -> Iterator[TextRows | None]:
        """Yield all rows, cut between two queries, for the core; None for the careful reader."""
        with self._source.open() as file:
            file.read(self._header)
            left = b""
            while True:
                # As much again as is left over, so that a long query is not read again and again.
                buffer = np.empty(len(left) + max(_BLOCK, len(left)), np.uint8)
                room = memoryview(buffer.data)
                room[: len(left)] = left
                length = len(left)
                while length < len(room) and (size := file.readinto(room[length:])):
                    length += size
                if length < len(room):
                    yield self._rows(buffer, length)
                    return
                border = last_query(buffer, length)
                left = bytes(room[border:])
                if border:
                    yield self._rows(buffer, border)
                elif (
                    length > LONGEST_LINE
                    and b"\n" not in (end := left[-LONGEST_LINE - 1 :])
                    and not end.isspace()  # a blank line may have any length
                ):
                    yield None  # a line that is too long
                    return

    def read_whole(self) -> TextRows:
        """Return all rows."""
        data = np.frombuffer(self._source.read(), np.uint8)[self._header :]
        return self._rows(data, len(data))

    def _rows(self, text: Any, length: int) -> TextRows:
        columns, more_columns = self._layout
        return TextRows.of_lines(
            text,
            length,
            ignored_second=columns[1] != "document",
            has_rank=columns[3:4] == ("rank",),
            more=more_columns,
            ranked=self._layout.noun == "rank",
        )

    def read_carefully(self, mistakes: Mistakes) -> Grouped:
        """Read every line, and put what is wrong with it on record."""
        columns, more_columns = self._layout
        width = len(columns)
        # One split more than the columns shows that there are more; what they hold is not needed.
        splits = width - 1 if more_columns else width
        noun = self._layout.noun
        at_document, at_number = columns.index("document"), columns.index(noun)
        largest = np.inf if noun == "score" else sys.float_info.max
        sign = -1.0 if noun == "rank" else 1.0

        queries: Grouped = {}
        query = None
        documents: dict[bytes, float] = {}
        start = b""
        for number, line in self._lines(mistakes):
            start = start or line[:2]
            fields = line.split(None, splits)  # bytes split at ASCII blanks only
            if not fields:
                continue
            first = fields[0]
            right = len(fields) == width
            value = number_of(fields[at_number]) if right else None
            if first.startswith(b"#") and first != query:
                odd = width > 3 and not (right and _NO_COMMENT.fullmatch(fields[1]))
                if value is None or odd or (width == 3 and first == b"#"):
                    continue  # a comment
            hint = " (the file is UTF-16; save it as UTF-8)" if start in _UTF16 else ""
            if b"\0" in line and not hint:
                hint = " (a binary file?)"
                mistakes.add(number, f"a NUL byte{hint}", line)
            elif not right:
                mistakes.add(number, self._wrong_columns(line) + hint, line)
            elif value is None or not -largest <= value <= largest:
                mistakes.add(number, _describe_wrong_number(fields[at_number], noun) + hint, line)
            elif noun == "rank" and not value.is_integer():
                what = f"the rank {shown(fields[at_number])!r} is not a whole number"
                mistakes.add(number, f"{what}; scores need TREC's six columns", line)
            elif shift := self._shifted(fields, line):
                mistakes.add(number, shift, line)
            else:
                if first != query:
                    query = first
                    documents = queries.setdefault(query, {})
                document = fields[at_document]
                if document in documents:
                    if mistakes.keep_first:
                        continue
                    what = self._wrong_twice(number, query, document, at_document)
                    mistakes.add(number, what + mistakes.way_out, line)
                documents[document] = sign * value
        mistakes.check()
        if not queries:
            raise ValueError(f"{self.name}: no lines in it")
        return queries

    def _lines(self, mistakes: Mistakes | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the lines below the header with their numbers; none is longer than allowed."""
        with self._source.open() as file:
            number = file.read(self._header).count(b"\n")
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
                    yield number, line
                    continue
                if mistakes is not None:
                    mistakes.add(number, f"the line is longer than {LONGEST_LINE:,} bytes", line)
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE)

    def _wrong_columns(self, line: bytes) -> str:
        there = len(line.split())
        other = "run" if self._side == "qrels" else "qrels"
        hint = ""
        if there == len(TREC[other].columns):
            hint = "; is this a run?" if other == "run" else "; are these qrels?"
        columns = self._layout.columns
        return f"{count(there, 'column')} instead of {len(columns)} ({', '.join(columns)}){hint}"

    def _shifted(self, fields: list[bytes], line: bytes) -> str:
        """Say that a blank inside an id has shifted the columns, or may have; or return ""."""
        columns = self._layout.columns
        needed = "an id that holds a blank needs JSON lines or Parquet"
        if columns[3:4] == ("rank",) and number_of(fields[3]) is None:
            return f"the rank {shown(fields[3])!r} is not a number; {needed}"
        if b"\t" not in line:
            return ""
        cells = [cell.split() for cell in line.split(b"\t") if cell.strip()]
        # Judgments of three columns are judgments, too.
        three = self._side == "qrels" and len(cells) == 3
        at = 2 if three else columns.index(self._layout.noun)
        if len(cells) <= at or all(len(cell) == 1 for cell in cells[:at]):
            return ""
        if len(cells[at]) > 1 or number_of(cells[at][0]) is None:
            return ""
        what = "tabs part other columns than blanks; part all by the one or all by the other"
        return f"{what}; {needed}"

    def _wrong_twice(self, number: int, query: bytes, document: bytes, column: int) -> str:
        first = next(
            n
            for n, line in self._lines()
            if line.split(None, column + 1)[: column + 1 : column] == [query, document]
        )
        return (
            f"document {shown(document)!r} of query {shown(query)!r} stands in line {first} "
            f"and again in line {number}"
        )


def recognise(source: Source, side: str, start: bytes, layout: Layout | None = None) -> Text:
    """Tell by its first lines what a file holds: TREC's columns, or three.

    Parameters
    ----------
    source : Source
    side : {"qrels", "run"}
    start : bytes
        Its text, or the first part of it.
    layout : Layout, optional
        What it holds, if that is known.

    Raises
    ------
    ValueError
        The lines end as only old machines do.
    """
    three = THREE_COLUMNS[side]
    # A CR is a blank like others, unless it parts lines.
    lines = start.split(b"\r") if b"\n" not in start else []
    if sum(len(line.split()) >= len(three.columns) for line in lines) > 1:
        raise ValueError(f"{source.name}: the lines end with CR alone; save it with LF or CRLF")
    offset = 0
    for line in BytesIO(start) if layout in (None, three) else ():
        offset += len(line)
        fields = line.split(None, len(TREC["run"].columns))
        if not fields:
            continue
        if len(fields) == 3 and fields[0] != b"#":
            if number_of(fields[2]) is not None:
                return Text(source, side, three)
            if _HEADER.fullmatch(line.lstrip()):
                scored = side == "run" and fields[2].lower() == b"score"
                return Text(source, side, _SCORES if scored else three, offset)
        comment = len(fields) == 1 or not _NO_COMMENT.fullmatch(fields[1])
        if not (fields[0].startswith(b"#") and comment):
            break
    return Text(source, side, layout or TREC[side])


def tag_of(source: Source) -> bytes:
    """Return the tag in the last line of a run in TREC's format.

    Parameters
    ----------
    source : Source

    Returns
    -------
    bytes
        Empty where no line has one.
    """
    with source.open() as file:
        if file.seekable():
            size = file.seek(0, SEEK_END)
            for length in (min(size, _BLOCK), size):  # many comments may stand at the end
                file.seek(size - length)
                if tag := _find_last_tag(file.read(), whole=length == size):
                    return tag
            return b""
        end, whole = b"", True
        while part := file.read(_BLOCK):
            whole = whole and len(end) <= LONGEST_LINE
            end = end[-LONGEST_LINE:] + part
        return _find_last_tag(end, whole)


def _find_last_tag(end: bytes, whole: bool) -> bytes:
    """Find the last line with a tag; the first may be cut off if this is not all."""
    lines = end.split(b"\n")[0 if whole else 1 :]
    return next(filter(None, map(_tag, reversed(lines))), b"")


def _tag(line: bytes) -> bytes:
    fields = line.split(None, len(TREC["run"].columns))
    if len(fields) < 6 or (fields[0].startswith(b"#") and not _NO_COMMENT.fullmatch(fields[1])):
        return b""
    return fields[5]


def rows_of(queries: Grouped) -> TextRows:
    """Give the core what was read carefully.

    Where doubles would round scores together that are integers, it gets their places in the order.
    """
    sizes = [len(documents) for documents in queries.values()]
    names = [q for q, n in zip(queries, sizes, strict=True) for _ in range(n)]
    ids = [d for documents in queries.values() for d in documents]
    numbers = [x for documents in queries.values() for x in as_doubles(list(documents.values()))]
    return TextRows.of_columns(*_column(names), *_column(ids), np.array(numbers, np.float64))


def _column(texts: list[bytes]) -> tuple[Any, Any]:
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return offsets, np.frombuffer(b"".join(texts), np.uint8)


def _describe_wrong_number(text: bytes, noun: str) -> str:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if value != value:
        return f"the {noun} is NaN"
    if abs(value) == np.inf and noun != "score":
        return f"the {noun} is infinite"
    return f"the {noun} {shown(text)!r} is not a number"
