"""The door for files: the digits of the door for dicts, whatever way the text was read."""

from __future__ import annotations

import gzip
import io
import os
import random
import subprocess
import sys
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from outcomes import alike, outcome, same
from readers import read_qrels, read_run

import rankmeter as rm
from rankmeter._core.doors.columns import JudgedRows
from rankmeter._core.doors.text_rows import TextRows, last_query, number_of
from rankmeter.doors import text as texts
from rankmeter.naming.parsing import compile_metrics

METRICS = ["ndcg@10", "map", "mrr", "recall@2", "mrr@1", "ndcg@3(gain=linear)"]


# ---------------------------------------------------------------------------------------------
# Numbers


@settings(max_examples=2_000)
@given(
    st.one_of(
        st.floats().map(repr),
        st.floats(0, 1).map(repr),
        st.decimals(allow_nan=False, allow_infinity=False, places=6, max_value=10**9).map(str),
        st.from_regex(r"[+-]?[0-9]{0,22}\.?[0-9]{0,22}([eE][+-]?[0-9]{0,5})?", fullmatch=True),
        st.text("0123456789.eE+-_ infa", max_size=12),
    )
)
@example("9007199254740993")
@example("90071992547409.93")
@example("0.50000000000000011102230246251565")
@example("12345678901234567890123")
@example("1" + "0" * 45)
@example("18446744073709551616")
@example("0000000000000000000000000000000000001.5")
@example("9007199254740993e-1")
@example("99999999999999999.99")
@example("1e19")
@example("0.111308899569892740")  # seems half-way between two doubles to the 64th bit
@example("0.1349480785764202856")
@example("-0.0")
@example(".")
@example("1.e3")
@example(".5")
@example("1_0")
@example("inf")
@example("0x10")
def test_numbers_are_those_of_float(text: str) -> None:
    try:
        expected: float | None = float(text)
    except ValueError:
        expected = None
    if "_" in text or expected != expected:
        expected = None
    found = number_of(text.encode())
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found.hex() == expected.hex()


@pytest.mark.parametrize("digits", [15, 16, 17, 18, 19])
def test_many_numbers_of_many_digits(digits: int) -> None:
    rng = np.random.default_rng(digits)
    for value in rng.random(3_000):
        text = f"{value * 100:.{digits}g}"
        found = number_of(text.encode())
        assert found is not None
        assert found.hex() == float(text).hex()


@pytest.mark.parametrize("digits", [17, 18, 19])
def test_many_numbers_that_no_double_is_near(digits: int) -> None:
    rng = random.Random(digits)
    for _ in range(20_000):
        text = f"0.{rng.randrange(10**digits):0{digits}}"
        assert number_of(text.encode()) == float(text)


# ---------------------------------------------------------------------------------------------
# Texts


def trec(rows: list[tuple[Any, ...]], end: str = "\n") -> bytes:
    return "".join(" ".join(map(str, row)) + end for row in rows).encode()


