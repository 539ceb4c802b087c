"""Judgments, opened once; what they are made of decides how a run is scored against them.

Judgments come as a mapping or as rows (of text or of a table), and so do runs. Two of a kind meet
as they are. Otherwise the judgments are made into the other kind when the first such run comes, and
kept so. Two threads may both make them, and one is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from rankmeter._core.doors.columns import JudgedRows
from rankmeter._core.doors.mappings import JudgedMappings
from rankmeter._core.driver import Metrics
from rankmeter._core.ids import decimal_text, with_text_keys
from rankmeter.arguments import check_mapping
from rankmeter.doors.how import How, Reading
from rankmeter.doors.integers import NO_INTEGERS, Integers, Kinds, judgments_as_text, kinds_of
from rankmeter.doors.kinds import Qrels, Run, is_columnar
from rankmeter.doors.scored import Scored

if TYPE_CHECKING:
    from rankmeter.doors.json import Json
    from rankmeter.doors.mistakes import Mistakes

# Files and tables are not everybody's: what reads them is imported where there is one.


class Judged(ABC):
    """Judgments and metrics, ready for the core. Never changes, as far as one can see.

    Attributes
    ----------
    queries : tuple
        In the order of the judgments.
    metrics : Metrics
    answerable : array of bool
        Which queries have a document of grade 1 or more.
    unanswerable : int
        How many have none.
    integers : Integers
        Which ids are text here, and were integers in the table or the JSON that they are from.

    Raises
    ------
    ValueError
        If there is no query.
    """

    def __init__(
        self,
        judged: JudgedRows | JudgedMappings,
        metrics: Metrics,
        integers: Integers = NO_INTEGERS,
    ) -> None:
        self._judged = judged
        self.metrics = metrics
        self.integers = integers
        self.queries: tuple[Any, ...] = judged.queries
        if not self.queries:
            raise ValueError("qrels hold no query")
        marks = np.zeros(len(self.queries), np.uint8)
        judged.mark_answerable(marks)
        self.answerable = marks.view(np.bool_)
        self.unanswerable = len(marks) - int(np.count_nonzero(marks))

    def score(self, run: Run, how: How, out: Scored) -> None:
        """Score a run into what is empty; queries that it lacks stay as they are.

        Raises
        ------
        ImportError, OSError, TypeError, ValueError
            As for `rankmeter.evaluate`.
        """
        if is_columnar(run):
            self._score_columnar(run, how, out)
            return
        check_mapping("run", "query id to ranked ids or to {id: score}", run)
        rankings = cast("Mapping[Any, Any]", run)
        if self.integers.queries:
            rankings = with_text_keys(rankings.items(), "query")
        _score_mappings(self._for_mappings, [rankings], how, out)

    def numbers_of(self, run: Run) -> list[int] | None:
        """Tell which queries a run holds, by their places, if it holds few of them.

        Returns
        -------
        list of int or None
            None where there is no saying without reading it, or it is not worth it.
        """
        if type(run) is not dict or self.integers.queries or 2 * len(run) > len(self.queries):
            return None
        return self._for_mappings.numbers_of(run)

    def complete(self, out: Scored) -> None:
        """Score the queries that the run lacks as empty rankings."""
        there = np.count_nonzero(out.marks)
        if 2 * there > len(out.marks):
            if there < len(out.marks):
                self._judged.score_missing(out.filled, out.marks)
        elif self._without_run is not None:
            np.copyto(out.filled, self._without_run, where=~out.retrieved[:, np.newaxis])

    @cached_property
    def _without_run(self) -> npt.NDArray[np.float64] | None:
        """What all queries score as empty rankings; None where that is 0 throughout."""
        out = Scored.empty(len(self.queries), len(self.metrics))
        self._judged.score_missing(out.filled, out.marks)
        return out.values.copy() if out.values.any() else None

    def _score_columnar(self, run: Any, how: How, out: Scored) -> None:
        from rankmeter.doors.json import Json
        from rankmeter.doors.mistakes import Mistakes
        from rankmeter.doors.opening import mapping_of, open_input

        reading = how.reading
        given = open_input(run, "run", reading.format, reading.columns)
        mistakes = Mistakes(given.name, reading.errors, how.duplicates)
        if isinstance(given, Json):
            self._score_json(given, mistakes, how, out)
        elif isinstance(judged := self._for_rows(given.integers), JudgedRows):
            from rankmeter.doors.pieces import score_rows

            score_rows(judged, given, mistakes, how, out)
        else:
            _score_mappings(judged, [mapping_of(given.read_carefully(mistakes))], how, out)
        if given.integers.queries:
            self._name_integers(out)

    @property
    @abstractmethod
    def _for_mappings(self) -> JudgedMappings:
        """The judgments for runs that are mappings."""

    @abstractmethod
    def _for_rows(self, integers: Integers) -> JudgedRows | JudgedMappings:
        """The judgments for rows, whose ids are text; a mapping's, where they cannot be rows."""

    @abstractmethod
    def _score_json(self, given: Json, mistakes: Mistakes, how: How, out: Scored) -> None:
        """Score the mappings that a file of JSON holds."""

    def _name_integers(self, out: Scored) -> None:
        """Let queries that were compared as text go by the names that they have here."""
        names = {decimal_text(query): query for query in self.queries}
        out.lost[:] = [(names.get(query, query), *documents) for query, *documents in out.lost]


