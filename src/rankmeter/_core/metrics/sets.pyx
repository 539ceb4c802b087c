"""Metrics that do not depend on the order, and counts. See rank_based.pyx for what kernels are."""

from rankmeter._core.metrics.formulas cimport ratio, relevant_judged, relevant_retrieved
from rankmeter._core.metrics.rows cimport row
from rankmeter._core.query cimport JUDGED, RELEVANT, Params, Query


cdef double set_precision(const Query *query, const Params *params) noexcept nogil:
    """relevant retrieved / retrieved"""
    return ratio(<double> relevant_retrieved(query, params), <double> query.n_retrieved)


cdef double set_recall(const Query *query, const Params *params) noexcept nogil:
    """relevant retrieved / R"""
    return ratio(
        <double> relevant_retrieved(query, params), <double> relevant_judged(query, params)
    )


cdef double set_relative_precision(const Query *query, const Params *params) noexcept nogil:
    """relevant retrieved / min(retrieved, R)"""
    cdef Py_ssize_t most = min(query.n_retrieved, relevant_judged(query, params))
    return ratio(<double> relevant_retrieved(query, params), <double> most)


cdef double set_map(const Query *query, const Params *params) noexcept nogil:
    """relevant retrieved^2 / (retrieved * R)"""
    cdef double found = <double> relevant_retrieved(query, params)
    return ratio(
        found * found, <double> query.n_retrieved * <double> relevant_judged(query, params)
    )


cdef double set_f(const Query *query, const Params *params) noexcept nogil:
    """(1 + w) * P * R / (w * P + R), w = beta^2, or with weight=plain beta"""
    cdef double w = params.numbers[0]
    cdef double precision_ = set_precision(query, params)
    cdef double recall_ = set_recall(query, params)
    if params.choice == 0:
        w *= w
    return ratio((1.0 + w) * precision_ * recall_, w * precision_ + recall_)


cdef double num_q(const Query *query, const Params *params) noexcept nogil:
    """1"""
    return 1.0


cdef double num_ret(const Query *query, const Params *params) noexcept nogil:
    """retrieved"""
    return <double> query.n_retrieved


cdef double num_rel(const Query *query, const Params *params) noexcept nogil:
    """R"""
    return <double> relevant_judged(query, params)


cdef double num_rel_ret(const Query *query, const Params *params) noexcept nogil:
    """relevant retrieved"""
    return <double> relevant_retrieved(query, params)


cdef double num_nonrel_judged_ret(const Query *query, const Params *params) noexcept nogil:
    """judged, not relevant, retrieved"""
    cdef Py_ssize_t i, count = 0
    for i in range(query.n_found):
        count += 0.0 <= query.grades[i] < params.rel
    return <double> count


cdef double utility(const Query *query, const Params *params) noexcept nogil:
    """a * relevant retrieved + b * others retrieved + c * relevant not retrieved + d * the rest"""
    cdef double found = <double> relevant_retrieved(query, params)
    cdef double retrieved = <double> query.n_retrieved
    cdef double relevant = <double> relevant_judged(query, params)
    return (
        params.numbers[0] * found
        + params.numbers[1] * (retrieved - found)
        + params.numbers[2] * (relevant - found)
        + params.numbers[3] * (params.numbers[4] + found - retrieved - relevant)
    )


# Rows

ROWS = (
    row(
        "set_precision", set_precision, set_precision, RELEVANT, "none", ("rel",),
        summary="share of what was returned that is relevant",
        formula="relevant returned / returned",
        convention="0 where nothing was returned",
        source="trec_eval set_P",
        trec_eval={"set_P": "set_precision"},
        synonyms=("setp",),
    ),
    row(
        "set_recall", set_recall, set_recall, RELEVANT, "none", ("rel",),
        summary="share of the relevant documents that was returned",
        formula="relevant returned / all relevant in the qrels",
        convention="0 where the qrels hold no relevant document",
        source="trec_eval set_recall",
        trec_eval={},
        synonyms=("setr",),
    ),
    row(
        "set_relative_precision", set_relative_precision, set_relative_precision, RELEVANT, "none",
        ("rel",),
        summary="set_precision against the highest that is possible",
        formula="relevant returned / min(returned, all relevant in the qrels)",
        convention="0 where nothing was returned or is relevant",
        source="trec_eval set_relative_P",
        trec_eval={"set_relative_P": "set_relative_precision"},
        synonyms=("setrelp",),
    ),
    row(
        "set_map", set_map, set_map, RELEVANT, "none", ("rel",),
        summary="set_precision times set_recall",
        formula="relevant returned^2 / (returned * all relevant in the qrels)",
        convention="0 where nothing was returned or is relevant",
        source="trec_eval set_map",
        trec_eval={},
        synonyms=("setap",),
    ),
    row(
        "set_f", set_f, set_f, RELEVANT, "none", ("rel", "beta", "weight"),
        summary="weighted harmonic mean of set_precision and set_recall",
        formula="(1 + w) * P * R / (w * P + R), w = beta^2",
        convention="weight=plain takes w = beta, as trec_eval does; 0 where nothing relevant was "
                   "returned",
        source="van Rijsbergen, Information Retrieval, 1979; trec_eval set_F",
        trec_eval={"set_F": "set_f"},
        synonyms=("setf",),
    ),
    row(
        "num_q", num_q, num_q, RELEVANT, "none", (),
        summary="1 for each query, to be added up",
        formula="1",
        convention="Evaluation.sum adds up",
        source="trec_eval num_q",
        trec_eval={},
        synonyms=("numq",),
    ),
    row(
        "num_ret", num_ret, num_ret, RELEVANT, "none", (),
        summary="how many documents were returned",
        formula="returned",
        convention="a document that stands twice counts once",
        source="trec_eval num_ret",
        trec_eval={},
        synonyms=("numret",),
    ),
    row(
        "num_rel", num_rel, num_rel, RELEVANT, "none", ("rel",),
        summary="how many documents are relevant",
        formula="all relevant in the qrels",
        convention="grades of rel or more",
        source="trec_eval num_rel",
        trec_eval={},
        synonyms=("numrel",),
    ),
    row(
        "num_rel_ret", num_rel_ret, num_rel_ret, RELEVANT, "none", ("rel",),
        summary="how many relevant documents were returned",
        formula="relevant returned",
        convention="at any rank",
        source="trec_eval num_rel_ret",
        trec_eval={},
        synonyms=("numrelret",),
    ),
    row(
        "num_nonrel_judged_ret", num_nonrel_judged_ret, num_nonrel_judged_ret, JUDGED, "none",
        ("rel",),
        summary="how many documents that are judged and not relevant were returned",
        formula="returned with a grade of 0 or more, but below rel",
        convention="a negative grade is not a judgment",
        source="trec_eval num_nonrel_judged_ret",
        trec_eval={},
        synonyms=(),
    ),
    row(
        "utility", utility, utility, RELEVANT, "none", ("rel", "a", "b", "c", "d", "documents"),
        summary="what the returned and the missed documents are worth together",
        formula="a * relevant returned + b * others returned + c * relevant not returned "
                "+ d * others not returned",
        convention="documents is the size of the collection, which d needs",
        source="trec_eval utility",
        trec_eval={},
        synonyms=(),
    ),
)
