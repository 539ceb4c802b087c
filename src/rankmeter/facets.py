"""Queries rolled up by label: one facet, or several at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankmeter._core.ids import type_mismatch
from rankmeter.options import check_mapping

Rows = Mapping[Any, Sequence[int]]  # label to the places of its queries


def roll_up(
    facets: Any, queries: Sequence[Any], done: str, parts_of: Callable[[Rows], dict[Any, Any]]
) -> dict[Any, Any]:
    """Give the rows of each label to what makes parts of them.

    Parameters
    ----------
    facets : mapping
        ``{query: label}``, or ``{facet: {query: label}}``.
    queries : sequence
        One a row. Those without a label stand under None.
    done : str
        What was done to them, for the message.
    parts_of : callable
        ``{label: rows}``, labels in the order of the queries, to ``{label: part}``.

    Returns
    -------
    dict
        ``{label: part}`` or ``{facet: {label: part}}``.

    Raises
    ------
    TypeError
        If `facets` is no mapping, or holds labels and mappings.
    ValueError
        If no query has a label of a facet.
    """
    check_mapping("facets", "query to label, or facet to such mappings", facets)
    items = dict(facets.items())
    nested = [isinstance(label, Mapping) for label in items.values()]
    if any(nested) and not all(nested):
        raise TypeError("facets hold labels and mappings: use one or the other")
    if any(nested):
        return {
            facet: parts_of(_rows_of(labels, queries, f"facet {facet!r}: ", done))
            for facet, labels in items.items()
        }
    return parts_of(_rows_of(items, queries, "", done))


def _rows_of(
    labels: Mapping[Any, Any], queries: Sequence[Any], facet: str, done: str
) -> dict[Any, list[int]]:
    if not any(query in labels for query in queries):
        mismatch = type_mismatch(labels, queries)
        raise ValueError(f"{facet}no {done} query has a label{mismatch}")
    rows: dict[Any, list[int]] = {}
    for row, query in enumerate(queries):
        rows.setdefault(labels.get(query), []).append(row)
    return rows