class RowJudgments(Judged):
    """Judgments of a file or a table."""

    _judged: JudgedRows

    def mapping(self) -> dict[str, dict[str, float]]:
        """Return them as they were given: from query to document to grade."""
        return self._judged.mapping()

    @cached_property
    def _for_mappings(self) -> JudgedMappings:
        return JudgedMappings(self.mapping(), self.metrics, integers=self.integers.documents)

    def _for_rows(self, integers: Integers) -> JudgedRows:
        return self._judged

    def _score_json(self, given: Json, mistakes: Mistakes, how: How, out: Scored) -> None:
        _score_mappings(self._for_mappings, given.mappings(mistakes), how, out)


class MappingJudgments(Judged):
    """Judgments of a mapping, or of JSON that holds one."""

    _judged: JudgedMappings

    def __init__(
        self, judged: JudgedMappings, metrics: Metrics, integers: Integers = NO_INTEGERS
    ) -> None:
        super().__init__(judged, metrics, integers)
        self._rows: dict[Integers, JudgedRows | JudgedMappings] = {}

    @property
    def _for_mappings(self) -> JudgedMappings:
        return self._judged

    def _for_rows(self, integers: Integers) -> JudgedRows | JudgedMappings:
        if integers not in self._rows:
            from rankmeter.doors.opening import prepare

            self._rows[integers] = prepare(self._with_text(integers), self.metrics)
        return self._rows[integers]

    def _score_json(self, given: Json, mistakes: Mistakes, how: How, out: Scored) -> None:
        judged = self._judged
        if any(self._kinds.some):
            judged = JudgedMappings(self._with_text(self._kinds.some), self.metrics)
        _score_mappings(judged, given.mappings(mistakes, self._kinds.all), how, out)

    def _name_integers(self, out: Scored) -> None:
        super()._name_integers(out)
        if self._kinds.all.queries:
            out.unjudged[:] = map(int, out.unjudged)

    @cached_property
    def _kinds(self) -> Kinds:
        """Which ids are integers."""
        read = self._judged.judged
        return kinds_of((query, read(i)[0]) for i, query in enumerate(self.queries))

    def _with_text(self, integers: Integers) -> dict[Any, dict[Any, float]]:
        """Return them with some integers as text, as far as metrics can feel them."""
        read = self._judged.judged
        return judgments_as_text(
            ((query, *read(i)) for i, query in enumerate(self.queries)), integers
        )


def open_judgments(qrels: Qrels, metrics: Metrics, reading: Reading) -> Judged:
    """Read judgments of any kind.

    Raises
    ------
    ImportError, OSError, TypeError, ValueError
        As for `rankmeter.evaluate`.
    """
    if is_columnar(qrels):
        from rankmeter.doors.opening import read_qrels

        judged, integers = read_qrels(qrels, metrics, *reading)
        if isinstance(judged, JudgedRows):
            return RowJudgments(judged, metrics, integers)
        return MappingJudgments(judged, metrics, integers)
    check_mapping("qrels", "query id to {document id: grade}", qrels)
    return MappingJudgments(JudgedMappings(cast("Mapping[Any, Any]", qrels), metrics), metrics)


def _score_mappings(judgments: JudgedMappings, runs: Iterable[Any], how: How, out: Scored) -> None:
    """Score mappings that together are one run."""
    found = 0
    for run in runs:
        rankings = run if type(run) is dict else dict(run.items())
        judgments.evaluate(
            rankings, how.ties, how.duplicates, out.filled, out.marks, out.lost, out.numbers
        )
        before, found = found, int(np.count_nonzero(out.marks))
        if len(rankings) > found - before:
            out.unjudged.extend(judgments.unjudged(rankings))
