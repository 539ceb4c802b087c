"""The door for Python's own containers: judgments that are mappings, for runs that are.

rankings.pyx reads the runs.
"""

cimport cython
from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free, qsort
from libc.string cimport memcpy, memset

from rankmeter._core.doors.containers cimport (
    Kind, PyFloat_Type, PyListObject, has_items_of_dict, number_of, prefetch, read_double,
    read_integer, read_known,
)
from rankmeter._core.doors.rankings cimport ALONE, keeps_first, locate, rank_any, unwrapped
from rankmeter._core.driver cimport (
    Metrics, check_shapes, complain, complaint, plan_of, score_empty, start_task,
)
from rankmeter._core.grades cimport places_by_grade
from rankmeter._core.ids cimport all_text, check_ids, is_exact_id, no_id, why_no_id
from rankmeter._core.memory cimport allocate, reallocate
from rankmeter._core.metrics.rows cimport MetricRow, set_parameter
from rankmeter._core.query cimport Plan, Query, Task, Values
from rankmeter._core.ranks cimport (
    BY_INPUT, EXPECTED, Ties, any_relevant, finish, score_found, ties_of,
)
from rankmeter._core.scratch cimport Scratch, release, start

from rankmeter._core.ids import list_of, maps_ids

cdef object ONE = 1


# Judgments

cdef struct JudgedDocument:
    PyObject *document
    double grade


# The judgments of one query. The documents are owned: the caller's code may run, and let go of
# them, before the query is done. Zeroed before the first use; empty() before the memory is freed.
cdef struct Pool:
    Py_ssize_t n
    Py_ssize_t capacity
    JudgedDocument *judged          # as read
    PyObject **documents    # best grade first
    double *grades          # high to low
    Py_ssize_t *places      # where each of the judged goes


cdef int reserve_pool(Pool *pool, Py_ssize_t n) except -1:
    if n <= pool.capacity:
        return 0
    n = 2 * n
    free(pool.judged)
    pool.judged = NULL
    pool.capacity = 0
    pool.judged = <JudgedDocument *> allocate(
        n, sizeof(JudgedDocument) + sizeof(double) + sizeof(PyObject *) + sizeof(Py_ssize_t)
    )
    pool.grades = <double *> (pool.judged + n)
    pool.documents = <PyObject **> (pool.grades + n)
    pool.places = <Py_ssize_t *> (pool.documents + n)
    pool.capacity = n
    return 0


cdef int empty(Pool *pool) except -1:
    cdef Py_ssize_t i, n = pool.n
    pool.n = 0
    for i in range(n):
        Py_DECREF(<object> pool.judged[i].document)
    return 0


cdef int by_grade(const void *a, const void *b) noexcept nogil:
    cdef double x = (<const JudgedDocument *> a).grade
    cdef double y = (<const JudgedDocument *> b).grade
    return (x < y) - (x > y)


cdef int order_by_grade(Pool *pool) noexcept:
    """Lay out documents and grades, best first."""
    cdef Py_ssize_t i, place
    for i in range(pool.n):
        pool.grades[i] = pool.judged[i].grade
    if places_by_grade(pool.grades, pool.n, pool.places):
        for i in range(pool.n):
            place = pool.places[i]
            pool.documents[place] = pool.judged[i].document
            pool.grades[place] = pool.judged[i].grade
        return 0
    qsort(pool.judged, pool.n, sizeof(JudgedDocument), by_grade)
    for i in range(pool.n):
        pool.documents[i] = pool.judged[i].document
        pool.grades[i] = pool.judged[i].grade
    return 0


cdef bint read_dict(dict qrels, Pool *pool) except -1:
    """Fill the pool and return True, or False where a grade is not of a usual type, or not right.

    As long as references are borrowed, no code of the caller's runs.
    """
    cdef PyObject *document
    cdef PyObject *value
    cdef PyTypeObject *floating = &PyFloat_Type
    cdef Kind kind = Kind(NULL, False)
    cdef Py_ssize_t position = 0, n = 0, i, size
    cdef list others = None
    with cython.critical_section(qrels):
        size = len(qrels)
        empty(pool)
        reserve_pool(pool, size)
        while n < size and PyDict_Next(qrels, &position, &document, &value):
            prefetch(document)
            pool.judged[n].document = document
            pool.documents[n] = value       # for a moment
            n += 1
        for i in range(n):
            Py_INCREF(<object> pool.judged[i].document)
        pool.n = n
        for i in range(n):
            value = pool.documents[i]
            if not read_double(value, &pool.judged[i].grade, &floating):
                if not read_integer(value, &pool.judged[i].grade):
                    others = [<object> pool.documents[j] for j in range(n)]
                    break
    if others is not None:
        for i in range(n):
            if not read_known(others[i], &kind, &pool.judged[i].grade):
                return False
    for i in range(n):
        if not isfinite(pool.judged[i].grade):
            return False
        if not is_exact_id(pool.judged[i].document):
            if why_no_id(<object> pool.judged[i].document):
                return False
    order_by_grade(pool)
    return True


