"""Metrics of binary relevance that look at ranks.

A kernel is a formula over a ``Query`` (see query.pxd) and nothing else. Its twin, ``expected_...``,
is the mean of the formula over all orders within each group of equal scores, in closed form
(McSherry and Najork, Computing information retrieval performance measures efficiently in the
presence of tied scores, ECIR 2008). The rows stand at the end.
"""

from libc.math cimport floor, round

from rankmeter._core.metrics.formulas cimport (
    expected_found, ratio, relevant_found, relevant_judged, relevant_tied, within,
)
from rankmeter._core.metrics.rows cimport row
from rankmeter._core.query cimport FIRST_RELEVANT, PY_SSIZE_T_MAX, RELEVANT, Group, Params, Query
from rankmeter._core.rounded cimport log_of

cdef double DEEPEST = PY_SSIZE_T_MAX // 2       # no ranking is longer, in 32 bits or 64


cdef double recall(const Query *query, const Params *params) noexcept nogil:
    """relevant in the top k / R"""
    cdef Py_ssize_t total = relevant_judged(query, params)
    return <double> relevant_found(query, params) / <double> total if total else 0.0


cdef double expected_recall(const Query *query, const Params *params) noexcept nogil:
    cdef Py_ssize_t total = relevant_judged(query, params)
    return expected_found(query, params) / <double> total if total else 0.0


cdef double precision(const Query *query, const Params *params) noexcept nogil:
    """relevant in the top k / k"""
    return <double> relevant_found(query, params) / params.divisor


cdef double expected_precision(const Query *query, const Params *params) noexcept nogil:
    return expected_found(query, params) / params.divisor


cdef double hit(const Query *query, const Params *params) noexcept nogil:
    """1 if a relevant document is in the top k"""
    return 1.0 if relevant_found(query, params) else 0.0


cdef double expected_hit(const Query *query, const Params *params) noexcept nogil:
    """sum over the ranks up to k of the share of orders with the first relevant document there

    1 - the share of orders without one is the same, but loses the digits of what is small. Which
    documents are relevant and which stand up to k may be swapped: the fewer of them are gone
    through.
    """
    cdef Py_ssize_t i, j, relevant, inside, more
    cdef double total = 0.0, none_yet = 1.0, left
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
        more = max(relevant, inside)
        for j in range(min(relevant, inside)):
            left = <double> (group.size - j)
            total += none_yet * (<double> more / left)
            none_yet *= (left - <double> more) / left
        return min(total, 1.0)
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


cdef inline Py_ssize_t attainable(const Query *query, const Params *params) noexcept nogil:
    """What map divides by: R, or with norm=capped min(k, R)."""
    cdef Py_ssize_t judged = relevant_judged(query, params)
    return min(params.k, judged) if params.choice == 1 else judged


cdef double sum_of_precisions(const Query *query, const Params *params) noexcept nogil:
    """The precision at the rank of each relevant document up to k, added up."""
    cdef double total = 0.0
    cdef Py_ssize_t i, relevant = 0
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        if query.grades[i] >= params.rel:
            relevant += 1
            total += <double> relevant / <double> query.ranks[i]
    return total


cdef double map_(const Query *query, const Params *params) noexcept nogil:
    """sum of precision at the rank of each relevant document / R"""
    return ratio(sum_of_precisions(query, params), <double> attainable(query, params))


cdef double expected_map(const Query *query, const Params *params) noexcept nogil:
    """At a rank of a group, a relevant document stands in a share of the orders, and before it in
    the group, in each of these, the others in proportion."""
    cdef double total = 0.0, share, others
    cdef Py_ssize_t i, j, relevant, before = 0
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
    return ratio(total, <double> attainable(query, params))


cdef double yaap(const Query *query, const Params *params) noexcept nogil:
    """log((1 + s) / (1 + R - s)), s = sum of precision at the rank of each relevant document"""
    cdef double total = sum_of_precisions(query, params)
    return log_of((1.0 + total) / (1.0 + <double> relevant_judged(query, params) - total))


cdef double bing(const Query *query, const Params *params) noexcept nogil:
    """sum over the relevant of 1 / log2(2 + documents before it that are not relevant) / R"""
    cdef double total = 0.0
    cdef Py_ssize_t i, relevant = 0
    for i in range(query.n_found):
        if query.grades[i] >= params.rel:
            relevant += 1
            total += query.discounts[query.ranks[i] - relevant + 1]
    return ratio(total, <double> relevant_judged(query, params))


cdef double f1(const Query *query, const Params *params) noexcept nogil:
    """2 * relevant in the top k / (k + R), the harmonic mean of precision@k and recall@k"""
    cdef double found = <double> relevant_found(query, params)
    return 2.0 * found / (params.divisor + <double> relevant_judged(query, params))


