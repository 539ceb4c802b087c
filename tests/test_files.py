"""TREC files and facets are read as written, or refused with file and line; writing is atomic."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readers import read_qrels, read_run

from rankmeter.doors.facet_files import read_facets
from rankmeter.writers.atomic import write_whole

Save = Callable[[bytes], str]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def save(data: bytes) -> str:
        path = tmp_path / "file"
        path.write_bytes(data)
        return str(path)

    return save


def message(read: Callable[[str], object], path: str) -> str:
    with pytest.raises(ValueError) as caught:
        read(path)
    return str(caught.value)


# ---------------------------------------------------------------------------------------------
# What is read


QRELS = b"q1 0 d1 3\nq2 0 d1 0\nq1 0 d2 -1\nq1 0 d3 0.5\n"
QRELS_READ = {"q1": {"d1": 3.0, "d2": -1.0, "d3": 0.5}, "q2": {"d1": 0.0}}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data, id="as it is"),
        pytest.param(lambda data: data.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(lambda data: data.rstrip(), id="no newline at the end"),
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, id="BOM"),
        pytest.param(
            lambda data: b"\n \t\n" + data.replace(b"\n", b"\n\r\n\x0b\x0c\n"), id="blank"
        ),
        pytest.param(lambda data: data.replace(b" ", b" \t\x0b\x0c\r "), id="every blank"),
        pytest.param(lambda data: b"  " + data.replace(b"\n", b" \n  "), id="blanks around"),
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(lambda data: gzip.compress(b"\xef\xbb\xbf" + data), id="gzip of a BOM"),
        pytest.param(
            lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]), id="two gzips"
        ),
    ],
)
def test_qrels(save: Save, change: Callable[[bytes], bytes]) -> None:
    read = read_qrels(save(change(QRELS)))
    assert read == QRELS_READ
    assert list(read) == ["q1", "q2"]
    assert list(read["q1"]) == ["d1", "d2", "d3"]


def test_run_keeps_document_and_score(save: Save) -> None:
    path = save(b"q1 Q0 b 1 -2.5e-1 tag\nq1 Q0 a 2 inf tag more columns\nq1 Q0 c 2.5 -inf a tag\n")
    assert read_run(path) == {"q1": {"b": -0.25, "a": math.inf, "c": -math.inf}}


def test_a_number_is_the_nearest_double(save: Save) -> None:
    texts = [b"0.1", b"1e23", b"9007199254740993", b"5e-324", b"2.2250738585072011e-308", b"+.5"]
    path = save(b"".join(b"q Q0 d%d 1 %s t\n" % pair for pair in enumerate(texts)))
    assert list(read_run(path)["q"].values()) == [float(text) for text in texts]


def test_only_ascii_blanks_separate(save: Save) -> None:
    odd = ["#", "\xa0", "\x85", "\u2003", "\x1c", "'"]
    path = save("".join(f"q{c} Q0 d{c} 1 2.0 t\n" for c in odd).encode())
    assert list(read_run(path)) == [f"q{c}" for c in odd]


def test_documents_are_bytes_in_their_order_and_queries_are_utf8(save: Save) -> None:
    ids = [b"\x7f", b"\x80", b"\xc3\xa9", b"\xe4\xb8\xad", b"\xf0\x9f\x98\x80", b"\xff"]
    read = read_qrels(
        save(b"".join(b"q\xc3\xa9 0 %s 1\nq\xff 0 %s 1\n" % (i, i) for i in ids)), "latin-1"
    )
    assert list(read) == ["q\xe9", "q\udcff"]
    documents = list(read["q\xe9"])
    assert [document.encode("latin-1") for document in documents] == ids
    assert sorted(documents, key=str.encode) == documents  # the order of ties
    assert read["q\udcff"] == read["q\xe9"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (QRELS, gzip.compress(QRELS)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read_qrels("-") == QRELS_READ
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\n")))
    assert message(read_qrels, "-").startswith("<stdin>:1: ")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(OSError, match="closed"):
        read_qrels("-")


# Any bytes that make one column.
ids = (
    st.binary(min_size=1, max_size=4)
    .map(lambda data: data.replace(b"\0", b"").split())
    .filter(bool)
    .map(lambda parts: parts[0])
)
blanks = st.text(" \t\r\x0b\x0c", min_size=1, max_size=3).map(str.encode)


@given(
    st.dictionaries(
        ids,
        st.dictionaries(ids, st.floats(allow_nan=False), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    ),
    blanks,
    st.booleans(),
    st.booleans(),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    run: dict[bytes, dict[bytes, float]],
    blank: bytes,
    compressed: bool,
    finite: bool,
) -> None:
    if finite:
        run = {
            query: {
                document: math.copysign(min(abs(x), 1e300), x) for document, x in scores.items()
            }
            for query, scores in run.items()
        }
    lines = []
    for query, scores in run.items():
        for document, score in scores.items():
            text = repr(score).encode()
            cells = [query, b"0", document, text]
            lines.append(blank.join(cells if finite else [*cells[:3], b"1", text, b"t"]))
    data = b"\n".join(lines)
    # What the first bytes would make of the file.
    if data.startswith((b"\xef\xbb\xbf", b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")):
        data = b"\n" + data
    path = tmp_path_factory.getbasetemp() / "round trip"
    path.write_bytes(gzip.compress(data) if compressed else data)
    expected = {
        query.decode("utf-8", "surrogateescape"): {
            document.decode("latin-1"): score for document, score in scores.items()
        }
        for query, scores in run.items()
    }
    read = (read_qrels if finite else read_run)(str(path), "latin-1", format="trec")
    assert read == expected
    assert [list(documents) for documents in read.values()] == [list(d) for d in expected.values()]


# ---------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"q 0 d", "3 columns instead of 4 (query, iteration, document, grade): 'q 0 d'"),
        (b"q", "1 column instead of 4"),
        (b"q 0 d 1 1", "5 columns instead of 4"),
        (b"q Q0 d 1 0.5 tag", "is this a run?"),
        (b"q 0 d one", "the grade 'one' is not a number: 'q 0 d one'"),
        (b"q 0 d 1_0", "the grade '1_0' is not a number"),
        (b"q 0 d 0x1", "the grade '0x1' is not a number"),
        (b"q 0 d 1,5", "the grade '1,5' is not a number"),
        ("q 0 d \u0661".encode(), "the grade '\u0661' is not a number"),
        (b"q 0 d \xff", r"the grade '\\xff' is not a number"),
        (b"q 0 d nan", "the grade is NaN"),
        (b"q 0 d inf", "the grade is infinite"),
        (b"q 0 d -1e999", "the grade is infinite"),
    ],
)
def test_bad_qrels(save: Save, line: bytes, what: str) -> None:
    path = save(b"q 0 a 1\n\n" + line + b"\r\nq 0 b 1\n")
    said = message(read_qrels, path)
    assert said.startswith(f"{path}:3: ")
    assert what in said
    assert message(read_qrels, save(gzip.compress(b"q 0 a 1\n\n" + line))).startswith(f"{path}:3: ")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"q Q0 d 1 2.0", "5 columns instead of 6 (query, Q0, document, rank, score, tag)"),
        (b"q 0 d 1", "are these qrels?"),
        (b"q Q0 d 1 high tag", "the score 'high' is not a number"),
        (b"q Q0 d 1 1_0 tag", "the score '1_0' is not a number"),
        (b"q Q0 d 1 NaN tag", "the score is NaN"),
    ],
)
def test_bad_run(save: Save, line: bytes, what: str) -> None:
    path = save(b"q Q0 a 1 1 t\n" + line)
    said = message(read_run, path)
    assert said.startswith(f"{path}:2: ")
    assert what in said
    assert said.endswith(repr(line.decode()))


def test_the_same_document_twice_names_both_lines(save: Save) -> None:
    path = save(b"q 0 d\xc3\xa9 1\nq 0 e 1\n\nr 0 d\xc3\xa9 1\nq 0 d\xc3\xa9 1\n")
    said = message(read_qrels, path)
    assert said.startswith(f"{path}:5: document 'd\xe9' of query 'q' stands in line 1 and again in")
    path = save(b"q Q0 d 1 2 t\nq Q0 d 2 1 t\n")
    assert "in line 1 and again in line 2" in message(read_run, path)


def test_a_long_line_is_cut(save: Save) -> None:
    said = message(read_qrels, save(b"q " + b"x" * 10_000))
    assert said.endswith(repr("q " + "x" * 198) + " ...")
    assert message(read_qrels, save(b"q " + b"x" * 198)).endswith(repr("q " + "x" * 198))


def test_a_message_is_one_printable_line(save: Save) -> None:
    said = message(read_qrels, save(b"q \x1b[31m \x85 1 2 \xff"))
    assert said.isprintable()


@pytest.mark.parametrize(
    "data", [b"", b"\n\r\n \t\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)]
)
def test_nothing_in_it(save: Save, data: bytes) -> None:
    path = save(data)
    for read in (read_qrels, read_run, read_facets):
        assert message(read, path) == f"{path}: no lines in it"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_gets_a_hint(save: Save, codec: str) -> None:
    assert "UTF-16" in message(read_qrels, save("\ufeffq 0 d 1\r\n".encode(codec)))


def _zstd(data: bytes) -> bytes:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    zstd = pytest.importorskip(name)
    # Without a checksum, the format itself does not tell what was changed.
    packed: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return packed


COMPRESSIONS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "Zstandard": _zstd,
}


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed_files(kind: str, save: Save) -> None:
    compress = COMPRESSIONS[kind]
    assert read_qrels(save(compress(QRELS))) == QRELS_READ
    assert read_qrels(save(compress(QRELS[:20]) + compress(QRELS[20:]))) == QRELS_READ
    assert read_qrels(save(compress(b"") + compress(QRELS))) == QRELS_READ
    whole = compress(QRELS * 50)
    path = save(b"")
    for damaged in (
        whole[:-5],
        whole[: len(whole) // 2],
        whole[:12],
        whole[:14] + b"xxx" + whole[17:],
    ):
        assert message(read_qrels, save(damaged)).startswith(f"{path}: damaged {kind} file: ")


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_nothing_behind_a_stream_is_dropped(kind: str, save: Save) -> None:
    one, two = COMPRESSIONS[kind](QRELS[:20]), COMPRESSIONS[kind](QRELS[20:])
    path = save(b"")
    for damaged in (one + two[:1] + b"?" + two[2:], one + b"more", one + two[:-3], one + two[:3]):
        assert message(read_qrels, save(damaged)).startswith(f"{path}: damaged {kind} file: ")
    big = QRELS * 60_000  # more than is unpacked at once
    with pytest.raises(ValueError, match="stands in line 1 and again in line 5"):
        read_qrels(save(COMPRESSIONS[kind](big)))


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_second_stream_wherever_a_buffer_ends(
    kind: str, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = COMPRESSIONS[kind](QRELS[:20])
    path = save(one + COMPRESSIONS[kind](QRELS[20:]))
    for size in range(len(one), len(one) + 12):
        monkeypatch.setattr("rankmeter.doors.compression.BUFFER", size)
        assert read_qrels(path) == QRELS_READ


def test_a_query_that_is_called_like_a_compression(save: Save) -> None:
    assert read_qrels(save(b"BZh91 0 a 1\n")) == {"BZh91": {"a": 1.0}}


def test_zstandard_without_its_library(save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(b"\x28\xb5\x2f\xfd and more")

    def lacking(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("rankmeter.doors.compression.import_module", lacking)
    with pytest.raises(ImportError, match=r"pip install 'rankmeter\[zstd\]'"):
        read_qrels(path)


def test_damaged_gzip(save: Save) -> None:
    whole = gzip.compress(QRELS * 50)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    wrong_sum = bytearray(whole)
    wrong_sum[-8] ^= 0xFF
    for data in [*(whole[:n] for n in range(2, len(whole))), flipped, wrong_sum, whole + b"more"]:
        path = save(bytes(data))
        assert message(read_qrels, path).startswith(f"{path}: damaged gzip file: ")


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_qrels(str(tmp_path / "nowhere"))
    with pytest.raises(OSError):
        read_run(str(tmp_path))


# ---------------------------------------------------------------------------------------------
# Facets


def test_two_columns_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "kind.of.tsv"
    path.write_bytes(b"\xef\xbb\xbfq1\thow to\r\n\r\nq2\t \r\n q3\t problem \nq\xff\t\xc3\xa9")
    assert read_facets(str(path)) == {"kind": {"q1": "how to", "q3": "problem", "q\udcff": "\xe9"}}


def test_a_header_names_the_facets(save: Save) -> None:
    path = save(b"\nquery_id\tkind\tproduct area\nq1\thow\tmail\nq2\t\tmail\nq3\trule\t\n")
    assert read_facets(path) == {
        "kind": {"q1": "how", "q3": "rule"},
        "product area": {"q1": "mail", "q2": "mail"},
    }
    assert read_facets(save(b"query_id\tkind\nq\ta")) == {"kind": {"q": "a"}}


@pytest.mark.parametrize(
    "name",
    [
        "query_id",
        "query-id",
        "qid",
        "QID",
        "query",
        "Query",
        "q_id",
        "topic",
        "topicid",
        "_id",
        "id",
        "ID",
        "query id",
        "question_id",
        "question",
        "Topic ID",
        "#query",
        "# qid",
    ],
)
def test_names_of_the_first_column(name: str, save: Save) -> None:
    assert read_facets(save(f"{name}\ttype\nq1\ta\n".encode())) == {"type": {"q1": "a"}}
    two = save(f"{name}\ttype\tarea\nq1\ta\tb\n".encode())
    assert read_facets(two) == {"type": {"q1": "a"}, "area": {"q1": "b"}}


@pytest.mark.parametrize(
    "query", ["q", "Q", "#q", "q1", "#1", "query1", "topic-7", "id7", "queries", "query id 3"]
)
def test_queries_that_are_no_header(query: str, tmp_path: Path) -> None:
    path = tmp_path / "kind.tsv"
    path.write_bytes(f"{query}\ttype\nr\ta\n".encode())
    assert read_facets(str(path)) == {"kind": {query: "type", "r": "a"}}


def test_compressed_and_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(b"q1\ta\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_facets("-") == {"facet": {"q1": "a"}}


def test_a_file_without_a_name_before_the_dot(tmp_path: Path) -> None:
    path = tmp_path / ".tsv"
    path.write_bytes(b"q1\ta\n")
    assert read_facets(str(path)) == {"facet": {"q1": "a"}}


@pytest.mark.parametrize(
    ("data", "line", "what"),
    [
        (b"q1\ta\nq2\n", 2, "1 column, separated by tabs, not 2"),
        (b"q1 a\n", 1, "1 column, separated by tabs, not 2"),
        (b"q1\ta\tb\n", 1, "several facets need a header that starts with query_id"),
        (b"query_id\tk\tl\nq1\ta\n", 2, "2 columns, separated by tabs, not 3: 'q1\\ta'"),
        (b"query_id\n", 1, "the header names no facet"),
        (b"query_id\tk\t\n", 1, "a facet without a name in the header"),
        (b"query_id\tk\tk\n", 1, "a facet named twice in the header"),
        (b"q1\ta\n\ta\n", 2, "no query in the first column"),
        (b"q1\ta\n\nq1\ta\n", 3, "query 'q1' stands in line 1 too"),
    ],
)
def test_bad_facets(save: Save, data: bytes, line: int, what: str) -> None:
    path = save(data)
    said = message(read_facets, path)
    assert said.startswith(f"{path}:{line}: ")
    assert what in said


def test_a_header_alone(save: Save) -> None:
    path = save(b"query_id\tk\n")
    assert message(read_facets, path) == f"{path}: no lines below the header"


# ---------------------------------------------------------------------------------------------
# Writing

posix = pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")


def test_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_whole(str(path), "\xe9\udcff\r\n\n")
    assert path.read_bytes() == b"\xc3\xa9\xff\r\n\n"
    assert os.listdir(tmp_path) == ["out"]


def test_a_path_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_whole("out", "x")
    assert (tmp_path / "out").read_text() == "x"


@posix
def test_modes(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("before")
    old.chmod(0o640)
    mask = os.umask(0o027)
    try:
        write_whole(str(new), "x")
        write_whole(str(old), "x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    old.chmod(0o666)
    write_whole(str(old), "y")
    assert stat.S_IMODE(old.stat().st_mode) == 0o666


@posix
def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(Path("folder") / "target")
    for text in ("to a file that is not there yet", "to one that is"):
        write_whole(str(link), text)
        assert link.is_symlink()
        assert (tmp_path / "folder" / "target").read_text() == text
    assert os.listdir(tmp_path / "folder") == ["target"]


def test_an_error_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    path.write_text("before")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_whole(str(path), "after")
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


def test_no_folder(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere" / "out")
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(nowhere, "x")
    assert str(caught.value).endswith(f"No such file or directory: {nowhere!r}")
    with pytest.raises(OSError):
        write_whole(str(tmp_path), "x")
    assert os.listdir(tmp_path) == []


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anything")
def test_a_protected_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_whole(str(path), "after")
    assert path.read_text() == "before"


@posix
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_whole(str(path), "through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO(path.stat().st_mode)
