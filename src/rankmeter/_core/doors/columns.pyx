"""The door for files and tables: rows of query, document and number, with ids as bytes.

Rows are read where they lie, as lines of text or columns of a table, without an object of Python
for each and without the GIL. This is the fast way through the input that nothing is wrong with:
what is unusual (interleaved queries, a line that is not as it should be, a document twice) is not
described here but left to the careful reader, which gives the same digits or says what is wrong.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.math cimport floor, isfinite
from libc.stdint cimport int64_t
from libc.stdlib cimport free, qsort
from libc.string cimport memchr, memcmp, memcpy, memset

from rankmeter._core.driver cimport Metrics, check_shapes, complain, complaint, score_empty
from rankmeter._core.ids cimport Probe, Slot, Table, look_for, mix_bytes, next_alike, put
from rankmeter._core.memory cimport allocate, reallocate
from rankmeter._core.query cimport Plan, Query, Values
from rankmeter._core.ranks cimport (
    BY_ID, BY_INPUT, EXPECTED, Found, Scratch, Ties, any_relevant, any_tied, open_table,
    place_found, places_by_grade, release, reserve_judged, score_found, start, ties_of,
)


cdef extern from "thresholds.h":
    Py_ssize_t threshold "RANKMETER_THRESHOLD" (Py_ssize_t usual) noexcept nogil

cdef extern from "doors/decimal.h":
    bint rankmeter_decimal(const char *text, Py_ssize_t length, double *number) noexcept nogil


cdef struct Text:               # bytes that somebody else owns
    const char *start
    Py_ssize_t length


cdef inline bint same(Text a, Text b) noexcept nogil:
    return a.length == b.length and memcmp(a.start, b.start, a.length) == 0


cdef inline bint is_blank(char letter) noexcept nogil:
    """What separates columns: the blanks of ASCII."""
    return letter == b" " or 9 <= letter <= 13


cdef inline unsigned int tag_of(Text text) noexcept nogil:
    return <unsigned int> (mix_bytes(text.start, text.length) >> 32)


cdef inline Text next_field(const char **p, const char *end) noexcept nogil:
    cdef Text field
    while p[0] < end and is_blank(p[0][0]):
        p[0] += 1
    field.start = p[0]
    while p[0] < end and not is_blank(p[0][0]):
        p[0] += 1
    field.length = p[0] - field.start
    return field


cdef inline bint next_line(const char **p, const char *end, const char **line_end) noexcept nogil:
    """Go to the first letter of the next line that is not blank; False where there is none."""
    while p[0] < end:
        line_end[0] = <const char *> memchr(p[0], b"\n", end - p[0])
        if line_end[0] == NULL:
            line_end[0] = end
        while p[0] < line_end[0] and is_blank(p[0][0]):
            p[0] += 1
        if p[0] < line_end[0]:
            return True
        p[0] += 1
    return False


cdef int read_number_slowly(Text text, double *number) except -1 with gil:
    raw = text.start[:text.length]
    if b"_" in raw:
        return 0
    try:
        number[0] = float(raw)
    except ValueError:
        return 0
    return number[0] == number[0]


cdef inline int read_number(Text text, double *number) except -1 nogil:
    """1 and the number, as float() reads it; 0 where that says no."""
    if rankmeter_decimal(text.start, text.length, number):
        return 1
    return read_number_slowly(text, number)


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


# Rows

LONGEST_LINE = 1 << 20          # bytes

cdef Py_ssize_t LONGEST = LONGEST_LINE


cdef struct Row:
    Text query
    Text document
    double number
    const char *after           # of text: where the next line begins


cdef struct Layout:             # of a line: query, [ignored,] document, [rank,] number, ...
    bint ignored_second
    bint has_rank               # it orders nothing, but must be a number
    bint more                   # one column at least behind the number; otherwise none
    bint ranked                 # the number is a rank, the best one is the lowest
    bint tabs                   # there are some in the text


cdef struct Strings:            # a column of a table
    const int64_t *offsets
    const char *start
    Py_ssize_t length


cdef struct Reader:             # goes through the rows of one or the other
    bint is_text
    Layout layout
    const char *p
    const char *end
    Text latest                 # query of the row before
    Py_ssize_t row
    Py_ssize_t n_rows
    Strings queries
    Strings documents
    const double *numbers


cdef inline bint next_rank(const char **p, const char *end, Text *rank) except -1 nogil:
    """Read the next field, whether it is a number or not; False where it is none."""
    cdef double number
    while p[0] < end and is_blank(p[0][0]):
        p[0] += 1
    rank.start = p[0]
    while p[0] < end and b"0" <= p[0][0] <= b"9":
        p[0] += 1
    rank.length = p[0] - rank.start
    if p[0] == end or is_blank(p[0][0]):
        return True
    p[0] = rank.start
    rank[0] = next_field(p, end)
    return read_number(rank[0], &number)


cdef inline bint tab_between(Text a, Text b) noexcept nogil:
    cdef const char *end = a.start + a.length
    return end[0] == b"\t" or memchr(end, b"\t", b.start - end) != NULL


cdef int read_line(
    const char *p, const char *end, const Layout *layout, Row *row
) except -2 nogil:
    """Split a line into its columns: 1; -1 where the careful reader should look at them.

    0 where it has not as many as it should, or no number.
    """
    cdef const char *line = p
    cdef Text second, rank, number
    cdef bint numbered = True
    row.query = next_field(&p, end)
    if layout.ignored_second:
        second = next_field(&p, end)
    row.document = next_field(&p, end)
    if layout.has_rank:
        numbered = next_rank(&p, end, &rank)
    number = next_field(&p, end)
    if number.length == 0 or (next_field(&p, end).length > 0) != layout.more:
        return 0
    if not read_number(number, &row.number):
        return 0
    if row.query.start[0] == b"#" and not is_data(row, layout, second):
        return 0
    if layout.ranked:
        if not isfinite(row.number) or row.number != floor(row.number):
            return -1
        row.number = -row.number
    # A blank inside an id shifts the columns behind it.
    if not numbered:
        return -1
    if layout.ignored_second and layout.tabs and memchr(line, b"\t", end - line) != NULL:
        if not (tab_between(row.query, second) and tab_between(second, row.document)):
            return -1
        if not layout.has_rank:
            return 1 if tab_between(row.document, number) else -1
        if not (tab_between(row.document, rank) and tab_between(rank, number)):
            return -1
    return 1


cdef bint is_data(const Row *row, const Layout *layout, Text second) noexcept nogil:
    """Whether a line that begins with # and has the right columns is not a comment after all."""
    cdef Py_ssize_t i
    if not layout.ignored_second:
        return row.query.length > 1
    if second.length == 2 and (second.start[0] | 32) == b"q" and second.start[1] == b"0":
        return True
    for i in range(second.length):
        if not b"0" <= second.start[i] <= b"9":
            return False
    return True


