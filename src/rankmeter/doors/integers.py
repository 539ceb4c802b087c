"""Integers as ids: those of tables and JSON match integers of mappings, by their decimal text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any, NamedTuple

from rankmeter._core.ids import add_types, decimal_text, list_of, maps_ids, with_text_keys


class Integers(NamedTuple):
    """Whether ids are integers."""

    queries: bool
    documents: bool

    def among(self, others: Integers) -> Integers:
        """Return which are so on both sides."""
        return Integers(self.queries and others.queries, self.documents and others.documents)

    def either(self, others: Integers) -> Integers:
        """Return which are so on any side."""
        return Integers(self.queries or others.queries, self.documents or others.documents)


NO_INTEGERS = Integers(queries=False, documents=False)


class Kinds(NamedTuple):
    """Where all ids are integers, and where some are, among others."""

    all: Integers
    some: Integers


def kinds_of(items: Iterable[tuple[Any, Any]]) -> Kinds:
    """Go through the ids of a run or of judgments, given as queries and their documents."""
    queries: set[type] = set()
    documents: set[type] = set()
    for query, found in items:
        queries.add(type(query))
        with suppress(TypeError):  # what is not a ranking is refused elsewhere
            known = type(found) in (dict, list) or maps_ids(found, "")
            add_types(found if known else list_of(found, ""), documents)
    numbers = [[issubclass(kind, Integral) for kind in kinds] for kinds in (queries, documents)]
    whole = [bool(kinds) and all(kinds) for kinds in numbers]
    mixed = [any(kinds) and not all(kinds) for kinds in numbers]
    return Kinds(Integers(*whole), Integers(*mixed))


def as_text(run: Mapping[Any, Any], integers: Integers) -> dict[Any, Any]:
    """Write the integers among the ids of a run or of judgments as text.

    Raises
    ------
    ValueError
        If an integer and its decimal text are both there.
    """
    rankings = dict(run.items())
    if integers.documents:
        rankings = {query: _ranking_as_text(ranking) for query, ranking in rankings.items()}
    if integers.queries:
        return with_text_keys(rankings.items(), "query")
    return rankings


def judgments_as_text(
    judged: Iterable[tuple[Any, Sequence[Any], Sequence[float]]], integers: Integers
) -> dict[Any, dict[Any, float]]:
    """Write the integers among the ids of judgments as text.

    Parameters
    ----------
    judged : iterable
        Of each query its id, ids of documents, and grades. There may be more grades, of documents
        that no metric asks for, which get some name.
    integers : Integers
        Where to do so.

    Raises
    ------
    ValueError
        If an integer and its decimal text are both there.
    """
    qrels: dict[Any, Any] = {}
    for query, documents, grades in judged:
        names = [*documents, *(f"\0{i}" for i in range(len(documents), len(grades)))]
        pairs = list(zip(names, grades, strict=True))
        what = f"query {query!r}: judged document"
        qrels[query] = with_text_keys(pairs, what) if integers.documents else dict(pairs)
    return with_text_keys(qrels.items(), "judged query") if integers.queries else qrels


def labels_as_text(facets: Any) -> Any:
    """Write integers as text where they are queries that have a label or a number.

    Raises
    ------
    ValueError
        If an integer and its decimal text are both there.
    """
    if not hasattr(facets, "items"):
        return facets  # refused elsewhere
    items = list(facets.items())
    if any(hasattr(labels, "items") for _, labels in items):
        return {facet: labels_as_text(labels) for facet, labels in items}
    return with_text_keys(items, "query")


def _ranking_as_text(ranking: Any) -> Any:
    try:
        if maps_ids(ranking, ""):
            return with_text_keys(ranking.items(), "document")
        return [decimal_text(id_) for id_ in list_of(ranking, "")]
    except TypeError:
        return ranking  # refused where its query is known
