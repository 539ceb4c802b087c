"""Rankings of Python's own containers: lists of ids, and dicts of scores.

Exact ``list``, ``str`` and ``int``, and any ``dict``, ``float`` and ``int`` as score, of subclasses
too, are read in place: no code of the caller's runs meanwhile, so references may be borrowed. Other
numbers and ids are looked at where they are, owned. Everything else is copied into exact containers
first and then read with Python's own operations, to the same digits.
"""

from bisect import bisect_left
from collections import OrderedDict, UserDict
from gc import get_referents
from operator import index, itemgetter
from types import MappingProxyType

cimport cython
from cpython.dict cimport PyDict_Copy, PyDict_Keys, PyDict_Next
from cpython.object cimport PyObject, PyObject_Hash, PyTypeObject
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport uint64_t

from rankmeter._core.doors.containers cimport (
    BATCH, VALUES_BY_ITERATOR, Kind, Py_EQ, PyFloat_Type, PyListObject, PyObject_RichCompareBool,
    has_items_of_dict, next_values, number_of, read_double, read_integer, read_known,
)
from rankmeter._core.ids cimport (
    Probe, Table, all_text, any_escaped, check_ids, decimal_text, is_exact_id, is_integer, is_plain,
    keys_of, look_for, next_alike, no_id, put, tag_of, tag_of_word, why_no_id,
)
from rankmeter._core.query cimport Plan, Query
from rankmeter._core.ranks cimport BY_ID, BY_INPUT, EXPECTED, Ties, any_tied, place_found
from rankmeter._core.scratch cimport Found, Scratch, open_table, reserve_judged, reserve_scores

from rankmeter._core.ids import list_of, maps_ids, type_mismatch, with_text_keys

cdef Py_ssize_t NOT_EXACT = -2                      # what a fast path answers to other types
cdef Py_ssize_t MOST_PLACES = 0x3FFFFFFF            # in a table
cdef object ITEMS_IN_ORDER = OrderedDict.items
ALONE = object()


cdef str locate(object query):
    return "" if query is ALONE else f"query {query!r}: "


# Ranked lists

cdef object repeat_error(object query, object document, Py_ssize_t first, Py_ssize_t second):
    return ValueError(
        f"{locate(query)}document {document!r} stands twice in the ranking, at ranks {first} and "
        f"{second}; duplicates='first' keeps the first"
    )


