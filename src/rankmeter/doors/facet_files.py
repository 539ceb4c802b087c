"""Files of labels: columns separated by tabs, a query and its label in each facet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from rankmeter.doors.mistakes import Mistakes, count
from rankmeter.doors.source import STANDARD_INPUT, Source, shown_name

QUERY_COLUMN = "(query|question|q|topic)[-_]?(id)?"  # what headers call the column of queries
_HEADER = re.compile(
    rf"#?\s*(?!q$)({QUERY_COLUMN}|(query|question|topic)\s+id|_?id)", re.IGNORECASE
)


def read_facets(path: str) -> dict[str, dict[str, str]]:
    """Read labels of queries, one or several for each, from columns separated by tabs.

    If the first line starts with a cell such as ``query_id``, ``qid``, ``query``, ``topic`` or
    ``_id``, in capitals or not, it is a header: the other cells of it name the facets, and each
    line below gives a query and its label in each facet. Otherwise each line gives a query and its
    label, and the name of the file up to its first dot names the facet.

    Blanks around a cell are not part of it. An empty cell is not a label. A query has one line at
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
