"""What is written reads back as what was given, or it is refused and the old file stays."""

from __future__ import annotations

import bz2
import enum
import gzip
import io
import json
import lzma
import math
import os
import sys
import threading
from collections import UserDict
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readers import read_qrels, read_run

import rankmeter as rm
from rankmeter import write_qrels, write_run

RUN = {"q1": {"b": 0.5, "a": 0.75, "c": 0.5}, "q2": ["x", "y", "z"], "\xe9": {"\u4e2d": -1e-300}}
QRELS = {"q1": {"b": 3, "a": 0, "c": -1}, "q2": {"y": 0.5}, "\xe9": {"\u4e2d": 1}}

Write = Callable[[Any, Path], None]
Docs = dict[str, dict[str, float]]


def message(
    write: Callable[..., None],
    content: Any,
    path: Any,
    kind: type[Exception] = ValueError,
    **more: Any,
) -> str:
    with pytest.raises(kind) as caught:
        write(content, path, **more)
    return str(caught.value)


# ---------------------------------------------------------------------------------------------
# TREC's format


def test_the_lines_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run"
    write_run(RUN, path, tag="b\xe4m")
    assert path.read_bytes().decode().split("\n") == [
        "q1 Q0 b 3 0.5 b\xe4m",
        "q1 Q0 a 1 0.75 b\xe4m",
        "q1 Q0 c 2 0.5 b\xe4m",
        "q2 Q0 x 1 3 b\xe4m",
        "q2 Q0 y 2 2 b\xe4m",
        "q2 Q0 z 3 1 b\xe4m",
        "\xe9 Q0 \u4e2d 1 -1e-300 b\xe4m",
        "",
    ]
    assert read_run(str(path)) == {**RUN, "q2": {"x": 3.0, "y": 2.0, "z": 1.0}}


def test_the_lines_of_qrels(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    write_qrels(QRELS, str(path))
    assert path.read_bytes().decode().split("\n") == [
        "q1 0 b 3",
        "q1 0 a 0",
        "q1 0 c -1",
        "q2 0 y 0.5",
        "\xe9 0 \u4e2d 1",
        "",
    ]
    assert read_qrels(str(path)) == QRELS


def test_the_rank_orders_by_score_and_then_by_bytes(tmp_path: Path) -> None:
    path = tmp_path / "run"
    scores = {"~": 0.0, "\uffff": -0.0, "\U00010000": 0.0, "\udcff": 0.0, "a": math.inf, "b": -1.0}
    write_run({"q": scores}, path)
    columns = [line.split(b" ") for line in path.read_bytes().splitlines()]
    ranks = {row[2].decode("utf-8", "surrogateescape"): int(row[3]) for row in columns}
    assert ranks == {"a": 1, "\udcff": 2, "\U00010000": 3, "\uffff": 4, "~": 5, "b": 6}
    assert list(ranks) == list(scores)


class Three(enum.IntEnum):
    THREE = 3


class Name(str, enum.Enum):  # noqa: UP042 - unlike that of a StrEnum, its str() is not its text
    NAME = "n"


class Floatable:
    def __float__(self) -> float:
        return 0.25


@pytest.mark.parametrize(
    ("number", "grade", "score"),
    [
        (3, "3", "3.0"),
        (True, "1", "1.0"),
        (Three.THREE, "3", "3.0"),
        (-2.0, "-2", "-2.0"),
        (0.1, "0.1", "0.1"),
        (np.float32(0.1), "0.10000000149011612", "0.10000000149011612"),
        (np.float64(1), "1", "1.0"),
        (np.uint64(2**63), "9.223372036854776e+18", "9.223372036854776e+18"),
        (np.bool_(True), "1", "1.0"),
        (2**53 - 1, "9007199254740991", "9007199254740991.0"),
        (2**53, "9007199254740992.0", "9007199254740992.0"),
        (2**70, "1.1805916207174113e+21", "1.1805916207174113e+21"),
        (5e-324, "5e-324", "5e-324"),
        (Fraction(1, 2), "0.5", "0.5"),
        (Decimal("0.1"), "0.1", "0.1"),
        (Floatable(), "0.25", "0.25"),
    ],
)
def test_numbers(tmp_path: Path, number: Any, grade: str, score: str) -> None:
    path = tmp_path / "out"
    write_qrels({"q": {"d": number}}, path)
    assert path.read_text() == f"q 0 d {grade}\n"
    assert read_qrels(str(path)) == {"q": {"d": float(number)}}
    write_run({"q": {"d": number}}, path)
    assert path.read_text() == f"q Q0 d 1 {score} rankmeter\n"
    write_run({"q": {"d": number}}, path, format="jsonl")
    assert path.read_text() == f'{{"query_id": "q", "scores": {{"d": {score}}}}}\n'


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (7, "7"),
        (-(2**70), str(-(2**70))),
        (np.int8(-3), "-3"),
        (np.uint64(2**64 - 1), str(2**64 - 1)),
        (np.str_("x"), "x"),
        (Three.THREE, "3"),
        (Name.NAME, "n"),
    ],
)
@pytest.mark.parametrize("format", ["trec", "jsonl"])
def test_ids(tmp_path: Path, given: Any, text: str, format: Any) -> None:
    path = tmp_path / "out"
    for documents in ({given: 1.0}, [given]):
        write_run({given: documents}, path, format=format)
        if format == "trec":
            assert read_run(str(path)) == {text: {text: 1.0}}
        else:
            line = json.loads(path.read_text())
            assert line["query_id"] == text
            assert list(line["ranked" if isinstance(documents, list) else "scores"]) == [text]


