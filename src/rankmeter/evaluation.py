"""Many queries: judgments and a run in, values with names out."""

from __future__ import annotations

import math
import os
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, Never, Protocol, cast

import numpy as np
import numpy.typing as npt

from rankmeter._core.columns import Columns, Rows
from rankmeter._core.ids import decimal_text, type_mismatch, with_text_keys
from rankmeter._core.mappings import Judgments
from rankmeter._core.rounded import exact_means, exact_sums, geometric_means
from rankmeter.arguments import check_mapping
from rankmeter.doors.integers import (
    NO_INTEGERS,
    Integers,
    Kinds,
    judgments_as_text,
    kinds_of,
    labels_as_text,
)
from rankmeter.facets import roll_up
from rankmeter.naming.metric import Metric, is_geometric
from rankmeter.naming.parsing import Wanted, column_of, compile_metrics
from rankmeter.naming.rows import LEAST
from rankmeter.threads import pool, usable
from rankmeter.writers.tables import render

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class ArrowStream(Protocol):
    """A table that speaks Arrow: of pyarrow, polars, pandas, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Ties = Literal["docid", "input", "expected"]
Missing = Literal["zero", "skip", "error"]
Duplicates = Literal["error", "first"]
Array = npt.NDArray[Any]
File = str | os.PathLike[str] | IO[bytes]
Qrels = Mapping[Any, Mapping[Any, Any]] | File | ArrowStream
Run = Mapping[Any, Sequence[Hashable] | Mapping[Any, Any]] | File | ArrowStream
Format = str | Mapping[str, str] | None
Names = Mapping[str, str] | Mapping[str, Mapping[str, str]] | None
Errors = Literal["raise", "collect"]


_FOUND = 2  # of the marks of a query: a relevant document was found


class Coverage(NamedTuple):
    """How many queries stand behind the numbers.

    Attributes
    ----------
    judged : int
        Queries in the qrels.
    evaluated : int
        Of these, found in the run.
    missing : int
        Of these, not found in the run.
    unjudged : int
        Queries of the run that are not in the qrels; not scored.
    no_relevant : int
        Judged queries without a document of grade 1 or higher.
    unmatched : int
        The evaluated queries, if for none of them a document of grade 1 or higher was found in the
        run, as deep as the metrics look, though there are some: then the ids may not be the same
        ones. Otherwise 0.
    """

    judged: int
    evaluated: int
    missing: int
    unjudged: int
    no_relevant: int
    unmatched: int = 0


class Evaluation:
    """The values of some metrics for some queries.

    Made by `evaluate`, `Evaluator.evaluate` and `by`; it knows nothing of where they came from.

    Attributes
    ----------
    query_ids : tuple
        The queries, in the order of the qrels.
    metrics : tuple of str
        The metrics, spelled as asked for.
    values : numpy.ndarray
        float64, queries x metrics, read-only.
    coverage : Coverage
        What was and was not scored.
    ties : int
        Queries whose values depend on the order of equal scores.
    bounds : Bounds
        What that order can make of the values.
    lost : tuple or None
        Where `Coverage.unmatched` is not 0: a query, one of its relevant documents, and one that
        the run has for it.

    Notes
    -----
    Can be pickled, and put together again with others by `concat`.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> ev = rm.evaluate(qrels, {"q1": ["a"], "q2": ["x", "b"]}, ["mrr", "recall@1"])
    >>> ev["mrr"]
    0.75
    >>> ev.per_query["q2"]
    {'mrr': 0.5, 'recall@1': 0.0}
    >>> ev
    metric    mean
    mrr       0.7500
    recall@1  0.5000
    2 queries
    """

    metrics: tuple[str, ...]
    values: npt.NDArray[np.float64]
    coverage: Coverage

    def __init__(
        self,
        query_ids: Sequence[Any],
        metrics: Mapping[str, Metric],
        values: npt.NDArray[np.float64],
        coverage: Coverage,
        *,
        lowest: npt.NDArray[np.float64],
        highest: npt.NDArray[np.float64],
        retrieved: npt.NDArray[np.bool_],
        answerable: npt.NDArray[np.bool_],
        lost: tuple[Any, Any, Any] | None = None,
        found: bool = True,
        numbered: bool = False,
        integers: bool = False,
    ) -> None:
        self.lost = lost
        self._found = found  # a relevant document, for some query
        self._query_ids = query_ids
        self._numbered = numbered  # the ids are places of rows, and nobody's names
        self._integers = integers  # the ids are text, and were integers of a table or of JSON
        self.metrics = tuple(metrics)
        self._metrics = metrics
        self.values = values
        self.coverage = coverage
        self._lowest = lowest
        self._highest = highest
        self._retrieved = retrieved
        self._answerable = answerable
        self._protect()

    def _protect(self) -> None:
        for array in (self.values, self._lowest, self._highest):
            array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._protect()  # a pickle does not hold the flag

    @property
    def query_ids(self) -> tuple[Any, ...]:
        """The queries, in the order of the qrels or of the rows."""
        if not isinstance(self._query_ids, tuple):  # numbered rows may never be asked for
            self._query_ids = tuple(self._query_ids)
        return self._query_ids

    @property
    def ties(self) -> int:
        """How many queries have equal scores whose order changes the value of a metric."""
        return int((self._lowest != self._highest).any(axis=1).sum())

    @property
    def bounds(self) -> Bounds:
        """The lowest and the highest values that an order of equal scores can give.

        They are nan for the metrics g and infap where a query has equal scores: these may fall when
        a better document moves up, and no order is known to be the best.

        Examples
        --------
        >>> import rankmeter as rm
        >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.5}}
        >>> ev = rm.evaluate(qrels, run, "mrr", ties="expected")
        >>> ev.bounds.lowest["mrr"], ev["mrr"], ev.bounds.highest["mrr"]
        (0.3333333333333333, 0.6111111111111112, 1.0)
        >>> ev.ties
        1
        """
        return Bounds(self._with(self._lowest), self._with(self._highest))

    def _with(self, values: npt.NDArray[np.float64]) -> Evaluation:
        return Evaluation(
            self._query_ids,
            self._metrics,
            values,
            self.coverage,
            lowest=values,
            highest=values,
            retrieved=self._retrieved,
            answerable=self._answerable,
            numbered=self._numbered,
            integers=self._integers,
        )

    @property
    def mean(self) -> dict[str, float]:
        """Mean over the queries of each metric: exactly rounded sum / number of queries.

        That of gm_map and gm_bpref is geometric: e^(mean of log(value)), where values below 0.00001
        count as that.
        """
        means = dict(zip(self.metrics, exact_means(self.values), strict=True))
        geometric = [i for i, metric in enumerate(self._metrics.values()) if is_geometric(metric)]
        if geometric:
            columns = geometric_means(self.values[:, geometric], LEAST)
            means |= {self.metrics[i]: value for i, value in zip(geometric, columns, strict=True)}
        return means

    @property
    def sum(self) -> dict[str, float]:
        """Exactly rounded sum over the queries of each metric."""
        return dict(zip(self.metrics, exact_sums(self.values), strict=True))

    @property
    def min(self) -> dict[str, float]:
        """Lowest value of each metric."""
        return self._of_columns(self.values.min(axis=0))

    @property
    def max(self) -> dict[str, float]:
        """Highest value of each metric."""
        return self._of_columns(self.values.max(axis=0))

    @property
    def median(self) -> dict[str, float]:
        """Median of each metric; with an even number of queries, the mean of the middle two."""
        return self._of_columns(np.median(self.values, axis=0))

    @property
    def std(self) -> dict[str, float]:
        """Standard deviation of each metric over the queries, as of a sample; nan for one query."""
        if len(self) == 1:
            return dict.fromkeys(self.metrics, math.nan)
        return self._of_columns(self.values.std(axis=0, ddof=1))

    def _of_columns(self, values: npt.NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(self.metrics, values.tolist(), strict=True))

    @property
    def per_query(self) -> dict[Any, dict[str, float]]:
        """Query id to metric to value, the caller's own: keep it, as each access makes all anew."""
        rows = self.values.tolist()
        return {
            query: dict(zip(self.metrics, row, strict=True))
            for query, row in zip(self.query_ids, rows, strict=True)
        }

    def __len__(self) -> int:
        return len(self.values)

    # Neither queries nor metrics would be the obvious thing to go through.
    __iter__ = None

    def __contains__(self, metric: Wanted) -> bool:
        """Tell whether a metric was evaluated, in whatever spelling."""
        try:
            self._column(metric)
        except KeyError:
            return False
        return True

    def __getitem__(self, metric: Wanted) -> float:
        """Return the mean of one metric, in whatever spelling.

        Raises
        ------
        KeyError
            If it was not evaluated.
        TypeError
            If it is no name, `Metric` or measure.
        """
        column = self._column(metric)
        values = self.values[:, column : column + 1]
        if is_geometric(self._metrics[self.metrics[column]]):
            return geometric_means(values, LEAST)[0]
        return exact_means(values)[0]

    def _column(self, metric: Wanted) -> int:
        return column_of(self._metrics, metric, "was not evaluated")

    def by(self, facets: Mapping[Any, Any]) -> dict[Any, Any]:
        """Roll the queries up by label.

        Parameters
        ----------
        facets : mapping
            ``{query: label}``, or ``{facet: {query: label}}`` for several facets at once; also a
            Series or a DataFrame of pandas, whose index holds the queries.

        Returns
        -------
        dict
            ``{label: Evaluation}`` or ``{facet: {label: Evaluation}}``, labels in the order of the
            queries. Queries without a label stand under None, as do those whose label is NaN, NA
            or NaT. A part keeps the ids of its queries, also where they are numbers of rows, which
            `concat` then takes for names. In the coverage of a part, skipped queries and queries
            of the run that are not judged are not counted: they have no row.

        Raises
        ------
        TypeError
            If `facets` is no mapping, or holds labels and mappings, or a label cannot be hashed.
        ValueError
            If no evaluated query has a label.

        Notes
        -----
        Where the judgments are a table or JSON whose queries are integers, these are text here, and
        may be integers or text in `facets`.

        Examples
        --------
        >>> import rankmeter as rm
        >>> ev = rm.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": []}, "mrr")
        >>> {label: part["mrr"] for label, part in ev.by({"q1": "how", "q2": "why"}).items()}
        {'how': 1.0, 'why': 0.0}
        """
        return roll_up(
            labels_as_text(facets) if self._integers else facets,
            self.query_ids,
            "evaluated",
            lambda labels: {label: self._part(rows) for label, rows in labels.items()},
        )

    def _part(self, rows: Sequence[int]) -> Evaluation:
        retrieved, answerable = self._retrieved[rows], self._answerable[rows]
        found = int(retrieved.sum())
        coverage = Coverage(
            judged=len(rows),
            evaluated=found,
            missing=len(rows) - found,
            unjudged=0,
            no_relevant=len(rows) - int(answerable.sum()),
        )
        queries = [self.query_ids[row] for row in rows]
        return Evaluation(
            queries,
            self._metrics,
            self.values[rows],
            coverage,
            lowest=self._lowest[rows],
            highest=self._highest[rows],
            retrieved=retrieved,
            answerable=answerable,
            integers=self._integers,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return metrics, mean, per_query, coverage and ties as plain containers."""
        return {
            "metrics": list(self.metrics),
            "mean": self.mean,
            "per_query": self.per_query,
            "coverage": self.coverage._asdict(),
            "ties": self.ties,
        }

    def to_json(
        self,
        *,
        shape: Literal["evaluation", "results"] = "evaluation",
        k: int = 10,
        facets: Mapping[Any, Any] | None = None,
        indent: int | None = None,
    ) -> str:
        """Write everything as JSON, numbers with all their digits.

        Parameters
        ----------
        shape : {"evaluation", "results"}
            ``"evaluation"``: as `to_dict`. ``"results"``: one object a query,
            ``{"resultId", "retrievalMetrics": {"recallAtK", "precisionAtK", "ndcgAt10", "mrr",
            "hitAtK"}}``, under ``results``, and the roll-up of the run under ``run``.
        k : int
            With ``"results"``: the cut-off of recall, precision and hit, which must have been
            evaluated, as must ndcg@10 and mrr.
        facets : mapping, optional
            As for `by`; adds the roll-up of each label under ``facets``.
        indent : int, optional
            As for `json.dumps`.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If a metric that the shape needs was not evaluated, `shape` is unknown, or two ids or
            labels become the same text, as 1 and "1" do.
        """
        from json import dumps

        parts = {} if facets is None else self.by(facets)
        if facets is not None and not isinstance(next(iter(parts.values())), dict):
            parts = {"facet": parts}
        content: dict[str, Any]
        if shape == "evaluation":
            content = self.to_dict()
            content["per_query"] = _keyed(content["per_query"])

            def roll_up(part: Evaluation) -> dict[str, Any]:
                return {"queries": len(part), "mean": part.mean}

        elif shape == "results":
            columns = self._results_columns(k)
            content = {
                "results": [
                    {
                        "resultId": _result_id(query),
                        "retrievalMetrics": {name: row[i] for name, i in columns.items()},
                    }
                    for query, row in zip(self.query_ids, self.values.tolist(), strict=True)
                ],
            }

            def roll_up(part: Evaluation) -> dict[str, Any]:
                means = list(part.mean.values())
                return {
                    "queries": len(part),
                    "retrievalMetrics": {name: means[i] for name, i in columns.items()},
                }

            content["run"] = roll_up(self)
        else:
            raise ValueError(f"shape must be 'evaluation' or 'results', not {shape!r}")
        if parts:
            content["facets"] = _keyed(
                {
                    facet: _keyed({label: roll_up(part) for label, part in labels.items()})
                    for facet, labels in parts.items()
                }
            )
        return dumps(content, indent=indent, allow_nan=False)

    def _results_columns(self, k: int) -> dict[str, int]:
        needed = {
            "recallAtK": f"recall@{k}",
            "precisionAtK": f"precision@{k}",
            "ndcgAt10": "ndcg@10",
            "mrr": "mrr",
            "hitAtK": f"hit@{k}",
        }
        try:
            return {name: self._column(metric) for name, metric in needed.items()}
        except KeyError as error:
            raise ValueError(
                f"{error.args[0]}; shape='results' at k={k} needs {list(needed.values())}"
            ) from None

    def _columns(self) -> dict[str, Any]:
        queries = [_plain(query) for query in self.query_ids]
        if len({type(query) for query in queries}) > 1:
            queries = list(_keyed(dict.fromkeys(queries), "a table"))
        return {"query_id": queries} | dict(zip(self.metrics, self.values.T.copy(), strict=True))

    def _table(self, make: Callable[[dict[str, Any]], Any]) -> Any:
        columns = self._columns()
        try:
            return make(columns)
        except Exception as error:  # every library has its own
            for query in columns["query_id"]:
                try:
                    make({"query_id": [query]})
                except Exception as why:
                    raise _no_column(f"query {query!r} fits", why) from error
            raise _no_column("the queries together fit", error) from error

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow.Table: column ``query_id``, then one a metric. Needs pyarrow."""
        table: pyarrow.Table = self._table(_extra("pyarrow", "arrow").table)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas.DataFrame: column ``query_id``, then one a metric. Needs pandas."""
        table: pandas.DataFrame = self._table(_extra("pandas", "pandas").DataFrame)
        return table

    def to_polars(self) -> polars.DataFrame:
        """Return a polars.DataFrame: column ``query_id``, then one a metric. Needs polars."""
        table: polars.DataFrame = self._table(_extra("polars", "polars").DataFrame)
        return table

    def _summary(self) -> str:
        count = len(self)
        parts = [f"{count} quer{'y' if count == 1 else 'ies'}"]
        c = self.coverage
        if c.missing:
            skipped = "skipped" if c.judged > count else "taken as empty"
            parts.append(f"{c.missing} missing from the run ({skipped})")
        if c.unjudged:
            parts.append(f"{c.unjudged} in the run without judgments (not scored)")
        if c.no_relevant:
            parts.append(f"{c.no_relevant} without a relevant document")
        if self.ties:
            parts.append(f"{self.ties} with ties that can change a value")
        if self.lost is not None:
            parts.append(lost_text(*self.lost))
        return ", ".join(parts)

    def _rows(self) -> list[list[str]]:
        return [[name, f"{value:.4f}"] for name, value in self.mean.items()]

    def __repr__(self) -> str:
        table = render(["metric", "mean"], self._rows(), "text", left=2)
        return f"{table}\n{self._summary()}"

    def _repr_html_(self) -> str:
        from html import escape  # its table of entities is large

        table = render(["metric", "mean"], self._rows(), "html")
        return f"{table}<p>{escape(self._summary())}</p>"


class Bounds(NamedTuple):
    """What the order of equal scores can make of an evaluation.

    Attributes
    ----------
    lowest, highest : Evaluation
        Of each query and metric, the lowest and the highest value over all orders of documents with
        equal scores, where every metric may choose an order of its own.
    """

    lowest: Evaluation
    highest: Evaluation


def concat(evaluations: Iterable[Evaluation]) -> Evaluation:
    """Put evaluations of different queries together, as one evaluation of all of them.

    Parameters
    ----------
    evaluations : iterable of Evaluation
        Of the same metrics, such as the parts that several processes scored, or the batches of a
        training loop. At least one.

    Returns
    -------
    Evaluation
        Values and means to the last bit those of one evaluation of all queries: the mean is a
        rounded exact sum, so it does not depend on where it was cut. The coverages are added: a
        run that is not cut like the qrels has unjudged queries in every part. Where queries are
        rows of arrays that nobody named, they are numbered on, from one evaluation to the next.
        Where the queries of one were integers of a table or of JSON, those of others become text.

    Raises
    ------
    TypeError
        If one is no `Evaluation`.
    ValueError
        If there is none, their metrics differ, a query is in two of them, or there as an integer
        and as text, or the queries of some are numbered and those of others named.

    Examples
    --------
    >>> import rankmeter as rm
    >>> batches = [([[0.9, 0.1]], [[1, 0]]), ([[0.2, 0.8], [0.3, 0.4]], [[1, 0], [1, 0]])]
    >>> ev = rm.concat(rm.evaluate_scores(*batch, "mrr") for batch in batches)
    >>> ev.query_ids, ev["mrr"]
    ((0, 1, 2), 0.6666666666666666)
    >>> one = rm.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, "mrr")
    >>> two = rm.evaluate({"q2": {"a": 1}}, {"q2": ["x", "a"]}, "mrr")
    >>> rm.concat([one, two])["mrr"]
    0.75
    """
    if isinstance(evaluations, Evaluation):
        raise TypeError("concat takes several evaluations, such as a list of them, not one alone")
    parts = list(evaluations)
    if not parts:
        raise ValueError("there is no evaluation to concatenate")
    for part in parts:
        if not isinstance(part, Evaluation):
            raise TypeError(f"concat takes evaluations, not {type(part).__name__}")
        if list(part._metrics.values()) != list(parts[0]._metrics.values()):
            raise ValueError(
                f"the metrics differ: {', '.join(parts[0].metrics)}; {', '.join(part.metrics)}"
            )
    numbered = parts[0]._numbered
    if any(part._numbered != numbered for part in parts):
        raise ValueError(
            "the queries of some evaluations are named, those of others only numbered: name them "
            "all by query_ids=, or none"
        )
    coverage = Coverage(*np.sum([part.coverage for part in parts], axis=0).tolist())
    found = any(part._found for part in parts)
    lost = None if found else next((part.lost for part in parts if part.lost is not None), None)
    coverage = coverage._replace(unmatched=0 if lost is None else coverage.evaluated)
    integers = any(part._integers for part in parts)
    queries = range(sum(map(len, parts))) if numbered else _queries_of_all(parts, integers)
    return Evaluation(
        queries,
        parts[0]._metrics,
        np.concatenate([part.values for part in parts]),
        coverage,
        lowest=np.concatenate([part._lowest for part in parts]),
        highest=np.concatenate([part._highest for part in parts]),
        retrieved=np.concatenate([part._retrieved for part in parts]),
        answerable=np.concatenate([part._answerable for part in parts]),
        lost=lost,
        found=found,
        numbered=numbered,
        integers=integers,
    )


def _queries_of_all(parts: Sequence[Evaluation], integers: bool) -> Sequence[Any]:
    queries = [query for part in parts for query in part.query_ids]
    names = list(map(decimal_text, queries))
    if integers:
        queries = names
    if len(set(queries)) < len(queries):
        twice = next(query for query, count in Counter(queries).items() if count > 1)
        hint = "; where ids are numbers of rows, use concat first, then by" * isinstance(twice, int)
        raise ValueError(f"query {twice!r} is in two evaluations{hint}")
    if len(set(names)) < len(names):
        alike = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(
            f"query {alike} is there as an integer and as text, and would count twice if it is the "
            "same: ids of files are text, which str(id) makes of others"
        )
    return queries


class Evaluator:
    """Judgments and metrics prepared once, for many runs.

    Parameters
    ----------
    qrels : mapping, path, binary file or table
        ``{query: {document: grade}}``, grades finite numbers; or a file or table of judgments, see
        `evaluate`. A copy is kept.
    metrics : str, Metric, measure of ir_measures, or sequence of these
        Such as ``["ndcg@10", "recall@100", "mrr"]``; see `parse`.
    format, columns, errors : optional
        As for `evaluate`, for the qrels.

    Attributes
    ----------
    query_ids : tuple
        The queries of the qrels, in their order.
    metrics : tuple of str
        The metrics, spelled as asked for.

    Raises
    ------
    OSError
        If a file cannot be read.
    TypeError
        If `qrels` is no mapping of mappings, or a grade is no number.
    ValueError
        If `qrels` or `metrics` is empty, a metric is unknown, or a grade is not finite or has no
        gain.

    Notes
    -----
    Never changes once made: several threads may call `evaluate` at the same time. It cannot be
    pickled; pass the qrels instead.

    Examples
    --------
    >>> import rankmeter as rm
    >>> scorer = rm.Evaluator({"q": {"a": 1, "b": 2}}, ["mrr", "recall@10"])
    >>> scorer.evaluate({"q": ["x", "a"]})["mrr"]
    0.5
    >>> scorer.evaluate({"q": {"a": 0.9, "x": 0.8}})["mrr"]
    1.0
    """

    query_ids: tuple[Any, ...]
    metrics: tuple[str, ...]

    def __init__(
        self,
        qrels: Qrels,
        metrics: Wanted | Iterable[Wanted],
        *,
        format: Format = None,
        columns: Names = None,
        errors: Errors = "raise",
    ) -> None:
        self._metrics, self._compiled = compile_metrics(metrics)
        self.metrics = tuple(self._metrics)
        self._columns: Columns | None = None
        self._judgments: Judgments | None = None
        self._integers = NO_INTEGERS  # which ids of a file or table match integers, too
        # Judgments of a mapping for runs of files and tables, made when the first one comes. Two
        # threads may both make them, and one is kept.
        self._for_text: dict[Integers, Columns | Judgments] = {}
        self._kinds: Kinds | None = None
        _check_reading(format, columns, errors)
        judged: Columns | Judgments
        if _is_columnar(qrels):
            from rankmeter.doors.opening import read_qrels  # not everybody has files or tables

            judged, self._integers = read_qrels(qrels, self._compiled, format, columns, errors)
        else:
            check_mapping("qrels", "query id to {document id: grade}", qrels)
            judged = Judgments(cast("Mapping[Any, Mapping[Any, Any]]", qrels), self._compiled)
        self._prepare(judged)

    def __reduce__(self) -> Never:
        raise TypeError("an Evaluator cannot be pickled: pass the qrels instead")

    def __copy__(self) -> Evaluator:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Evaluator:
        return self

    def _prepare(self, judged: Columns | Judgments) -> None:
        if isinstance(judged, Columns):
            self._columns = judged
        else:
            self._judgments = judged
        self.query_ids = judged.queries
        if not self.query_ids:
            raise ValueError("qrels hold no query")
        answerable = np.zeros(len(self.query_ids), dtype=np.uint8)
        judged.mark_answerable(answerable)
        self._answerable = answerable.view(np.bool_)

    def _of_text(self, integers: Integers) -> Columns | Judgments:
        """The judgments for runs whose ids are text, also those that were such integers."""
        if self._columns is not None:
            return self._columns
        if integers not in self._for_text:
            from rankmeter.doors.opening import prepared

            self._for_text[integers] = prepared(self._with_text(integers), self._compiled)
        return self._for_text[integers]

    def _with_text(self, integers: Integers) -> dict[Any, dict[Any, float]]:
        """The judgments of a mapping, some integers as text, as far as metrics can feel them."""
        assert self._judgments is not None
        read = self._judgments.judged
        return judgments_as_text(
            ((query, *read(i)) for i, query in enumerate(self.query_ids)), integers
        )

    def _of_mappings(self) -> Judgments:
        """The judgments for runs that are mappings."""
        if self._judgments is None:
            assert self._columns is not None
            self._judgments = Judgments(
                self._columns.mapping(), self._compiled, integers=self._integers.documents
            )
        return self._judgments

    def _wanted_integers(self) -> Kinds:
        """Which ids are integers in the judgments, if these are a mapping."""
        if self._columns is not None:
            return Kinds(NO_INTEGERS, NO_INTEGERS)
        if self._kinds is None:
            read = self._of_mappings().judged
            self._kinds = kinds_of((query, read(i)[0]) for i, query in enumerate(self.query_ids))
        return self._kinds

    def evaluate(
        self,
        run: Run,
        *,
        ties: Ties = "docid",
        missing: Missing = "zero",
        duplicates: Duplicates = "error",
        threads: int = 1,
        format: Format = None,
        columns: Names = None,
        errors: Errors = "raise",
    ) -> Evaluation:
        """Score one run.

        Parameters
        ----------
        run : mapping, path, binary file or table
            ``{query: [ids, best first]}`` or ``{query: {id: score}}``; or a file or table.
        ties, missing, duplicates, threads, format, columns, errors : optional
            As for `evaluate`.

        Returns
        -------
        Evaluation

        Raises
        ------
        ImportError, OSError, TypeError, ValueError
            As for `evaluate`.
        """
        if missing not in ("zero", "skip", "error"):
            raise ValueError(f"missing must be 'zero', 'skip' or 'error', not {missing!r}")
        if duplicates not in ("error", "first"):
            raise ValueError(f"duplicates must be 'error' or 'first', not {duplicates!r}")
        _check_reading(format, columns, errors)
        scored = self._score(run, ties, duplicates, usable(threads), format, columns, errors)
        return self._result(*scored, missing)

    def _score(
        self,
        run: Any,
        ties: str,
        duplicates: str,
        threads: int,
        format: Format = None,
        columns: Names = None,
        errors: str = "raise",
    ) -> tuple[Array, Array, list[Any], list[Any]]:
        """Values, bounds; which queries the run holds; those it holds without judgments; and
        examples of ids that were not found.
        """
        lost: list[Any] = []
        unjudged: list[Any] | None
        filled = np.zeros((3, len(self.query_ids), len(self.metrics)))
        marks = np.zeros(len(self.query_ids), dtype=np.uint8)
        if not _is_columnar(run):
            check_mapping("run", "query id to ranked ids or to {id: score}", run)
            if self._integers.queries:
                run = with_text_keys(run.items(), "query")
            judgments = self._of_mappings()
            unjudged = _score_mappings(judgments, [run], ties, duplicates, filled, marks, lost)
            return filled, marks, unjudged, lost
        from rankmeter.doors.json import Json
        from rankmeter.doors.mistakes import Mistakes
        from rankmeter.doors.opening import mapping_of, open_input
        from rankmeter.doors.text import rows_of

        given = open_input(run, "run", format, columns)
        mistakes = Mistakes(given.name, errors, duplicates)
        kinds = self._wanted_integers()
        judged: Columns | Judgments
        if isinstance(given, Json):
            runs = given.mappings(mistakes, kinds.all)
            judged = self._of_mappings()
            if any(kinds.some):
                judged = Judgments(self._with_text(kinds.some), self._compiled)
            unjudged = _score_mappings(judged, runs, ties, duplicates, filled, marks, lost)
        elif isinstance(judged := self._of_text(given.integers), Judgments):
            found = mapping_of(given.carefully(mistakes))
            unjudged = _score_mappings(judged, [found], ties, duplicates, filled, marks, lost)
        else:
            unjudged = self._score_rows(judged, given.pieces(), ties, threads, filled, marks, lost)
            if unjudged is None:
                filled[:] = marks[:] = 0
                lost.clear()
                rows = rows_of(given.carefully(mistakes))
                unjudged = self._score_rows(judged, iter([rows]), ties, 1, filled, marks, lost)
                assert unjudged is not None
        if given.integers.queries:  # those of the judgments go by their own names
            if kinds.all.queries:
                unjudged = list(map(int, unjudged))
            names = {decimal_text(query): query for query in self.query_ids}
            lost = [(names.get(query, query), *documents) for query, *documents in lost]
        return filled, marks, unjudged, lost

    def _score_rows(
        self,
        judged: Columns,
        pieces: Iterator[Rows | None],
        ties: str,
        threads: int,
        filled: Array,
        marks: Array,
        lost: list[Any],
    ) -> list[str] | None:
        """Score rows; None where the careful reader should look at them.

        Otherwise return their queries that are not judged.
        """
        evaluate = judged.evaluate
        unjudged: list[str] = []
        start = list(islice(pieces, 2))
        if threads == 1 or len(start) < 2:
            for rows in chain(start, pieces):
                if rows is None or not evaluate(rows, ties, filled, marks, unjudged, lost):
                    return None
        else:
            waiting: deque[tuple[Any, Array, list[str]]] = deque()
            usual = True
            for rows in chain(start, pieces):
                usual = rows is not None
                if rows is not None:
                    part = np.zeros_like(marks)  # two pieces may hold the same query
                    strangers: list[str] = []
                    task = pool().submit(evaluate, rows, ties, filled, part, strangers, lost)
                    waiting.append((task, part, strangers))
                    if len(waiting) > threads:
                        usual = _merge(*waiting.popleft(), marks, unjudged)
                if not usual:
                    break
            for piece in waiting:
                usual = _merge(*piece, marks, unjudged) and usual
            if not usual:
                return None
        if len(set(unjudged)) < len(unjudged) or not (unjudged or marks.any()):
            return None
        return unjudged

    def _complete(self, filled: Array, marks: Array) -> None:
        """Score the queries that the run lacks as empty rankings."""
        if not marks.all():
            judged = self._columns if self._columns is not None else self._judgments
            assert judged is not None
            judged.score_missing(filled, marks)

    def _result(
        self,
        filled: Array,
        marks: Array,
        others: Sequence[Any],
        lost: Sequence[tuple[Any, Any, Any]],
        missing: str,
    ) -> Evaluation:
        queries, answerable = self.query_ids, self._answerable
        self._complete(filled, marks)
        values, lowest, highest = filled
        retrieved = marks != 0
        evaluated = int(np.count_nonzero(marks))
        if not evaluated:
            raise ValueError(
                f"no query in common: the qrels have {_sample(queries)}, "
                f"the run has {_sample(others)}" + type_mismatch(others, queries)
            )
        found = bool((marks & _FOUND).any())
        coverage = Coverage(
            judged=len(queries),
            evaluated=evaluated,
            missing=len(queries) - evaluated,
            unjudged=len(others),
            no_relevant=len(queries) - int(answerable.sum()),
            unmatched=0 if found or not lost else evaluated,
        )
        example = None
        if coverage.unmatched:
            example = min(lost, key=lambda one: queries.index(one[0]))
        if coverage.missing and missing == "error":
            absent = [q for q, there in zip(queries, retrieved, strict=True) if not there]
            raise ValueError(f"the run lacks {_sample(absent)} of the qrels")
        if coverage.missing and missing == "skip":
            queries = tuple(q for q, there in zip(queries, retrieved, strict=True) if there)
            values, lowest, highest = values[retrieved], lowest[retrieved], highest[retrieved]
            answerable = answerable[retrieved]
            retrieved = retrieved[retrieved]
        return Evaluation(
            queries,
            self._metrics,
            values,
            coverage,
            lowest=lowest,
            highest=highest,
            retrieved=retrieved,
            answerable=answerable,
            lost=example,
            found=found,
            integers=self._integers.queries,
        )


def evaluate(
    qrels: Qrels,
    run: Run,
    metrics: Wanted | Iterable[Wanted],
    *,
    ties: Ties = "docid",
    missing: Missing = "zero",
    duplicates: Duplicates = "error",
    threads: int = 1,
    format: Format = None,
    columns: Names = None,
    errors: Errors = "raise",
) -> Evaluation:
    """Score a run against judgments.

    Parameters
    ----------
    qrels : mapping, path, binary file or table
        ``{query: {document: grade}}``, or a file or table of judgments, see the notes. Unjudged
        documents have grade 0.
    run : mapping, path, binary file or table
        ``{query: [ids, best first]}`` or ``{query: {id: score}}``, or a file or table. A list is
        read only as deep as the metrics need, and duplicates are looked for in what is read.
        Scores are numbers or anything with ``__float__``; integers of any size order as integers,
        those of tables and JSON too, while text is read as doubles.
    metrics : str, Metric, measure of ir_measures, or sequence of these
        Such as ``["ndcg@10", "recall@100", "mrr"]``; see `parse`.
    ties : {"docid", "input", "expected"}
        The order of documents with equal scores: by id, high to low, as trec_eval does (``str`` by
        their UTF-8 bytes); the order of the input; or none: the mean over all orders, in closed
        form (McSherry and Najork, ECIR 2008). Lists have no ties.
    missing : {"zero", "skip", "error"}
        What to do with queries of the qrels that the run lacks.
    duplicates : {"error", "first"}
        What to do with the same id twice for a query of the run: refuse it, or keep the one that
        stands first (in a list, in the lines of a file, in the rows of a table), whatever its score
        or rank, and close the gap. In judgments it is always refused.
    threads : int
        Among how many threads to split a file or a table, at most as many as there are processors.
        Mappings are read by one. The digits do not depend on it.
    format : str or mapping, optional
        The format of a file, one of trec, beir, msmarco, jsonl, json, parquet and arrow; or
        ``{"qrels": format, "run": format}``. By default the content tells.
    columns : mapping, optional
        What columns of a table, or keys of JSON's rows, are called, such as ``{"query_id": "user",
        "doc_id": "item"}``; or one such mapping for each side, ``{"qrels": {...}, "run": {...}}``.
    errors : {"raise", "collect"}
        What to do with mistakes in a file or a table: raise the first, or tell up to 20 of them in
        one error.

    Returns
    -------
    Evaluation
        One row a query, in the order of the qrels.

    Raises
    ------
    ImportError
        If a file or a table needs a library that is not there; the message says what to install.
    OSError
        If a file cannot be read.
    TypeError
        If an argument, score, grade or id is of the wrong type, or the ids of run and qrels are of
        types that can never match.
    ValueError
        For a NaN score, a grade that is not finite or has no gain, a duplicate, an unknown metric
        or option, an empty list of metrics, no query in common, or what is wrong with a file
        (``file:line: what is wrong``) or with a table (``row``, counted from 0).

    Notes
    -----
    A path is a ``str`` or path-like; ``-`` is standard input. Files may be compressed by gzip,
    bzip2, xz or Zstandard (which needs ``rankmeter[zstd]`` before Python 3.14).

    ======= ====================================== =================================
    format  judgments                              run
    ======= ====================================== =================================
    trec    query, iteration, document, grade      query, Q0, document, rank, score, tag
    beir    query, document, grade, with a header  as json
    msmarco as trec                                query, document, rank
    jsonl   {"query_id", "qrels": {...}}           {"query_id", "scores": {...}} or
                                                   {"query_id", "ranked": [...]}
    json    {query: {document: grade}}             {query: {document: score}} or
                                                   {query: [documents]}
    jsonl,  rows: an object for each, with the     the same
    json    columns of a table as keys; lines of
            them, or one list
    parquet the columns of a table                 the columns of a table
    arrow   the same: Arrow IPC, Feather           the same
    ======= ====================================== =================================

    Columns of text are separated by the blanks of ASCII, and lines that begin with ``#`` and are
    no data are comments. The rank of TREC's format orders nothing, but must be a number, and a line
    must have the same columns if it is split at tabs alone: otherwise an id holds a blank.

    A table is anything with ``__arrow_c_stream__`` (of pyarrow, polars, pandas from 2.2 on,
    DuckDB); it needs ``rankmeter[arrow]``. Its columns are query_id, doc_id and score or rank (the
    lowest is best), or grade or relevance; names such as qid, docno, label, or corpus-id and score
    of BEIR's judgments, are known. Booleans are numbers: 1 and 0.

    Ids of files and tables are compared as bytes, and if the other side is a mapping, as UTF-8.
    Integers of tables and JSON become their decimal text, which also orders equal scores. They
    match the integers of a mapping, which the text of a file never does. The queries of the result
    are those of the judgments, and text if they are integers of a table or of JSON. Rows are read
    fastest when those of each query of the run stand together; otherwise they are put in order
    first.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {"q1": {"a": 3, "b": 1}, "q2": {"c": 2}}
    >>> run = {"q1": {"a": 0.9, "x": 0.8, "b": 0.3}, "q2": {"x": 0.7, "c": 0.1}}
    >>> rm.evaluate(qrels, run, ["ndcg@10", "mrr"]).mean
    {'ndcg@10': 0.8068..., 'mrr': 0.75}
    """
    scorer = Evaluator(qrels, metrics, format=format, columns=columns, errors=errors)
    return scorer.evaluate(
        run,
        ties=ties,
        missing=missing,
        duplicates=duplicates,
        threads=threads,
        format=format,
        columns=columns,
        errors=errors,
    )


def lost_text(query: Any, judged: Any, retrieved: Any) -> str:
    """Say that no relevant document was found in a run, with ids of both sides."""
    return (
        f"no relevant document was found for any query: query {query!r} has {judged!r:.80}, the "
        f"run has {retrieved!r:.80}; are the ids the same ones?"
    )


def _sample(queries: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, queries[:3])) + (", ..." if len(queries) > 3 else "")
    return f"{len(queries)} quer{'y' if len(queries) == 1 else 'ies'} ({shown})"


def _plain(query: Any) -> Any:
    return query.item() if isinstance(query, np.generic) else query


def _no_column(what: str, why: Exception) -> ValueError:
    first_line = str(why).partition("\n")[0]
    return ValueError(f"{what} no column of such a table ({first_line}); to_dict() takes any id")


def _keyed(content: Mapping[Any, Any], where: str = "JSON") -> dict[str, Any]:
    """Give the keys the form that JSON asks for."""
    keyed: dict[str, Any] = {}
    for label, value in content.items():
        key = "null" if label is None else str(_plain(label))
        if key in keyed:
            raise ValueError(f"two ids or labels are both written as {key!r} in {where}")
        keyed[key] = value
    return keyed


def _result_id(query: Any) -> str | int | float:
    query = _plain(query)
    return query if isinstance(query, (str, int, float)) else str(query)


def _score_mappings(
    judgments: Judgments,
    runs: Iterable[Any],
    ties: str,
    duplicates: str,
    filled: Array,
    marks: Array,
    lost: list[Any],
) -> list[Any]:
    """Score mappings that together are one run; return their queries that are not judged."""
    unjudged: list[Any] = []
    found = 0
    for run in runs:
        rankings = run if type(run) is dict else dict(run.items())
        judgments.evaluate(rankings, ties, duplicates, filled, marks, lost)
        before, found = found, int(np.count_nonzero(marks))
        if len(rankings) > found - before:
            judged = set(judgments.queries)
            unjudged += [query for query in list(rankings) if query not in judged]
    return unjudged


def _merge(task: Any, part: Array, strangers: list[str], marks: Array, unjudged: list[str]) -> bool:
    """Wait for a piece; False where the careful reader should look at the rows."""
    usual: bool = task.result() and not (marks & part).any()
    marks |= part
    unjudged += strangers
    return usual


def _is_columnar(given: object) -> bool:
    """Whether this is a table or a file, or names one."""
    return (
        isinstance(given, (str, os.PathLike))
        or hasattr(given, "read")
        # A Series of pandas speaks Arrow, too, but is a mapping, not a table.
        or (hasattr(given, "__arrow_c_stream__") and getattr(given, "ndim", 2) == 2)
    )


def _check_reading(format: Format, columns: Names, errors: str) -> None:
    if format is not None or columns is not None:
        from rankmeter.doors.opening import check_options

        check_options(format, columns)
    if errors not in ("raise", "collect"):
        raise ValueError(f"errors must be 'raise' or 'collect', not {errors!r}")


def _extra(module: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"this needs {module}: pip install 'rankmeter[{extra}]'") from error
