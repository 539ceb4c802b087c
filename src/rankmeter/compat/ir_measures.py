"""A provider of ir_measures that computes with this core.

Importing this module registers the provider under the name ``rankmeter`` and puts it first, so that
``ir_measures.calc_aggregate``, ``calc``, ``iter_calc`` and ``evaluator`` use it for every measure
that is known here, and the other providers for the rest. ir_measures has no mechanism by which a
package could do so without being imported; for its command line there is::

    python -m rankmeter.compat.ir_measures QRELS RUN MEASURE ...

Values are those of the providers that it stands before, except that scores are compared as they
are, where pytrec_eval rounds them to 32 bits first; that nothing is rounded to five digits, as
gdeval does; and that RBP is not cut at rank 1000, as cwl_eval does. Documents with equal scores
stand in the order that each of those providers gives them: by id, low to high, for RR with a
cut-off and for Judged; as they come for RBP; by id, high to low, for everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    import ir_measures
except ImportError as error:
    raise ImportError("this needs ir_measures: pip install ir-measures") from error
from ir_measures import providers, util

from rankmeter.naming.ir_measures import metric_of
from rankmeter.naming.metric import Metric
from rankmeter.results.evaluation import Evaluation
from rankmeter.scoring.evaluator import Evaluator

Documents = dict[Any, float]
Order = Callable[[Documents], list[Any]]


def _by_id(documents: Documents) -> list[Any]:
    """By score, then by id from low to high."""
    return [doc for doc, _ in sorted(documents.items(), key=lambda item: (-item[1], item[0]))]


def _as_given(documents: Documents) -> list[Any]:
    """By score, then as they come."""
    return [doc for doc, _ in sorted(documents.items(), key=itemgetter(1), reverse=True)]


def _order_of(measure: Any) -> Order | None:
    """How the provider that else computes a measure orders equal scores; None: as this core."""
    if measure.NAME == "RBP":
        return _as_given
    if measure.NAME == "Judged":
        return _by_id
    if measure.NAME == "RR" and metric_of(measure).k and not measure["judged_only"]:
        return _by_id
    return None


class RankmeterProvider(providers.Provider):  # type: ignore[misc]
    """The measures of ir_measures that have a metric here."""

    NAME = "rankmeter"

    def supports(self, measure: Any) -> bool:
        """Tell whether a measure can be computed here, with all of its parameters."""
        measure.validate_params()
        try:
            metric_of(measure)
        except (TypeError, ValueError):
            return False
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> RankmeterEvaluator:
        return RankmeterEvaluator(measures, qrels)


class RankmeterEvaluator(providers.Evaluator):  # type: ignore[misc]
    """Measures and judgments prepared once, for many runs."""

    def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
        self._qrels = _dicts(util.QrelsConverter(qrels), "relevance")
        super().__init__(tuple(dict.fromkeys(measures)), set(self._qrels))
        grades: set[float] = set()
        if any(measure.params.get("gains") for measure in self.measures):
            grades = set(chain.from_iterable(docs.values() for docs in self._qrels.values()))
        self._metrics = [metric_of(measure, grades) for measure in self.measures]
        # Two measures may be one metric.
        distinct = list(dict.fromkeys(self._metrics))
        self._columns = [distinct.index(metric) for metric in self._metrics]
        self._orders: dict[Order, list[int]] = {}
        for i, measure in enumerate(self.measures):
            order = _order_of(measure)
            if order is not None:
                self._orders.setdefault(order, []).append(i)
        # ir_measures allows judgments of nothing; then nothing is reported.
        self._scorer = Evaluator(self._qrels, distinct) if self._qrels and distinct else None

    def _score(self, run: Any) -> tuple[list[Any], npt.NDArray[np.float64]]:
        """The queries of the run that are judged, and their values, one column a measure."""
        rankings = _dicts(util.RunConverter(run), "score")
        if self._scorer is None or self.qrel_qids.isdisjoint(rankings):
            return [], np.zeros((0, len(self.measures)))
        evaluation = self._scorer.evaluate(rankings, missing="skip")
        queries = list(evaluation.query_ids)
        values = evaluation.values[:, self._columns]
        for order, places in self._orders.items():
            self._reorder(values, evaluation, rankings, order, places)
        return queries, values

    def _reorder(
        self,
        values: npt.NDArray[np.float64],
        evaluation: Evaluation,
        rankings: dict[Any, Documents],
        order: Order,
        places: list[int],
    ) -> None:
        """Where the order of equal scores matters, put in the values of another order."""
        columns = [self._columns[place] for place in places]
        lowest, highest = (bound.values[:, columns] for bound in evaluation.bounds)
        rows = np.flatnonzero((lowest != highest).any(axis=1)).tolist()
        if not rows:
            return
        queries = [evaluation.query_ids[row] for row in rows]
        metrics: list[Metric] = list(dict.fromkeys(self._metrics[place] for place in places))
        again = Evaluator({query: self._qrels[query] for query in queries}, metrics).evaluate(
            {query: order(rankings[query]) for query in queries}
        )
        for place in places:
            values[rows, place] = again.values[:, metrics.index(self._metrics[place])]

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the value of each query and measure; those of queries not in the run come last."""
        queries, values = self._score(run)
        for query, row in zip(queries, values.tolist(), strict=True):
            for measure, value in zip(self.measures, row, strict=True):
                yield ir_measures.Metric(query, measure, value)
        missing = sorted(self.qrel_qids.difference(queries))
        for measure in sorted(self.measures, key=str):
            for query in missing:
                yield ir_measures.Metric(query, measure, measure.DEFAULT)

    def calc_aggregate(self, run: Any) -> dict[Any, float]:
        """Return the aggregated value of each measure."""
        queries, values = self._score(run)
        missing = len(self.qrel_qids) - len(queries)
        aggregated = {}
        for measure, column in zip(self.measures, values.T.tolist(), strict=True):
            aggregator = measure.aggregator()
            for value in (*column, *[measure.DEFAULT] * missing):
                aggregator.add(value)
            aggregated[measure] = aggregator.result()
        return aggregated

    def calc(self, run: Any) -> Any:
        """Return the aggregated values, and those of each query."""
        per_query = list(self.iter_calc(run))
        columns: dict[int, Any] = {id(measure): measure.aggregator() for measure in self.measures}
        for metric in per_query:  # by identity: a measure is spelled out to be hashed
            columns[id(metric.measure)].add(metric.value)
        aggregated = {measure: columns[id(measure)].result() for measure in self.measures}
        return ir_measures.CalcResults(aggregated, per_query)


