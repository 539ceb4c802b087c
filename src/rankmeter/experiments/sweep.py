"""One parameter, many settings: which is best, and what it is worth on other questions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankmeter._core.ids import is_number
from rankmeter._core.rounded import exact_means, geometric_means
from rankmeter.arguments import check_draws
from rankmeter.doors.how import Ties
from rankmeter.doors.integers import as_text
from rankmeter.doors.judged import RowJudgments
from rankmeter.doors.kinds import Format, Names, Qrels, Run, is_columnar
from rankmeter.doors.scored import Scored
from rankmeter.experiments.fuse import Method, Norm, Recipe, fuse, read_runs, recipe_of
from rankmeter.naming.metric import Metric, is_geometric
from rankmeter.naming.rows import LEAST
from rankmeter.scoring.evaluator import Evaluator
from rankmeter.statistics.bootstrap import bootstrap_intervals, percentile_ends
from rankmeter.writers.tables import render

_LEVEL = 0.95
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fold:
    """One part of the queries, scored by the setting that is best on the other parts.

    Attributes
    ----------
    query_ids : tuple
        The queries of this part, sorted.
    chosen : object
        The setting with the highest mean over the queries of all other parts; of several, the
        first in the grid.
    mean_elsewhere, mean : float
        Its mean over the other parts, on which it was chosen, and over this one.
    """

    __module__ = "rankmeter"

    query_ids: tuple[Any, ...]
    chosen: Any
    mean_elsewhere: float
    mean: float


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """What each setting of a parameter is worth, made by `sweep`.

    Attributes
    ----------
    metric : str
        The metric, as asked for.
    grid : tuple
        The settings, in their order.
    query_ids : tuple
        The judged queries.
    values : numpy.ndarray
        float64, queries x settings: the metric.
    means : tuple of float
        Of each setting, over all queries.
    intervals : tuple of (float, float)
        Of each mean, 95 %: where the middle 95 % of the means of `draws` samples lie, each of as
        many queries, drawn with replacement (percentile bootstrap). All settings see the same
        samples.
    best : object
        The setting with the highest mean; of several, the first in the grid. To be used from now
        on.
    best_mean : float
        Its mean. Too good to be expected of other queries: it was picked on these.
    folds : tuple of Fold
        Each scored by the setting that is best on the others.
    cross_validated : float
        The mean over all queries, each with the value that it has in its fold: what a setting
        chosen in this way is worth on queries that it was not chosen on.
    cross_validated_interval : (float, float)
        Its interval, as of the means. That another sample could have chosen other settings is not
        in it.
    draws, seed : int
        Of the bootstrap; the seed of the folds, too.
    """

    __module__ = "rankmeter"

    metric: str
    grid: tuple[Any, ...]
    query_ids: tuple[Any, ...]
    values: Array
    means: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    best: Any
    best_mean: float
    folds: tuple[Fold, ...]
    cross_validated: float
    cross_validated_interval: tuple[float, float]
    draws: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the values of each query as plain containers."""
        return {
            "metric": self.metric,
            "queries": len(self.query_ids),
            "curve": [
                {"value": value, "mean": mean, "interval": list(interval)}
                for value, mean, interval in zip(self.grid, self.means, self.intervals, strict=True)
            ],
            "best": self.best,
            "best_mean": self.best_mean,
            "cross_validated": self.cross_validated,
            "cross_validated_interval": list(self.cross_validated_interval),
            "folds": [
                {
                    "query_ids": list(fold.query_ids),
                    "chosen": fold.chosen,
                    "mean_elsewhere": fold.mean_elsewhere,
                    "mean": fold.mean,
                }
                for fold in self.folds
            ],
            "draws": self.draws,
            "seed": self.seed,
        }

    def _table(self) -> tuple[list[str], list[list[str]]]:
        place = next(i for i, mean in enumerate(self.means) if mean == self.best_mean)
        rows = [
            [
                f"{value!s:.40}",
                f"{mean:.4f}",
                f"{low:.4f}",
                f"{high:.4f}",
                "best"[: 4 * (i == place)],
            ]
            for i, (value, mean, (low, high)) in enumerate(
                zip(self.grid, self.means, self.intervals, strict=True)
            )
        ]
        return ["value", self.metric, "from", "to", ""], rows

    def _summary(self) -> str:
        low, high = self.cross_validated_interval
        chosen = list(dict.fromkeys(f"{fold.chosen!s:.40}" for fold in self.folds))
        n = len(self.query_ids)
        return (
            f"cross-validated: {self.cross_validated:.4f} ({low:.4f} to {high:.4f}), "
            f"{len(self.folds)} folds, chosen: {', '.join(chosen)}\n"
            f"{n} quer{'y' if n == 1 else 'ies'}, intervals of 95 % by bootstrap"
        )

    def __repr__(self) -> str:
        return f"{render(*self._table(), 'text')}\n{self._summary()}"

    def _repr_html_(self) -> str:
        from html import escape

        lines = "<br>".join(escape(self._summary()).splitlines())
        return render(*self._table(), "html") + f"<p>{lines}</p>"


