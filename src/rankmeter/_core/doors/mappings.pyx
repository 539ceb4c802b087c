"""The door for Python's own containers: lists of ids, and dicts of scores.

Exact ``dict``, ``list``, ``str``, ``int`` and ``float`` are read in place: no code of the caller's
runs meanwhile, so references may be borrowed. Everything else is copied into exact containers
first and then read with Python's own operations, to the same digits.
"""

from bisect import bisect_left
from operator import index, itemgetter

cimport cython
from cpython.dict cimport PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free, qsort
from libc.string cimport memcpy, memset

from rankmeter._core.doors.containers cimport (
    BATCH, EXACT_INTEGERS, Py_EQ, PyFloat_Type, PyListObject, PyObject_RichCompareBool, number_of,
    prefetch, read_double, read_integer,
)
from rankmeter._core.driver cimport (
    Metrics, check_shapes, complain, complaint, plan_of, score_empty, start_task,
)
from rankmeter._core.ids cimport (
    Probe, Table, all_text, any_escaped, decimal_text, is_exact_id, is_integer, keys_of, look_for,
    next_alike, no_id, put, tag_of, why_no_id,
)
from rankmeter._core.memory cimport allocate, reallocate
from rankmeter._core.metrics.rows cimport Row, set_parameter
from rankmeter._core.query cimport Plan, Query, Task, Values
from rankmeter._core.ranks cimport (
    BY_ID, BY_INPUT, EXPECTED, Found, Scratch, Ties, any_relevant, any_tied, finish, open_table,
    place_found, places_by_grade, release, reserve_judged, reserve_scores, score_found, start,
    ties_of,
)

from rankmeter._core.ids import check_ids, list_of, maps_ids, type_mismatch, with_text_keys


cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object mapping, object key) except? NULL

cdef Py_ssize_t NOT_EXACT = -2                      # what a fast path answers to other types
cdef object ONE = 1
cdef object ALONE = object()                        # the query of a ranking that has none


cdef str where(object query):
    return "" if query is ALONE else f"query {query!r}: "


# Judgments

cdef struct Judged:
    PyObject *document
    double grade