cdef int read_carefully(object qrels, object query, Pool *pool) except -1:
    """Fill the pool from any mapping, or say what is wrong."""
    cdef Py_ssize_t i
    cdef double grade
    documents = []
    grades = []
    seen = set()
    for document, value in list(qrels.items()):
        why = why_no_id(document)
        if why:
            raise no_id(f"{locate(query)}judged document", document, why)
        if document in seen:
            raise ValueError(f"{locate(query)}document {document!r} is judged twice")
        seen.add(document)
        grade = number_of(value, locate(query), "grade", document)
        if not isfinite(grade):
            raise ValueError(
                f"{locate(query)}the grade of document {document!r} is not finite: {value!r}"
            )
        documents.append(document)
        grades.append(grade)
    empty(pool)
    reserve_pool(pool, len(documents))
    for i in range(len(documents)):
        pool.judged[i].document = <PyObject *> documents[i]
        Py_INCREF(documents[i])
        pool.judged[i].grade = grades[i]
        pool.n += 1
    order_by_grade(pool)
    return 0


cdef bint read_pool(object qrels, object query, Pool *pool) except -1:
    """Fill the pool; returns whether all ids are exact."""
    cdef Py_ssize_t i
    if type(qrels) is not dict:
        if not maps_ids(qrels, locate(query)):
            raise TypeError(
                f"{locate(query)}qrels must be a mapping from document id to grade, not "
                f"{type(qrels).__name__}; ids without grades become one by dict.fromkeys(ids, 1)"
            )
        qrels = unwrapped(qrels)
    if not has_items_of_dict(qrels) or not read_dict(<dict> qrels, pool):
        read_carefully(qrels, query, pool)
    for i in range(pool.n):
        if not is_exact_id(pool.documents[i]):
            return False
    return True


cdef int check_gains(const Plan *plan, object query, Pool *pool) except -1:
    cdef Py_ssize_t place
    cdef int what = complain(plan, pool.grades, pool.n, &place)
    if what:
        document = <object> pool.documents[place]
        message = complaint(what, pool.grades[place])
        raise ValueError(f"{locate(query)}document {document!r}: {message}")
    return 0


cdef Py_ssize_t count_sought(const Plan *plan, const double *grades, Py_ssize_t n) noexcept:
    """How many of the grades (high to low) the plan has a use for."""
    cdef Py_ssize_t count = 0
    while count < n and grades[count] >= plan.lowest:
        count += 1
    return count


# Many queries

