"""Tables: whatever speaks Arrow, and Parquet, Arrow IPC and Feather files. pyarrow reads them all.

A table has the columns ``query_id``, ``doc_id`` and ``score`` or ``rank`` (whole numbers, the
lowest is best), or for judgments ``grade`` or ``relevance``; other names of them are known. Ids are
texts, or integers, which become their decimal texts. Rows are counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from rankmeter._core.doors.text_rows import TextRows
from rankmeter.doors.integers import Integers
from rankmeter.doors.mistakes import Mistakes
from rankmeter.doors.rows import CheckedRows, choose_columns
from rankmeter.doors.source import Source
from rankmeter.doors.text import Grouped

_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_EXACT_INTEGERS = 2**53  # from here on doubles skip integers
_TOGETHER = 1 << 16  # rows that are scored at once, so that threads have something to share
_LEAST_TOGETHER = 1 << 13  # rows of a chunk, below which the calls for each take most of the time


class Table:
    """A table, or a file that holds one.

    Parameters
    ----------
    given : object with ``__arrow_c_stream__``, or Source
    side : {"qrels", "run"}
    columns : mapping
        From the name of a column above to its name in the table, where that is another.

    Raises
    ------
    ImportError
        pyarrow is not there; the message says what to install.
    TypeError
        A column is of a type that cannot be read.
    ValueError
        A column is not there, or the file is none of these.
    """

    def __init__(self, given: Any, side: str, columns: Mapping[str, str]) -> None:
        self._arrow = _pyarrow()
        self._side = side
        self._source = given if isinstance(given, Source) else None
        self.name = side if self._source is None else self._source.name
        self._once = isinstance(given, self._arrow.RecordBatchReader)
        if self._source is None:
            reader = self._reader(given, columns)
            self._choose(reader.schema.names, columns)
            # It may be one that is read only once.
            self._table = _with_large_chunks(reader.read_all().select(self._names))
            schema = self._table.schema
        else:
            with self._reading():
                schema, _ = self._open_file()
            self._choose(schema.names, columns)
        self._check(schema)

    def _reader(self, given: Any, columns: Mapping[str, str]) -> Any:
        read = self._arrow.RecordBatchReader.from_stream
        try:
            return read(given)
        except Exception as error:
            if not hasattr(given, "columns"):
                raise
            # A frame of pandas, with a column that has no one type; perhaps none that is wanted.
            self._choose([*map(str, given.columns)], columns)
            for name in self._names:
                try:
                    read(given[[name]])
                except Exception as why:
                    # Arrow's errors have a second argument, which names the column.
                    reason = why.args[0] if len(why.args) == 2 else why
                    raise TypeError(
                        f"{self.name}: column {name} has no type of Arrow ({reason}); "
                        ".astype(str) makes texts of texts and numbers"
                    ) from error
            return read(given[self._names])

    def _choose(self, there: list[str], columns: Mapping[str, str]) -> None:
        self._chosen = choose_columns(self.name, self._side, there, columns)
        self._names = list(self._chosen[:3])
        self._ranked = self._chosen.role == "rank"

    def _check(self, schema: Any) -> None:
        types = self._arrow.types
        kinds = [schema.field(name).type for name in self._names]
        values = [kind.value_type if types.is_dictionary(kind) else kind for kind in kinds]
        self.integers = Integers(*map(types.is_integer, values[:2]))
        for name, kind, value in zip(self._names, kinds, values, strict=True):
            is_number = name == self._names[2]
            fine = (
                _is_number(types, value)
                if is_number
                else types.is_integer(value) or _is_text(types, value)
            )
            if not fine:
                what = "numbers" if is_number else "texts or integers"
                raise TypeError(f"{self.name}: column {name} holds {kind}, not {what}")

    # ---------------------------------------------------------------------------------------------
    # Batches

    def _open_file(self) -> tuple[Any, Iterable[Any]]:
        """The schema, and what yields the batches."""
        assert self._source is not None
        start, given = self._source.start()[:8], self._source.seekable()
        on_disk = isinstance(given, str)
        if start.startswith(b"PAR1"):
            parquet = import_module("pyarrow.parquet")
            file = parquet.ParquetFile(given)
            names = getattr(self, "_names", None)
            return file.schema_arrow, file.iter_batches(_TOGETHER, columns=names)
        if start.startswith(b"ARROW1"):
            reader = self._arrow.ipc.open_file(self._arrow.OSFile(given) if on_disk else given)
            return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
        if start.startswith(b"FEA1"):
            table = import_module("pyarrow.feather").read_table(given)
            return table.schema, table.to_batches()
        if not start.startswith(b"\xff\xff\xff\xff"):
            raise ValueError(f"{self.name}: neither Parquet nor Arrow")
        file = self._arrow.OSFile(given) if on_disk else self._arrow.PythonFile(given, "r")
        file.seek(max(0, file.size() - len(_END_OF_STREAM)))
        if file.read() != _END_OF_STREAM:
            raise ValueError(f"{self.name}: damaged file: the stream of Arrow batches is cut off")
        file.seek(0)
        reader = self._arrow.ipc.open_stream(file)
        return reader.schema, reader

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except self._arrow.ArrowException as error:
            raise ValueError(f"{self.name}: damaged file: {error}") from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise ValueError(f"{self.name}: damaged file: {error}") from error

    def _batches(self) -> Iterator[list[Any]]:
        """Yield some rows at a time: the three columns, as Arrow has them."""
        with self._reading():
            batches: Iterable[Any]
            if self._source is None:
                batches = self._table.to_batches()
            else:
                _, batches = self._open_file()
            for batch in batches:
                if not batch.num_rows:
                    continue
                columns = [batch.column(batch.schema.get_field_index(n)) for n in self._names]
                if self._source is not None:
                    for column in columns:
                        column.validate(full=True)  # otherwise Arrow reads out of bounds
                yield columns

    def _columns_of(self, batch: list[Any]) -> _Columns | None:
        """The columns as the core reads them; None where one holds a null."""
        *ids, numbers = [self._ids(column) for column in batch[:2]] + [self._numbers(batch[2])]
        if any(column.null_count for column in (*ids, numbers)):
            return None
        if self._arrow.types.is_integer(numbers.type):
            return None
        values = numbers.to_numpy()
        if self._ranked and not (np.isfinite(values) & (values == np.floor(values))).all():
            return None
        return _Columns(*_texts(ids[0]), *_texts(ids[1]), -values if self._ranked else values)

    def _ids(self, column: Any) -> Any:
        types = self._arrow.types
        column = self._decoded(column)
        if types.is_binary(column.type) or types.is_large_binary(column.type):
            return column.cast(self._arrow.large_binary())
        return column.cast(self._arrow.large_string())

    def _numbers(self, column: Any) -> Any:
        """Doubles, or integers which these would round together."""
        column = self._decoded(column)
        if self._arrow.types.is_decimal(column.type):
            column = column.cast(self._arrow.string())  # Arrow itself would round more than once
        doubles = column.cast(self._arrow.float64(), safe=False)  # to the nearest
        if self._chosen.role == "score" and self._arrow.types.is_integer(column.type):
            values = doubles.to_numpy(zero_copy_only=False)
            if (np.abs(values) >= _EXACT_INTEGERS).any():
                return column
        return doubles

    def _decoded(self, column: Any) -> Any:
        types = self._arrow.types
        if not types.is_dictionary(column.type):
            return column
        is_view = getattr(types, "is_string_view", lambda kind: False)
        if is_view(column.type.value_type):  # Arrow cannot pick out of these
            return column.dictionary.cast(self._arrow.large_string()).take(column.indices)
        return column.dictionary_decode()

    # ---------------------------------------------------------------------------------------------
    # Rows

    def read_pieces(self) -> Iterator[TextRows | None]:
        """Yield all rows, cut between two queries, for the core; None for the careful reader."""
        left: list[_Columns] = []  # rows of the last query, which may go on
        for batch in self._batches():
            columns = self._columns_of(batch)
            if columns is None:
                yield None
                return
            rows, n = columns.rows(), len(columns.numbers)
            first, last = rows.border(1), rows.border(n, backwards=True)
            if not last:
                left.append(columns)
                continue
            yield _joined([*left, columns.cut(0, first)]).rows()
            left = [columns.cut(last, n)]
            while first < last:
                stop = min(last, rows.border(first + _TOGETHER))
                yield columns.cut(first, stop).rows()
                first = stop
        if left:
            yield _joined(left).rows()

    def read_whole(self) -> TextRows | None:
        """Return all rows; None where the careful reader should look at them."""
        parts = []
        for batch in self._batches():
            columns = self._columns_of(batch)
            if columns is None:
                return None
            parts.append(columns)
        return _joined(parts).rows() if parts else None

    def read_carefully(self, mistakes: Mistakes) -> Grouped:
        """Read every row, and put what is wrong with it on record."""
        rows = CheckedRows(self._chosen, mistakes, "row")
        row = -1
        for batch in self._batches():
            ids = [self._ids(column).cast(self._arrow.large_binary()) for column in batch[:2]]
            values = (column.to_pylist() for column in (*ids, self._numbers(batch[2])))
            for query, document, number in zip(*values, strict=True):
                row += 1
                if query is None or document is None or number is None:
                    null = (query, document, number).index(None)
                    mistakes.add_row(row, f"{self._names[null]} is null")
                elif wrong := rows.add(row, query, document, number):
                    mistakes.add_row(row, wrong)
        mistakes.check()
        if not rows.queries:
            hint = " (a stream can be read only once)" if self._once else ""
            raise ValueError(f"{self.name}: no rows in it{hint}")
        return rows.queries


class _Columns(NamedTuple):
    """Three columns as the core reads them."""

    query_offsets: Any
    query_bytes: Any
    document_offsets: Any
    document_bytes: Any
    numbers: Any

    def rows(self) -> TextRows:
        return TextRows.of_columns(*self)

    def cut(self, start: int, stop: int) -> _Columns:
        return self._replace(
            query_offsets=self.query_offsets[start : stop + 1],
            document_offsets=self.document_offsets[start : stop + 1],
            numbers=self.numbers[start:stop],
        )


def _with_large_chunks(table: Any) -> Any:
    """A table without chunks that are too small to be worth the calls that each takes."""
    chunks = max((column.num_chunks for column in table.columns), default=0)
    return table.combine_chunks() if table.num_rows < chunks * _LEAST_TOGETHER else table


def _joined(parts: Sequence[_Columns]) -> _Columns:
    """Rows of several batches."""
    if len(parts) == 1:
        return parts[0]
    joined: list[Any] = []
    for at in (0, 2):
        sizes = [np.diff(part[at]) for part in parts]
        joined.append(np.concatenate([[0], *sizes]).cumsum())
        joined.append(np.concatenate([p[at + 1][p[at][0] : p[at][-1]] for p in parts]))
    numbers = np.concatenate([part.numbers for part in parts])
    return _Columns(joined[0], joined[1], joined[2], joined[3], numbers)


def _texts(column: Any) -> tuple[Any, Any]:
    """Offsets and bytes of a large_string or large_binary array."""
    _, offsets, data = column.buffers()
    start = column.offset
    return (
        np.frombuffer(offsets, np.int64)[start : start + len(column) + 1],
        np.frombuffer(data or b"", np.uint8),
    )


def _is_text(types: Any, kind: Any) -> bool:
    tests = ("string", "large_string", "string_view", "binary", "large_binary")
    return any(getattr(types, f"is_{name}", lambda kind: False)(kind) for name in tests)


def _is_number(types: Any, kind: Any) -> bool:
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def _pyarrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise ImportError("tables need pyarrow: pip install 'rankmeter[arrow]'") from error