# The judgments of one query. The documents are owned: the caller's code may run, and let go of
# them, before the query is done. Zeroed before the first use; empty() before the memory is freed.
cdef struct Pool:
    Py_ssize_t n
    Py_ssize_t capacity
    Judged *judged          # as read
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
    pool.judged = <Judged *> allocate(
        n, sizeof(Judged) + sizeof(double) + sizeof(PyObject *) + sizeof(Py_ssize_t)
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
    cdef double x = (<const Judged *> a).grade
    cdef double y = (<const Judged *> b).grade
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
    qsort(pool.judged, pool.n, sizeof(Judged), by_grade)
    for i in range(pool.n):
        pool.documents[i] = pool.judged[i].document
        pool.grades[i] = pool.judged[i].grade
    return 0


cdef bint read_exact_judgments(dict qrels, Pool *pool) except -1:
    """Fill the pool and return True, or False where an id or a grade is of another type."""
    cdef PyObject *document
    cdef PyObject *value
    cdef Py_ssize_t position = 0, n = 0, i, size
    cdef double grade
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
            if PyLong_CheckExact(<object> value):
                try:
                    grade = PyLong_AsDouble(<object> value)
                except OverflowError:
                    return False
            elif PyFloat_CheckExact(<object> value):
                grade = PyFloat_AS_DOUBLE(<object> value)
            elif <object> value is True:
                grade = 1.0
            elif <object> value is False:
                grade = 0.0
            else:
                return False
            if not isfinite(grade) or not is_exact_id(pool.judged[i].document):
                return False
            pool.judged[i].grade = grade
    order_by_grade(pool)
    return True


cdef int read_judgments(object qrels, object query, Pool *pool) except -1:
    """Fill the pool from any mapping."""
    cdef Py_ssize_t i
    cdef double grade
    if not maps_ids(qrels, where(query)):
        raise TypeError(
            f"{where(query)}qrels must be a mapping from document id to grade, "
            f"not {type(qrels).__name__}; ids without grades become one by dict.fromkeys(ids, 1)"
        )
    documents = []
    grades = []
    seen = set()
    for document, value in list(qrels.items()):
        why = why_no_id(document)
        if why:
            raise no_id(f"{where(query)}judged document", document, why)
        if document in seen:
            raise ValueError(f"{where(query)}document {document!r} is judged twice")
        seen.add(document)
        grade = number_of(value, where(query), "grade", document)
        if not isfinite(grade):
            raise ValueError(
                f"{where(query)}the grade of document {document!r} is not finite: {value!r}"
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
    if type(qrels) is dict and read_exact_judgments(<dict> qrels, pool):
        return True
    read_judgments(qrels, query, pool)
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
        raise ValueError(f"{where(query)}document {document!r}: {message}")
    return 0


cdef Py_ssize_t sought(const Plan *plan, const double *grades, Py_ssize_t n) noexcept:
    """How many of the grades (high to low) the plan has a use for."""
    cdef Py_ssize_t count = 0
    while count < n and grades[count] >= plan.lowest:
        count += 1
    return count


# Ranked lists

cdef object twice(object query, object document, Py_ssize_t first, Py_ssize_t second):
    return ValueError(
        f"{where(query)}document {document!r} stands twice in the ranking, at ranks {first} and "
        f"{second}; duplicates='first' keeps the first"
    )


cdef Py_ssize_t rank_exact_list(
    list ranking, const Plan *plan, PyObject **documents, const double *grades,
    Py_ssize_t n_sought, bint text, bint keep_first, object query, Scratch *scratch,
    Py_ssize_t *n_found,
) except -1:
    """Find the sought documents in a list of exact ids, or of exact str alone.

    Returns n_retrieved or NOT_EXACT.
    """
    cdef Py_ssize_t i, j, n, depth, found = 0
    cdef PyObject **ids
    cdef Table table
    cdef Probe probe
    with cython.critical_section(ranking):
        n = len(ranking)
        if n > 0x3FFFFFFF:
            return NOT_EXACT
        ids = (<PyListObject *> ranking).ob_item
        depth = min(n, plan.depth)
        open_table(scratch, depth, 2)
        table = scratch.table
        reserve_judged(scratch, n_sought)
        for i in range(depth):
            if not PyUnicode_CheckExact(<object> ids[i]):
                if text or not is_exact_id(ids[i]):
                    return NOT_EXACT
            probe = look_for(tag_of(ids[i]))
            while next_alike(&table, &probe):
                if PyObject_RichCompareBool(<object> ids[probe.place], <object> ids[i], Py_EQ):
                    if keep_first:
                        return NOT_EXACT        # the careful path closes the gaps
                    raise twice(query, ranking[i], probe.place + 1, i + 1)
            put(&table, &probe, i)
        for j in range(n_sought):
            probe = look_for(tag_of(documents[j]))
            while next_alike(&table, &probe):
                if PyObject_RichCompareBool(
                    <object> ids[probe.place], <object> documents[j], Py_EQ
                ):
                    scratch.found[found].rank = probe.place + 1
                    scratch.found[found].tied = 1
                    scratch.found[found].grade = grades[j]
                    found += 1
                    break
    n_found[0] = found
    return n


cdef Py_ssize_t rank_list(
    list ranking, const Plan *plan, PyObject **documents, const double *grades,
    Py_ssize_t n_sought, bint keep_first, object query, Scratch *scratch, Py_ssize_t *n_found,
) except -1:
    """The same for a private list of any hashable ids."""
    cdef Py_ssize_t j, found = 0, place = 0, kept = 0, dropped = 0
    cdef dict ranks = {}
    reserve_judged(scratch, n_sought)
    for document in ranking:
        place += 1
        why = why_no_id(document)
        if why:
            raise no_id(f"{where(query)}rank {place}: document", document, why)
        first = ranks.get(document)
        if first is not None:
            if not keep_first:
                raise twice(query, document, first, place)
            dropped += 1
            continue
        kept += 1
        ranks[document] = kept
        if kept >= plan.depth:
            break
    for j in range(n_sought):
        rank = ranks.get(<object> documents[j])
        if rank is not None:
            scratch.found[found].rank = rank
            scratch.found[found].tied = 1
            scratch.found[found].grade = grades[j]
            found += 1
    n_found[0] = found
    return len(ranking) - dropped


# Scored documents

cdef int break_ties(
    list ids, PyObject **documents, bint by_id, object query, Scratch *scratch, Py_ssize_t n_found,
) except -1:
    """Give ranks to found documents, sorted by score, that share their score with another."""
    cdef Py_ssize_t i, j, first, last, place, length, half, n_groups = 0
    cdef Found *found = scratch.found
    cdef double *scores = scratch.targets
    groups = []
    first = 0
    while first < n_found:
        last = first + 1
        while last < n_found and found[last].score == found[first].score:
            last += 1
        if found[first].tied > 1:
            scores[n_groups] = found[first].score
            n_groups += 1
            groups.append((first, last, []))
        first = last
    if n_groups == 0:
        return 0
    for i in range(len(ids)):
        place = 0
        length = n_groups
        while length > 1:
            half = length >> 1
            if scores[place + half - 1] > scratch.scores[i]:
                place += half
            length -= half
        if scores[place] == scratch.scores[i]:
            groups[place][2].append(ids[i])
    for first, last, members in groups:
        if by_id:
            escaped = any_escaped(members)
            ours = [<object> documents[found[i].place] for i in range(first, last)]
            ours = keys_of(ours, escaped)
            judged = sorted(zip(ours, range(first, last)), key=itemgetter(0))
            order = [key for key, _ in judged]
            ahead = [0] * (len(order) + 1)
            for key in keys_of(members, escaped):
                ahead[bisect_left(order, key)] += 1
            before = 0
            for j in range(len(order) - 1, -1, -1):
                before += ahead[j + 1]
                i = judged[j][1]
                found[i].rank = found[i].above + <Py_ssize_t> before + 1
        else:
            order = {document: j for j, document in enumerate(members)}
            for i in range(first, last):
                j = order.get(<object> documents[found[i].place], -1)
                if j < 0:
                    raise RuntimeError(f"{where(query)}the run changed while it was read")
                found[i].rank = found[i].above + j + 1
    return 0


cdef int rank_scores(
    list ids, object run, const Plan *plan, PyObject **documents, Ties ties, object query,
    Scratch *scratch, Py_ssize_t n_scores, Py_ssize_t *n_found,
) except -1:
    """Ranks from scores. `ids` parallel to them, or None: then those of `run`, if needed."""
    n_found[0] = place_found[double](scratch.scores, n_scores, scratch, n_found[0], plan, False)
    if ties == EXPECTED or not any_tied(scratch, n_found[0]):
        return 0
    if ids is None:
        ids = list(run)
    if len(ids) != n_scores:
        raise RuntimeError(f"{where(query)}the run changed while it was read")
    try:
        break_ties(ids, documents, ties == BY_ID, query, scratch, n_found[0])
    except TypeError as error:
        raise TypeError(
            f"{where(query)}documents with equal scores cannot be ordered by id ({error}); "
            "ties='input' keeps the order of the run, ties='expected' needs none"
        ) from None
    return 0


cdef Py_ssize_t rank_exact_dict(
    dict run, const Plan *plan, PyObject **documents, const double *grades, Py_ssize_t n_sought,
    Ties ties, object query, Scratch *scratch, Py_ssize_t *n_found,
) except -1:
    """Rank the sought documents in a dict of exact scores; returns n_retrieved or NOT_EXACT."""
    cdef PyObject *value
    cdef PyObject *keys[BATCH]
    cdef PyObject *batch[BATCH]
    cdef PyTypeObject *floating = &PyFloat_Type
    cdef Py_ssize_t position = 0, n = 0, j, found = 0, capacity, size
    cdef double number
    cdef bint unordered = False, all_exact
    cdef double *scores
    with cython.critical_section(run):
        capacity = len(run)
        all_exact = all_text(run)
        reserve_scores(scratch, capacity)
        reserve_judged(scratch, n_sought)
        scores = scratch.scores
        while True:
            # Scores lie all over memory: ask for a batch of them before the first is needed.
            size = 0
            while size < BATCH and PyDict_Next(run, &position, &keys[size], &value):
                prefetch(value)
                batch[size] = value
                size += 1
            if size == 0 or n + size > capacity:
                break
            if not all_exact:
                for j in range(size):
                    if not is_exact_id(keys[j]):
                        return NOT_EXACT
            for j in range(size):
                value = batch[j]
                if read_double(value, &number, &floating):
                    unordered |= number != number
                elif not read_integer(value, &number):
                    return NOT_EXACT
                scores[n + j] = number
            n += size
        if unordered:
            return NOT_EXACT        # the careful path says what is wrong
        for j in range(n_sought):
            value = PyDict_GetItemWithError(run, <object> documents[j])
            if value == NULL:
                continue
            if not read_double(value, &number, &floating) and not read_integer(value, &number):
                raise RuntimeError(f"{where(query)}the run changed while it was read")
            scratch.found[found].score = number
            scratch.found[found].grade = grades[j]
            scratch.found[found].place = j
            found += 1
        if n != capacity or len(run) != n:
            raise RuntimeError(f"{where(query)}the run changed while it was read")
    n_found[0] = found
    rank_scores(None, run, plan, documents, ties, query, scratch, n, n_found)
    return n


cdef object score_of(object value, object query, object document):
    """A score as a float, or as an integer of any size."""
    cdef double score
    if is_integer(value):
        return index(value)
    score = number_of(value, where(query), "score", document)
    if score != score:
        raise ValueError(f"{where(query)}the score of document {document!r} is NaN")
    return score


cdef bint read_scores(list values, list ids, object query, double *scores) except -1:
    """Fill in scores as doubles; returns whether these would round integers together."""
    cdef Py_ssize_t j
    cdef object latest = None
    cdef bint integral = False, large = False
    for j in range(len(values)):
        value = values[j]
        if type(value) is not latest:           # an isinstance() for each would take most time
            latest = type(value)
            integral = is_integer(value)
        if integral:
            value = index(value)
            if not -EXACT_INTEGERS < value < EXACT_INTEGERS:
                large = True
                continue
            scores[j] = value
            continue
        scores[j] = number_of(value, where(query), "score", ids[j])
        if scores[j] != scores[j]:
            raise ValueError(f"{where(query)}the score of document {ids[j]!r} is NaN")
    return large


cdef Py_ssize_t rank_mapping(
    object run, const Plan *plan, PyObject **documents, const double *grades, Py_ssize_t n_sought,
    Ties ties, object query, Scratch *scratch, Py_ssize_t *n_found,
) except -1:
    """The same for any mapping, through a copy."""
    cdef Py_ssize_t j, n, found = 0
    cdef dict copy, places = None
    cdef list ids, values
    if type(run) is dict:
        copy = dict(run)
    else:
        copy = {}
        items = list(run.items())
        for document, value in items:
            why = why_no_id(document)
            if why:
                raise no_id(f"{where(query)}document", document, why)
            copy[document] = value
        if len(copy) < len(items):
            raise twice_in_run(items, query)
    # Those sought first, so that every score is asked for its number once.
    for j in range(n_sought):
        document = <object> documents[j]
        value = copy.get(document, ALONE)
        if value is ALONE:
            continue
        try:
            copy[document] = score_of(value, query, document)
        except (TypeError, ValueError):
            break                       # found again below, where it stands in the run
    ids = list(copy)
    values = list(copy.values())
    if not all_text(copy):
        for document in ids:
            why = why_no_id(document)
            if why:
                raise no_id(f"{where(query)}document", document, why)
    n = len(ids)
    reserve_scores(scratch, n)
    reserve_judged(scratch, n_sought)
    if read_scores(values, ids, query, scratch.scores):
        # Only their order matters: each becomes its place in that.
        values = [score_of(values[j], query, ids[j]) for j in range(n)]
        places = {score: place for place, score in enumerate(sorted(set(values)))}
        for j in range(n):
            scratch.scores[j] = places[values[j]]
    for j in range(n_sought):
        score = copy.get(<object> documents[j], ALONE)
        if score is ALONE:
            continue
        if places is not None:
            score = places.get(score)
        if type(score) is not float and type(score) is not int:
            raise RuntimeError(f"{where(query)}the run changed while it was read")
        scratch.found[found].score = score
        scratch.found[found].grade = grades[j]
        scratch.found[found].place = j
        found += 1
    n_found[0] = found
    rank_scores(ids, None, plan, documents, ties, query, scratch, n, n_found)
    return n


cdef object twice_in_run(list items, object query):
    seen = set()
    for document, _ in items:
        if document in seen:
            break
        seen.add(document)
    return ValueError(f"{where(query)}document {document!r} stands twice in the run")


# Any ranking

cdef bint only_text(dict ranking) except -1:
    with cython.critical_section(ranking):
        if all_text(ranking):
            return True
    for document in ranking:
        if type(document) is not str:
            return False
    return True


cdef object with_text(object ranking, object query):
    """A copy of a ranking in which integers are decimal text."""
    if type(ranking) is list or not maps_ids(ranking, where(query)):
        ids = ranking if type(ranking) is list else list_of(ranking, where(query))
        return [decimal_text(id_) for id_ in list(ids)]
    items = list(ranking.items())
    check_ids([document for document, _ in items], f"{where(query)}document")
    return with_text_keys(items, f"{where(query)}document")


cdef int check_kinds(
    object ranking, PyObject **documents, Py_ssize_t n_documents, object query
) except -1:
    """Refuse a ranking whose ids are of types that none of the judged documents can match."""
    cdef Py_ssize_t j
    for first in ranking:
        if type(first) is type(<object> documents[0]):
            return 0
        break
    judged = [<object> documents[j] for j in range(n_documents)]
    mismatch = type_mismatch(ranking, judged)
    if mismatch:
        raise TypeError(f"{where(query)}no judged document can be found{mismatch}")
    return 0


cdef Py_ssize_t rank_any(
    object ranking, const Plan *plan, PyObject **documents, bint exact, bint integers, Ties ties,
    bint keep_first, object query, Scratch *scratch, Query *record,
) except -1:
    """Find the documents of a record that holds the judgments; returns how many the plan needs.

    `integers`: those of the ranking match their decimal text.
    """
    cdef const double *grades = record.ideal
    cdef Py_ssize_t n_sought = record.n_ideal
    cdef Py_ssize_t n = NOT_EXACT, n_found = 0
    if integers and type(ranking) is not list:
        if type(ranking) is not dict or not only_text(<dict> ranking):
            ranking = with_text(ranking, query)
    if type(ranking) is dict:
        if exact:
            n = rank_exact_dict(
                <dict> ranking, plan, documents, grades, n_sought, ties, query, scratch, &n_found
            )
        if n == NOT_EXACT:
            n = rank_mapping(
                ranking, plan, documents, grades, n_sought, ties, query, scratch, &n_found
            )
    elif type(ranking) is not list and maps_ids(ranking, where(query)):
        n = rank_mapping(
            ranking, plan, documents, grades, n_sought, ties, query, scratch, &n_found
        )
    else:
        ids = ranking if type(ranking) is list else list_of(ranking, where(query))
        if exact:
            n = rank_exact_list(
                <list> ids, plan, documents, grades, n_sought, integers, keep_first, query,
                scratch, &n_found,
            )
        if n == NOT_EXACT and integers:
            ids = with_text(ids, query)
            n = rank_exact_list(
                <list> ids, plan, documents, grades, n_sought, False, keep_first, query, scratch,
                &n_found,
            )
        if n == NOT_EXACT:
            ids = list(ids)
            n = rank_list(
                <list> ids, plan, documents, grades, n_sought, keep_first, query, scratch, &n_found
            )
        ranking = ids
    if n_found == 0 and n > 0 and record.n_judged > 0:
        check_kinds(ranking, documents, max(n_sought, 1), query)
    record.n_retrieved = n
    return n_found


# Many queries

cdef bint keeps_first(object duplicates) except -1:
    if duplicates == "error":
        return False
    if duplicates == "first":
        return True
    raise ValueError(f"duplicates must be 'error' or 'first', not {duplicates!r}")


cdef class Judgments:
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
                n_sought = sought(&self.plan, pool.grades, pool.n)
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
        record.n_ideal = sought(&self.plan, record.ideal, record.n_judged)
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
        record.n_ideal = sought(plan, pool.grades, pool.n)
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


def score_one(Row row not None, ranked, qrels, k, rel, gain, discount, duplicates):
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
