"""A scorer for scikit-learn. Needs scikit-learn 1.4 or later."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.metrics import make_scorer

from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import parse
from rankmeter.scoring.arrays import evaluate_scores


def scorer(
    metric: str | Metric,
    *,
    ties: Literal["input", "expected"] = "input",
    threads: int = 1,
) -> Any:
    """Make a scorer for ``GridSearchCV``, ``cross_validate`` and the like over grouped data.

    Parameters
    ----------
    metric : str or Metric
        Such as ``"ndcg@10"``; see `rankmeter.parse`.
    ties, threads
        As for `rankmeter.evaluate_scores`.

    Returns
    -------
    callable
        A scorer that asks for ``query_ids``: the query of each row, passed to ``fit`` or
        ``cross_validate``. Ranks by decision function, by the probability of the second class, or
        by prediction, whichever the estimator has first.

    Raises
    ------
    RuntimeError
        If the routing of metadata is not enabled, without which a scorer is not told the queries:
        ``sklearn.set_config(enable_metadata_routing=True)``.
    ValueError
        For an unknown metric; by the scorer: as `rankmeter.evaluate_scores` does.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.linear_model import Ridge
    >>> from rankmeter.integrations.sklearn import scorer
    >>> X, y, queries = [[0.1], [0.9], [0.8], [0.3]], [0, 1, 1, 0], [7, 7, 8, 8]
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scorer("mrr")(Ridge().fit(X, y), X, y, query_ids=queries)
    1.0
    """
    metric = metric if isinstance(metric, Metric) else parse(metric)

    def score(labels: Any, scores: Any, *, query_ids: Any) -> float:
        return evaluate_scores(
            scores, labels, metric, query_ids=query_ids, ties=ties, threads=threads
        )[metric]

    made = make_scorer(score, response_method=("decision_function", "predict_proba", "predict"))
    return made.set_score_request(query_ids=True)
