"""The measures of trec_eval 9 by the names and keys that pytrec_eval has for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankmeter.compat import trec_measures as trec_eval_10
from rankmeter.naming.metric import Metric
from rankmeter.naming.rows import LEAST, METRICS

_SPELLING = re.compile(r"(.+?)[._](-?[0-9][-0-9.,=]*)")


class Family(NamedTuple):
    """A measure, or one for each of its parameters.

    Attributes
    ----------
    metric : str or None
        None for a text, which has the value 0 in results.
    takes : str
        What its parameters are: "k", "recall", "multiple", "beta", "gain", "utility" or nothing.
    defaults : tuple of str
        The parameters where none are given.
    fixed : mapping
        Parameters of the metric that are always the same.
    logarithm : bool
        Whether the value is the logarithm of that of the metric.
    together : bool
        Whether its parameters together give one value, their mean.
    needs_relevant : bool
        Whether it is 0 where no grade reaches the level of relevance, whatever the gains.
    """

    metric: str | None
    takes: str = ""
    defaults: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = {}
    logarithm: bool = False
    together: bool = False
    needs_relevant: bool = False


_CUTOFFS = tuple(map(str, trec_eval_10.CUTOFFS))
_TENTHS = tuple(map(str, trec_eval_10.TENTHS))
_FIFTHS = tuple(map(str, trec_eval_10.FIFTHS))
_UP = {"rounding": "up"}  # trec_eval 10 rounds to the nearest
_LINEAR = {"gain": "linear"}

FAMILIES: Mapping[str, Family] = {  # in the order of the keys in results
    "runid": Family(None),
    "num_q": Family("num_q"),
    "num_ret": Family("num_ret"),
    "num_rel": Family("num_rel"),
    "num_rel_ret": Family("num_rel_ret"),
    "map": Family("map"),
    "gm_map": Family("gm_map", logarithm=True),
    "Rprec": Family("rprec"),
    "bpref": Family("bpref"),
    "recip_rank": Family("mrr"),
    "iprec_at_recall": Family("iprec", "recall", _TENTHS, _UP),
    "P": Family("precision", "k", _CUTOFFS),
    "relstring": Family(None),
    "recall": Family("recall", "k", _CUTOFFS),
    "infAP": Family("infap"),
    "gm_bpref": Family("gm_bpref", logarithm=True),
    "Rprec_mult": Family("rprec", "multiple", _FIFTHS),
    "utility": Family("utility", "utility"),
    "11pt_avg": Family("iprec", "recall", _TENTHS, _UP, together=True),
    "binG": Family("bing"),
    "G": Family("g", "gain", (), _LINEAR),
    "ndcg": Family("ndcg", "gain", (), _LINEAR),
    "ndcg_rel": Family("ndcg_rel", "gain", (), _LINEAR),
    "Rndcg": Family("rndcg", "gain", (), _LINEAR, needs_relevant=True),
    "ndcg_cut": Family("ndcg", "k", _CUTOFFS, _LINEAR),
    "map_cut": Family("map", "k", _CUTOFFS),
    "relative_P": Family("relative_precision", "k", _CUTOFFS),
    "success": Family("hit", "k", ("1", "5", "10")),
    "set_P": Family("set_precision"),
    "set_relative_P": Family("set_relative_precision"),
    "set_recall": Family("set_recall"),
    "set_map": Family("set_map"),
    "set_F": Family("set_f", "beta", (), {"weight": "plain"}),
    "num_nonrel_judged_ret": Family("num_nonrel_judged_ret"),
}

_PREFS = {"prefs_simp", "prefs_pair", "prefs_avgjg"}
_COUNTS = {"prefs_num_prefs_poss", "prefs_num_prefs_ful"}
_ALL_PREFS = {f"{name}{end}" for name in _PREFS for end in ("", "_ret", "_imp")}
_ALL_PREFS |= _COUNTS | {"prefs_num_prefs_ful_ret", "prefs_avgjg_Rnonrel"}
_ALL_PREFS |= {"prefs_avgjg_Rnonrel_ret"}

NICKNAMES: Mapping[str, frozenset[str]] = {
    "official": frozenset(trec_eval_10.NICKNAMES["official"]),
    "set": frozenset(trec_eval_10.NICKNAMES["set"]),
    "all_trec": frozenset(FAMILIES),
    "all_prefs": frozenset({"runid", "num_q"} | _ALL_PREFS),
    "prefs": frozenset({"runid", "num_q", "prefs_num_prefs_ful_ret"} | _PREFS | _COUNTS),
    "qrels_jg": frozenset({"runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"}),
}
_ELSEWHERE = frozenset().union(*NICKNAMES.values()) - FAMILIES.keys()


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
    for measure in measures:
        if not isinstance(measure, str):
            raise TypeError(f"a measure is a str, not {measure!r}")
        # A family of which some parameters are named has only these.
        for name in NICKNAMES.get(measure, (measure,)):
            base, parameters = _split(name)
            asked.setdefault(base, []).extend(parameters)
    values: list[Value] = []
    for name, family in FAMILIES.items():
        if name in asked:
            try:
                values += _values(name, family, asked[name], rel, judged_only, qrels)
            except ValueError as error:
                spelled = f"{name}.{','.join(asked[name])}" if asked[name] else name
                raise ValueError(f"unsupported measure {spelled}: {error}") from None
    return Measures(values)


def _split(name: str) -> tuple[str, list[str]]:
    """The name of a family and its parameters."""
    if name in FAMILIES:
        return name, []
    match = _SPELLING.fullmatch(name)
    if match is not None and match[1] in FAMILIES:
        return match[1], match[2].split(",")
    if name in _ELSEWHERE:
        raise ValueError(f"unsupported measure {name}: trec_eval has it, rankmeter has not")
    raise ValueError(f"unsupported measure {name}: there are {', '.join(FAMILIES)}")


def _values(
    name: str,
    family: Family,
    parameters: Sequence[str],
    rel: float,
    judged_only: bool,
    qrels: Mapping[Any, Mapping[Any, Any]],
) -> list[Value]:
    def metric(**given: Any) -> Metric:
        assert family.metric is not None
        common: dict[str, Any] = {"judged_only": judged_only, **family.fixed}
        if "rel" in METRICS[family.metric].parameters:
            common["rel"] = rel
        return Metric(family.metric, **(common | given))

    takes = family.takes
    if takes not in ("k", "recall", "multiple"):
        given = _READERS[takes](parameters, qrels) if parameters else {}
        made = () if family.metric is None else (metric(**given),)
        needed = Metric("num_rel", rel=rel) if family.needs_relevant else None
        return [Value(name, made, family.logarithm, needed)]
    number = _cutoff if takes == "k" else float
    levels = sorted({number(text) for text in parameters or family.defaults})
    metrics = tuple(metric(**{takes: level}) for level in levels)
    if family.together:
        return [Value(name, metrics, family.logarithm)]
    keys = [f"{name}_{level}" if takes == "k" else f"{name}_{level:.2f}" for level in levels]
    if len(set(keys)) < len(keys):
        raise ValueError("two of its parameters have the same two decimals")
    return [Value(key, (m,), family.logarithm) for key, m in zip(keys, metrics, strict=True)]


def _cutoff(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"a cut-off is an integer, not {text!r}")
    return int(text)


def _nothing(parameters: Sequence[str], qrels: object) -> dict[str, Any]:
    raise ValueError("it takes no parameter")


def _beta(parameters: Sequence[str], qrels: object) -> dict[str, Any]:
    if len(parameters) > 1:
        raise ValueError("it takes one parameter")
    return {"beta": float(parameters[0])}


def _coefficients(parameters: Sequence[str], qrels: object) -> dict[str, Any]:
    if len(parameters) != 4:
        raise ValueError("it takes four coefficients")
    return dict(zip("abcd", map(float, parameters), strict=True))


def _gains(parameters: Sequence[str], qrels: Mapping[Any, Mapping[Any, Any]]) -> dict[str, Any]:
    """The gains that are given; a grade without one gains itself."""
    gains = {}
    for pair in parameters:
        grade, sign, gain = pair.partition("=")
        if not sign:
            raise ValueError(f"a parameter is grade=gain, not {pair!r}")
        gains[float(grade)] = float(gain)
    grades = {float(grade) for judged in qrels.values() for grade in judged.values()}
    return {"gain": {grade: grade for grade in grades if grade > 0} | gains}


_READERS: Mapping[str, Callable[[Sequence[str], Any], dict[str, Any]]] = {
    "": _nothing,
    "beta": _beta,
    "utility": _coefficients,
    "gain": _gains,
}
