"""Metrics as values: names, parameters, and the spellings of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from operator import index
from types import MappingProxyType
from typing import Any

from rankmeter._core.kernels import METRICS as _ROWS
from rankmeter._core.kernels import Metrics, Row

METRICS: Mapping[str, Row] = MappingProxyType({row.name: row for row in _ROWS})
"""Every metric, by name."""

DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"rel": 1.0, "gain": "exponential", "discount": "log2"}
)
"""The parameters of the metrics and their defaults."""

_SPELLING = re.compile(r"([A-Za-z][A-Za-z0-9_.]*)(?:@([^()]*))?(?:\((.*)\))?", re.DOTALL)
_PARAMETER = re.compile(r"\s*([a-z]+)\s*=\s*(\{[^{}]*\}|[^,{}]*)\s*(?:,|$)")


@dataclass(frozen=True)
class Metric:
    """A metric with its cut-off and parameters.

    Equal metrics compare equal and hash alike however they were spelled; `str` gives a name that
    `parse` reads back.

    Parameters
    ----------
    name : str
        The name of a row of ``METRICS``, such as ``"ndcg"``.
    k : int, optional
        The cut-off, at least 1; without one the whole ranking counts.
    rel : float
        Grades from here on are relevant; must be above 0. Default 1.
    gain : str or tuple of (float, float)
        For nDCG: ``"exponential"`` (2^grade - 1, the default), ``"linear"`` (the grade), or a
        mapping from grade to gain, kept as sorted pairs.
    discount : str
        For nDCG: ``"log2"``, 1 / log2(rank + 1) (default), or ``"jarvelin"``,
        1 / max(1, log2(rank)).

    Raises
    ------
    ValueError
        For an unknown name, a parameter that the metric does not take, or a wrong value.
    TypeError
        For a value of the wrong type.

    Examples
    --------
    >>> import rankmeter as rm
    >>> str(rm.Metric("ndcg", 10, gain="linear"))
    'ndcg@10(gain=linear)'
    >>> rm.Metric("ndcg", 10, gain="linear") == rm.parse("ndcg_cut_10")
    True
    """

    name: str
    k: int | None = None
    rel: float = field(default=1.0, kw_only=True)
    gain: Any = field(default="exponential", kw_only=True)
    discount: str = field(default="log2", kw_only=True)

    def __post_init__(self) -> None:
        row = METRICS.get(self.name)
        if row is None:
            raise _unknown(self.name)
        if self.k is None and row.cutoff == "required":
            raise ValueError(f"{self.name} needs a cut-off, for example '{self.name}@10'")
        for parameter, default in DEFAULTS.items():
            if parameter not in row.parameters and getattr(self, parameter) != default:
                raise ValueError(
                    f"{self.name} has no parameter {parameter!r}; it takes "
                    + " and ".join(map(repr, row.parameters))
                )
        gain = self.gain
        if isinstance(gain, tuple):
            gain = dict(gain)
        Metrics([(row, self.k, self.rel, gain, self.discount)])  # refuses wrong values
        if self.k is not None:
            object.__setattr__(self, "k", index(self.k))
        object.__setattr__(self, "rel", float(self.rel))
        if not isinstance(gain, str):
            pairs = sorted((float(grade), float(value)) for grade, value in gain.items())
            object.__setattr__(self, "gain", tuple(pairs))

    def __str__(self) -> str:
        cutoff = "" if self.k is None else f"@{self.k}"
        given = [
            f"{parameter}={_text(getattr(self, parameter))}"
            for parameter in METRICS[self.name].parameters
            if getattr(self, parameter) != DEFAULTS[parameter]
        ]
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
    if match is None:
        raise _unknown(text)
    name, cutoff, arguments = match.groups()
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
    return tuple(named), Metrics(
        [
            (
                METRICS[m.name],
                m.k,
                m.rel,
                dict(m.gain) if isinstance(m.gain, tuple) else m.gain,
                m.discount,
            )
            for m in named.values()
        ]
    )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and value < 1e15 else repr(value)
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
        if name not in DEFAULTS:
            raise ValueError(f"unknown parameter {name!r}; there are {', '.join(DEFAULTS)}")
        arguments[name] = _value(name, value)
        position = match.end()
    return arguments


def _value(name: str, text: str) -> Any:
    try:
        if name == "rel":
            return float(text)
        if name == "gain" and text.startswith("{"):
            pairs = [entry.split(":") for entry in text[1:-1].split(",")]
            return {float(grade): float(gain) for grade, gain in pairs}
    except ValueError:
        shape = "a number" if name == "rel" else "{grade:gain,...}"
        raise ValueError(f"{name} must be {shape}, not {text!r}") from None
    return text


def _from_trec_eval(text: str) -> str | None:
    for row in _ROWS:
        for theirs, ours in row.trec_eval.items():
            pattern = re.escape(theirs).replace("_" + re.escape("{k}"), r"[_.]([0-9]+)")
            match = re.fullmatch(pattern, text)
            if match is not None:
                return str(ours.replace("{k}", match.group(1)) if match.groups() else ours)
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
    suggestions = [
        repr(n + (cutoff or ("@10" if METRICS[n].cutoff == "required" else "")) + parameters)
        for n in near
    ]
    hint = (
        f"did you mean {' or '.join(suggestions)}?"
        if suggestions
        else f"there are {', '.join(METRICS)}"
    )
    return ValueError(f"unknown metric {text!r}: {hint}")
