"""How a row is read, and what it is read into. Inline, since it is done for every row."""

from libc.math cimport floor, isfinite
from libc.stdint cimport int64_t
from libc.string cimport memchr, memcmp

from rankmeter._core.ids cimport Table, mix_bytes
from rankmeter._core.scratch cimport Scratch


cdef extern from "doors/decimal.h":
    bint rankmeter_decimal(const char *text, Py_ssize_t length, double *number) noexcept nogil

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define rankmeter_prefetch(address) __builtin_prefetch(address)
    #else
    #define rankmeter_prefetch(address) ((void) (address))
    #endif
    """
    void prefetch "rankmeter_prefetch" (const void *address) noexcept nogil

cdef enum:
    LONGEST = 1 << 20           # bytes of a line
    AHEAD = 8                   # rows that are asked for before the first is needed


cdef struct Text:               # bytes that somebody else owns
    const char *start
    Py_ssize_t length


cdef struct TextRow:
    Text query
    Text document
    double number
    unsigned int tag            # of the document
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


# A line that was read already.
cdef struct KeptRow:
    Text document
    double number
    unsigned int tag


cdef struct Reader:             # goes through lines or the rows of columns, perhaps put in order
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
    const int *order            # [n_rows] NULL, or of the rows, those of a query together
    const KeptRow *kept         # lines, if they are put in order
    const Text *names           # of the queries, then
    const int *ends             # row behind the last of each
    Py_ssize_t query


cdef struct Names:              # of queries, each once
    Py_ssize_t n
    Text *texts
    Table table


cdef struct Block:              # the rows of one query of a run
    Py_ssize_t n
    Py_ssize_t capacity
    Text *documents
    double *scores
    unsigned int *tags
    Table table                 # of the documents, in the scratch


cdef class TextRows:
    cdef Reader reader
    cdef TextRows source            # of rows put in order: they hold the texts
    cdef KeptRow *kept
    cdef int *queries               # the number of the query of each row
    cdef int *order
    cdef int *ends
    cdef Names names                # of the queries
    cdef bint usual
    cdef const unsigned char[::1] text
    cdef const int64_t[::1] query_offsets
    cdef const unsigned char[::1] query_bytes
    cdef const int64_t[::1] document_offsets
    cdef const unsigned char[::1] document_bytes
    cdef const double[::1] numbers

    cdef Py_ssize_t keep_lines(self, Reader reader) except -2 nogil
    cdef Py_ssize_t number_rows(self, const Reader *reader) except -2 nogil
    cdef int sort(self, Py_ssize_t n) except -1 nogil


cdef inline bint same(Text a, Text b) noexcept nogil:
    return a.length == b.length and memcmp(a.start, b.start, a.length) == 0


cdef inline unsigned int tag_of(Text text) noexcept nogil:
    return <unsigned int> (mix_bytes(text.start, text.length) >> 32)


cdef inline bint is_blank(char letter) noexcept nogil:
    """What separates columns: the blanks of ASCII."""
    return letter == b" " or 9 <= letter <= 13


cdef inline Text next_field(const char **p, const char *end) noexcept nogil:
    cdef Text field
    while p[0] < end and is_blank(p[0][0]):
        p[0] += 1
    field.start = p[0]
    while p[0] < end and not is_blank(p[0][0]):
        p[0] += 1
    field.length = p[0] - field.start
    return field


cdef inline bint next_line(
    const char **p, const char *end, const char **line, const char **line_end
) noexcept nogil:
    """Go to the first letter of the next line that is not blank; False where there is none."""
    while p[0] < end:
        line[0] = p[0]
        line_end[0] = <const char *> memchr(p[0], b"\n", end - p[0])
        if line_end[0] == NULL:
            line_end[0] = end
        while p[0] < line_end[0] and is_blank(p[0][0]):
            p[0] += 1
        if p[0] < line_end[0]:
            return True
        p[0] += 1
    return False


cdef inline int read_number_slowly(Text text, double *number) except -1 with gil:
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


cdef inline int read_line(
    const char *p, const char *end, const Layout *layout, TextRow *row
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


cdef inline bint is_data(const TextRow *row, const Layout *layout, Text second) noexcept nogil:
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


cdef inline int next_in_order(Reader *reader, TextRow *row) except -2 nogil:
    cdef Py_ssize_t place, ahead
    if reader.row == reader.n_rows:
        return 0
    while reader.row == reader.ends[reader.query]:
        reader.query += 1
    row.query = reader.names[reader.query]
    place = reader.order[reader.row]
    ahead = reader.order[min(reader.row + AHEAD, reader.n_rows - 1)]
    if reader.kept != NULL:
        prefetch(&reader.kept[ahead])
        row.document = reader.kept[place].document
        row.number = reader.kept[place].number
        row.tag = reader.kept[place].tag
        return 1
    prefetch(&reader.documents.offsets[ahead])
    prefetch(&reader.numbers[ahead])
    ahead = reader.order[min(reader.row + AHEAD // 2, reader.n_rows - 1)]
    prefetch(reader.documents.start + reader.documents.offsets[ahead])
    take(&reader.documents, place, &row.document)
    row.number = reader.numbers[place]
    row.tag = tag_of(row.document)
    return 1 if row.number == row.number else -1


cdef inline int next_row(Reader *reader, TextRow *row) except -2 nogil:
    """1 and the next row; 0 behind the last; -1 where the careful reader should look at it.

    Does not go past the row: that is step().
    """
    cdef const char *line
    cdef const char *newline
    cdef int found
    if not reader.is_text:
        if reader.order != NULL:
            return next_in_order(reader, row)
        if reader.row == reader.n_rows:
            return 0
        take(&reader.queries, reader.row, &row.query)
        take(&reader.documents, reader.row, &row.document)
        row.number = reader.numbers[reader.row]
        row.tag = tag_of(row.document)
        return 1 if row.number == row.number else -1
    while next_line(&reader.p, reader.end, &line, &newline):
        if newline - line > LONGEST:
            return -1
        row.after = newline + 1
        found = read_line(reader.p, newline, &reader.layout, row)
        if found:
            row.tag = tag_of(row.document)
            return found
        # A comment, unless it has the query of the row before.
        if row.query.start[0] != b"#" or same(row.query, reader.latest):
            return -1
        reader.p = row.after
    return 0


cdef inline void step(Reader *reader, const TextRow *row) noexcept nogil:
    if reader.is_text:
        reader.p = row.after
        reader.latest = row.query
    else:
        reader.row += 1


cdef void release_names(Names *names) noexcept nogil
cdef Py_ssize_t find_name(const Names *names, Text text) noexcept nogil
cdef Py_ssize_t add_name(Names *names, Text text) except -1 nogil
cdef int read_block(Reader *reader, Text *query, Block *block, Scratch *scratch) except -1 nogil
cdef str text_of(Text id_)
cdef str shown(Text text)
