"""The documents of one query in several runs.

As in rankings.pyx, exact ``dict``, ``list``, ``str``, ``int`` and ``float`` are read in place: no
code of the caller's runs while references are borrowed, and every document that is kept is owned
by a list of this module. Everything else is read with Python's own operations into containers of
this module, to the same digits.
"""

from fractions import Fraction
from operator import index, itemgetter

cimport cython
from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject, PyTypeObject
from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rankmeter._core.doors.containers cimport (
    BATCH, EXACT_INTEGERS, Py_EQ, PyFloat_Type, PyListObject, PyObject_RichCompareBool, number_of,
    prefetch, read_double, read_integer,
)
from rankmeter._core.experiments.scales cimport (
    AS_IS, MIN_MAX, RANK, RECIPROCAL, Z_SCORE, Keyed, Part, Scale, scale_min_max, scale_z,
    sort_keyed,
)
from rankmeter._core.ids cimport (
    Probe, Slot, any_escaped, is_ascii, is_exact_id, is_integer, keys_of, kinds_mismatch,
    kinds_of, look_for, next_alike, no_id, put, tag_of, why_no_id,
)
from rankmeter._core.memory cimport allocate

from rankmeter._core.ids import list_of, maps_ids


cdef extern from "Python.h":
    int Py_LT

cdef enum:
    MOST_DOCUMENTS = 0x1FFFFFFF

SCALES = {
    None: AS_IS, "min-max": MIN_MAX, "z-score": Z_SCORE, "rank": RANK, "reciprocal": RECIPROCAL,
}

ABSENT = object()


