"""Every text and JSON format gives the digits of dicts, and what is wrong with it is said."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import json
import lzma
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from outcomes import alike, outcome, refused, same
from readers import read_qrels, read_run

import rankmeter as rm
from rankmeter._core.doors.text_rows import LONGEST_LINE
from rankmeter.cli.commands import main
from rankmeter.doors import json as json_files
from rankmeter.doors import source as files
from rankmeter.doors import text as texts

METRICS = ["ndcg@10", "map", "mrr", "recall@2", "ndcg@3(gain=linear)"]

Grades = Mapping[str, Mapping[str, Any]]


# ---------------------------------------------------------------------------------------------
# Formats

QRELS: dict[str, dict[str, float]] = {
    "q1": {"a": 3, "b": 1, "#1": 2, "no": 0},
    "#2": {"\u00a0x": 1, "\u00e9": 0.5, "a": -1},
    "300": {"7": 1, "8": 2},
    "gone": {"a": 1},
    "none": {"a": 0},
}
RUN: dict[str, dict[str, float]] = {
    "300": {"8": 9.0, "9": 8.5, "7": 1.0},
    "q1": {"x": 3.5, "b": 3.25, "a": -1e-3, "#1": -2.0},
    "new": {"a": 1.0},
    "#2": {"a": 2.0, "\u00e9": 1.5, "\u00a0x": 0.1},
    "none": {"b": 1.0},
}


def trec_qrels(qrels: Grades) -> bytes:
    return "".join(f"{q} 0 {d} {g}\n" for q, ds in qrels.items() for d, g in ds.items()).encode()


def trec_run(run: Grades, tag: str = "t") -> bytes:
    rows = (f"{q} Q0 {d} 1 {s!r} {tag}\n" for q, ds in run.items() for d, s in ds.items())
    return "".join(rows).encode()


def beir_qrels(qrels: Grades) -> bytes:
    rows = (f"{q}\t{d}\t{g}\n" for q, ds in qrels.items() for d, g in ds.items())
    return ("query-id\tcorpus-id\tscore\n" + "".join(rows)).encode()


def best_first(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda document: -scores[document])


def msmarco_run(run: Grades) -> bytes:
    rows = (
        f"{q}\t{d}\t{rank}\n"
        for q, scores in run.items()
        for rank, d in reversed(list(enumerate(best_first(scores), 1)))
    )
    return "".join(rows).encode()


def json_lines(content: Grades, key: str) -> bytes:
    def line(query: str, documents: Mapping[str, float]) -> str:
        value = best_first(documents) if key == "ranked" else documents
        id_: Any = int(query) if query.isdigit() else query
        return json.dumps({"extra": [1], "query_id": id_, key: value}) + "\n"

    return "".join(line(*item) for item in content.items()).encode()


def json_object(content: Grades, indent: int | None = None) -> bytes:
    return json.dumps(content, indent=indent, ensure_ascii=False).encode()


def json_rows(content: Grades, names: str, *, lines: bool = True) -> bytes:
    """Rows with such names, interleaved."""
    keys = names.split()

    def number(documents: Mapping[str, Any], document: str) -> Any:
        return best_first(documents).index(document) if keys[2] == "rank" else documents[document]

    rows = [
        {
            "more": None,
            **dict(zip(keys, (query, document, number(documents, document)), strict=True)),
        }
        for query, documents in content.items()
        for document in documents
    ]
    rows.sort(key=lambda row: list(content).index(row[keys[0]]) and len(row[keys[1]]))
    if not lines:
        return json.dumps(rows, indent=1).encode()
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def json_lists(run: Grades) -> bytes:
    return json.dumps({query: best_first(scores) for query, scores in run.items()}).encode()


# From a name to what writes it and to what format= may call it.
QRELS_FORMATS: dict[str, tuple[Callable[[Grades], bytes], str]] = {
    "trec": (trec_qrels, "trec"),
    "msmarco": (trec_qrels, "msmarco"),
    "beir": (beir_qrels, "beir"),
    "jsonl": (functools.partial(json_lines, key="qrels"), "jsonl"),
    "json": (json_object, "json"),
    "json indented": (functools.partial(json_object, indent=2), "json"),
    "rows": (functools.partial(json_rows, names="query-id corpus-id score"), "jsonl"),
    "list of rows": (functools.partial(json_rows, names="qid docid label", lines=False), "json"),
}
RUN_FORMATS: dict[str, tuple[Callable[[Grades], bytes], str]] = {
    "trec": (trec_run, "trec"),
    "trec of 8": (functools.partial(trec_run, tag="a b c"), "trec"),
    "msmarco": (msmarco_run, "msmarco"),
    "scores": (functools.partial(json_lines, key="scores"), "jsonl"),
    "ranked": (functools.partial(json_lines, key="ranked"), "jsonl"),
    "json": (json_object, "json"),
    "json of beir": (functools.partial(json_object, indent=1), "beir"),
    "json lists": (json_lists, "json"),
    "rows": (functools.partial(json_rows, names="query_id doc_id score"), "jsonl"),
    "list of rows": (functools.partial(json_rows, names="qid docno rank", lines=False), "json"),
    "list of beir": (functools.partial(json_rows, names="qid docno score", lines=False), "beir"),
}


@pytest.mark.parametrize("run", [*RUN_FORMATS, "dict"])
@pytest.mark.parametrize("qrels", [*QRELS_FORMATS, "dict"])
def test_every_pair_gives_the_digits_of_dicts(qrels: str, run: str, tmp_path: Path) -> None:
    expected = rm.evaluate(QRELS, RUN, METRICS)
    judged: Any = QRELS
    found: Any = RUN
    formats = {}
    if qrels != "dict":
        write, formats["qrels"] = QRELS_FORMATS[qrels]
        judged = tmp_path / "qrels"
        judged.write_bytes(write(QRELS))
    if run != "dict":
        write, formats["run"] = RUN_FORMATS[run]
        found = tmp_path / "run"
        found.write_bytes(write(RUN))
    for threads in (1, 3):
        same(rm.evaluate(judged, found, METRICS, threads=threads), expected)
    same(rm.evaluate(judged, found, METRICS, format=formats), expected)
    scorer = rm.Evaluator(judged, METRICS, format=formats)
    for _ in range(2):
        same(scorer.evaluate(found, format=formats), expected)


@pytest.mark.parametrize("format", ["trec", "msmarco", "beir", "jsonl", "json"])
def test_one_format_for_both_sides(format: str) -> None:
    qrels = next(write for write, name in QRELS_FORMATS.values() if name == format)
    run = next(write for write, name in RUN_FORMATS.values() if name == format)
    files_ = io.BytesIO(qrels(QRELS)), io.BytesIO(run(RUN))
    same(rm.evaluate(*files_, METRICS, format=format), rm.evaluate(QRELS, RUN, METRICS))


@pytest.mark.parametrize(
    ("side", "data", "format", "said"),
    [
        ("run", trec_run(RUN), "msmarco", "<file>:1: 6 columns instead of 3"),
        ("run", msmarco_run(RUN), "trec", "<file>:1: 3 columns instead of 6"),
        ("qrels", beir_qrels(QRELS), "trec", "<file>:1: 3 columns instead of 4"),
        ("qrels", trec_qrels(QRELS), "beir", "<file>:1: 4 columns instead of 3"),
        ("run", trec_run(RUN), "jsonl", "<file>:1: no JSON: "),
        ("run", trec_run(RUN), "json", "<file>:1: no JSON: "),
        ("run", json_lines(RUN, "ranked"), "json", "are these JSON lines?"),
        ("run", json_object(RUN), "jsonl", "<file>:1: no query_id"),
        ("run", json_object(RUN), "trec", "<file>:1: "),
        ("qrels", json_lines(RUN, "ranked"), None, "<file>:1: no qrels; is this a run?"),
        ("run", json_lines(QRELS, "qrels"), None, "no scores or ranked; are these qrels?"),
    ],
)
def test_a_format_that_it_is_not(side: str, data: bytes, format: str | None, said: str) -> None:
    given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(data)}
    assert said in refused(**given, format=format and {side: format})


def test_formats_that_there_are_not() -> None:
    run = io.BytesIO(trec_run(RUN))
    assert refused(QRELS, run, format="csv").startswith("format must be one of trec, beir,")
    assert "'runs'; there are qrels, run" in refused(QRELS, run, format={"runs": "trec"})
    assert "format must be a string" in refused(QRELS, run, TypeError, format=3)
    assert "errors must be" in refused(QRELS, run, errors="ignore")


@pytest.mark.parametrize(
    "header",
    [
        "query-id\tcorpus-id\tscore",
        "qid docid relevance",
        "query_id\tdoc_id\tgrade ",
        "\n \nq d rel",
    ],
)
def test_headers_of_three_columns(header: str) -> None:
    data = header.encode() + b"\r\n" + beir_qrels(QRELS).partition(b"\n")[2]
    same(rm.evaluate(io.BytesIO(data), RUN, METRICS), rm.evaluate(QRELS, RUN, METRICS))
    wrong = data + b"q1 a\n"
    number = wrong.count(b"\n")
    assert refused(io.BytesIO(wrong), RUN).startswith(f"<file>:{number}: 2 columns instead of 3")


@pytest.mark.parametrize("first", ["PAR1", "ARROW1", "FEA1", "BZh9", "{", '[{"', "#c", "query"])
def test_a_first_query_that_looks_like_another_format(first: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    qrels, run = {first: {"a": 1}}, {first: {"b": 2.0, "a": 1.0}}
    rm.write_run(run, path)
    same(rm.evaluate(qrels, path, "mrr"), rm.evaluate(qrels, run, "mrr"))
    rm.write_qrels(qrels, path)
    same(rm.evaluate(path, run, "mrr"), rm.evaluate(qrels, run, "mrr"))


@pytest.mark.parametrize("above", [b"\n", b" \r\n\t\n"])
def test_json_lines_below_blank_lines(above: bytes) -> None:
    for data in (json_lines(RUN, "scores"), json_rows(RUN, "query_id doc_id score")):
        same(
            rm.evaluate(QRELS, io.BytesIO(above + data), METRICS),
            rm.evaluate(QRELS, RUN, METRICS),
        )


@pytest.mark.parametrize("side", ["qrels", "run"])
def test_json_lines_without_a_query_id(side: str) -> None:
    key = {"qrels": "qrels", "run": "scores"}[side]
    data = json_lines(QRELS, key).replace(b"query_id", b"qid")
    given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(data)}
    assert refused(**given).startswith(f"<file>:1: no query_id; there are extra, qid, {key}: ")


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(
    "names",
    [
        "query-id corpus-id score",
        "query_id corpus_id score",
        "query_id doc_id relevance",
        "qid docid grade",
        "qid pid rel",
        "Topic_ID DocNo label",
        "query_id document_id grade",
    ],
)
def test_names_of_judgments_in_rows(names: str, lines: bool) -> None:
    rows = json_rows(QRELS, names, lines=lines)
    expected = rm.evaluate(QRELS, RUN, METRICS)
    ours = rm.evaluate(io.BytesIO(rows), io.BytesIO(trec_run(RUN)), METRICS)
    for query in QRELS:
        assert ours.per_query[query] == expected.per_query[query]
    assert ours.coverage == expected.coverage


@pytest.mark.parametrize("lines", [True, False])
def test_rows_with_names_of_their_own(lines: bool) -> None:
    qrels = json_rows(QRELS, "key item value", lines=lines)
    run = json_rows(RUN, "key item rank", lines=lines)
    said = (
        "<file>: no column query_id, no column doc_id, no column grade or relevance; there are "
        "more, key, item, value: name them with columns={'query_id': ..., 'doc_id': ..., "
        "'grade': ...}"
    )
    assert refused(io.BytesIO(qrels), RUN) == said
    columns = {"query_id": "key", "doc_id": "item"}
    options: Any = {"columns": {"qrels": {**columns, "grade": "value"}, "run": columns}}
    expected = rm.evaluate(QRELS, RUN, METRICS)
    ours = rm.evaluate(io.BytesIO(qrels), io.BytesIO(run), METRICS, **options)
    assert [ours.per_query[query] for query in QRELS] == [*expected.per_query.values()]
    both = json_rows(RUN, "query_id doc_id score", lines=lines)
    assert "no column grade or relevance" in refused(io.BytesIO(both), RUN)
    assert "no column score or rank" in refused(QRELS, io.BytesIO(qrels), columns=columns)
    assert rm.fuse({"a": io.BytesIO(both)}, "wsum", norm=None)["300"] == RUN["300"]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ('{"query_id": "q", "doc_id": "d"}', "no score"),
        ('{"query_id": null, "doc_id": "d", "score": 1}', "query_id is null, not a string or an"),
        ('{"query_id": "q", "doc_id": 1.5, "score": 1}', "doc_id is a number, not a string or an"),
        ('{"query_id": "q", "doc_id": "d", "score": null}', "score is null, not a number"),
        ('{"query_id": "q", "doc_id": "d", "score": "1"}', "score is a string, not a number"),
        ('{"query_id": "q", "doc_id": "d", "score": NaN}', "score is NaN"),
        ('{"query_id": "q", "doc_id": "\\ud800", "score": 1}', "doc_id holds a surrogate"),
        (
            '{"query_id": "q", "doc_id": "d", "doc_id": "e", "score": 1}',
            "the key 'doc_id' is there",
        ),
        ("[1]", "a list, not an object"),
        ('{"query_id": "q", "doc_id": "a", "score": 2}', "document 'a' of query 'q' stands in "),
    ],
)
def test_rows_that_are_wrong(row: str, what: str) -> None:
    good = '{"query_id": "q", "doc_id": "a", "score": 1}'
    assert refused(QRELS, io.BytesIO(f"{good}\n \n{row}".encode())).startswith(f"<file>:3: {what}")
    said = refused(QRELS, io.BytesIO(f"[{good}, {row}]".encode()))
    assert said.startswith(f"<file>: row 1: {what}")
    gathered = refused(QRELS, io.BytesIO(f"{good}\n{row}\n{row}".encode()), errors="collect")
    assert numbered(gathered) == [2, 3]
    if "stands" in what:
        kept = io.BytesIO(f"{good}\n{row}".encode())
        assert rm.evaluate({"q": {"a": 1}}, kept, "mrr", duplicates="first")["mrr"] == 1.0
        assert "in line 1 too; duplicates='first' keeps the first: " in gathered


@pytest.mark.parametrize(
    ("data", "format", "said"),
    [
        (b'{"query_id": "q", "doc_id": "a", "score": 1}\n{', None, "<file>:2: no JSON: "),
        (b'{"query_id": "q", "doc_id": "a", "score": 1}\n"\xff"', None, "<file>:2: not UTF-8"),
        (b'[{"query_id": "q",\n', None, "<file>:2: no JSON: "),
        (b"[]", "json", "<file>: no rows in it"),
        (b"[1]", "json", "<file>: row 0: a number, not an object"),
        (b'"a"', "json", "<file>: a string, not an object of queries"),
        (b'{"query_id": "q", "doc_id": "a", "rank": 1.5}', None, "<file>:1: rank is 1.5, not a"),
        (
            f'{{"query_id": "q", "doc_id": "a", "rank": {10**400}}}'.encode(),
            None,
            "<file>:1: rank is not a double",
        ),
    ],
)
def test_files_of_rows_that_are_wrong(data: bytes, format: str | None, said: str) -> None:
    assert refused(QRELS, io.BytesIO(data), format=format and {"run": format}).startswith(said)


def test_grades_of_rows_must_be_finite() -> None:
    rows = b'{"query-id": "q", "corpus-id": "a", "score": Infinity}'
    assert refused(io.BytesIO(rows), RUN).startswith("<file>:1: score is infinite: ")


# ---------------------------------------------------------------------------------------------
# What lines may look like

COMMENT_LINES = [
    b"#",
    b"#word",
    b"# two words",
    b"# a b",
    b"#a b c d",
    b"# a b c d e f",
    b"#\t\xff",
]
CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "no last newline": lambda data: data.rstrip(b"\n"),
    "blank lines": lambda data: b" \r\n\n" + data.replace(b"\n", b"\n\t \n\n"),
    "mark": lambda data: b"\xef\xbb\xbf" + data,
    "blanks around": lambda data: b"\x0b " + data.replace(b"\n", b"\x0c \n\t"),
    "tabs": lambda data: data.replace(b" ", b"\t"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("run", ["trec", "msmarco", "scores"])
@pytest.mark.parametrize("qrels", ["trec", "beir", "jsonl"])
def test_ends_of_lines_and_blanks(qrels: str, run: str, change: str) -> None:
    spoil = CHANGES[change]
    if "jsonl" in (qrels, run) or run == "scores":
        if change in ("blank lines", "blanks around"):
            spoil = lambda data: data.replace(b"\n", b"\n\t \n")  # noqa: E731
        elif change == "tabs":
            spoil = lambda data: data.replace(b": ", b":\t")  # noqa: E731
    judged, found = QRELS_FORMATS[qrels][0](QRELS), RUN_FORMATS[run][0](RUN)
    ours = rm.evaluate(io.BytesIO(spoil(judged)), io.BytesIO(spoil(found)), METRICS)
    same(ours, rm.evaluate(QRELS, RUN, METRICS))


@pytest.mark.parametrize("comment", COMMENT_LINES)
@pytest.mark.parametrize("run", ["trec", "msmarco"])
@pytest.mark.parametrize("qrels", ["trec", "beir"])
def test_comments(qrels: str, run: str, comment: bytes) -> None:
    judged, found = QRELS_FORMATS[qrels][0](QRELS), RUN_FORMATS[run][0](RUN)
    expected = rm.evaluate(QRELS, RUN, METRICS)
    for begin in (b"", comment + b"\n"):
        for spoilt in (
            (begin + judged + comment, begin + found + comment),
            (begin + judged.replace(b"\n", b"\n" + comment + b"\n"), begin + found),
            (begin + judged, begin + found.replace(b"\n", b"\r\n" + comment + b"\n")),
        ):
            same(rm.evaluate(io.BytesIO(spoilt[0]), io.BytesIO(spoilt[1]), METRICS), expected)


@pytest.mark.parametrize(
    ("line", "data"),
    [
        (b"#q Q0 a 1 2.0 t", True),
        (b"#q q0 a 1 2.0 t", True),
        (b"# 17 a 1 2.0 t", True),
        (b"#q Q1 a 1 2.0 t", False),
        (b"#q Q0 a 1 high t", False),
        (b"#q Q0 a 1 2.0", False),
        (b"#q Q0 a 1 nan t", False),
    ],
)
@pytest.mark.parametrize("size", [16, 1 << 20])
def test_what_is_no_comment(
    line: bytes, data: bool, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_BLOCK", size)
    query = line.split()[0].decode()
    run = b"r Q0 a 1 1 t\n" + line + b"\n"
    ev = rm.evaluate({query: {"a": 1}, "r": {"a": 1}}, io.BytesIO(run), "mrr")
    assert ev.coverage.evaluated == 1 + data


@pytest.mark.parametrize("size", [*range(14, 60, 4), 1 << 20])
def test_a_damaged_line_of_a_query_is_no_comment_wherever_a_block_ends(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_BLOCK", size)
    run = b"#q Q0 d 1 2 t\n#other x\n#q damaged\nq1 Q0 a 1 2 t\n"
    said = refused({"#q": {"d": 1}, "q1": {"a": 1}}, io.BytesIO(run))
    assert said.startswith("<file>:3: 2 columns instead of 6")


@pytest.mark.parametrize("blank", [b" ", b"\r", b"\t \x0b"])
def test_blank_lines_of_any_length(blank: bytes) -> None:
    run = b"q1 Q0 a 1 2 t\n" + blank * (LONGEST_LINE + 9) + b"\nq2 Q0 a 1 1 t\n"
    ev = rm.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, io.BytesIO(run), "mrr")
    assert ev.coverage.evaluated == 2


# Any bytes that make one column, that is all but ASCII blanks and NUL.
id_bytes = st.lists(
    st.sampled_from([c for c in range(1, 256) if c not in b" \t\n\r\x0b\x0c"]),
    min_size=1,
    max_size=5,
).map(bytes)
NUMBERS = ["1", "-0.0", "1e3", ".5", "5.", "+2", "1e-400", "Infinity", "-inf", "0.1", "1e23"]


@st.composite
def byte_tables(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Lines of qrels and of a run, with ids of any bytes, in any order."""
    queries = draw(st.lists(id_bytes, min_size=1, max_size=3, unique=True))
    documents = draw(st.lists(id_bytes, min_size=1, max_size=5, unique=True))
    pairs = st.lists(
        st.tuples(st.sampled_from(queries), st.sampled_from(documents)), min_size=1, unique=True
    )
    judged = [b"%b 0 %b %d" % (*p, draw(st.integers(0, 3))) for p in draw(pairs)]
    found = [
        b"%b Q0 %b 1 %b t" % (*p, draw(st.sampled_from(NUMBERS)).encode()) for p in draw(pairs)
    ]
    return b"\n" + b"\n".join(judged), b"\n" + b"\n".join(found)


