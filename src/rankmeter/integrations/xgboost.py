"""Metrics for XGBoost. Imports nothing of it: what it hands over is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

import rankmeter as rm
from rankmeter.metrics import compile_metrics


def custom_metric(
    metrics: str | rm.Metric | Iterable[str | rm.Metric],
    *,
    ties: Literal["input", "expected"] = "input",
    threads: int = 1,
) -> Callable[[Any, Any], list[tuple[str, float]]]:
    """Make a function for ``xgboost.train(..., custom_metric=..., maximize=True)``.

    Parameters
    ----------
    metrics : str, Metric, or sequence of these
        Such as ``["ndcg@10", "mrr"]``; see `rankmeter.parse`.
    ties, threads
        As for `rankmeter.evaluate_scores`.

    Returns
    -------
    callable
        From the scores and a DMatrix with a group or qid to (name, mean).

    Raises
    ------
    ValueError
        By the function: if the matrix has no group, or as `rankmeter.evaluate_scores` does.

    Notes
    -----
    XGBoost takes lower values for better ones unless it is told otherwise: pass ``maximize=True``
    where it may stop early. It splits names at spaces and colons, so there are none in the names
    of results: a gain ``{1:3}`` is written ``{1=3}``.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost
    >>> from rankmeter.integrations.xgboost import custom_metric
    >>> data = xgboost.DMatrix(np.zeros((4, 1)), label=[0, 1, 1, 0], group=[2, 2])
    >>> custom_metric("mrr")(np.array([0.9, 0.1, 0.8, 0.2]), data)
    [('mrr', 0.75)]
    """
    names = compile_metrics(metrics)[0]
    shown = ["".join(name.split()).replace(":", "=") for name in names]

    def evaluate_data(scores: Any, data: Any) -> list[tuple[str, float]]:
        starts = data.get_uint_info("group_ptr").astype(np.int64)
        if len(starts) < 2:
            raise ValueError("the data have no group: pass group= or qid= to the DMatrix")
        ev = rm.evaluate_scores(
            scores, data.get_label(), names, groups=np.diff(starts), ties=ties, threads=threads
        )
        return list(zip(shown, ev.mean.values(), strict=True))

    return evaluate_data
