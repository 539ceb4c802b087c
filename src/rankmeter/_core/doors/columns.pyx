"""The door for files and tables: judgments and runs as rows.

This is the fast way through the input that nothing is wrong with. Rows are *usual* if those of a
query stand together, if each line is as it should be and no document stands twice. Any others are
left to the careful reader (rankmeter.doors), which gives the same digits or says what is wrong.
"""

from libc.math cimport isfinite
from libc.stdlib cimport free, qsort
from libc.string cimport memcmp, memset

from rankmeter._core.doors.text_rows cimport (
    Block, Names, Reader, Text, TextRow, TextRows, add_name, find_name, next_row, read_block,
    release_names, same, shown, step, text_of,
)
from rankmeter._core.driver cimport Metrics, check_shapes, complain, complaint, score_empty
from rankmeter._core.grades cimport places_by_grade
from rankmeter._core.ids cimport Probe, Table, look_for, next_alike, put
from rankmeter._core.memory cimport allocate, reallocate
from rankmeter._core.query cimport Plan, Query, Values
from rankmeter._core.ranks cimport (
    BY_ID, BY_INPUT, EXPECTED, Ties, any_relevant, any_tied, place_found, score_found, ties_of,
)
from rankmeter._core.scratch cimport Found, Scratch, open_table, release, reserve_judged, start


cdef extern from "thresholds.h":
    Py_ssize_t threshold "RANKMETER_THRESHOLD" (Py_ssize_t usual) noexcept nogil

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


cdef struct JudgedQuery:             # the judgments of one query
    Text query
    Py_ssize_t first            # entries[first .. first + n - 1], best grade first
    Py_ssize_t n
    Py_ssize_t n_sought


cdef class JudgedRows:
    """Judgments, for the scoring of runs.

    Parameters
    ----------
    rows : TextRows
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
    cdef TextRows rows                  # hold the texts
    cdef Metrics metrics
    cdef Py_ssize_t n_queries
    cdef JudgedQuery *judged
    cdef Entry *entries
    cdef double *grades             # parallel to the entries
    cdef Py_ssize_t capacity        # of the judged
    cdef Names names                # of the queries

    def __cinit__(self, TextRows rows not None, Metrics metrics not None):
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
        release_names(&self.names)

    cdef bint read(self) except -1:
        cdef Reader reader = self.rows.reader
        cdef Py_ssize_t n = 0, capacity = 0, current = -1, i
        cdef TextRow row
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
                entry.tag = row.tag
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
                    if not self.sort_judgments(&self.judged[i], &scratch):
                        usual = -1
                        break
        finally:
            release(&scratch)
        return usual >= 0

    cdef bint sort_judgments(self, JudgedQuery *judged, Scratch *scratch) except -1 nogil:
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
        cdef Py_ssize_t place
        if find_name(&self.names, query) >= 0:
            return -1
        place = add_name(&self.names, query)
        if place == self.capacity:
            self.capacity = max(threshold(1024), 2 * self.capacity)
            self.judged = <JudgedQuery *> reallocate(
                self.judged, self.capacity, sizeof(JudgedQuery)
            )
        self.judged[place] = JudgedQuery(query, first, 0, 0)
        self.n_queries += 1
        return place

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
        cdef JudgedQuery *judged
        content = {}
        for i in range(self.n_queries):
            judged = &self.judged[i]
            content[text_of(judged.query)] = {
                text_of(self.entries[j].document): self.entries[j].grade
                for j in range(judged.first, judged.first + judged.n)
            }
        return content

    def evaluate(
        self, TextRows rows not None, str ties not None,
        double[:, :, ::1] values, unsigned char[::1] retrieved, list unjudged not None,
        list lost=None,
    ):
        """Score the queries of a run, or of some of its rows.

        Parameters
        ----------
        rows : TextRows
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
        cdef Text *unknown = NULL         # queries that are not judged
        cdef Text example[3]
        cdef Py_ssize_t i, n_unknown = 0
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
                        &unknown, &n_unknown, example,
                    )
            for i in range(n_unknown):
                unjudged.append(text_of(unknown[i]))
            if lost is not None and example[0].start != NULL:
                lost.append((text_of(example[0]), text_of(example[1]), text_of(example[2])))
        finally:
            release(&scratch)
            free(block.documents)
            free(unknown)
        return usual == 0

    cdef int score_next(
        self, Reader *reader, Ties order, Block *block, Scratch *scratch,
        double *values, unsigned char *retrieved, Text **unknown, Py_ssize_t *n_unknown,
        Text *example,
    ) except -2 nogil:
        """Score the next query: 1; 0 where there is none; -1 for the careful reader."""
        cdef Text query
        cdef JudgedQuery *judged
        cdef Py_ssize_t place, n_tasks = self.metrics.plan.n_tasks
        if not read_block(reader, &query, block, scratch):
            return -1
        if block.n == 0:
            return 0
        place = find_name(&self.names, query)
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
        if n_unknown[0] % 1024 == 0:
            unknown[0] = <Text *> reallocate(
                unknown[0], n_unknown[0] + 1024, sizeof(Text)
            )
        unknown[0][n_unknown[0]] = query
        n_unknown[0] += 1
        return 1

    cdef bint score(
        self, Py_ssize_t place, Block *block, Ties order, Scratch *scratch, Values values
    ) except -1 nogil:
        """Score one query, whose documents are in a table; returns whether a relevant one was
        found."""
        cdef JudgedQuery *judged = &self.judged[place]
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


# Equal scores

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
