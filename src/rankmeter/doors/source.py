"""Files are opened, whatever they are compressed with; facets are read, reports written.

A file is named by its path; ``-`` is standard input. Compression (gzip, bzip2, xz, Zstandard) is
recognised by the first bytes, not by the name. What is wrong with a file raises a ValueError that
says ``file:line: what is wrong``.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from io import BufferedReader, BytesIO, FileIO, RawIOBase
from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import IO, Any, NamedTuple

from rankmeter.doors.mistakes import Mistakes, count

STANDARD_INPUT = STANDARD_OUTPUT = "-"
QUERY_COLUMN = "(query|question|q|topic)[-_]?(id)?"  # what headers call the column of queries
_HEADER = re.compile(
    rf"#?\s*(?!q$)({QUERY_COLUMN}|(query|question|topic)\s+id|_?id)", re.IGNORECASE
)

_COMPRESSED = 10  # bytes, enough to recognise how a file is compressed
_START = 1 << 20  # bytes, enough to recognise what it holds
_BLOCK = 1 << 20
_BUFFER = 1 << 17
_IN_MEMORY = 32 << 20  # bytes of what can be read only once; the rest waits on the disk


class Source:
    """The bytes of a file, without the compression, to be read as often as needed.

    Parameters
    ----------
    given : str, path or binary file
        ``-`` is standard input. What is no regular file is read on the spot.

    Attributes
    ----------
    name : str
        How messages name it.
    size : int
        Its bytes, before decompression.
    progress : callable or None
        Called with how many of these were read, whenever some were.

    Raises
    ------
    OSError
        The file cannot be read.
    TypeError
        The file is open as text.
    ValueError
        The file is open, and stands at its end.
    """

    progress: Callable[[int], object] | None = None

    def __init__(self, given: Any) -> None:
        self._copy: Any = None
        self._path = ""
        if hasattr(given, "read"):
            self.name = str(getattr(given, "name", "<file>"))
            self._copy = self._copied(given)
        else:
            self._path = os.fsdecode(given)
            self.name = shown_name(self._path)
            if self._path == STANDARD_INPUT:
                if sys.stdin is None:
                    raise OSError("standard input is closed")
                self._copy = self._copied(sys.stdin.buffer)
            elif not os.path.isfile(self._path):
                with open(self._path, "rb") as file:
                    self._copy = self._copied(file)
        self.size = os.path.getsize(self._path) if self._copy is None else self._copy.tell()

    def _copied(self, file: Any) -> Any:
        copy: Any = BytesIO()
        while part := self._part(file):  # once may not be enough
            copy.write(part)
            if isinstance(copy, BytesIO) and copy.tell() > _IN_MEMORY:
                from tempfile import TemporaryFile  # costs more than the rest of the imports

                start, self._copy = copy, TemporaryFile()  # noqa: SIM115
                copy = self._copy
                copy.write(start.getbuffer())
        if part is None:
            raise TypeError(f"{self.name} is not ready to be read: open it as blocking")
        if not copy.tell() and _is_behind_start(file):
            raise ValueError(f"{self.name} has been read or written to its end: seek(0) first")
        return copy

    def _part(self, file: Any) -> Any:
        try:
            part = file.read(_BLOCK)
        except UnicodeDecodeError:  # it is no text, either
            part = ""
        if isinstance(part, str):
            raise TypeError(f"{self.name} is open as text: open it as binary, with mode 'rb'")
        return part

    def __del__(self) -> None:
        if self._copy is not None:  # a file of its own, which nobody else closes
            self._copy.close()

    def start(self) -> bytes:
        """Return the first bytes."""
        with self.opened() as file:
            start: bytes = file.read(_START)
        return start

    def read(self) -> bytes:
        """Return everything."""
        with self.opened() as file:
            data: bytes = file.read()
        return data

    def seekable(self) -> Any:
        """Return its path, or a file in memory, for a library that does not read from the start."""
        with self._raw() as file:
            compressed = compression_of(file.read(_COMPRESSED))
        return BytesIO(self.read()) if compressed or self._copy is not None else self._path

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Open it for reading from the start, behind a byte-order mark.

        Raises
        ------
        OSError
            The file cannot be read, or became shorter meanwhile.
        ValueError
            The file is compressed, and damaged or cut off.
        ImportError
            The library that it is compressed with is not there; the message says what to install.
        """
        with ExitStack() as stack:
            file = stack.enter_context(self._raw())
            kind = compression_of(file.read(_COMPRESSED))
            file.seek(0)
            if kind is None:
                yield _behind_mark(file)
                return
            file, errors = _unpacked(file, kind)
            stack.enter_context(file)
            try:
                yield _behind_mark(file)
            except errors as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # of the disk, not of what is on it
                raise ValueError(f"{self.name}: damaged {kind} file: {error}") from error

    @contextmanager
    def _raw(self) -> Iterator[Any]:
        if self._copy is None:
            with BufferedReader(_Watched(self._path, self.size, self.progress), _BUFFER) as file:
                yield file
        else:
            position = self._copy.tell()  # of who reads it at the same time
            self._copy.seek(0)
            try:
                yield self._copy
            finally:
                if not self._copy.closed:
                    self._copy.seek(position)