@settings(max_examples=200)
@given(byte_tables(), st.sampled_from([12, 40, 1 << 20]), st.sampled_from(["input", "expected"]))
def test_ids_are_bytes(pair: tuple[bytes, bytes], size: int, ties: Any) -> None:
    expected = outcome(
        rm.evaluate,
        read_qrels(io.BytesIO(pair[0])),
        read_run(io.BytesIO(pair[1])),
        METRICS,
        ties=ties,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "_BLOCK", size)
        ours = outcome(rm.evaluate, io.BytesIO(pair[0]), io.BytesIO(pair[1]), METRICS, ties=ties)
    alike(ours, expected)


@pytest.mark.parametrize("text", ["1_0", "0x1", "1,5", "\u0661", "nan", "-NaN", "", "--1", "1e"])
def test_no_numbers(text: str) -> None:
    for run in (f"q Q0 d 1 {text} t\n".encode(), json.dumps({"q": {"d": text}}).encode()):
        assert refused({"q": {"d": 1}}, io.BytesIO(run)).startswith("<file>:")


@pytest.mark.parametrize("text", ["NaN", "null", '"1"', "[]", "{}"])
@pytest.mark.parametrize("side", ["qrels", "run"])
def test_no_numbers_of_json(text: str, side: str) -> None:
    key = {"qrels": "qrels", "run": "scores"}[side]
    for data in (f'{{"q": {{"d": {text}}}}}', f'{{"query_id": "q", "{key}": {{"d": {text}}}}}'):
        given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(data.encode())}
        said = refused(**given)
        assert said.startswith("<file>:")
        assert re.search(r"document 'd': the (grade|score) is (NaN|.*, not a number)", said)


