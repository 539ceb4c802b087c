"""The metrics: one kernel each, and one row in ``METRICS``.

A kernel is a formula over a ``Query`` (see query.pxd) and nothing else: no ids, files or Python.
Each has a twin, ``expected_...``, for ``ties="expected"``: the mean of the formula over all orders
within each group of equal scores, in closed form (McSherry and Najork, Computing information
retrieval performance measures efficiently in the presence of tied scores, ECIR 2008). To add a
metric, write its kernels here and its row at the end of the file; the parser, the command line, the
documentation and the tests take everything they need from the row.
"""

from numbers import Integral

from libc.math cimport INFINITY, isfinite
from libc.stdlib cimport free, malloc

from rankmeter._core.query cimport (
    EXPONENTIAL, FIRST_RELEVANT, GAINS, LINEAR, MAPPED, RELEVANT, Group, Kernel, Params, Plan,
    Query, Reads, Task, Values,
)
from rankmeter._core.rounded cimport discounts, exp2m1


cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cdef double SMALLEST_POSITIVE = 5e-324
cdef double LARGEST_EXPONENTIAL_GRADE = 1023.0      # 2^1024 is no double
cdef double SAFE_GRADE = 900.0                      # no sum of gains up to here overflows

cdef enum:                                          # what complain() may say
    LACKING = 1
    OVERFLOWING
    TOO_LARGE


# What several formulas share

cdef inline Py_ssize_t relevant_judged(const Query *query, const Params *params) noexcept nogil:
    """R: the number of relevant documents in the judgments."""
    cdef Py_ssize_t count = 0
    while count < query.n_ideal and query.ideal[count] >= params.rel:
        count += 1
    return count


cdef inline Py_ssize_t relevant_found(const Query *query, const Params *params) noexcept nogil:
    """The number of relevant documents at ranks up to k."""
    cdef Py_ssize_t i, count = 0
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        count += query.grades[i] >= params.rel
    return count


cdef inline double gain_of(double grade, const Params *params) noexcept nogil:
    """The gain of a document; grades up to 0 have none."""
    cdef Py_ssize_t i
    if not grade > 0.0:
        return 0.0
    if params.gain == LINEAR:
        return grade
    if params.gain == EXPONENTIAL:
        return exp2m1(grade)
    for i in range(params.n_gains):
        if params.gain_grades[i] == grade:
            return params.gain_values[i]
    return 0.0


cdef inline double discount_at(
    Py_ssize_t rank, const Query *query, const Params *params
) noexcept nogil:
    """1 / log2(rank + 1), or 1 / max(1, log2(rank)), the same constants one rank later."""
    rank -= params.discount_shift
    return query.discounts[rank if rank > 1 else 1]


cdef double dcg(const Query *query, const Params *params) noexcept nogil:
    """DCG = sum of gain(grade at rank) * discount(rank) over ranks up to k."""
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        total += gain_of(query.grades[i], params) * discount_at(query.ranks[i], query, params)
    return total


cdef double ideal_dcg(const Query *query, const Params *params) noexcept nogil:
    """The DCG of all judged documents in the best order, highest gain first, cut at k."""
    cdef double total = 0.0
    cdef Py_ssize_t i, entry, rank = 0
    if params.gain != MAPPED:
        for i in range(min(query.n_ideal, params.k)):
            if not query.ideal[i] > 0.0:
                break
            total += gain_of(query.ideal[i], params) * discount_at(i + 1, query, params)
        return total
    # A mapping need not rise with the grade, so its entries are gone through by gain.
    for entry in range(params.n_gains):
        for i in range(query.n_ideal):
            if rank == params.k:
                return total
            if query.ideal[i] == params.gain_grades[entry]:
                rank += 1
                total += params.gain_values[entry] * discount_at(rank, query, params)
    return total


cdef inline Py_ssize_t relevant_tied(
    const Group *group, const Query *query, const Params *params
) noexcept nogil:
    """The number of relevant documents in a group."""
    cdef Py_ssize_t i = group.first
    while i < group.end and query.grades[i] >= params.rel:
        i += 1
    return i - group.first