class _Watched(FileIO):
    """A file that must not become shorter: what is missing may be whole lines."""

    def __init__(self, path: str, size: int, progress: Callable[[int], object] | None) -> None:
        super().__init__(path)
        self._size = size  # when it was opened first
        self._progress = progress

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        if self._progress is not None:
            self._progress(self.tell())
        if not count and len(buffer) and self.tell() < self._size:
            raise OSError(errno.EIO, "it became shorter while it was read", self.name)
        return count

    def readall(self) -> bytes:
        data = super().readall()
        self.readinto(bytearray(1))  # for the check
        return data


def _is_behind_start(file: Any) -> bool:
    try:
        return bool(file.tell() > 0)
    except (AttributeError, OSError):  # such as a pipe
        return False


def _behind_mark(file: Any) -> Any:
    length = len(codecs.BOM_UTF8)
    start = file.getvalue() if isinstance(file, BytesIO) else file.peek(length)
    if start.startswith(codecs.BOM_UTF8):
        file.read(length)
    return file


def compression_of(start: bytes) -> str | None:
    """Tell by its first bytes how a file is compressed."""
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


class _Inflater:
    """zlib's decompressor with the face of those of bz2 and lzma, for gzip.

    The gzip module takes a fifth more time for the same.
    """

    def __init__(self) -> None:
        import zlib

        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._more = False  # there may be more output without more input

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    @property
    def needs_input(self) -> bool:
        return not (self._more or self._inflate.unconsumed_tail)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        unpacked = self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)
        self._more = len(unpacked) == max_length
        return unpacked


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
                data = self._current.unused_data.lstrip(b"\0")  # xz may be padded
                while not data:
                    if not (part := self._file.read(_BUFFER)):
                        return 0
                    data = part.lstrip(b"\0")
                if len(data) < len(self._magic):
                    data += self._file.read(_BUFFER)
                if not data.startswith(self._magic):
                    raise EOFError("there is something behind the end")
                self._current = self._new()
            elif self._current.needs_input:
                data = self._file.read(_BUFFER)
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
        import zlib

        return _joined(file, _Inflater, b"\x1f\x8b"), (EOFError, zlib.error)
    if kind == "bzip2":
        import bz2

        return _joined(file, bz2.BZ2Decompressor, b"BZh"), (EOFError, OSError)
    if kind == "xz":
        import lzma

        return _joined(file, lzma.LZMADecompressor, b"\xfd7zXZ\x00"), (EOFError, lzma.LZMAError)
    zstd = zstandard()
    return zstd.ZstdFile(file), (EOFError, zstd.ZstdError)


def zstandard() -> Any:
    """Return the module that packs and unpacks Zstandard."""
    try:
        return import_module(
            "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
        )
    except ImportError as error:
        raise ImportError(
            "this file needs backports.zstd: pip install 'rankmeter[zstd]'"
        ) from error