@pytest.mark.parametrize("text", ["Infinity", "-Infinity", "1e999"])
def test_infinite_grades_of_json(text: str) -> None:
    for data in (f'{{"q": {{"d": {text}}}}}', f'{{"query_id": "q", "qrels": {{"d": {text}}}}}'):
        said = refused(io.BytesIO(data.encode()), RUN)
        assert re.search(r"document 'd': the grade is infinite", said)


def test_booleans_of_json_are_numbers() -> None:
    judged = {"q1": {"a": True, "b": False}}
    want = rm.evaluate(judged, judged, METRICS)
    for qrels, run in (
        (json_object(judged), json_object(judged)),
        (json_lines(judged, "qrels"), json_lines(judged, "scores")),
    ):
        same(rm.evaluate(io.BytesIO(qrels), judged, METRICS), want)
        same(rm.evaluate(io.BytesIO(qrels), io.BytesIO(run), METRICS), want)


@pytest.mark.parametrize("rank", ["inf", "-Infinity", "1e999", "nan"])
@pytest.mark.parametrize("threads", [1, 2])
def test_infinite_ranks(rank: str, threads: int) -> None:
    run = f"q1\ta\t1\nq1\tb\t{rank}\n".encode()
    assert refused(QRELS, io.BytesIO(run), threads=threads).startswith("<file>:2: the rank is ")


