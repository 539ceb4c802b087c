"""A run or judgments as a mapping, whatever they came from."""

from __future__ import annotations

from typing import Any

from rankmeter.evaluation import _check_reading, _is_columnar
from rankmeter.ids import NO_INTEGERS, Integers
from rankmeter.options import check_mapping


def whole_mapping(
    given: Any,
    side: str = "run",
    *,
    name: str | None = None,
    format: Any = None,
    columns: Any = None,
    errors: str = "raise",
    integers: Integers = NO_INTEGERS,
    duplicates: str | None = None,
) -> dict[Any, Any]:
    """Read one side whole.

    Parameters
    ----------
    given : mapping, path, binary file, Source or table
        As for `rankmeter.evaluate`.
    side : {"run", "qrels"}
    name : str, optional
        What it is called in messages, if not run or qrels.
    format, columns, errors : optional
        As for `rankmeter.evaluate`.
    integers : Integers
        Which ids become integers that stand so in a file or a table, and not their decimal text.
    duplicates : {"error", "first"} or None
        What is done with a document that a query of a file or table holds again, as for `Mistakes`.

    Returns
    -------
    dict
        The given one, if it is a dict. Scores of files of ranks are negative ranks.

    Raises
    ------
    ImportError, OSError, TypeError, ValueError
        As for `rankmeter.evaluate`.
    """
    _check_reading(format, columns, errors)
    if not _is_columnar(given):
        what = "ranked ids or to {id: score}" if side == "run" else "{id: grade}"
        check_mapping(name or side, f"query id to {what}", given)
        return given if type(given) is dict else dict(given.items())
    from rankmeter.inputs import mapping_of, open_input
    from rankmeter.json_files import Json
    from rankmeter.mistakes import Mistakes

    opened = open_input(given, side, format, columns)
    mistakes = Mistakes(opened.name, errors, duplicates)
    if not isinstance(opened, Json):
        queries = opened.carefully(mistakes)
        return mapping_of(queries, opened.integers.among(integers))
    content: dict[Any, Any] = {}
    for part in opened.mappings(mistakes, integers):
        content |= part
    return content