cdef double expected_f1(const Query *query, const Params *params) noexcept nogil:
    cdef double found = expected_found(query, params)
    return 2.0 * found / (params.divisor + <double> relevant_judged(query, params))


cdef double relative_precision(const Query *query, const Params *params) noexcept nogil:
    """relevant in the top k / min(k, R)"""
    cdef Py_ssize_t most = min(params.k, relevant_judged(query, params))
    return ratio(<double> relevant_found(query, params), <double> most)


cdef double expected_relative_precision(const Query *query, const Params *params) noexcept nogil:
    cdef Py_ssize_t most = min(params.k, relevant_judged(query, params))
    return ratio(expected_found(query, params), <double> most)


cdef inline Params cut_at_multiple(const Query *query, const Params *params) noexcept nogil:
    """The parameters with the cut-off that R-precision gives itself."""
    cdef Params cut = params[0]
    cut.divisor = floor(params.numbers[0] * <double> relevant_judged(query, params) + 0.9)
    cut.divisor = min(cut.divisor, 4e18)
    cut.k = <Py_ssize_t> min(cut.divisor, DEEPEST)
    return cut


cdef double rprec(const Query *query, const Params *params) noexcept nogil:
    """precision at multiple * R"""
    cdef Params cut = cut_at_multiple(query, params)
    return ratio(<double> relevant_found(query, &cut), cut.divisor)


cdef double expected_rprec(const Query *query, const Params *params) noexcept nogil:
    cdef Params cut = cut_at_multiple(query, params)
    return ratio(expected_found(query, &cut), cut.divisor)


cdef double interpolated(
    const Query *query, const Params *params, double recall
) noexcept nogil:
    """The highest precision at any rank where so much of the relevant is found, or more."""
    cdef double needed = recall * <double> relevant_judged(query, params)
    cdef double precision_, highest = 0.0
    cdef Py_ssize_t i, relevant = 0
    # Up, as trec_eval did before version 10.
    needed = floor(needed + 0.9) if params.choice == 1 else round(needed)
    for i in range(query.n_found):
        if query.grades[i] >= params.rel:
            relevant += 1
            precision_ = <double> relevant / <double> query.ranks[i]
            if <double> relevant >= needed and precision_ > highest:
                highest = precision_
    return highest


cdef double iprec(const Query *query, const Params *params) noexcept nogil:
    """max of precision at the ranks that reach a share of the relevant"""
    return interpolated(query, params, params.numbers[0])


cdef double iprec11(const Query *query, const Params *params) noexcept nogil:
    """mean of iprec at recall 0, 0.1, ..., 1"""
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(11):
        total += interpolated(query, params, <double> i / 10.0)
    return total / 11.0


# Rows

