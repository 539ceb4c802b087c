"""Integers as ids: those of tables and JSON match integers of mappings, by their decimal text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from rankmeter._core.ids import list_of, maps_ids

INTEGER_TYPES = {int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])}


class Integers(NamedTuple):
    """Whether ids are integers."""

    queries: bool
    documents: bool

    def among(self, others: Integers) -> Integers:
        """Return which are so on both sides."""
        return Integers(self.queries and others.queries, self.documents and others.documents)


NO_INTEGERS = Integers(queries=False, documents=False)


def integers_of(items: Iterable[tuple[Any, Any]]) -> Integers:
    """Tell by the first query and the first document of a run or of judgments what the ids are."""
    queries = None
    for query, documents in items:
        if queries is None:
            queries = type(query) in INTEGER_TYPES
        with suppress(TypeError):  # what is no ranking is refused elsewhere
            for document in documents if maps_ids(documents, "") else list_of(documents, ""):
                return Integers(queries, type(document) in INTEGER_TYPES)
    return Integers(bool(queries), documents=False)


def as_text(run: Mapping[Any, Any], integers: Integers) -> dict[Any, Any]:
    """Write the integers among the ids of a run as text, unless that makes two of them the same."""
    rankings = dict(run.items())
    if integers.documents:
        rankings = {query: _ranking_as_text(ranking) for query, ranking in rankings.items()}
    if integers.queries:
        return _keys_as_text(rankings)
    return rankings


def text_of(id_: Any) -> Any:
    """Write an integer as decimal text; return what is none."""
    return str(id_) if type(id_) in INTEGER_TYPES else id_


def _ranking_as_text(ranking: Any) -> Any:
    try:
        if maps_ids(ranking, ""):
            return _keys_as_text(dict(ranking.items()))
        return [text_of(id_) for id_ in list_of(ranking, "")]
    except TypeError:
        return ranking  # refused where its query is known


def _keys_as_text(content: dict[Any, Any]) -> dict[Any, Any]:
    changed = {text_of(key): value for key, value in content.items()}
    return changed if len(changed) == len(content) else content
