"""Metrics for LightGBM. Imports nothing of it: what it hands over is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

import rankmeter as rm
from rankmeter.metrics import compile_metrics

Results = list[tuple[str, float, bool]]


def feval(
    metrics: str | rm.Metric | Iterable[str | rm.Metric],
    *,
    ties: Literal["input", "expected"] = "input",
    threads: int = 1,
) -> Callable[[Any, Any], Results]:
    """Make a function for ``lightgbm.train(..., feval=...)``.

    Parameters
    ----------
    metrics : str, Metric, or sequence of these
        Such as ``["ndcg@10", "mrr"]``; see `rankmeter.parse`.
    ties, threads
        As for `rankmeter.evaluate_scores`.

    Returns
    -------
    callable
        From the scores and a Dataset with a group to (name, mean, higher is better).

    Raises
    ------
    ValueError
        By the function: if the data set has no group, or as `rankmeter.evaluate_scores` does.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from rankmeter.integrations.lightgbm import feval
    >>> options = {"min_data_in_bin": 1, "min_data_in_leaf": 1, "verbosity": -1}
    >>> data = lightgbm.Dataset(np.eye(4), [0, 1, 1, 0], group=[2, 2], params=options)
    >>> feval("mrr")(np.array([0.9, 0.1, 0.8, 0.2]), data.construct())
    [('mrr', 0.75, True)]
    """
    evaluate = eval_metric(metrics, ties=ties, threads=threads)

    def evaluate_data(scores: Any, data: Any) -> Results:
        return evaluate(data.get_label(), scores, None, data.get_group())

    return evaluate_data


def eval_metric(
    metrics: str | rm.Metric | Iterable[str | rm.Metric],
    *,
    ties: Literal["input", "expected"] = "input",
    threads: int = 1,
) -> Callable[[Any, Any, Any, Any], Results]:
    """Make a function for ``lightgbm.LGBMRanker.fit(..., eval_metric=...)``.

    Parameters
    ----------
    metrics, ties, threads
        As for `feval`.

    Returns
    -------
    callable
        From labels, scores, weights (not used) and group sizes to (name, mean, higher is better).

    Raises
    ------
    ValueError
        As for `feval`.

    Examples
    --------
    >>> from rankmeter.integrations.lightgbm import eval_metric
    >>> eval_metric("mrr")([0, 1, 1, 0], [0.9, 0.1, 0.8, 0.2], None, [2, 2])
    [('mrr', 0.75, True)]
    """
    names = compile_metrics(metrics)[0]

    def evaluate_groups(labels: Any, scores: Any, _weight: Any, group: Any) -> Results:
        if group is None:
            raise ValueError("the data have no group: say how many rows each query has")
        ev = rm.evaluate_scores(
            scores, labels, names, groups=np.asarray(group, np.int64), ties=ties, threads=threads
        )
        return [(name, value, True) for name, value in ev.mean.items()]

    return evaluate_groups
