"""Metrics that tell judged documents from others. See rank_based.pyx for what kernels are.

A document is judged if its grade is 0 or more. A negative grade stands for a document of the pool
that nobody has judged, as in the qrels of inferred average precision.
"""

from rankmeter._core.metrics.formulas cimport not_relevant_judged, ratio, relevant_judged, within
from rankmeter._core.metrics.rows cimport row
from rankmeter._core.query cimport JUDGED, Group, Params, Query

cdef double EPSILON = 0.00001           # that of trec_eval


cdef double bpref(const Query *query, const Params *params) noexcept nogil:
    """sum over the relevant of 1 - min(n, R) / min(N, R) / R, n of the N judged not relevant stand
    before"""
    cdef Py_ssize_t relevant = relevant_judged(query, params)
    cdef Py_ssize_t most = min(relevant, not_relevant_judged(query, params))
    cdef Py_ssize_t i, before = 0
    cdef double total = 0.0
    for i in range(query.n_found):
        if query.grades[i] >= params.rel:
            total += 1.0 - ratio(<double> min(before, relevant), <double> most)
        elif query.grades[i] >= 0.0:
            before += 1
    return ratio(total, <double> relevant)


cdef double infap(const Query *query, const Params *params) noexcept nogil:
    """mean over the relevant of the precision that the judged documents before it suggest"""
    cdef double total = 0.0, before
    cdef Py_ssize_t i, relevant = 0, not_relevant = 0, pooled = 0
    for i in range(query.n_found):
        if query.grades[i] < 0.0:
            pooled += 1
        elif query.grades[i] < params.rel:
            not_relevant += 1
        else:
            before = <double> (query.ranks[i] - 1)
            if before == 0.0:
                total += 1.0
            else:
                total += 1.0 / (before + 1.0) + (before / (before + 1.0)) * (
                    <double> (relevant + not_relevant + pooled) / before
                ) * (
                    (<double> relevant + EPSILON)
                    / (<double> (relevant + not_relevant) + 2.0 * EPSILON)
                )
            relevant += 1
    return ratio(total, <double> relevant_judged(query, params))


cdef inline bint is_judged(double grade, const Params *params) noexcept nogil:
    return grade >= 0.0 or params.choice == 1


cdef Py_ssize_t judged_found(const Query *query, const Params *params) noexcept nogil:
    """The number of judged documents at ranks up to k."""
    cdef Py_ssize_t i, count = 0
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        count += is_judged(query.grades[i], params)
    return count


cdef inline Py_ssize_t judged_tied(
    const Group *group, const Query *query, const Params *params
) noexcept nogil:
    """The number of judged documents in a group."""
    cdef Py_ssize_t i, count = 0
    for i in range(group.first, group.end):
        count += is_judged(query.grades[i], params)
    return count


cdef double judged(const Query *query, const Params *params) noexcept nogil:
    """judged in the top k / min(k, retrieved)"""
    cdef Py_ssize_t depth = min(params.k, query.n_retrieved)
    return ratio(<double> judged_found(query, params), <double> depth)


cdef double expected_judged(const Query *query, const Params *params) noexcept nogil:
    cdef Py_ssize_t depth = min(params.k, query.n_retrieved)
    cdef double total = 0.0
    cdef Py_ssize_t i
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        if group.above >= params.k:
            break
        total += (
            <double> judged_tied(group, query, params) * <double> within(group, params)
            / <double> group.size
        )
    return ratio(total, <double> depth)


cdef double unjudged(const Query *query, const Params *params) noexcept nogil:
    """not judged in the top k / k"""
    cdef Py_ssize_t depth = min(params.k, query.n_retrieved)
    return <double> (depth - judged_found(query, params)) / params.divisor


cdef double expected_unjudged(const Query *query, const Params *params) noexcept nogil:
    """Counted itself: depth - the judged would lose the digits of what is small."""
    cdef Py_ssize_t others = min(params.k, query.n_retrieved)
    cdef double total = 0.0
    cdef Py_ssize_t i, inside
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        if group.above >= params.k:
            break
        inside = within(group, params)
        others -= inside
        total += (
            <double> (group.size - judged_tied(group, query, params)) * <double> inside
            / <double> group.size
        )
    # A group without found documents is not listed.
    return (<double> others + total) / params.divisor


