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

from rankmeter.doors.source import STANDARD_OUTPUT
from rankmeter.writers.atomic import write_whole
from rankmeter.writers.tables import Style, render

_NO_LABEL = "(none)"
# What means something in a cell of Markdown; not the _ within a word, which names are full of, nor
# the brackets of an interval.
_MARK_UP = re.compile(r"[\\`*<>&~]|\](?=[\[(])|(?<!\w)_|_(?!\w)")

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
        type=_parse_digits,
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


def _parse_digits(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,2}", text) or int(text) > 17:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 17")
    return int(text)


def lay_out(sheet: Sheet, style: Style, digits: int) -> str:
    """Lay out a sheet for reading."""

    def text(cell: Cell, is_key: bool) -> str:
        if cell is None:
            return _NO_LABEL if is_key else "-"
        if isinstance(cell, float):
            return f"{cell:.{digits}f}"
        shown = make_printable(str(cell))
        return _MARK_UP.sub(r"\\\g<0>", shown) if style == "markdown" else shown

    header = [text(name, True) for name in sheet.header]
    rows = [[text(cell, i < sheet.keys) for i, cell in enumerate(row)] for row in sheet.rows]
    return render(header, rows, style, left=sheet.keys)


def list_notes(notes: Sequence[str], style: Style) -> str:
    """Return notes, a line each."""
    return list_lines([f"note: {note}" for note in notes], style)


def list_lines(lines: Sequence[str], style: Style) -> str:
    """Return lines that stay lines of their own."""
    lines = [make_printable(line) for line in lines]
    if style == "text":
        return "\n".join(lines)
    if style == "html":
        from html import escape

        return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
    return "\n".join("- " + in_markdown(line) for line in lines)


def in_markdown(text: str) -> str:
    """Escape what Markdown would take for mark-up."""
    return re.sub(r"([\\`*_\[\]<>&|~#])", r"\\\1", text)


_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 1rem; overflow-x: auto }}
table {{ border-collapse: collapse; margin-bottom: 1rem; font-variant-numeric: tabular-nums }}
th, td {{ padding: .2rem .6rem; border-bottom: 1px solid #8888 }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(title: str, parts: Sequence[str]) -> str:
    """Return a page of HTML; the parts are HTML already."""
    from html import escape

    return _PAGE.format(title=escape(make_printable(title)), body="\n".join(parts))


def bound(parts: Sequence[str], style: Style, title: str) -> str:
    """Put the parts of a report together."""
    if style == "html":
        return page(title, parts)
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


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
        complain(f"note: {note}")
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
        complain(line)
    return 1


def complain(line: str) -> None:
    """Say a line on standard error."""
    print(f"rankmeter: {make_printable(line)}", file=sys.stderr)


def make_printable(text: str) -> str:
    """Escape what would break the line, change the terminal or have no encoding."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
