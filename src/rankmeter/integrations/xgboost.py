"""Metrics for XGBoost. Imports nothing of it: what it hands over is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import compile_metrics
from rankmeter.scoring.arrays import evaluate_scores


def custom_metric(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    ties: Literal["input", "expected"] = "input",
    threads: int = 1,
) -> Callable[..., Any]:
    """Make a function for ``xgboost.train(custom_metric=...)`` and ``XGBRanker(eval_metric=...)``.

    Parameters
    ----------
    metrics : str, Metric, or sequence of these
        Such as ``["ndcg@10", "mrr"]``; see `rankmeter.parse`. For ``XGBRanker``, one.
    ties, threads
        As for `rankmeter.evaluate_scores`.

    Returns
    -------
    callable
        From the scores and a DMatrix with a group or qid, as ``train`` hands them over, to (name,
        mean). From the labels and the scores of one query, as ``XGBRanker`` hands them over, to its
        value. Can be pickled.

    Raises
    ------
    ValueError
        By the function: if the matrix has no group, if an estimator that knows no queries calls it
        with weights, or hands over one query for several metrics, or as
        `rankmeter.evaluate_scores` does.

    Notes
    -----
    XGBoost takes lower values for better ones unless it is told otherwise: pass ``maximize=True``
    where it may stop early, or for ``XGBRanker`` an ``xgboost.callback.EarlyStopping`` that has it.
    It splits names at spaces and colons, so there are none in the names of results: a gain
    ``{1:3}`` is written ``{1=3}``.

    ``XGBRanker`` makes the mean by itself: a query of one document counts 1, whatever its label,
    and in some versions queries count by their numbers of documents. The mean of all queries is
    what ``xgboost.train`` shows.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost
    >>> from rankmeter.integrations.xgboost import custom_metric
    >>> data = xgboost.DMatrix(np.zeros((4, 1)), label=[0, 1, 1, 0], group=[2, 2])
    >>> custom_metric("mrr")(np.array([0.9, 0.1, 0.8, 0.2]), data)
    [('mrr', 0.75)]
    >>> custom_metric("mrr")(np.array([0, 1]), np.array([0.9, 0.1]))
    0.5
    """
    return _CustomMetric(metrics, ties, threads)


class _CustomMetric:
    """What is called; no function within a function, since models are pickled with it."""

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric],
        ties: Literal["input", "expected"],
        threads: int,
    ) -> None:
        self._names = list(compile_metrics(metrics)[0])
        self._shown = ["".join(name.split()).replace(":", "=") for name in self._names]
        self._ties = ties
        self._threads = threads
        self.__name__ = ",".join(self._shown)  # under which XGBRanker shows it

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        if hasattr(second, "get_uint_info"):
            return self._of_matrix(first, second)
        advice = "use xgboost.train(..., custom_metric=...) and a DMatrix with a group or qid"
        if sample_weight is not None:
            raise ValueError(f"this estimator knows no queries: take XGBRanker, or {advice}")
        if len(self._names) > 1:
            raise ValueError(f"XGBRanker takes one metric, not {len(self._names)}: {advice}")
        return self._mean(second, first, [len(first)])[0]

    def _of_matrix(self, scores: Any, data: Any) -> list[tuple[str, float]]:
        starts = data.get_uint_info("group_ptr").astype(np.int64)
        if len(starts) < 2:
            raise ValueError("the data have no group: pass group= or qid= to the DMatrix")
        means = self._mean(scores, data.get_label(), np.diff(starts))
        return list(zip(self._shown, means, strict=True))

    def _mean(self, scores: Any, labels: Any, groups: Any) -> list[float]:
        ev = evaluate_scores(
            scores, labels, self._names, groups=groups, ties=self._ties, threads=self._threads
        )
        return list(ev.mean.values())
