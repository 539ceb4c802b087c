"""Compression (gzip, bzip2, xz, Zstandard), recognised by the first bytes, not by the name."""

from __future__ import annotations

import sys
from importlib import import_module
from io import BufferedReader, RawIOBase
from typing import Any

BLOCK = 1 << 20  # bytes that are read at once
BUFFER = 1 << 17  # bytes of a file that are asked for at once


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


def _join(file: Any, decompressor: Any, magic: bytes) -> BufferedReader:
    return BufferedReader(_Joined(file, decompressor, magic), BLOCK)


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
                    if not (part := self._file.read(BUFFER)):
                        return 0
                    data = part.lstrip(b"\0")
                if len(data) < len(self._magic):
                    data += self._file.read(BUFFER)
                if not data.startswith(self._magic):
                    raise EOFError("there is something behind the end")
                self._current = self._new()
            elif self._current.needs_input:
                data = self._file.read(BUFFER)
                if not data:
                    raise EOFError("it ends before the end-of-stream marker")
            else:
                data = b""
            unpacked = self._current.decompress(data, len(buffer))
            if unpacked:
                buffer[: len(unpacked)] = unpacked
                return len(unpacked)


def unpack(file: Any, kind: str) -> tuple[Any, tuple[type[Exception], ...]]:
    """Return the file to read from, and what it raises where it is damaged."""
    if kind == "gzip":
        import zlib

        return _join(file, _Inflater, b"\x1f\x8b"), (EOFError, zlib.error)
    if kind == "bzip2":
        import bz2

        return _join(file, bz2.BZ2Decompressor, b"BZh"), (EOFError, OSError)
    if kind == "xz":
        import lzma

        return _join(file, lzma.LZMADecompressor, b"\xfd7zXZ\x00"), (EOFError, lzma.LZMAError)
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
