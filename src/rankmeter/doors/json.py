"""JSON: an object of queries, as ranx and BEIR write it, lines with one query each, or rows.

The object is ``{query: {document: number}}``, or ``{query: [documents]}`` for a ranked run. A line
is ``{"query_id": ..., "qrels": {...}}``, ``{"query_id": ..., "scores": {...}}`` or
``{"query_id": ..., "ranked": [...]}``; other keys are ignored. Ids are strings or integers.

Rows are lines or one list of objects, each with a query, a document and a number, which are called
as the columns of a table. A list is counted from 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from rankmeter._core.doors.text_rows import TextRows
from rankmeter.doors.integers import NO_INTEGERS, Integers
from rankmeter.doors.mistakes import Mistakes
from rankmeter.doors.rows import CheckedRows, choose_columns
from rankmeter.doors.source import Source
from rankmeter.doors.text import Grouped

_KEYS = {"qrels": ("qrels",), "run": ("scores", "ranked")}
_TOGETHER = 1_000  # queries that are given on at once


class Json:
    """A file of either kind.

    Parameters
    ----------
    source : Source
    side : {"qrels", "run"}
    lines : bool
        Whether it holds lines of objects, not one object.

    Attributes
    ----------
    integers : Integers
        Once judgments are read, whether their ids stand there as integers; keys are text.
    """

    def __init__(self, source: Source, side: str, *, lines: bool) -> None:
        self.name = source.name
        self._source = source
        self._side = side
        self._lines = lines
        self.integers = Integers(lines, documents=False)
        self._kept = NO_INTEGERS

    def mappings(
        self, mistakes: Mistakes, integers: Integers = NO_INTEGERS
    ) -> Iterator[dict[Any, Any]]:
        """Yield all queries, some at a time, checked; ids that are integers become text or stay."""
        self._kept = integers
        found = False
        for queries in (self._of_lines if self._lines else self._of_object)(mistakes):
            found = True
            yield queries
        mistakes.check()
        if not found:
            raise ValueError(f"{self.name}: no queries in it")

    def _of_object(self, mistakes: Mistakes) -> Iterator[dict[str, Any]]:
        content = _content(self._source)
        if not isinstance(content, dict):
            raise ValueError(f"{self.name}: {_kind(content)}, not an object of queries")
        if isinstance(content, _Repeated):
            raise ValueError(f"{self.name}: {content.what}")
        queries = {}
        for query, value in content.items():
            try:
                queries[query] = self._checked(value, mistakes)
            except _WrongError as wrong:
                mistakes.say(f"{self.name}: query {query!r}: {wrong}")
        if queries:
            yield queries

    def _of_lines(self, mistakes: Mistakes) -> Iterator[dict[str, Any]]:
        queries: dict[Any, Any] = {}
        lines: dict[str, int] = {}
        with self._source.open() as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    query, value = self._of_line(line, mistakes)
                except _WrongError as wrong:
                    mistakes.add(number, str(wrong), line)
                    continue
                if (text := str(query)) in lines:
                    what = f"query {text!r} stands in line {lines[text]} too"
                    mistakes.add(number, what, line)
                lines[text] = number
                queries[query] = value
                if len(queries) == _TOGETHER:
                    yield queries
                    queries = {}
        if queries:
            yield queries

    def _of_line(self, line: bytes, mistakes: Mistakes) -> tuple[str | int, Any]:
        content = _parse(line)
        _check_object(content)
        if "query_id" not in content:
            raise _WrongError(f"no query_id; there are {', '.join(content):.80}")
        query = _id(content["query_id"], "query_id", integers=self._kept.queries)
        if type(content["query_id"]) is str:
            self.integers = NO_INTEGERS
        keys = [key for key in _KEYS[self._side] if key in content]
        if len(keys) != 1:
            wanted = " or ".join(_KEYS[self._side])
            other = "run" if self._side == "qrels" else "qrels"
            hint = ""
            if not keys and any(key in content for key in _KEYS[other]):
                hint = "; is this a run?" if other == "run" else "; are these qrels?"
            raise _WrongError((f"no {wanted}" if not keys else f"both {' and '.join(keys)}") + hint)
        return query, self._checked(content[keys[0]], mistakes, keys[0])

    def _checked(self, value: Any, mistakes: Mistakes, key: str | None = None) -> Any:
        noun: Literal["grade", "score"] = "grade" if self._side == "qrels" else "score"
        if isinstance(value, dict) and key != "ranked":
            if isinstance(value, _Repeated):
                if not mistakes.keep_first:
                    raise _WrongError(value.what + mistakes.way_out)
                value = dict(value)
            for document, number in value.items():
                if type(number) not in (float, int, bool):
                    what = f"the {noun} is {_kind(number)}, not a number"
                    raise _WrongError(f"document {document!r}: {what}")
                if number != number:
                    raise _WrongError(f"document {document!r}: the {noun} is NaN")
                if noun == "grade" and abs(number) == float("inf"):
                    raise _WrongError(f"document {document!r}: the grade is infinite")
            return value
        if isinstance(value, list) and self._side == "run" and key != "scores":
            places: dict[str, int] = {}
            documents = []
            for rank, item in enumerate(value, 1):
                what = f"the document of rank {rank}"
                document = _id(item, what, integers=self._kept.documents)
                first = places.setdefault(str(document), rank)
                if first < rank and mistakes.keep_first:
                    continue
                if first < rank:
                    where = f"at rank {first} and again at rank {rank}"
                    what = f"document {document!r} stands {where}{mistakes.way_out}"
                    raise _WrongError(what)
                documents.append(document)
            return documents
        allowed = {"qrels": "an object", "scores": "an object", "ranked": "a list"}
        what = allowed.get(key or self._side, "an object or a list")
        raise _WrongError(f"{key or 'its documents'}: {what} is wanted, not {_kind(value)}")


class JsonRows:
    """A file of rows.

    Parameters
    ----------
    source : Source
    side : {"qrels", "run"}
    columns : mapping
        From the name of a column of a table to what it is called here, where that is another.
    lines : bool
        Whether it holds lines of objects, not one list of them.

    Attributes
    ----------
    integers : Integers
        Whether the ids are integers: in the first row, and once all rows are read, in all of them.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is not JSON, or a column is not there.
    """

    def __init__(
        self, source: Source, side: str, columns: Mapping[str, str], *, lines: bool
    ) -> None:
        self.name = source.name
        self._source = source
        self._list: list[Any] | None = None
        if lines:
            first = first_object(source.start())
        else:
            self._list = _content(source)
            if not self._list:
                raise ValueError(f"{self.name}: no rows in it")
            first = self._list[0]
            if not isinstance(first, dict):
                raise ValueError(f"{self.name}: row 0: {_kind(first)}, not an object")
        self._columns = choose_columns(self.name, side, list(first), columns)
        self.integers = Integers(*(type(first[column]) is int for column in self._columns[:2]))

    def read_pieces(self) -> Iterator[TextRows | None]:
        """Yield None: the core does not read JSON."""
        yield None

    def read_whole(self) -> TextRows | None:
        """Return None, too."""
        return None

    def read_carefully(self, mistakes: Mistakes) -> Grouped:
        """Read every row, and put what is wrong with it on record."""
        if self._list is not None:
            rows = CheckedRows(self._columns, mistakes, "row")
            for place, content in enumerate(self._list):
                try:
                    self._add(rows, place, content)
                except _WrongError as wrong:
                    mistakes.add_row(place, str(wrong))
        else:
            rows = CheckedRows(self._columns, mistakes, "line")
            with self._source.open() as file:
                for number, line in enumerate(file, 1):
                    try:
                        if line.strip():
                            self._add(rows, number, _parse(line))
                    except _WrongError as wrong:
                        mistakes.add(number, str(wrong), line)
        mistakes.check()
        return rows.queries

    def _add(self, rows: CheckedRows, place: int, content: Any) -> None:
        _check_object(content)
        names = self._columns[:3]
        if missing := [name for name in names if name not in content]:
            raise _WrongError(f"no {missing[0]}")
        query, document, number = (content[name] for name in names)
        self.integers = self.integers.among(Integers(type(query) is int, type(document) is int))
        if type(number) not in (float, int, bool):
            raise _WrongError(f"{names[2]} is {_kind(number)}, not a number")
        ids = [_encode(query, names[0]), _encode(document, names[1])]
        if wrong := rows.add(place, ids[0], ids[1], number):
            raise _WrongError(wrong)


def first_object(start: bytes) -> dict[str, Any]:
    """Return the object in the first line of a text; an empty one where there is none."""
    try:
        content = json.loads(start.lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):  # none at all, or longer than what there is of it
        return {}
    return content if isinstance(content, dict) else {}


def is_row(content: Mapping[str, Any]) -> bool:
    """Whether an object is a row, not one or more queries with documents of their own."""
    values = [key for key, value in content.items() if not isinstance(value, (dict, list))]
    queries = any(key in content and key not in values for keys in _KEYS.values() for key in keys)
    return len(values) >= 3 and not queries


def is_line(content: Mapping[str, Any]) -> bool:
    """Whether an object is one query, also if what names it has another name than query_id."""
    if isinstance(content.get("query_id"), (str, int)):
        return True
    nested = [key for key, value in content.items() if isinstance(value, (dict, list))]
    return len(nested) < len(content) and any(
        key in nested for keys in _KEYS.values() for key in keys
    )


class _WrongError(Exception):
    """What is wrong with a line, or with a query."""


class _Repeated(dict[str, Any]):
    """An object with a key that is there twice, and what stands first at each."""

    what = ""


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object)


def _content(source: Source) -> Any:
    """Parse a whole file."""
    data = source.read()
    try:
        return _loads(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{source.name}:{line}: not UTF-8") from None
    except json.JSONDecodeError as error:
        hint = "; are these JSON lines?" if error.msg == "Extra data" else ""
        raise ValueError(f"{source.name}:{error.lineno}: no JSON: {error.msg}{hint}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{source.name}: no JSON: {error}") from None


def _parse(line: bytes) -> Any:
    """Parse a line."""
    try:
        return _loads(line.decode())
    except UnicodeDecodeError:
        raise _WrongError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _WrongError(f"no JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError) as error:
        raise _WrongError(f"no JSON: {error}") from None


def _check_object(content: Any) -> None:
    if not isinstance(content, dict):
        raise _WrongError(f"{_kind(content)}, not an object")
    if isinstance(content, _Repeated):
        raise _WrongError(content.what)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) == len(pairs):
        return content
    firsts = _Repeated()
    for key, value in pairs:
        if key in firsts:
            firsts.what = firsts.what or f"the key {key!r} is there twice"
        firsts.setdefault(key, value)
    return firsts


def _id(value: Any, what: str, *, integers: bool) -> str | int:
    if type(value) is int:
        return value if integers else str(value)
    if type(value) is not str:
        raise _WrongError(f"{what} is {_kind(value)}, not a string or an integer")
    return value


def _encode(value: Any, what: str) -> bytes:
    try:
        return str(_id(value, what, integers=False)).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise _WrongError(f"{what} holds a surrogate, which has no UTF-8") from None


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "null" if value is None else "a number")