@pytest.mark.parametrize("ties", ["docid", "input", "expected"])
def test_infinite_scores(ties: Literal["docid", "input", "expected"]) -> None:
    run = {"q1": {"a": float("inf"), "b": float("-inf"), "x": float("inf"), "#1": 0.0}}
    expected = rm.evaluate(QRELS, run, METRICS, ties=ties)
    for write in (trec_run, json_object, functools.partial(json_lines, key="scores")):
        same(rm.evaluate(QRELS, io.BytesIO(write(run)), METRICS, ties=ties), expected)


@pytest.mark.parametrize("ties", ["docid", "input", "expected"])
@pytest.mark.parametrize("side", ["qrels", "run", "both"])
def test_interleaved_queries(ties: Literal["docid", "input", "expected"], side: str) -> None:
    scores = {q: {d: float(len(d)) for d in ds} for q, ds in RUN.items()}

    def mixed(data: bytes) -> bytes:
        lines = [line + b"\n" for line in data.split(b"\n")]
        return b"".join(lines[0::3] + lines[1::3] + lines[2::3])

    qrels, run = trec_qrels(QRELS), trec_run(scores)
    if side != "run":
        qrels = mixed(qrels)
    if side != "qrels":
        run = mixed(run)
    expected = rm.evaluate(
        read_qrels(io.BytesIO(qrels)), read_run(io.BytesIO(run)), METRICS, ties=ties
    )
    for threads in (1, 2):
        found = rm.evaluate(io.BytesIO(qrels), io.BytesIO(run), METRICS, ties=ties, threads=threads)
        same(found, expected)


# ---------------------------------------------------------------------------------------------
# Compression


def zstd(data: bytes) -> bytes:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    module = pytest.importorskip(name)
    packed: bytes = module.compress(data, options={module.CompressionParameter.checksum_flag: 1})
    return packed


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize("format", RUN_FORMATS)
def test_compressed_runs(kind: str, format: str) -> None:
    compress = COMPRESSIONS[kind]
    plain = RUN_FORMATS[format][0](RUN)
    packed = compress(plain)
    expected = rm.evaluate(QRELS, RUN, METRICS)
    same(rm.evaluate(QRELS, io.BytesIO(packed), METRICS), expected)
    same(
        rm.evaluate(QRELS, io.BytesIO(compress(plain[:9]) + compress(plain[9:])), METRICS), expected
    )
    for cut in range(12, len(packed), 5):
        rest = packed[cut + 3 :]
        for damaged in (packed[:cut], packed[:cut] + b"\x55\xaa\x55" + rest):
            said = outcome(rm.evaluate, QRELS, io.BytesIO(damaged), METRICS)
            if isinstance(said, rm.Evaluation):  # what was changed is not part of the data
                same(said, expected)
                assert len(damaged) > cut
            else:
                assert said.startswith("<file>: damaged ")


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize("format", QRELS_FORMATS)
def test_compressed_qrels(kind: str, format: str) -> None:
    packed = COMPRESSIONS[kind](QRELS_FORMATS[format][0](QRELS))
    expected = rm.evaluate(QRELS, RUN, METRICS)
    same(rm.evaluate(io.BytesIO(packed), RUN, METRICS), expected)
    for cut in range(12, len(packed), 7):
        assert refused(io.BytesIO(packed[:cut]), RUN).startswith("<file>: damaged ")


def test_padding_between_streams() -> None:
    one, two = b"q1 Q0 a 1 2 t\n", b"q2 Q0 a 1 1 t\n"
    for length in (4, 1 << 12, (1 << 22) + 4):
        for compress in (lzma.compress, bz2.compress, gzip.compress):
            data = compress(one) + bytes(length) + compress(two) + bytes(length)
            ev = rm.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, io.BytesIO(data), "mrr")
            assert ev.coverage.evaluated == 2


# ---------------------------------------------------------------------------------------------
# What is wrong


def numbered(said: str) -> list[int]:
    return [int(found) for found in re.findall(r"^<file>:(\d+): ", said, re.MULTILINE)]


