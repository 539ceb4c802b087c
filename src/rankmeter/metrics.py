"""Metrics as values: names, parameters, and the spellings of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from types import MappingProxyType
from typing import Any

from rankmeter._core.kernels import METRICS as _ROWS
from rankmeter._core.kernels import Metrics
from rankmeter._core.rows import PARAMETERS, Row

METRICS: Mapping[str, Row] = MappingProxyType({row.name: row for row in _ROWS})
"""Every metric, by name."""

_SPELLING = re.compile(r"([A-Za-z][A-Za-z0-9_.]*)(?:@([^()]*))?(?:\((.*)\))?", re.DOTALL)
_PARAMETER = re.compile(r"\s*([a-z_]+)\s*=\s*(\{[^{}]*\}|[^,{}]*)\s*(?:,|$)")


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

    name: str
    k: int | None
    parameters: tuple[tuple[str, Any], ...]

    def __init__(self, name: str, k: int | None = None, **parameters: Any) -> None:
        row = METRICS.get(name)
        if row is None:
            raise _unknown(name)
        if k is None and row.cutoff == "required":
            raise ValueError(f"{name} needs a cut-off, for example '{name}@10'")
        given = {
            key: dict(value) if key == "gain" and isinstance(value, tuple) else value
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


def parse(text: str) -> Metric:
    """Read the name of a metric: ``name[@k][(parameter=value, ...)]``.

    Parameters
    ----------
    text : str
        Such as ``"recall@100"``, ``"map(rel=2)"``, ``"ndcg@10(gain=linear,discount=jarvelin)"``
        or ``"ndcg@10(gain={1:3,2:7})"``; or a name of trec_eval, such as ``"ndcg_cut_10"``, which
        means exactly what trec_eval means by it.

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        For a name that is unknown or could be read in two ways (the message holds the nearest
        right ones), for ``k`` below 1 and for an unknown parameter or value.
    TypeError
        If `text` is no string.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.parse("recall@100").k
    100
    >>> str(rm.parse("recip_rank"))
    'mrr'
    """
    if not isinstance(text, str):
        raise TypeError(f"a metric is a str or a Metric, not {text!r}")
    match = _SPELLING.fullmatch(text.strip())
    name, cutoff, arguments = match.groups() if match else ("", None, None)
    if name not in METRICS:
        ours = _from_trec_eval(text.strip())
        if ours is None:
            raise _unknown(text)
        return parse(ours)
    k = None
    if cutoff is not None:
        if re.fullmatch(r"-?[0-9]+", cutoff) is None:
            raise ValueError(f"{text!r}: the cut-off must be an integer, not {cutoff!r}")
        k = int(cutoff)
    try:
        return Metric(name, k, **_arguments(arguments))
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None


def compile_metrics(
    metrics: str | Metric | Iterable[str | Metric],
) -> tuple[tuple[str, ...], Metrics]:
    """Names as the caller spelled them, and the metrics ready for the core.

    Parameters
    ----------
    metrics : str, Metric, or iterable of these

    Returns
    -------
    names : tuple of str
    compiled : Metrics

    Raises
    ------
    ValueError
        For an empty list, the same metric twice, or a name that `parse` refuses.
    """
    if isinstance(metrics, (str, Metric)):
        return _compile((metrics,))
    if not isinstance(metrics, Iterable):
        raise TypeError(f"metrics must be a list of names, not {metrics!r}")
    given = tuple(metrics)
    for metric in given:
        if not isinstance(metric, (str, Metric)):
            raise TypeError(f"a metric is a str or a Metric, not {metric!r}")
    return _compile(given)


@lru_cache(maxsize=128)  # a training loop asks for the same metrics again and again
def _compile(metrics: tuple[str | Metric, ...]) -> tuple[tuple[str, ...], Metrics]:
    named: dict[str, Metric] = {}
    for given in metrics:
        metric = given if isinstance(given, Metric) else parse(given)
        if str(given) in named:
            raise ValueError(f"the metric {str(given)!r} is named twice")
        named[str(given)] = metric
    if not named:
        raise ValueError("no metric was named: pass for example ['ndcg@10', 'recall@100']")
    return tuple(named), Metrics([(METRICS[m.name], m.k, _given(m)) for m in named.values()])


def _given(metric: Metric) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, tuple) else value
        for name, value in metric.parameters
    }


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, tuple):
        return "{" + ",".join(f"{_text(grade)}:{_text(gain)}" for grade, gain in value) + "}"
    return str(value)


def _arguments(text: str | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    position = 0
    while text is not None and position < len(text):
        match = _PARAMETER.match(text, position)
        if match is None:
            raise ValueError(f"cannot read {text[position:]!r}; parameters are name=value")
        name, value = match.group(1), match.group(2).strip()
        if name in arguments:
            raise ValueError(f"{name} is given twice")
        if name not in PARAMETERS:
            raise ValueError(f"unknown parameter {name!r}; there are {', '.join(PARAMETERS)}")
        arguments[name] = _value(name, value)
        position = match.end()
    return arguments


def _value(name: str, text: str) -> Any:
    try:
        if name == "gain" and text.startswith("{"):
            pairs = [entry.split(":") for entry in text[1:-1].split(",")]
            return {float(grade): float(gain) for grade, gain in pairs}
        if name == "gain" or PARAMETERS[name].words:
            return text
        if name == "judged_only":
            return {"true": True, "false": False}[text.lower()]
        return float(text)
    except (ValueError, KeyError):
        shapes = {"gain": "{grade:gain,...}", "judged_only": "true or false"}
        raise ValueError(f"{name} must be {shapes.get(name, 'a number')}, not {text!r}") from None


def _from_trec_eval(text: str) -> str | None:
    for row in _ROWS:
        for theirs, ours in row.trec_eval.items():
            pattern = re.escape(theirs)
            pattern = pattern.replace("_" + re.escape("{k}"), r"[_.]([0-9]+)")
            pattern = pattern.replace("_" + re.escape("{x}"), r"[_.]([0-9]*\.?[0-9]+)")
            match = re.fullmatch(pattern, text)
            if match is not None:
                number = match[1] if match.groups() else ""
                return str(ours.replace("{k}", number).replace("{x}", number))
    return None


def _unknown(text: str) -> ValueError:
    from difflib import get_close_matches  # of use to few

    if "," in text.partition("(")[0]:
        return ValueError(f"{text!r} is more than one name: pass a list of names")
    lowered = text.strip().lower()
    match = re.fullmatch(r"([a-z_]*[a-z])[_.@]?([0-9]*)(\(.*\))?", lowered)
    name, digits, parameters = match.groups() if match else (lowered, "", None)
    cutoff, parameters = "@" + digits if digits else "", parameters or ""
    row = METRICS.get(name)
    if row is not None and row.ambiguous and text.strip() != lowered:
        if "gain=" in parameters:
            return ValueError(f"unknown metric {text!r}: write '{name}{cutoff}{parameters}'")
        return ValueError(
            f"{text!r} {row.ambiguous}: write '{name}{cutoff}{parameters}' for exponential gain or "
            f"'{name}{cutoff}(gain=linear)' for linear gain"
        )
    known = {other: row.name for row in _ROWS for other in (row.name, *row.synonyms)}
    near = dict.fromkeys(known[n] for n in get_close_matches(name, known, n=3, cutoff=0.5))
    if name in known:
        near = {known[name]: None}
    suggestions = [repr(n + _cutoff_of(METRICS[n], cutoff) + parameters) for n in near]
    hint = (
        f"did you mean {' or '.join(suggestions)}?"
        if suggestions
        else f"there are {', '.join(METRICS)}"
    )
    return ValueError(f"unknown metric {text!r}: {hint}")


def _cutoff_of(row: Row, given: str) -> str:
    """The cut-off of a suggestion."""
    if row.cutoff == "none":
        return ""
    return given or ("@10" if row.cutoff == "required" else "")