cdef class Union:
    """The documents of one query in some runs, and what each of the runs gives them.

    Parameters
    ----------
    names : tuple
        Of the runs, for messages.
    scale : str or None
        One of `SCALES`.
    k : float
        Of 1 / (k + rank).

    Notes
    -----
    Its memory is used for query after query. Belongs to one call, and so to one thread.
    """

    def __cinit__(self, tuple names not None, scale, double k):
        self.names = names
        self.scale = SCALES[scale]
        self.k = k
        self.n_parts = len(names)
        self.parts = <Part *> allocate(self.n_parts, sizeof(Part))
        self.documents = []

    def __dealloc__(self):
        free(self.parts)
        free(self.memory)
        free(self.table.slots)

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Make room for `n` documents of all runs together."""
        cdef Py_ssize_t size
        if n > MOST_DOCUMENTS:
            raise ValueError(f"one query has {n} documents, which are too many to fuse")
        if n > self.capacity or self.memory == NULL:
            n = 2 * max(n, 1)
            free(self.memory)
            self.memory = NULL
            self.capacity = 0
            size = (
                2 * sizeof(Keyed) + 4 * sizeof(double) + 2 * sizeof(Py_ssize_t)
            )
            self.memory = <double *> allocate(n, size)
            self.sums = self.memory + 2 * n         # behind scores and shares of the parts
            self.counts = self.sums + n
            self.keyed = <Keyed *> (self.counts + n)
            self.spare = self.keyed + n
            self.last = <Py_ssize_t *> (self.spare + n)     # and then the places of the parts
            self.capacity = n
        return 0

    cdef int lay_out(self, const Py_ssize_t *sizes) except -1:
        """Give every part its share of the memory."""
        cdef Py_ssize_t i, first = 0
        for i in range(self.n_parts):
            first += sizes[i]
        self.reserve(first)
        first = 0
        for i in range(self.n_parts):
            self.parts[i].n = 0
            self.parts[i].ranked = False
            self.parts[i].scores = self.memory + first
            self.parts[i].shares = self.memory + self.capacity + first
            self.parts[i].places = self.last + self.capacity + first
            first += sizes[i]
        return 0

    cdef int read(self, object query, list rankings) except -1:
        """Read what the runs say of a query, and work out the shares."""
        cdef Py_ssize_t i
        self.documents = []
        if not self.read_exact(query, rankings):
            self.documents = []
            self.read_any(query, rankings)
        self.check_kinds(query)
        for i in range(self.n_parts):
            self.share(query, &self.parts[i])
        return 0

    # Exact containers

    cdef bint read_exact(self, object query, list rankings) except -1:
        cdef Py_ssize_t i, n, total = 0, size = 16
        cdef Py_ssize_t sizes[64]
        if self.n_parts > 64:
            return False
        for i in range(self.n_parts):
            ranking = rankings[i]
            sizes[i] = 0
            if type(ranking) is dict:
                sizes[i] = len(<dict> ranking)
            elif type(ranking) is list:
                sizes[i] = len(<list> ranking)
            elif ranking is not ABSENT:
                return False
            total += sizes[i]
        self.lay_out(sizes)
        while size < 2 * total:
            size *= 2
        if size > self.n_slots:
            free(self.table.slots)
            self.table.slots = NULL
            self.n_slots = 0
            self.table.slots = <Slot *> allocate(size, sizeof(Slot))
            self.n_slots = size
        memset(self.table.slots, 0, size * sizeof(Slot))
        self.table.mask = <unsigned int> (size - 1)
        for i in range(self.n_parts):
            n = 0
            ranking = rankings[i]
            if type(ranking) is dict:
                n = self.read_exact_dict(<dict> ranking, i, sizes[i])
            elif type(ranking) is list:
                n = self.read_exact_list(<list> ranking, i, sizes[i])
            if n < 0:
                return False
            if n != sizes[i]:
                raise RuntimeError(f"query {query!r}: the run changed while it was read")
        return True

    cdef Py_ssize_t place_of(self, PyObject *document) except -1:
        """The place of an exact id among the documents, new or not."""
        cdef Probe probe = look_for(tag_of(document))
        cdef PyObject **known = (<PyListObject *> self.documents).ob_item
        cdef Py_ssize_t place = len(self.documents)
        while next_alike(&self.table, &probe):
            if PyObject_RichCompareBool(<object> known[probe.place], <object> document, Py_EQ):
                return probe.place
        put(&self.table, &probe, place)
        self.documents.append(<object> document)
        self.last[place] = 0
        return place

    cdef Py_ssize_t read_exact_dict(self, dict ranking, Py_ssize_t i, Py_ssize_t n) except -2:
        """The number of documents; -1 where one, or a score, is not exact or not right."""
        cdef PyObject *documents[BATCH]
        cdef PyObject *values[BATCH]
        cdef PyObject *value
        cdef Part *part = &self.parts[i]
        cdef PyTypeObject *floating = &PyFloat_Type
        cdef Py_ssize_t position = 0, size, j
        cdef double number
        with cython.critical_section(ranking):
            while True:
                # They lie all over memory: ask for a batch before the first is needed.
                size = 0
                while size < BATCH and PyDict_Next(
                    ranking, &position, &documents[size], &values[size]
                ):
                    prefetch(documents[size])
                    prefetch(values[size])
                    size += 1
                if size == 0:
                    break
                if part.n + size > n:
                    return part.n + size
                for j in range(size):
                    value = values[j]
                    if not read_double(value, &number, &floating):
                        if not read_integer(value, &number):
                            return -1
                    if not isfinite(number) or not is_exact_id(documents[j]):
                        return -1       # the careful path looks closer
                    part.scores[part.n] = number
                    part.places[part.n] = self.place_of(documents[j])
                    self.last[part.places[part.n]] = i + 1
                    part.n += 1
        return part.n

    cdef Py_ssize_t read_exact_list(self, list ranking, Py_ssize_t i, Py_ssize_t n) except -2:
        cdef PyObject *document
        cdef Part *part = &self.parts[i]
        cdef Py_ssize_t place
        with cython.critical_section(ranking):
            if len(ranking) != n:
                return n + 1
            while part.n < n:
                document = (<PyListObject *> ranking).ob_item[part.n]
                if not is_exact_id(document):
                    return -1
                place = self.place_of(document)
                if self.last[place] == i + 1:
                    return -1           # it stands twice
                self.last[place] = i + 1
                part.scores[part.n] = <double> (n - part.n)
                part.places[part.n] = place
                part.n += 1
        part.ranked = True
        return n

    # Any containers

    cdef int read_any(self, object query, list rankings) except -1:
        cdef Py_ssize_t i, j
        cdef Py_ssize_t *sizes
        cdef Part *part
        cdef dict seen = {}
        cdef list read = []
        for i in range(self.n_parts):
            if rankings[i] is ABSENT:
                read.append(([], [], False))
            else:
                where = f"query {query!r}: run {self.names[i]!r}: "
                read.append(pairs(rankings[i], where, self.scale))
        sizes = <Py_ssize_t *> allocate(self.n_parts, sizeof(Py_ssize_t))
        try:
            for i in range(self.n_parts):
                sizes[i] = len(read[i][0])
            self.lay_out(sizes)
            for i in range(self.n_parts):
                part = &self.parts[i]
                ids, scores, part.ranked = read[i]
                for j in range(sizes[i]):
                    place = seen.setdefault(ids[j], len(seen))
                    if place == len(self.documents):
                        self.documents.append(ids[j])
                    part.places[j] = place
                    part.scores[j] = scores[j]
                part.n = sizes[i]
        finally:
            free(sizes)
        return 0

    cdef int check_kinds(self, object query) except -1:
        """Refuse runs whose ids are of types that can never match."""
        cdef Py_ssize_t i, j, k
        cdef list kinds = []
        if of_one_type(self.documents):
            return 0
        for i in range(self.n_parts):
            places = [self.parts[i].places[j] for j in range(self.parts[i].n)]
            kinds.append(kinds_of([self.documents[place] for place in places]))
            for k in range(i):
                mismatch = kinds_mismatch(kinds[k], kinds[i])
                if mismatch:
                    raise TypeError(
                        f"query {query!r}: no document of run {self.names[k]!r} can be in run "
                        f"{self.names[i]!r}{mismatch}"
                    )
        return 0

    # What they get

    cdef int share(self, object query, Part *part) except -1:
        cdef Py_ssize_t i
        cdef Keyed *ordered
        if self.scale == AS_IS:
            memcpy(part.shares, part.scores, part.n * sizeof(double))
        elif self.scale == MIN_MAX:
            scale_min_max(part)
        elif self.scale == Z_SCORE:
            scale_z(part)
        elif part.ranked:
            for i in range(part.n):
                part.shares[i] = self.by_rank(i + 1, part.n)
        else:
            for i in range(part.n):
                self.keyed[i].score = part.scores[i]
                self.keyed[i].place = part.places[i]
            ordered = self.in_order(query, part.n)
            for i in range(part.n):     # by place for a moment
                self.sums[ordered[i].place] = self.by_rank(i + 1, part.n)
            for i in range(part.n):
                part.shares[i] = self.sums[part.places[i]]
        return 0

    cdef double by_rank(self, Py_ssize_t rank, Py_ssize_t n) noexcept nogil:
        if self.scale == RANK:
            return <double> (n - rank + 1) / <double> n
        return 1.0 / (self.k + <double> rank)

    cdef Keyed *in_order(self, object query, Py_ssize_t n) except NULL:
        """Sort `keyed`: by score, and equal scores by id, high to low."""
        cdef Keyed *ordered = sort_keyed(self.keyed, self.spare, n)
        cdef Py_ssize_t first = 0, end, i
        cdef Py_ssize_t place
        while first < n:
            end = first + 1
            while end < n and ordered[end].score == ordered[first].score:
                end += 1
            if end - first > 1:
                try:
                    one = self.documents[ordered[first].place]
                    two = self.documents[ordered[first + 1].place]
                    if end - first == 2 and is_ascii(one) and is_ascii(two):
                        if PyObject_RichCompareBool(one, two, Py_LT):
                            place = ordered[first].place
                            ordered[first].place = ordered[first + 1].place
                            ordered[first + 1].place = place
                    else:
                        ids = [self.documents[ordered[i].place] for i in range(first, end)]
                        places = [ordered[i].place for i in range(first, end)]
                        tied = list(zip(keys_of(ids, any_escaped(ids)), places))
                        tied.sort(key=itemgetter(0), reverse=True)
                        for i in range(first, end):
                            ordered[i].place = tied[i - first][1]
                except TypeError as error:
                    raise TypeError(
                        f"query {query!r}: documents with equal scores cannot be ordered by id "
                        f"({error})"
                    ) from None
            first = end
        return ordered

    cdef int add(self, object query, const double *weights, bint counted) except -1:
        """Sum up what each document gets, run after run."""
        cdef Py_ssize_t i, j, n = len(self.documents)
        cdef Part *part
        cdef bint bad = False
        memset(self.sums, 0, n * sizeof(double))
        for i in range(self.n_parts):
            part = &self.parts[i]
            for j in range(part.n):
                self.sums[part.places[j]] += weights[i] * part.shares[j]
        if counted:
            self.count()
            for j in range(n):
                self.sums[j] *= self.counts[j]
        for j in range(n):
            bad |= not isfinite(self.sums[j])
        if bad:
            for j in range(n):
                if not isfinite(self.sums[j]):
                    raise ValueError(
                        f"query {query!r}: the sum for document {self.documents[j]!r} is too large"
                    )
        return 0

    cdef int count(self) noexcept:
        cdef Py_ssize_t i, j
        memset(self.counts, 0, len(self.documents) * sizeof(double))
        for i in range(self.n_parts):
            for j in range(self.parts[i].n):
                self.counts[self.parts[i].places[j]] += 1.0
        return 0

    cdef dict fused(self, object query, const double *weights, bint counted, Py_ssize_t depth):
        """The documents, best first, and their sums."""
        cdef Py_ssize_t i, n = len(self.documents)
        cdef Keyed *ordered
        cdef dict result = {}
        if n == 0:
            return result
        self.add(query, weights, counted)
        for i in range(n):
            self.keyed[i].score = self.sums[i]
            self.keyed[i].place = i
        ordered = self.in_order(query, n)
        for i in range(min(n, depth)):
            result[self.documents[ordered[i].place]] = ordered[i].score
        return result


cdef tuple pairs(object ranking, str where, Scale scale):
    """Ids, scores and whether it is a list, of any ranking."""
    cdef list ids = []
    cdef list scores = []
    cdef double score
    cdef bint large = False
    seen = set()
    if maps_ids(ranking, where):
        for document, value in list(ranking.items()):
            check_id(document, seen, where)
            ids.append(document)
            if is_integer(value):
                value = index(value)
                if not -EXACT_INTEGERS < value < EXACT_INTEGERS:
                    large = True
                scores.append(value)
                continue
            score = number_of(value, where, "score", document)
            if score != score:
                raise ValueError(f"{where}the score of document {document!r} is NaN")
            if scale < RANK and not isfinite(score):
                raise ValueError(
                    f"{where}the score of document {document!r} is {score}, which can neither be "
                    "normalised nor summed; norm='rank' and method='rrf' look at ranks only"
                )
            scores.append(score)
        if large:
            scores = rounded(scores, ids, where, scale)
        return ids, scores, False
    for document in list_of(ranking, where):
        check_id(document, seen, where)
        ids.append(document)
    return ids, [float(len(ids) - i) for i in range(len(ids))], True


cdef list rounded(list scores, list ids, str where, Scale scale):
    """Scores as doubles, where these would round integers together.

    What only looks at ranks gets their places in the order, what is normalised the distances from
    the lowest; what is summed as it is must be a double.
    """
    if scale >= RANK:
        places = {score: place for place, score in enumerate(sorted(set(scores)))}
        return [float(places[score]) for score in scores]
    if scale == AS_IS:
        base = 0
    else:
        base = Fraction(min(scores))
    result = []
    for score, document in zip(scores, ids):
        try:
            number = float(Fraction(score) - base)
        except OverflowError:
            number = INFINITY
        if (scale == AS_IS and number != score) or number == INFINITY:
            raise ValueError(
                f"{where}the score of document {document!r} is not a double: {score!r}; "
                "norm='rank' and method='rrf' look at ranks only"
            )
        result.append(number)
    return result


cdef int check_id(object document, set seen, str where) except -1:
    why = why_no_id(document)
    if why:
        raise no_id(f"{where}document", document, why)
    if document in seen:
        raise ValueError(f"{where}document {document!r} stands twice in the ranking")
    seen.add(document)
    return 0


cdef bint of_one_type(list ids) noexcept:
    cdef Py_ssize_t i
    for i in range(1, len(ids)):
        if type(ids[i]) is not type(ids[0]):
            return False
    return True
