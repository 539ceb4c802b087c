"""Several runs of the same queries made one: once, or with many weights."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, qsort
from libc.string cimport memset

from rankmeter._core.driver cimport Metrics
from rankmeter._core.experiments.scales cimport Part
from rankmeter._core.experiments.union cimport ABSENT, Union
from rankmeter._core.ids cimport any_escaped, keys_of
from rankmeter._core.memory cimport allocate
from rankmeter._core.query cimport PY_SSIZE_T_MAX, Query, Values
from rankmeter._core.ranks cimport place_found, score_found
from rankmeter._core.scratch cimport Scratch, release, reserve_judged, reserve_scores, start

from rankmeter._core.ids import check_ids, type_mismatch


cdef int check_weights(const double[::1] weights, Py_ssize_t n) except -1:
    if weights.shape[0] != n or n == 0:
        raise ValueError("weights must be as many as runs, and there must be a run")
    return 0


cdef int check_runs(tuple names, list runs) except -1:
    """Refuse queries that cannot be ids, and runs whose queries can never be the same."""
    if len(names) != len(runs):
        raise ValueError("there must be one name for each run")
    kinds = set()
    for name, run in zip(names, runs):
        check_ids(<dict?> run, f"run {name!r}: query")
        kinds |= set(map(type, run))
    if len(kinds) < 2:
        return 0
    for name, run in zip(names, runs):
        mismatch = type_mismatch(runs[0], run)
        if mismatch:
            raise TypeError(f"no query of run {names[0]!r} can be in run {name!r}{mismatch}")
    return 0


def fuse(
    tuple names not None, list runs not None, const double[::1] weights, scale, double k,
    bint counted, depth,
):
    """Fuse the rankings of every query.

    Parameters
    ----------
    names : tuple
    runs : list of dict
        As many as names.
    weights : float64 array
        As many as runs.
    scale : str or None
        One of `SCALES`.
    k : float
        Of 1 / (k + rank).
    counted : bool
        Multiply by the number of runs that hold the document.
    depth : int or None
        How many documents of each query to keep.

    Returns
    -------
    dict
        Of dicts, each best first, queries in the order of their appearance.
    """
    cdef Union union = Union(names, scale, k)
    cdef Py_ssize_t most = PY_SSIZE_T_MAX if depth is None else min(depth, PY_SSIZE_T_MAX)
    cdef dict result = {}
    check_runs(names, runs)
    check_weights(weights, len(runs))
    queries = {}
    for run in runs:
        queries.update(dict.fromkeys(run))
    for query in queries:
        union.read(query, [(<dict?> run).get(query, ABSENT) for run in runs])
        result[query] = union.fused(query, &weights[0], counted, most)
    return result


cdef int high_to_low(const void *a, const void *b) noexcept nogil:
    cdef double x = (<const double *> a)[0]
    cdef double y = (<const double *> b)[0]
    return (x < y) - (x > y)


cdef class Mixture:
    """Runs and judgments prepared once, to be scored with many weights.

    Parameters
    ----------
    names, runs, scale, k, counted
        As for `fuse`.
    judgments : list of (query, dict)
        Of the documents of each query and their grades, all of them right.
    metrics : Metrics

    Raises
    ------
    TypeError
        Where the documents of a query cannot be ordered, besides what `fuse` raises.

    Notes
    -----
    The documents of a query stand in the order in which equal scores are ranked.
    """

    cdef Metrics metrics
    cdef Py_ssize_t n_runs
    cdef Py_ssize_t n_queries
    cdef bint counted
    cdef Py_ssize_t *starts         # [n_queries + 1] of candidates
    cdef Py_ssize_t *first_judged   # [n_queries + 1] of grades and of what is sought
    cdef double *shares             # of each query: a row a run
    cdef double *counts             # of each candidate
    cdef double *grades             # of all judged documents of each query, high to low
    cdef Py_ssize_t *places         # of what is sought, among the candidates
    cdef double *found_grades
    cdef Py_ssize_t *n_found        # of each query
    cdef readonly bytearray retrieved

    def __cinit__(
        self, tuple names not None, list runs not None, scale, double k, bint counted,
        list judgments not None, Metrics metrics not None,
    ):
        cdef Union union = Union(names, scale, k)
        cdef Py_ssize_t i, n_judged = 0, total = 0, bound = 0
        check_runs(names, runs)
        self.metrics = metrics
        self.n_runs = len(runs)
        self.n_queries = len(judgments)
        self.counted = counted
        self.retrieved = bytearray(self.n_queries)
        rows = []
        for query, judged in judgments:
            rankings = [(<dict?> run).get(query, ABSENT) for run in runs]
            rows.append((query, rankings, judged))
            n_judged += len(<dict?> judged)
            for ranking in rankings:
                bound += 0 if ranking is ABSENT else len(ranking)
        self.starts = <Py_ssize_t *> allocate(self.n_queries + 1, sizeof(Py_ssize_t))
        self.first_judged = <Py_ssize_t *> allocate(self.n_queries + 1, sizeof(Py_ssize_t))
        self.n_found = <Py_ssize_t *> allocate(self.n_queries, sizeof(Py_ssize_t))
        self.shares = <double *> allocate(<uint64_t> bound * self.n_runs, sizeof(double))
        self.counts = <double *> allocate(bound, sizeof(double))
        self.grades = <double *> allocate(n_judged, sizeof(double))
        self.places = <Py_ssize_t *> allocate(n_judged, sizeof(Py_ssize_t))
        self.found_grades = <double *> allocate(n_judged, sizeof(double))
        self.starts[0] = self.first_judged[0] = 0
        n_judged = 0
        for i in range(self.n_queries):
            query, rankings, judged = rows[i]
            judged = list((<dict> judged).items())
            for ranking in rankings:
                self.retrieved[i] |= ranking is not ABSENT
            union.read(query, rankings)
            if total + len(union.documents) > bound:
                raise RuntimeError(f"query {query!r}: the run changed while it was read")
            self.keep(i, union, judged)
            total = self.starts[i + 1]

    cdef int keep(self, Py_ssize_t i, Union union, list judged) except -1:
        cdef Py_ssize_t first = self.starts[i], n = len(union.documents)
        cdef Py_ssize_t first_judged = self.first_judged[i], n_found = 0, j, row, place
        cdef double *shares = self.shares + first * self.n_runs
        cdef double grade
        cdef Part *part
        cdef list order = sorted(
            range(n), key=keys_of(union.documents, any_escaped(union.documents)).__getitem__,
            reverse=True,
        )
        cdef dict candidates = {}
        union.count()
        for j in range(n):
            place = order[j]
            candidates[union.documents[place]] = j
            self.counts[first + j] = union.counts[place]
            union.last[place] = j
        memset(shares, 0, n * self.n_runs * sizeof(double))
        for row in range(self.n_runs):
            part = &union.parts[row]
            for j in range(part.n):
                shares[row * n + union.last[part.places[j]]] = part.shares[j]
        for j in range(len(judged)):
            document, value = judged[j]
            grade = value
            self.grades[first_judged + j] = grade
            found = candidates.get(document) if grade >= self.metrics.plan.lowest else None
            if found is not None:
                self.places[first_judged + n_found] = found
                self.found_grades[first_judged + n_found] = grade
                n_found += 1
        qsort(self.grades + first_judged, len(judged), sizeof(double), high_to_low)
        self.n_found[i] = n_found
        self.first_judged[i + 1] = first_judged + len(judged)
        self.starts[i + 1] = first + n
        return 0

    def __dealloc__(self):
        free(self.starts)
        free(self.first_judged)
        free(self.n_found)
        free(self.shares)
        free(self.counts)
        free(self.grades)
        free(self.places)
        free(self.found_grades)

    def evaluate(self, const double[::1] weights, double[:, :, ::1] values):
        """Score the fusion with these weights.

        Parameters
        ----------
        weights : float64 array
            As many as runs.
        values : float64 array, 3 x queries x metrics
            As of `JudgedMappings.evaluate`; filled for the queries that are `retrieved`.

        Returns
        -------
        int
            The query of which a sum is too large, or -1.
        """
        cdef Scratch scratch
        cdef Py_ssize_t i, bad = -1
        check_weights(weights, self.n_runs)
        if (values.shape[0] != 3 or values.shape[1] != self.n_queries
                or values.shape[2] != self.metrics.plan.n_tasks):
            raise ValueError("values are of the wrong shape")
        cdef const unsigned char[::1] retrieved = self.retrieved
        if retrieved.shape[0] != self.n_queries:
            raise ValueError("retrieved was changed")
        start(&scratch)
        try:
            with nogil:
                for i in range(self.n_queries):
                    if retrieved[i] and not self.score(i, &weights[0], &scratch, values):
                        bad = i
                        break
        finally:
            release(&scratch)
        return bad

    cdef bint score(
        self, Py_ssize_t i, const double *weights, Scratch *scratch, double[:, :, ::1] values
    ) except -1 nogil:
        cdef Py_ssize_t j, row, first = self.starts[i], n = self.starts[i + 1] - self.starts[i]
        cdef Py_ssize_t judged = self.first_judged[i], n_found = self.n_found[i]
        cdef const double *shares = self.shares + first * self.n_runs
        cdef double weight
        cdef double *scores
        cdef Query record
        cdef Values only
        cdef bint bad = False
        reserve_scores(scratch, n + 1)
        scores = scratch.scores
        memset(scores, 0, n * sizeof(double))
        for row in range(self.n_runs):
            weight = weights[row]
            for j in range(n):
                scores[j] += weight * shares[row * n + j]
        if self.counted:
            for j in range(n):
                scores[j] *= self.counts[first + j]
        for j in range(n):
            bad |= not scores[j] - scores[j] == 0
        if bad:
            return False
        record.n_retrieved = n
        record.n_judged = self.first_judged[i + 1] - judged
        record.ideal = self.grades + judged
        record.n_ideal = 0
        while (record.n_ideal < record.n_judged
               and record.ideal[record.n_ideal] >= self.metrics.plan.lowest):
            record.n_ideal += 1
        reserve_judged(scratch, record.n_judged)
        for j in range(n_found):
            scratch.found[j].place = self.places[judged + j]
            scratch.found[j].grade = self.found_grades[judged + j]
            scratch.found[j].score = scores[scratch.found[j].place]
        n_found = place_found[double](scores, n, scratch, n_found, &self.metrics.plan, True)
        only = Values(&values[0, i, 0], &values[1, i, 0], &values[2, i, 0])
        score_found(&self.metrics.plan, False, scratch, n_found, &record, &only)
        return True