def read_facets(path: str) -> dict[str, dict[str, str]]:
    """Read labels of queries, one or several for each, from columns separated by tabs.

    If the first line starts with a cell such as ``query_id``, ``qid``, ``query``, ``topic`` or
    ``_id``, in capitals or not, it is a header: the other cells of it name the facets, and each
    line below gives a query and its label in each facet. Otherwise each line gives a query and its
    label, and the name of the file up to its first dot names the facet.

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
    mistakes = Mistakes(name, "raise")
    rows = _rows(Source(path).read())
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{name}: no lines in it")
    header = _HEADER.fullmatch(first.cells[0]) is not None  # q is none: it may well be a query
    if header:
        names = first.cells[1:]
        if not names:
            mistakes.add(first.number, "the header names no facet", first.line)
        for facet in names:
            if not facet or names.count(facet) > 1:
                what = "named twice" if facet else "without a name"
                mistakes.add(first.number, f"a facet {what} in the header", first.line)
    else:
        names = ["facet" if path == STANDARD_INPUT else Path(path).name.split(".")[0] or "facet"]

    facets: dict[str, dict[str, str]] = {facet: {} for facet in names}
    seen: dict[str, int] = {}
    for row in rows if header else chain([first], rows):
        query, *labels = row.cells
        if len(labels) != len(names):
            what = f"{count(len(row.cells), 'column')}, separated by tabs, not {len(names) + 1}"
            hint = "" if header else " (several facets need a header that starts with query_id)"
            mistakes.add(row.number, what + hint, row.line)
        if not query:
            mistakes.add(row.number, "no query in the first column", row.line)
        if query in seen:
            what = f"query {query!r} stands in line {seen[query]} too"
            mistakes.add(row.number, what, row.line)
        seen[query] = row.number
        for facet, label in zip(names, labels, strict=True):
            if label:
                facets[facet][query] = label
    if not seen:
        raise ValueError(f"{name}: no lines below the header")
    return facets


def write_whole(path: str, content: str | Callable[[IO[bytes]], object]) -> None:
    """Write a file whole or not at all.

    The text goes to a new file in the same folder, which then takes the place of the old one. A
    link is followed; the mode of the old file stays. What exists and is not a regular file (a
    pipe, a terminal) cannot be replaced and is written to directly, once there is all of it.

    Parameters
    ----------
    path : str
        The file.
    content : str or callable
        What it shall hold, as UTF-8; bytes escaped as surrogates are written as those bytes. Or
        what writes it to the binary file that it is given; what it raises is raised.

    Raises
    ------
    OSError
        The file cannot be written. The old one, if any, is as it was.
    """
    if isinstance(content, str):
        data = content.encode("utf-8", "surrogateescape")
        write: Callable[[IO[bytes]], object] = methodcaller("write", data)
    else:
        write = content
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is not None and (not stat.S_ISREG(old.st_mode) or _is_open_output(old)):
        with spooled(write) as text, open(path, "ab") as file:
            file.writelines(text)
        return
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    target = os.path.realpath(path)
    draft = os.path.join(os.path.dirname(target), f".rankmeter-{os.urandom(6).hex()}.tmp")
    try:
        with open(draft, "xb") as file:
            if old is not None:
                os.chmod(draft, stat.S_IMODE(old.st_mode))
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException as error:
        with suppress(OSError):  # there may be none
            os.unlink(draft)
        if isinstance(error, OSError) and error.filename == draft:
            # Nobody asked for the draft.
            raise OSError(error.errno, error.strerror, path) from None
        raise


@contextmanager
def spooled(write: Callable[[IO[bytes]], object]) -> Iterator[IO[bytes]]:
    """Let something be written to memory, or to a nameless file if it is long, to be read there."""
    from tempfile import SpooledTemporaryFile  # not every file is written to a pipe

    with SpooledTemporaryFile(_BLOCK) as file:
        write(file)
        file.seek(0)
        yield file


def shown_name(path: str) -> str:
    """How messages name a file."""
    return "<stdin>" if path == STANDARD_INPUT else path


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
