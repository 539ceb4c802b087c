"""The door for files: judgments and runs as TREC text, with ids as bytes.

Blocks of text are scored where they lie, without an object of Python for each line and without the
GIL. This is the fast way through the files that nothing is wrong with: what is unusual (interleaved
queries, a line that is not as it should be, a document twice) is not described here but left to the
careful reader, which gives the same digits or says what is wrong.
"""

from os import urandom

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.math cimport isfinite
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

from rankmeter._core.kernels cimport Metrics, complain
from rankmeter._core.query cimport Plan, Query, Values
from rankmeter._core.ranks cimport (
    BY_ID, BY_INPUT, EXPECTED, Found, Scratch, Slot, Ties, any_tied, empty_slots, place_found,
    release, reserve_judged, score_found, start, ties_of,
)


cdef extern from "decimal.h":
    bint rankmeter_decimal(const char *text, Py_ssize_t length, double *number) noexcept nogil


cdef uint64_t SEED = int.from_bytes(urandom(8), "little")


cdef struct Text:               # bytes that somebody else owns
    const char *start
    Py_ssize_t length


cdef struct Line:
    Text query
    Text document
    Text number


cdef inline bint same(Text a, Text b) noexcept nogil:
    return a.length == b.length and memcmp(a.start, b.start, a.length) == 0


cdef inline bint is_blank(char letter) noexcept nogil:
    """What separates columns: the blanks of ASCII."""
    return letter == b" " or 9 <= letter <= 13


cdef inline uint64_t hash_of(Text text) noexcept nogil:
    """Eight bytes at a time. Equal hashes are checked against the bytes, so that no result depends
    on the seed; without one, a file could be made of ids that all collide."""
    cdef uint64_t mixed = SEED ^ (<uint64_t> text.length * <uint64_t> 0x9E3779B97F4A7C15)
    cdef uint64_t part
    cdef const char *p = text.start
    cdef Py_ssize_t left = text.length
    while left >= 8:
        memcpy(&part, p, 8)
        mixed = (mixed ^ part) * <uint64_t> 0xD6E8FEB86659FD93
        mixed ^= mixed >> 32
        p += 8
        left -= 8
    part = 0
    if left:
        memcpy(&part, p, left)
        mixed = (mixed ^ part) * <uint64_t> 0xD6E8FEB86659FD93
        mixed ^= mixed >> 32
    return mixed * <uint64_t> 0x9E3779B97F4A7C15


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


cdef bint read_line(
    const char *p, const char *end, bint is_run, Line *line
) noexcept nogil:
    """Split a line into its columns; False where it has not as many as it should."""
    line.query = next_field(&p, end)
    next_field(&p, end)
    line.document = next_field(&p, end)
    if is_run:
        next_field(&p, end)
    line.number = next_field(&p, end)
    if is_run:
        return next_field(&p, end).length > 0
    return line.number.length > 0 and next_field(&p, end).length == 0


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


def number_of(bytes text):
    """The number that a column holds, or None where it holds none."""
    cdef double number
    if not read_number(Text(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)), &number):
        return None
    return number


cdef struct Block:              # the lines of one query of a run
    Py_ssize_t n
    Py_ssize_t capacity
    Text *documents
    uint64_t *hashes
    double *scores
    unsigned int mask           # of the hash table in the scratch


# Judgments

cdef struct Entry:
    Text document
    uint64_t hash
    double grade


cdef int by_grade(const void *a, const void *b) noexcept nogil:
    cdef double x = (<const Entry *> a).grade
    cdef double y = (<const Entry *> b).grade
    return (x < y) - (x > y)


cdef struct Judged:             # the judgments of one query
    Text query
    uint64_t hash
    Py_ssize_t first            # entries[first .. first + n - 1], best grade first
    Py_ssize_t n
    Py_ssize_t n_sought


