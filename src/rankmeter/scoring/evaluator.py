"""Many queries: judgments and a run in, an evaluation out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, Never, cast

import numpy as np

from rankmeter._core.columns import Columns, Rows
from rankmeter._core.ids import decimal_text, type_mismatch, with_text_keys
from rankmeter._core.mappings import Judgments
from rankmeter.arguments import check_mapping
from rankmeter.doors.integers import (
    NO_INTEGERS,
    Integers,
    Kinds,
    judgments_as_text,
    kinds_of,
)
from rankmeter.naming.parsing import Wanted, compile_metrics
from rankmeter.scoring.threads import pool, usable

if TYPE_CHECKING:
    pass
from rankmeter.doors.kinds import (
    Duplicates,
    Errors,
    Format,
    Names,
    Qrels,
    Run,
    check_reading,
    is_columnar,
)
from rankmeter.results.evaluation import Array, Coverage, Evaluation
from rankmeter.results.plain import sample

Ties = Literal["docid", "input", "expected"]


Missing = Literal["zero", "skip", "error"]


_FOUND = 2  # of the marks of a query: a relevant document was found


class Evaluator:
    """Judgments and metrics prepared once, for many runs.

    Parameters
    ----------
    qrels : mapping, path, binary file or table
        ``{query: {document: grade}}``, grades finite numbers; or a file or table of judgments, see
        `evaluate`. A copy is kept.
    metrics : str, Metric, measure of ir_measures, or sequence of these
        Such as ``["ndcg@10", "recall@100", "mrr"]``; see `parse`.
    format, columns, errors : optional
        As for `evaluate`, for the qrels.

    Attributes
    ----------
    query_ids : tuple
        The queries of the qrels, in their order.
    metrics : tuple of str
        The metrics, spelled as asked for.

    Raises
    ------
    OSError
        If a file cannot be read.
    TypeError
        If `qrels` is no mapping of mappings, or a grade is no number.
    ValueError
        If `qrels` or `metrics` is empty, a metric is unknown, or a grade is not finite or has no
        gain.

    Notes
    -----
    Never changes once made: several threads may call `evaluate` at the same time. It cannot be
    pickled; pass the qrels instead.

    Examples
    --------
    >>> import rankmeter as rm
    >>> scorer = rm.Evaluator({"q": {"a": 1, "b": 2}}, ["mrr", "recall@10"])
    >>> scorer.evaluate({"q": ["x", "a"]})["mrr"]
    0.5
    >>> scorer.evaluate({"q": {"a": 0.9, "x": 0.8}})["mrr"]
    1.0
    """

    query_ids: tuple[Any, ...]
    metrics: tuple[str, ...]

    def __init__(
        self,
        qrels: Qrels,
        metrics: Wanted | Iterable[Wanted],
        *,
        format: Format = None,
        columns: Names = None,
        errors: Errors = "raise",
    ) -> None:
        self._metrics, self._compiled = compile_metrics(metrics)
        self.metrics = tuple(self._metrics)
        self._columns: Columns | None = None
        self._judgments: Judgments | None = None
        self._integers = NO_INTEGERS  # which ids of a file or table match integers, too
        # Judgments of a mapping for runs of files and tables, made when the first one comes. Two
        # threads may both make them, and one is kept.
        self._for_text: dict[Integers, Columns | Judgments] = {}
        self._kinds: Kinds | None = None
        check_reading(format, columns, errors)
        judged: Columns | Judgments
        if is_columnar(qrels):
            from rankmeter.doors.opening import read_qrels  # not everybody has files or tables

            judged, self._integers = read_qrels(qrels, self._compiled, format, columns, errors)
        else:
            check_mapping("qrels", "query id to {document id: grade}", qrels)
            judged = Judgments(cast("Mapping[Any, Mapping[Any, Any]]", qrels), self._compiled)
        self._prepare(judged)

    def __reduce__(self) -> Never:
        raise TypeError("an Evaluator cannot be pickled: pass the qrels instead")

    def __copy__(self) -> Evaluator:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Evaluator:
        return self

    def _prepare(self, judged: Columns | Judgments) -> None:
        if isinstance(judged, Columns):
            self._columns = judged
        else:
            self._judgments = judged
        self.query_ids = judged.queries
        if not self.query_ids:
            raise ValueError("qrels hold no query")
        answerable = np.zeros(len(self.query_ids), dtype=np.uint8)
        judged.mark_answerable(answerable)
        self._answerable = answerable.view(np.bool_)

    def _of_text(self, integers: Integers) -> Columns | Judgments:
        """The judgments for runs whose ids are text, also those that were such integers."""
        if self._columns is not None:
            return self._columns
        if integers not in self._for_text:
            from rankmeter.doors.opening import prepared

            self._for_text[integers] = prepared(self._with_text(integers), self._compiled)
        return self._for_text[integers]

    def _with_text(self, integers: Integers) -> dict[Any, dict[Any, float]]:
        """The judgments of a mapping, some integers as text, as far as metrics can feel them."""
        assert self._judgments is not None
        read = self._judgments.judged
        return judgments_as_text(
            ((query, *read(i)) for i, query in enumerate(self.query_ids)), integers
        )

    def _of_mappings(self) -> Judgments:
        """The judgments for runs that are mappings."""
        if self._judgments is None:
            assert self._columns is not None
            self._judgments = Judgments(
                self._columns.mapping(), self._compiled, integers=self._integers.documents
            )
        return self._judgments

    def _wanted_integers(self) -> Kinds:
        """Which ids are integers in the judgments, if these are a mapping."""
        if self._columns is not None:
            return Kinds(NO_INTEGERS, NO_INTEGERS)
        if self._kinds is None:
            read = self._of_mappings().judged
            self._kinds = kinds_of((query, read(i)[0]) for i, query in enumerate(self.query_ids))
        return self._kinds

    def evaluate(
        self,
        run: Run,
        *,
        ties: Ties = "docid",
        missing: Missing = "zero",
        duplicates: Duplicates = "error",
        threads: int = 1,
        format: Format = None,
        columns: Names = None,
        errors: Errors = "raise",
    ) -> Evaluation:
        """Score one run.

        Parameters
        ----------
        run : mapping, path, binary file or table
            ``{query: [ids, best first]}`` or ``{query: {id: score}}``; or a file or table.
        ties, missing, duplicates, threads, format, columns, errors : optional
            As for `evaluate`.

        Returns
        -------
        Evaluation

        Raises
        ------
        ImportError, OSError, TypeError, ValueError
            As for `evaluate`.
        """
        if missing not in ("zero", "skip", "error"):
            raise ValueError(f"missing must be 'zero', 'skip' or 'error', not {missing!r}")
        if duplicates not in ("error", "first"):
            raise ValueError(f"duplicates must be 'error' or 'first', not {duplicates!r}")
        check_reading(format, columns, errors)
        scored = self._score(run, ties, duplicates, usable(threads), format, columns, errors)
        return self._result(*scored, missing)

    def _score(
        self,
        run: Any,
        ties: str,
        duplicates: str,
        threads: int,
        format: Format = None,
        columns: Names = None,
        errors: str = "raise",
    ) -> tuple[Array, Array, list[Any], list[Any]]:
        """Values, bounds; which queries the run holds; those it holds without judgments; and
        examples of ids that were not found.
        """
        lost: list[Any] = []
        unjudged: list[Any] | None
        filled = np.zeros((3, len(self.query_ids), len(self.metrics)))
        marks = np.zeros(len(self.query_ids), dtype=np.uint8)
        if not is_columnar(run):
            check_mapping("run", "query id to ranked ids or to {id: score}", run)
            if self._integers.queries:
                run = with_text_keys(run.items(), "query")
            judgments = self._of_mappings()
            unjudged = _score_mappings(judgments, [run], ties, duplicates, filled, marks, lost)
            return filled, marks, unjudged, lost
        from rankmeter.doors.json import Json
        from rankmeter.doors.mistakes import Mistakes
        from rankmeter.doors.opening import mapping_of, open_input
        from rankmeter.doors.text import rows_of

        given = open_input(run, "run", format, columns)
        mistakes = Mistakes(given.name, errors, duplicates)
        kinds = self._wanted_integers()
        judged: Columns | Judgments
        if isinstance(given, Json):
            runs = given.mappings(mistakes, kinds.all)
            judged = self._of_mappings()
            if any(kinds.some):
                judged = Judgments(self._with_text(kinds.some), self._compiled)
            unjudged = _score_mappings(judged, runs, ties, duplicates, filled, marks, lost)
        elif isinstance(judged := self._of_text(given.integers), Judgments):
            found = mapping_of(given.carefully(mistakes))
            unjudged = _score_mappings(judged, [found], ties, duplicates, filled, marks, lost)
        else:
            unjudged = self._score_rows(judged, given.pieces(), ties, threads, filled, marks, lost)
            if unjudged is None:
                filled[:] = marks[:] = 0
                lost.clear()
                rows = rows_of(given.carefully(mistakes))
                unjudged = self._score_rows(judged, iter([rows]), ties, 1, filled, marks, lost)
                assert unjudged is not None
        if given.integers.queries:  # those of the judgments go by their own names
            if kinds.all.queries:
                unjudged = list(map(int, unjudged))
            names = {decimal_text(query): query for query in self.query_ids}
            lost = [(names.get(query, query), *documents) for query, *documents in lost]
        return filled, marks, unjudged, lost

    def _score_rows(
        self,
        judged: Columns,
        pieces: Iterator[Rows | None],
        ties: str,
        threads: int,
        filled: Array,
        marks: Array,
        lost: list[Any],
    ) -> list[str] | None:
        """Score rows; None where the careful reader should look at them.

        Otherwise return their queries that are not judged.
        """
        evaluate = judged.evaluate
        unjudged: list[str] = []
        start = list(islice(pieces, 2))
        if threads == 1 or len(start) < 2:
            for rows in chain(start, pieces):
                if rows is None or not evaluate(rows, ties, filled, marks, unjudged, lost):
                    return None
        else:
            waiting: deque[tuple[Any, Array, list[str]]] = deque()
            usual = True
            for rows in chain(start, pieces):
                usual = rows is not None
                if rows is not None:
                    part = np.zeros_like(marks)  # two pieces may hold the same query
                    strangers: list[str] = []
                    task = pool().submit(evaluate, rows, ties, filled, part, strangers, lost)
                    waiting.append((task, part, strangers))
                    if len(waiting) > threads:
                        usual = _merge(*waiting.popleft(), marks, unjudged)
                if not usual:
                    break
            for piece in waiting:
                usual = _merge(*piece, marks, unjudged) and usual
            if not usual:
                return None
        if len(set(unjudged)) < len(unjudged) or not (unjudged or marks.any()):
            return None
        return unjudged

    def _complete(self, filled: Array, marks: Array) -> None:
        """Score the queries that the run lacks as empty rankings."""
        if not marks.all():
            judged = self._columns if self._columns is not None else self._judgments
            assert judged is not None
            judged.score_missing(filled, marks)

    def _result(
        self,
        filled: Array,
        marks: Array,
        others: Sequence[Any],
        lost: Sequence[tuple[Any, Any, Any]],
        missing: str,
    ) -> Evaluation:
        queries, answerable = self.query_ids, self._answerable
        self._complete(filled, marks)
        values, lowest, highest = filled
        retrieved = marks != 0
        evaluated = int(np.count_nonzero(marks))
        if not evaluated:
            raise ValueError(
                f"no query in common: the qrels have {sample(queries)}, "
                f"the run has {sample(others)}" + type_mismatch(others, queries)
            )
        found = bool((marks & _FOUND).any())
        coverage = Coverage(
            judged=len(queries),
            evaluated=evaluated,
            missing=len(queries) - evaluated,
            unjudged=len(others),
            no_relevant=len(queries) - int(answerable.sum()),
            unmatched=0 if found or not lost else evaluated,
        )
        example = None
        if coverage.unmatched:
            example = min(lost, key=lambda one: queries.index(one[0]))
        if coverage.missing and missing == "error":
            absent = [q for q, there in zip(queries, retrieved, strict=True) if not there]
            raise ValueError(f"the run lacks {sample(absent)} of the qrels")
        if coverage.missing and missing == "skip":
            queries = tuple(q for q, there in zip(queries, retrieved, strict=True) if there)
            values, lowest, highest = values[retrieved], lowest[retrieved], highest[retrieved]
            answerable = answerable[retrieved]
            retrieved = retrieved[retrieved]
        return Evaluation(
            queries,
            self._metrics,
            values,
            coverage,
            lowest=lowest,
            highest=highest,
            retrieved=retrieved,
            answerable=answerable,
            lost=example,
            found=found,
            integers=self._integers.queries,
        )


def evaluate(
    qrels: Qrels,
    run: Run,
    metrics: Wanted | Iterable[Wanted],
    *,
    ties: Ties = "docid",
    missing: Missing = "zero",
    duplicates: Duplicates = "error",
    threads: int = 1,
    format: Format = None,
    columns: Names = None,
    errors: Errors = "raise",
) -> Evaluation:
    """Score a run against judgments.

    Parameters
    ----------
    qrels : mapping, path, binary file or table
        ``{query: {document: grade}}``, or a file or table of judgments, see the notes. Unjudged
        documents have grade 0.
    run : mapping, path, binary file or table
        ``{query: [ids, best first]}`` or ``{query: {id: score}}``, or a file or table. A list is
        read only as deep as the metrics need, and duplicates are looked for in what is read.
        Scores are numbers or anything with ``__float__``; integers of any size order as integers,
        those of tables and JSON too, while text is read as doubles.
    metrics : str, Metric, measure of ir_measures, or sequence of these
        Such as ``["ndcg@10", "recall@100", "mrr"]``; see `parse`.
    ties : {"docid", "input", "expected"}
        The order of documents with equal scores: by id, high to low, as trec_eval does (``str`` by
        their UTF-8 bytes); the order of the input; or none: the mean over all orders, in closed
        form (McSherry and Najork, ECIR 2008). Lists have no ties.
    missing : {"zero", "skip", "error"}
        What to do with queries of the qrels that the run lacks.
    duplicates : {"error", "first"}
        What to do with the same id twice for a query of the run: refuse it, or keep the one that
        stands first (in a list, in the lines of a file, in the rows of a table), whatever its score
        or rank, and close the gap. In judgments it is always refused.
    threads : int
        Among how many threads to split a file or a table, at most as many as there are processors.
        Mappings are read by one. The digits do not depend on it.
    format : str or mapping, optional
        The format of a file, one of trec, beir, msmarco, jsonl, json, parquet and arrow; or
        ``{"qrels": format, "run": format}``. By default the content tells.
    columns : mapping, optional
        What columns of a table, or keys of JSON's rows, are called, such as ``{"query_id": "user",
        "doc_id": "item"}``; or one such mapping for each side, ``{"qrels": {...}, "run": {...}}``.
    errors : {"raise", "collect"}
        What to do with mistakes in a file or a table: raise the first, or tell up to 20 of them in
        one error.

    Returns
    -------
    Evaluation
        One row a query, in the order of the qrels.

    Raises
    ------
    ImportError
        If a file or a table needs a library that is not there; the message says what to install.
    OSError
        If a file cannot be read.
    TypeError
        If an argument, score, grade or id is of the wrong type, or the ids of run and qrels are of
        types that can never match.
    ValueError
        For a NaN score, a grade that is not finite or has no gain, a duplicate, an unknown metric
        or option, an empty list of metrics, no query in common, or what is wrong with a file
        (``file:line: what is wrong``) or with a table (``row``, counted from 0).

    Notes
    -----
    A path is a ``str`` or path-like; ``-`` is standard input. Files may be compressed by gzip,
    bzip2, xz or Zstandard (which needs ``rankmeter[zstd]`` before Python 3.14).

    ======= ====================================== =================================
    format  judgments                              run
    ======= ====================================== =================================
    trec    query, iteration, document, grade      query, Q0, document, rank, score, tag
    beir    query, document, grade, with a header  as json
    msmarco as trec                                query, document, rank
    jsonl   {"query_id", "qrels": {...}}           {"query_id", "scores": {...}} or
                                                   {"query_id", "ranked": [...]}
    json    {query: {document: grade}}             {query: {document: score}} or
                                                   {query: [documents]}
    jsonl,  rows: an object for each, with the     the same
    json    columns of a table as keys; lines of
            them, or one list
    parquet the columns of a table                 the columns of a table
    arrow   the same: Arrow IPC, Feather           the same
    ======= ====================================== =================================

    Columns of text are separated by the blanks of ASCII, and lines that begin with ``#`` and are
    no data are comments. The rank of TREC's format orders nothing, but must be a number, and a line
    must have the same columns if it is split at tabs alone: otherwise an id holds a blank.

    A table is anything with ``__arrow_c_stream__`` (of pyarrow, polars, pandas from 2.2 on,
    DuckDB); it needs ``rankmeter[arrow]``. Its columns are query_id, doc_id and score or rank (the
    lowest is best), or grade or relevance; names such as qid, docno, label, or corpus-id and score
    of BEIR's judgments, are known. Booleans are numbers: 1 and 0.

    Ids of files and tables are compared as bytes, and if the other side is a mapping, as UTF-8.
    Integers of tables and JSON become their decimal text, which also orders equal scores. They
    match the integers of a mapping, which the text of a file never does. The queries of the result
    are those of the judgments, and text if they are integers of a table or of JSON. Rows are read
    fastest when those of each query of the run stand together; otherwise they are put in order
    first.

    Examples
    --------
    >>> import rankmeter as rm
    >>> qrels = {"q1": {"a": 3, "b": 1}, "q2": {"c": 2}}
    >>> run = {"q1": {"a": 0.9, "x": 0.8, "b": 0.3}, "q2": {"x": 0.7, "c": 0.1}}
    >>> rm.evaluate(qrels, run, ["ndcg@10", "mrr"]).mean
    {'ndcg@10': 0.8068..., 'mrr': 0.75}
    """
    scorer = Evaluator(qrels, metrics, format=format, columns=columns, errors=errors)
    return scorer.evaluate(
        run,
        ties=ties,
        missing=missing,
        duplicates=duplicates,
        threads=threads,
        format=format,
        columns=columns,
        errors=errors,
    )


def _score_mappings(
    judgments: Judgments,
    runs: Iterable[Any],
    ties: str,
    duplicates: str,
    filled: Array,
    marks: Array,
    lost: list[Any],
) -> list[Any]:
    """Score mappings that together are one run; return their queries that are not judged."""
    unjudged: list[Any] = []
    found = 0
    for run in runs:
        rankings = run if type(run) is dict else dict(run.items())
        judgments.evaluate(rankings, ties, duplicates, filled, marks, lost)
        before, found = found, int(np.count_nonzero(marks))
        if len(rankings) > found - before:
            judged = set(judgments.queries)
            unjudged += [query for query in list(rankings) if query not in judged]
    return unjudged


def _merge(task: Any, part: Array, strangers: list[str], marks: Array, unjudged: list[str]) -> bool:
    """Wait for a piece; False where the careful reader should look at the rows."""
    usual: bool = task.result() and not (marks & part).any()
    marks |= part
    unjudged += strangers
    return usual
