"""Several runs made one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rankmeter.arguments import check_number
from rankmeter.doors.kinds import Format, Names, Run
from rankmeter.doors.mappings import whole_mappings

Method = Literal["rrf", "wsum", "combsum", "combmnz"]
Norm = Literal["min-max", "z-score", "rank"]
Weights = Mapping[Any, float] | Sequence[float] | None

_METHODS = ("rrf", "wsum", "combsum", "combmnz")
_NORMS = ("min-max", "z-score", "rank", None)


class Recipe(NamedTuple):
    """How a fusion is made, checked, in the terms of the core."""

    scale: str | None
    k: float
    counted: bool


def fuse(
    runs: Mapping[Any, Run],
    method: Method = "rrf",
    weights: Weights = None,
    norm: Norm | None = "min-max",
    *,
    k: float = 60,
    depth: int | None = None,
    format: Format = None,
    columns: Names = None,
) -> dict[Any, dict[Any, float]]:
    """Make one run of several.

    Parameters
    ----------
    runs : mapping
        From the name of each run to the run: ``{query: {id: score}}``, ``{query: [ids, best
        first]}``, or a file or table, as for `evaluate`. Of a file of ranks the scores are the
        negative ranks. The documents of a list of n have the scores n to 1.
    method : {"rrf", "wsum", "combsum", "combmnz"}
        What a document gets: the sum over the runs of weight / (`k` + rank) (reciprocal rank
        fusion: Cormack, Clarke and Büttcher, SIGIR 2009); the sum of weight × normalised score
        (``"wsum"``, and ``"combsum"`` by another name); or that sum × the number of runs that hold
        the document (CombMNZ: Fox and Shaw, TREC-2), whatever their weights. Where a run lacks the
        document, it adds 0; where it lacks the query, to all of its documents.
    weights : mapping or sequence of numbers, optional
        One for each run, by name or in the order of `runs`; not negative, and not all 0. Taken as
        they are, not made to add up to 1. 1 for each by default.
    norm : {"min-max", "z-score", "rank"} or None
        What is made of the scores that one run has for one query. None: nothing. Of no meaning for
        ``"rrf"``.

        ``"min-max"``: (score - lowest) / (highest - lowest); 1 for each where all are equal.

        ``"z-score"``: (score - mean) / standard deviation, as of a population; 0 for each where
        all are equal. A document that the run lacks stands at 0 too: with the average ones, above
        those with a negative score.

        ``"rank"``: (n + 1 - rank) / n of n documents: 1 for the first, 1 / n for the last.
    k : float
        For ``"rrf"``: the larger, the less the first ranks stand out. Not negative.
    depth : int, optional
        How many of the best documents to keep of each query; all by default.
    format, columns : optional
        As for `evaluate`, where runs are files or tables.

    Returns
    -------
    dict
        ``{query: {id: score}}``: every query that a run has, in the order of their appearance;
        documents best first, and equal scores by id, high to low, as `evaluate` ranks them.

    Raises
    ------
    ImportError, OSError
        As for `evaluate`.
    TypeError
        For an argument, a score or an id of the wrong type; for runs whose ids can never match,
        as 1 and "1" cannot; and for ids that cannot be ordered, where their scores are equal.
    ValueError
        For weights that do not fit, an unknown method or norm, a score that is NaN, one that is
        infinite unless only ranks count, sums that are too large for a double, and an id that
        stands twice in a list.

    Notes
    -----
    Ranks are counted from 1, from the highest score, equal scores by id, high to low. Sums
    are made in the order of `runs`, of doubles. Integers of any size keep their order where only
    ranks count, and their distances where they are normalised; with ``norm=None`` they must be
    doubles.

    Examples
    --------
    >>> import rankmeter as rm
    >>> dense = {"q": {"a": 0.9, "b": 0.7, "c": 0.1}}
    >>> bm25 = {"q": {"b": 12.0, "d": 8.0}}
    >>> rm.fuse({"dense": dense, "bm25": bm25})
    {'q': {'b': 0.0325..., 'a': 0.0163..., 'd': 0.0161..., 'c': 0.0158...}}
    >>> rm.fuse({"dense": dense, "bm25": bm25}, "wsum", {"dense": 0.5, "bm25": 0.5}, depth=2)
    {'q': {'b': 0.875, 'a': 0.5}}
    """
    from rankmeter._core.experiments.fusion import fuse as core_fuse  # not everybody fuses

    recipe = recipe_of(method, norm, k)
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, (int, np.integer))):
        raise TypeError(f"depth must be an integer or None, not {depth!r}")
    if depth is not None and depth < 1:
        raise ValueError(f"depth must be 1 or more, not {depth}")
    names, read = read_runs(runs, format, columns)
    array = array_of_weights(weights, names)
    return core_fuse(names, read, array, *recipe, None if depth is None else int(depth))


def recipe_of(method: Any, norm: Any, k: Any) -> Recipe:
    """Check how a fusion is to be made.

    Raises
    ------
    TypeError, ValueError
        As for `fuse`.
    """
    if method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(_METHODS)}, not {method!r}")
    if norm not in _NORMS:
        raise ValueError(f"norm must be 'min-max', 'z-score', 'rank' or None, not {norm!r}")
    k = check_number("k", k)
    if k < 0:
        raise ValueError(f"k must not be negative: {k:g}")
    return Recipe("reciprocal" if method == "rrf" else norm, k, method == "combmnz")


def read_runs(
    runs: Any,
    format: Any = None,
    columns: Any = None,
    judged: Sequence[tuple[str, Any, str]] = (),
) -> tuple[tuple[Any, ...], list[dict[Any, Any]]]:
    """Return the names of the runs, and the runs as mappings; before them what is judged.

    Integers and their decimal text are the same in all of them, as for `whole_mappings`.

    Raises
    ------
    ImportError, OSError, TypeError, ValueError
        As for `fuse`.
    """
    if not hasattr(runs, "items") or not hasattr(runs, "keys"):
        raise TypeError(f"runs must be a mapping from name to run, not {type(runs).__name__}")
    items = list(runs.items())
    if not items:
        raise ValueError("there is no run to fuse")
    sides = [*judged, *((f"run {name!r}", run, "run") for name, run in items)]
    read = whole_mappings(sides, format=format, columns=columns)
    return tuple(name for name, _ in items), read


def array_of_weights(weights: Any, names: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Return the weights in the order of the names.

    Raises
    ------
    TypeError, ValueError
        As for `fuse`.
    """
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, (str, bytes)) or not (
        isinstance(weights, Mapping)
        or (hasattr(weights, "__len__") and hasattr(weights, "__getitem__"))
    ):
        raise TypeError(
            f"weights must be a mapping from run to number or a sequence, not {weights!r:.60}"
        )
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                known = ", ".join(map(repr, names))
                raise ValueError(f"there is a weight for {name!r}, but the runs are {known}")
        for name in names:
            if name not in weights:
                raise ValueError(f"run {name!r} has no weight")
        given = [weights[name] for name in names]
    else:
        given = list(weights)
    if len(given) != len(names):
        raise ValueError(f"there are {len(given)} weights for {len(names)} runs")
    array = np.array(
        [check_number(f"weight of run {name!r}", x) for name, x in zip(names, given, strict=True)]
    )
    for name, weight in zip(names, array.tolist(), strict=True):
        if weight < 0:
            raise ValueError(f"the weight of run {name!r} is negative: {weight:g}")
    if not array.any():
        raise ValueError("all weights are 0")
    return array