cdef Py_ssize_t rank_exact_list(
    list ranking, const Plan *plan, const Sought *sought, bint text, bint keep_first,
    object query, Scratch *scratch, Py_ssize_t *n_found,
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
        ids = (<PyListObject *> ranking).ob_item
        depth = min(n, plan.depth)
        if depth > MOST_PLACES:
            return NOT_EXACT
        open_table(scratch, depth, 2)
        table = scratch.table
        reserve_judged(scratch, sought.n)
        for i in range(depth):
            if not PyUnicode_CheckExact(<object> ids[i]):
                if text or not is_exact_id(ids[i]):
                    return NOT_EXACT
            probe = look_for(tag_of(ids[i]))
            while next_alike(&table, &probe):
                if PyObject_RichCompareBool(<object> ids[probe.place], <object> ids[i], Py_EQ):
                    if keep_first:
                        return NOT_EXACT        # the careful path closes the gaps
                    raise repeat_error(query, ranking[i], probe.place + 1, i + 1)
            put(&table, &probe, i)
        for j in range(sought.n):
            probe = look_for(tag_of(sought.documents[j]))
            while next_alike(&table, &probe):
                if PyObject_RichCompareBool(
                    <object> ids[probe.place], <object> sought.documents[j], Py_EQ
                ):
                    scratch.found[found].rank = probe.place + 1
                    scratch.found[found].tied = 1
                    scratch.found[found].grade = sought.grades[j]
                    found += 1
                    break
    n_found[0] = found
    return n


cdef inline unsigned int tag_by_hash(object id_) except? 0:
    """A tag for any ids: that of equals is the same, whatever their types."""
    return tag_of_word(<uint64_t> PyObject_Hash(id_))


cdef Py_ssize_t rank_list(
    list ranking, const Plan *plan, const Sought *sought, bint keep_first, object query,
    Scratch *scratch, Py_ssize_t *n_found,
) except -1:
    """The same for a private list of any hashable ids."""
    cdef Py_ssize_t j, found = 0, place = 0, n = len(ranking), depth = min(n, plan.depth)
    cdef list kept = []
    cdef object latest = None
    cdef Table table
    cdef Probe probe
    if depth > MOST_PLACES:
        raise MemoryError(f"{locate(query)}a ranking of {n} ids is too long")
    open_table(scratch, depth, 2)
    table = scratch.table
    reserve_judged(scratch, sought.n)
    for document in ranking:
        if len(kept) == depth:
            break
        place += 1
        if type(document) is not latest:
            why = why_no_id(document)
            if why:
                raise no_id(f"{locate(query)}rank {place}: document", document, why)
            latest = type(document) if is_plain(document) else None
        probe = look_for(tag_by_hash(document))
        if stands_in(kept, document, &table, &probe):
            if not keep_first:
                raise repeat_error(query, document, probe.place + 1, place)
            n -= 1
            continue
        put(&table, &probe, len(kept))
        kept.append(document)
    for j in range(sought.n):
        probe = look_for(tag_by_hash(<object> sought.documents[j]))
        if stands_in(kept, <object> sought.documents[j], &table, &probe):
            scratch.found[found].rank = probe.place + 1
            scratch.found[found].tied = 1
            scratch.found[found].grade = sought.grades[j]
            found += 1
    n_found[0] = found
    return n


cdef inline bint stands_in(
    list ids, object id_, const Table *table, Probe *probe
) except -1:
    """Whether an id is in a table of others; then the search stands at its place."""
    while next_alike(table, probe):
        if PyObject_RichCompareBool(ids[probe.place], id_, Py_EQ):
            return True
    return False


# Scored documents

cdef int break_ties(
    list ids, const Sought *sought, bint by_id, object query, Scratch *scratch, Py_ssize_t n_found,
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
            ours = [<object> sought.documents[found[i].place] for i in range(first, last)]
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
                j = order.get(<object> sought.documents[found[i].place], -1)
                if j < 0:
                    raise changed_error(query)
                found[i].rank = found[i].above + j + 1
    return 0


cdef int rank_scores(
    dict run, const Plan *plan, const Sought *sought, Ties ties, object query, Scratch *scratch,
    Py_ssize_t n_scores, Py_ssize_t *n_found,
) except -1:
    """Ranks from scores, which stand in the order of the run."""
    cdef list ids
    n_found[0] = place_found[double](scratch.scores, n_scores, scratch, n_found[0], plan, False)
    if ties == EXPECTED or not any_tied(scratch, n_found[0]):
        return 0
    ids = PyDict_Keys(run)
    if len(ids) != n_scores:
        raise changed_error(query)
    try:
        break_ties(ids, sought, ties == BY_ID, query, scratch, n_found[0])
    except TypeError as error:
        raise TypeError(
            f"{locate(query)}documents with equal scores cannot be ordered by id ({error}); "
            "ties='input' keeps the order of the run, ties='expected' needs none"
        ) from None
    return 0


cdef object changed_error(object query):
    return RuntimeError(f"{locate(query)}the run changed while it was read")


cdef bint read_exact_scores(dict run, Py_ssize_t n, double *scores) except -1:
    """Fill in the scores, or return False where one is neither float nor int, or NaN."""
    cdef PyObject *values[BATCH]
    cdef PyTypeObject *floating = &PyFloat_Type
    cdef Py_ssize_t position = 0, first = 0, size, j
    cdef object iterator = iter(run.values()) if VALUES_BY_ITERATOR else None
    cdef bint unordered = False
    cdef double number = 0.0
    while True:
        size = next_values(run, iterator, &position, values, BATCH)
        if size == 0 or first + size > n:
            break
        for j in range(size):
            if not read_double(values[j], &number, &floating):
                if not read_integer(values[j], &number):
                    return False
            unordered |= number != number
            scores[first + j] = number
        first += size
    return first == n and not unordered


cdef bint read_known_scores(list values, double *scores) except -1:
    """The same for numbers of any known type, whose code may run."""
    cdef Kind kind = Kind(NULL, False)
    cdef Py_ssize_t j = 0
    for value in values:
        if not read_known(value, &kind, &scores[j]) or scores[j] != scores[j]:
            return False
        j += 1
    return True


cdef bint are_exact_keys(dict run) noexcept:
    cdef PyObject *key
    cdef Py_ssize_t position = 0
    while PyDict_Next(run, &position, &key, NULL):
        if not is_exact_id(key):
            return False
    return True


cdef Py_ssize_t rank_dict(
    dict run, const Plan *plan, const Sought *sought, Ties ties, object query, Scratch *scratch,
    Py_ssize_t *n_found,
) except -1:
    """Rank the sought documents in a dict of usual scores; returns n_retrieved or NOT_EXACT.

    As long as references are borrowed, no code of the caller's runs. Ids and scores of types that
    are not exact may run some later.
    """
    cdef Kind kind = Kind(NULL, False)
    cdef Py_ssize_t n, j, found = 0
    cdef double number = 0.0
    cdef list ids = None, values = None
    with cython.critical_section(run):
        n = len(run)
        reserve_scores(scratch, n)
        reserve_judged(scratch, sought.n)
        if not read_exact_scores(run, n, scratch.scores):
            values = list(run.values())
        if not all_text(run) and not are_exact_keys(run):
            ids = PyDict_Keys(run)
    if ids is not None:
        check_ids(ids, f"{locate(query)}document")
    if values is not None and not read_known_scores(values, scratch.scores):
        return NOT_EXACT            # the careful path says what is wrong, if anything
    for j in range(sought.n):
        value = run.get(<object> sought.documents[j], ALONE)
        if value is ALONE:
            continue
        if not read_known(value, &kind, &number):
            raise changed_error(query)
        scratch.found[found].score = number
        scratch.found[found].grade = sought.grades[j]
        scratch.found[found].place = j
        found += 1
    if len(run) != n:
        raise changed_error(query)
    n_found[0] = found
    rank_scores(run, plan, sought, ties, query, scratch, n, n_found)
    return n


cdef object score_of(object value, object query, object document):
    """A score as a float, or as an integer of any size."""
    cdef double score
    if is_integer(value):
        return index(value)
    score = number_of(value, locate(query), "score", document)
    if score != score:
        raise ValueError(f"{locate(query)}the score of document {document!r} is NaN")
    return score


cdef bint read_scores(dict run, object query, double *scores) except -1:
    """Fill in scores as doubles; returns whether these would round integers together."""
    cdef PyTypeObject *floating = &PyFloat_Type
    cdef Py_ssize_t j = 0
    cdef str where = locate(query)
    cdef object latest = None
    cdef bint integral = False, large = False
    for document, value in run.items():
        if not read_double(<PyObject *> value, &scores[j], &floating):
            if type(value) is not latest:       # an isinstance() for each would take most time
                latest = type(value)
                integral = is_integer(value)
            if integral:
                value = index(value)
                large |= not read_integer(<PyObject *> value, &scores[j])
                j += 1
                continue
            scores[j] = number_of(value, where, "score", document)
        if scores[j] != scores[j]:
            raise ValueError(f"{where}the score of document {document!r} is NaN")
        j += 1
    return large


cdef dict copy_of(object run, object query):
    """A private copy of any mapping, all of whose keys are ids."""
    cdef dict copy
    cdef Py_ssize_t n = 0
    cdef object repeated = ALONE
    if has_items_of_dict(run):
        copy = PyDict_Copy(run)
        if not all_text(copy):
            check_ids(copy, f"{locate(query)}document")
        return copy
    copy = {}
    for document, value in run.items():
        if not is_exact_id(<PyObject *> document):
            why = why_no_id(document)
            if why:
                raise no_id(f"{locate(query)}document", document, why)
        copy[document] = value
        if len(copy) == n and repeated is ALONE:
            repeated = document
        n = len(copy)
    if repeated is not ALONE:
        raise ValueError(f"{locate(query)}document {repeated!r} stands twice in the run")
    return copy


cdef Py_ssize_t rank_carefully(
    dict copy, const Plan *plan, const Sought *sought, Ties ties, object query, Scratch *scratch,
    Py_ssize_t *n_found,
) except -1:
    """The same for a private dict with scores of any types."""
    cdef Py_ssize_t j, n, found = 0
    cdef dict places = None
    # Those sought first, so that every score is asked for its number once.
    for j in range(sought.n):
        document = <object> sought.documents[j]
        value = copy.get(document, ALONE)
        if value is ALONE:
            continue
        try:
            copy[document] = score_of(value, query, document)
        except (TypeError, ValueError):
            break                       # found again below, where it stands in the run
    n = len(copy)
    reserve_scores(scratch, n)
    reserve_judged(scratch, sought.n)
    if read_scores(copy, query, scratch.scores):
        # Only their order matters: each becomes its place in that.
        values = [score_of(value, query, document) for document, value in copy.items()]
        places = {score: place for place, score in enumerate(sorted(set(values)))}
        for j in range(n):
            scratch.scores[j] = places[values[j]]
    for j in range(sought.n):
        score = copy.get(<object> sought.documents[j], ALONE)
        if score is ALONE:
            continue
        if places is not None:
            score = places.get(score)
        if type(score) is not float and type(score) is not int:
            raise changed_error(query)
        scratch.found[found].score = score
        scratch.found[found].grade = sought.grades[j]
        scratch.found[found].place = j
        found += 1
    n_found[0] = found
    rank_scores(copy, plan, sought, ties, query, scratch, n, n_found)
    return n


# Any ranking

cdef object unwrapped(object mapping):
    """The dict in a wrapper of the standard library, if it says what the wrapper says."""
    kind = type(mapping)
    if kind is MappingProxyType:
        return get_referents(mapping)[0]
    if kind is UserDict and type(mapping.data) is dict:
        return mapping.data
    return mapping


cdef bint is_read_in_place(object ranking, Ties ties) except -1:
    """Whether its items() says what stands in the dict that it is, in an order that will do.

    An OrderedDict has an order of its own, which only equal scores may ask for.
    """
    if has_items_of_dict(ranking):
        return True
    return (
        ties != BY_INPUT
        and isinstance(ranking, OrderedDict)
        and type(ranking).items is ITEMS_IN_ORDER
    )


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
    if type(ranking) is list or not maps_ids(ranking, locate(query)):
        ids = ranking if type(ranking) is list else list_of(ranking, locate(query))
        return [decimal_text(id_) for id_ in list(ids)]
    items = list(ranking.items())
    check_ids([document for document, _ in items], f"{locate(query)}document")
    return with_text_keys(items, f"{locate(query)}document")


cdef int check_kinds(object ranking, const Sought *sought, object query) except -1:
    """Refuse a ranking whose ids are of types that none of the judged documents can match."""
    cdef Py_ssize_t j
    for first in ranking:
        if type(first) is type(<object> sought.documents[0]):
            return 0
        break
    judged = [<object> sought.documents[j] for j in range(max(sought.n_documents, 1))]
    mismatch = type_mismatch(ranking, judged)
    if mismatch:
        raise TypeError(f"{locate(query)}no judged document can be found{mismatch}")
    return 0


cdef Py_ssize_t rank_any(
    object ranking, const Plan *plan, const Sought *sought, bint exact, bint integers, Ties ties,
    bint keep_first, object query, Scratch *scratch, Query *record,
) except -1:
    """Find the documents of a record that holds the judgments; returns how many the plan needs.

    `exact`: all ids among those sought are; `integers`: those of the ranking match their decimal
    text.
    """
    cdef Py_ssize_t n = NOT_EXACT, n_found = 0
    if integers and type(ranking) is not list:
        if type(ranking) is not dict or not only_text(<dict> ranking):
            ranking = with_text(ranking, query)
    if type(ranking) is dict or (type(ranking) is not list and maps_ids(ranking, locate(query))):
        ranking = unwrapped(ranking)
        run = ranking if is_read_in_place(ranking, ties) else copy_of(ranking, query)
        n = rank_dict(<dict> run, plan, sought, ties, query, scratch, &n_found)
        if n == NOT_EXACT:
            run = copy_of(run, query)
            n = rank_carefully(<dict> run, plan, sought, ties, query, scratch, &n_found)
    else:
        ids = ranking if type(ranking) is list else list_of(ranking, locate(query))
        if exact:
            n = rank_exact_list(
                <list> ids, plan, sought, integers, keep_first, query, scratch, &n_found
            )
        if n == NOT_EXACT and integers:
            ids = with_text(ids, query)
            n = rank_exact_list(
                <list> ids, plan, sought, False, keep_first, query, scratch, &n_found
            )
        if n == NOT_EXACT:
            ids = list(ids)
            n = rank_list(<list> ids, plan, sought, keep_first, query, scratch, &n_found)
        ranking = ids
    if n_found == 0 and n > 0 and record.n_judged > 0:
        check_kinds(ranking, sought, query)
    record.n_retrieved = n
    return n_found


cdef bint keeps_first(object duplicates) except -1:
    if duplicates == "error":
        return False
    if duplicates == "first":
        return True
    raise ValueError(f"duplicates must be 'error' or 'first', not {duplicates!r}")