BAD_RUN = [
    b"q1 Q0 a 1 2.0 t",
    b"q1 Q0 b 1 t",
    b"q1 Q0 c 1 high t",
    b"q1 Q0 a 1 1.0 t",
    b"q1 Q0 d 1 nan t",
    b"q1 Q0 e\0 1 1 t",
    b"q1 Q0 " + b"f" * 300 + b" 1 x t",
    b"q1 Q0 g 1 1.0 t",
]
BAD_QRELS = [b"q1 0 a 1", b"q1 0 b", b"q1 0 c one", b"q1 0 a 2", b"q1 0 d inf", b"q1 0 e 1"]
BAD_LINES = [
    b'{"query_id": "q1", "scores": {"a": 1}}',
    b'{"query_id": "q2", "scores": {"a": null}}',
    b'{"query_id": "q3", "scores": {"a": 1, "a": 2}}',
    b'{"query_id": "q1", "ranked": []}',
    b'{"query_id": 1.5, "ranked": []}',
    b'{"query_id": "q4", "ranked": ["a", "b", "a"]}',
    b'{"query_id": "q5", "ranked": [], "scores": {}}',
    b'{"query_id": "q6"}',
    b'{"query_id": "q7", "ranked": {"a": 1}}',
    b'{"query_id": "q8", "ranked": ["\xff"]}',
    b"[1]",
    b"{",
    b'{"query_id": "q9", "ranked": [[]]}',
    b"[" * 100_000,
    b'{"query_id": "q10", "ranked": ["a"]}',
]


@pytest.mark.parametrize(
    ("side", "lines", "wrong"),
    [
        ("run", BAD_RUN, [2, 3, 4, 5, 6, 7]),
        ("qrels", BAD_QRELS, [2, 3, 4, 5]),
        ("run", BAD_LINES, [*range(2, 15)]),
    ],
)
def test_mistakes_are_gathered(side: str, lines: list[bytes], wrong: list[int]) -> None:
    data = b"\n".join(lines)
    other: dict[str, Any] = {"qrels": QRELS, "run": RUN}
    said = refused(**other | {side: io.BytesIO(data)}, errors="collect")
    assert numbered(said) == wrong
    assert len(said.split("\n")) == len(wrong)
    for line, number in zip(said.split("\n"), wrong, strict=True):
        alone = lines[number - 1]
        shown = repr(alone[:200].decode("utf-8", "backslashreplace"))
        assert line.endswith(f": {shown}" + (" ..." if len(alone) > 200 else ""))
    # Without errors="collect" it is the first of these.
    assert refused(**other | {side: io.BytesIO(data)}) == said.split("\n")[0]
    right = [line for number, line in enumerate(lines, 1) if number not in wrong]
    tidy: dict[str, Any] = other | {side: io.BytesIO(b"\n".join(right))}
    assert rm.evaluate(**tidy, metrics="mrr", errors="collect").coverage.evaluated == 1


def test_both_lines_of_a_document_are_named() -> None:
    said = refused(QRELS, io.BytesIO(b"\n".join(BAD_RUN)), errors="collect")
    assert "document 'a' of query 'q1' stands in line 1 and again in line 4" in said
    said = refused(QRELS, io.BytesIO(b"\n".join(BAD_LINES)), errors="collect")
    assert "query 'q1' stands in line 1 too" in said
    assert "document 'a' stands at rank 1 and again at rank 3" in said


TWICE = {
    "trec": b"q Q0 x 1 3 t\nq Q0 a 2 2 t\nq Q0 x 3 9 t\nq Q0 y 4 1 t\nq Q0 a 5 7 t\n",
    "interleaved": b"q Q0 x 1 3 t\nr Q0 a 2 2 t\nq Q0 a 2 2 t\nq Q0 x 3 9 t\nq Q0 a 5 7 t\n",
    "msmarco": b"q x 1\nq a 2\nq x 4\nq a 5\n",
    "msmarco, first in the lines": b"q x 4\nq a 5\nq x 6\nq a 3\n",
    "scores": b'{"query_id": "q", "scores": {"x": 3, "a": 2, "x": 1, "a": 9}}',
    "ranked": b'{"query_id": "q", "ranked": ["x", "x", "a", "x", "a"]}',
    "json": b'{"q": {"x": 3, "a": 2, "x": 1, "a": 9}}',
    "json lists": b'{"q": ["x", "x", "a", "x", "a"]}',
}


@pytest.mark.parametrize("kind", TWICE)
@pytest.mark.parametrize("threads", [1, 2])
def test_duplicates_first_keeps_the_first(
    kind: str, threads: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for qrels in ({"q": {"a": 1}}, io.BytesIO(b"q 0 a 1"), {"q": {"a": 1}, "e": {}}):
        run = io.BytesIO(TWICE[kind])
        ev = rm.evaluate(qrels, run, ["mrr", "map"], duplicates="first", threads=threads)
        assert ev.per_query["q"] == {"mrr": 0.5, "map": 0.5}
        said = refused({"q": {"a": 1}}, io.BytesIO(TWICE[kind]), threads=threads)
        assert said.partition(": '")[0].endswith("; duplicates='first' keeps the first")
    (tmp_path / "qrels").write_bytes(b"q 0 a 1")
    (tmp_path / "run").write_bytes(TWICE[kind])
    argv = ["eval", str(tmp_path / "qrels"), str(tmp_path / "run"), "-mmrr", "--format=csv"]
    assert main([*argv, "--duplicates", "first"]) == 0
    assert "mrr,0.5" in capsys.readouterr().out
    assert main(argv) == 1


@pytest.mark.parametrize(
    ("side", "data", "said"),
    [
        ("qrels", b"q 0 a 1\nq 0 a 1", "stands in line 1 and again in line 2: 'q 0 a 1'"),
        ("qrels", b'{"q": {"a": 1, "a": 1}}', "query 'q': the key 'a' is there twice"),
        ("run", b'{"q": {"a": 1}, "q": {"b": 1}}', "<file>: the key 'q' is there twice"),
        (
            "run",
            b'{"query_id": "q", "ranked": [], "ranked": []}',
            "the key 'ranked' is there twice: ",
        ),
        ("run", b'{"query_id": "q", "ranked": []}\n' * 2, "query 'q' stands in line 1 too"),
        ("run", b"q Q0 a 1 2 t\nq Q0 a 1 nan t", "<file>:2: the score is NaN"),
    ],
)
def test_what_duplicates_first_does_not_allow(side: str, data: bytes, said: str) -> None:
    given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(data)}
    assert said in refused(**given, duplicates="first")


@pytest.mark.parametrize("line", [b"q Q0 d 1 x t\n", b'{"query_id": "q"}\n'])
def test_no_more_than_twenty_mistakes(line: bytes) -> None:
    said = refused(QRELS, io.BytesIO(line * 30), errors="collect").split("\n")
    assert numbered("\n".join(said)) == [*range(1, 21)]
    assert said[20:] == ["<file>: the rest is not looked at"]
    assert len(refused(QRELS, io.BytesIO(line * 19), errors="collect").split("\n")) == 19


