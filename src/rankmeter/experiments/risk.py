"""Risk and coverage: does a system know on which queries it does well."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from rankmeter._core.ids import is_number, maps_ids, type_mismatch, with_text_keys
from rankmeter.doors.integers import kinds_of, labels_as_text
from rankmeter.doors.kinds import Format, Names, Run
from rankmeter.doors.mappings import whole_mapping
from rankmeter.naming.metric import Metric
from rankmeter.results.evaluation import Evaluation
from rankmeter.statistics.means import as_doubles
from rankmeter.writers.tables import render

_SHOWN = 10  # rows of the table
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverage:
    """Risk and coverage of one metric, made by `risk_coverage`.

    Attributes
    ----------
    metric : str
        The metric, as asked for.
    query_ids : tuple
        The queries, most confident first.
    confidence : numpy.ndarray
        Of each of these.
    coverage : numpy.ndarray
        1 / n, 2 / n, ... 1 of n queries: the share that is answered.
    risk : numpy.ndarray
        1 - the mean of the metric over the most confident queries, at each coverage.
    random : numpy.ndarray
        The same for a confidence that says nothing: what is to be expected of a random order,
        the risk at full coverage everywhere.
    oracle : numpy.ndarray
        The same for the best order there is: the metric itself as the confidence.
    aurc, random_aurc, oracle_aurc : float
        The area under each curve: the mean over all coverages (Geifman and El-Yaniv, ICLR 2019).
        The lower, the better.
    excess_aurc : float
        aurc - oracle_aurc.
    """

    __module__ = "rankmeter"

    metric: str
    query_ids: tuple[Any, ...]
    confidence: Array
    coverage: Array
    risk: Array
    random: Array
    oracle: Array
    aurc: float
    random_aurc: float
    oracle_aurc: float
    excess_aurc: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain containers."""
        return {
            "metric": self.metric,
            "aurc": self.aurc,
            "random_aurc": self.random_aurc,
            "oracle_aurc": self.oracle_aurc,
            "excess_aurc": self.excess_aurc,
            "query_ids": list(self.query_ids),
            "confidence": self.confidence.tolist(),
            "coverage": self.coverage.tolist(),
            "risk": self.risk.tolist(),
            "random": self.random.tolist(),
            "oracle": self.oracle.tolist(),
        }

    def _table(self) -> tuple[list[str], list[list[str]]]:
        n = len(self.query_ids)
        steps = min(n, _SHOWN)
        places = [-(-n * i // steps) - 1 for i in range(1, steps + 1)]
        curves = (self.risk, self.random, self.oracle)
        rows = [
            [f"{self.coverage[i]:.0%}", *(f"{curve[i]:.4f}" for curve in curves)] for i in places
        ]
        areas = (self.aurc, self.random_aurc, self.oracle_aurc)
        rows.append(["area", *(f"{area:.4f}" for area in areas)])
        return ["coverage", "risk", "random", "oracle"], rows

    def _summary(self) -> str:
        n = len(self.query_ids)
        return f"risk = 1 - {self.metric}, {n} quer{'y' if n == 1 else 'ies'}, " + (
            f"excess area {self.excess_aurc:.4f}"
        )

    def __repr__(self) -> str:
        return f"{render(*self._table(), 'text')}\n{self._summary()}"

    def _repr_html_(self) -> str:
        from html import escape

        return render(*self._table(), "html") + f"<p>{escape(self._summary())}</p>"


def risk_coverage(
    ev: Evaluation,
    metric: str | Metric,
    confidence: Mapping[Any, float] | None = None,
    run: Run | None = None,
    *,
    format: Format = None,
    columns: Names = None,
) -> RiskCoverage:
    """Say how a metric rises when a system answers only where it is confident.

    Parameters
    ----------
    ev : Evaluation
        Of the system.
    metric : str or Metric
        One that was evaluated, with values from 0 to 1.
    confidence : mapping, optional
        From query to number, the higher the more confident; infinite ones are allowed. Queries
        that were not evaluated are not looked at.
    run : mapping, path, binary file or table, optional
        Without `confidence`: the run with scores whose highest score of each query is the
        confidence. Queries that it lacks, or has no document for, are answered last, as with a
        confidence of minus infinity.
    format, columns : optional
        As for `evaluate`, where the run is a file or a table.

    Returns
    -------
    RiskCoverage

    Raises
    ------
    ImportError, OSError
        As for `evaluate`.
    KeyError
        If the metric was not evaluated.
    TypeError
        If a confidence is not a number, both or neither of `confidence` and `run` are given, or
        their queries are of types that can never match.
    ValueError
        For a confidence that is missing or NaN, values of the metric outside of 0 to 1, a run
        of lists, which have no scores, and what is wrong with a file or table.

    Notes
    -----
    Queries of equal confidence are in no order: their part of the curve is the mean over all
    orders of them, in closed form. So is the random curve. Integers match queries as for
    `Evaluation.by`.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> run = {"q1": {"a": 9.0}, "q2": {"x": 3.0, "b": 2.0}}
    >>> curve = rm.risk_coverage(rm.evaluate(qrels, run, "mrr"), "mrr", run=run)
    >>> curve.risk.tolist(), curve.aurc, curve.excess_aurc
    ([0.0, 0.25], 0.125, 0.0)
    >>> curve
    coverage    risk  random  oracle
    50%       0.0000  0.2500  0.0000
    100%      0.2500  0.2500  0.2500
    area      0.1250  0.2500  0.1250
    risk = 1 - mrr, 2 queries, excess area 0.0000
    """
    if not isinstance(ev, Evaluation):
        raise TypeError(f"ev must be an Evaluation, not {type(ev).__name__}")
    if (confidence is None) == (run is None):
        raise TypeError("give either confidence=, or run= for its highest score of each query")
    values = ev.values[:, ev.column(metric)]
    outside = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if len(outside):
        query, value = ev.query_ids[outside[0]], float(values[outside[0]])
        raise ValueError(f"query {query!r}: {metric} is {value:g}, and only 0 to 1 has a risk")
    if confidence is None:
        integers = kinds_of((query, ()) for query in ev.query_ids).all
        whole = whole_mapping(run, format=format, columns=columns, integers=integers)
        if ev.integer_ids:
            whole = with_text_keys(whole.items(), "query")
        confidence = _top_scores(whole)
        if mismatch := type_mismatch(whole, ev.query_ids):
            raise TypeError(f"evaluation and run have no query in common{mismatch}")
        numbers = [confidence.get(query, -math.inf) for query in ev.query_ids]
    else:
        if ev.integer_ids:
            confidence = labels_as_text(confidence)
        numbers = _confidences(confidence, ev.query_ids)

    n = len(values)
    levels = np.array(as_doubles(numbers))
    order = np.argsort(-levels, kind="stable")
    coverage = np.arange(1, n + 1) / n
    risk = _risks(values[order], levels[order])
    oracle = _risks(np.sort(values)[::-1], np.arange(n, 0, -1.0))
    random = _risks(values, np.zeros(n))
    area, random_area, oracle_area = (
        math.fsum(curve.tolist()) / n for curve in (risk, random, oracle)
    )
    return RiskCoverage(
        str(metric),
        tuple(ev.query_ids[i] for i in order.tolist()),
        _protect(np.array(numbers, np.float64)[order]),
        _protect(coverage),
        _protect(risk),
        _protect(random),
        _protect(oracle),
        area,
        random_area,
        oracle_area,
        area - oracle_area,
    )


def _risks(values: Array, confidence: Array) -> Array:
    """1 - mean of the first 1, 2, ... values, where equal confidence is a block."""
    n = len(values)
    risks = np.empty(n)
    starts = np.flatnonzero(np.concatenate([[True], confidence[1:] != confidence[:-1]]))
    # Sums of what is lost, not of the values: a system without a mistake has exactly no risk.
    before = 0.0
    losses = (1.0 - values).tolist()
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), n], strict=True):
        whole = math.fsum(losses[start:end])
        taken = np.arange(1, end - start + 1)
        lost = before + whole * (taken / (end - start))
        risks[start:end] = lost / np.arange(start + 1, end + 1)
        before = float(lost[-1])
    return risks


