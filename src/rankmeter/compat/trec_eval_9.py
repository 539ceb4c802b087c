"""The measures of trec_eval 9 by the names and keys that pytrec_eval has for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankmeter.compat import trec_names
from rankmeter.compat.trec_names import Measure
from rankmeter.naming.metric import Metric
from rankmeter.naming.rows import LEAST, METRICS

_Reader = Callable[[Sequence[str], Any], dict[str, Any]]

_SPELLING = re.compile(r"(.+?)[._](-?[0-9][-0-9.,=]*)")


MEASURES = {name: measure for name, measure in trec_names.MEASURES.items() if measure.in_9}

_PREFS = {"prefs_simp", "prefs_pair", "prefs_avgjg"}
_COUNTS = {"prefs_num_prefs_poss", "prefs_num_prefs_ful"}
_ALL_PREFS = {f"{name}{end}" for name in _PREFS for end in ("", "_ret", "_imp")}
_ALL_PREFS |= _COUNTS | {"prefs_num_prefs_ful_ret", "prefs_avgjg_Rnonrel"}
_ALL_PREFS |= {"prefs_avgjg_Rnonrel_ret"}

NICKNAMES: Mapping[str, frozenset[str]] = {
    "official": frozenset(trec_names.NICKNAMES["official"]),
    "set": frozenset(trec_names.NICKNAMES["set"]),
    "all_trec": frozenset(MEASURES),
    "all_prefs": frozenset({"runid", "num_q"} | _ALL_PREFS),
    "prefs": frozenset({"runid", "num_q", "prefs_num_prefs_ful_ret"} | _PREFS | _COUNTS),
    "qrels_jg": frozenset({"runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"}),
}
_ELSEWHERE = frozenset().union(*NICKNAMES.values()) - MEASURES.keys()


class Value(NamedTuple):
    """One value of a result: the mean of some metrics, of none 0; and 0 where `needed` is 0."""

    key: str
    metrics: tuple[Metric, ...]
    logarithm: bool
    needed: Metric | None = None


class Measures:
    """What was asked for, ready to be made of the values of metrics.

    Attributes
    ----------
    keys : tuple of str
        Of the values of a query, in their order.
    metrics : tuple of Metric
        What is needed for them, each once.
    """

    def __init__(self, values: Sequence[Value]) -> None:
        self.keys = tuple(value.key for value in values)
        needed = {i: value.needed for i, value in enumerate(values) if value.needed is not None}
        computed = [metric for value in values for metric in value.metrics]
        self.metrics = tuple(dict.fromkeys([*computed, *needed.values()]))
        columns = {metric: i for i, metric in enumerate(self.metrics)}
        self._columns = [[columns[m] for m in value.metrics] for value in values]
        self._logarithms = [i for i, value in enumerate(values) if value.logarithm]
        self._needed = {i: columns[metric] for i, metric in needed.items()}
        # The usual columns are copied in one go.
        self._single = [i for i, metrics in enumerate(self._columns) if len(metrics) == 1]
        self._first = [self._columns[i][0] for i in self._single]
        self._means = [i for i, metrics in enumerate(self._columns) if len(metrics) > 1]

    def rows(self, values: npt.NDArray[np.float64]) -> list[list[float]]:
        """Make the values of each query, in the order of the keys."""
        made = np.zeros((len(values), len(self.keys)))
        made[:, self._single] = values[:, self._first]
        for i in self._means:
            made[:, i] = values[:, self._columns[i]].mean(axis=1)
        for i, needed in self._needed.items():
            made[values[:, needed] == 0.0, i] = 0.0
        for i in self._logarithms:
            made[:, i] = [log(max(value, LEAST)) for value in made[:, i].tolist()]
        rows: list[list[float]] = made.tolist()
        return rows


def read_measures(
    measures: Iterable[str],
    rel: float,
    judged_only: bool,
    qrels: Mapping[Any, Mapping[Any, Any]],
) -> Measures:
    """Read names such as ``"P"``, ``"P_5"``, ``"P.5,10"`` and ``"official"``.

    Parameters
    ----------
    measures : iterable of str
    rel : float
        Grades from here on are relevant.
    judged_only : bool
    qrels : mapping
        Their grades gain themselves, where some gains are given and others are not.

    Returns
    -------
    Measures

    Raises
    ------
    ValueError
        For a name that is unknown, and for parameters that a measure does not take.
    TypeError
        For one that is not a str.
    """
    asked: dict[str, list[str]] = {}
    for given in measures:
        if not isinstance(given, str):
            raise TypeError(f"a measure is a str, not {given!r}")
        # A family of which some parameters are named has only these.
        for name in NICKNAMES.get(given, (given,)):
            base, parameters = _split(name)
            asked.setdefault(base, []).extend(parameters)
    values: list[Value] = []
    for name, measure in MEASURES.items():
        if name in asked:
            try:
                values += _values(name, measure, asked[name], rel, judged_only, qrels)
            except ValueError as error:
                spelled = f"{name}.{','.join(asked[name])}" if asked[name] else name
                raise ValueError(f"unsupported measure {spelled}: {error}") from None
    return Measures(values)


def _split(name: str) -> tuple[str, list[str]]:
    """The name of a family and its parameters."""
    if name in MEASURES:
        return name, []
    match = _SPELLING.fullmatch(name)
    if match is not None and match[1] in MEASURES:
        return match[1], match[2].split(",")
    if name in _ELSEWHERE:
        raise ValueError(f"unsupported measure {name}: trec_eval has it, rankmeter has not")
    raise ValueError(f"unsupported measure {name}: there are {', '.join(MEASURES)}")


def _values(
    name: str,
    measure: Measure,
    parameters: Sequence[str],
    rel: float,
    judged_only: bool,
    qrels: Mapping[Any, Mapping[Any, Any]],
) -> list[Value]:
    def metric(**given: Any) -> Metric:
        assert measure.metric is not None
        common: dict[str, Any] = {"judged_only": judged_only, **measure.fixed, **measure.fixed_9}
        if "rel" in METRICS[measure.metric].parameters:
            common["rel"] = rel
        return Metric(measure.metric, **(common | given))

    takes, logarithm = measure.takes, measure.summary == "geometric"
    if takes not in ("k", "recall", "multiple"):
        given = _READERS[takes](parameters, qrels) if parameters else {}
        made = () if measure.metric is None else (metric(**given),)
        needed = Metric("num_rel", rel=rel) if measure.needs_relevant else None
        return [Value(name, made, logarithm, needed)]
    number = _read_cutoff if takes == "k" else float
    levels = sorted({number(text) for text in parameters}) if parameters else measure.defaults
    metrics = tuple(metric(**{takes: level}) for level in levels)
    if measure.together:
        return [Value(name, metrics, logarithm)]
    keys = [f"{name}_{level}" if takes == "k" else f"{name}_{level:.2f}" for level in levels]
    if len(set(keys)) < len(keys):
        raise ValueError("two of its parameters have the same two decimals")
    return [Value(key, (m,), logarithm) for key, m in zip(keys, metrics, strict=True)]


def _read_cutoff(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"a cut-off is an integer, not {text!r}")
    return int(text)


def _refuse(parameters: Sequence[str], qrels: object) -> dict[str, Any]:
    raise ValueError("it takes no parameter")


def _read_beta(parameters: Sequence[str], qrels: object) -> dict[str, Any]:
    if len(parameters) > 1:
        raise ValueError("it takes one parameter")
    return {"beta": float(parameters[0])}


def _read_coefficients(parameters: Sequence[str], qrels: object) -> dict[str, Any]:
    if len(parameters) != 4:
        raise ValueError("it takes four coefficients")
    return dict(zip("abcd", map(float, parameters), strict=True))


def _read_gains(
    parameters: Sequence[str], qrels: Mapping[Any, Mapping[Any, Any]]
) -> dict[str, Any]:
    """The gains that are given; a grade without one gains itself."""
    gains = {}
    for pair in parameters:
        grade, sign, gain = pair.partition("=")
        if not sign:
            raise ValueError(f"a parameter is grade=gain, not {pair!r}")
        gains[float(grade)] = float(gain)
    grades = {float(grade) for judged in qrels.values() for grade in judged.values()}
    return {"gain": {grade: grade for grade in grades if grade > 0} | gains}


_READERS: Mapping[str, _Reader] = {
    "": _refuse,
    "length": _refuse,
    "beta": _read_beta,
    "utility": _read_coefficients,
    "gain": _read_gains,
}