IDS = ["a", "b", "é", "\u00a0x", "#1", "中", "d" * 40, "a\u0001", "12345678", "123456789"]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Qrels and a run, tidy or not: interleaved, with odd ids, blanks and line ends."""
    blank = st.sampled_from([" ", "\t", "  ", " \t", "\x0b"])
    end = draw(st.sampled_from(["\n", "\r\n", " \n", "\n\n"]))
    queries = draw(st.lists(st.sampled_from(["1", "2", "10", "é", "#"]), min_size=1, max_size=4))
    judged, run = [], []
    for query in dict.fromkeys(queries):
        grades = st.sampled_from(["0", "1", "2", "-1", "0.5"])
        scores = st.sampled_from(["1", "0.5", "-3e-2", "0.1000000000000000055", "inf", "2"])
        docs = draw(st.lists(st.sampled_from(IDS), max_size=6, unique=True))
        judged += [(query, "0", doc, draw(grades)) for doc in docs]
        docs = draw(st.lists(st.sampled_from(IDS), max_size=10, unique=True))
        run += [(query, "Q0", doc, "1", draw(scores), "tag") for doc in docs]
    if draw(st.booleans()):
        judged = draw(st.permutations(judged))
    if draw(st.booleans()):
        run = draw(st.permutations(run))

    def lines(rows: list[tuple[str, ...]]) -> bytes:
        separator = draw(blank)
        text = "".join(separator.join(row) + end for row in rows)
        return (text if draw(st.booleans()) else text.rstrip("\n")).encode()

    return lines(judged), lines(run)


def by_dicts(qrels: bytes, run: bytes, **options: Any) -> Any:
    judged, scores = (
        read_qrels(io.BytesIO(qrels)),
        read_run(io.BytesIO(run)),
    )
    return rm.evaluate(judged, scores, METRICS, **options)


@settings(max_examples=300)
@given(pairs(), st.sampled_from(["docid", "input", "expected"]), st.sampled_from([1, 3]))
def test_files_give_the_digits_of_dicts(pair: tuple[bytes, bytes], ties: str, threads: int) -> None:
    qrels, run = pair
    expected = outcome(by_dicts, qrels, run, ties=ties)
    for size in (8, 50, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(texts, "_BLOCK", size)
            given_files = io.BytesIO(qrels), io.BytesIO(run)
            ours = outcome(rm.evaluate, *given_files, METRICS, ties=ties, threads=threads)
        alike(ours, expected)


def large(queries: int = 40, depth: int = 60, seed: int = 1) -> tuple[bytes, bytes]:
    rng = np.random.default_rng(seed)
    judged, run = [], []
    for query in range(queries):
        docs = rng.choice(200, 12, replace=False)
        judged += [(f"q{query}", 0, f"doc{doc}", rng.integers(-1, 4)) for doc in docs]
        docs = rng.choice(200, depth, replace=False)
        run += [
            (f"q{query}", "Q0", f"doc{doc}", rank, rng.integers(0, 40) / 8, "t", "x")
            for rank, doc in enumerate(docs, 1)
        ]
    return trec(judged), trec(run)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    qrels, run = large()
    (tmp_path / "qrels").write_bytes(qrels)
    (tmp_path / "run").write_bytes(run)
    return tmp_path / "qrels", tmp_path / "run"


@pytest.mark.parametrize("size", [30, 1_000, 5_000, 1 << 20])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_blocks_and_threads(
    pair: tuple[Path, Path], size: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run = pair
    monkeypatch.setattr(texts, "_BLOCK", size)
    expected = by_dicts(qrels.read_bytes(), run.read_bytes())
    same(rm.evaluate(qrels, run, METRICS, threads=threads), expected)


def test_no_more_pieces_wait_than_processors(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[int] = []

    class Piece:
        def __init__(self, done: bool) -> None:
            self.done = done
            waiting.append(waiting[-1] + 1 if waiting else 1)

        def result(self) -> bool:
            waiting.append(waiting[-1] - 1)
            return self.done

    class Pool:
        def submit(self, call: Any, *arguments: Any) -> Piece:
            return Piece(call(*arguments))

    monkeypatch.setattr(texts, "_BLOCK", 1_000)
    monkeypatch.setattr("rankmeter.doors.pieces.pool", Pool)
    monkeypatch.setattr("rankmeter.doors.threads.count_processors", lambda: 3)
    same(
        rm.evaluate(*pair, METRICS, threads=10**6),
        by_dicts(pair[0].read_bytes(), pair[1].read_bytes()),
    )
    assert len(waiting) > 20
    assert max(waiting) == 4  # the first is awaited when it has been handed out


def test_the_fast_way_is_taken(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> Any:
        raise AssertionError("read carefully")

    monkeypatch.setattr(texts.Text, "read_carefully", fail)
    for threads in (1, 2):
        assert rm.evaluate(*pair, METRICS, threads=threads).coverage.evaluated == 40


def test_judgments_of_a_dict_take_the_fast_way(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run = read_qrels(pair[0]), read_run(pair[1])
    metrics = [*METRICS, "bpref", "infap", "judged@5", "map(rel=3)", "mrr(judged_only=true)", "g"]
    expected = rm.evaluate(qrels, run, metrics)
    monkeypatch.delattr(texts.Text, "read_carefully")
    scorer = rm.Evaluator(qrels, metrics)
    for _ in range(2):
        same(scorer.evaluate(pair[1]), expected)
        same(scorer.evaluate(run), expected)
    same(rm.Evaluator(UserDict(qrels), metrics).evaluate(pair[1]), expected)
    floats = {
        query: {d: np.float32(g) for d, g in grades.items()} for query, grades in qrels.items()
    }
    same(rm.Evaluator(floats, metrics).evaluate(pair[1]), expected)
    bounds = rm.compare(qrels, {"a": pair[1], "b": run}, metrics)["b", "map"]
    assert bounds.difference == 0.0


def test_many_threads_may_bring_the_first_file(pair: tuple[Path, Path]) -> None:
    expected = rm.evaluate(*pair, METRICS)
    scorer = rm.Evaluator(read_qrels(pair[0]), METRICS)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(scorer.evaluate, [pair[1]] * 8):
            same(found, expected)


@pytest.mark.parametrize(
    "more",
    [{"e": {}}, {"e\ud800": {"a": 1}}, {"e": {"a\ud800": 1}}, {7: {"a": 1}}, {"e": {7: 1}}],
)
def test_judgments_that_are_no_rows(pair: tuple[Path, Path], more: Any) -> None:
    qrels = read_qrels(pair[0]) | more
    expected = rm.evaluate(qrels, read_run(pair[1]), METRICS)
    scorer = rm.Evaluator(qrels, METRICS)
    for _ in range(2):
        same(scorer.evaluate(pair[1]), expected)


def test_files_of_any_kind(pair: tuple[Path, Path], tmp_path: Path) -> None:
    qrels, run = pair
    expected = rm.evaluate(qrels, run, METRICS)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(run.read_bytes()))
    marked = tmp_path / "marked"
    marked.write_bytes(b"\xef\xbb\xbf" + run.read_bytes())
    for given_run in (str(run), packed, marked, io.BytesIO(run.read_bytes())):
        same(rm.evaluate(str(qrels), given_run, METRICS), expected)
    with run.open("rb") as file:
        same(rm.evaluate(qrels, file, METRICS), expected)
    with run.open(encoding="utf-8") as text, pytest.raises(TypeError, match="open it as binary"):
        rm.evaluate(qrels, text, METRICS)  # type: ignore[arg-type]
    with packed.open(encoding="utf-8") as text, pytest.raises(TypeError, match="open it as binary"):
        rm.evaluate(qrels, text, METRICS)  # type: ignore[arg-type]
    scorer = rm.Evaluator(qrels, METRICS)
    for _ in range(2):
        same(scorer.evaluate(run), expected)
    code = (
        "import sys, rankmeter as rm;"
        f"print(rm.evaluate({str(qrels)!r}, '-', 'map')['map'] == {expected['map']!r})"
    )
    with run.open("rb") as file:
        done = subprocess.run([sys.executable, "-c", code], stdin=file, capture_output=True)
    assert done.stdout.strip() == b"True", done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe(pair: tuple[Path, Path], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["cp", str(pair[1]), str(pipe)])
    same(rm.evaluate(pair[0], pipe, METRICS), rm.evaluate(*pair, METRICS))
    assert writer.wait(10) == 0


def test_one_side_a_file_and_one_a_dict(pair: tuple[Path, Path]) -> None:
    qrels, run = pair
    expected = rm.evaluate(qrels, run, METRICS)
    judged, scores = read_qrels(qrels), read_run(run)
    same(rm.evaluate(judged, run, METRICS), expected)
    same(rm.evaluate(qrels, scores, METRICS), expected)
    lists = {query: sorted(found, key=found.get, reverse=True) for query, found in scores.items()}  # type: ignore[arg-type]
    assert rm.evaluate(qrels, lists, "recall@60").mean == rm.evaluate(qrels, run, "recall@60").mean
    utf8 = io.BytesIO("q 0 é 1\n".encode())
    assert rm.evaluate(utf8, {"q": ["é"]}, "mrr")["mrr"] == 1.0


def test_ties_go_by_bytes_that_are_no_text() -> None:
    qrels = b"q 0 \xff 1\nq 0 \x80 2\n"
    run = b"q Q0 \x80 1 1.0 t\nq Q0 \xff 2 1.0 t\nq Q0 \xc3\xa9 3 1.0 t\nq Q0 a 4 1.0 t\n"
    ev = rm.evaluate(io.BytesIO(qrels), io.BytesIO(run), ["mrr(rel=2)", "mrr"])
    assert ev.mean == {"mrr(rel=2)": 1 / 3, "mrr": 1.0}


def test_missing_and_unjudged_queries() -> None:
    qrels, run = b"q1 0 a 1\nq2 0 a 0\nq3 0 a 1\n", b"q3 Q0 a 1 1 t\nq9 Q0 a 1 1 t\n"
    ev = rm.evaluate(io.BytesIO(qrels), io.BytesIO(run), "mrr")
    assert ev.coverage == rm.Coverage(3, 1, 2, 1, 1)
    assert ev.per_query["q1"] == {"mrr": 0.0}
    skipped = rm.evaluate(io.BytesIO(qrels), io.BytesIO(run), "mrr", missing="skip")
    assert skipped.query_ids == ("q3",)
    with pytest.raises(ValueError, match=r"lacks 2 queries \('q1', 'q2'\)"):
        rm.evaluate(io.BytesIO(qrels), io.BytesIO(run), "mrr", missing="error")
    with pytest.raises(ValueError, match=r"no query in common.*'q1'.*the run has 1 query \('q9'\)"):
        rm.evaluate(io.BytesIO(qrels), io.BytesIO(b"q9 Q0 a 1 1 t\n"), "mrr")


def test_an_evaluator_keeps_its_own_copy(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_bytes(b"q 0 a 1\nr 0 z 1\n")
    scorer = rm.Evaluator(qrels, "mrr")
    tidy = b"q Q0 a 1 2 t\nr Q0 y 1 2 t\nr Q0 x 2 1 t\n"
    interleaved = b"r Q0 y 1 2 t\nq Q0 a 1 2 t\nr Q0 x 2 1 t\n"
    expected = {"q": {"mrr": 1.0}, "r": {"mrr": 0.0}}
    for change in (b"r 0 z 1\nq 0 a 1\n", b"q 0 b 1\n", None):
        if change is None:
            qrels.unlink()
        else:
            qrels.write_bytes(change)
        for run in (tidy, interleaved):
            assert scorer.evaluate(io.BytesIO(run)).per_query == expected
        assert scorer.evaluate({"q": ["a"], "r": []}).per_query == expected


def test_many_documents_of_one_score() -> None:
    """Neither the order of equals nor a query longer than a block costs the square."""
    ids = [f"d{i:06}" for i in range(60_000)]
    qrels = "".join(f"q 0 {doc} 1\n" for doc in ids[::2]).encode()
    run = "".join(f"q Q0 {doc} 1 0.5 t\n" for doc in ids).encode()
    ev = rm.evaluate(io.BytesIO(qrels), io.BytesIO(run), ["mrr", "map"])
    same = rm.evaluate(
        {"q": dict.fromkeys(ids[::2], 1)}, {"q": dict.fromkeys(ids, 0.5)}, ["mrr", "map"]
    )
    assert ev.mean == same.mean
    assert ev["mrr"] == 0.5


class Slow:
    """A file that gives a little at a time."""

    def __init__(self, data: bytes, end: bytes | str | None = b"") -> None:
        self.parts = [data[i : i + 7] for i in range(0, len(data), 7)]
        self.end = end

    def read(self, size: int = -1) -> Any:
        return self.parts.pop(0) if self.parts else self.end


def test_files_that_give_little_at_a_time() -> None:
    run = b"q Q0 b 1 2 t\nq Q0 a 2 1 t\n"
    assert rm.evaluate({"q": {"a": 1}}, Slow(run), "mrr")["mrr"] == 0.5  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not ready"):
        rm.evaluate({"q": {"a": 1}}, Slow(run, None), "mrr")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="open as text"):
        rm.evaluate({"q": {"a": 1}}, Slow(run, "x"), "mrr")  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------
# What is wrong

GOOD_QRELS = b"q 0 a 1\n"
GOOD_RUN = b"q Q0 a 1 0.5 t\n"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("run", "message"),
    [
        (b"q Q0 a 1 0.5\n", "<file>:1: 5 columns instead of 6"),
        (GOOD_RUN + b"q Q0 b 2 nan t\n", "<file>:2: the score is NaN"),
        (GOOD_RUN + b"q Q0 b 2 1_0 t\n", "<file>:2: the score '1_0' is not a number"),
        (GOOD_RUN + b"q Q0 b 2 x t\n", "<file>:2: the score 'x' is not a number"),
        (GOOD_RUN + GOOD_RUN, "document 'a' of query 'q' stands in line 1 and again in line 2"),
        (GOOD_RUN + b"r Q0 b 1 1 t\n" + GOOD_RUN, "stands in line 1 and again in line 3"),
        (b"r Q0 b 1 1 t\n" + GOOD_RUN + b"r Q0 b 1 1 t\n", "stands in line 1 and again in line 3"),
        (b"", "<file>: no lines in it"),
        (b"\n \n", "<file>: no lines in it"),
        (b"\x1f\x8b\x08\x00", "<file>: damaged gzip file"),
        (gzip.compress(GOOD_RUN * 9, mtime=0)[:-9], "<file>: damaged gzip file"),
    ],
)
def test_runs_that_are_refused(run: bytes, message: str, threads: int) -> None:
    with pytest.raises(ValueError, match=message):
        rm.evaluate(io.BytesIO(GOOD_QRELS), io.BytesIO(run), "mrr", threads=threads)
    with pytest.raises(ValueError, match=message):
        rm.evaluate({"q": {"a": 1}}, io.BytesIO(run), "mrr")


SHIFTED = {
    b"q\tQ0\tNew York\t1\t9.5\tt": "the rank 'York' is not a number; an id that holds a blank",
    b"q Q0 New York 1 9.5": "the rank 'York' is not a number",
    b"q Q0 a - 9.5 t": "the rank '-' is not a number",
    b"q\tQ0\tRoute 66\t1\t9.5\tt": "tabs part other columns than blanks",
    b"q\tQ0\tRoute 66\t1\t9.5": "tabs part other columns than blanks",
    b"q\tQ0\tRoute 66\t1\t9.5\tmy tag": "tabs part other columns than blanks",
    b"q 2\tQ0\t7\t1\t9.5\tt": "tabs part other columns than blanks",
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("before", [b"", GOOD_RUN])
@pytest.mark.parametrize("line", SHIFTED)
def test_a_blank_inside_an_id_of_a_run(line: bytes, before: bytes, threads: int) -> None:
    run = before + line + b"\nq\tQ0\tParis\t2\t8.5\tt\n"
    said = f"<file>:{2 if before else 1}: {SHIFTED[line]}"
    for qrels in ({"q": {"Paris": 1}}, io.BytesIO(b"q 0 Paris 1\n")):
        with pytest.raises(ValueError, match=said):
            rm.evaluate(qrels, io.BytesIO(run), "mrr", threads=threads)


@pytest.mark.parametrize(
    "line", [b"#q Q0 New York 1 9.5 t", b"#q\tQ0\tRoute 66\t1\t9.5\tt", b"#q a .5"]
)
def test_a_line_of_data_with_a_mistake_is_no_comment(line: bytes) -> None:
    run = b"r Q0 b 1 2 t\n" if line.count(b"1") else b"r b 1\n"
    for qrels in ({"r": {"b": 1}}, io.BytesIO(b"r 0 b 1\n")):
        with pytest.raises(ValueError, match="<file>:2: "):
            rm.evaluate(qrels, io.BytesIO(run + line), "mrr")


@pytest.mark.parametrize(
    "line",
    [
        b"q Q0 b 1 9.5 my own 1 tag",
        b"q\tQ0\tb\t1\t9.5\tmy own 1 tag",
        b"q \tQ0\t b \t\t1\t9.5\tt",
        b"q Q0\tb\t1\t9.5\tt",
        b"q\tQ0\tb 1 9.5 t\t2",
        b"q Q0 b 2.5 9.5 t",
        b"q Q0 b -1e0 9.5 t",
    ],
)
def test_ranks_and_blanks_that_shift_nothing(line: bytes) -> None:
    run = line + b"\nq\tQ0\tParis\t2\t8.5\tt\n"
    for qrels in ({"q": {"Paris": 1}}, io.BytesIO(b"q 0 Paris 1\n")):
        assert rm.evaluate(qrels, io.BytesIO(run), "mrr")["mrr"] == 0.5


def test_tabs_and_padding_take_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(texts.Text, "read_carefully")
    run = b"q  \tQ0 \ta \t1.0\t9.5\tt\nq\tQ0\tParis\t2\t8.5\tmy tag\n"
    qrels = io.BytesIO(b"q\t0\tParis\t1\n")
    assert rm.evaluate(qrels, io.BytesIO(run), "mrr")["mrr"] == 0.5


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"q\t0\tNew York\t1", "5 columns instead of 4"),
        (b"q\tNew York\t1", "tabs part other columns than blanks"),
        (b"New York\ta\t1", "tabs part other columns than blanks"),
    ],
)
def test_a_blank_inside_an_id_of_judgments(line: bytes, what: str) -> None:
    for before in (b"", GOOD_QRELS):
        with pytest.raises(ValueError, match=f"<file>:{2 if before else 1}: {what}"):
            rm.evaluate(io.BytesIO(before + line), {"q": ["York"], "New": []}, "mrr")
    assert rm.evaluate(io.BytesIO(b"q 0\ta 1"), {"q": ["a"]}, "mrr")["mrr"] == 1.0


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (b"q 0 a\n", "<file>:1: 3 columns instead of 4"),
        (GOOD_RUN, "6 columns instead of 4 .* is this a run?"),
        (GOOD_QRELS + b"q 0 b inf\n", "<file>:2: the grade is infinite"),
        (GOOD_QRELS + b"q 0 b high\n", "<file>:2: the grade 'high' is not a number"),
        (GOOD_QRELS + GOOD_QRELS, "stands in line 1 and again in line 2"),
        (GOOD_QRELS + b"q 0 b 2000\n", "query 'q': document 'b': grade 2000 is over 1023"),
        (b"", "<file>: no lines in it"),
    ],
)
def test_qrels_that_are_refused(qrels: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.evaluate(io.BytesIO(qrels), io.BytesIO(GOOD_RUN), ["mrr", "ndcg"])


def test_integers_of_a_dict_never_match_the_text_of_a_file() -> None:
    way_out = r"ids of files are str: pass str\(id\)"
    run = b"1 Q0 7 1 0.5 t\n"
    for data in (run, b'{"1": {"7": 0.5}}', b'{"query_id": "1", "ranked": ["7"]}'):
        with pytest.raises(ValueError, match=rf"no query in common.* \(such as 1\); {way_out}"):
            rm.evaluate({1: {7: 1}}, io.BytesIO(data), "mrr")
        with pytest.raises(TypeError, match=f"query '1': no judged .*; {way_out}"):
            rm.evaluate({"1": {7: 1}}, io.BytesIO(data), "mrr")


def test_options_that_are_refused(pair: tuple[Path, Path]) -> None:
    for options, error in (
        ({"ties": "other"}, ValueError),
        ({"missing": "other"}, ValueError),
        ({"duplicates": "other"}, ValueError),
        ({"threads": 0}, ValueError),
        ({"threads": "2"}, TypeError),
    ):
        with pytest.raises(error):
            rm.evaluate(*pair, "mrr", **options)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        rm.evaluate(pair[0], "nowhere", "mrr")
    with pytest.raises(FileNotFoundError):
        rm.evaluate("nowhere", pair[1], "mrr")
    with pytest.raises(IsADirectoryError):
        rm.evaluate(pair[0].parent, pair[1], "mrr")


@settings(max_examples=300)
@given(st.data())
def test_mutated_texts_do_not_crash(data: st.DataObject) -> None:
    """The answer of the careful reader, or its error."""
    qrels, run = large(3, 8)
    spoiled = []
    for text in (qrels, run):
        changed = bytearray(text)
        for _ in range(data.draw(st.integers(0, 3))):
            place = data.draw(st.integers(0, len(changed) - 1))
            if data.draw(st.booleans()):
                changed[place] = data.draw(st.sampled_from(b"\n \t\0q1.e-\xff_"))
            else:
                del changed[place : place + data.draw(st.integers(1, 30))]
            changed = changed or bytearray(b"x")
        spoiled.append(bytes(changed))
    expected = outcome(by_dicts, *spoiled)
    ours = outcome(rm.evaluate, io.BytesIO(spoiled[0]), io.BytesIO(spoiled[1]), METRICS)
    alike(ours, expected)


def rows(text: bytes, side: str = "run", length: int | None = None) -> TextRows:
    layout = {"run": (True, True, True), "qrels": (True, False, False)}[side]
    second, fourth, more = layout
    return TextRows.of_lines(
        np.frombuffer(text, np.uint8),
        len(text) if length is None else length,
        ignored_second=second,
        has_rank=fourth,
        more=more,
        ranked=False,
    )


def test_the_core_refuses_arrays_of_the_wrong_shape() -> None:
    metrics = compile_metrics("mrr")[1]
    columns = JudgedRows(rows(GOOD_QRELS, "qrels"), metrics)
    right = (np.zeros((3, 1, 1)), np.zeros(1, np.uint8))
    for values, marks in ((np.zeros((1, 1, 1)), right[1]), (right[0], np.zeros(2, np.uint8))):
        with pytest.raises(ValueError, match="shape"):
            columns.evaluate(rows(GOOD_RUN), "docid", values, marks, [])
    for length in (-1, len(GOOD_RUN) + 1):
        with pytest.raises(ValueError, match="not so long"):
            rows(GOOD_RUN, length=length)
    assert not JudgedRows(rows(b"", "qrels"), metrics).usual
    nothing = JudgedRows(rows(b"", "qrels"), metrics)
    for call, arguments in (
        (nothing.evaluate, (rows(GOOD_RUN), "docid", *right, [])),
        (nothing.score_missing, right),
        (nothing.mark_answerable, right[1:]),
    ):
        with pytest.raises(ValueError, match="no judgments"):
            call(*arguments)  # type: ignore[operator]
    for values, marks in ((np.zeros((3, 1, 2)), right[1]), (right[0], np.zeros(2, np.uint8))):
        with pytest.raises(ValueError, match="shape"):
            columns.score_missing(values, marks)
    with pytest.raises(ValueError, match="shape"):
        columns.mark_answerable(np.zeros(2, np.uint8))
    assert last_query(np.frombuffer(GOOD_RUN, np.uint8), 99) == 0


def test_the_core_refuses_columns_that_do_not_fit() -> None:
    metrics = compile_metrics("mrr")[1]
    data, numbers = np.frombuffer(b"qa", np.uint8), np.ones(1)
    good = np.array([0, 1], np.int64)
    with pytest.raises(ValueError, match="different lengths"):
        TextRows.of_columns(np.array([0, 1, 2], np.int64), data, good, data, numbers)
    with pytest.raises(ValueError, match="different lengths"):
        TextRows.of_columns(good[:1], data, good, data, numbers)
    for bad in ([0, 3], [-1, 1], [2, 1], [3, 3]):
        rows = TextRows.of_columns(good, data, np.array(bad, np.int64), data, numbers)
        with pytest.raises(ValueError, match="do not lie in its data"):
            JudgedRows(rows, metrics)
    assert JudgedRows(
        TextRows.of_columns(good, data, good + 1, data, numbers), metrics
    ).mapping() == {"q": {"a": 1.0}}


def test_borders_of_queries() -> None:
    names = [b"a", b"a", b"bb", b"bb", b"c"]
    offsets = np.array([0, 1, 2, 4, 6, 7], np.int64)
    data = np.frombuffer(b"".join(names), np.uint8)
    rows = TextRows.of_columns(offsets, data, offsets, data, np.zeros(5))
    assert [rows.border(i) for i in range(-1, 7)] == [2, 2, 2, 2, 4, 4, 5, 5]
    assert [rows.border(i, backwards=True) for i in range(-1, 7)] == [0, 0, 0, 2, 2, 4, 4, 4]
    none = TextRows.of_columns(offsets[:1], data, offsets[:1], data, np.zeros(0))
    assert none.border(1) == none.border(0, backwards=True) == 0