def sweep(
    system: Mapping[Any, Run] | Callable[[Any], Run],
    grid: Iterable[Any],
    qrels: Qrels,
    metric: str | Metric,
    *,
    method: Method = "wsum",
    norm: Norm | None = "min-max",
    k: float = 60,
    folds: int = 5,
    seed: int = 0,
    draws: int = 1000,
    ties: Ties = "docid",
    format: Format = None,
    columns: Names = None,
) -> Sweep:
    """Evaluate each setting of one parameter, and cross-validate the choice of the best.

    Parameters
    ----------
    system : mapping of two runs, or callable
        ``{"dense": run, "bm25": run}``: the settings are the weight of the first run in their
        fusion, from 0 to 1; the second has 1 - that. Or a function that is given a setting and
        returns a run, in any form that `evaluate` takes.
    grid : iterable
        The settings, such as ``[i / 10 for i in range(11)]``. No two equal.
    qrels : mapping, path, binary file or table
        As for `evaluate`. They are prepared once.
    metric : str or Metric
        One metric, the higher the better.
    method, norm, k : optional
        Of the fusion, as for `fuse`.
    folds : int
        Into how many parts to split the queries, from 2 up to their number.
    seed : int
        Of the split and of the bootstrap. The queries are sorted first, so the order of the input
        makes no difference to the split.
    draws : int
        Samples of the bootstrap. The same seed draws the same queries on every platform.
    ties, format, columns : optional
        As for `evaluate`. Judged queries that a run lacks count as 0.

    Returns
    -------
    Sweep

    Raises
    ------
    ImportError, OSError
        As for `evaluate`.
    TypeError, ValueError
        For an empty grid, a setting that stands twice, a weight outside of 0 to 1, other than two
        runs, more folds than queries, and as for `fuse` and `evaluate`.

    Notes
    -----
    The best mean of a grid is too high to be expected again, since it was picked on the queries
    that it is the mean of. So the queries are split into `folds` parts of nearly equal size, each
    is scored by the setting that is best on all others, and `Sweep.cross_validated` is the mean of
    these values.

    For a fusion, conversion and normalisation are done once, and each setting costs a sum and the
    metric. The values are to the last bit those of ``fuse(runs, method, [w, 1 - w], norm)``, scored
    by `evaluate`.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    >>> dense = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"b": 2.0, "x": 1.0}, "q3": {"x": 2.0, "c": 1.0}}
    >>> bm25 = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"b": 2.0, "x": 1.0}, "q3": {"x": 1.0}}
    >>> tuned = rm.sweep({"dense": dense, "bm25": bm25}, [0, 0.5, 1], qrels, "mrr", folds=3)
    >>> tuned.means
    (0.6666666666666666, 0.6666666666666666, 0.8333333333333334)
    >>> tuned.best
    1
    """
    settings = _check_grid(grid)
    if isinstance(folds, bool) or not isinstance(folds, (int, np.integer)):
        raise TypeError(f"folds must be an integer, not {folds!r}")
    if folds < 2:
        raise ValueError(f"folds must be 2 or more, not {folds}")
    draws, seed = check_draws(draws, seed)
    if not isinstance(metric, (str, Metric)):
        raise TypeError(f"metric must be one name or Metric, not {metric!r}")
    scorer = Evaluator(qrels, metric, format=format, columns=columns)
    n = len(scorer.query_ids)
    if folds > n:
        raise ValueError(f"{folds} folds need as many queries, and the qrels have {n}")
    options = {"ties": ties, "format": format, "columns": columns}
    if hasattr(system, "items") and hasattr(system, "keys"):
        runs = cast("Mapping[Any, Run]", system)
        values = _score_fusions(runs, settings, scorer, qrels, (method, norm, k), options)
    elif callable(system):
        values = np.empty((n, len(settings)))
        for column, setting in enumerate(settings):
            values[:, column] = _evaluate(scorer, system(setting), options)
    else:
        raise TypeError(
            "system must be a mapping of two runs, or a function from a setting to a run, "
            f"not {type(system).__name__}"
        )
    return _choose(scorer, settings, values, int(folds), seed, draws)