def _dicts(converter: Any, column: str) -> dict[Any, dict[Any, float]]:
    """Query to document to number; of a document that stands twice, the last number."""
    if converter.predict_type()[0] != "pd_dataframe":
        found: dict[Any, dict[Any, float]] = converter.as_dict_of_dict()
        return found
    table = converter.as_pd_dataframe()
    queries, documents, numbers = (table[c].tolist() for c in ("query_id", "doc_id", column))
    made: dict[Any, dict[Any, float]] = {}
    start = 0
    for end in _ends(table["query_id"]):
        made.setdefault(queries[start], {}).update(
            zip(documents[start:end], numbers[start:end], strict=True)
        )
        start = end
    return made


def _ends(queries: Any) -> list[int]:
    """Where the rows of one query end."""
    if not len(queries):
        return []
    codes = queries.factorize()[0]
    return [*(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]


def register() -> RankmeterProvider:
    """Make the provider known and put it before the others; once, however often it is called."""
    known = providers.registry.get(RankmeterProvider.NAME)
    if known is not None:
        found: RankmeterProvider = known
        return found
    made: RankmeterProvider = providers.register(RankmeterProvider())
    ir_measures.DefaultPipeline.providers.insert(0, made)
    return made


provider = register()


def main() -> None:
    """Be the command line of ir_measures."""
    from ir_measures.__main__ import main_cli

    main_cli()


if __name__ == "__main__":
    main()
