"""What the commands write: tables, notes and errors, whole or not at all."""

from __future__ import annotations

import argparse
import codecs
import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from rankmeter.files import STANDARD_OUTPUT, write_whole
from rankmeter.tables import Style, render

_NO_LABEL = "(none)"

Cell = str | int | float | None


class BadInput(Exception):
    """What the user is told in one line; exit code 1."""


class Sheet(NamedTuple):
    """A table before its cells are text; the first ``keys`` columns name the row."""

    header: list[str]
    keys: int
    rows: list[list[Cell]]


def add_digits(parser: argparse.ArgumentParser) -> None:
    """Add --digits."""
    parser.add_argument(
        "--digits",
        type=_digits,
        metavar="N",
        default=4,
        help="digits after the point in table and markdown (default: 4)",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add --output."""
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write to this file, whole or not at all (default: -, standard output)",
    )


def _digits(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,2}", text) or int(text) > 17:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 17")
    return int(text)


def laid_out(sheet: Sheet, style: Style, digits: int) -> str:
    """Lay out a sheet for reading."""

    def text(cell: Cell, is_key: bool) -> str:
        if cell is None:
            return _NO_LABEL if is_key else "-"
        if isinstance(cell, float):
            return f"{cell:.{digits}f}"
        return printable(str(cell))

    header = [printable(name) for name in sheet.header]
    rows = [[text(cell, i < sheet.keys) for i, cell in enumerate(row)] for row in sheet.rows]
    return render(header, rows, style, left=sheet.keys)


def noted(notes: Sequence[str], style: Style) -> str:
    """Return notes, a line each."""
    lines = [f"note: {printable(note)}" for note in notes]
    if style == "text":
        return "\n".join(lines)
    # A list, so that each note keeps a line of its own.
    return "\n".join("- " + re.sub(r"([\\`*_\[\]<>&|~#])", r"\\\1", line) for line in lines)


def csv_of(sheet: Sheet) -> str:
    """Write a sheet as CSV, with all digits."""
    # repr() gives the digits that read back as the same number.
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(sheet.header)
    for row in sheet.rows:
        writer.writerow(repr(cell) if isinstance(cell, float) else cell for cell in row)
    return buffer.getvalue()


def deliver(report: str, notes: Iterable[str], output: str | None) -> int:
    """Write the report to the file or standard output, and then the notes to standard error."""
    if output is None or output == STANDARD_OUTPUT:
        code = print_out(report)
    else:
        try:
            write_whole(output, report)
        except BrokenPipeError:
            return 0
        except OSError as error:
            raise BadInput(f"{output}: {error.strerror or error}") from error
        code = 0
    for note in notes:
        print(f"rankmeter: note: {printable(note)}", file=sys.stderr)
    return code


def print_out(text: str) -> int:
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
        return fail(f"standard output: {error.strerror or error}")
    return 0


def _abandon_output() -> None:
    # The interpreter would try once more when it ends, and complain.
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def fail(message: str) -> int:
    """Say what is wrong on standard error; the exit code is 1."""
    for line in message.split("\n"):
        print(f"rankmeter: {printable(line)}", file=sys.stderr)
    return 1


def printable(text: str) -> str:
    """Escape what would break the line, change the terminal or have no encoding."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
