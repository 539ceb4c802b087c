"""From text to metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Protocol, cast

from rankmeter._core.driver import Metrics
from rankmeter._core.metrics.rows import PARAMETERS
from rankmeter.naming.metric import Metric, gains_of
from rankmeter.naming.rows import METRICS
from rankmeter.naming.spellings import LEVEL, from_elsewhere, unknown_metric

# Compiled when first needed: that takes as long as all other imports of names.
_SPELLING = r"(?s)([A-Za-z][A-Za-z0-9_.]*)(?:@([^()]*))?(?:\((.*)\))?"
_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"  # float takes more
_PARAMETER = r"\s*([a-z_]+)\s*=\s*(\{[^{}]*\}|[^,{}]*)\s*(?:,|$)"


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
    match = re.fullmatch(_SPELLING, text.strip())
    name, cutoff, arguments = match.groups() if match else ("", None, None)
    if name not in METRICS or re.search(LEVEL, text):
        ours = from_elsewhere(text.strip())
        if ours is None:
            raise unknown_metric(text)
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
    """Return name to metric; blanks around a name are not part of it.

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
        If it is not a name, `Metric` or measure.
    """
    if isinstance(wanted, str) and wanted in metrics:
        return list(metrics).index(wanted)
    try:
        metric = wanted if isinstance(wanted, Metric) else parse(wanted)
        return list(metrics.values()).index(metric)
    except ValueError:
        raise KeyError(f"{str(wanted)!r} {lacking}; there are {', '.join(metrics)}") from None


def _from_measure(given: Any, wanted: str = "a metric is a str or a Metric") -> Metric:
    from rankmeter.naming.ir_measures import is_measure, metric_of  # of use to few

    if not is_measure(given):
        raise TypeError(f"{wanted}, not {given!r}")
    return metric_of(given)


def _given(metric: Metric) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, tuple) else value
        for name, value in metric.parameters
    }


def _arguments(text: str | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    rest = text or ""
    while rest:
        match = re.match(_PARAMETER, rest)
        if match is None:
            raise ValueError(f"cannot read {rest!r}; parameters are name=value")
        name, value = match.group(1), match.group(2).strip()
        if name in arguments:
            raise ValueError(f"{name} is given twice")
        if name not in PARAMETERS:
            raise ValueError(f"unknown parameter {name!r}; there are {', '.join(PARAMETERS)}")
        arguments[name] = _value(name, value)
        rest = rest[match.end() :]
    return arguments


def _value(name: str, text: str) -> Any:
    try:
        if name == "gain" and text.startswith("{"):
            entries = [entry.split(":") for entry in text[1:-1].split(",")]
            pairs = tuple((_parse_number(grade), _parse_number(gain)) for grade, gain in entries)
        elif name == "gain" or PARAMETERS[name].words:
            return text
        elif name == "judged_only":
            return {"true": True, "false": False}[text.lower()]
        else:
            return _parse_number(text)
    except (ValueError, KeyError):
        shapes = {"gain": "{grade:gain,...}", "judged_only": "true or false"}
        raise ValueError(f"{name} must be {shapes.get(name, 'a number')}, not {text!r}") from None
    return gains_of(pairs)


def _parse_number(text: str) -> float:
    if re.fullmatch(_NUMBER, text.strip()) is None:
        raise ValueError
    return float(text)