cdef class JudgedMappings:
    """The judgments of many queries, read once.

    Parameters
    ----------
    qrels : mapping
        Query id to a mapping from document id to grade.
    metrics : Metrics
        What will be computed: documents that none of these can feel are counted, not kept.
    keep_all : bool
        Keep every judged document all the same.
    integers : bool
        Let integers of a run match documents that are their decimal text.

    Notes
    -----
    Never changed once made, so several threads may use one.
    """

    cdef readonly tuple queries
    cdef Metrics metrics
    cdef Plan plan
    cdef list documents             # those sought, of all queries, best grade first in each
    cdef double *grades             # of all judged documents, high to low in each query
    cdef Py_ssize_t *first_document     # [len(queries) + 1] where each query starts in documents
    cdef Py_ssize_t *first_grade        # [len(queries) + 1] ... and in grades
    cdef bytearray exact            # per query: are all ids exact str or int
    cdef bint integers

    def __cinit__(
        self, qrels, Metrics metrics not None, *, bint keep_all=False, bint integers=False
    ):
        if not hasattr(qrels, "items") or not hasattr(qrels, "keys"):
            raise TypeError(
                "qrels must be a mapping from query id to {document id: grade}, "
                f"not {type(qrels).__name__}"
            )
        self.metrics = metrics
        self.plan = metrics.plan
        self.integers = integers
        if keep_all:
            self.plan.lowest = -INFINITY
        items = list(qrels.items())
        check_ids([query for query, _ in items], "query")
        self.read(tuple([query for query, _ in items]), [judged for _, judged in items])

    def __dealloc__(self):
        free(self.grades)
        free(self.first_document)
        free(self.first_grade)

    cdef int read(self, tuple queries, list judgments) except -1:
        cdef Py_ssize_t i, j, n = len(queries), n_sought, capacity = 0, total = 0
        cdef Pool pool
        self.queries = queries
        self.documents = []
        self.exact = bytearray(n)
        self.first_document = <Py_ssize_t *> allocate(n + 1, sizeof(Py_ssize_t))
        self.first_grade = <Py_ssize_t *> allocate(n + 1, sizeof(Py_ssize_t))
        self.first_document[0] = self.first_grade[0] = 0
        memset(&pool, 0, sizeof(Pool))
        try:
            for i in range(n):
                judged = judgments[i]
                self.exact[i] = read_pool(judged, queries[i], &pool)
                check_gains(&self.plan, queries[i], &pool)
                n_sought = count_sought(&self.plan, pool.grades, pool.n)
                # one at least, so that ids of the wrong type are noticed
                for j in range(max(n_sought, min(pool.n, 1))):
                    self.documents.append(<object> pool.documents[j])
                if total + pool.n > capacity:
                    capacity = 2 * (total + pool.n)
                    self.grades = <double *> reallocate(self.grades, capacity, sizeof(double))
                if pool.n:
                    memcpy(self.grades + total, pool.grades, pool.n * sizeof(double))
                total += pool.n
                self.first_grade[i + 1] = total
                self.first_document[i + 1] = len(self.documents)
        finally:
            empty(&pool)
            free(pool.judged)
        return 0

    cdef Py_ssize_t find(
        self, Py_ssize_t i, object ranking, Ties ties, bint keep_first, Scratch *scratch,
        Query *record,
    ) except -1:
        cdef Py_ssize_t first = self.first_document[i]
        record.ideal = self.grades + self.first_grade[i]
        record.n_judged = self.first_grade[i + 1] - self.first_grade[i]
        record.n_ideal = count_sought(&self.plan, record.ideal, record.n_judged)
        return rank_any(
            ranking, &self.plan, (<PyListObject *> self.documents).ob_item + first,
            self.exact[i], self.integers, ties, keep_first, self.queries[i], scratch, record,
        )

    def evaluate(self, dict run not None, str ties, str duplicates, double[:, :, ::1] values,
                 unsigned char[::1] retrieved, list lost=None):
        """Fill the rows of `values` and set `retrieved` for every query that the run holds.

        Parameters
        ----------
        run : dict
            Query id to ranked ids or to {document id: score}.
        ties, duplicates : str
        values : float64 array, 3 x queries x metrics
            The values, and the lowest and the highest that an order of equal scores can give.
        retrieved : uint8 array, queries
            1, or 3 where a relevant document was found.
        lost : list, optional
            Extended by (query, relevant document, retrieved document) of the first query of the run
            that has relevant documents and for which none was found.
        """
        cdef Py_ssize_t i, n_found
        cdef bint any_found, all_exact
        cdef Scratch scratch
        cdef Query record
        cdef Values row
        cdef Ties order = ties_of(ties)
        cdef bint keep_first = keeps_first(duplicates)
        check_shapes(&self.plan, len(self.queries), values, retrieved)
        with cython.critical_section(run):
            all_exact = all_text(run)
        if not all_exact:
            check_ids(run, "query")
        self.metrics.require_expectations(order == EXPECTED)
        start(&scratch)
        try:
            for i in range(len(self.queries)):
                ranking = run.get(self.queries[i], ALONE)
                if ranking is ALONE:
                    continue
                n_found = self.find(i, ranking, order, keep_first, &scratch, &record)
                row = Values(&values[0, i, 0], &values[1, i, 0], &values[2, i, 0])
                any_found = any_relevant(&scratch, n_found)
                if not any_found and lost is not None and not lost:
                    if record.n_ideal and record.ideal[0] >= 1.0:
                        self.tell_lost(i, ranking, lost)
                score_found(&self.plan, order == EXPECTED, &scratch, n_found, &record, &row)
                retrieved[i] = 3 if any_found else 1
        finally:
            release(&scratch)

    cdef int tell_lost(self, Py_ssize_t i, object ranking, list lost) except -1:
        if type(ranking) is not dict and not maps_ids(ranking, ""):
            ranking = list_of(ranking, "")
        for document in ranking:
            lost.append((self.queries[i], self.documents[self.first_document[i]], document))
            break
        return 0

    def score_missing(self, double[:, :, ::1] values, const unsigned char[::1] retrieved):
        """Fill the rows of `values` for the queries that no run held, as for empty rankings."""
        cdef Py_ssize_t i, first
        check_shapes(&self.plan, len(self.queries), values, retrieved)
        for i in range(len(self.queries)):
            if not retrieved[i]:
                first = self.first_grade[i]
                score_empty(
                    &self.plan, self.grades + first, self.first_grade[i + 1] - first, values, i
                )

    def describe(self, Py_ssize_t i, ranking, str ties="docid", str duplicates="error"):
        """What the kernels see of query number `i`, as a dict of Python values."""
        cdef Scratch scratch
        cdef Query record
        cdef Py_ssize_t j, n_found
        if not 0 <= i < len(self.queries):
            raise IndexError(i)
        start(&scratch)
        try:
            n_found = self.find(
                i, ranking, ties_of(ties), keeps_first(duplicates), &scratch, &record
            )
            finish(&scratch, n_found, &record)
            return {
                "n_retrieved": record.n_retrieved,
                "n_judged": record.n_judged,
                "ranks": [record.ranks[j] for j in range(record.n_found)],
                "grades": [record.grades[j] for j in range(record.n_found)],
                "ideal": [record.ideal[j] for j in range(record.n_judged)],
            }
        finally:
            release(&scratch)

    def judged(self, Py_ssize_t i):
        """The documents of query number `i` that metrics can feel, and all grades, best first.

        One document at least, if any is judged.
        """
        cdef Py_ssize_t j
        if not 0 <= i < len(self.queries):
            raise IndexError(i)
        documents = self.documents[self.first_document[i]:self.first_document[i + 1]]
        return documents, [
            self.grades[j] for j in range(self.first_grade[i], self.first_grade[i + 1])
        ]

    def mark_answerable(self, unsigned char[::1] answerable):
        """Set a 1 for every query that has a document of grade 1 or higher."""
        cdef Py_ssize_t i
        if answerable.shape[0] != len(self.queries):
            raise ValueError("answerable is of the wrong shape")
        for i in range(len(self.queries)):
            answerable[i] = (
                self.first_grade[i + 1] > self.first_grade[i]
                and self.grades[self.first_grade[i]] >= 1.0
            )


