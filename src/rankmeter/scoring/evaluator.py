"""Many queries: judgments and a run in, an evaluation out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Never

import numpy as np

from rankmeter._core.ids import type_mismatch
from rankmeter.doors.how import How, Missing, Reading, Ties
from rankmeter.doors.judged import Judged, open_judgments
from rankmeter.doors.kinds import Duplicates, Errors, Format, Names, Qrels, Run
from rankmeter.doors.scored import Scored
from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import Wanted, compile_metrics
from rankmeter.results.coverage import Coverage
from rankmeter.results.evaluation import Evaluation
from rankmeter.results.plain import sample


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
        If `qrels` is not a mapping of mappings, or a grade is not a number.
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

    __module__ = "rankmeter"

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
        named, compiled = compile_metrics(metrics)
        self.named_metrics = dict(named)  # what each of them stands for
        self.metrics = tuple(named)
        reading = Reading.check(format, columns, errors)
        self.judged = open_judgments(qrels, compiled, reading)  # as the doors know them
        self.query_ids = self.judged.queries

    def __reduce__(self) -> Never:
        raise TypeError("an Evaluator cannot be pickled: pass the qrels instead")

    def __copy__(self) -> Evaluator:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Evaluator:
        return self

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
        reading = Reading.check(format, columns, errors)
        how = How.check(ties, duplicates, missing, threads, reading)
        numbers = self.judged.numbers_of(run) if missing == "skip" else None
        scored = Scored.empty(len(self.query_ids), len(self.metrics), numbers)
        self.judged.score(run, how, scored)
        return evaluation_of(self.judged, self.named_metrics, scored, missing)


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


def evaluation_of(
    judged: Judged, metrics: Mapping[str, Metric], scored: Scored, missing: Missing
) -> Evaluation:
    """Say of every judged query what it scored, and what stands behind the numbers.

    Raises
    ------
    ValueError
        If the run holds no judged query, or lacks one under ``missing="error"``.
    """
    queries, answerable = judged.queries, judged.answerable
    if missing == "zero":
        judged.complete(scored)
    values, lowest, highest = scored.filled
    retrieved, others, lost = scored.retrieved, scored.unjudged, scored.lost
    evaluated = int(np.count_nonzero(retrieved))
    if not evaluated:
        raise ValueError(
            f"no query in common: the qrels have {sample(queries)}, "
            f"the run has {sample(others)}" + type_mismatch(others, queries)
        )
    found = scored.found
    coverage = Coverage(
        judged=len(queries),
        evaluated=evaluated,
        missing=len(queries) - evaluated,
        unjudged=len(others),
        no_relevant=judged.unanswerable,
        unmatched=0 if found or not lost else evaluated,
    )
    example = None
    if coverage.unmatched:
        example = min(lost, key=lambda one: queries.index(one[0]))
    if coverage.missing and missing == "error":
        absent = [q for q, there in zip(queries, retrieved, strict=True) if not there]
        raise ValueError(f"the run lacks {sample(absent)} of the qrels")
    if coverage.missing and missing == "skip":
        numbers = scored.numbers
        if numbers is None:
            numbers = np.flatnonzero(retrieved).tolist()
        queries = tuple([queries[number] for number in numbers])
        answerable = answerable[numbers]
        values, lowest, highest = values[retrieved], lowest[retrieved], highest[retrieved]
        retrieved = retrieved[retrieved]
    return Evaluation(
        queries,
        metrics,
        values,
        coverage,
        lowest=lowest,
        highest=highest,
        retrieved=retrieved,
        answerable=answerable,
        lost=example,
        found=found,
        integers=judged.integers.queries,
    )
