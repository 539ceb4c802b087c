"""A metric as a value: its name, its cut-off and its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

from rankmeter._core.driver import Metrics
from rankmeter._core.metrics.rows import PARAMETERS
from rankmeter.naming.rows import METRICS
from rankmeter.naming.spellings import unknown_metric

# What counts everything that was returned has other names.
_UNCUT = {"f1": "set_f", "precision": "set_precision", "recall": "set_recall"}


@dataclass(frozen=True, init=False, repr=False)
class Metric:
    """A metric with its cut-off and parameters.

    Equal metrics compare equal and hash alike however they were spelled; `str` gives a name that
    `parse` reads back. A parameter is also an attribute, with its default if it was not given.

    Parameters
    ----------
    name : str
        The name of a row of ``METRICS``, such as ``"ndcg"``.
    k : int, optional
        The cut-off, at least 1; without one the whole ranking counts.
    **parameters
        Those of the row, such as ``rel`` (grades from here on are relevant, default 1), ``gain``
        (``"exponential"``, ``"linear"`` or a mapping from grade to gain) or ``judged_only``;
        ``rankmeter metrics`` lists them.

    Attributes
    ----------
    parameters : tuple of (str, object)
        Those that are not at their defaults; a gain that is a mapping as sorted pairs.

    Raises
    ------
    ValueError
        For an unknown name, a parameter that the metric does not take or lacks, or a wrong value.
    TypeError
        For a value of the wrong type.

    Examples
    --------
    >>> import rankmeter as rm
    >>> str(rm.Metric("ndcg", 10, gain="linear"))
    'ndcg@10(gain=linear)'
    >>> rm.Metric("ndcg", 10, gain="linear") == rm.parse("ndcg_cut_10")
    True
    >>> rm.Metric("rbp").p
    0.8
    """

    __module__ = "rankmeter"

    name: str
    k: int | None
    parameters: tuple[tuple[str, Any], ...]

    def __init__(self, name: str, k: int | None = None, **parameters: Any) -> None:
        row = METRICS.get(name)
        if row is None:
            raise unknown_metric(name)
        if k is None and row.cutoff == "required":
            uncut = f"; for all that was returned, '{_UNCUT[name]}'" if name in _UNCUT else ""
            raise ValueError(f"{name} needs a cut-off, for example '{name}@10'{uncut}")
        given = {
            key: gains_of(value) if key == "gain" and isinstance(value, tuple) else value
            for key, value in parameters.items()
        }
        Metrics([(row, k, given)])  # refuses wrong values
        values = row.defaults | {p: PARAMETERS[p].checked(value) for p, value in given.items()}
        changed = tuple((p, v) for p, v in values.items() if v != row.defaults[p])
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "k", None if k is None else index(k))
        object.__setattr__(self, "parameters", changed)

    def __getattr__(self, name: str) -> Any:
        if name in PARAMETERS and name in METRICS[self.name].parameters:
            return dict(self.parameters).get(name, METRICS[self.name].defaults[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        cutoff = "" if self.k is None else f", {self.k}"
        given = "".join(f", {name}={value!r}" for name, value in self.parameters)
        return f"Metric({self.name!r}{cutoff}{given})"

    def __str__(self) -> str:
        cutoff = "" if self.k is None else f"@{self.k}"
        given = [f"{name}={_text(value)}" for name, value in self.parameters]
        return self.name + cutoff + (f"({','.join(given)})" if given else "")


def is_geometric(metric: Metric) -> bool:
    """Tell whether the mean of a metric is the geometric one."""
    return METRICS[metric.name].mean == "geometric"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, tuple):
        return "{" + ",".join(f"{_text(grade)}:{_text(gain)}" for grade, gain in value) + "}"
    return str(value)


def gains_of(pairs: tuple[tuple[Any, Any], ...]) -> dict[Any, Any]:
    """Return a gain mapping as a dict."""
    gains: dict[Any, Any] = {}
    for grade, gain in pairs:
        if grade in gains:
            raise ValueError(f"the gain of grade {grade:g} is given twice")
        gains[grade] = gain
    return gains