# One ranking

cdef int score_alone(
    const Plan *plan, object ranked, object qrels, object duplicates, double *values
) except -1:
    cdef Pool pool
    cdef Scratch scratch
    cdef Query record
    cdef Values only = Values(values, NULL, NULL)
    cdef Py_ssize_t n_found
    cdef bint keep_first = keeps_first(duplicates), exact
    if type(ranked) is not list and maps_ids(ranked, ""):
        raise TypeError(
            "a ranking must be a sequence of document ids, best first; "
            "a mapping from id to score is for evaluate()"
        )
    if type(ranked) is not list:
        ranked = list_of(ranked, "")
    memset(&pool, 0, sizeof(Pool))
    start(&scratch)
    try:
        exact = read_pool(qrels, ALONE, &pool)
        check_gains(plan, ALONE, &pool)
        record.ideal = pool.grades
        record.n_judged = pool.n
        record.n_ideal = count_sought(plan, pool.grades, pool.n)
        n_found = rank_any(
            ranked, plan, pool.documents, exact, False, BY_INPUT, keep_first, ALONE, &scratch,
            &record,
        )
        score_found(plan, False, &scratch, n_found, &record, &only)
    finally:
        release(&scratch)
        empty(&pool)
        free(pool.judged)
    return 0


def score_one(MetricRow row not None, ranked, qrels, k, rel, gain, discount, duplicates):
    """One metric of one ranking, as a float."""
    cdef Task task
    cdef Plan plan
    cdef double value
    if not isinstance(gain, str):
        given = {"gain": gain, "discount": discount}
        return score_all(Metrics([(row, k, given)]), ranked, qrels, duplicates)[0]
    start_task(&task, row, k)
    if rel is not ONE:
        set_parameter(&task.params, row, "rel", rel)
    if gain != "exponential":
        set_parameter(&task.params, row, "gain", gain)
    if discount != "log2":
        set_parameter(&task.params, row, "discount", discount)
    plan = plan_of(&task, 1)
    score_alone(&plan, ranked, qrels, duplicates, &value)
    return value


def score_all(Metrics metrics not None, ranked, qrels, duplicates):
    """Several metrics of one ranking, as a list of floats."""
    cdef Py_ssize_t i
    cdef double *values = <double *> allocate(metrics.plan.n_tasks, sizeof(double))
    try:
        score_alone(&metrics.plan, ranked, qrels, duplicates, values)
        return [values[i] for i in range(metrics.plan.n_tasks)]
    finally:
        free(values)
