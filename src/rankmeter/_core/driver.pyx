"""From metrics to numbers: one loop over the kernels of the metrics that are asked for.

The kernels and their rows stand in the folder of metrics.
"""

from libc.math cimport INFINITY, NAN, isfinite
from libc.stdlib cimport free
from libc.string cimport memset

from rankmeter._core.memory cimport allocate
from rankmeter._core.metrics.formulas cimport gain_of, ideal_dcg
from rankmeter._core.metrics.rows cimport (
    SMALLEST_POSITIVE, MetricRow, read_gains, set_cutoff, set_parameter,
)
from rankmeter._core.query cimport (
    EXPONENTIAL, FIRST_RELEVANT, GAINS, GRADES, JUDGED, MAPPED, PY_SSIZE_T_MAX, Group, Params, Plan,
    Query, Task, Values, count_from,
)
from rankmeter._core.rounded cimport discounts

from rankmeter._core.metrics import graded, pools, rank_based, sets

METRICS = (*rank_based.ROWS, *graded.ROWS, *sets.ROWS, *pools.ROWS)

cdef double LARGEST_EXPONENTIAL_GRADE = 1023.0      # 2^1024 is not a double
cdef double SAFE_GRADE = 900.0                      # no sum of gains up to here overflows

cdef enum:                                          # what complain() may say
    LACKING = 1
    OVERFLOWING
    TOO_LARGE
    ABOVE_THE_SCALE


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
    cdef const Task *task
    cdef Query condensed
    cdef void *room = NULL
    prepare(plan, query)
    if plan.condenses:
        room = condense(query, False, &condensed)
    for i in range(plan.n_tasks):
        task = &plan.tasks[i]
        values[i] = task.kernel(&condensed if task.params.judged_only else query, &task.params)
    free(room)
    return 0


cdef void *condense(const Query *query, bint by_group, Query *condensed) except NULL nogil:
    """Take the documents that are not judged out of the ranking, or out of the groups.

    Returns the memory that the condensed query is in, for the caller to free.
    """
    cdef Py_ssize_t i, j, n = 0
    # there are no more groups than documents
    cdef void *room = allocate(
        query.n_found, sizeof(double) + sizeof(Py_ssize_t) + sizeof(Group)
    )
    cdef double *grades = <double *> room
    cdef Group *groups = <Group *> (grades + query.n_found)
    cdef Py_ssize_t *ranks = <Py_ssize_t *> (groups + query.n_groups)
    cdef Group *group
    condensed[0] = query[0]
    if by_group:
        condensed.n_groups = 0
        for i in range(query.n_groups):
            group = &groups[condensed.n_groups]
            group.above = group.first = n
            for j in range(query.groups[i].first, query.groups[i].end):
                if query.grades[j] >= 0.0:
                    grades[n] = query.grades[j]
                    n += 1
            group.end = n
            group.size = n - group.first
            condensed.n_groups += group.size > 0
    else:
        for i in range(query.n_found):
            if query.grades[i] >= 0.0:
                grades[n] = query.grades[i]
                n += 1
                ranks[n - 1] = n
    condensed.groups = groups
    condensed.grades = grades
    condensed.ranks = ranks
    condensed.n_found = condensed.n_retrieved = n
    return room


cdef int check_shapes(
    const Plan *plan, Py_ssize_t n_queries, double[:, :, ::1] values,
    const unsigned char[::1] retrieved,
) except -1:
    """Of what the doors for mappings and for rows fill in."""
    if (
        values.shape[0] != 3
        or values.shape[1] != n_queries
        or values.shape[2] != plan.n_tasks
        or retrieved.shape[0] != n_queries
    ):
        raise ValueError("values or retrieved are of the wrong shape")
    return 0


cdef int score_empty(
    const Plan *plan, const double *ideal, Py_ssize_t n_judged, double[:, :, ::1] values,
    Py_ssize_t row,
) except -1:
    """Fill the values and their bounds for a query without a ranking; `ideal` is high to low."""
    cdef Py_ssize_t i, j
    cdef Query query
    memset(&query, 0, sizeof(Query))
    query.n_judged = n_judged
    query.ideal = ideal
    query.n_ideal = count_from(plan.lowest, ideal, n_judged)
    score(plan, &query, &values[0, row, 0])
    for i in range(1, 3):
        for j in range(plan.n_tasks):
            values[i, row, j] = values[0, row, j]
    return 0


# What the order of equal scores can change