cdef double rbp_residual(const Query *query, const Params *params) noexcept nogil:
    """p^d + (1 - p) * sum over the unjudged of p^(rank - 1), d = min(k, retrieved)"""
    cdef double p = params.numbers[0], power = 1.0, total = 0.0
    cdef Py_ssize_t i = 0, rank
    for rank in range(1, min(params.k, query.n_retrieved) + 1):
        while i < query.n_found and query.ranks[i] < rank:
            i += 1
        if not (i < query.n_found and query.ranks[i] == rank and query.grades[i] >= 0.0):
            total += power
        power *= p
        if not power > 0.0:
            break
    return power + (1.0 - p) * total


cdef double expected_rbp_residual(const Query *query, const Params *params) noexcept nogil:
    """Each document of a group gets the mean of the group's powers; the judged take theirs away."""
    cdef double p = params.numbers[0], power = 1.0, total = 0.0, weight
    cdef Py_ssize_t i, j, count, rank = 1, depth = min(params.k, query.n_retrieved)
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        if group.above >= params.k:
            break
        # A group without found documents is not listed: its ranks lie before this one.
        while rank <= group.above and power > 0.0:
            total += power
            power *= p
            rank += 1
        weight = 0.0
        for _ in range(within(group, params)):
            weight += power
            power *= p
            rank += 1
        count = 0
        for j in range(group.first, group.end):
            count += query.grades[j] >= 0.0
        total += weight * <double> (group.size - count) / <double> group.size
    while rank <= depth and power > 0.0:
        total += power
        power *= p
        rank += 1
    return power + (1.0 - p) * total


# Rows

ROWS = (
    row(
        "bpref", bpref, NULL, JUDGED, "none", ("rel",),
        summary="how often relevant documents stand before judged ones that are not",
        formula="sum over the relevant of 1 - min(n, R) / min(N, R), / R; n of the N documents "
                "judged not relevant stand before it",
        convention="documents without a judgment do not count; 0 where R is 0",
        source="Buckley and Voorhees, SIGIR 2004; trec_eval bpref",
        trec_eval={},
        synonyms=("binary_preference",),
        special={"ranx": {"bpref": "bpref"}},
    ),
    row(
        "gm_bpref", bpref, NULL, JUDGED, "none", ("rel",),
        summary="bpref, with the geometric mean over the queries",
        formula="bpref of each query; mean: exp(mean of log(max(bpref, 0.00001)))",
        convention="as gm_map",
        source="trec_eval gm_bpref",
        trec_eval={},
        synonyms=(),
        special={"mean": "geometric"},
    ),
    row(
        "infap", infap, NULL, JUDGED, "none", ("rel",),
        summary="average precision, inferred from a sample of judgments",
        formula="mean over the relevant of 1 / rank + (judged or pooled before) / rank * "
                "(relevant before + e) / (judged before + 2 e), e = 0.00001; 1 at rank 1",
        convention="a negative grade: in the pool, not judged; no grade: not in the pool",
        source="Yilmaz and Aslam, CIKM 2006; trec_eval infAP",
        trec_eval={"infAP": "infap"},
        synonyms=("inferred_ap",),
        special={"erratic": True},
    ),
    row(
        "judged", judged, expected_judged, JUDGED, "optional", ("negative",),
        summary="share of the top k that is judged",
        formula="judged in the top k / min(k, returned)",
        convention="a negative grade is not a judgment, unless negative=judged, as ir_measures has "
                   "it; 0 where nothing was returned",
        source="ir_measures Judged",
        trec_eval={},
        synonyms=(),
    ),
    row(
        "unjudged", unjudged, expected_unjudged, JUDGED, "required", (),
        summary="share of the top k that is not judged",
        formula="not judged in the top k / k",
        convention="divides by k, also when fewer than k were returned",
        source="trec_eval unj",
        trec_eval={"unj_{k}": "unjudged@{k}"},
        synonyms=("unj",),
    ),
    row(
        "rbp_residual", rbp_residual, expected_rbp_residual, JUDGED, "optional", ("p",),
        summary="how much rank-biased precision could rise if all unjudged were relevant",
        formula="p^d + (1 - p) * sum over the unjudged of p^(rank - 1), d = min(k, returned)",
        convention="trec_eval's rbp_resid has p=0.9, and gives 0 where all are judged",
        source="Moffat and Zobel, TOIS 2008",
        trec_eval={},
        synonyms=("rbp_resid",),
    ),
)
