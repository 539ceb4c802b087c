"""The bytes of a file, whatever it is compressed with.

A file is named by its path; ``-`` is standard input. What is wrong with a file raises a ValueError
that says ``file:line: what is wrong``.
"""

from __future__ import annotations

import codecs
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader, BytesIO, FileIO
from typing import Any

from rankmeter.doors.compression import BLOCK, BUFFER, compression_of, unpack

STANDARD_INPUT = STANDARD_OUTPUT = "-"
_COMPRESSED = 10  # bytes, enough to recognise how a file is compressed
_START = 1 << 20  # bytes, enough to recognise what it holds
_IN_MEMORY = 32 << 20  # bytes of what can be read only once; the rest waits on the disk


class Source:
    """The bytes of a file, without the compression, to be read as often as needed.

    Parameters
    ----------
    given : str, path or binary file
        ``-`` is standard input. What is not a regular file is read on the spot.

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
            part = file.read(BLOCK)
        except UnicodeDecodeError:  # it is not text, either
            part = ""
        if isinstance(part, str):
            raise TypeError(f"{self.name} is open as text: open it as binary, with mode 'rb'")
        return part

    def __del__(self) -> None:
        if self._copy is not None:  # a file of its own, which nobody else closes
            self._copy.close()

    def start(self) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            start: bytes = file.read(_START)
        return start

    def read(self) -> bytes:
        """Return everything."""
        with self.open() as file:
            data: bytes = file.read()
        return data

    def seekable(self) -> Any:
        """Return its path, or a file in memory, for a library that does not read from the start."""
        with self._raw() as file:
            compressed = compression_of(file.read(_COMPRESSED))
        return BytesIO(self.read()) if compressed or self._copy is not None else self._path

    @contextmanager
    def open(self) -> Iterator[Any]:
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
            file, errors = unpack(file, kind)
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
            with BufferedReader(_Watched(self._path, self.size, self.progress), BUFFER) as file:
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


def shown_name(path: str) -> str:
    """How messages name a file."""
    return "<stdin>" if path == STANDARD_INPUT else path
