"""How well the queries of one evaluation pin down its means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rankmeter._core.resampling import LANES, bootstrap_sums
from rankmeter.distributions import binomial_interval, normal_cdf, normal_quantile
from rankmeter.evaluation import Evaluation
from rankmeter.metrics import LEAST, is_geometric
from rankmeter.options import check_share, checked_draws
from rankmeter.tables import render

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

_DRAWS_A_CALL = 1_000


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


class Intervals(dict[str, Interval]):
    """Metric to `Interval`; prints as a table. Made by `intervals`.

    Attributes
    ----------
    queries : int
    confidence : float
    draws, seed : int
    """

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
    draws, seed = checked_draws(draws, seed)
    values = evaluation.values
    if not np.isfinite(values).all():
        raise ValueError("the evaluation holds values that are not finite")
    means = evaluation.mean
    found: dict[str, Interval] = {}
    bootstrapped = []
    for column, (name, metric) in enumerate(evaluation._metrics.items()):
        shares = bool(((values[:, column] == 0.0) | (values[:, column] == 1.0)).all())
        if shares and not is_geometric(metric) and not metric.name.startswith("num_"):
            successes = int(values[:, column].sum())
            ends = binomial_interval(successes, len(values), confidence)
            found[name] = Interval(means[name], *ends, "binomial")
        else:
            bootstrapped.append(column)
    if bootstrapped:
        chosen = values[:, bootstrapped].copy()
        names = [evaluation.metrics[column] for column in bootstrapped]
        geometric = [is_geometric(evaluation._metrics[name]) for name in names]
        chosen[:, geometric] = np.log(np.maximum(chosen[:, geometric], LEAST))
        for i, (name, sample) in enumerate(zip(names, _means(chosen, draws, seed), strict=True)):
            low, high = _ends(chosen[:, i], sample, confidence)
            if geometric[i]:
                low, high = math.exp(low), math.exp(high)
            found[name] = Interval(means[name], low, high, "bootstrap")
    return Intervals(
        {name: found[name] for name in evaluation.metrics},
        queries=len(values),
        confidence=float(confidence),
        draws=draws,
        seed=seed,
    )


def _means(values: Floats, draws: int, seed: int) -> Floats:
    """Return columns x draws: the means of samples of the rows."""
    rows, columns = values.shape
    filled = np.zeros((rows, columns + -columns % LANES))
    filled[:, :columns] = values
    sums = np.empty((draws, filled.shape[1]))
    for begin in range(0, draws, _DRAWS_A_CALL):  # between two calls, it can be interrupted
        end = min(begin + _DRAWS_A_CALL, draws)
        bootstrap_sums(filled, begin, end, seed, sums[begin:end])
    means: Floats = sums[:, :columns].T / rows
    return means


def _ends(values: Floats, sample: Floats, confidence: float) -> tuple[float, float]:
    """Return the BCa interval of a mean."""
    if len(values) == 1:
        return -math.inf, math.inf
    centred = values - values.mean()
    spread = float((centred**2).sum())
    if values.min() == values.max() or spread == 0.0:
        return float(values[0]), float(values[0])
    mean = float(values.mean())
    below = float((sample < mean).mean() + (sample == mean).mean() / 2.0)
    bias = normal_quantile(min(max(below, 0.5 / len(sample)), 1.0 - 0.5 / len(sample)))
    acceleration = float((centred**3).sum()) / (6.0 * spread**1.5)

    def share(z: float) -> float:
        return normal_cdf(bias + (bias + z) / max(1.0 - acceleration * (bias + z), 1e-9))

    z = normal_quantile((1.0 + confidence) / 2.0)
    low, high = np.quantile(sample, [share(-z), share(z)]).tolist()
    return low, high