def test_mistakes_in_an_object() -> None:
    content = {"q1": {"a": "x"}, "q2": ["a", "a"], "q3": 1, "q4": {"a": 1}}
    said = refused(QRELS, io.BytesIO(json.dumps(content).encode()), errors="collect").split("\n")
    assert [line.split(": ")[1] for line in said] == ["query 'q1'", "query 'q2'", "query 'q3'"]
    assert said[2].endswith("an object or a list is wanted, not a number")
    for data, what in (
        (b'{"q": {"a": 1}, "q": {}}', "the key 'q' is there twice"),
        (b'{"q": {"a": 1, "a": 1}}', "the key 'a' is there twice"),
        (b'{"q": {"a": 1}\n', ":2: no JSON: "),
        (b'{"q":\n {"a": \xff}}', ":2: not UTF-8"),
        (b"{}", "no queries in it"),
        (b'{"a":' * 100_000, "no JSON: "),
        (b'{"a": ' + b"1" * 10_000 + b"}", "no JSON: "),
    ):
        assert what in refused(QRELS, io.BytesIO(data))


@pytest.mark.parametrize("write", [trec_qrels, beir_qrels, QRELS_FORMATS["jsonl"][0], json_object])
def test_grades_out_of_range(write: Callable[[Grades], bytes]) -> None:
    said = refused(io.BytesIO(write({"q": {"a": 2000}})), RUN)
    assert said.startswith("<file>: query 'q': document 'a': grade 2000 is over 1023")
    data = write({"q": {"a": 1e300}}).replace(b"1e+300", b"1e999")
    assert "infinite" in refused(io.BytesIO(data), RUN)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n \r\n",
        b"\xef\xbb\xbf",
        b"# comment\n",
        b"#\n",
        gzip.compress(b"", mtime=0),
        lzma.compress(b""),
    ],
)
@pytest.mark.parametrize("side", ["qrels", "run"])
def test_nothing_in_it(data: bytes, side: str) -> None:
    given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(data)}
    assert refused(**given) == "<file>: no lines in it"


@pytest.mark.parametrize("kind", [*RUN_FORMATS, "gz"])
def test_an_open_file_given_twice(kind: str, tmp_path: Path) -> None:
    data = gzip.compress(trec_run(RUN)) if kind == "gz" else RUN_FORMATS[kind][0](RUN)
    path = tmp_path / "run"
    path.write_bytes(data)
    with path.open("rb") as file:
        for given, name in ((file, str(path)), (io.BytesIO(data), "<file>")):
            rm.evaluate(QRELS, given, METRICS)
            said = f"{name} has been read or written to its end: seek(0) first"
            assert refused(QRELS, given) == said
            assert refused(given, RUN) == said
            given.seek(0)
            same(rm.evaluate(QRELS, given, METRICS), rm.evaluate(QRELS, RUN, METRICS))


@pytest.mark.parametrize("side", ["qrels", "run"])
@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_lines_that_are_too_long(side: str, newline: bytes) -> None:
    good = {"qrels": b"q1 0 a 1\n", "run": b"q1 Q0 a 1 1 t\n"}[side]
    cells = {"qrels": b"q1 0 %b 1", "run": b"q1 Q0 %b 1 1 t"}[side]
    long = cells % (b"x" * LONGEST_LINE)
    given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(good + long + newline)}
    said = refused(**given)
    assert said.startswith("<file>:2: the line is longer than 1,048,576 bytes: 'q1 ")
    assert len(said) < 300
    longest = cells % (b"x" * (LONGEST_LINE - len(cells) + 2))
    given[side] = io.BytesIO(good + longest + newline)
    assert rm.evaluate(**given, metrics="mrr").coverage.evaluated == 1
    given[side] = io.BytesIO(good + long + b"\nbad\n" + good)
    assert numbered(refused(**given, errors="collect")) == [2, 3, 4]


@pytest.mark.parametrize("seed", range(5))
def test_binary_files(seed: int) -> None:
    rng = random.Random(seed)
    data = b"\x7fELF" + rng.randbytes(3 << 20)
    for side in ("qrels", "run"):
        given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(data)}
        said = refused(**given)
        assert said.startswith("<file>:")
        assert len(said) < 2_000


@pytest.mark.parametrize("format", RUN_FORMATS)
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("reads", [0, 1])
def test_a_file_that_becomes_shorter(
    format: str, compressed: bool, reads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    scores = {f"q{i}": {f"d{i * j % 9973}": 1.0 + j for j in range(50)} for i in range(1, 400)}
    data = RUN_FORMATS[format][0](scores)
    path.write_bytes(gzip.compress(data, 0) if compressed else data)
    monkeypatch.setattr(files, "_START", 1 << 10)
    real = files._Watched.readinto
    most = path.stat().st_size - 1_000
    calls = 0

    def cut(self: Any, buffer: Any) -> int:
        nonlocal calls
        if calls == reads:
            os.truncate(path, most)
        calls += 1
        return real(self, buffer)

    monkeypatch.setattr(files._Watched, "readinto", cut)
    with pytest.raises(OSError, match="it became shorter while it was read"):
        rm.evaluate({"q1": {"d1": 1}}, path, "mrr")


# ---------------------------------------------------------------------------------------------
# What can be read only once


@pytest.mark.parametrize("most", [0, 10, 1 << 12, 32 << 20])
@pytest.mark.parametrize("shape", ["tidy", "interleaved", "gz", "jsonl"])
def test_standard_input_that_does_not_fit_in_memory(
    most: int, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_IN_MEMORY", most)
    monkeypatch.setattr(files, "BLOCK", 1 << 10)
    run = {f"q{i}": {f"d{j}": float(j % 7) for j in range(i, i + 20)} for i in range(60)}
    qrels = {query: {"d30": 1, "d31": 2} for query in run}
    data = json_lines(run, "scores") if shape == "jsonl" else trec_run(run)
    if shape == "interleaved":
        lines = sorted(data.split(b"\n"), key=lambda line: line.split()[2:3])
        data = b"\n".join(lines)
    elif shape == "gz":
        data = gzip.compress(data)
    expected = rm.evaluate(qrels, run, METRICS)
    for threads in (1, 3):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        same(rm.evaluate(qrels, "-", METRICS, threads=threads), expected)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(trec_qrels(qrels))))
    same(rm.evaluate("-", run, METRICS), expected)


def test_many_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    run = {f"q{i}": {"a": 1.0, "b": float(i)} for i in range(25)}
    qrels = {f"q{i}": {"a": 1} for i in range(5, 40)}
    expected = rm.evaluate(qrels, run, METRICS)
    for together in (1, 2, 7, 25, 1000):
        monkeypatch.setattr(json_files, "_TOGETHER", together)
        same(rm.evaluate(qrels, io.BytesIO(json_lines(run, "scores")), METRICS), expected)
        twice = json_lines(run, "scores") + json_lines({"q0": {"a": 1.0}}, "scores")
        said = refused(qrels, io.BytesIO(twice))
        assert said.startswith("<file>:26: query 'q0' stands in line 1 too")