cdef void arrange(
    const Query *query, const Params *params, bint best, Py_ssize_t *ranks, double *grades
) noexcept nogil:
    """The order within the groups that gives the highest value of a metric, or the lowest.

    Of no use for metrics that neither rise nor fall with every document that moves up past one of
    less worth.
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
    cdef bint best, arranged, any_order = False
    cdef const Group *group
    cdef const Params *params
    cdef Query ordered, condensed
    cdef void *room
    cdef double value
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
            if params.judged_only:
                room = condense(&ordered, False, &condensed)
                value = plan.tasks[i].kernel(&condensed, params)
                free(room)
            else:
                value = plan.tasks[i].kernel(&ordered, params)
            (values.highest if best else values.lowest)[i] = value
    for i in range(query.n_groups):
        group = &query.groups[i]
        any_order |= (
            group.size > group.end - group.first
            or query.grades[group.first] != query.grades[group.end - 1]
        )
    for i in range(plan.n_tasks):
        if any_order and plan.tasks[i].params.erratic:
            values.lowest[i] = values.highest[i] = NAN
        elif values.lowest[i] > values.highest[i]:
            value = values.lowest[i]
            values.lowest[i] = values.highest[i]
            values.highest[i] = value
    return 0


cdef int score_expected(const Plan *plan, Query *query, Values *values) except -1 nogil:
    """Fill values.value with expectations. Needs groups and bounds."""
    cdef Py_ssize_t i
    cdef const Task *task
    cdef Query condensed
    cdef void *room = NULL
    prepare(plan, query)
    if plan.condenses:
        room = condense(query, True, &condensed)
    for i in range(plan.n_tasks):
        task = &plan.tasks[i]
        # Where no order can change a value, it has the digits that any order gives.
        values.value[i] = min(
            max(
                task.expected(&condensed if task.params.judged_only else query, &task.params),
                values.lowest[i],
            ),
            values.highest[i],
        )
    free(room)
    return 0


# From names and parameters to tasks

cdef int specify(Task *task, MetricRow row, object k, dict given) except -1:
    """Fill a task; the entries of a gain that is a mapping are filled in by the caller."""
    start_task(task, row, k)
    for name, value in given.items():
        set_parameter(&task.params, row, name, value)
    for name, default in row.defaults.items():
        if default is None and name not in given:
            raise ValueError(f"{row.name} needs {name}=, for example '{row.name}({name}=0.5)'")
    return 0


cdef int start_task(Task *task, MetricRow row, object k) except -1:
    """A task with all parameters at their defaults."""
    if row is None or row.kernel == NULL:
        raise TypeError(f"a metric is told by a row of METRICS, not {row!r}")
    task.kernel = row.kernel
    task.expected = row.expected
    task.params = row.template
    return set_cutoff(&task.params, row, k)


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
    plan.condenses = False
    for i in range(n_tasks):
        params = &tasks[i].params
        if params.discounts:
            plan.depth_of_gains = max(plan.depth_of_gains, params.k)
        if params.reads == JUDGED or params.judged_only:
            plan.lowest = -INFINITY
        elif params.reads == GRADES:
            plan.lowest = min(plan.lowest, SMALLEST_POSITIVE)
        plan.lowest = min(plan.lowest, params.rel)
        if params.judged_only:
            plan.condenses = True
            plan.depth = plan.depth_of_all = PY_SSIZE_T_MAX
        elif params.reads == FIRST_RELEVANT and params.k == PY_SSIZE_T_MAX:
            plan.first_rel = max(plan.first_rel, params.rel)
            plan.depth = params.k
        else:
            plan.depth_of_all = max(plan.depth_of_all, params.k)
            plan.depth = max(plan.depth, params.k)
    return plan


cdef class Metrics:
    """Metrics ready to be computed.

    `unexpected` names those that have no expectation over the orders of equal scores.

    Parameters
    ----------
    specifications : list of (MetricRow, k, parameters)
        `k` an int or None; the parameters that are given, by name.
    """

    def __cinit__(self, list specifications not None):
        cdef Py_ssize_t i, n = len(specifications), used = 0
        if n == 0:
            raise ValueError("no metric to compute")
        mappings = [
            [] if isinstance(given.get("gain", ""), str) else read_gains(given["gain"])
            for _, _, given in specifications
        ]
        total = 2 * sum(map(len, mappings))
        self.tasks = <Task *> allocate(n, sizeof(Task))
        self.gains = <double *> allocate(total, sizeof(double))
        unexpected = []
        for i, (row, k, given) in enumerate(specifications):
            specify(&self.tasks[i], <MetricRow?> row, k, <dict?> given)
            if self.tasks[i].expected == NULL:
                unexpected.append((<MetricRow> row).name)
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
        self.unexpected = tuple(dict.fromkeys(unexpected))
        self.plan = plan_of(self.tasks, n)

    cdef int require_expectations(self, bint wanted) except -1:
        """Refuse ties="expected" where a metric has no expectation in closed form."""
        if wanted and self.unexpected:
            raise ValueError(
                f"ties='expected' has no closed form for {', '.join(self.unexpected)}: leave them "
                "out, or see Evaluation.bounds"
            )
        return 0

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
    cdef double total
    place[0] = 0
    if n_ideal == 0:
        return 0
    for i in range(plan.n_tasks):
        params = &plan.tasks[i].params
        if ideal[0] > params.highest:
            return ABOVE_THE_SCALE
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
        if params.erratic:              # g adds gains without a discount
            total = 0.0
            for j in range(n_ideal):
                total += gain_of(ideal[j], params)
            if not isfinite(total):
                return TOO_LARGE
    return 0


cdef str complaint(int what, double grade):
    if what == LACKING:
        return f"grade {grade:g} has no gain in the mapping"
    if what == OVERFLOWING:
        return f"grade {grade:g} is over 1023, so 2^grade overflows: use gain=linear"
    if what == ABOVE_THE_SCALE:
        return f"grade {grade:g} is above the scale of err: set max="
    return f"grade {grade:g}: the gains are too large to be added"