cdef class Columns:
    """The judgments of a text of qrels, for the scoring of texts of runs.

    Parameters
    ----------
    text : bytes
        Query, iteration, document and grade in each line.
    metrics : Metrics

    Attributes
    ----------
    usual : bool
        Whether the text holds nothing that the careful reader should look at. Otherwise nothing
        else may be asked.
    queries : tuple of bytes

    Notes
    -----
    Never changed once made, so several threads may use one.
    """

    cdef readonly bint usual
    cdef readonly tuple queries
    cdef bytes text
    cdef Metrics metrics
    cdef Py_ssize_t n_queries
    cdef Judged *judged
    cdef Entry *entries
    cdef double *grades             # parallel to the entries
    cdef Slot *slots                # from the hash of a query to its place + 1
    cdef unsigned int mask

    def __cinit__(self, bytes text not None, Metrics metrics not None):
        self.text = text
        self.metrics = metrics
        self.usual = self.read()
        self.queries = ()
        if self.usual:
            self.queries = tuple([
                self.judged[i].query.start[:self.judged[i].query.length]
                for i in range(self.n_queries)
            ])

    def __dealloc__(self):
        free(self.judged)
        free(self.entries)
        free(self.grades)
        free(self.slots)

    cdef bint read(self) except -1:
        cdef const char *p = PyBytes_AS_STRING(self.text)
        cdef const char *end = p + PyBytes_GET_SIZE(self.text)
        cdef const char *newline
        cdef Py_ssize_t n = 0, capacity = 0, current = -1, i
        cdef Line line
        cdef double grade
        cdef void *grown
        cdef Entry *entry
        cdef Scratch scratch
        cdef bint usual = True
        with nogil:
            while next_line(&p, end, &newline):
                if (
                    not read_line(p, newline, False, &line)
                    or not read_number(line.number, &grade) or not isfinite(grade)
                ):
                    usual = False
                    break
                p = newline + 1
                if n == capacity:
                    capacity = max(1024, 2 * capacity)
                    grown = realloc(self.entries, capacity * sizeof(Entry))
                    if grown == NULL:
                        with gil:
                            raise MemoryError()
                    self.entries = <Entry *> grown
                if current < 0 or not same(line.query, self.judged[current].query):
                    current = self.add_query(line.query, n)
                    if current < 0:
                        usual = False
                        break
                entry = &self.entries[n]
                entry.document = line.document
                entry.hash = hash_of(line.document)
                entry.grade = grade
                n += 1
                self.judged[current].n += 1
        if not usual or not self.n_queries:
            return False
        self.grades = <double *> malloc(n * sizeof(double))
        if self.grades == NULL:
            raise MemoryError()
        start(&scratch)
        try:
            with nogil:
                for i in range(self.n_queries):
                    usual = usual and self.settle(&self.judged[i], &scratch)
        finally:
            release(&scratch)
        return usual

    cdef bint settle(self, Judged *judged, Scratch *scratch) except -1 nogil:
        """Sort the judgments of a query; False where one document is judged twice."""
        cdef Entry *entries = self.entries + judged.first
        cdef double *grades = self.grades + judged.first
        cdef Py_ssize_t i, j, place
        cdef Py_ssize_t n = judged.n
        cdef Slot *slots
        cdef unsigned int tag, slot, mask
        cdef Py_ssize_t size = 16
        if n > 0x3FFFFFFF:
            return False
        while size < 2 * n:
            size *= 2
        slots = empty_slots(scratch, size, n)
        mask = <unsigned int> (size - 1)
        for i in range(n):
            tag = <unsigned int> (entries[i].hash >> 32)
            slot = tag & mask
            while slots[slot].place > scratch.base:
                j = slots[slot].place - scratch.base - 1
                if slots[slot].tag == tag and same(entries[i].document, entries[j].document):
                    return False
                slot = (slot + 1) & mask
            slots[slot].tag = tag
            slots[slot].place = <int> (scratch.base + i + 1)
        for i in range(1, n):
            if entries[i].grade > entries[i - 1].grade:
                qsort(entries, n, sizeof(Entry), by_grade)
                break
        judged.n_sought = 0
        for i in range(n):
            grades[i] = entries[i].grade
            judged.n_sought += grades[i] >= self.metrics.plan.lowest
        return complain(&self.metrics.plan, grades, n, &place) == 0

    cdef Py_ssize_t add_query(self, Text query, Py_ssize_t first) except -2 nogil:
        """The place of a new query; -1 where it was there before."""
        cdef uint64_t hash = hash_of(query)
        cdef unsigned int tag = <unsigned int> (hash >> 32), slot
        cdef Py_ssize_t i, size
        cdef void *grown
        if self.n_queries >= 0x3FFFFFFF:
            return -1
        size = <Py_ssize_t> self.mask + 1
        if self.slots == NULL or 2 * (self.n_queries + 1) > size:
            size = 1024 if self.slots == NULL else 2 * size
            grown = realloc(self.judged, size * sizeof(Judged))
            if grown == NULL:
                with gil:
                    raise MemoryError()
            self.judged = <Judged *> grown
            free(self.slots)
            self.slots = <Slot *> malloc(size * sizeof(Slot))
            if self.slots == NULL:
                with gil:
                    raise MemoryError()
            memset(self.slots, 0, size * sizeof(Slot))
            self.mask = <unsigned int> (size - 1)
            for i in range(self.n_queries):
                slot = <unsigned int> (self.judged[i].hash >> 32) & self.mask
                while self.slots[slot].place:
                    slot = (slot + 1) & self.mask
                self.slots[slot].tag = <unsigned int> (self.judged[i].hash >> 32)
                self.slots[slot].place = <int> (i + 1)
        slot = tag & self.mask
        while self.slots[slot].place:
            i = self.slots[slot].place - 1
            if self.slots[slot].tag == tag and same(self.judged[i].query, query):
                return -1
            slot = (slot + 1) & self.mask
        self.slots[slot].tag = tag
        self.slots[slot].place = <int> (self.n_queries + 1)
        self.judged[self.n_queries] = Judged(query, hash, first, 0, 0)
        self.n_queries += 1
        return self.n_queries - 1

    cdef Py_ssize_t find_query(self, Text query) noexcept nogil:
        cdef unsigned int tag = <unsigned int> (hash_of(query) >> 32)
        cdef unsigned int slot = tag & self.mask
        cdef Py_ssize_t i
        while self.slots[slot].place:
            i = self.slots[slot].place - 1
            if self.slots[slot].tag == tag and same(self.judged[i].query, query):
                return i
            slot = (slot + 1) & self.mask
        return -1

    def mark_answerable(self, unsigned char[::1] answerable):
        """Set a 1 for every query that has a document of grade 1 or higher."""
        cdef Py_ssize_t i
        for i in range(min(self.n_queries, answerable.shape[0])):
            answerable[i] = self.grades[self.judged[i].first] >= 1.0

    def evaluate(
        self, const unsigned char[::1] text not None, Py_ssize_t length, str ties not None,
        double[:, :, ::1] values, unsigned char[::1] retrieved, list unjudged not None,
    ):
        """Score the queries of a text of a run.

        Parameters
        ----------
        text : buffer
            Query, Q0, document, rank, score, tag and perhaps more in each line.
        length : int
            How much of the buffer is text.
        ties : {"docid", "input", "expected"}
        values : float64 array, 3 x queries x metrics
            The values, and the lowest and the highest that an order of equal scores can give.
        retrieved : uint8 array, queries
            Set for every query of the text that is judged.
        unjudged : list
            Extended by the queries of the text that are not, as bytes.

        Returns
        -------
        bool
            Whether the text holds nothing that the careful reader should look at, such as a query
            whose lines do not stand together. Otherwise what was filled in means nothing.
        """
        cdef const char *p
        cdef const char *end
        cdef Block block
        cdef Scratch scratch
        cdef Text *strangers = NULL         # queries that are not judged
        cdef Py_ssize_t i, n_strangers = 0
        cdef int usual = 1
        cdef Ties order = ties_of(ties)
        if (
            not self.usual
            or values.shape[0] != 3
            or values.shape[1] != self.n_queries
            or values.shape[2] != self.metrics.plan.n_tasks
            or retrieved.shape[0] != self.n_queries
        ):
            raise ValueError("values or retrieved are of the wrong shape")
        if not 0 <= length <= text.shape[0]:
            raise ValueError("the text is not so long")
        if length == 0:
            return True
        p = <const char *> &text[0]
        end = p + length
        start(&scratch)
        memset(&block, 0, sizeof(Block))
        try:
            with nogil:
                while usual and p < end:
                    usual = self.score_next(
                        &p, end, order, &block, &scratch, &values[0, 0, 0], &retrieved[0],
                        &strangers, &n_strangers,
                    )
            for i in range(n_strangers):
                unjudged.append(strangers[i].start[:strangers[i].length])
        finally:
            release(&scratch)
            free(block.documents)
            free(strangers)
        return bool(usual)

    cdef int score_next(
        self, const char **position, const char *end, Ties order, Block *block, Scratch *scratch,
        double *values, unsigned char *retrieved, Text **strangers, Py_ssize_t *n_strangers,
    ) except -1 nogil:
        """Score the next query of a text; 0 where the careful reader should look at it."""
        cdef Text query
        cdef Py_ssize_t place, n_tasks = self.metrics.plan.n_tasks
        cdef void *grown
        if not read_block(position, end, &query, block, scratch):
            return 0
        if block.n == 0:
            return 1
        place = self.find_query(query)
        if place >= 0:
            if retrieved[place]:
                return 0
            retrieved[place] = 1
            values += place * n_tasks
            self.score(
                place, block, order, scratch,
                Values(
                    values, values + self.n_queries * n_tasks,
                    values + 2 * self.n_queries * n_tasks,
                ),
            )
            return 1
        if n_strangers[0] % 1024 == 0:
            grown = realloc(strangers[0], (n_strangers[0] + 1024) * sizeof(Text))
            if grown == NULL:
                with gil:
                    raise MemoryError()
            strangers[0] = <Text *> grown
        strangers[0][n_strangers[0]] = query
        n_strangers[0] += 1
        return 1

    cdef int score(
        self, Py_ssize_t place, Block *block, Ties order, Scratch *scratch, Values values
    ) except -1 nogil:
        """Score one query, whose documents are in the hash table of the scratch."""
        cdef Judged *judged = &self.judged[place]
        cdef Entry *entries = self.entries + judged.first
        cdef const Plan *plan = &self.metrics.plan
        cdef Query record
        cdef Py_ssize_t i, j, n_found = 0
        cdef unsigned int tag, slot
        reserve_judged(scratch, judged.n_sought)
        for i in range(judged.n_sought):
            tag = <unsigned int> (entries[i].hash >> 32)
            slot = tag & block.mask
            while scratch.slots[slot].place > scratch.base:
                j = scratch.slots[slot].place - scratch.base - 1
                if scratch.slots[slot].tag == tag and same(
                    block.documents[j], entries[i].document
                ):
                    scratch.found[n_found].place = j
                    scratch.found[n_found].score = block.scores[j]
                    scratch.found[n_found].grade = entries[i].grade
                    n_found += 1
                    break
                slot = (slot + 1) & block.mask
        record.n_retrieved = block.n
        record.n_judged = judged.n
        record.n_ideal = judged.n_sought
        record.ideal = self.grades + judged.first
        n_found = place_found[double](
            block.scores, block.n, scratch, n_found, plan, order == BY_INPUT
        )
        if order == BY_ID and any_tied(scratch, n_found):
            break_ties(block, scratch, n_found)
        return score_found(plan, order == EXPECTED, scratch, n_found, &record, &values)