# ---------------------------------------------------------------------------------------------
# The command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(trec_qrels(QRELS))
    (tmp_path / "run").write_bytes(trec_run(RUN))
    return tmp_path


def means(argv: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    assert main(["eval", *argv, "--format", "json", *(f"-m{m}" for m in METRICS)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found: dict[str, float] = json.loads(out)["runs"][0]["mean"]
    return found


@pytest.mark.parametrize("qrels", QRELS_FORMATS)
@pytest.mark.parametrize("run", ["trec", "msmarco", "ranked", "json of beir"])
def test_input_formats_of_the_command(
    qrels: str, run: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = rm.evaluate(QRELS, RUN, METRICS).mean
    write, qrels_format = QRELS_FORMATS[qrels]
    (folder / "qrels").write_bytes(write(QRELS))
    write, run_format = RUN_FORMATS[run]
    (folder / "run").write_bytes(write(RUN))
    named = ["--input-format", f"qrels={qrels_format}", "--input-format", f"run={run_format}"]
    for more in ([], named):
        assert means(["qrels", "run", *more], capsys) == expected
    if qrels_format == run_format:
        assert means(["qrels", "run", "--input-format", run_format], capsys) == expected


@pytest.mark.parametrize(
    ("argv", "what"),
    [
        (["--input-format", "csv"], "'csv' is none of trec, beir,"),
        (["--input-format", "runs=trec"], "the side is qrels or run, not runs"),
        (["--column", "query_id"], "is not COLUMN=NAME"),
        (["--column", "qid=x"], "where COLUMN is one of query_id,"),
        (["--column", "runs.score=x"], "the side is qrels or run, not runs"),
        (["--errors", "ignore"], "invalid choice"),
    ],
)
def test_wrong_options(argv: list[str], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["eval", "q", "r", *argv])
    assert end.value.code == 2
    assert what in capsys.readouterr().err


def test_the_command_gathers_mistakes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad").write_bytes(b"\n".join(BAD_RUN))
    assert main(["eval", "qrels", "bad", "--errors", "collect"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.findall(r"^rankmeter: bad:(\d+): ", err, re.MULTILINE) == list("234567")
    assert len(err.splitlines()) == 6
    assert main(["eval", "qrels", "bad"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Bar:
    """What tqdm is asked for."""

    made: list[Bar]

    def __init__(self, **options: Any) -> None:
        self.options, self.n = options, 0
        self.made.append(self)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, more: int) -> None:
        self.n += more


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_on_a_terminal_only(
    terminal: bool,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tqdm = pytest.importorskip("tqdm")
    made: list[Bar] = []
    monkeypatch.setattr(Bar, "made", made, raising=False)
    monkeypatch.setattr(tqdm, "tqdm", Bar)
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal else io.StringIO())
    assert main(["eval", "qrels", "run"]) == 0
    assert [bar.options["total"] for bar in made] == (
        [(folder / name).stat().st_size for name in ("qrels", "run")] if terminal else []
    )
    assert all(bar.n == bar.options["total"] and bar.options["delay"] >= 1 for bar in made)


def test_no_bar_without_its_library(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    errors = Terminal()
    monkeypatch.setattr(sys, "stderr", errors)
    assert main(["eval", "qrels", "run"]) == 0
    assert errors.getvalue() == ""


SLOWLY = """
import sys, time
from rankmeter.cli import commands as cli
from rankmeter.doors import source as files
real = files._Watched.readinto
def slow(self, buffer):
    time.sleep({pause})
    return real(self, memoryview(buffer)[:4000])
files._Watched.readinto = slow
sys.exit(cli.main(["eval", "qrels", "run"]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a terminal of POSIX")
@pytest.mark.parametrize("pause", [0.0, 0.4])
@pytest.mark.parametrize("terminal", [True, False])
def test_the_bar_comes_after_a_second(folder: Path, pause: float, terminal: bool) -> None:
    import fcntl
    import pty
    import struct
    import termios

    pytest.importorskip("tqdm")
    run = {f"q{i}": {f"d{j}": 1.0 for j in range(10)} for i in range(80)}
    (folder / "run").write_bytes(trec_run({**RUN, **run}))
    leader, follower = pty.openpty()
    # tqdm says nothing where there is no room.
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    errors = follower if terminal else subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY.format(pause=pause)], stdout=subprocess.PIPE, stderr=errors
    )
    os.close(follower)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"ndcg@10" in out
    shown = b""
    if terminal:
        try:
            while part := os.read(leader, 1 << 16):
                shown += part
        except OSError:  # how the end of a terminal looks
            pass
    else:
        shown = err
    os.close(leader)
    assert (b"run:" in shown) == (terminal and pause > 0)


# ---------------------------------------------------------------------------------------------
# Memory

MEASURED = """
import resource, sys
import rankmeter as rm
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rm.evaluate("qrels", "small", ["ndcg@10", "map"], threads={threads})
before = peak()
found = rm.evaluate("qrels", "large", ["ndcg@10", "map"], threads={threads}).coverage.evaluated
print(found, peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss in kibibytes")
def test_the_memory_of_a_large_run(tmp_path: Path) -> None:
    documents = [f"document-{i:07}-of-the-collection" for i in range(1_000)]
    lines = "".join(f"%b Q0 {d} {i} {1 - i / 4096} a-tag\n" for i, d in enumerate(documents, 1))
    template = lines.encode()
    names = [b"query%04d" % i for i in range(1 + (60 << 20) // len(template))]
    with (tmp_path / "large").open("wb") as file:
        for name in names:
            file.write(template.replace(b"%b", name))
        assert file.tell() > 60 << 20
    (tmp_path / "small").write_bytes(names[0] + b" Q0 d 1 1 t\n")
    judged = (b"%b 0 %b 1\n" % (name, documents[0].encode()) for name in names)
    (tmp_path / "qrels").write_bytes(b"".join(judged))
    for threads in (1, 2):
        done = subprocess.run(
            [sys.executable, "-c", MEASURED.format(threads=threads)],
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )
        found, growth = map(int, done.stdout.split())
        assert found == len(names)
        assert growth < 64 << 10, f"{growth} KiB"
    (tmp_path / "large").unlink()


# ---------------------------------------------------------------------------------------------
# Round trips

text_ids = st.text(
    st.sampled_from(["a", "b", "#", "\u00a0", "\u00e9", "\u4e2d", "\U0001f600", "\x1c", "1", "{"]),
    min_size=1,
    max_size=3,
)
finite = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(-1e300, 1e300))


@settings(max_examples=60)
@given(
    st.dictionaries(
        text_ids,
        st.dictionaries(
            text_ids, st.one_of(st.integers(-1, 4), st.sampled_from([0.1, 0.5])), min_size=1
        ),
        min_size=1,
        max_size=3,
    ),
    st.dictionaries(
        text_ids, st.dictionaries(text_ids, finite, min_size=1, max_size=6), min_size=1, max_size=3
    ),
    st.sampled_from(["docid", "input", "expected"]),
    st.sampled_from(["run", "run.jsonl", "run.parquet", "run.gz", "run.jsonl.xz"]),
)
@example({"\ufeff": {"a": 1}}, {"\ufeff": {"a": 0.5, "b": 0.5}}, "docid", "run")
def test_round_trips(
    tmp_path_factory: pytest.TempPathFactory,
    qrels: dict[str, dict[str, float]],
    run: dict[str, dict[str, float]],
    ties: Any,
    name: str,
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    run = {**run, **{query: {"a": 0.5, "b": 0.5} for query in [*qrels][:1] if query not in run}}
    folder = tmp_path_factory.getbasetemp()
    paths = folder / f"round-{name}", folder / f"qrels-{name}"
    rm.write_run(run, paths[0])
    rm.write_qrels(qrels, paths[1])
    expected = rm.evaluate(qrels, run, METRICS, ties=ties)
    for judged in (qrels, paths[1]):
        for found in (run, paths[0]):
            same(rm.evaluate(judged, found, METRICS, ties=ties), expected)


# ---------------------------------------------------------------------------------------------
# Damage

WHOLE = {
    **{("qrels", name): write(QRELS) for name, (write, _) in QRELS_FORMATS.items()},
    **{("run", name): write(RUN) for name, (write, _) in RUN_FORMATS.items()},
    **{
        ("run", kind): compress(trec_run(RUN))
        for kind, compress in COMPRESSIONS.items()
        if kind != "zst"
    },
    **{("qrels", kind): COMPRESSIONS[kind](beir_qrels(QRELS)) for kind in ("gz", "xz")},
}


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    side, name = draw(st.sampled_from(sorted(WHOLE)))
    data = bytearray(WHOLE[side, name])
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.integers(0, 3))
        if kind == 0:
            data[place : place + 1] = draw(
                st.sampled_from([bytes([c]) for c in b'\n \t\0{}",:#1e-\xff'])
            )
        elif kind == 1:
            data[place:place] = draw(st.binary(min_size=1, max_size=4))
        elif kind == 2:
            del data[place : place + draw(st.integers(1, 40))]
        else:
            data = data[:place]
    return side, bytes(data)


def check_damage(side: str, data: bytes, threads: int, size: int) -> None:
    given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(data)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "_BLOCK", size)
        ours = outcome(rm.evaluate, **given, metrics=METRICS, threads=threads)
    read = {"qrels": read_qrels, "run": read_run}[side]
    try:
        given[side] = read(io.BytesIO(data))
        expected = outcome(rm.evaluate, **given, metrics=METRICS)
    except (ValueError, OSError, TypeError) as error:
        expected = str(error)
    alike(ours, expected)


@settings(max_examples=400)
@given(damaged(), st.sampled_from([1, 2]), st.sampled_from([20, 1 << 20]))
def test_damage_is_seen_or_harmless(file: tuple[str, bytes], threads: int, size: int) -> None:
    check_damage(*file, threads, size)


@pytest.mark.slow
@settings(max_examples=5_000)
@given(damaged(), st.sampled_from([1, 2]), st.sampled_from([20, 60, 1 << 20]))
def test_much_damage_is_seen_or_harmless(file: tuple[str, bytes], threads: int, size: int) -> None:
    check_damage(*file, threads, size)


@pytest.mark.parametrize("format", [None, "msmarco"])
def test_scores_are_not_taken_for_ranks(format: str | None) -> None:
    run = b"q1 a 3\nq1 b 0.1\n"
    with pytest.raises(ValueError, match=r"<file>:2: the rank '0.1' is not a whole number; scores"):
        rm.evaluate({"q1": {"a": 1}}, io.BytesIO(run), "mrr", format=format)


def test_lines_that_end_with_cr_alone_are_refused() -> None:
    for text in (b"q1 Q0 a 1 2 t\rq1 Q0 b 2 1 t\r", b"q1 a 1\rq1 b 2"):
        with pytest.raises(ValueError, match="end with CR alone"):
            rm.evaluate({"q1": {"a": 1}}, io.BytesIO(text), "mrr")


def test_json_judgments_take_the_fast_way() -> None:
    qrels, run = '{"q": {"😀": 1}}'.encode(), b"q Q0 \xff 1 1.0 t\n" + "q Q0 😀 2 1.0 t\n".encode()
    same = b'{"query_id": "q", "qrels": {"\xf0\x9f\x98\x80": 1}}\n'
    for judged in (qrels, same, "q 0 😀 1\n".encode()):
        assert rm.evaluate(io.BytesIO(judged), io.BytesIO(run), "mrr")["mrr"] == 0.5


def test_two_ids_that_have_the_same_bytes() -> None:
    """The one that is text counts, as it is what the file holds."""
    qrels = {"q": {"é": 1, "\udcc3\udca9": 0}}
    ev = rm.evaluate(qrels, io.BytesIO("q Q0 é 1 1.0 t\n".encode()), ["mrr", "num_rel"])
    assert ev.values.tolist() == [[1.0, 1.0]]
    twins = {"é": {"a": 1}, "\udcc3\udca9": {"a": 1}}
    ev = rm.evaluate(twins, io.BytesIO("é Q0 a 1 1.0 t\n".encode()), "mrr")
    assert ev.values.tolist() == [[1.0], [0.0]]


def test_a_first_json_line_longer_than_what_is_looked_at() -> None:
    ids = ",".join(f'"d{i}"' for i in range(200_000))
    run = f'{{"query_id": "q", "ranked": [{ids}]}}\n{{"query_id": "r", "ranked": ["a"]}}\n'
    ev = rm.evaluate({"q": {"d9": 1}, "r": {"a": 1}}, io.BytesIO(run.encode()), "mrr")
    assert ev.per_query == {"q": {"mrr": 0.1}, "r": {"mrr": 1.0}}


@pytest.mark.parametrize("options", [{"format": "xml"}, {"columns": {"id": "x"}}])
def test_options_are_checked_even_where_nothing_is_read(options: Any) -> None:
    with pytest.raises(ValueError):
        rm.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "mrr", **options)


def test_a_header_says_what_three_columns_of_a_run_are() -> None:
    rows = "q1 a 30\nq1 b 10\n"
    qrels = {"q1": {"a": 1}}
    scored = io.BytesIO(f"query_id doc_id score\n{rows}".encode())
    ranked = io.BytesIO(f"query_id doc_id rank\n{rows}".encode())
    assert rm.evaluate(qrels, scored, "mrr")["mrr"] == 1.0
    assert rm.evaluate(qrels, ranked, "mrr")["mrr"] == 0.5
    fractions = io.BytesIO(b"query-id corpus-id score\nq1 a 0.5\nq1 b 0.25\n")
    assert rm.evaluate(qrels, fractions, "mrr")["mrr"] == 1.0


@pytest.mark.parametrize("threads", [1, 2])
def test_a_line_that_blanks_make_too_long(threads: int) -> None:
    run = b" " * 1_248_576 + b"q1 Q0 a 1 0.5 t" + b" " * 900_000 + b"\nq2 Q0 a 1 0.5 t\n"
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    with pytest.raises(ValueError, match="<file>:1: the line is longer than"):
        rm.evaluate(qrels, io.BytesIO(run), "mrr", threads=threads)