cdef inline Py_ssize_t within(const Group *group, const Params *params) noexcept nogil:
    """The number of ranks up to k that a group takes."""
    return max(0, min(group.size, params.k - group.above))


cdef double expected_found(const Query *query, const Params *params) noexcept nogil:
    """Each document of a group stands at each of its ranks equally often."""
    cdef double total = 0.0
    cdef Py_ssize_t i
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        if group.above >= params.k:
            break
        total += (
            <double> relevant_tied(group, query, params) * <double> within(group, params)
            / <double> group.size
        )
    return total


# Kernels

cdef double recall(const Query *query, const Params *params) noexcept nogil:
    """relevant in the top k / R"""
    cdef Py_ssize_t total = relevant_judged(query, params)
    return <double> relevant_found(query, params) / <double> total if total else 0.0


cdef double expected_recall(const Query *query, const Params *params) noexcept nogil:
    cdef Py_ssize_t total = relevant_judged(query, params)
    return expected_found(query, params) / <double> total if total else 0.0


cdef double precision(const Query *query, const Params *params) noexcept nogil:
    """relevant in the top k / k"""
    return <double> relevant_found(query, params) / <double> params.k


cdef double expected_precision(const Query *query, const Params *params) noexcept nogil:
    return expected_found(query, params) / <double> params.k


cdef double hit(const Query *query, const Params *params) noexcept nogil:
    """1 if a relevant document is in the top k"""
    return 1.0 if relevant_found(query, params) else 0.0


cdef double expected_hit(const Query *query, const Params *params) noexcept nogil:
    """1 - the share of orders that put all relevant documents of the group beyond k"""
    cdef Py_ssize_t i, j, relevant, inside
    cdef double none = 1.0
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        if group.above >= params.k:
            break
        relevant = relevant_tied(group, query, params)
        if not relevant:
            continue
        inside = within(group, params)
        if relevant > group.size - inside:
            return 1.0
        for j in range(min(relevant, inside)):
            none *= (
                <double> (group.size - max(relevant, inside) - j) / <double> (group.size - j)
            )
        return 1.0 - none
    return 0.0


cdef double mrr(const Query *query, const Params *params) noexcept nogil:
    """1 / rank of the first relevant document"""
    cdef Py_ssize_t i
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        if query.grades[i] >= params.rel:
            return 1.0 / <double> query.ranks[i]
    return 0.0


cdef double expected_mrr(const Query *query, const Params *params) noexcept nogil:
    """sum of 1 / rank * share of orders with the first relevant document there"""
    cdef Py_ssize_t i, j, relevant
    cdef double total = 0.0, none_yet = 1.0, left
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        relevant = relevant_tied(group, query, params)
        if not relevant:
            continue
        for j in range(min(within(group, params), group.size - relevant + 1)):
            left = <double> (group.size - j)
            total += none_yet * (<double> relevant / left) / <double> (group.above + j + 1)
            none_yet *= (left - <double> relevant) / left
        return total
    return 0.0


cdef double map_(const Query *query, const Params *params) noexcept nogil:
    """sum of precision at the rank of each relevant document / R"""
    cdef double total = 0.0
    cdef Py_ssize_t i, relevant = 0
    cdef Py_ssize_t judged = relevant_judged(query, params)
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        if query.grades[i] >= params.rel:
            relevant += 1
            total += <double> relevant / <double> query.ranks[i]
    return total / <double> judged if judged else 0.0


cdef double expected_map(const Query *query, const Params *params) noexcept nogil:
    """At a rank of a group, a relevant document stands in a share of the orders, and before it in
    the group, in each of these, the others in proportion."""
    cdef double total = 0.0, share, others
    cdef Py_ssize_t i, j, relevant, before = 0
    cdef Py_ssize_t judged = relevant_judged(query, params)
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        if group.above >= params.k:
            break
        relevant = relevant_tied(group, query, params)
        if not relevant:
            continue
        share = <double> relevant / <double> group.size
        others = 0.0
        if group.size > 1:
            others = <double> (relevant - 1) / <double> (group.size - 1)
        for j in range(within(group, params)):
            total += (
                share * (<double> (before + 1) + others * <double> j)
                / <double> (group.above + j + 1)
            )
        before += relevant
    return total / <double> judged if judged else 0.0


