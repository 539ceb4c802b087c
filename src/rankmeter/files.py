"""Qrels, runs and facets are read from files; reports are written to them.

A file is named by its path; ``-`` is standard input. Compression (gzip, bzip2, xz, Zstandard) is
recognised by the first bytes, not by the name. What is wrong with a file raises a ValueError that
says ``file:line: what is wrong``.

TREC columns are separated by ASCII blanks and nothing else, so an id may hold ``#``, a
no-break space or bytes that are no UTF-8. Ids of documents are the bytes of the file, one
character a byte, whatever the encoding: they match byte for byte, their order is the order of the
bytes, and they are not meant to be shown. Ids of queries are decoded as UTF-8.
"""

from __future__ import annotations

import codecs
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from io import BufferedReader, BytesIO, RawIOBase
from itertools import chain
from math import inf, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankmeter._core.columns import last_query

STANDARD_INPUT = STANDARD_OUTPUT = "-"

_START = 10  # bytes, enough to recognise how a file is compressed
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SHOWN_BYTES = 200
_BLOCK = 1 << 20  # bytes that are read at once, so that they are still in the cache when scored
_DOCUMENT = 2  # its column, in qrels and runs alike


class _Layout(NamedTuple):
    """What a line of a TREC file holds."""

    columns: tuple[str, ...]
    more_columns: bool
    number: int  # the column that holds the grade or score
    largest: float  # magnitude that is accepted there


_QRELS = _Layout(
    columns=("query", "iteration", "document", "grade"),
    more_columns=False,
    number=3,
    largest=sys.float_info.max,
)
_RUN = _Layout(
    columns=("query", "Q0", "document", "rank", "score", "tag"),
    more_columns=True,
    number=4,
    largest=inf,
)


class Source:
    """The text of a file, compressed or not, to be read whole or in blocks, once or again.

    Parameters
    ----------
    given : str, path or binary file
        ``-`` is standard input. What is no regular file is read on the spot.

    Attributes
    ----------
    name : str
        How messages name it.

    Raises
    ------
    OSError
        The file cannot be read.
    TypeError
        The file is open as text.
    """

    def __init__(self, given: Any) -> None:
        self._data: bytes | None = None
        self._plain = False
        self._path = ""
        if hasattr(given, "read"):
            self.name = str(getattr(given, "name", "<file>"))
            self._data = self._all_of(given)
            return
        self._path = os.fsdecode(given)
        self.name = shown_name(self._path)
        if self._path == STANDARD_INPUT:
            if sys.stdin is None:
                raise OSError("standard input is closed")
            self._data = sys.stdin.buffer.read()
        elif not os.path.isfile(self._path):
            with open(self._path, "rb") as file:
                self._data = file.read()

    def _all_of(self, file: Any) -> bytes:
        parts = []
        while part := file.read():  # once may not be enough
            if isinstance(part, str):
                raise TypeError(f"{self.name} is open as text: open it as binary, with mode 'rb'")
            parts.append(bytes(part))
        if part is None:
            raise TypeError(f"{self.name} is not ready to be read: open it as blocking")
        return b"".join(parts)

    def keep(self) -> bytes:
        """Return everything, and from now on that, whatever becomes of the file."""
        self._data = self.read()
        self._plain = True
        return self._data

    def read(self) -> bytes:
        """Return everything, without a byte-order mark.

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            The file is compressed, and damaged or cut off.
        ImportError
            The library that it is compressed with is not there; the message says what to install.
        """
        with self._opened() as file:
            data: bytes = file.read()
        return data.removeprefix(codecs.BOM_UTF8)

    def blocks(self) -> Iterator[tuple[npt.NDArray[np.uint8], int]]:
        """Yield buffers, and how much of each is text: whole lines, cut between two queries.

        Raises
        ------
        OSError, ValueError, ImportError
            As for `read`.
        """
        with self._opened() as file:
            left = file.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
            while True:
                # As much again as is left over, so that a long query is not read again and again.
                buffer = np.empty(len(left) + max(_BLOCK, len(left)), np.uint8)
                room = memoryview(buffer.data)
                room[: len(left)] = left
                length = len(left)
                while length < len(room) and (count := file.readinto(room[length:])):
                    length += count
                if length < len(room):
                    yield buffer, length
                    return
                border = last_query(buffer, length)
                left = bytes(room[border:])
                if border:
                    yield buffer, border

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with ExitStack() as stack:
            if self._data is not None:
                file: Any = BytesIO(self._data)
            else:
                file = stack.enter_context(open(self._path, "rb"))
            start = file.read(_START)
            file.seek(0)
            kind = None if self._plain else _compression(start)
            if kind is None:
                yield file
                return
            file, errors = _unpacked(file, kind)
            stack.enter_context(file)
            try:
                yield file
            except errors as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # of the disk, not of what is on it
                raise ValueError(f"{self.name}: damaged {kind} file: {error}") from error


