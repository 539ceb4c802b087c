"""Runs and qrels are written to files that read back as what was given, or not written at all."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import IO, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rankmeter._core.ids import list_of, maps_ids
from rankmeter.arguments import check_mapping, require

Format = Literal["trec", "jsonl", "parquet"]

_SUFFIXES: dict[str, Format] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_NO_COLUMN = re.compile("[ \t\n\v\f\r\0]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# What a reader takes for something else than the first id.
_MISTAKEN = (codecs.BOM_UTF8, b"{", b"[", b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")
_EXACT = 2**53  # below it every integer is a double, and no two are the same
_GZIP_LEVEL = 6  # that of the tool: 9 takes several times as long for little
_ROWS = 1 << 17  # of a Parquet file that are held at once
_HINT = "; JSON lines can hold it (format='jsonl')"


class _Entry(NamedTuple):
    """A query, its documents in the order of the input, and their numbers unless it is a list."""

    query: str
    documents: list[str]
    numbers: list[float] | None


def write_run(
    run: Mapping[Any, Mapping[Any, Any] | Sequence[Hashable] | npt.NDArray[Any]],
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    tag: str = "rankmeter",
) -> None:
    """Write what a system returned, whole or not at all.

    Parameters
    ----------
    run : mapping
        ``{query: {document: score}}`` or ``{query: [documents, best first]}``, also some of each.
        Ids are ``str`` or integers, which are written as decimal text. Scores are numbers or
        anything with ``__float__``.
    path : str or path-like
        The file; ``-`` is standard output.
    format : {"trec", "jsonl", "parquet"}, optional
        By default what the suffix says: ``.jsonl`` and ``.ndjson`` are JSON lines, ``.parquet`` is
        Parquet, all others are TREC's format. One more suffix ``.gz``, ``.bz2``, ``.xz`` or
        ``.zst`` compresses TREC's format and JSON lines.
    tag : str
        The name of the system, the last column of TREC's format. The other formats have no place
        for it.

    Raises
    ------
    ImportError
        If the library for Parquet or Zstandard is not there; the message says what to install.
    OSError
        If the file cannot be written.
    TypeError
        If `run` is not a mapping of mappings or sequences, an id is neither ``str`` nor an integer,
        or a score is not a number.
    ValueError
        If the run holds no query, a score is NaN or an integer that is not a double, an id stands
        twice for one query, two queries are written alike, or the format cannot hold something: an
        id that cannot be a column of text, a query without documents.

    Notes
    -----
    TREC's format: query, Q0, document, rank, score and tag, the documents in the order of the
    input. The rank is that of trec_eval: by score, and equal scores by the bytes of the id, both
    high to low. The documents of a list of n get the scores n to 1.

    JSON lines: ``{"query_id": query, "scores": {document: score}}`` or ``{"query_id": query,
    "ranked": [documents]}``. They hold every id, and queries without documents.

    Parquet: the columns query_id, doc_id and score; or rank, counted from 1, if all queries have
    lists. In a mixture lists get scores as in TREC's format.

    Integers as ids become text, which has another order than numbers where scores are equal.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rankmeter as rm
    >>> run = {"q1": {"a": 0.5, "b": 0.75}, "q2": ["c", "d"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run.txt")
    ...     rm.write_run(run, path, tag="bm25")
    ...     print(path.read_text(), end="")
    q1 Q0 a 2 0.5 bm25
    q1 Q0 b 1 0.75 bm25
    q2 Q0 c 1 2 bm25
    q2 Q0 d 2 1 bm25
    """
    _check_content("run", "query id to ranked ids or to {id: score}", run)
    target = _Target(path, format)
    entries = _entries(run, "run")
    if target.format == "trec":
        if not isinstance(tag, str):
            raise TypeError(f"tag must be str, not {type(tag).__name__}")
        target.write_chunks(_guard(_trec_run(entries, _column(tag, f"the tag {tag!r}", ""))))
    elif target.format == "jsonl":
        target.write_chunks(_json_lines(entries, "scores"))
    elif any(maps_ids(ranking, f"query {query!r}: ") for query, ranking in run.items()):
        rows = ((query, docs, _scores(docs, numbers)) for query, docs, numbers in entries)
        target.write_rows(rows, "score", "float64")
    else:
        ranked = ((query, docs, range(1, len(docs) + 1)) for query, docs, _ in entries)
        target.write_rows(ranked, "rank", "int64")


def write_qrels(
    qrels: Mapping[Any, Mapping[Any, Any]],
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
) -> None:
    """Write relevance judgments, whole or not at all.

    Parameters
    ----------
    qrels : mapping
        ``{query: {document: grade}}``. Ids are ``str`` or integers, which are written as decimal
        text. Grades are finite numbers or anything with ``__float__``.
    path : str or path-like
        The file; ``-`` is standard output.
    format : {"trec", "jsonl", "parquet"}, optional
        As for `write_run`.

    Raises
    ------
    ImportError, OSError
        As for `write_run`.
    TypeError
        If `qrels` is not a mapping of mappings, an id is neither ``str`` nor an integer, or a grade
        is not a number.
    ValueError
        If the qrels hold no query, a grade is not finite or an integer that is not a double, two
        documents of a query or two queries are written alike, or the format cannot hold
        something, as for `write_run`.

    Notes
    -----
    TREC's format: query, 0, document and grade. JSON lines: ``{"query_id": query, "qrels":
    {document: grade}}``. Parquet: the columns query_id, doc_id and grade, which holds integers if
    all grades are. Grades without a fraction are written as integers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rankmeter as rm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qrels.jsonl")
    ...     rm.write_qrels({"q1": {"a": 3, "b": 0.5}}, path)
    ...     print(path.read_text(), end="")
    {"query_id": "q1", "qrels": {"a": 3, "b": 0.5}}
    """
    _check_content("qrels", "query id to {id: grade}", qrels)
    target = _Target(path, format)
    entries = _entries(qrels, "qrels")
    if target.format == "trec":
        target.write_chunks(_guard(_trec_qrels(entries)))
    elif target.format == "jsonl":
        target.write_chunks(_json_lines(entries, "qrels"))
    else:
        # The type of a column stands before its values: they are looked at twice.
        grades = (grade for *_, grades in _entries(qrels, "qrels") for grade in grades or ())
        whole = all(type(_shorten(grade)) is int for grade in grades)
        rows = ((query, docs, map(_shorten, grades or ())) for query, docs, grades in entries)
        target.write_rows(rows, "grade", "int64" if whole else "float64")


# ---------------------------------------------------------------------------------------------
# What is given


def _check_content(name: str, what: str, given: Any) -> None:
    if hasattr(type(given), "columns"):
        raise TypeError(
            f"{name} must be a mapping from {what}, not a {type(given).__name__}: make one of its "
            f"rows, {name}.setdefault(query, {{}})[id] = number for each"
        )
    check_mapping(name, what, given)


def _entries(content: Mapping[Any, Any], name: Literal["run", "qrels"]) -> Iterator[_Entry]:
    """Yield query by query, checked but for what depends on the format."""
    noun = "score" if name == "run" else "grade"
    seen: set[str] = set()
    for key, value in content.items():
        query = _text(key, "query")
        if query in seen:
            raise ValueError(f"two queries are both written as {query!r}")
        seen.add(query)
        where = f"query {query!r}: "
        if maps_ids(value, where):
            items = list(value.items())
            documents = [_text(document, f"{where}document") for document, _ in items]
            numbers = [
                number if type(number) is float else _read_number(number, noun, document, where)
                for document, (_, number) in zip(documents, items, strict=True)
            ]
            _check_numbers(numbers, documents, noun, where)
        elif name == "run":
            documents = [_text(document, f"{where}document") for document in list_of(value, where)]
            numbers = None
        else:
            raise TypeError(
                f"{where}qrels must be a mapping from document id to grade, "
                f"not {type(value).__name__}; "
                "ids without grades become one by dict.fromkeys(ids, 1)"
            )
        if len(set(documents)) < len(documents):
            raise _repeat_error(documents, numbers, where)
        yield _Entry(query, documents, numbers)
    if not seen:
        raise ValueError(f"nothing to write: no query in the {name}")


def _text(given: Any, what: str) -> str:
    if type(given) is str:
        return given
    if isinstance(given, str):
        return str.__str__(given)  # what it holds, however its class shows it
    if isinstance(given, (int, np.integer)) and not isinstance(given, (bool, np.timedelta64)):
        return str(int(given))
    raise TypeError(f"{what} {given!r} is not an id: it must be str or an integer")


def _read_number(given: Any, noun: str, document: str, where: str) -> float:
    try:
        if isinstance(given, (str, bytes, np.complexfloating)):
            raise TypeError
        number = float(given)
        # A float would be rounded, and another integer be read.
        exact = not isinstance(given, (int, np.integer)) or int(number) == int(given)
    except TypeError:
        raise TypeError(
            f"{where}the {noun} of document {document!r} is not a number: {given!r}"
        ) from None
    except OverflowError:
        exact = False
    if not exact:
        raise ValueError(f"{where}the {noun} of document {document!r} is not a double: {given!r}")
    return number


def _check_numbers(numbers: list[float], documents: list[str], noun: str, where: str) -> None:
    values = np.array(numbers, dtype=np.float64)
    wrong = np.isnan(values) if noun == "score" else ~np.isfinite(values)
    if wrong.any():
        first = int(wrong.argmax())
        what = f"{where}the {noun} of document {documents[first]!r} is"
        if noun == "score":
            raise ValueError(f"{what} NaN")
        raise ValueError(f"{what} not finite: {numbers[first]!r}")


def _repeat_error(documents: list[str], numbers: list[float] | None, where: str) -> ValueError:
    ranks: dict[str, int] = {}
    for rank, document in enumerate(documents, 1):
        first = ranks.setdefault(document, rank)
        if first != rank:
            break
    if numbers is not None:
        return ValueError(f"{where}two documents are both written as {document!r}")
    return ValueError(
        f"{where}document {document!r} stands twice in the ranking, at ranks {first} and {rank}"
    )


# ---------------------------------------------------------------------------------------------
# What is written


def _trec_run(entries: Iterable[_Entry], tag: bytes) -> Iterator[bytes]:
    for entry in entries:
        query, documents = _columns(entry)
        if entry.numbers is None:
            ranks: Iterable[int] = range(1, len(documents) + 1)
            scores: Iterable[Any] = range(len(documents), 0, -1)
        else:
            ranks = _ranks(documents, entry.numbers)
            scores = entry.numbers
        lines = zip(documents, ranks, scores, strict=True)
        yield b"".join([b"%b Q0 %b %d %a %b\n" % (query, *line, tag) for line in lines])


def _guard(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Put a blank line before what would be taken for a mark, not for the first id."""
    from rankmeter.doors.compression import compression_of

    start = True
    for chunk in chunks:
        if start and (chunk.startswith(_MISTAKEN) or compression_of(chunk)):
            yield b"\n"
        start = False
        yield chunk


def _trec_qrels(entries: Iterable[_Entry]) -> Iterator[bytes]:
    for entry in entries:
        query, documents = _columns(entry)
        lines = zip(documents, map(_shorten, entry.numbers or ()), strict=True)
        yield b"".join([b"%b 0 %b %a\n" % (query, *line) for line in lines])


def _json_lines(entries: Iterable[_Entry], key: Literal["scores", "qrels"]) -> Iterator[bytes]:
    import json  # not every file is written in this format

    for query, documents, numbers in entries:
        for text in (query, *documents):
            if not text.isascii() and _PAIR.search(text):
                raise ValueError(
                    f"query {query!r}: the id {text!r} holds a pair of surrogates, which is read "
                    "from JSON as one character"
                )
        line: dict[str, Any] = {"query_id": query}
        if numbers is None:
            line["ranked"] = documents
        else:
            values = numbers if key == "scores" else map(_shorten, numbers)
            line[key] = dict(zip(documents, values, strict=True))
        yield json.dumps(line).encode() + b"\n"


def _columns(entry: _Entry) -> tuple[bytes, list[bytes]]:
    """Encode ids as columns of TREC's format, or refuse them."""
    query, documents, _ = entry
    _require_documents(query, documents, "TREC's format")
    what = f"query {query!r}: document"
    return (
        _column(query, f"query {query!r}"),
        [_column(document, f"{what} {document!r}") for document in documents],
    )


def _column(text: str, what: str, hint: str = _HINT) -> bytes:
    if not text or _NO_COLUMN.search(text):
        holds = "holds a blank or NUL" if text else "is empty"
        raise ValueError(f"{what} {holds}, so it cannot be a column of TREC's format{hint}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ValueError(f"{what} holds a surrogate, which has no UTF-8") from None
    if raw.decode("utf-8", "surrogateescape") != text:
        raise ValueError(f"{what} holds bytes, escaped as surrogates, that are UTF-8 of something")
    return raw


def _ranks(documents: list[bytes], scores: list[float]) -> list[int]:
    """Where trec_eval puts each document."""
    order = sorted(
        range(len(scores)), key=lambda place: (scores[place], documents[place]), reverse=True
    )
    ranks = [0] * len(order)
    for rank, place in enumerate(order, 1):
        ranks[place] = rank
    return ranks


def _scores(documents: list[str], numbers: list[float] | None) -> Iterable[float]:
    return range(len(documents), 0, -1) if numbers is None else numbers


def _shorten(number: float) -> int | float:
    """The integer, where the number is one and every integer of its size is a double."""
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def _require_documents(query: str, documents: Sequence[str], format: str) -> None:
    if not documents:
        raise ValueError(f"query {query!r} has no documents: no line of {format}{_HINT}")


# ---------------------------------------------------------------------------------------------
# Where it is written


class _Target:
    """The file, and what its name and the caller say about its format."""

    def __init__(self, path: str | os.PathLike[str], format: Format | None) -> None:
        from rankmeter.doors.source import STANDARD_OUTPUT  # not everybody writes any
        from rankmeter.writers import atomic

        self._atomic = atomic
        self._path = os.fsdecode(path)
        self._to_output = self._path == STANDARD_OUTPUT
        stem, suffix = os.path.splitext(self._path.lower())
        self._compressed = suffix if suffix in _COMPRESSED else ""
        if self._compressed:
            suffix = os.path.splitext(stem)[1]
        self.format = _SUFFIXES.get(suffix, "trec") if format is None else format
        if self.format not in ("trec", "jsonl", "parquet"):
            raise ValueError(f"format must be 'trec', 'jsonl', 'parquet' or None, not {format!r}")
        # What is lacking is said before anything is written.
        if self.format == "parquet":
            if self._to_output:
                raise ValueError("Parquet is not written to standard output: name a file")
            if self._compressed:
                raise ValueError(
                    f"Parquet is compressed inside: leave {self._compressed} off {self._path!r}"
                )
            self._arrow = require("pyarrow", "arrow")
            self._parquet = import_module("pyarrow.parquet")
        elif self._compressed == ".zst":
            from rankmeter.doors.compression import zstandard

            self._zstd = zstandard()

    def write_chunks(self, chunks: Iterable[bytes]) -> None:
        """Write text, compressed if the name says so."""

        def write(file: IO[bytes]) -> None:
            with self._packed(file) as packed:
                for chunk in chunks:
                    packed.write(chunk)

        if not self._to_output:
            self._atomic.write_whole(self._path, write)
            return
        if sys.stdout is None:
            raise OSError("standard output is closed")
        with self._atomic.spooled(write) as text:
            raw = getattr(sys.stdout, "buffer", None)
            if raw is None:  # somebody else's stream, such as that of a notebook
                sys.stdout.write(text.read().decode("utf-8", "surrogateescape"))
            else:
                sys.stdout.flush()
                raw.writelines(text)
                raw.flush()

    def write_rows(
        self,
        rows: Iterable[tuple[str, Sequence[str], Iterable[float]]],
        column: str,
        kind: Literal["int64", "float64"],
    ) -> None:
        """Write a Parquet file."""
        text = self._arrow.string()
        names, types = ("query_id", "doc_id", column), (text, text, getattr(self._arrow, kind)())
        schema = self._arrow.schema(list(zip(names, types, strict=True)))

        def write(file: IO[bytes]) -> None:
            with self._parquet.ParquetWriter(file, schema) as writer:
                for batch in _batches(rows):
                    columns = map(self._arrow.array, batch, types)
                    writer.write_table(self._arrow.table(list(columns), schema=schema))

        self._atomic.write_whole(self._path, write)

    def _packed(self, file: IO[bytes]) -> AbstractContextManager[Any]:
        if self._compressed == ".gz":
            import gzip

            # Without the name and the time of the file, the same run gives the same bytes.
            return gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)
        if self._compressed == ".bz2":
            import bz2

            return bz2.BZ2File(file, "wb")
        if self._compressed == ".xz":
            import lzma

            return lzma.LZMAFile(file, "wb")
        if self._compressed == ".zst":
            # As the tool zstd does; without it, damage may go unseen.
            options = {self._zstd.CompressionParameter.checksum_flag: 1}
            packed: AbstractContextManager[Any] = self._zstd.ZstdFile(file, "w", options=options)
            return packed
        return nullcontext(file)


def _batches(
    rows: Iterable[tuple[str, Sequence[str], Iterable[float]]],
) -> Iterator[tuple[list[str], list[str], list[float]]]:
    """Yield columns of many queries each, with ids checked for what Parquet cannot hold."""
    queries: list[str] = []
    documents: list[str] = []
    numbers: list[float] = []
    for query, ids, values in rows:
        _require_documents(query, ids, "Parquet")
        for text in (query, *ids):
            if not text.isascii() and _SURROGATE.search(text):
                raise ValueError(
                    f"query {query!r}: the id {text!r} holds a surrogate, so it is not text for "
                    f"Parquet{_HINT}"
                )
        queries += [query] * len(ids)
        documents += ids
        numbers += values
        if len(queries) >= _ROWS:
            yield queries, documents, numbers
            queries, documents, numbers = [], [], []
    if queries:
        yield queries, documents, numbers
