"""How well the queries of one evaluation pin down its means."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from rankmeter.arguments import check_draws, check_share
from rankmeter.naming.metric import is_geometric
from rankmeter.naming.rows import LEAST
from rankmeter.results.evaluation import Evaluation
from rankmeter.statistics.bootstrap import bootstrap_intervals, corrected_ends
from rankmeter.statistics.distributions import binomial_interval
from rankmeter.writers.tables import render


class Interval(NamedTuple):
    """A mean and where that of all questions of this kind may lie.

    Attributes
    ----------
    mean, low, high : float
    how : {"binomial", "bootstrap"}
    """

    mean: float
    low: float
    high: float
    how: Literal["binomial", "bootstrap"]


Interval.__module__ = "rankmeter"


class Intervals(dict[str, Interval]):
    """Metric to `Interval`; prints as a table. Made by `intervals`.

    Attributes
    ----------
    queries : int
    confidence : float
    draws, seed : int
    """

    __module__ = "rankmeter"

    def __init__(
        self,
        found: dict[str, Interval],
        *,
        queries: int,
        confidence: float,
        draws: int,
        seed: int,
    ) -> None:
        super().__init__(found)
        self.queries = queries
        self.confidence = confidence
        self.draws = draws
        self.seed = seed

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain containers."""
        return {
            "queries": self.queries,
            "confidence": self.confidence,
            "draws": self.draws,
            "seed": self.seed,
            "intervals": {name: interval._asdict() for name, interval in self.items()},
        }

    def __repr__(self) -> str:
        rows = [
            [name, i.how, f"{i.mean:.4f}", f"[{i.low:.4f}, {i.high:.4f}]"]
            for name, i in self.items()
        ]
        header = ["metric", "method", "mean", f"{self.confidence * 100:g}% interval"]
        count = "1 query" if self.queries == 1 else f"{self.queries:,} queries"
        drawn = f", {self.draws:,} bootstrap samples (seed {self.seed})"
        if all(i.how == "binomial" for i in self.values()):
            drawn = ""
        return f"{render(header, rows, 'text', left=2)}\n{count}{drawn}"


def intervals(
    evaluation: Evaluation, *, confidence: float = 0.95, draws: int = 10_000, seed: int = 0
) -> Intervals:
    """Tell how far each mean may be from that of all questions of this kind.

    Parameters
    ----------
    evaluation : Evaluation
    confidence : float
    draws, seed : int
        Of the bootstrap. The same seed draws the same queries on every platform.

    Returns
    -------
    Intervals
        Metric to `Interval`. Where every value is 0 or 1, as for hit@k, it is the exact binomial
        interval of Clopper and Pearson, which may hold more than it promises but never less.
        Elsewhere it is the bootstrap over queries, corrected for bias and skewness (Efron, BCa,
        1987); for a geometric mean, of the logarithms. One query tells nothing: the interval is
        infinite.

    Raises
    ------
    TypeError
        If something is of the wrong type.
    ValueError
        If `confidence` does not lie between 0 and 1, `draws` is below 1, a seed below 0, or a value
        is not finite.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {f"q{i}": {"a": 1} for i in range(10)}
    >>> run = {query: ["a"] if query < "q8" else ["x"] for query in qrels}
    >>> rm.intervals(rm.evaluate(qrels, run, "hit@10"))
    metric  method      mean      95% interval
    hit@10  binomial  0.8000  [0.4439, 0.9748]
    10 queries
    """
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"intervals takes an Evaluation, not {type(evaluation).__name__}")
    check_share("confidence", confidence)
    draws, seed = check_draws(draws, seed)
    values = evaluation.values
    if not np.isfinite(values).all():
        raise ValueError("the evaluation holds values that are not finite")
    means = evaluation.mean
    found: dict[str, Interval] = {}
    bootstrapped = []
    for column, (name, metric) in enumerate(evaluation.named_metrics.items()):
        shares = bool(((values[:, column] == 0.0) | (values[:, column] == 1.0)).all())
        if shares and not is_geometric(metric) and not metric.name.startswith("num_"):
            successes = int(values[:, column].sum())
            ends = binomial_interval(successes, len(values), confidence)
            found[name] = Interval(means[name], *ends, "binomial")
        else:
            bootstrapped.append(column)
    if bootstrapped:
        names = [evaluation.metrics[column] for column in bootstrapped]
        drawn = bootstrap_intervals(
            values[:, bootstrapped],
            corrected_ends,
            geometric=[is_geometric(evaluation.named_metrics[name]) for name in names],
            least=LEAST,
            confidence=confidence,
            draws=draws,
            seed=seed,
        )
        for name, (low, high) in zip(names, drawn, strict=True):
            found[name] = Interval(means[name], low, high, "bootstrap")
    return Intervals(
        {name: found[name] for name in evaluation.metrics},
        queries=len(values),
        confidence=float(confidence),
        draws=draws,
        seed=seed,
    )
