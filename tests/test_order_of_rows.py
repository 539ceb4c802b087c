"""Rows of files and tables in any order: the same digits as if those of a query stood together."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import outcome, same

import rankmeter as rm
from rankmeter._core.doors.text_rows import TextRows
from rankmeter.doors import arrow as tables
from rankmeter.doors import text as texts

METRICS = ["ndcg@3", "map", "mrr", "recall@2", "num_ret", "judged@5", "bpref"]

names = st.sampled_from([*"abcdefgh", "#q", "é", "10"])
judged = st.lists(st.tuples(names, names, st.integers(-1, 3)), min_size=1, max_size=25)
scores = st.sampled_from([0.5, 1.0, 1.5, -2.0, 0.25, 1e300])
ranked = st.lists(st.tuples(names, names, scores), min_size=1, max_size=40)


def once(rows: list[Any]) -> list[Any]:
    return list({row[:2]: row for row in rows}.values())


def together(rows: list[Any]) -> list[Any]:
    queries = list(dict.fromkeys(query for query, *_ in rows))
    return [row for query in queries for row in rows if row[0] == query]


def trec(rows: list[Any], side: str) -> Any:
    line = "{} 0 {} {}\n" if side == "qrels" else "{} Q0 {} 1 {!r} t\n"
    return io.BytesIO("".join(line.format(*row) for row in rows).encode())


def beir(rows: list[Any], side: str) -> Any:
    if side == "run":
        return trec(rows, side)
    lines = ["query-id\tcorpus-id\tscore\n", *("{}\t{}\t{}\n".format(*row) for row in rows)]
    return io.BytesIO("".join(lines).encode())


def table(rows: list[Any], side: str) -> Any:
    pa = pytest.importorskip("pyarrow")
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    number = "grade" if side == "qrels" else "score"
    kinds = [pa.string(), pa.large_string(), pa.float64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=["query_id", "doc_id", number])


@pytest.mark.parametrize("made", [trec, beir, table])
@given(judged, ranked, st.sampled_from(["docid", "input", "expected"]), st.booleans())
def test_any_order_gives_the_same_digits(
    made: Callable[..., Any], qrels: list[Any], run: list[Any], ties: str, first: bool
) -> None:
    options: dict[str, Any] = {"ties": ties, "duplicates": "first" if first else "error"}
    qrels = once(qrels)
    if not first:
        run = once(run)
    grouped = outcome(
        rm.evaluate, made(together(qrels), "qrels"), made(together(run), "run"), METRICS, **options
    )
    as_they_are = outcome(rm.evaluate, made(qrels, "qrels"), made(run, "run"), METRICS, **options)
    if isinstance(grouped, str) or isinstance(as_they_are, str):  # lines have other numbers
        assert type(grouped) is type(as_they_are)
        return
    order = [as_they_are.query_ids.index(query) for query in grouped.query_ids]
    assert as_they_are.values[order].tobytes() == grouped.values.tobytes()
    assert as_they_are.coverage == grouped.coverage


@given(judged, ranked)
def test_a_document_twice_is_refused_in_any_order(qrels: list[Any], run: list[Any]) -> None:
    run = once(run)
    run.append(run[0])
    with pytest.raises(ValueError, match=r"twice|again|already"):
        rm.evaluate(trec(once(qrels), "qrels"), trec(run, "run"), "map")


def shuffled(rows: int, seed: int = 3) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(seed)
    run = [(f"q{i % 37}", f"d{i}", float(x)) for i, x in enumerate(rng.permutation(rows))]
    qrels = [(query, document, int(x) % 3) for query, document, x in run[:: 1 + rows // 200]]
    return qrels, run


@pytest.mark.parametrize("made", [trec, table])
@pytest.mark.parametrize("threads", [1, 3])
def test_no_row_is_looked_at_by_the_careful_reader(
    made: Callable[..., Any], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run = shuffled(3_000)
    expected = rm.evaluate(
        {q: {d: g for p, d, g in qrels if p == q} for q, *_ in qrels},
        {q: {d: s for p, d, s in run if p == q} for q, *_ in run},
        METRICS,
    )
    monkeypatch.setattr(texts, "_BLOCK", 1 << 12)
    monkeypatch.delattr(texts.Text, "read_carefully")
    monkeypatch.delattr(tables.Table, "read_carefully")
    same(rm.evaluate(made(qrels, "qrels"), made(run, "run"), METRICS, threads=threads), expected)
    scorer = rm.Evaluator(made(qrels, "qrels"), METRICS)
    same(scorer.evaluate(made(run, "run")), expected)


def test_an_unjudged_query_that_comes_back_counts_once() -> None:
    run = trec([("x", "a", 1.0), ("q", "a", 1.0), ("x", "b", 0.5)], "run")
    assert rm.evaluate({"q": {"a": 1}}, run, "mrr").coverage.unjudged == 1


def lines(text: bytes) -> TextRows:
    return TextRows.of_lines(
        np.frombuffer(text, np.uint8),
        len(text),
        ignored_second=True,
        has_rank=True,
        more=True,
        ranked=False,
    )


def test_rows_in_order_are_neither_ordered_nor_cut_again() -> None:
    rows = lines(b"q Q0 a 1 0.5 t\nr Q0 a 1 0.5 t\nq Q0 b 2 0.25 t\n").in_order()
    assert rows is not None
    assert rows.in_order() is None
    with pytest.raises(ValueError, match="not the rows of a table"):
        rows.border(1)
    assert lines(b"q Q0 a 1 0.5\n").in_order() is None
    assert lines(b"q\0 Q0 a 1 0.5 t\n").in_order() is None