cdef inline bint take(const Strings *column, Py_ssize_t row, Text *text) except -1 nogil:
    cdef int64_t first = column.offsets[row], stop = column.offsets[row + 1]
    if not 0 <= first <= stop <= column.length:
        with gil:
            raise ValueError("the offsets of a column do not lie in its data")
    text.start = column.start + first
    text.length = <Py_ssize_t> (stop - first)
    return True


cdef inline int next_row(Reader *reader, Row *row) except -2 nogil:
    """1 and the next row; 0 behind the last; -1 where the careful reader should look at it.

    Does not go past the row: that is step().
    """
    cdef const char *newline
    cdef int found
    if not reader.is_text:
        if reader.row == reader.n_rows:
            return 0
        take(&reader.queries, reader.row, &row.query)
        take(&reader.documents, reader.row, &row.document)
        row.number = reader.numbers[reader.row]
        return 1 if row.number == row.number else -1
    while next_line(&reader.p, reader.end, &newline):
        if newline - reader.p > LONGEST:
            return -1
        row.after = newline + 1
        found = read_line(reader.p, newline, &reader.layout, row)
        if found:
            return found
        # A comment, unless it has the query of the row before.
        if row.query.start[0] != b"#" or same(row.query, reader.latest):
            return -1
        reader.p = row.after
    return 0