ROWS = (
    row(
        "recall", recall, expected_recall, RELEVANT, "required", ("rel",),
        summary="share of the relevant documents that are in the top k",
        formula="relevant in the top k / all relevant in the qrels",
        convention="0 where the qrels hold no relevant document",
        source="trec_eval recall",
        trec_eval={"recall_{k}": "recall@{k}"},
        synonyms=("r", "rec"),
        special={"ranx": {"recall@{k}": "recall@{k}"}},
    ),
    row(
        "precision", precision, expected_precision, RELEVANT, "required", ("rel",),
        summary="share of the top k that is relevant",
        formula="relevant in the top k / k",
        convention="divides by k, also when fewer than k were returned",
        source="trec_eval P",
        trec_eval={"P_{k}": "precision@{k}"},
        synonyms=("p", "prec"),
        special={"ranx": {"precision@{k}": "precision@{k}"}},
    ),
    row(
        "hit", hit, expected_hit, RELEVANT, "required", ("rel",),
        summary="whether a relevant document is in the top k",
        formula="1 if any relevant document is in the top k, else 0",
        convention="its mean is also called success or hit rate",
        source="trec_eval success",
        trec_eval={"success_{k}": "hit@{k}"},
        synonyms=("success", "hit_rate", "hits", "hitrate"),
        special={"ranx": {"hit_rate@{k}": "hit@{k}"}},
    ),
    row(
        "mrr", mrr, expected_mrr, FIRST_RELEVANT, "optional", ("rel",),
        summary="how far up the first relevant document stands",
        formula="1 / rank of the first relevant document (within k)",
        convention="0 where there is none (within k)",
        source="Voorhees, TREC-8 question answering track, 1999; trec_eval recip_rank",
        trec_eval={"recip_rank": "mrr"},
        synonyms=("rr", "reciprocal_rank"),
        special={"ranx": {"mrr": "mrr", "mrr@{k}": "mrr@{k}"}},
    ),
    row(
        "map", map_, expected_map, RELEVANT, "optional", ("rel", "norm"),
        summary="precision averaged over the relevant documents",
        formula="sum of precision at the rank of each relevant document (within k) "
                "/ all relevant in the qrels",
        convention="divides by all relevant, also with a cut-off, as trec_eval does; norm=capped "
                   "divides by min(k, R), as recommender libraries do; 0 where there are none",
        source="trec_eval map, map_cut",
        trec_eval={"map_cut_{k}": "map@{k}"},
        synonyms=("ap", "average_precision"),
        special={"ranx": {"map": "map", "map@{k}": "map@{k}"}},
    ),
    row(
        "gm_map", map_, expected_map, RELEVANT, "none", ("rel",),
        summary="map, with the geometric mean over the queries",
        formula="map of each query; mean: exp(mean of log(max(map, 0.00001)))",
        convention="rewards a system for its worst queries",
        source="Robertson, On GMAP, CIKM 2006; trec_eval gm_map",
        trec_eval={},
        synonyms=("gmap",),
        special={"mean": "geometric"},
    ),
    row(
        "f1", f1, expected_f1, RELEVANT, "required", ("rel",),
        summary="harmonic mean of precision@k and recall@k",
        formula="2 * relevant in the top k / (k + all relevant in the qrels)",
        convention="as precision, counts k documents also when fewer were returned",
        source="van Rijsbergen, Information Retrieval, 1979",
        trec_eval={},
        synonyms=("f", "f_score"),
        special={"ranx": {"f1@{k}": "f1@{k}"}},
    ),
    row(
        "relative_precision", relative_precision, expected_relative_precision, RELEVANT, "required",
        ("rel",),
        summary="precision@k against the highest that is possible",
        formula="relevant in the top k / min(k, all relevant in the qrels)",
        convention="0 where the qrels hold no relevant document",
        source="trec_eval relative_P",
        trec_eval={"relative_P_{k}": "relative_precision@{k}"},
        synonyms=(),
    ),
    row(
        "capped_recall", relative_precision, expected_relative_precision, RELEVANT, "required",
        ("rel",),
        summary="recall@k against the highest that is possible",
        formula="relevant in the top k / min(k, all relevant in the qrels)",
        convention="the same number as relative_precision",
        source="Thakur et al., BEIR, NeurIPS 2021",
        trec_eval={},
        synonyms=("r_cap", "recall_cap"),
    ),
    row(
        "rprec", rprec, expected_rprec, RELEVANT, "none", ("rel", "multiple"),
        summary="precision at the number of relevant documents",
        formula="relevant in the top c / c, c = multiple * all relevant in the qrels",
        convention="c is rounded down after 0.9 is added; 0 where it is 0",
        source="trec_eval Rprec, Rprec_mult",
        trec_eval={"Rprec": "rprec", "Rprec_mult_{x}": "rprec(multiple={x})"},
        synonyms=("r_precision",),
        special={"ranx": {"r-precision": "rprec", "r_precision": "rprec"}},
    ),
    row(
        "iprec", iprec, NULL, RELEVANT, "none", ("rel", "recall", "rounding"),
        summary="interpolated precision at a level of recall",
        formula="max of precision at all ranks where recall * R relevant documents are found, or "
                "more",
        convention="recall * R is rounded to the nearest, half up, as trec_eval does from 10 on; "
                   "rounding=up adds 0.9 and rounds down, as before",
        source="trec_eval iprec_at_recall",
        trec_eval={"iprec_at_recall_{x}": "iprec(recall={x})"},
        synonyms=("interpolated_precision",),
    ),
    row(
        "iprec11", iprec11, NULL, RELEVANT, "none", ("rel", "rounding"),
        summary="interpolated precision, averaged over eleven levels of recall",
        formula="mean of iprec at recall 0, 0.1, ..., 1",
        convention="as iprec",
        source="trec_eval 11pt_avg",
        trec_eval={"11pt_avg": "iprec11"},
        synonyms=("eleven_point_average",),
    ),
    row(
        "yaap", yaap, NULL, RELEVANT, "none", ("rel",),
        summary="average precision on the scale of log odds",
        formula="log((1 + s) / (1 + R - s)), s = sum of precision at the rank of each relevant "
                "document",
        convention="natural logarithm; may be negative",
        source="Robertson, On smoothing average precision, ECIR 2012; trec_eval yaap",
        trec_eval={},
        synonyms=(),
    ),
    row(
        "bing", bing, NULL, RELEVANT, "none", ("rel",),
        summary="gain of the relevant, discounted by what stands before them",
        formula="sum over the relevant of 1 / log2(2 + documents before it that are not relevant) "
                "/ all relevant in the qrels",
        convention="0 where the qrels hold no relevant document",
        source="trec_eval binG",
        trec_eval={"binG": "bing"},
        synonyms=(),
        special={"discounts": True},
    ),
)