cdef double ndcg(const Query *query, const Params *params) noexcept nogil:
    """DCG / ideal DCG"""
    cdef double ideal = ideal_dcg(query, params)
    return dcg(query, params) / ideal if ideal > 0.0 else 0.0


cdef double expected_ndcg(const Query *query, const Params *params) noexcept nogil:
    """Each document of a group gets the mean of the group's discounts."""
    cdef double ideal = ideal_dcg(query, params)
    cdef double total = 0.0, weight
    cdef Py_ssize_t i, j
    cdef const Group *group
    if not ideal > 0.0:
        return 0.0
    for i in range(query.n_groups):
        group = &query.groups[i]
        if group.above >= params.k:
            break
        if not query.grades[group.first] > 0.0:
            continue
        weight = 0.0
        for j in range(within(group, params)):
            weight += discount_at(group.above + j + 1, query, params)
        weight /= <double> group.size
        for j in range(group.first, group.end):
            total += gain_of(query.grades[j], params) * weight
    return total / ideal


# The one loop over metrics

cdef int prepare(const Plan *plan, Query *query) except -1 nogil:
    """Look up the discounts that a kernel may ask for."""
    cdef Py_ssize_t i, last_rank = query.n_ideal
    for i in range(query.n_groups):
        last_rank = max(last_rank, query.groups[i].above + query.groups[i].size)
    if query.n_found and not query.n_groups:
        last_rank = max(last_rank, query.ranks[query.n_found - 1])
    query.discounts = discounts(min(last_rank, plan.depth_of_gains))
    return 0


cdef int score(const Plan *plan, Query *query, double *values) except -1 nogil:
    """Fill values[0 .. plan.n_tasks - 1]."""
    cdef Py_ssize_t i
    prepare(plan, query)
    for i in range(plan.n_tasks):
        values[i] = plan.tasks[i].kernel(query, &plan.tasks[i].params)
    return 0


# What the order of equal scores can change

