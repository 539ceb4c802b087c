"""The calls of pytrec-eval-terrier 0.5, with its keys and its values.

In place of ``import pytrec_eval``::

    from rankmeter.compat import pytrec_eval

or, for a library that imports it by itself, before that library is imported::

    sys.modules["pytrec_eval"] = rankmeter.compat.pytrec_eval
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankmeter._core.ids import type_mismatch
from rankmeter.compat.trec_eval_9 import MEASURES, NICKNAMES, read_measures
from rankmeter.scoring.evaluator import Evaluator

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

__version__ = "0.5.11"  # of pytrec-eval-terrier, whose calls these are

supported_measures = set(MEASURES)
"""The names of measures, without parameters."""

supported_nicknames = {name: set(measures) for name, measures in NICKNAMES.items()}
"""Names that stand for several measures; those of preferences are known, but refused."""


class RelevanceEvaluator:
    """Judgments and measures prepared once, for many runs.

    Parameters
    ----------
    query_relevance : mapping
        ``{query: {document: grade}}``. A copy is kept. Queries without judgments are left out.
    measures : iterable of str
        Such as ``{"map", "ndcg_cut.10,100", "P_5", "official"}``. A family without parameters has
        the cut-offs of trec_eval.
    relevance_level : int
        Grades from here on are relevant.
    judged_docs_only_flag : bool
        Whether documents that are not judged are taken out of the rankings first.

    Raises
    ------
    TypeError
        If `query_relevance` is not a mapping of mappings, a grade is not a number, or
        `relevance_level` is not positive.
    ValueError
        For a measure that is unknown or not computed here.

    Examples
    --------
    >>> from rankmeter.compat import pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1, "b": 2}}, {"map", "P_1"})
    >>> evaluator.evaluate({"q": {"x": 0.9, "a": 0.8, "b": 0.7}})
    {'q': {'map': 0.58..., 'P_1': 0.0}}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, Any]],
        measures: Iterable[str],
        relevance_level: float = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if not hasattr(query_relevance, "items"):
            raise TypeError("query_relevance must be a mapping from query to {document: grade}")
        if isinstance(measures, str):
            raise TypeError(f"measures must be a set of names, not the one str {measures!r}")
        if not relevance_level > 0:
            raise TypeError(f"relevance_level must be positive, not {relevance_level!r}")
        # An Evaluator would refuse to have no query.
        judged = {query: grades for query, grades in query_relevance.items() if len(grades)}
        wanted = read_measures(measures, relevance_level, bool(judged_docs_only_flag), judged)
        self._measures = wanted
        self._template = dict.fromkeys(wanted.keys, 0.0)
        self._queries = frozenset(judged)
        self._evaluator = Evaluator(judged, wanted.metrics) if judged and wanted.metrics else None

    def evaluate(self, scores: Mapping[Any, Mapping[Any, Any]]) -> dict[Any, dict[str, float]]:
        """Score one run.

        Parameters
        ----------
        scores : mapping
            ``{query: {document: score}}``, or ``{query: [documents, best first]}``.

        Returns
        -------
        dict
            Query to measure to value, for the queries of `scores` that have judgments.

        Raises
        ------
        TypeError
            If `scores` is not a mapping, a score is not a number, or the ids of queries are
            of other types than in the judgments.
        ValueError
            If a score is NaN.
        """
        if not hasattr(scores, "items"):
            raise TypeError("scores must be a mapping from query to {document: score}")
        run = scores if type(scores) is dict else dict(scores.items())
        if self._evaluator is None:
            return {query: self._template.copy() for query in run if query in self._queries}
        if self._queries.isdisjoint(run):  # which an Evaluator would refuse
            mismatch = type_mismatch(run, self._evaluator.query_ids)
            if mismatch:
                raise TypeError(f"no query in common{mismatch}")
            return {}
        ev = self._evaluator.evaluate(run, missing="skip")
        rows = dict(zip(ev.query_ids, self._measures.rows(ev.values), strict=True))
        keys, template = self._measures.keys, self._template
        found: dict[Any, dict[str, float]] = {}
        for query in run:
            row = rows.get(query)
            if row is not None:
                # A copy has the right size from the start: twice as fast as a dict that grows.
                found[query] = values = template.copy()
                values.update(zip(keys, row, strict=True))
        return found


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Make one value of those of the queries.

    Parameters
    ----------
    measure : str
        A key of the results.
    values : iterable of float

    Returns
    -------
    float
        The sum where the name begins with ``num_``, e to the mean where it begins with ``gm_``,
        else the mean; nan for a mean of nothing.

    Examples
    --------
    >>> from rankmeter.compat.pytrec_eval import compute_aggregated_measure
    >>> compute_aggregated_measure("map", [0.5, 1.0]), compute_aggregated_measure("num_q", [1, 1])
    (0.75, 2.0)
    """
    given = np.array(list(values), dtype=np.float64)
    if measure.startswith("num_"):
        return float(given.sum())
    if not len(given):
        return float("nan")
    mean = given.mean()
    return float(np.exp(mean) if measure.startswith("gm_") else mean)


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a run: query, Q0, document, rank, score, tag.

    Parameters
    ----------
    f_run : iterable of str
        Such as an open file.

    Returns
    -------
    dict
        ``{query: {document: score}}``.

    Raises
    ------
    ValueError
        If a line has not six columns, or a score is not a number.
    AssertionError
        If a query has the same document twice.

    Examples
    --------
    >>> from rankmeter.compat.pytrec_eval import parse_run
    >>> dict(parse_run(["q Q0 a 1 0.9 tag"]))
    {'q': {'a': 0.9}}
    """
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in f_run:
        query, _, document, _, score, _ = line.split()
        _add(run[query], query, document, float(score))
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read the lines of judgments: query, iteration, document, grade.

    Parameters
    ----------
    f_qrel : iterable of str
        Such as an open file.

    Returns
    -------
    dict
        ``{query: {document: grade}}``.

    Raises
    ------
    ValueError
        If a line has not four columns, or a grade is not an integer.
    AssertionError
        If a query has the same document twice.

    Examples
    --------
    >>> from rankmeter.compat.pytrec_eval import parse_qrel
    >>> dict(parse_qrel(["q 0 a 2"]))
    {'q': {'a': 2}}
    """
    qrel: dict[str, dict[str, int]] = defaultdict(dict)
    for line in f_qrel:
        query, _, document, grade = line.split()
        _add(qrel[query], query, document, int(grade))
    return qrel


def _add(documents: dict[str, Any], query: str, document: str, value: float) -> None:
    if document in documents:
        # Raised in every mode of the interpreter: ``python -O`` skips what is asserted.
        raise AssertionError(f"query {query!r} has document {document!r} twice")
    documents[document] = value
