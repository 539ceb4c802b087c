"""A run or judgments as a mapping, whatever they came from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from rankmeter.arguments import check_mapping
from rankmeter.doors.how import Reading
from rankmeter.doors.integers import NO_INTEGERS, Integers, Kinds, as_text, kinds_of
from rankmeter.doors.kinds import is_columnar


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
    reading = Reading.check(format, columns, errors)
    return _read(given, side, name or side, reading, integers, duplicates)[0]


def whole_mappings(
    sides: Sequence[tuple[str, Any, str]], *, format: Any = None, columns: Any = None
) -> list[dict[Any, Any]]:
    """Read several sides whole, so that integers and their decimal text are the same in all.

    Where all ids of those that are mappings are integers, so are those of tables; otherwise all
    are text, if there is a table of integers.

    Parameters
    ----------
    sides : sequence
        Of each a name, what is given, and the side, as for `whole_mapping`.
    format, columns : optional
        As for `rankmeter.evaluate`.

    Returns
    -------
    list of dict

    Raises
    ------
    ImportError, OSError, TypeError, ValueError
        As for `rankmeter.evaluate`.
    """
    reading = Reading.check(format, columns, "raise")
    kinds, tables = Kinds(NO_INTEGERS, NO_INTEGERS), NO_INTEGERS
    mappings = [given for _, given, _ in sides if not is_columnar(given)]
    if len(mappings) < len(sides):
        contents = (given.items() for given in mappings if hasattr(given, "items"))
        kinds = kinds_of(chain.from_iterable(contents))
    read = []
    for name, given, side in sides:
        content, integers = _read(given, side, name, reading, kinds.all)
        tables = tables.either(integers)
        read.append(content)
    mixed = kinds.some.among(tables)
    return [as_text(content, mixed) for content in read] if any(mixed) else read


def _read(
    given: Any,
    side: str,
    name: str,
    reading: Reading,
    integers: Integers,
    duplicates: str | None = None,
) -> tuple[dict[Any, Any], Integers]:
    """The mapping, and whether integers stood in a file or table."""
    if not is_columnar(given):
        what = "ranked ids or to {id: score}" if side == "run" else "{id: grade}"
        check_mapping(name, f"query id to {what}", given)
        return given if type(given) is dict else dict(given.items()), NO_INTEGERS
    from rankmeter.doors.json import Json
    from rankmeter.doors.mistakes import Mistakes
    from rankmeter.doors.opening import mapping_of, open_input

    opened = open_input(given, side, reading.format, reading.columns)
    mistakes = Mistakes(opened.name, reading.errors, duplicates)
    if not isinstance(opened, Json):
        queries = opened.read_carefully(mistakes)
        return mapping_of(queries, opened.integers.among(integers)), opened.integers
    content: dict[Any, Any] = {}
    for part in opened.mappings(mistakes, integers):
        content |= part
    return content, Integers(queries=True, documents=True)  # its keys are text, whatever they were