cdef void arrange(
    const Query *query, const Params *params, bint best, Py_ssize_t *ranks, double *grades
) noexcept nogil:
    """The order within the groups that gives the highest value of a metric, or the lowest.

    Every metric here rises when a document moves up past one of less worth.
    """
    cdef Py_ssize_t i, j, entry, n, size
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        size = group.end - group.first
        n = group.first
        if params.gain == MAPPED:
            for entry in range(params.n_gains):
                for j in range(group.first, group.end):
                    if query.grades[j] == params.gain_grades[entry]:
                        grades[n] = query.grades[j]
                        n += 1
            for j in range(group.first, group.end):
                if not query.grades[j] > 0.0:
                    grades[n] = query.grades[j]
                    n += 1
        else:
            for j in range(group.first, group.end):
                grades[j] = query.grades[j]
        for j in range(size):
            ranks[group.first + j] = group.above + j + 1
        if best:
            continue
        for j in range(size):
            ranks[group.first + j] += group.size - size
        for j in range(size // 2):
            grades[group.first + j], grades[group.end - 1 - j] = (
                grades[group.end - 1 - j], grades[group.first + j]
            )


cdef int find_bounds(
    const Plan *plan, Query *query, Py_ssize_t *ranks, double *grades, Values *values
) except -1 nogil:
    """Fill values.lowest and values.highest. Needs groups; uses `ranks` and `grades` as room."""
    cdef Py_ssize_t i
    cdef bint best, arranged
    cdef const Params *params
    cdef Query ordered
    prepare(plan, query)
    ordered = query[0]
    ordered.ranks = ranks
    ordered.grades = grades
    for best in range(2):
        arranged = False
        for i in range(plan.n_tasks):
            params = &plan.tasks[i].params
            if params.gain == MAPPED:
                arrange(query, params, best, ranks, grades)
                arranged = False
            elif not arranged:
                arrange(query, params, best, ranks, grades)
                arranged = True
            (values.highest if best else values.lowest)[i] = plan.tasks[i].kernel(
                &ordered, params
            )
    return 0


cdef int score_expected(const Plan *plan, Query *query, Values *values) except -1 nogil:
    """Fill values.value with expectations. Needs groups and bounds."""
    cdef Py_ssize_t i
    prepare(plan, query)
    for i in range(plan.n_tasks):
        # Where no order can change a value, it has the digits that any order gives.
        values.value[i] = min(
            max(plan.tasks[i].expected(query, &plan.tasks[i].params), values.lowest[i]),
            values.highest[i],
        )
    return 0


# From names and parameters to tasks

cdef class Row:
    """One metric: its kernel, its parameters and what is said of it.

    Attributes
    ----------
    name : str
    cutoff : {"required", "optional"}
        Whether ``@k`` must be given.
    parameters : tuple of str
        Names of further parameters, of ``rel``, ``gain`` and ``discount``.
    summary, formula, convention, source : str
        What it measures, its formula, what is pinned where others differ, who defined it.
    trec_eval : dict
        Spellings of trec_eval and our name for each, ``{k}`` standing for the cut-off.
    synonyms : tuple of str
        Names used elsewhere; suggested for, never accepted.
    ambiguous : str
        Why a spelling with capitals is refused, or empty.
    """

    def __init__(self):
        raise TypeError("rows are made in this module only")

    def __repr__(self):
        return f"<Row {self.name}>"


cdef Row row(
    str name, Kernel kernel, Kernel expected, Reads reads, str cutoff, tuple parameters,
    str summary, str formula, str convention, str source, dict trec_eval, tuple synonyms,
    str ambiguous="",
):
    cdef Row self = Row.__new__(Row)
    self.kernel = kernel
    self.expected = expected
    self.reads = reads
    self.name = name
    self.cutoff = cutoff
    self.parameters = parameters
    self.summary = summary
    self.formula = formula
    self.convention = convention
    self.source = source
    self.trec_eval = trec_eval
    self.synonyms = synonyms
    self.ambiguous = ambiguous
    return self


cdef double finite_or_infinite(object number) except? -1:
    """The number as a double; an integer beyond all doubles as infinity."""
    try:
        return float(number)
    except OverflowError:
        return INFINITY if number > 0 else -INFINITY


cdef int specify(Task *task, Row row, object k, object rel, object gain, object discount) except -1:
    """Fill a task; `gain` a str, or else the mapping is filled in by the caller."""
    cdef Params *params = &task.params
    task.kernel = row.kernel
    task.expected = row.expected
    params.reads = row.reads
    if k is None and row.cutoff != "required":
        params.k = PY_SSIZE_T_MAX
    elif type(k) is not int and (isinstance(k, bool) or not isinstance(k, Integral)):
        raise TypeError(f"k must be an integer, not {k!r}")
    else:
        try:
            params.k = k
        except OverflowError:
            params.k = 0
        if params.k < 1:
            raise ValueError(f"k must be between 1 and {PY_SSIZE_T_MAX}, not {k!r}")
    params.gain = EXPONENTIAL
    params.discount_shift = 0
    params.n_gains = 0
    params.gain_grades = params.gain_values = NULL
    if row.reads == GAINS:
        if discount == "jarvelin":
            params.discount_shift = 1
        elif discount != "log2":
            raise ValueError(f"discount must be 'log2' or 'jarvelin', not {discount!r}")
        params.rel = SMALLEST_POSITIVE
        if not isinstance(gain, str):
            params.gain = MAPPED
        elif gain == "linear":
            params.gain = LINEAR
        elif gain != "exponential":
            raise ValueError(
                f"gain must be 'exponential', 'linear' or a mapping grade -> gain, not {gain!r}"
            )
        return 0
    if isinstance(rel, (str, bytes)) or not hasattr(rel, "__float__"):
        raise TypeError(f"rel must be a number, not {rel!r}")
    params.rel = finite_or_infinite(rel)
    if not (params.rel > 0.0 and isfinite(params.rel)):
        raise ValueError(
            f"rel must be a finite number above 0, not {rel!r}: unjudged documents have grade 0"
        )
    return 0


cdef Plan plan_of(const Task *tasks, Py_ssize_t n_tasks) noexcept:
    cdef Plan plan
    cdef Py_ssize_t i
    cdef const Params *params
    plan.n_tasks = n_tasks
    plan.tasks = tasks
    plan.lowest = 1.0               # so that it is known whether anything is relevant
    plan.depth = plan.depth_of_all = 0
    plan.depth_of_gains = 0
    plan.first_rel = 0.0
    for i in range(n_tasks):
        params = &tasks[i].params
        plan.lowest = min(plan.lowest, params.rel)
        plan.depth = max(plan.depth, params.k)
        if params.reads == GAINS:
            plan.depth_of_gains = max(plan.depth_of_gains, params.k)
        if params.reads == FIRST_RELEVANT and params.k == PY_SSIZE_T_MAX:
            plan.first_rel = max(plan.first_rel, params.rel)
        else:
            plan.depth_of_all = max(plan.depth_of_all, params.k)
    return plan


cdef list read_gains(object gain):
    """The (grade, gain) pairs of a mapping with a positive grade, highest gain first."""
    if not hasattr(gain, "items"):
        raise TypeError(f"gain must be a str or a mapping grade -> gain, not {gain!r}")
    pairs = []
    for grade, value in gain.items():
        for number in (grade, value):
            if isinstance(number, (str, bytes)) or not hasattr(number, "__float__"):
                raise TypeError(f"gain maps numbers to numbers, not {grade!r} to {value!r}")
        if not (isfinite(finite_or_infinite(grade)) and isfinite(finite_or_infinite(value))
                and value >= 0):
            raise ValueError(f"gains must be finite and not negative: {grade!r} -> {value!r}")
        if grade > 0:
            pairs.append((float(grade), float(value)))
        elif value != 0:
            raise ValueError(
                f"grade {grade!r} must have gain 0, not {value!r}: unjudged documents have grade 0"
            )
    if len({grade for grade, _ in pairs}) < len(pairs):
        raise ValueError(f"gain has two entries for one grade: {gain!r}")
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


cdef class Metrics:
    """Metrics ready to be computed.

    Parameters
    ----------
    specifications : list of (Row, k, rel, gain, discount)
        `k` an int or None; `gain` a str or a mapping grade -> gain.
    """

    def __cinit__(self, list specifications):
        cdef Py_ssize_t i, n = len(specifications), used = 0
        if n == 0:
            raise ValueError("no metric to compute")
        mappings = [
            [] if isinstance(gain, str) or not (<Row> row).reads == GAINS else read_gains(gain)
            for row, _, _, gain, _ in specifications
        ]
        total = 2 * sum(map(len, mappings))
        self.tasks = <Task *> malloc(n * sizeof(Task))
        self.gains = <double *> malloc(max(1, total) * sizeof(double))
        if self.tasks == NULL or self.gains == NULL:
            raise MemoryError()
        for i, (row, k, rel, gain, discount) in enumerate(specifications):
            specify(&self.tasks[i], row, k, rel, gain, discount)
            pairs = mappings[i]
            self.tasks[i].params.n_gains = len(pairs)
            self.tasks[i].params.gain_grades = self.gains + used
            for grade, _ in pairs:
                self.gains[used] = grade
                used += 1
            self.tasks[i].params.gain_values = self.gains + used
            for _, value in pairs:
                self.gains[used] = value
                used += 1
        self.plan = plan_of(self.tasks, n)

    def __dealloc__(self):
        free(self.tasks)
        free(self.gains)

    def __len__(self):
        return self.plan.n_tasks


cdef int complain(
    const Plan *plan, const double *ideal, Py_ssize_t n_ideal, Py_ssize_t *place
) except -1 nogil:
    """Why these grades (high to low) have no gain, and at which place; 0 where all is well."""
    cdef Py_ssize_t i, j, entry
    cdef const Params *params
    cdef Query query
    place[0] = 0
    if n_ideal == 0:
        return 0
    for i in range(plan.n_tasks):
        params = &plan.tasks[i].params
        if params.reads != GAINS:
            continue
        if params.gain == MAPPED:
            for j in range(n_ideal):
                if not ideal[j] > 0.0:
                    break
                for entry in range(params.n_gains):
                    if params.gain_grades[entry] == ideal[j]:
                        break
                else:
                    place[0] = j
                    return LACKING
        elif ideal[0] <= SAFE_GRADE:
            continue
        if params.gain == EXPONENTIAL and ideal[0] > LARGEST_EXPONENTIAL_GRADE:
            return OVERFLOWING
        query.n_ideal = n_ideal
        query.ideal = ideal
        query.discounts = discounts(min(n_ideal, params.k))
        if not isfinite(ideal_dcg(&query, params)):
            return TOO_LARGE
    return 0


cdef str complaint(int what, double grade):
    if what == LACKING:
        return f"grade {grade:g} has no gain in the mapping"
    if what == OVERFLOWING:
        return f"grade {grade:g} is over 1023, so 2^grade overflows: use gain=linear"
    return f"grade {grade:g}: the gains are too large to be added"


# The rows

METRICS = (
    row(
        "recall", recall, expected_recall, RELEVANT, "required", ("rel",),
        summary="share of the relevant documents that are in the top k",
        formula="relevant in the top k / all relevant in the qrels",
        convention="0 where the qrels hold no relevant document",
        source="trec_eval recall",
        trec_eval={"recall_{k}": "recall@{k}"},
        synonyms=("r", "rec"),
    ),
    row(
        "precision", precision, expected_precision, RELEVANT, "required", ("rel",),
        summary="share of the top k that is relevant",
        formula="relevant in the top k / k",
        convention="divides by k, also when fewer than k were returned",
        source="trec_eval P",
        trec_eval={"P_{k}": "precision@{k}"},
        synonyms=("p", "prec"),
    ),
    row(
        "hit", hit, expected_hit, RELEVANT, "required", ("rel",),
        summary="whether a relevant document is in the top k",
        formula="1 if any relevant document is in the top k, else 0",
        convention="its mean is also called success or hit rate",
        source="trec_eval success",
        trec_eval={"success_{k}": "hit@{k}"},
        synonyms=("success", "hit_rate", "hits", "hitrate"),
    ),
    row(
        "mrr", mrr, expected_mrr, FIRST_RELEVANT, "optional", ("rel",),
        summary="how far up the first relevant document stands",
        formula="1 / rank of the first relevant document (within k)",
        convention="0 where there is none (within k)",
        source="Voorhees, TREC-8 question answering track, 1999; trec_eval recip_rank",
        trec_eval={"recip_rank": "mrr"},
        synonyms=("rr", "reciprocal_rank"),
    ),
    row(
        "map", map_, expected_map, RELEVANT, "optional", ("rel",),
        summary="precision averaged over the relevant documents",
        formula="sum of precision at the rank of each relevant document (within k) "
                "/ all relevant in the qrels",
        convention="divides by all relevant, also with a cut-off; 0 where there are none",
        source="trec_eval map, map_cut",
        trec_eval={"map_cut_{k}": "map@{k}"},
        synonyms=("ap", "average_precision"),
    ),
    row(
        "ndcg", ndcg, expected_ndcg, GAINS, "optional", ("gain", "discount"),
        summary="graded relevance, discounted by rank, against the best order possible",
        formula="DCG / ideal DCG; DCG = sum of gain(grade) * discount(rank) (within k)",
        convention="the ideal is drawn from all judged documents, cut at k; 0 where it is 0",
        source="Jarvelin and Kekalainen, TOIS 2002; exponential gain: Burges et al., ICML 2005",
        trec_eval={"ndcg_cut_{k}": "ndcg@{k}(gain=linear)"},
        synonyms=("dcg", "n_dcg"),
        ambiguous="has linear gain in some tools and exponential gain in others",
    ),
)