# Runs

cdef int reserve_block(Block *block, Py_ssize_t n) except -1 nogil:
    """Keep what is there; the three arrays lie in one piece of memory."""
    cdef Py_ssize_t size = sizeof(Text) + sizeof(uint64_t) + sizeof(double)
    cdef Block larger
    if n <= block.capacity:
        return 0
    larger.n = block.n
    larger.mask = block.mask
    larger.capacity = max(2 * n, 1024)
    larger.documents = <Text *> malloc(larger.capacity * size)
    if larger.documents == NULL:
        with gil:
            raise MemoryError()
    larger.hashes = <uint64_t *> (larger.documents + larger.capacity)
    larger.scores = <double *> (larger.hashes + larger.capacity)
    if block.n:
        memcpy(larger.documents, block.documents, block.n * sizeof(Text))
        memcpy(larger.hashes, block.hashes, block.n * sizeof(uint64_t))
        memcpy(larger.scores, block.scores, block.n * sizeof(double))
    free(block.documents)
    block[0] = larger
    return 0


cdef int read_block(
    const char **position, const char *end, Text *query, Block *block, Scratch *scratch
) except -1 nogil:
    """Read the lines of one query, and put its documents into a hash table.

    Returns 0 where the careful reader should look at them. `block.n` is 0 at the end of the text.
    """
    cdef const char *p = position[0]
    cdef const char *newline
    cdef Line line
    cdef Py_ssize_t i, j, size = 16
    cdef unsigned int tag, slot
    cdef Slot *slots
    block.n = 0
    while next_line(&p, end, &newline):
        if not read_line(p, newline, True, &line):
            return 0
        if block.n == 0:
            query[0] = line.query
        elif not same(line.query, query[0]):
            break
        p = newline + 1
        reserve_block(block, block.n + 1)
        if not read_number(line.number, &block.scores[block.n]):
            return 0
        block.documents[block.n] = line.document
        block.hashes[block.n] = hash_of(line.document)
        block.n += 1
    position[0] = p
    if block.n > 0x3FFFFFFF:
        return 0
    while size < 2 * block.n:
        size *= 2
    slots = empty_slots(scratch, size, block.n)
    block.mask = <unsigned int> (size - 1)
    for i in range(block.n):
        tag = <unsigned int> (block.hashes[i] >> 32)
        slot = tag & block.mask
        while slots[slot].place > scratch.base:
            j = slots[slot].place - scratch.base - 1
            if slots[slot].tag == tag and same(block.documents[i], block.documents[j]):
                return 0
            slot = (slot + 1) & block.mask
        slots[slot].tag = tag
        slots[slot].place = <int> (scratch.base + i + 1)
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
    tied = <Tied *> malloc(n_tied * sizeof(Tied))
    if tied == NULL:
        with gil:
            raise MemoryError()
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
    newline is no line yet, and is not looked at.
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
            return line_end - first
    return 0