def _check_grid(grid: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(grid, (str, bytes)) or not isinstance(grid, Iterable):
        raise TypeError(f"grid must be an iterable of settings, not {grid!r}")
    settings = tuple(
        x.item() if isinstance(x, np.generic) and x.dtype.kind not in "mM" else x for x in grid
    )
    if not settings:
        raise ValueError("grid has no setting")
    for i, setting in enumerate(settings):
        if setting in settings[:i]:
            raise ValueError(f"grid has the setting {setting!r} twice")
    return settings


def _evaluate(scorer: Evaluator, run: Run, options: Mapping[str, Any]) -> Array:
    return scorer.evaluate(run, **options).values[:, 0]


# Fusions


def _score_fusions(
    runs: Mapping[Any, Run],
    settings: Sequence[Any],
    scorer: Evaluator,
    qrels: Qrels,
    how: tuple[Method, Norm | None, float],
    options: Mapping[str, Any],
) -> Array:
    weights = [_pair(setting) for setting in settings]
    recipe = recipe_of(*how)
    judged = [] if is_columnar(qrels) else [("qrels", qrels, "qrels")]
    names, read = read_runs(runs, options["format"], options["columns"], judged)
    if judged and (given := read.pop(0)) is not qrels:
        qrels, scorer = given, Evaluator(given, scorer.named_metrics.values())
    integers = scorer.judged.integers
    if any(integers):
        read = [as_text(run, integers) for run in read]
    if len(names) != 2:
        raise ValueError(f"a sweep is over the weights of two runs, not of {len(names)}")
    method, norm, k = how
    values = np.empty((len(scorer.query_ids), len(settings)))

    def fused(place: int) -> dict[Any, dict[Any, float]]:
        both = dict(zip(names, read, strict=True))
        return fuse(both, method, weights[place], norm, k=k)

    # The first one in the long way: it says whatever there is to say about runs and judgments.
    plain = {"ties": options["ties"]}
    values[:, 0] = _evaluate(scorer, fused(0), plain)
    mixture = None
    if options["ties"] == "docid" and len(settings) > 1:
        mixture = _mixture(names, read, recipe, scorer, qrels)
    filled = np.zeros((3, len(scorer.query_ids), 1))
    for place in range(1, len(settings)):
        if mixture is None:
            values[:, place] = _evaluate(scorer, fused(place), plain)
            continue
        filled[:] = 0
        if mixture.evaluate(np.array(weights[place]), filled) >= 0:
            fused(place)  # which says so
        values[:, place] = _complete(scorer, filled, mixture.retrieved)
    return values


def _pair(setting: Any) -> tuple[float, float]:
    try:
        if not is_number(setting):
            raise TypeError
        weight = float(setting)
    except (TypeError, ValueError):
        raise TypeError(f"a weight must be a number, not {setting!r}") from None
    if not 0 <= weight <= 1:
        raise ValueError(f"a weight must be from 0 to 1, not {setting!r}")
    return weight, 1 - weight


def _mixture(
    names: tuple[Any, ...],
    runs: list[dict[Any, Any]],
    recipe: Recipe,
    scorer: Evaluator,
    qrels: Any,
) -> Any:
    """Prepare all of it; None where that cannot be done."""
    from rankmeter._core.experiments.fusion import Mixture

    judged = scorer.judged
    if isinstance(judged, RowJudgments):
        qrels = judged.mapping()
    elif is_columnar(qrels):
        return None  # ids or grades of unusual types
    judgments = [
        (query, {document: float(grade) for document, grade in dict(grades.items()).items()})
        for query, grades in dict(qrels.items()).items()
    ]
    try:
        return Mixture(
            names, runs, recipe.scale, recipe.k, recipe.counted, judgments, judged.metrics
        )

    except TypeError:
        return None  # documents that have no order


def _complete(scorer: Evaluator, filled: Array, retrieved: bytearray) -> Array:
    marks = np.frombuffer(retrieved, np.uint8).copy()
    scored = Scored(filled, marks, [], [])
    scorer.judged.complete(scored)
    return scored.values[:, 0].copy()


# The choice


def _choose(
    scorer: Evaluator,
    settings: tuple[Any, ...],
    values: Array,
    n_folds: int,
    seed: int,
    draws: int,
) -> Sweep:
    queries, name = scorer.query_ids, scorer.metrics[0]
    geometric = is_geometric(scorer.named_metrics[name])
    means = _means(values, geometric)
    best = means.index(max(means))
    held_out = np.empty(len(queries))
    folds = []
    for rows in _split(queries, n_folds, seed):
        others = np.delete(values, rows, axis=0)
        elsewhere = _means(others, geometric)
        column = elsewhere.index(max(elsewhere))
        held_out[rows] = values[rows, column]
        mean = _means(values[rows, column : column + 1], geometric)[0]
        part = tuple(queries[row] for row in rows)
        folds.append(Fold(part, settings[column], elsewhere[column], mean))
    every = np.column_stack([values, held_out])
    intervals = bootstrap_intervals(
        every,
        percentile_ends,
        geometric=[geometric] * every.shape[1],
        least=LEAST,
        confidence=_LEVEL,
        draws=draws,
        seed=seed,
    )
    values.flags.writeable = False
    return Sweep(
        metric=name,
        grid=settings,
        query_ids=queries,
        values=values,
        means=tuple(means),
        intervals=tuple(intervals[:-1]),
        best=settings[best],
        best_mean=means[best],
        folds=tuple(folds),
        cross_validated=_means(held_out[:, None], geometric)[0],
        cross_validated_interval=intervals[-1],
        draws=draws,
        seed=seed,
    )


def _means(values: Array, geometric: bool) -> list[float]:
    values = np.ascontiguousarray(values)
    if geometric:
        return geometric_means(values, LEAST)
    return exact_means(values)


def _split(queries: Sequence[Any], n_folds: int, seed: int) -> list[list[int]]:
    """Rows of each part, which depend on the set of queries and the seed alone."""
    rows = sorted(range(len(queries)), key=lambda row: _sortable(queries[row]))
    generator = random.Random(seed)
    # Of all that draws numbers, this alone promises to draw the same ones for ever.
    drawn = [generator.random() for _ in rows]
    shuffled = sorted(range(len(rows)), key=drawn.__getitem__)
    return [[rows[place] for place in sorted(shuffled[i::n_folds])] for i in range(n_folds)]


def _sortable(query: Any) -> tuple[str, Any]:
    return type(query).__name__, query if isinstance(query, (str, int, bytes)) else repr(query)
