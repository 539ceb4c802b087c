"""The door for Python's own containers: judgments that are mappings, for runs that are.

rankings.pyx reads the runs.
"""

cimport cython
from cpython.dict cimport PyDict_Keys, PyDict_Next
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free, qsort
from libc.string cimport memcpy, memset

from rankmeter._core.doors.containers cimport (
    Kind, PyFloat_Type, PyListObject, has_items_of_dict, number_of, prefetch, read_double,
    read_integer, read_known,
)
from rankmeter._core.doors.rankings cimport (
    ALONE, Sought, keeps_first, locate, rank_any, unwrapped,
)
from rankmeter._core.driver cimport (
    Metrics, check_shapes, complain, complaint, plan_of, score_empty, start_task,
)
from rankmeter._core.grades cimport places_by_grade
from rankmeter._core.ids cimport all_text, check_ids, is_exact_id, no_id, why_no_id
from rankmeter._core.memory cimport allocate, reallocate
from rankmeter._core.metrics.rows cimport MetricRow, set_parameter
from rankmeter._core.query cimport Plan, Query, Task, Values, count_from
from rankmeter._core.ranks cimport (
    BY_INPUT, EXPECTED, Ties, any_relevant, finish, score_found, ties_of,
)
from rankmeter._core.scratch cimport Scratch, release, reserve_judged, start

from rankmeter._core.ids import list_of, maps_ids


cdef extern from "thresholds.h":
    Py_ssize_t threshold "RANKMETER_THRESHOLD" (Py_ssize_t usual) noexcept nogil

cdef object ONE = 1
cdef Py_ssize_t MANY = threshold(64)        # judged documents for which an index may pay
cdef Py_ssize_t MUCH_MORE = threshold(2)    # documents or queries judged than in a run


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


# Many queries

