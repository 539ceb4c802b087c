"""Measures of ir_measures as metrics: what each of them means here.

A measure is known by its shape, a ``NAME`` and ``params``, so ir_measures is never imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rankmeter.naming.metric import Metric

# Where the parameters are called the same, and have the same defaults.
_SAME = {
    "AP": "map",
    "Bpref": "bpref",
    "ERR": "err",
    "NumQ": "num_q",
    "NumRel": "num_rel",
    "P": "precision",
    "R": "recall",
    "RR": "mrr",
    "Rprec": "rprec",
    "SetAP": "set_map",
    "SetR": "set_recall",
    "Success": "hit",
    "infAP": "infap",
}


def _ndcg(
    k: int | None = None,
    *,
    dcg: str = "log2",
    gains: Mapping[Any, float] | None = None,
    judged_only: bool = False,
    grades: Iterable[float],
) -> Metric:
    if dcg not in ("log2", "exp-log2"):
        raise ValueError(f"dcg must be 'log2' or 'exp-log2', not {dcg!r}")
    if gains is None:
        gain: Any = "linear" if dcg == "log2" else "exponential"
    elif dcg == "exp-log2":
        raise ValueError("gains stand in place of grades, which exp-log2 does not define")
    elif judged_only and any(min(pair) < 0 for pair in gains.items()):
        raise ValueError("a gain or a grade below 0 changes which documents are judged")
    else:  # grades that the gains leave out are their own gains
        gain = {grade: max(grade, 0) for grade in grades}
        gain |= {grade: max(value, 0) for grade, value in gains.items()}
    return Metric("ndcg", k, gain=gain, judged_only=judged_only)


def _rbp(k: int | None = None, *, rel: float | None = None, **parameters: Any) -> Metric:
    if rel is None:
        raise ValueError(
            "without rel it is graded, and there is no one definition of that; give rel, or write "
            "'rbp(grading=graded)'"
        )
    return Metric("rbp", k, rel=rel, **parameters)


def _iprec(k: None = None, *, recall: float | None = None, **parameters: Any) -> Metric:
    if recall is None:
        raise ValueError("recall is missing, for example IPrec@0.1")
    # ir_measures writes the level with two digits into the name that it hands on.
    return Metric("iprec", k, recall=float(f"{recall:.2f}"), rounding="up", **parameters)


def _num_ret(k: None = None, *, rel: float | None = None) -> Metric:
    return Metric("num_ret", k) if rel is None else Metric("num_rel_ret", k, rel=rel)


def _set_p(k: None = None, *, relative: bool = False, **parameters: Any) -> Metric:
    return Metric("set_relative_precision" if relative else "set_precision", k, **parameters)


def _set_f(k: None = None, *, beta: float = 1.0, **parameters: Any) -> Metric:
    weight = "squared" if beta == 1 else "plain"
    return Metric("set_f", k, beta=beta, weight=weight, **parameters)


def _judged(k: int | None = None) -> Metric:
    return Metric("judged", k, negative="judged")


_OTHERS: dict[str, Callable[..., Metric]] = {
    "IPrec": _iprec,
    "Judged": _judged,
    "NumRet": _num_ret,
    "RBP": _rbp,
    "SetF": _set_f,
    "SetP": _set_p,
    "nDCG": _ndcg,
}
NAMES = frozenset(_SAME) | frozenset(_OTHERS)
"""The names of the measures that are known here."""


def is_measure(given: object) -> bool:
    """Tell whether this has the shape of a measure."""
    return isinstance(getattr(given, "NAME", None), str) and isinstance(
        getattr(given, "params", None), Mapping
    )


def metric_of(measure: Any, grades: Iterable[float] = ()) -> Metric:
    """Return the metric that a measure of ir_measures stands for.

    Parameters
    ----------
    measure : object
        With ``NAME`` and ``params``, such as ``ir_measures.nDCG @ 10``.
    grades : iterable of float
        All that occur, for measures with gains: a grade without an entry is its own gain.

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        If there is no such metric here, or a parameter cannot be had; the message says which.
    TypeError
        If a parameter is of the wrong type.
    """
    name = measure.NAME
    # What was defined at run time has an implementation of its own, whatever it is called.
    if name not in NAMES or hasattr(measure, "runtime_impl"):
        raise ValueError(
            f"the measure {measure} is not computed here; those of ir_measures that are: "
            f"{', '.join(sorted(NAMES))}"
        )
    # A bare object stands for "not provided".
    given = {key: value for key, value in measure.params.items() if type(value) is not object}
    k = given.pop("cutoff", None)
    if name == "nDCG":
        given["grades"] = grades
    try:
        return _OTHERS[name](k, **given) if name in _OTHERS else Metric(_SAME[name], k, **given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"the measure {measure}: {error}") from None
