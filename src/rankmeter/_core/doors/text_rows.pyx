"""Rows of query, document and number, with ids as bytes: of a file or of a table.

Rows are read where they lie, as lines of text or columns of a table, without an object of Python
for each and without the GIL.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcpy, memset

from rankmeter._core.ids cimport Probe, Slot, Table, look_for, next_alike, put
from rankmeter._core.memory cimport allocate, reallocate
from rankmeter._core.scratch cimport Scratch, open_table


cdef extern from "thresholds.h":
    Py_ssize_t threshold "RANKMETER_THRESHOLD" (Py_ssize_t usual) noexcept nogil


LONGEST_LINE = LONGEST

cdef Py_ssize_t MOST_ROWS = 0x7FFFFFFF
cdef Py_ssize_t MOST_NAMES = 0x3FFFFFFF


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


# Queries

cdef void release_names(Names *names) noexcept nogil:
    free(names.texts)
    free(names.table.slots)


cdef Py_ssize_t find_name(const Names *names, Text text) noexcept nogil:
    """Its place, or -1."""
    cdef Probe probe = look_for(tag_of(text))
    if names.n == 0:
        return -1
    while next_alike(&names.table, &probe):
        if same(names.texts[probe.place], text):
            return probe.place
    return -1


cdef Py_ssize_t add_name(Names *names, Text text) except -1 nogil:
    """Add a name that is not there; returns its place."""
    cdef Py_ssize_t i, size
    cdef Probe probe
    if names.n == MOST_NAMES:
        with gil:
            raise ValueError("there are too many queries")
    if names.table.slots == NULL or 2 * names.n > <Py_ssize_t> names.table.mask:
        size = max(threshold(1024), 2 * (<Py_ssize_t> names.table.mask + 1))
        names.texts = <Text *> reallocate(names.texts, size, sizeof(Text))
        names.table.slots = <Slot *> reallocate(names.table.slots, size, sizeof(Slot))
        names.table.mask = <unsigned int> (size - 1)
        memset(names.table.slots, 0, size * sizeof(Slot))
        for i in range(names.n):
            seek_end(&names.table, &probe, names.texts[i])
            put(&names.table, &probe, i)
    seek_end(&names.table, &probe, text)
    put(&names.table, &probe, names.n)
    names.texts[names.n] = text
    names.n += 1
    return names.n - 1


cdef inline Py_ssize_t number_of_query(
    Names *names, Py_ssize_t latest, Text query
) except -1 nogil:
    """The number of a query, which is likely to be that of the row before."""
    if latest >= 0 and same(query, names.texts[latest]):
        return latest
    latest = find_name(names, query)
    return add_name(names, query) if latest < 0 else latest


cdef inline void seek_end(const Table *table, Probe *probe, Text text) noexcept nogil:
    """Where a text would stand that is not there."""
    probe[0] = look_for(tag_of(text))
    while next_alike(table, probe):
        pass


# The rows of one query

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
        block.tags[block.n] = row.tag
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

    def __dealloc__(self):
        free(self.kept)
        free(self.queries)
        free(self.order)
        free(self.ends)
        release_names(&self.names)

    def in_order(self):
        """The same rows, those of each query together, as they follow each other.

        Returns
        -------
        TextRows or None
            The queries in the order in which they come first; None where the careful reader should
            look at the rows. It takes 8 bytes a row of columns, 40 a line.
        """
        cdef TextRows rows = TextRows.__new__(TextRows)
        cdef Py_ssize_t n
        if not self.usual or self.order != NULL:
            return None
        rows.source = self
        rows.usual = True
        with nogil:
            if self.reader.is_text:
                n = rows.keep_lines(self.reader)
            else:
                n = rows.number_rows(&self.reader)
            if n >= 0:
                rows.reader.documents = self.reader.documents
                rows.reader.numbers = self.reader.numbers
                rows.sort(n)
        return None if n < 0 else rows

    cdef Py_ssize_t keep_lines(self, Reader reader) except -2 nogil:
        """Read all lines, and number their queries; returns how many, or -1."""
        cdef TextRow row
        cdef Py_ssize_t n = 0, capacity = 0, query = -1
        cdef int found
        while True:
            found = next_row(&reader, &row)
            if found != 1 or n == MOST_ROWS:
                break
            step(&reader, &row)
            if n == capacity:
                capacity = max(threshold(1024), 2 * capacity)
                self.kept = <KeptRow *> reallocate(self.kept, capacity, sizeof(KeptRow))
                self.queries = <int *> reallocate(self.queries, capacity, sizeof(int))
            query = number_of_query(&self.names, query, row.query)
            self.queries[n] = <int> query
            self.kept[n] = KeptRow(row.document, row.number, row.tag)
            n += 1
        return n if found == 0 else -1

    cdef Py_ssize_t number_rows(self, const Reader *reader) except -2 nogil:
        """Number the queries of all rows of columns; returns how many rows, or -1."""
        cdef Py_ssize_t i, query = -1
        cdef Text text
        if reader.n_rows > MOST_ROWS:
            return -1
        self.queries = <int *> allocate(reader.n_rows, sizeof(int))
        for i in range(reader.n_rows):
            take(&reader.queries, i, &text)
            query = number_of_query(&self.names, query, text)
            self.queries[i] = <int> query
        return reader.n_rows

    cdef int sort(self, Py_ssize_t n) except -1 nogil:
        """Count the rows of each query, and lay out their order."""
        cdef Py_ssize_t i, total = 0
        cdef int *ends
        cdef int count
        self.order = <int *> allocate(n, sizeof(int))
        self.ends = ends = <int *> allocate(self.names.n, sizeof(int))
        memset(ends, 0, self.names.n * sizeof(int))
        for i in range(n):
            ends[self.queries[i]] += 1
        for i in range(self.names.n):
            count = ends[i]
            ends[i] = <int> total           # its start, until its rows are laid out
            total += count
        for i in range(n):
            self.order[ends[self.queries[i]]] = <int> i
            ends[self.queries[i]] += 1
        self.reader.n_rows = n
        self.reader.order = self.order
        self.reader.kept = self.kept
        self.reader.ends = ends
        self.reader.names = self.names.texts
        return 0

    def border(self, Py_ssize_t row, bint backwards=False):
        """The first row of a table from `row` on that begins a query; the number of rows if none.

        Backwards: the last row up to `row` that does; 0 if none.
        """
        cdef Py_ssize_t i = max(1, row)
        cdef Text query, before
        if self.reader.queries.offsets == NULL:
            raise ValueError("these are not the rows of a table")
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
