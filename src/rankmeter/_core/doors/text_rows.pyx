"""Rows of query, document and number, with ids as bytes: of a file or of a table.

Rows are read where they lie, as lines of text or columns of a table, without an object of Python
for each and without the GIL.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcpy

from rankmeter._core.ids cimport Probe, Table, look_for, next_alike, put
from rankmeter._core.memory cimport allocate
from rankmeter._core.scratch cimport Scratch, open_table


cdef extern from "thresholds.h":
    Py_ssize_t threshold "RANKMETER_THRESHOLD" (Py_ssize_t usual) noexcept nogil


LONGEST_LINE = LONGEST


cdef str text_of(Text id_):
    return id_.start[:id_.length].decode("utf-8", "surrogateescape")


cdef str shown(Text text):
    return repr(text.start[:text.length].decode("utf-8", "backslashreplace"))


def number_of(bytes text not None):
    """The number that a column holds, or None where it holds none."""
    cdef double number
    if not read_number(Text(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)), &number):
        return None
    return number


cdef int reserve_block(Block *block, Py_ssize_t n) except -1 nogil:
    """Keep what is there; the three arrays lie in one piece of memory."""
    cdef Py_ssize_t size = sizeof(Text) + sizeof(double) + sizeof(unsigned int)
    cdef Block larger = block[0]
    if n <= block.capacity:
        return 0
    larger.capacity = max(2 * n, threshold(1024))
    larger.documents = <Text *> allocate(larger.capacity, size)
    larger.scores = <double *> (larger.documents + larger.capacity)
    larger.tags = <unsigned int *> (larger.scores + larger.capacity)
    if block.n:
        memcpy(larger.documents, block.documents, block.n * sizeof(Text))
        memcpy(larger.scores, block.scores, block.n * sizeof(double))
        memcpy(larger.tags, block.tags, block.n * sizeof(unsigned int))
    free(block.documents)
    block[0] = larger
    return 0


cdef int read_block(Reader *reader, Text *query, Block *block, Scratch *scratch) except -1 nogil:
    """Read the rows of one query, and put its documents into a table.

    Returns 0 where the careful reader should look at them. `block.n` is 0 behind the last row.
    """
    cdef TextRow row
    cdef Py_ssize_t i
    cdef int usual
    cdef Table table
    cdef Probe probe
    block.n = 0
    while True:
        usual = next_row(reader, &row)
        if usual < 0:
            return 0
        if usual == 0:
            break
        if block.n == 0:
            query[0] = row.query
        elif not same(row.query, query[0]):
            break
        step(reader, &row)
        reserve_block(block, block.n + 1)
        block.documents[block.n] = row.document
        block.tags[block.n] = tag_of(row.document)
        block.scores[block.n] = row.number
        block.n += 1
    if block.n > 0x3FFFFFFF:
        return 0
    open_table(scratch, block.n, 2)
    table = scratch.table
    block.table = table
    for i in range(block.n):
        probe = look_for(block.tags[i])
        while next_alike(&table, &probe):
            if same(block.documents[i], block.documents[probe.place]):
                return 0
        put(&table, &probe, i)
    return 1


cdef class TextRows:
    """Rows of query, document and number: made by `of_lines` or `of_columns`, and not changed."""

    @staticmethod
    def of_lines(
        const unsigned char[::1] text not None, Py_ssize_t length, *,
        bint ignored_second, bint has_rank, bint more, bint ranked,
    ):
        """Lines of text, with columns that are separated by blanks.

        Parameters
        ----------
        text : buffer
        length : int
            How much of the buffer is text.
        ignored_second : bool
            Whether there is a column between query and document.
        has_rank : bool
            Whether there is a rank between document and number. The number alone counts.
        more : bool
            Whether one column or more follow the number; otherwise none may.
        ranked : bool
            Whether the number is a rank, a whole number: the lowest is best.
        """
        cdef TextRows rows = TextRows.__new__(TextRows)
        if not 0 <= length <= text.shape[0]:
            raise ValueError("the text is not so long")
        rows.text = text
        rows.usual = True
        rows.reader.is_text = True
        rows.reader.layout = Layout(ignored_second, has_rank, more, ranked, False)
        if length:
            rows.reader.p = <const char *> &text[0]
            rows.reader.end = rows.reader.p + length
            rows.usual = memchr(rows.reader.p, 0, length) == NULL
            rows.reader.layout.tabs = memchr(rows.reader.p, b"\t", length) != NULL
        return rows

    @staticmethod
    def of_columns(
        const int64_t[::1] query_offsets not None, const unsigned char[::1] query_bytes not None,
        const int64_t[::1] document_offsets not None,
        const unsigned char[::1] document_bytes not None,
        const double[::1] numbers not None,
    ):
        """Columns of a table: the texts of a column lie one behind the other.

        Parameters
        ----------
        query_offsets, document_offsets : int64 arrays, rows + 1
            Where each text begins, and the next one.
        query_bytes, document_bytes : uint8 arrays
        numbers : float64 array, rows
        """
        cdef TextRows rows = TextRows.__new__(TextRows)
        cdef Py_ssize_t n = numbers.shape[0]
        if query_offsets.shape[0] != n + 1 or document_offsets.shape[0] != n + 1:
            raise ValueError("columns of different lengths")
        rows.query_offsets = query_offsets
        rows.query_bytes = query_bytes
        rows.document_offsets = document_offsets
        rows.document_bytes = document_bytes
        rows.numbers = numbers
        rows.usual = True
        rows.reader.n_rows = n
        rows.reader.queries = strings(query_offsets, query_bytes)
        rows.reader.documents = strings(document_offsets, document_bytes)
        if n:
            rows.reader.numbers = &numbers[0]
        return rows

    def border(self, Py_ssize_t row, bint backwards=False):
        """The first row of a table from `row` on that begins a query; the number of rows if none.

        Backwards: the last row up to `row` that does; 0 if none.
        """
        cdef Py_ssize_t i = max(1, row)
        cdef Text query, before
        if backwards:
            i = min(row, self.reader.n_rows - 1)
        while 0 < i < self.reader.n_rows:
            take(&self.reader.queries, i - 1, &before)
            take(&self.reader.queries, i, &query)
            if not same(query, before):
                return i
            i += -1 if backwards else 1
        return 0 if backwards else self.reader.n_rows


cdef Strings strings(const int64_t[::1] offsets, const unsigned char[::1] data):
    cdef Strings column
    column.offsets = &offsets[0]
    column.length = data.shape[0]
    # Where there is nothing to read, any address that is not null.
    column.start = <const char *> &offsets[0]
    if column.length:
        column.start = <const char *> &data[0]
    return column


def last_query(const unsigned char[::1] text not None, Py_ssize_t length):
    """Where the lines of the last query of a text begin; 0 where it has only one.

    A text may be cut there, unless more lines of that query come later. What stands behind the last
    newline is not a line yet, and is not looked at. It is not cut before a line that begins with #:
    whether that is a comment depends on the row before.
    """
    cdef const char *first
    cdef const char *p
    cdef const char *line_end
    cdef const char *border
    cdef Text query, latest
    query.length = -1
    if not 0 < length <= text.shape[0]:
        return 0
    first = <const char *> &text[0]
    p = first + length
    while p > first and p[-1] != b"\n":
        p -= 1
    while p > first:
        line_end = p
        p -= 1
        while p > first and p[-1] != b"\n":
            p -= 1
        border = p
        latest = next_field(&border, line_end)
        if latest.length == 0:
            continue
        if query.length < 0:
            query = latest
        elif not same(query, latest):
            if query.start[0] != b"#":
                return line_end - first
            query = latest
    return 0