cdef inline void step(Reader *reader, const Row *row) noexcept nogil:
    if reader.is_text:
        reader.p = row.after
        reader.latest = row.query
    else:
        reader.row += 1


cdef class Rows:
    """Rows of query, document and number: made by `of_lines` or `of_columns`, and not changed."""

    cdef Reader reader
    cdef bint usual
    cdef const unsigned char[::1] text
    cdef const int64_t[::1] query_offsets
    cdef const unsigned char[::1] query_bytes
    cdef const int64_t[::1] document_offsets
    cdef const unsigned char[::1] document_bytes
    cdef const double[::1] numbers

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
        cdef Rows rows = Rows.__new__(Rows)
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
        cdef Rows rows = Rows.__new__(Rows)
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


cdef struct Block:              # the rows of one query of a run
    Py_ssize_t n
    Py_ssize_t capacity
    Text *documents
    double *scores
    unsigned int *tags
    Table table                 # of the documents, in the scratch


# Judgments

cdef struct Entry:
    Text document
    unsigned int tag
    double grade


cdef int by_grade(const void *a, const void *b) noexcept nogil:
    cdef double x = (<const Entry *> a).grade
    cdef double y = (<const Entry *> b).grade
    return (x < y) - (x > y)


cdef void order_by_grade(
    Entry *entries, Py_ssize_t n, double *grades, Py_ssize_t *places
) noexcept nogil:
    """Put the entries in order, best first, and lay out their grades."""
    cdef Py_ssize_t i, place
    cdef Entry moved
    cdef bint ordered = True
    for i in range(n):
        grades[i] = entries[i].grade
        ordered = ordered and (i == 0 or grades[i] <= grades[i - 1])
    if ordered:
        return
    if places_by_grade(grades, n, places):
        for i in range(n):
            while places[i] != i:
                place = places[i]
                moved = entries[place]
                entries[place] = entries[i]
                entries[i] = moved
                places[i] = places[place]
                places[place] = place
    else:
        qsort(entries, n, sizeof(Entry), by_grade)
    for i in range(n):
        grades[i] = entries[i].grade


cdef struct Judged:             # the judgments of one query
    Text query
    unsigned int tag
    Py_ssize_t first            # entries[first .. first + n - 1], best grade first
    Py_ssize_t n
    Py_ssize_t n_sought