def _top_scores(run: Mapping[Any, Any]) -> dict[Any, float]:
    tops = {}
    for query, ranking in run.items():
        if not maps_ids(ranking, f"query {query!r}: "):
            raise ValueError(f"query {query!r}: a list has no scores; give confidence=")
        scores = {document: _read_number(query, score) for document, score in ranking.items()}
        if scores:
            tops[query] = max(scores.values())
    return tops


def _confidences(given: Any, queries: tuple[Any, ...]) -> list[float]:
    if not hasattr(given, "keys") or not hasattr(given, "get"):
        raise TypeError(
            f"confidence must be a mapping from query to number, not {type(given).__name__}"
        )
    missing = [query for query in queries if query not in given]
    if len(missing) == len(queries) and (mismatch := type_mismatch(given.keys(), queries)):
        raise TypeError(f"no query has a confidence{mismatch}")
    if missing:
        noun = "1 query has" if len(missing) == 1 else f"{len(missing)} queries have"
        raise ValueError(f"{noun} no confidence, such as {missing[0]!r}")
    return [_read_number(query, given[query]) for query in queries]


def _read_number(query: Any, value: Any) -> float:
    """Return a double; an integer where that would round it."""
    if not is_number(value):
        raise TypeError(f"query {query!r}: {value!r} is not a number")
    try:
        number = float(value)
    except TypeError:
        raise TypeError(f"query {query!r}: {value!r} is not a number") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"query {query!r}: {value!r} is not a double ({error})") from None
    if math.isnan(number):
        raise ValueError(f"query {query!r}: a confidence or a score is NaN")
    return index(value) if isinstance(value, Integral) and value != number else number


def _protect(array: Array) -> Array:
    array.flags.writeable = False
    return array
