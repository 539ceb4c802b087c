"""Rows of tables and of JSON: what their columns are called, and what may be wrong with a row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rankmeter.doors.mistakes import Mistakes, shown
from rankmeter.doors.text import Grouped

NUMBERS = {"qrels": ("grade", "relevance"), "run": ("score", "rank")}
ROLES = ("query_id", "doc_id", *NUMBERS["qrels"], *NUMBERS["run"])

# What others call them.
_ALIKE = {
    "query_id": re.compile(r"(query|q|topic)[-_]?id", re.IGNORECASE),
    "doc_id": re.compile(r"(doc|document|corpus|passage|d|p)[-_]?(id|no)", re.IGNORECASE),
    "grade": re.compile(r"rel|label", re.IGNORECASE),
}
_OF_BEIR = re.compile(r"corpus[-_]?id", re.IGNORECASE)  # which calls a grade score


class Columns(NamedTuple):
    """The names of three columns, and what the number is."""

    query: str
    document: str
    number: str
    role: str  # grade, score or rank


def choose_columns(name: str, side: str, there: list[str], columns: Mapping[str, str]) -> Columns:
    """Find the columns of a run or of judgments.

    Parameters
    ----------
    name : str
        Of the input.
    side : {"qrels", "run"}
    there : list of str
        What its columns are called.
    columns : mapping
        From the name of a role to the name of its column, where the caller says so.

    Raises
    ------
    ValueError
        A column is not there, or there twice.
    """
    query, document = (_name_columns(role, there, columns) for role in ("query_id", "doc_id"))
    numbers = NUMBERS[side]
    roles = [role for role in numbers if role in columns] or [*numbers]
    if side == "qrels" and roles == [*numbers] and _OF_BEIR.fullmatch(document):
        roles.append("score")
    names = {role: _name_columns(role, there, columns) for role in roles}
    present = [role for role in roles if names[role] in there]
    missing = [column for column in (query, document) if column not in there]
    if not present:
        missing.append(" or ".join(names.values()))
    if missing:
        raise ValueError(
            f"{name}: no column {', no column '.join(missing)}; there are {', '.join(there)}: "
            f"name them with columns={{'query_id': ..., 'doc_id': ..., {numbers[0]!r}: ...}}"
        )
    found = (query, document, names[present[0]])
    for column in found:
        if found.count(column) > 1:
            raise ValueError(f"{name}: column {column} cannot be two columns at once")
        if there.count(column) > 1:
            raise ValueError(f"{name}: two columns are called {column}")
    return Columns(*found, present[0] if side == "run" else "grade")


def _name_columns(role: str, there: list[str], columns: Mapping[str, str]) -> str:
    if role in columns or role in there:
        return columns.get(role, role)
    alike = [name for name in there if role in _ALIKE and _ALIKE[role].fullmatch(name)]
    return alike[0] if len(alike) == 1 else role


def _as_double(number: float) -> float:
    """Return the double that a number is; an integer that is none stays what it is."""
    try:
        double = float(number)
    except OverflowError:
        return number
    return number if type(number) is int and double != number else double


class CheckedRows:
    """Rows that are put together one by one.

    Parameters
    ----------
    columns : Columns
    mistakes : Mistakes
        What to do with a document that stands twice.
    word : str
        What a row is.

    Attributes
    ----------
    queries : dict
        From query to document to number, doubles but for integers that are none; ranks are
        negative.
    """

    def __init__(self, columns: Columns, mistakes: Mistakes, word: str) -> None:
        self.queries: Grouped = {}
        self._columns = columns
        self._mistakes = mistakes
        self._word = word
        self._rows: dict[tuple[bytes, bytes], int] = {}

    def add(self, row: int, query: bytes, document: bytes, number: float) -> str:
        """Add the row of this place, or return what is wrong with it."""
        _, _, noun, role = self._columns
        documents = self.queries.setdefault(query, {})
        number = _as_double(number)
        if role != "score" and type(number) is not float:
            return f"{noun} is not a double"
        if not (-np.inf <= number <= np.inf):
            return f"{noun} is NaN"
        if abs(number) == np.inf and role != "score":
            return f"{noun} is infinite"
        if role == "rank" and not number.is_integer():
            return f"{noun} is {number!r}, not a whole number"
        if document not in documents:
            self._rows[query, document] = row
            documents[document] = -number if role == "rank" else number
        elif not self._mistakes.keep_first:
            first = f"{self._word} {self._rows[query, document]}"
            return (
                f"document {shown(document)!r} of query {shown(query)!r} stands in {first} too"
                f"{self._mistakes.way_out}"
            )
        return ""