cdef class Columns:
    """Judgments, for the scoring of runs.

    Parameters
    ----------
    rows : Rows
        Query, document and grade of each.
    metrics : Metrics

    Attributes
    ----------
    usual : bool
        Whether the rows hold nothing that the careful reader should look at. Otherwise nothing else
        may be asked.
    queries : tuple of str

    Raises
    ------
    ValueError
        A grade has no gain.

    Notes
    -----
    Never changed once made, so several threads may use one.
    """

    cdef readonly bint usual
    cdef readonly tuple queries
    cdef Rows rows                  # hold the texts
    cdef Metrics metrics
    cdef Py_ssize_t n_queries
    cdef Judged *judged
    cdef Entry *entries
    cdef double *grades             # parallel to the entries
    cdef Table table                # of the queries

    def __cinit__(self, Rows rows not None, Metrics metrics not None):
        self.rows = rows
        self.metrics = metrics
        self.usual = rows.usual and self.read()
        self.queries = ()
        if self.usual:
            self.queries = tuple([text_of(self.judged[i].query) for i in range(self.n_queries)])

    def __dealloc__(self):
        free(self.judged)
        free(self.entries)
        free(self.grades)
        free(self.table.slots)

    cdef bint read(self) except -1:
        cdef Reader reader = self.rows.reader
        cdef Py_ssize_t n = 0, capacity = 0, current = -1, i
        cdef Row row
        cdef Entry *entry
        cdef Scratch scratch
        cdef int usual
        with nogil:
            while True:
                usual = next_row(&reader, &row)
                if usual == 1 and not isfinite(row.number):
                    usual = -1
                if usual != 1:
                    break
                step(&reader, &row)
                if n == capacity:
                    capacity = max(threshold(1024), 2 * capacity)
                    self.entries = <Entry *> reallocate(self.entries, capacity, sizeof(Entry))
                if current < 0 or not same(row.query, self.judged[current].query):
                    current = self.add_query(row.query, n)
                    if current < 0:
                        usual = -1
                        break
                entry = &self.entries[n]
                entry.document = row.document
                entry.tag = tag_of(row.document)
                entry.grade = row.number
                n += 1
                self.judged[current].n += 1
        if usual < 0 or not self.n_queries:
            return False
        self.grades = <double *> allocate(n, sizeof(double))
        start(&scratch)
        try:
            with nogil:
                for i in range(self.n_queries):
                    if not self.settle(&self.judged[i], &scratch):
                        usual = -1
                        break
        finally:
            release(&scratch)
        return usual >= 0

    cdef bint settle(self, Judged *judged, Scratch *scratch) except -1 nogil:
        """Sort the judgments of a query; False where one document is judged twice."""
        cdef Entry *entries = self.entries + judged.first
        cdef double *grades = self.grades + judged.first
        cdef Py_ssize_t i, place
        cdef Py_ssize_t n = judged.n
        cdef int what
        cdef Table table
        cdef Probe probe
        if n > 0x3FFFFFFF:
            return False
        open_table(scratch, n, 2)
        table = scratch.table
        for i in range(n):
            probe = look_for(entries[i].tag)
            while next_alike(&table, &probe):
                if same(entries[i].document, entries[probe.place].document):
                    return False
            put(&table, &probe, i)
        reserve_judged(scratch, n)
        order_by_grade(entries, n, grades, scratch.columns)
        judged.n_sought = 0
        for i in range(n):
            judged.n_sought += grades[i] >= self.metrics.plan.lowest
        what = complain(&self.metrics.plan, grades, n, &place)
        if what:
            with gil:
                raise ValueError(
                    f"query {shown(judged.query)}: document {shown(entries[place].document)}: "
                    + complaint(what, grades[place])
                )
        return True

    cdef Py_ssize_t add_query(self, Text query, Py_ssize_t first) except -2 nogil:
        """The place of a new query; -1 where it was there before."""
        cdef Probe probe
        if self.n_queries >= 0x3FFFFFFF:
            return -1
        if self.table.slots == NULL or 2 * self.n_queries > <Py_ssize_t> self.table.mask:
            self.grow()
        probe = look_for(tag_of(query))
        while next_alike(&self.table, &probe):
            if same(self.judged[probe.place].query, query):
                return -1
        put(&self.table, &probe, self.n_queries)
        self.judged[self.n_queries] = Judged(query, probe.tag, first, 0, 0)
        self.n_queries += 1
        return self.n_queries - 1

    cdef int grow(self) except -1 nogil:
        """Make room for twice as many queries."""
        cdef Py_ssize_t i, size = max(threshold(1024), 2 * (<Py_ssize_t> self.table.mask + 1))
        cdef Probe probe
        cdef Slot *slots
        self.judged = <Judged *> reallocate(self.judged, size, sizeof(Judged))
        slots = <Slot *> allocate(size, sizeof(Slot))
        free(self.table.slots)
        self.table = Table(slots, <unsigned int> (size - 1), 0)
        memset(slots, 0, size * sizeof(Slot))
        for i in range(self.n_queries):
            probe = look_for(self.judged[i].tag)
            while next_alike(&self.table, &probe):
                pass                    # no two are the same
            put(&self.table, &probe, i)
        return 0

    cdef Py_ssize_t find_query(self, Text query) noexcept nogil:
        cdef Probe probe = look_for(tag_of(query))
        while next_alike(&self.table, &probe):
            if same(self.judged[probe.place].query, query):
                return probe.place
        return -1

    def mark_answerable(self, unsigned char[::1] answerable):
        """Set a 1 for every query that has a document of grade 1 or higher."""
        cdef Py_ssize_t i
        if not self.usual or answerable.shape[0] != self.n_queries:
            raise ValueError("there are no judgments, or answerable is of the wrong shape")
        for i in range(self.n_queries):
            answerable[i] = self.grades[self.judged[i].first] >= 1.0

    def score_missing(self, double[:, :, ::1] values, const unsigned char[::1] retrieved):
        """Fill the rows of `values` for the queries that no run held, as for empty rankings."""
        cdef Py_ssize_t i
        if not self.usual:
            raise ValueError("there are no judgments")
        check_shapes(&self.metrics.plan, self.n_queries, values, retrieved)
        for i in range(self.n_queries):
            if not retrieved[i]:
                score_empty(
                    &self.metrics.plan, self.grades + self.judged[i].first, self.judged[i].n,
                    values, i,
                )

    def mapping(self):
        """Return ``{query: {document: grade}}`` for the door of mappings, ids decoded as UTF-8."""
        cdef Py_ssize_t i, j
        cdef Judged *judged
        content = {}
        for i in range(self.n_queries):
            judged = &self.judged[i]
            content[text_of(judged.query)] = {
                text_of(self.entries[j].document): self.entries[j].grade
                for j in range(judged.first, judged.first + judged.n)
            }
        return content

    def evaluate(
        self, Rows rows not None, str ties not None,
        double[:, :, ::1] values, unsigned char[::1] retrieved, list unjudged not None,
        list lost=None,
    ):
        """Score the queries of a run, or of some of its rows.

        Parameters
        ----------
        rows : Rows
            Query, document and score of each.
        ties : {"docid", "input", "expected"}
        values : float64 array, 3 x queries x metrics
            The values, and the lowest and the highest that an order of equal scores can give.
        retrieved : uint8 array, queries
            Set for every query of the rows that is judged: 1, or 3 where a document that is sought
            was found.
        unjudged : list
            Extended by the queries of the rows that are not.
        lost : list, optional
            Extended by (query, sought document, retrieved document) of one query for which none
            was found.

        Returns
        -------
        bool
            Whether the rows hold nothing that the careful reader should look at, such as a query
            whose rows do not stand together. Otherwise what was filled in means nothing.
        """
        cdef Reader reader = rows.reader
        cdef Block block
        cdef Scratch scratch
        cdef Text *strangers = NULL         # queries that are not judged
        cdef Text example[3]
        cdef Py_ssize_t i, n_strangers = 0
        cdef int usual = 1
        cdef Ties order = ties_of(ties)
        if not self.usual:
            raise ValueError("there are no judgments")
        check_shapes(&self.metrics.plan, self.n_queries, values, retrieved)
        self.metrics.require_expectations(order == EXPECTED)
        if not rows.usual:
            return False
        example[0].start = NULL
        start(&scratch)
        memset(&block, 0, sizeof(Block))
        try:
            with nogil:
                while usual == 1:
                    usual = self.score_next(
                        &reader, order, &block, &scratch, &values[0, 0, 0], &retrieved[0],
                        &strangers, &n_strangers, example,
                    )
            for i in range(n_strangers):
                unjudged.append(text_of(strangers[i]))
            if lost is not None and example[0].start != NULL:
                lost.append((text_of(example[0]), text_of(example[1]), text_of(example[2])))
        finally:
            release(&scratch)
            free(block.documents)
            free(strangers)
        return usual == 0

    cdef int score_next(
        self, Reader *reader, Ties order, Block *block, Scratch *scratch,
        double *values, unsigned char *retrieved, Text **strangers, Py_ssize_t *n_strangers,
        Text *example,
    ) except -2 nogil:
        """Score the next query: 1; 0 where there is none; -1 for the careful reader."""
        cdef Text query
        cdef Judged *judged
        cdef Py_ssize_t place, n_tasks = self.metrics.plan.n_tasks
        if not read_block(reader, &query, block, scratch):
            return -1
        if block.n == 0:
            return 0
        place = self.find_query(query)
        if place >= 0:
            if retrieved[place]:
                return -1
            values += place * n_tasks
            judged = &self.judged[place]
            if self.score(
                place, block, order, scratch,
                Values(
                    values, values + self.n_queries * n_tasks,
                    values + 2 * self.n_queries * n_tasks,
                ),
            ):
                retrieved[place] = 3
            else:
                retrieved[place] = 1
                if judged.n_sought and self.grades[judged.first] >= 1.0:
                    example[0] = query
                    example[1] = self.entries[judged.first].document
                    example[2] = block.documents[0]
            return 1
        if n_strangers[0] % 1024 == 0:
            strangers[0] = <Text *> reallocate(
                strangers[0], n_strangers[0] + 1024, sizeof(Text)
            )
        strangers[0][n_strangers[0]] = query
        n_strangers[0] += 1
        return 1

    cdef bint score(
        self, Py_ssize_t place, Block *block, Ties order, Scratch *scratch, Values values
    ) except -1 nogil:
        """Score one query, whose documents are in a table; returns whether a relevant one was
        found."""
        cdef Judged *judged = &self.judged[place]
        cdef Entry *entries = self.entries + judged.first
        cdef const Plan *plan = &self.metrics.plan
        cdef Query record
        cdef Py_ssize_t i, n_found = 0
        cdef bint any_found
        cdef Probe probe
        reserve_judged(scratch, judged.n_sought)
        for i in range(judged.n_sought):
            probe = look_for(entries[i].tag)
            while next_alike(&block.table, &probe):
                if same(block.documents[probe.place], entries[i].document):
                    scratch.found[n_found].place = probe.place
                    scratch.found[n_found].score = block.scores[probe.place]
                    scratch.found[n_found].grade = entries[i].grade
                    n_found += 1
                    break
        record.n_retrieved = block.n
        record.n_judged = judged.n
        record.n_ideal = judged.n_sought
        record.ideal = self.grades + judged.first
        n_found = place_found[double](
            block.scores, block.n, scratch, n_found, plan, order == BY_INPUT
        )
        any_found = any_relevant(scratch, n_found)
        if order == BY_ID and any_tied(scratch, n_found):
            break_ties(block, scratch, n_found)
        score_found(plan, order == EXPECTED, scratch, n_found, &record, &values)
        return any_found


