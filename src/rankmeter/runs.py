"""A run as a mapping, whatever it came from."""

from __future__ import annotations

from typing import Any

from rankmeter.evaluation import _check_reading, _is_columnar, _require_mapping


def mapping_of_run(
    given: Any, *, name: str = "run", format: Any = None, columns: Any = None
) -> dict[Any, Any]:
    """Read a run whole.

    Parameters
    ----------
    given : mapping, path, binary file or table
        As for `rankmeter.evaluate`.
    name : str
        What the run is called in messages.
    format, columns : optional
        As for `rankmeter.evaluate`.

    Returns
    -------
    dict
        The given one, if it is a dict. Scores of files of ranks are negative ranks.

    Raises
    ------
    ImportError, OSError, TypeError, ValueError
        As for `rankmeter.evaluate`.
    """
    _check_reading(format, columns, "raise")
    if not _is_columnar(given):
        _require_mapping(name, "query id to ranked ids or to {id: score}", given)
        return given if type(given) is dict else dict(given.items())
    from rankmeter.inputs import mapping_of, open_input
    from rankmeter.json_files import Json
    from rankmeter.mistakes import Mistakes

    opened = open_input(given, "run", format, columns)
    mistakes = Mistakes(opened.name, "raise")
    if not isinstance(opened, Json):
        return dict(mapping_of(opened.carefully(mistakes)))
    run: dict[Any, Any] = {}
    for queries in opened.mappings(mistakes):
        run |= queries
    return run
