"""How something is read, and how it is scored: one value instead of a row of arguments."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from rankmeter.arguments import check_word
from rankmeter.doors.kinds import Duplicates, Errors, Format, Names, check_reading
from rankmeter.doors.threads import count_usable

Ties = Literal["docid", "input", "expected"]
Missing = Literal["zero", "skip", "error"]


class Reading(NamedTuple):
    """How files and tables are read, in the words of `rankmeter.evaluate`."""

    format: Format = None
    columns: Names = None
    errors: Errors = "raise"

    @classmethod
    def check(cls, format: Any, columns: Any, errors: Any) -> Reading:
        """Refuse what is wrong with it, whether there is something to read or not.

        Raises
        ------
        TypeError, ValueError
        """
        check_reading(format, columns, errors)
        return cls(format, columns, errors)


class How(NamedTuple):
    """How a run is scored, in the words of `rankmeter.evaluate`."""

    ties: Ties = "docid"
    duplicates: Duplicates = "error"
    missing: Missing = "zero"
    threads: int = 1
    reading: Reading = Reading()

    @classmethod
    def check(cls, ties: Any, duplicates: Any, missing: Any, threads: Any, reading: Reading) -> How:
        """Refuse other words; the core refuses other ties.

        Raises
        ------
        TypeError, ValueError
        """
        check_word("missing", missing, ("zero", "skip", "error"))
        check_word("duplicates", duplicates, ("error", "first"))
        return cls(ties, duplicates, missing, count_usable(threads), reading)