cdef tuple keys_and_values(object mapping):
    """Two lists. Pairs would keep Python's collector busy, which counts the tuples."""
    if has_items_of_dict(mapping):
        with cython.critical_section(mapping):
            return PyDict_Keys(mapping), list((<dict> mapping).values())
    items = list(mapping.items())
    return [key for key, _ in items], [value for _, value in items]


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
    Never changed once made, as far as one can see, so several threads may use one.
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
    # Where to find what a run holds that holds little of it; made when such runs come.
    cdef dict places                # of the queries
    cdef dict document_places       # ... and of the documents of a query, by its place

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
        self.document_places = {}
        if keep_all:
            self.plan.lowest = -INFINITY
        queries, judgments = keys_and_values(unwrapped(qrels))
        check_ids(queries, "query")
        self.read(tuple(queries), judgments)

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
                n_sought = count_from(self.plan.lowest, pool.grades, pool.n)
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
        cdef Sought sought
        cdef list _owner = None     # of what is sought
        record.ideal = self.grades + self.first_grade[i]
        record.n_judged = self.first_grade[i + 1] - self.first_grade[i]
        record.n_ideal = count_from(self.plan.lowest, record.ideal, record.n_judged)
        sought.n = sought.n_documents = record.n_ideal
        sought.documents = (<PyListObject *> self.documents).ob_item + self.first_document[i]
        sought.grades = record.ideal
        if record.n_ideal >= MANY:
            _owner = self.seek_only(i, ranking, scratch, &sought)
        return rank_any(
            ranking, &self.plan, &sought, self.exact[i], self.integers, ties, keep_first,
            self.queries[i], scratch, record,
        )

    cdef list seek_only(
        self, Py_ssize_t i, object ranking, Scratch *scratch, Sought *sought
    ) except *:
        """Seek only what a ranking holds that is much shorter than the judgments.

        Returns who owns it. Only rankings of exact ids are looked at, whose code is nobody's.
        """
        cdef Py_ssize_t j
        cdef list ids, found = []
        cdef dict places
        if not self.exact[i] or self.integers:
            return None
        if type(ranking) is not list and not has_items_of_dict(ranking):
            return None
        if len(ranking) > sought.n // MUCH_MORE:
            return None
        ids = PyDict_Keys(ranking) if isinstance(ranking, dict) else list(ranking)
        for id_ in ids:
            if not is_exact_id(<PyObject *> id_):
                return None
        places = self.places_of_documents(i, sought.n)
        if places is None:
            return None
        for id_ in ids:
            place = places.get(id_)
            if place is not None:
                found.append(place)
        found = sorted(set(found))
        sought.n = len(found)
        if found:
            reserve_judged(scratch, sought.n)
            for j in range(sought.n):
                place = found[j]
                scratch.ideal[j] = sought.grades[<Py_ssize_t> place]
                found[j] = <object> sought.documents[<Py_ssize_t> place]
            sought.n_documents = sought.n
            sought.documents = (<PyListObject *> found).ob_item
            sought.grades = scratch.ideal
        return found

    cdef dict places_of_documents(self, Py_ssize_t i, Py_ssize_t n):
        """Where each document of a query stands, or None when that is asked for the first time.

        It takes longer to make than to do without it once.
        """
        cdef Py_ssize_t j, first = self.first_document[i]
        with cython.critical_section(self):
            if i not in self.document_places:
                self.document_places[i] = None
                return None
            places = self.document_places[i]
        if places is None:
            places = {self.documents[first + j]: j for j in range(n)}
            with cython.critical_section(self):
                self.document_places[i] = places
        return places

    cdef dict places_of_queries(self):
        with cython.critical_section(self):
            if self.places is not None:
                return self.places
        places = {query: i for i, query in enumerate(self.queries)}
        with cython.critical_section(self):
            self.places = places
        return places

    def numbers_of(self, dict run not None):
        """The places of the queries that a run holds, as a list, ascending."""
        places = self.places_of_queries()
        return sorted([places[query] for query in list(run) if query in places])

    def evaluate(self, dict run not None, str ties, str duplicates, double[:, :, ::1] values,
                 unsigned char[::1] retrieved, list lost=None, list numbers=None):
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
        numbers : list of int, optional
            What `numbers_of` says, if there are rows for these queries alone.
        """
        cdef Py_ssize_t i, j, place, n_found, n = len(self.queries)
        cdef bint any_found, all_exact, few_rows = numbers is not None
        cdef Scratch scratch
        cdef Query record
        cdef Values row
        cdef Ties order = ties_of(ties)
        cdef bint keep_first = keeps_first(duplicates)
        check_shapes(&self.plan, len(numbers) if few_rows else n, values, retrieved)
        with cython.critical_section(run):
            all_exact = all_text(run)
        if not all_exact:
            check_ids(run, "query")
        self.metrics.require_expectations(order == EXPECTED)
        if numbers is None and len(run) < n // MUCH_MORE:
            numbers = self.numbers_of(run)
        start(&scratch)
        try:
            for j in range(n if numbers is None else len(numbers)):
                i = j if numbers is None else numbers[j]
                ranking = run.get(self.queries[i], ALONE)
                if ranking is ALONE:
                    continue
                n_found = self.find(i, ranking, order, keep_first, &scratch, &record)
                place = j if few_rows else i
                row = Values(&values[0, place, 0], &values[1, place, 0], &values[2, place, 0])
                any_found = any_relevant(&scratch, n_found)
                if not any_found and lost is not None and not lost:
                    if record.n_ideal and record.ideal[0] >= 1.0:
                        self.tell_lost(i, ranking, lost)
                score_found(&self.plan, order == EXPECTED, &scratch, n_found, &record, &row)
                retrieved[place] = 3 if any_found else 1
        finally:
            release(&scratch)

    cdef int tell_lost(self, Py_ssize_t i, object ranking, list lost) except -1:
        if type(ranking) is not dict and not maps_ids(ranking, ""):
            ranking = list_of(ranking, "")
        for document in ranking:
            lost.append((self.queries[i], self.documents[self.first_document[i]], document))
            break
        return 0

    def unjudged(self, dict run not None):
        """The queries of a run that have no judgments, as a list."""
        places = self.places_of_queries()
        return [query for query in list(run) if query not in places]

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
    cdef Sought sought
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
        record.n_ideal = count_from(plan.lowest, pool.grades, pool.n)
        sought = Sought(record.n_ideal, record.n_ideal, pool.documents, pool.grades)
        n_found = rank_any(
            ranked, plan, &sought, exact, False, BY_INPUT, keep_first, ALONE, &scratch, &record
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
