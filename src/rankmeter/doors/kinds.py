"""What may be given: mappings, files and tables, and how they are told apart."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import IO, Any, Literal, Protocol

from rankmeter.arguments import check_word


class ArrowStream(Protocol):
    """A table that speaks Arrow: of pyarrow, polars, pandas, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Duplicates = Literal["error", "first"]
File = str | os.PathLike[str] | IO[bytes]
Qrels = Mapping[Any, Mapping[Any, Any]] | File | ArrowStream
Run = Mapping[Any, Sequence[Hashable] | Mapping[Any, Any]] | File | ArrowStream
Format = str | Mapping[str, str] | None
Names = Mapping[str, str] | Mapping[str, Mapping[str, str]] | None
Errors = Literal["raise", "collect"]


def is_columnar(given: object) -> bool:
    """Whether this is a table or a file, or names one."""
    return (
        isinstance(given, (str, os.PathLike))
        or hasattr(given, "read")
        # A Series of pandas speaks Arrow, too, but is a mapping, not a table.
        or (hasattr(given, "__arrow_c_stream__") and getattr(given, "ndim", 2) == 2)
    )


def check_reading(format: Format, columns: Names, errors: str) -> None:
    """Refuse what is wrong with how files are to be read."""
    if format is not None or columns is not None:
        from rankmeter.doors.opening import check_options

        check_options(format, columns)
    check_word("errors", errors, ("raise", "collect"))
