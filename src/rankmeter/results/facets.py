"""Queries rolled up by label: one facet, or several at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankmeter._core.ids import type_mismatch
from rankmeter.arguments import check_mapping

FacetRows = Mapping[Any, Sequence[int]]  # label to the places of its queries


def roll_up(
    facets: Any, queries: Sequence[Any], done: str, parts_of: Callable[[FacetRows], dict[Any, Any]]
) -> dict[Any, Any]:
    """Give the rows of each label to what makes parts of them.

    Parameters
    ----------
    facets : mapping
        ``{query: label}``, or ``{facet: {query: label}}``.
    queries : sequence
        One a row. Those without a label, or with one that is missing, stand under None.
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
        If `facets` is not a mapping, or holds labels and mappings, or a label cannot be hashed.
    ValueError
        If no query has a label of a facet.
    """
    check_mapping("facets", "query to label, or facet to such mappings", facets)
    items = list(facets.items())
    nested = [hasattr(label, "items") and hasattr(label, "keys") for _, label in items]
    if any(nested) and not all(nested):
        raise TypeError("facets hold labels and mappings: use one or the other")
    if any(nested):
        return {
            facet: parts_of(_rows_of(labels, queries, f"facet {facet!r}: ", done))
            for facet, labels in items
        }
    return parts_of(_rows_of(facets, queries, "", done))


def _rows_of(
    given: Mapping[Any, Any], queries: Sequence[Any], facet: str, done: str
) -> dict[Any, list[int]]:
    labels = dict(given.items())
    if not any(query in labels for query in queries):
        hint = type_mismatch(labels, queries)
        if hasattr(given, "index"):
            hint = (
                "; the index of a DataFrame or a Series holds the queries: .set_index('query_id')"
            )
        raise ValueError(f"{facet}no {done} query has a label{hint}")
    rows: dict[Any, list[int]] = {}
    for row, query in enumerate(queries):
        label = labels.get(query)
        try:
            rows.setdefault(None if _is_missing(label) else label, []).append(row)
        except TypeError as error:
            raise TypeError(
                f"{facet}query {query!r}: {label!r:.80} is not a label: {error}"
            ) from None
    return rows


def _is_missing(label: Any) -> bool:
    """Whether a label is NaN, NA or NaT, which do not equal themselves."""
    equal = label == label
    try:
        return not equal
    except TypeError:  # NA is neither
        return True
    except ValueError:  # an array, which is not a label
        return False
