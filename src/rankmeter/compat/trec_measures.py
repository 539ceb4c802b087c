"""The measures of trec_eval 10 by their names there: which metrics they are, and how they print.

`TrecPlan` gathers the metrics that some measures need, so that each is computed once, and holds a
`Column` for each value that is printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankmeter.compat.trec_names import MEASURES, Measure, Summary
from rankmeter.naming.metric import Metric
from rankmeter.naming.rows import LEAST, METRICS

Values = npt.NDArray[np.float64]
LONGEST_STRING = 1000


def has_gains(measures: Mapping[str, str | None]) -> bool:
    """Whether a measure has gains of its own, so that the grades must be known first."""
    return any(
        given is not None and MEASURES[name].takes == "gain" for name, given in measures.items()
    )


class TrecRows(NamedTuple):
    """The values of the metrics of a plan, one row a query.

    Attributes
    ----------
    values : numpy.ndarray
        queries x metrics.
    absent : numpy.ndarray
        Which of the queries the run lacks.
    pooled : numpy.ndarray or None
        queries x ranks: documents up to there that are in the pool, but not judged; None where
        the judgments have none.
    """

    values: Values
    absent: npt.NDArray[np.bool_]
    pooled: Values | None = None


class Column(NamedTuple):
    """What is printed under one name.

    Attributes
    ----------
    name : str
    of : callable
        Makes the values of the queries from `TrecRows`.
    summary : str
        How these become one: their mean, sum or geometric mean (of values that are logarithms),
        the number of queries, that of relevant documents, the name of the run, or not at all.
    per_query : bool
        Whether the values of the queries are printed.
    whole : bool
        Whether they are whole numbers.
    strings : callable or None
        Makes the strings that are printed for the queries in place of numbers.
    """

    name: str
    of: Callable[[TrecRows], Values]
    summary: Summary = "mean"
    per_query: bool = True
    whole: bool = False
    strings: Callable[[TrecRows], list[str]] | None = None


class TrecPlan:
    """The metrics to compute for some measures, and the columns to print.

    Parameters
    ----------
    measures : mapping
        From each measure to its parameters as they were written, or None.
    level : int
        Grades from here on are relevant.
    judged_only : bool
        Whether documents that are not judged are taken out of the rankings first.
    documents : int
        How many the collection holds.
    grades : iterable of float
        Those of the judgments; needed where `has_gains`.
    strings : bool
        Whether strings of grades are wanted.

    Attributes
    ----------
    metrics : dict of Metric to int
        What to compute, and where its values stand in `TrecRows`.
    columns : list of Column
    retrieved, relevant, all_relevant : int
        Where num_ret and num_rel stand, the last with a level of 1.
    depth : int
        How many ranks the strings of grades show.

    Raises
    ------
    ValueError
        For parameters that a measure does not take.
    """

    def __init__(
        self,
        measures: Mapping[str, str | None],
        *,
        level: int = 1,
        judged_only: bool = False,
        documents: int = 0,
        grades: Iterable[float] = (),
        strings: bool = True,
    ) -> None:
        self.metrics: dict[Metric, int] = {}
        self.columns: list[Column] = []
        self._level = level
        self._judged_only = judged_only
        self._documents = documents
        self._grades = tuple(grades)
        self._strings = strings
        self.depth = 0
        self.retrieved = self._metric("num_ret")
        self.relevant = self._metric("num_rel")
        self.all_relevant = self._add(Metric("num_rel"))  # whatever the level
        for name in MEASURES:
            if name in measures:
                given = measures[name]
                try:
                    self._measure(name, given)
                except ValueError as error:
                    spelling = name if given is None else f"{name}.{given}"
                    raise ValueError(f"{spelling}: {error}") from None

    def _metric(self, name: str, k: int | None = None, **parameters: Any) -> int:
        """Ask for a metric; return where its values will be."""
        if "rel" in METRICS[name].parameters and parameters.get("grading") != "graded":
            parameters["rel"] = self._level
        return self._add(Metric(name, k, judged_only=self._judged_only, **parameters))

    def _add(self, metric: Metric) -> int:
        return self.metrics.setdefault(metric, len(self.metrics))

    def _print(self, name: str, place: int, **how: Any) -> None:
        self.columns.append(Column(name, lambda rows: rows.values[:, place], **how))

    def _measure(self, name: str, given: str | None) -> None:
        measure = MEASURES[name]
        if name == "runid":
            self.columns.append(Column(name, _zeros, "run", per_query=False))
        elif name == "num_q":
            self.columns.append(Column(name, _ones, "queries", per_query=False, whole=True))
        elif measure.summary in ("sum", "relevant"):
            place = self._metric(str(measure.metric))
            self._print(name, place, summary=measure.summary, whole=True)
        elif measure.summary == "geometric":
            place = self._metric(str(measure.metric))
            self.columns.append(
                Column(name, lambda rows: _logs(rows.values[:, place]), "geometric", False)
            )
        elif measure.takes == "":
            self._print(name, self._metric(str(measure.metric)))
        elif measure.takes == "k":
            self._of_cutoffs(name, measure, given)
        elif measure.takes == "gain":
            self._of_gains(name, measure, given)
        else:
            label = name if given is None else f"{name}_{given}"
            special = {
                "iprec_at_recall": self._iprec,
                "Rprec_mult": self._rprec_mult,
                "11pt_avg": self._average,
                "relstring": self._relstring,
                "utility": self._utility,
                "set_F": self._set_f,
                "rbp": self._rbp,
                "rbp_resid": self._rbp_resid,
            }
            special[name](label, given)

    def _of_cutoffs(self, name: str, measure: Measure, given: str | None) -> None:
        cutoffs = measure.defaults if given is None else _rising(given, int)
        if cutoffs[0] < 1:
            raise ValueError("cut-offs must be 1 or more")
        for k in map(int, cutoffs):
            self._print(f"{name}_{k}", self._metric(str(measure.metric), k, **measure.fixed))

    def _of_gains(self, name: str, measure: Measure, given: str | None) -> None:
        parameters = dict(measure.fixed)
        if given is not None:
            gain = {grade: grade for grade in self._grades if grade > 0}
            for level, value in _pairs(given).items():
                gain[_integer(level)] = value
            parameters["gain"] = gain
        place = self._metric(str(measure.metric), **parameters)
        label = name if given is None else f"{name}_{given}"
        if measure.needs_relevant:

            def of(rows: TrecRows) -> Values:
                # Where no grade reaches the level, whatever the gains.
                return np.where(rows.values[:, self.relevant] > 0, rows.values[:, place], 0.0)

            self.columns.append(Column(label, of))
        else:
            self._print(label, place)

    def _iprec(self, _label: str, given: str | None) -> None:
        for level in _levels("iprec_at_recall", given):
            place = self._metric("iprec", recall=max(level, 0.0))
            self._print(f"iprec_at_recall_{level:.2f}", place)

    def _rprec_mult(self, _label: str, given: str | None) -> None:
        for multiple in _levels("Rprec_mult", given):
            label = f"Rprec_mult_{multiple:.2f}"
            if multiple > 0:
                self._print(label, self._metric("rprec", multiple=multiple))
            else:
                self.columns.append(Column(label, _zeros))

    def _average(self, label: str, given: str | None) -> None:
        levels = MEASURES["11pt_avg"].defaults
        if given is not None:
            levels = tuple(map(_number, given.split(",")))
        if list(levels) != sorted(levels):
            raise ValueError("levels of recall must rise")
        places = [self._metric("iprec", recall=max(level, 0.0)) for level in levels]

        def of(rows: TrecRows) -> Values:
            total = _zeros(rows)
            for place in reversed(places):  # the order of trec_eval, to the last bit
                total += rows.values[:, place]
            return total / len(places)

        self.columns.append(Column(label, of))

    def _relstring(self, label: str, given: str | None) -> None:
        length = 10 if given is None else int(max(_number(given.split(",")[0]), 0))
        if length > LONGEST_STRING:
            raise ValueError(f"a string has at most {LONGEST_STRING} characters")
        if not self._strings:
            return
        self.depth = length
        ranks = range(1, length + 1)
        # What rank r adds to the DCG is its grade, and to the judged documents whether it is one.
        gains = [self._metric("dcg", r, gain="linear") for r in ranks]
        judged = [self._metric("judged", r) for r in ranks]

        def strings(rows: TrecRows) -> list[str]:
            retrieved = rows.values[:, self.retrieved]
            codes = _codes(
                rows.values[:, gains],
                rows.values[:, judged] * np.minimum(retrieved[:, None], np.array(ranks)),
                rows.pooled,
            )
            # The document that stands for an absent query shows where there are parameters.
            stand_in = "" if given is None or self._judged_only else "-"[:length]
            return [
                stand_in if absent else code.tobytes().decode("ascii")[: int(depth)]
                for code, depth, absent in zip(codes, retrieved, rows.absent, strict=True)
            ]

        self.columns.append(Column(label, _zeros, "none", strings=strings))

    def _utility(self, label: str, given: str | None) -> None:
        numbers = [1.0, -1.0, 0.0, 0.0] if given is None else [*map(_number, given.split(","))]
        if len(numbers) != 4:
            raise ValueError("there must be four parameters")
        a, b, c, d = numbers
        place = self._metric("utility", a=a, b=b, c=c, d=d, documents=self._documents)
        # With parameters, an absent query counts as one with a single document, not relevant.
        stand_in = 0.0 if self._judged_only else b - d

        def of(rows: TrecRows) -> Values:
            values = rows.values[:, place]
            return np.where(rows.absent, 0.0 if given is None else values + stand_in, values)

        self.columns.append(Column(label, of))

    def _set_f(self, label: str, given: str | None) -> None:
        beta = 1.0 if given is None else _number(given.split(",")[0])
        self._print(label, self._metric("set_f", beta=beta, weight="plain"))

    def _rbp(self, label: str, given: str | None) -> None:
        self._print(label, self._metric("rbp", p=_persistence(given), grading="graded"))

    def _rbp_resid(self, label: str, given: str | None) -> None:
        p = _persistence(given)
        residual = self._metric("rbp_residual", p=p)
        found = self._metric("num_rel_ret"), self._metric("num_nonrel_judged_ret")
        stand_in = 0.0 if given is None or self._judged_only else p + (1.0 - p)

        def of(rows: TrecRows) -> Values:
            judged = rows.values[:, found[0]] + rows.values[:, found[1]]
            none_unjudged = judged == rows.values[:, self.retrieved]
            values = np.where(none_unjudged, 0.0, rows.values[:, residual])
            return np.where(rows.absent, stand_in, values)

        self.columns.append(Column(label, of))


def _zeros(rows: TrecRows) -> Values:
    return np.zeros(len(rows.values))


def _ones(rows: TrecRows) -> Values:
    return np.ones(len(rows.values))


def _logs(values: Values) -> Values:
    return np.array([math.log(max(value, LEAST)) for value in values.tolist()])


def _codes(gains: Values, judged: Values, pooled: Values | None) -> npt.NDArray[np.uint8]:
    """One character a rank, from what the ranks up to there hold together."""
    ranks = np.arange(1, gains.shape[1] + 1)
    grades = np.diff(gains, prepend=0.0) * np.log2(ranks + 1)
    grades = np.floor(grades + 0.001).clip(0, 10)  # rounded, but 1.5 is 1
    codes = np.full(gains.shape, ord("-"), np.uint8)
    digits = np.where(grades > 9, ord(">"), ord("0") + grades).astype(np.uint8)
    is_judged = np.diff(judged, prepend=0.0) > 0.5
    codes[is_judged] = digits[is_judged]
    if pooled is not None:
        codes[np.diff(pooled, prepend=0.0) > 0.5] = ord(".")
    return codes


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is not a number")
    return number


def _integer(text: str) -> int:
    number = _number(text)
    if not number.is_integer():
        raise ValueError(f"{text!r} is not a grade")
    return int(number)


def _rising(text: str, kind: Callable[[float], float]) -> tuple[float, ...]:
    numbers = sorted(kind(_number(part)) for part in text.split(","))
    if len(set(numbers)) < len(numbers):
        raise ValueError("a number stands twice")
    return tuple(numbers)


def _levels(name: str, given: str | None) -> tuple[float, ...]:
    return MEASURES[name].defaults if given is None else _rising(given, float)


def _pairs(text: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if not (name and sign):
            raise ValueError(f"{part!r} is not name=number")
        if name in pairs:
            raise ValueError(f"{name} stands twice")
        pairs[name] = _number(value)
    return pairs


def _persistence(given: str | None) -> float:
    if given is None:
        return 0.9
    pairs = _pairs(given)
    if set(pairs) != {"p"}:
        raise ValueError("the only parameter is p=number")
    return pairs["p"]
