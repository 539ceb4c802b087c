"""Metrics for LightGBM. Imports nothing of it: what it hands over is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import compile_metrics
from rankmeter.scoring.arrays import evaluate_scores

Results = list[tuple[str, float, bool]]


def feval(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    ties: Literal["input", "expected"] = "input",
    threads: int = 1,
) -> Callable[..., Results]:
    """Make a function for ``lightgbm.train(feval=...)`` and ``LGBMRanker.fit(eval_metric=...)``.

    Parameters
    ----------
    metrics : str, Metric, or sequence of these
        Such as ``["ndcg@10", "mrr"]``; see `rankmeter.parse`.
    ties, threads
        As for `rankmeter.evaluate_scores`.

    Returns
    -------
    callable
        From the scores and a Dataset with a group, as ``train`` and ``cv`` hand them over, or from
        labels, scores, weights (not used) and group sizes, as the estimators do, to (name, mean,
        higher is better).

    Raises
    ------
    ValueError
        By the function: if the data have no group, or as `rankmeter.evaluate_scores` does.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from rankmeter.integrations.lightgbm import feval
    >>> options = {"min_data_in_bin": 1, "min_data_in_leaf": 1, "verbosity": -1}
    >>> data = lightgbm.Dataset(np.eye(4), [0, 1, 1, 0], group=[2, 2], params=options)
    >>> feval("mrr")(np.array([0.9, 0.1, 0.8, 0.2]), data.construct())
    [('mrr', 0.75, True)]
    >>> feval("mrr")([0, 1, 1, 0], [0.9, 0.1, 0.8, 0.2], None, [2, 2])
    [('mrr', 0.75, True)]
    """
    names = compile_metrics(metrics)[0]

    # The estimators count the parameters: they hand over groups to a function of four only.
    def evaluate(first: Any, second: Any, _weight: Any = None, group: Any = None) -> Results:
        labels, scores = first, second
        if hasattr(second, "get_group"):
            labels, scores, group = second.get_label(), first, second.get_group()
        if group is None:
            raise ValueError("the data have no group: say how many rows each query has")
        ev = evaluate_scores(
            scores, labels, names, groups=np.asarray(group, np.int64), ties=ties, threads=threads
        )
        return [(name, value, True) for name, value in ev.mean.items()]

    return evaluate


eval_metric = feval
"""The same, by the name that the estimators have for it."""
