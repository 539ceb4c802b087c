"""What an evaluation holds: values by query and metric, means, and how sure they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rankmeter._core.ids import decimal_text
from rankmeter._core.rounded import exact_means, exact_sums, geometric_means
from rankmeter.arguments import require
from rankmeter.doors.integers import labels_as_text
from rankmeter.naming.metric import Metric, is_geometric
from rankmeter.naming.parsing import Wanted, column_of
from rankmeter.naming.rows import LEAST
from rankmeter.results.coverage import Coverage, lost_text
from rankmeter.results.facets import roll_up
from rankmeter.results.plain import keyed, no_column, plain, result_id
from rankmeter.writers.tables import render

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Array = npt.NDArray[np.float64]


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

    __module__ = "rankmeter"

    metrics: tuple[str, ...]
    values: Array
    coverage: Coverage

    def __init__(
        self,
        query_ids: Sequence[Any],
        metrics: Mapping[str, Metric],
        values: Array,
        coverage: Coverage,
        *,
        lowest: Array,
        highest: Array,
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
        self.integer_ids = integers  # the ids are text, and were integers of a table or of JSON
        self.metrics = tuple(metrics)
        self.named_metrics = dict(metrics)  # a copy: the one that is given may be shared
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

    def _with(self, values: Array) -> Evaluation:
        return Evaluation(
            self._query_ids,
            self.named_metrics,
            values,
            self.coverage,
            lowest=values,
            highest=values,
            retrieved=self._retrieved,
            answerable=self._answerable,
            numbered=self._numbered,
            integers=self.integer_ids,
        )

    @property
    def mean(self) -> dict[str, float]:
        """Mean over the queries of each metric: exactly rounded sum / number of queries.

        That of gm_map and gm_bpref is geometric: e^(mean of log(value)), where values below 0.00001
        count as that.
        """
        means = dict(zip(self.metrics, exact_means(self.values), strict=True))
        geometric = [
            i for i, metric in enumerate(self.named_metrics.values()) if is_geometric(metric)
        ]
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

    def _of_columns(self, values: Array) -> dict[str, float]:
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
            self.column(metric)
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
            If it is not a name, `Metric` or measure.
        """
        column = self.column(metric)
        values = self.values[:, column : column + 1]
        if is_geometric(self.named_metrics[self.metrics[column]]):
            return geometric_means(values, LEAST)[0]
        return exact_means(values)[0]

    def column(self, metric: Wanted) -> int:
        """Return the column of a metric, in whatever spelling; as for ``evaluation[metric]``."""
        return column_of(self.named_metrics, metric, "was not evaluated")

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
            If `facets` is not a mapping, or holds labels and mappings, or a label cannot be hashed.
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
            labels_as_text(facets) if self.integer_ids else facets,
            self.query_ids,
            "evaluated",
            lambda labels: {label: self.part(rows) for label, rows in labels.items()},
        )

    def part(self, rows: Sequence[int]) -> Evaluation:
        """Return the evaluation of some of the queries, given by their rows."""
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
            self.named_metrics,
            self.values[rows],
            coverage,
            lowest=self._lowest[rows],
            highest=self._highest[rows],
            retrieved=retrieved,
            answerable=answerable,
            integers=self.integer_ids,
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
            content["per_query"] = keyed(content["per_query"])

            def roll_up(part: Evaluation) -> dict[str, Any]:
                return {"queries": len(part), "mean": part.mean}

        elif shape == "results":
            columns = self._results_columns(k)
            content = {
                "results": [
                    {
                        "resultId": result_id(query),
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
            content["facets"] = keyed(
                {
                    facet: keyed({label: roll_up(part) for label, part in labels.items()})
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
            return {name: self.column(metric) for name, metric in needed.items()}
        except KeyError as error:
            raise ValueError(
                f"{error.args[0]}; shape='results' at k={k} needs {list(needed.values())}"
            ) from None

    def _columns(self) -> dict[str, Any]:
        queries = [plain(query) for query in self.query_ids]
        if len({type(query) for query in queries}) > 1:
            queries = list(keyed(dict.fromkeys(queries), "a table"))
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
                    raise no_column(f"query {query!r} fits", why) from error
            raise no_column("the queries together fit", error) from error

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow.Table: column ``query_id``, then one a metric. Needs pyarrow."""
        table: pyarrow.Table = self._table(require("pyarrow", "arrow").table)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas.DataFrame: column ``query_id``, then one a metric. Needs pandas."""
        table: pandas.DataFrame = self._table(require("pandas", "pandas").DataFrame)
        return table

    def to_polars(self) -> polars.DataFrame:
        """Return a polars.DataFrame: column ``query_id``, then one a metric. Needs polars."""
        table: polars.DataFrame = self._table(require("polars", "polars").DataFrame)
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


Bounds.__module__ = "rankmeter"


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
        If one is not an `Evaluation`.
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
        if list(part.named_metrics.values()) != list(parts[0].named_metrics.values()):
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
    integers = any(part.integer_ids for part in parts)
    queries = range(sum(map(len, parts))) if numbered else _queries_of_all(parts, integers)
    return Evaluation(
        queries,
        parts[0].named_metrics,
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