@pytest.mark.parametrize(
    "ranking",
    [
        ("a", "b"),
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        UserDict({"a": 2.0, "b": 1.0}),
        MappingProxyType({"a": 2.0, "b": 1.0}),
    ],
)
@pytest.mark.parametrize("kind", [dict, UserDict, MappingProxyType])
def test_containers(tmp_path: Path, ranking: Any, kind: Callable[[Any], Any]) -> None:
    path = tmp_path / "out"
    write_run(kind({"q": ranking}), path)
    assert read_run(str(path)) == {"q": {"a": 2.0, "b": 1.0}}


def test_arrays_of_integers(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_run({1: np.array([3, 2]), 2: range(2)}, path)
    assert read_run(str(path)) == {"1": {"3": 2.0, "2": 1.0}, "2": {"0": 2.0, "1": 1.0}}


def test_series(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "out"
    for series in (pandas.Series([0.5, 1.5], index=["a", "b"]), pandas.Series(["b", "a"])):
        assert "query 'q': a Series may hold ids or go from id" in message(
            write_run, {"q": series}, path, kind=TypeError
        )


FIRST_IDS = [
    "\ufeff",
    "\ufeffq",
    "\x1f\udc8b",
    "BZh91AY&SY",
    "\udcfd7zXZ",
    "(\udcb5/\udcfd",
    '{"query_id":"q"}',
    "{",
    "PAR1",
    "#",
    "BZh9",
    "\udcff\udcfe",
    "\udcef\udcbb",
]


@pytest.mark.parametrize("first", FIRST_IDS)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_first_id_that_looks_like_something_else(tmp_path: Path, first: str, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    content = {first: {"d": 1.0}, "\ufeff": {first: 2.0}}
    write_run(content, path)
    assert read_run(str(path)) == content
    write_qrels(content, path)
    assert read_qrels(str(path)) == content
    qrels = tmp_path / "qrels"
    write_qrels({first: {"d": 1}}, qrels)
    write_run({first: ["d"]}, path)
    assert rm.evaluate(qrels, path, "mrr").per_query == {first: {"mrr": 1.0}}


@pytest.mark.parametrize("first", ["\ufeffq", "{", '{"a":1}', "PAR1", "BZh91AY&SY"])
def test_a_blank_line_comes_before_it(tmp_path: Path, first: str) -> None:
    path = tmp_path / "out"
    write_qrels({first: {"d": 1}}, path)
    assert path.read_bytes() == f"\n{first} 0 d 1\n".encode()


def test_no_blank_line_without_need(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_run({"q": ["a"], "{": ["a"]}, path)
    assert path.read_bytes() == b"q Q0 a 1 1 rankmeter\n{ Q0 a 1 1 rankmeter\n"


def readable(text: str) -> bool:
    """Whether the text is what its bytes are read as."""
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return raw.decode("utf-8", "surrogateescape") == text


odd = st.sampled_from(
    ["\ufeff", "\x1f\udc8b", "BZh91AY&SY", '{"', "#", "\x85", "\xa0", "\x1c", "\udcff", "\u2028"]
)
columns = (
    st.one_of(
        st.text(min_size=1, max_size=4), odd, st.tuples(odd, st.text(max_size=2)).map("".join)
    )
    .filter(lambda text: not any(c in " \t\n\v\f\r\0" for c in text))
    .filter(readable)
)
floats = st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, 1.0, math.inf]))


def queries_of(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Docs]:
    documents = st.dictionaries(columns, numbers, min_size=1, max_size=5)
    return st.dictionaries(columns, documents, min_size=1, max_size=4)


def same(read: Docs, written: Docs) -> None:
    assert read == written
    assert list(read) == list(written)
    for query, documents in written.items():
        assert list(read[query]) == list(documents)


SUFFIXES = ["", ".gz", ".bz2", ".xz"]


@given(queries_of(floats), st.sampled_from(SUFFIXES))
def test_any_run_is_read_as_written(
    tmp_path_factory: pytest.TempPathFactory, run: Docs, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any run{suffix}"
    write_run(run, path)
    read = read_run(str(path))
    same(read, run)
    for query, documents in run.items():
        for document, score in documents.items():
            assert math.copysign(1, read[query][document]) == math.copysign(1, score)


@given(queries_of(st.floats(allow_nan=False, allow_infinity=False)), st.sampled_from(SUFFIXES))
def test_any_qrels_are_read_as_written(
    tmp_path_factory: pytest.TempPathFactory, qrels: Docs, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any qrels{suffix}"
    write_qrels(qrels, path)
    same(read_qrels(str(path)), qrels)


ids = st.sampled_from(["a", "b", "Z", "\x7f", "\xe9", "\u4e2d", "\uffff", "\U0001f600", "ab", "#"])
grades = st.one_of(st.integers(-2, 4), st.sampled_from([0.5, 1.5, 2.75]))
tied = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1, math.inf, -math.inf])


@given(
    st.dictionaries(ids, st.dictionaries(ids, grades, min_size=1), min_size=1, max_size=4),
    st.dictionaries(
        ids,
        st.one_of(st.dictionaries(ids, tied, min_size=1), st.lists(ids, min_size=1, unique=True)),
        max_size=4,
    ),
    st.sampled_from(["docid", "input", "expected"]),
    st.sampled_from(SUFFIXES),
)
def test_files_give_the_values_of_dicts(
    tmp_path_factory: pytest.TempPathFactory,
    qrels: dict[str, dict[str, float]],
    run: dict[str, Any],
    ties: Any,
    suffix: str,
) -> None:
    run.setdefault(next(iter(qrels)), ["a"])
    folder = tmp_path_factory.getbasetemp()
    qrels_path, run_path = folder / f"some qrels{suffix}", folder / f"some run{suffix}"
    write_qrels(qrels, qrels_path)
    write_run(run, run_path)
    metrics = ["ndcg@3", "ndcg@10", "recall@2", "precision@3", "hit@1", "mrr", "map"]
    from_dicts = rm.evaluate(qrels, run, metrics, ties=ties)
    from_files = rm.evaluate(qrels_path, run_path, metrics, ties=ties)
    assert from_files.query_ids == from_dicts.query_ids
    assert from_files.values.tobytes() == from_dicts.values.tobytes()
    assert from_files.coverage == from_dicts.coverage
    assert from_files.ties == from_dicts.ties


# ---------------------------------------------------------------------------------------------
# JSON lines


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    run = {**RUN, "": {"a b": math.inf, "": -math.inf}, "none": [], "nothing": {}}
    write_run(run, path)
    lines = path.read_text("ascii").splitlines()
    assert lines[0] == '{"query_id": "q1", "scores": {"b": 0.5, "a": 0.75, "c": 0.5}}'
    assert lines[1] == '{"query_id": "q2", "ranked": ["x", "y", "z"]}'
    assert lines[3] == '{"query_id": "", "scores": {"a b": Infinity, "": -Infinity}}'
    assert lines[4:] == [
        '{"query_id": "none", "ranked": []}',
        '{"query_id": "nothing", "scores": {}}',
    ]
    write_qrels({**QRELS, "nothing": {}}, path)
    lines = path.read_text("ascii").splitlines()
    assert lines[0] == '{"query_id": "q1", "qrels": {"b": 3, "a": 0, "c": -1}}'
    assert lines[1] == '{"query_id": "q2", "qrels": {"y": 0.5}}'
    assert lines[3] == '{"query_id": "nothing", "qrels": {}}'


# Surrogates too, but for pairs, which JSON reads as one character.
any_text = st.text(st.characters(), max_size=3).filter(
    lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") == text
)


@given(
    st.dictionaries(
        any_text,
        st.one_of(st.dictionaries(any_text, floats), st.lists(any_text, unique=True)),
        min_size=1,
    )
)
def test_any_json_is_read_as_written(
    tmp_path_factory: pytest.TempPathFactory, run: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    write_run(run, path)
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    read = {line["query_id"]: line.get("ranked", line.get("scores")) for line in lines}
    assert read == run
    assert list(read) == list(run)
    assert [list(documents) for documents in read.values()] == [list(d) for d in run.values()]


# ---------------------------------------------------------------------------------------------
# Parquet


def table(path: Path) -> Any:
    pytest.importorskip("pyarrow")
    return import_module("pyarrow.parquet").read_table(path)


def test_parquet_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    pytest.importorskip("pyarrow")
    write_run({"q 1": {"b": 0.5, "": math.inf}, "": {"\xe9\0": -1}}, path)
    read = table(path)
    assert {field.name: str(field.type) for field in read.schema} == {
        "query_id": "string",
        "doc_id": "string",
        "score": "double",
    }
    assert list(zip(*read.to_pydict().values(), strict=True)) == [
        ("q 1", "b", 0.5),
        ("q 1", "", math.inf),
        ("", "\xe9\0", -1.0),
    ]


def test_parquet_of_lists(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    pytest.importorskip("pyarrow")
    write_run({"q": ["b", "a"], 7: (5,)}, path)
    read = table(path)
    assert str(read.schema.field("rank").type) == "int64"
    assert read.to_pydict() == {
        "query_id": ["q", "q", "7"],
        "doc_id": ["b", "a", "5"],
        "rank": [1, 2, 1],
    }


def test_parquet_of_lists_and_scores(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    pytest.importorskip("pyarrow")
    write_run({"q": ["b", "a"], "r": {"c": 0.5}}, path)
    read = table(path)
    assert str(read.schema.field("score").type) == "double"
    assert read.to_pydict()["score"] == [2.0, 1.0, 0.5]


@pytest.mark.parametrize(
    ("grades", "kind"),
    [
        ([3, 0, -1], "int64"),
        ([3.0, True, np.int8(1)], "int64"),
        ([3, 0.5], "double"),
        ([2**53], "double"),
    ],
)
def test_parquet_of_qrels(tmp_path: Path, grades: list[Any], kind: str) -> None:
    path = tmp_path / "out.parquet"
    pytest.importorskip("pyarrow")
    write_qrels({"q": {f"d{i}": grade for i, grade in enumerate(grades)}}, path)
    read = table(path)
    assert read.column_names == ["query_id", "doc_id", "grade"]
    assert str(read.schema.field("grade").type) == kind
    assert read.to_pydict()["grade"] == [float(grade) for grade in grades]


def test_a_long_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    pytest.importorskip("pyarrow")
    run = {f"q{i}": [f"d{j}" for j in range(60_000)] for i in range(5)}
    write_run(run, path)
    read = table(path)
    assert import_module("pyarrow.parquet").ParquetFile(path).num_row_groups == 2
    assert read.num_rows == 300_000
    assert read.column("rank").to_pylist() == 5 * list(range(1, 60_001))
    assert read.column("doc_id").to_pylist() == [doc for docs in run.values() for doc in docs]


def test_parquet_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = message(write_run, RUN, tmp_path / "out.parquet", ImportError)
    assert said == "this needs pyarrow: pip install 'rankmeter[arrow]'"
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------------------------------------
# Names


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("run", "trec"),
        ("run.txt", "trec"),
        ("jsonl", "trec"),
        ("run.jsonl.txt", "trec"),
        ("run.jsonl", "jsonl"),
        ("RUN.JSONL", "jsonl"),
        ("run.ndjson", "jsonl"),
        ("run.parquet", "parquet"),
    ],
)
def test_the_suffix_chooses_the_format(tmp_path: Path, name: str, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    start = {"trec": b"q Q0 d", "jsonl": b'{"query_id"', "parquet": b"PAR1"}
    path = tmp_path / name
    write_run({"q": ["d"]}, path)
    assert path.read_bytes().startswith(start[format])
    for asked in start:
        if asked != "parquet" or format == "parquet":
            write_run({"q": ["d"]}, path, format=asked)  # type: ignore[arg-type]
            assert path.read_bytes().startswith(start[asked])


def zstandard() -> Any:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return pytest.importorskip(name)


@pytest.mark.parametrize(
    ("suffix", "magic", "unpack"),
    [
        (".gz", b"\x1f\x8b\x08\0\0\0\0\0", gzip.decompress),  # neither a name nor a time
        (".GZ", b"\x1f\x8b", gzip.decompress),
        (".bz2", b"BZh", bz2.decompress),
        (".xz", b"\xfd7zXZ", lzma.decompress),
        (".zst", b"\x28\xb5\x2f\xfd", lambda data: zstandard().decompress(data)),
    ],
)
@pytest.mark.parametrize("stem", ["run", "run.jsonl"])
def test_compression(
    tmp_path: Path, suffix: str, magic: bytes, unpack: Callable[[bytes], bytes], stem: str
) -> None:
    if suffix == ".zst":
        zstandard()
    plain, path, again = tmp_path / stem, tmp_path / f"{stem}{suffix}", tmp_path / f"x{suffix}"
    run = {f"q{i}": {f"d{j}": j / 7 for j in range(100)} for i in range(100)}
    write_run(run, plain)
    write_run(run, path)
    packed = path.read_bytes()
    assert packed.startswith(magic)
    assert unpack(packed) == plain.read_bytes()
    if suffix == ".zst":
        assert packed[4] & 4  # has a checksum
    assert len(packed) < plain.stat().st_size / 2
    write_run(run, again, format="jsonl" if stem.endswith("jsonl") else None)
    assert again.read_bytes() == packed
    if stem == "run":
        assert read_run(str(path)) == run


def test_zstandard_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("rankmeter.doors.compression.import_module", lacking)
    said = message(write_run, RUN, tmp_path / "out.zst", ImportError)
    assert said == "this file needs backports.zstd: pip install 'rankmeter[zstd]'"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a", "a.jsonl", "a.gz", "a.jsonl.bz2", "a.parquet"])
def test_the_same_content_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    first, second = tmp_path / name, tmp_path / f"b{name}"
    write_run(RUN, first)
    write_run(RUN, second)
    assert first.read_bytes() == second.read_bytes()
    write_qrels(QRELS, first)
    write_qrels(QRELS, second)
    assert first.read_bytes() == second.read_bytes()


def test_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", stream)
    stream.write("before\n")
    write_qrels({"q": {"\u4e2d": 1}}, "-")
    write_qrels({"q": {"d": 1}}, "-", format="jsonl")
    assert (
        stream.buffer.getvalue()
        == (  # type: ignore[attr-defined]
            'before\nq 0 \u4e2d 1\n{"query_id": "q", "qrels": {"d": 1}}\n'
        ).encode()
    )
    notebook = io.StringIO()
    monkeypatch.setattr(sys, "stdout", notebook)
    write_qrels({"q": {"\u4e2d": 1}}, Path("-"))
    assert notebook.getvalue() == "q 0 \u4e2d 1\n"
    monkeypatch.setattr(sys, "stdout", None)
    assert "closed" in message(write_qrels, QRELS, "-", OSError)


def test_standard_output_gets_all_or_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bad = {"q": {"a": 1.0}, "r": {"a": math.nan}}
    message(write_run, bad, "-")
    assert capsys.readouterr().out == ""
    write_run({"q": {"a": 1.0}}, "-")
    assert capsys.readouterr().out == "q Q0 a 1 1.0 rankmeter\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("format", ["trec", "jsonl", "parquet"])
def test_a_pipe(tmp_path: Path, format: Any) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    path, plain = tmp_path / "pipe", tmp_path / "plain"
    run = {f"q{i}": {f"d{j}": j / 7 for j in range(100)} for i in range(600)}
    write_run(run, plain, format=format)
    os.mkfifo(path)
    message(write_run, {"q": {"a": math.nan}}, path, format=format)  # nobody reads: nothing hangs
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    write_run(run, path, format=format)
    reader.join(60)
    assert read == [plain.read_bytes()]


# ---------------------------------------------------------------------------------------------
# What is refused

FORMATS = ["trec", "jsonl", "parquet"]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.write_text("before")
    return path


def refused(write: Callable[..., None], content: Any, old: Path, format: str, **more: Any) -> str:
    """Check that the old file stays and nothing is left behind; return the message."""
    if format == "parquet":
        pytest.importorskip("pyarrow")
    kind = more.pop("kind", ValueError)
    said = message(write, content, old, kind, format=format, **more)
    assert old.read_text() == "before"
    assert os.listdir(old.parent) == ["out"]
    return said


GOOD: Mapping[str, Any] = {f"good{i}": {f"d{j}": 1.0 for j in range(100)} for i in range(200)}


class Unreadable:
    def __float__(self) -> float:
        raise RuntimeError("no number today")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("run", "kind", "said"),
    [
        ({}, ValueError, "nothing to write: no query in the run"),
        ({"q": {"d": math.nan}}, ValueError, "query 'q': the score of document 'd' is NaN"),
        ({"q": {7: np.float32("nan")}}, ValueError, "query 'q': the score of document '7' is NaN"),
        (
            {"q": {"d": 2**53 + 1}},
            ValueError,
            "query 'q': the score of document 'd' is not a double: 9007199254740993",
        ),
        ({"q": {"d": np.uint64(2**64 - 1)}}, ValueError, "is not a double"),
        ({"q": {"d": -(10**400)}}, ValueError, "is not a double"),
        ({"q": {"d": Fraction(10**400)}}, ValueError, "is not a double"),
        (
            {"q": {"d": "1.5"}},
            TypeError,
            "query 'q': the score of document 'd' is not a number: '1.5'",
        ),
        ({"q": {"d": np.str_("1.5")}}, TypeError, "is not a number"),
        ({"q": {"d": b"1.5"}}, TypeError, "is not a number: b'1.5'"),
        ({"q": {"d": None}}, TypeError, "is not a number: None"),
        ({"q": {"d": 1j}}, TypeError, "is not a number: 1j"),
        ({"q": {"d": np.complex128(1)}}, TypeError, "is not a number"),
        ({"q": {"d": Unreadable()}}, RuntimeError, "no number today"),
        ({None: {"d": 1.0}}, TypeError, "query None is not an id: it must be str or an integer"),
        ({1.0: {"d": 1.0}}, TypeError, "query 1.0 is not an id"),
        ({"q": {b"d": 1.0}}, TypeError, "query 'q': document b'd' is not an id"),
        ({"q": ["a", ("b",)]}, TypeError, "query 'q': document ('b',) is not an id"),
        ({"q": [True]}, TypeError, "query 'q': document True is not an id"),
        ({"q": np.array([1.0])}, TypeError, "query 'q': document 1.0 is not an id"),
        ({"q": [np.timedelta64(1, "s")]}, TypeError, "is not an id"),
        ({1: ["a"], "1": ["a"]}, ValueError, "two queries are both written as '1'"),
        (
            {"q": {"1": 0.5, 1: 0.25}},
            ValueError,
            "query 'q': two documents are both written as '1'",
        ),
        (
            {"q": ["a", "b", "c", "b", "a"]},
            ValueError,
            "query 'q': document 'b' stands twice in the ranking, at ranks 2 and 4",
        ),
        ({"q": ["1", 1]}, ValueError, "document '1' stands twice in the ranking, at ranks 1 and 2"),
        ({"q": "abc"}, TypeError, "query 'q': a ranking must be a sequence of document ids"),
        ({"q": b"abc"}, TypeError, "not bytes"),
        ({"q": bytearray(b"abc")}, TypeError, "not bytearray"),
        ({"q": {"a", "b"}}, TypeError, "query 'q': a set has no order: pass a list"),
        ({"q": None}, TypeError, "not NoneType"),
        (
            {"q": np.array([["a"]])},
            TypeError,
            "query 'q': a ranking must have one dimension, not 2",
        ),
        ({"q": np.array("a")}, TypeError, "one dimension, not none"),
        ([("q", ["a"])], TypeError, "run must be a mapping from query id"),
        ("run.txt", TypeError, "run must be a mapping from query id"),
    ],
)
def test_bad_runs(old: Path, format: str, run: Any, kind: type[Exception], said: str) -> None:
    assert said in refused(write_run, run, old, format, kind=kind)
    if isinstance(run, dict) and run:  # also where much has been written before
        assert said in refused(write_run, {**GOOD, **run}, old, format, kind=kind)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("qrels", "kind", "said"),
    [
        ({}, ValueError, "nothing to write: no query in the qrels"),
        ({"q": {"d": math.nan}}, ValueError, "query 'q': the grade of document 'd' is not finite"),
        (
            {"q": {"a": 1, "d": math.inf}},
            ValueError,
            "the grade of document 'd' is not finite: inf",
        ),
        ({"q": {"d": -math.inf}}, ValueError, "the grade of document 'd' is not finite: -inf"),
        ({"q": {"d": 2**53 + 1}}, ValueError, "the grade of document 'd' is not a double"),
        ({"q": {"d": "1"}}, TypeError, "the grade of document 'd' is not a number: '1'"),
        ({"q": {None: 1}}, TypeError, "query 'q': document None is not an id"),
        ({"q": {"1": 1, 1: 1}}, ValueError, "query 'q': two documents are both written as '1'"),
        ({1: {"d": 1}, "1": {"d": 1}}, ValueError, "two queries are both written as '1'"),
        (
            {"q": ["a"]},
            TypeError,
            "query 'q': qrels must be a mapping from document id to grade, not list; "
            "ids without grades become one by dict.fromkeys(ids, 1)",
        ),
        ("qrels.txt", TypeError, "qrels must be a mapping from query id"),
    ],
)
def test_bad_qrels(old: Path, format: str, qrels: Any, kind: type[Exception], said: str) -> None:
    assert said in refused(write_qrels, qrels, old, format, kind=kind)
    if isinstance(qrels, dict) and qrels:
        assert said in refused(write_qrels, {**GOOD, **qrels}, old, format, kind=kind)


@pytest.mark.parametrize("id", ["", *(f"a{blank}b" for blank in " \t\n\v\f\r\0"), " a", "a "])
def test_no_column(old: Path, id: str) -> None:
    hint = "so it cannot be a column of TREC's format; JSON lines can hold it (format='jsonl')"
    for content in ({id: {"d": 1}}, {"q": {"d": 1}, id: {"d": 1}}):
        for write in (write_run, write_qrels):
            said = refused(write, content, old, "trec")
            assert said.startswith(f"query {id!r} ")
            assert said.endswith(hint)
    for content in ({"q": {"d": 1, id: 1}}, {"q": ["d", id]}):
        said = refused(write_run, content, old, "trec")
        assert said.startswith(f"query 'q': document {id!r} ")
        assert said.endswith(hint)
    said = refused(write_run, RUN, old, "trec", tag=id)
    assert said.startswith(f"the tag {id!r} ")
    assert said.endswith("so it cannot be a column of TREC's format")
    write_run({id: [id]}, old, format="jsonl")
    assert json.loads(old.read_text()) == {"query_id": id, "ranked": [id]}


def test_tags(old: Path) -> None:
    assert "the tag '\\ud800' holds a surrogate" in refused(
        write_run, RUN, old, "trec", tag="\ud800"
    )
    assert refused(write_run, RUN, old, "trec", tag=7, kind=TypeError) == "tag must be str, not int"


NO_UTF8 = ["\ud800", "a\udfff", "\udc7f", "\ud83d\ude00"]


@pytest.mark.parametrize("id", NO_UTF8)
def test_surrogates_without_utf8(old: Path, id: str) -> None:
    assert refused(write_run, {id: ["d"]}, old, "trec").startswith(
        f"query {id!r} holds a surrogate"
    )
    said = refused(write_qrels, {"q": {id: 1}}, old, "trec")
    assert said.startswith(f"query 'q': document {id!r} holds a surrogate")


def test_bytes_that_would_be_read_as_another_id(old: Path) -> None:
    said = refused(write_run, {"q": {"\xe9": 1.0, "\udcc3\udca9": 2.0}}, old, "trec")
    assert said.startswith("query 'q': document '\\udcc3\\udca9' holds bytes")


@pytest.mark.parametrize("id", ["\ud83d\ude00", "a\ud800\udc00b"])
def test_surrogates_that_json_would_join(old: Path, id: str) -> None:
    for run in ({id: ["d"]}, {"q": [id]}):
        said = refused(write_run, run, old, "jsonl")
        assert f"the id {id!r} holds a pair of surrogates" in said


SURROGATES = ["\ud800", "\udcff"]


@pytest.mark.parametrize("id", SURROGATES)
def test_surrogates_in_parquet(old: Path, id: str) -> None:
    for run in ({id: ["d"]}, {"q": [id]}):
        said = refused(write_run, run, old, "parquet")
        assert f"the id {id!r} holds a surrogate" in said


@pytest.mark.parametrize(("format", "name"), [("trec", "TREC's format"), ("parquet", "Parquet")])
def test_queries_without_documents(old: Path, format: str, name: str) -> None:
    for content in ({"q": {}}, {**GOOD, "q": {}}, {"q": []}, {"p": ["a"], "q": np.array([])}):
        said = refused(write_run, content, old, format)
        assert said.startswith(f"query 'q' has no documents: no line of {name}; JSON lines can")
    for qrels in ({"q": {}}, {**GOOD, "q": {}}):
        said = refused(write_qrels, qrels, old, format)
        assert said.startswith(f"query 'q' has no documents: no line of {name}; JSON lines can")


def test_bad_formats_and_names(tmp_path: Path) -> None:
    said = message(write_run, RUN, tmp_path / "out", format="csv")
    assert said == "format must be 'trec', 'jsonl', 'parquet' or None, not 'csv'"
    assert "standard output" in message(write_qrels, QRELS, "-", format="parquet")
    assert "leave .gz off" in message(write_run, RUN, tmp_path / "out.parquet.gz")
    assert "leave .zst off" in message(write_run, RUN, tmp_path / "out.zst", format="parquet")
    with pytest.raises(TypeError):
        write_run(RUN, 1)  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        write_run(RUN, tmp_path / "nowhere" / "out")


@pytest.mark.parametrize("name", ["out", "out.gz", "out.zst", "out.parquet"])
def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    if name.endswith("zst"):
        zstandard()
    path = tmp_path / name
    path.write_text("before")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    for write, content in ((write_run, RUN), (write_qrels, QRELS)):
        with pytest.raises(OSError, match="No space"):
            write(content, path)  # type: ignore[operator]
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["out", "out.jsonl", "out.gz", "out.jsonl.xz"])
def test_what_the_mapping_raises_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    class Lazy(UserDict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            if key == "q2":
                raise KeyboardInterrupt
            return super().__getitem__(key)

    path = tmp_path / name
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        write_run(Lazy(RUN), path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == [name]
