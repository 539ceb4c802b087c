"""Metrics as values: names, parameters, and the spellings of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from types import MappingProxyType
from typing import Any, Protocol, cast

from rankmeter._core.kernels import METRICS as _ROWS
from rankmeter._core.kernels import Metrics
from rankmeter._core.rows import PARAMETERS, Row

METRICS: Mapping[str, Row] = MappingProxyType({row.name: row for row in _ROWS})
"""Every metric, by name."""
LEAST = 0.00001
"""What lower values count as in a geometric mean, as trec_eval has it."""

# What counts everything that was returned has other names.
_UNCUT = {"f1": "set_f", "precision": "set_precision", "recall": "set_recall"}
_SPELLING = re.compile(r"([A-Za-z][A-Za-z0-9_.]*)(?:@([^()]*))?(?:\((.*)\))?", re.DOTALL)
_LEVEL = re.compile(r"-l([0-9]+)\s*$")  # of relevance, in ranx
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")  # float takes more
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
            uncut = f"; for all that was returned, '{_UNCUT[name]}'" if name in _UNCUT else ""
            raise ValueError(f"{name} needs a cut-off, for example '{name}@10'{uncut}")
        given = {
            key: _gains(value) if key == "gain" and isinstance(value, tuple) else value
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


class Measure(Protocol):
    """A measure of ir_measures, or what has its shape."""

    NAME: Any
    params: Any


Wanted = str | Metric | Measure
"""What names a metric."""


def parse(text: str | Measure) -> Metric:
    """Read the name of a metric: ``name[@k][(parameter=value, ...)]``.

    Parameters
    ----------
    text : str or measure
        Such as ``"recall@100"``, ``"map(rel=2)"``, ``"ndcg@10(gain=linear,discount=jarvelin)"``
        or ``"ndcg@10(gain={1:3,2:7})"``; or a name of trec_eval or ranx, such as
        ``"ndcg_cut_10"`` or ``"hit_rate@10-l2"``, which means exactly what they mean by it; or a
        measure of ir_measures, such as ``ir_measures.nDCG @ 10``, which means what it means there.

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        For a name that is unknown or could be read in two ways (the message holds the nearest
        right ones), for ``k`` below 1 and for an unknown parameter or value.
    TypeError
        If `text` is neither a string nor a measure.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.parse("recall@100").k
    100
    >>> str(rm.parse("recip_rank"))
    'mrr'
    """
    if not isinstance(text, str):
        return _from_measure(text)
    match = _SPELLING.fullmatch(text.strip())
    name, cutoff, arguments = match.groups() if match else ("", None, None)
    if name not in METRICS or _LEVEL.search(text):
        ours = _from_elsewhere(text.strip())
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
    metrics: Wanted | Iterable[Wanted],
) -> tuple[Mapping[str, Metric], Metrics]:
    """Names as the caller spelled them, and the metrics ready for the core.

    Parameters
    ----------
    metrics : str, Metric, measure of ir_measures, or iterable of these

    Returns
    -------
    named : mapping
        Name to Metric, in the order given; shared, never to be changed.
    compiled : Metrics

    Raises
    ------
    ValueError
        For an empty list, the same metric twice, in whatever spellings, or a name that `parse`
        refuses.
    """
    if isinstance(metrics, (str, Metric)):
        return _compile((metrics,))
    if not isinstance(metrics, Iterable):
        metric = _from_measure(metrics, "metrics must be a list of names")
        return _compile(((str(metrics), metric),))
    return _compile(
        tuple(
            given if isinstance(given, (str, Metric)) else (str(given), _from_measure(given))
            for given in cast("Iterable[Wanted]", metrics)
        )
    )


@lru_cache(maxsize=128)  # a training loop asks for the same metrics again and again
def _compile(
    metrics: tuple[str | Metric | tuple[str, Metric], ...],
) -> tuple[Mapping[str, Metric], Metrics]:
    named = named_metrics(
        given if isinstance(given, tuple) else (str(given), given) for given in metrics
    )
    if not named:
        raise ValueError("no metric was named: pass for example ['ndcg@10', 'recall@100']")
    return named, Metrics([(METRICS[m.name], m.k, _given(m)) for m in named.values()])


def named_metrics(given: Iterable[tuple[str, str | Metric]]) -> dict[str, Metric]:
    """Return name to metric; blanks around a name are no part of it.

    Raises
    ------
    ValueError
        For the same metric twice, in whatever spellings, or a name that `parse` refuses.
    """
    named: dict[str, Metric] = {}
    names: dict[Metric, str] = {}
    for text, wanted in given:
        name = text.strip()
        metric = parse(wanted) if isinstance(wanted, str) else wanted
        other = names.setdefault(metric, name)
        if name in named:
            raise ValueError(f"the metric {name!r} is named twice")
        if other != name:
            raise ValueError(f"{other!r} and {name!r} are the same metric: name it once")
        named[name] = metric
    return named


def is_geometric(metric: Metric) -> bool:
    """Tell whether the mean of a metric is the geometric one."""
    return METRICS[metric.name].mean == "geometric"


def column_of(metrics: Mapping[str, Metric], wanted: Wanted, lacking: str) -> int:
    """Return the place of a metric among named ones, in whatever spelling.

    Parameters
    ----------
    metrics : mapping
        Name to Metric.
    wanted : str, Metric or measure of ir_measures
    lacking : str
        What to say of one that is not there, such as "was not evaluated".

    Raises
    ------
    KeyError
        If it is not there.
    TypeError
        If it is no name, `Metric` or measure.
    """
    if isinstance(wanted, str) and wanted in metrics:
        return list(metrics).index(wanted)
    try:
        metric = wanted if isinstance(wanted, Metric) else parse(wanted)
        return list(metrics.values()).index(metric)
    except ValueError:
        raise KeyError(f"{str(wanted)!r} {lacking}; there are {', '.join(metrics)}") from None


def _from_measure(given: Any, wanted: str = "a metric is a str or a Metric") -> Metric:
    from rankmeter.measures import is_measure, metric_of  # of use to few

    if not is_measure(given):
        raise TypeError(f"{wanted}, not {given!r}")
    return metric_of(given)


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
            entries = [entry.split(":") for entry in text[1:-1].split(",")]
            pairs = tuple((_number(grade), _number(gain)) for grade, gain in entries)
        elif name == "gain" or PARAMETERS[name].words:
            return text
        elif name == "judged_only":
            return {"true": True, "false": False}[text.lower()]
        else:
            return _number(text)
    except (ValueError, KeyError):
        shapes = {"gain": "{grade:gain,...}", "judged_only": "true or false"}
        raise ValueError(f"{name} must be {shapes.get(name, 'a number')}, not {text!r}") from None
    return _gains(pairs)


def _gains(pairs: tuple[tuple[Any, Any], ...]) -> dict[Any, Any]:
    gains: dict[Any, Any] = {}
    for grade, gain in pairs:
        if grade in gains:
            raise ValueError(f"the gain of grade {grade:g} is given twice")
        gains[grade] = gain
    return gains


def _number(text: str) -> float:
    if _NUMBER.fullmatch(text.strip()) is None:
        raise ValueError
    return float(text)


def _from_elsewhere(text: str) -> str | None:
    """Our spelling of a name of trec_eval or ranx, if it means one of our metrics."""
    level = _LEVEL.search(text)
    name = text[: level.start()] if level else text
    for row in _ROWS:
        for theirs, ours in (row.ranx if level else row.trec_eval | row.ranx).items():
            match = re.fullmatch(_pattern(theirs), name)
            if match is not None and (not level or "rel" in row.parameters):
                found = ours if match.lastindex is None else re.sub(r"\{[kx]\}", match[1], ours)
                return f"{found}(rel={level[1]})" if level else found
    return None


def _pattern(spelling: str) -> str:
    pattern = re.escape(spelling)
    pattern = pattern.replace("_" + re.escape("{k}"), r"[_.]([0-9]+)")
    pattern = pattern.replace("@" + re.escape("{k}"), r"@([0-9]+)")
    return pattern.replace("_" + re.escape("{x}"), r"[_.]([0-9]*\.?[0-9]+)")


def _of_ranx(text: str) -> str | None:
    """What to write for a name of ranx that means none of our metrics."""
    match = re.fullmatch(r"([a-z_]+)(?:([.@])([0-9]+))?(?:-l([0-9]+))?", text)
    name, sign, digits, level = match.groups() if match else ("", None, None, None)
    cutoff = f"@{digits}" if sign == "@" else ""
    parameters = f"(rel={level})" if level else ""
    if name == "rbp" and digits and (sign == "." or level):
        given = f"p=0.{digits}" + (f",rel={level}" if level else "")
        return f"counts grades as they are in ranx: write 'rbp({given})' for binary relevance"
    if name == "hits" and sign != ".":
        return (
            f"is a count in ranx: write 'hit{cutoff or '@10'}{parameters}' for whether there is "
            f"one, 'num_rel_ret{parameters}' for how many were returned at all"
        )
    if level and re.fullmatch("n?dcg(_burges)?", name):
        ours = name.removesuffix("_burges")
        return (
            f"counts lower grades as 0: write a gain for each grade, such as "
            f"'{ours}{cutoff}(gain={{1:0,2:3,3:7}})'"
        )
    return None


def _unknown(text: str) -> ValueError:
    from difflib import get_close_matches  # of use to few

    if "," in text.partition("(")[0]:
        return ValueError(f"{text!r} is more than one name: pass a list of names")
    reason = _of_ranx(text.strip())
    if reason is not None:
        return ValueError(f"{text!r} {reason}")
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