# Runs

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
    cdef Row row
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


cdef int compare_texts(Text a, Text b) noexcept nogil:
    cdef int order = memcmp(a.start, b.start, min(a.length, b.length))
    return order if order else (a.length > b.length) - (a.length < b.length)


# A document whose score a found one shares.
cdef struct Tied:
    double score
    Text document


cdef int by_score_and_id(const void *a, const void *b) noexcept nogil:
    """High to low, ids in the order of bytes."""
    cdef const Tied *x = <const Tied *> a
    cdef const Tied *y = <const Tied *> b
    if x.score != y.score:
        return -1 if x.score > y.score else 1
    return compare_texts(y.document, x.document)


cdef int break_ties(Block *block, Scratch *scratch, Py_ssize_t n_found) except -1 nogil:
    """Rank found documents, sorted by score, that share theirs: by id, high to low."""
    cdef Found *found = scratch.found
    cdef double *scores = scratch.targets       # those that are shared, high to low
    cdef Py_ssize_t i, first, low, high, middle, n_scores = 0, n_tied = 0
    cdef Tied *tied
    cdef Tied sought
    for i in range(n_found):
        if found[i].tied > 1 and (n_scores == 0 or scores[n_scores - 1] != found[i].score):
            scores[n_scores] = found[i].score
            n_scores += 1
            n_tied += found[i].tied
    tied = <Tied *> allocate(n_tied, sizeof(Tied))
    n_tied = 0
    for i in range(block.n):
        first = 0
        high = n_scores - 1
        while first < high:
            middle = (first + high) // 2
            if scores[middle] > block.scores[i]:
                first = middle + 1
            else:
                high = middle
        if scores[first] == block.scores[i]:
            tied[n_tied] = Tied(block.scores[i], block.documents[i])
            n_tied += 1
    qsort(tied, n_tied, sizeof(Tied), by_score_and_id)
    first = 0                                   # of the group
    for i in range(n_found):
        if found[i].tied < 2:
            continue
        while first < n_tied and tied[first].score > found[i].score:
            first += 1
        sought = Tied(found[i].score, block.documents[found[i].place])
        low = first
        high = n_tied - 1
        while low < high:
            middle = (low + high) // 2
            if by_score_and_id(&tied[middle], &sought) < 0:
                low = middle + 1
            else:
                high = middle
        found[i].rank = found[i].above + low - first + 1
    free(tied)
    return 0


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
