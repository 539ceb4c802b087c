"""What is wrong with an input: the first mistake, or many of them in one error."""

from __future__ import annotations

MOST = 20  # mistakes that are gathered
_SHOWN_BYTES = 200


class Mistakes:
    """Raises a ValueError for the first mistake, or gathers up to `MOST` of them.

    Parameters
    ----------
    name : str
        Of the input.
    errors : {"raise", "collect"}
    duplicates : {"error", "first"} or None
        What is done with a document that a query of a run holds again. None: it is a mistake, and
        the caller has no choice.

    Attributes
    ----------
    keep_first : bool
        Whether such a document is left out.
    way_out : str
        What to say of one, where the caller has a choice.

    Raises
    ------
    ValueError
        If `errors` is neither.
    """

    def __init__(self, name: str, errors: str, duplicates: str | None = None) -> None:
        self._name = name
        self._collect = errors == "collect"
        self._found: list[str] = []
        self.keep_first = duplicates == "first"
        self.way_out = "" if duplicates is None else "; duplicates='first' keeps the first"

    def add(self, line_number: int, what: str, line: bytes) -> None:
        """Put on record what is wrong with a line."""
        line = line.strip()
        cut = "" if len(line) <= _SHOWN_BYTES else " ..."
        self.say(f"{self._name}:{line_number}: {what}: {shown(line[:_SHOWN_BYTES])!r}{cut}")

    def add_row(self, row: int, what: str) -> None:
        """Put on record what is wrong with a row of a table, counted from 0."""
        self.say(f"{self._name}: row {row}: {what}")

    def say(self, message: str) -> None:
        """Put on record what is wrong, in words."""
        if not self._collect:
            raise ValueError(message)
        self._found.append(message)
        if len(self._found) == MOST:
            self._found.append(f"{self._name}: the rest is not looked at")
            self.check()

    def check(self) -> None:
        """Raise an error that holds all that was gathered, if anything was."""
        if self._found:
            raise ValueError("\n".join(self._found))


def shown(raw: bytes) -> str:
    """Decode for a message."""
    return raw.decode("utf-8", "backslashreplace")


def count(n: int, noun: str) -> str:
    """Count in words."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