def _compression(start: bytes) -> str | None:
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    # A query may be called BZh, too: a block or the end must follow.
    if start.startswith(b"BZh") and start[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if start.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return "Zstandard"
    return None


def _joined(file: Any, decompressor: Any, magic: bytes) -> BufferedReader:
    return BufferedReader(_Joined(file, decompressor, magic), _BLOCK)


class _Joined(RawIOBase):
    """Streams one after the other. The readers of bz2 and lzma drop what they cannot read."""

    def __init__(self, file: Any, decompressor: Any, magic: bytes) -> None:
        self._file = file
        self._new = decompressor
        self._magic = magic
        self._current = decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill some of the buffer; 0 at the end of the last stream."""
        while True:
            if self._current.eof:
                data = self._current.unused_data.lstrip(b"\0") or self._file.read(_BLOCK)
                data = data.lstrip(b"\0")  # xz may be padded
                if not data:
                    return 0
                if len(data) < len(self._magic):
                    data += self._file.read(_BLOCK)
                if not data.startswith(self._magic):
                    raise EOFError("there is something behind the end")
                self._current = self._new()
            elif self._current.needs_input:
                data = self._file.read(_BLOCK)
                if not data:
                    raise EOFError("it ends before the end-of-stream marker")
            else:
                data = b""
            unpacked = self._current.decompress(data, len(buffer))
            if unpacked:
                buffer[: len(unpacked)] = unpacked
                return len(unpacked)


def _unpacked(file: Any, kind: str) -> tuple[Any, tuple[type[Exception], ...]]:
    """The file to read from, and what it raises where it is damaged."""
    if kind == "gzip":
        import gzip
        import zlib

        return gzip.GzipFile(fileobj=file), (EOFError, OSError, zlib.error)
    if kind == "bzip2":
        import bz2

        return _joined(file, bz2.BZ2Decompressor, b"BZh"), (EOFError, OSError)
    if kind == "xz":
        import lzma

        return _joined(file, lzma.LZMADecompressor, b"\xfd7zXZ\x00"), (EOFError, lzma.LZMAError)
    try:
        zstd = import_module(
            "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
        )
    except ImportError as error:
        raise ImportError(
            "this file needs backports.zstd: pip install 'rankmeter[zstd]'"
        ) from error
    return zstd.ZstdFile(file), (EOFError, zstd.ZstdError)


def read_qrels(given: str | Source, encoding: str = "latin-1") -> dict[str, dict[str, float]]:
    """Read relevance judgments: query, iteration (ignored), document, grade.

    Parameters
    ----------
    given : str or Source
        The file; ``-`` is standard input.
    encoding : str
        How the bytes of documents become characters: "latin-1", one of each, or "utf-8".

    Returns
    -------
    dict
        ``{query: {document: grade}}``, in the order of the file.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        The file is empty or a line is not as above, a grade is not finite, or a document is
        judged twice for one query.
    """
    return _read_trec(given, _QRELS, encoding)


def read_run(given: str | Source, encoding: str = "latin-1") -> dict[str, dict[str, float]]:
    """Read what a system returned: query, Q0, document, rank, score, tag.

    Only query, document and score count. Columns after the sixth are ignored.

    Parameters
    ----------
    given : str or Source
        The file; ``-`` is standard input.
    encoding : str
        As for `read_qrels`.

    Returns
    -------
    dict
        ``{query: {document: score}}``, in the order of the file.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        The file is empty or a line is not as above, a score is NaN, or a document is returned
        twice for one query.
    """
    return _read_trec(given, _RUN, encoding)


def read_facets(path: str) -> dict[str, dict[str, str]]:
    """Read labels of queries, one or several for each, from columns separated by tabs.

    If the first line starts with the cell ``query_id``, it is a header: the other cells of it
    name the facets, and each line below gives a query and its label in each facet. Otherwise
    each line gives a query and its label, and the name of the file up to its first dot names the
    facet.

    Blanks around a cell are not part of it. An empty cell is no label. A query has one line at
    most. Blank lines are skipped.

    Parameters
    ----------
    path : str
        The file, in UTF-8; ``-`` is standard input.

    Returns
    -------
    dict
        ``{facet: {query: label}}``, in the order of the file.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        The file is empty or a line is not as above.
    """
    name = shown_name(path)
    rows = _rows(Source(path).read())
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{name}: no lines in it")
    header = first.cells[0] == "query_id"
    if header:
        names = first.cells[1:]
        if not names:
            raise _error(name, first.number, "the header names no facet", first.line)
        for facet in names:
            if not facet or names.count(facet) > 1:
                what = "named twice" if facet else "without a name"
                raise _error(name, first.number, f"a facet {what} in the header", first.line)
    else:
        names = ["facet" if path == STANDARD_INPUT else Path(path).name.split(".")[0] or "facet"]

    facets: dict[str, dict[str, str]] = {facet: {} for facet in names}
    seen: dict[str, int] = {}
    for row in rows if header else chain([first], rows):
        query, *labels = row.cells
        if len(labels) != len(names):
            what = f"{_count(len(row.cells), 'column')}, separated by tabs, not {len(names) + 1}"
            hint = "" if header else " (several facets need a header that starts with query_id)"
            raise _error(name, row.number, what + hint, row.line)
        if not query:
            raise _error(name, row.number, "no query in the first column", row.line)
        if query in seen:
            what = f"query {query!r} stands in line {seen[query]} too"
            raise _error(name, row.number, what, row.line)
        seen[query] = row.number
        for facet, label in zip(names, labels, strict=True):
            if label:
                facets[facet][query] = label
    if not seen:
        raise ValueError(f"{name}: no lines below the header")
    return facets


def write_whole(path: str, text: str) -> None:
    """Write a file whole or not at all.

    The text goes to a new file in the same folder, which then takes the place of the old one. A
    link is followed; the mode of the old file stays. What exists and is not a regular file (a
    pipe, a terminal) cannot be replaced and is written to directly.

    Parameters
    ----------
    path : str
        The file.
    text : str
        What it shall hold, as UTF-8; bytes escaped as surrogates are written as those bytes.

    Raises
    ------
    OSError
        The file cannot be written. The old one, if any, is as it was.
    """
    data = text.encode("utf-8", "surrogateescape")
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is not None and (not stat.S_ISREG(old.st_mode) or _is_open_output(old)):
        with open(path, "ab") as file:
            file.write(data)
        return
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    target = os.path.realpath(path)
    draft = os.path.join(os.path.dirname(target), f".rankmeter-{secrets.token_hex(6)}.tmp")
    try:
        with open(draft, "xb") as file:
            if old is not None:
                os.chmod(draft, stat.S_IMODE(old.st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def shown_name(path: str) -> str:
    """How messages name a file."""
    return "<stdin>" if path == STANDARD_INPUT else path


def shown_message(message: str, qrels: Mapping[str, Mapping[str, float]]) -> str:
    """Show the characters of documents, which are held as bytes, one character each."""
    for document in (document for grades in qrels.values() for document in grades):
        if not document.isascii():
            shown = _text(document.encode("latin-1"))
            message = message.replace(repr(document), repr(shown))
    return message


# ---------------------------------------------------------------------------------------------


def _read_trec(given: str | Source, layout: _Layout, encoding: str) -> dict[str, dict[str, float]]:
    source = given if isinstance(given, Source) else Source(given)
    name = source.name
    data = source.read()
    width = len(layout.columns)
    # One split more than the columns shows that there are more; what they hold is not needed.
    splits = width - 1 if layout.more_columns else width
    column, largest = layout.number, layout.largest

    queries: dict[bytes, dict[str, float]] = {}
    query = None
    documents: dict[str, float] = {}
    for number, line in enumerate(BytesIO(data), 1):
        fields = line.split(None, splits)  # bytes split at ASCII blanks only
        if len(fields) != width:
            if not fields:
                continue
            raise _error(name, number, _wrong_columns(line, layout), line, data)
        if fields[0] != query:
            query = fields[0]
            documents = queries.setdefault(query, {})
        document = fields[_DOCUMENT].decode(encoding, "surrogateescape")
        text = fields[column]
        try:
            value = float(text)
        except ValueError:
            value = nan
        # NaN fails the comparison. An underscore is Python's, and no other tool's.
        if not -largest <= value <= largest or b"_" in text:
            raise _error(name, number, _wrong_number(text, layout), line, data)
        if document in documents:
            what = _wrong_twice(data, number, fields[0], fields[_DOCUMENT])
            raise _error(name, number, what, line)
        documents[document] = value

    if not queries:
        raise ValueError(f"{name}: no lines in it")
    return {
        query.decode("utf-8", "surrogateescape"): documents for query, documents in queries.items()
    }


class _Row(NamedTuple):
    number: int
    line: bytes
    cells: list[str]


def _rows(data: bytes) -> Iterator[_Row]:
    """Yield the lines that are not blank."""
    for number, line in enumerate(BytesIO(data), 1):
        if line.strip():
            cells = [cell.strip().decode("utf-8", "surrogateescape") for cell in line.split(b"\t")]
            yield _Row(number, line, cells)


def _is_open_output(status: os.stat_result) -> bool:
    """Whether this is standard output or error under another name, such as /dev/stdout."""
    for descriptor in (1, 2):
        with suppress(OSError):  # closed
            if os.path.samestat(status, os.fstat(descriptor)):
                return True
    return False


# ---------------------------------------------------------------------------------------------
# What is wrong


def _error(name: str, number: int, what: str, line: bytes, data: bytes = b"") -> ValueError:
    hint = " (the file is UTF-16; save it as UTF-8)" if data.startswith(_UTF16) else ""
    line = line.strip()
    cut = "" if len(line) <= _SHOWN_BYTES else " ..."
    return ValueError(f"{name}:{number}: {what}{hint}: {_text(line[:_SHOWN_BYTES])!r}{cut}")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _wrong_columns(line: bytes, layout: _Layout) -> str:
    there = len(line.split())
    hint = ""
    if layout is _QRELS and there == len(_RUN.columns):
        hint = "; is this a run?"
    elif layout is _RUN and there == len(_QRELS.columns):
        hint = "; are these qrels?"
    wanted = ", ".join(layout.columns)
    return f"{_count(there, 'column')} instead of {len(layout.columns)} ({wanted}){hint}"


def _wrong_number(text: bytes, layout: _Layout) -> str:
    noun = layout.columns[layout.number]
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if value != value:
        return f"the {noun} is NaN"
    if not -layout.largest <= value <= layout.largest:
        return f"the {noun} is infinite"
    return f"the {noun} {_text(text)!r} is no number"


def _wrong_twice(data: bytes, number: int, query: bytes, document: bytes) -> str:
    pairs = (line.split(None, _DOCUMENT + 1)[: _DOCUMENT + 1] for line in BytesIO(data))
    first = next(n for n, fields in enumerate(pairs, 1) if fields[::_DOCUMENT] == [query, document])
    return (
        f"document {_text(document)!r} of query {_text(query)!r} stands in line {first} "
        f"and again in line {number}"
    )
