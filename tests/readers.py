"""Files as the careful reader sees them, for comparison with the fast way."""

from __future__ import annotations

from typing import Any

from rankmeter.doors.json import Json
from rankmeter.doors.mistakes import Mistakes
from rankmeter.doors.opening import open_input

Read = dict[str, dict[str, float]]


def read_qrels(given: Any, encoding: str = "utf-8", **options: Any) -> Read:
    return _read(given, "qrels", encoding, **options)


def read_run(given: Any, encoding: str = "utf-8", **options: Any) -> Read:
    return _read(given, "run", encoding, **options)


def _read(
    given: Any,
    side: str,
    encoding: str,
    format: str | None = None,
    columns: Any = None,
    errors: str = "raise",
) -> Read:
    opened = open_input(given, side, format, columns)
    mistakes = Mistakes(opened.name, errors, "error" if side == "run" else None)
    if isinstance(opened, Json):
        return {q: found for part in opened.mappings(mistakes) for q, found in part.items()}
    return {
        query.decode("utf-8", "surrogateescape"): {
            document.decode(encoding, "surrogateescape"): number
            for document, number in documents.items()
        }
        for query, documents in opened.read_carefully(mistakes).items()
    }
