"""Evaluations as plain containers, for JSON and for tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def sample(queries: Sequence[Any]) -> str:
    """Return how many queries there are, and the first ones."""
    shown = ", ".join(map(repr, queries[:3])) + (", ..." if len(queries) > 3 else "")
    return f"{len(queries)} quer{'y' if len(queries) == 1 else 'ies'} ({shown})"


def plain(query: Any) -> Any:
    """Return an id as an object of Python."""
    return query.item() if isinstance(query, np.generic) else query


def keyed(content: Mapping[Any, Any], where: str = "JSON") -> dict[str, Any]:
    """Give the keys the form that JSON asks for."""
    keyed: dict[str, Any] = {}
    for label, value in content.items():
        key = "null" if label is None else str(plain(label))
        if key in keyed:
            raise ValueError(f"two ids or labels are both written as {key!r} in {where}")
        keyed[key] = value
    return keyed


def result_id(query: Any) -> str | int | float:
    """Return an id as ranx and others can hold it."""
    query = plain(query)
    return query if isinstance(query, (str, int, float)) else str(query)


def no_column(what: str, why: Exception) -> ValueError:
    """Return what is raised where queries fit no column of a table."""
    first_line = str(why).partition("\n")[0]
    return ValueError(f"{what} no column of such a table ({first_line}); to_dict() takes any id")
