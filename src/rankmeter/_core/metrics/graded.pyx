"""Metrics of graded relevance. See rank_based.pyx for what kernels are."""

from rankmeter._core.metrics.formulas cimport dcg, discount_at, gain_of, ideal_dcg, ratio, within
from rankmeter._core.metrics.rows cimport row
from rankmeter._core.query cimport GAINS, GRADES, MAPPED, Group, Params, Query
from rankmeter._core.rounded cimport exp2_of, exp2m1, log2_of


cdef double ndcg(const Query *query, const Params *params) noexcept nogil:
    """DCG / ideal DCG"""
    cdef double ideal = ideal_dcg(query, params)
    return dcg(query, params) / ideal if ideal > 0.0 else 0.0


cdef double dcg_(const Query *query, const Params *params) noexcept nogil:
    """sum of gain * discount"""
    return dcg(query, params)


cdef double idcg(const Query *query, const Params *params) noexcept nogil:
    """the DCG of the best order"""
    return ideal_dcg(query, params)


cdef double expected_dcg(const Query *query, const Params *params) noexcept nogil:
    """Each document of a group gets the mean of the group's discounts."""
    cdef double total = 0.0, weight
    cdef Py_ssize_t i, j
    cdef const Group *group
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
    return total


cdef double expected_ndcg(const Query *query, const Params *params) noexcept nogil:
    cdef double ideal = ideal_dcg(query, params)
    return expected_dcg(query, params) / ideal if ideal > 0.0 else 0.0


cdef inline double next_ideal_gain(
    const Query *query, const Params *params, Py_ssize_t *entry, Py_ssize_t *place
) noexcept nogil:
    """The next gain of the best order, and 0 behind the last; both places begin at 0."""
    cdef Py_ssize_t i
    if params.gain != MAPPED:
        i = place[0]
        if i == query.n_ideal or not query.ideal[i] > 0.0:
            return 0.0
        place[0] = i + 1
        return gain_of(query.ideal[i], params)
    # A mapping need not rise with the grade, so its entries are gone through by gain.
    while entry[0] < params.n_gains:
        while place[0] < query.n_ideal:
            i = place[0]
            place[0] = i + 1
            if query.ideal[i] == params.gain_grades[entry[0]]:
                return params.gain_values[entry[0]]
        entry[0] += 1
        place[0] = 0
    return 0.0


cdef double ndcg_rel(const Query *query, const Params *params) noexcept nogil:
    """mean over the relevant of nDCG at their ranks, and of nDCG at the end for those not found"""
    cdef double found = 0.0, ideal = 0.0, total = 0.0, gain, ideal_gain
    cdef Py_ssize_t i, entry = 0, place = 0, n_ideal = 0, n_found = 0
    ideal_gain = next_ideal_gain(query, params, &entry, &place)
    if not ideal_gain > 0.0:
        return 0.0
    for i in range(query.n_found):
        gain = gain_of(query.grades[i], params)
        if not gain > 0.0:
            continue
        while n_ideal < query.ranks[i] and ideal_gain > 0.0:
            n_ideal += 1
            ideal += ideal_gain * discount_at(n_ideal, query, params)
            ideal_gain = next_ideal_gain(query, params, &entry, &place)
        found += gain * discount_at(query.ranks[i], query, params)
        total += found / ideal
        n_found += 1
    while ideal_gain > 0.0:
        n_ideal += 1
        ideal += ideal_gain * discount_at(n_ideal, query, params)
        ideal_gain = next_ideal_gain(query, params, &entry, &place)
    total += <double> (n_ideal - n_found) * (found / ideal)
    return total / <double> n_ideal


cdef double rndcg(const Query *query, const Params *params) noexcept nogil:
    """mean of nDCG at the ranks where the best order comes to a lower gain, and at the end"""
    cdef double found = 0.0, ideal = 0.0, total = 0.0, ideal_gain, next_gain
    cdef Py_ssize_t i = 0, entry = 0, place = 0, n_ideal = 0, n_levels = 0
    ideal_gain = next_ideal_gain(query, params, &entry, &place)
    if not ideal_gain > 0.0:
        return 0.0
    while ideal_gain > 0.0:
        n_ideal += 1
        ideal += ideal_gain * discount_at(n_ideal, query, params)
        next_gain = next_ideal_gain(query, params, &entry, &place)
        if next_gain != ideal_gain:
            while i < query.n_found and query.ranks[i] <= n_ideal:
                found += (
                    gain_of(query.grades[i], params) * discount_at(query.ranks[i], query, params)
                )
                i += 1
            total += found / ideal
            n_levels += 1
        ideal_gain = next_gain
    # trec_eval does not count an end that comes right behind the last level.
    if query.n_retrieved > n_ideal + 1:
        total += dcg(query, params) / ideal
        n_levels += 1
    return total / <double> n_levels


cdef double g(const Query *query, const Params *params) noexcept nogil:
    """sum of gain / log2(2 + cost - gains so far) / sum of ideal gains; cost = sum over the ranks
    so far of max(1, gain of the best order)"""
    cdef double total = 0.0, gains = 0.0, ideal = 0.0, cost = 0.0, gain, ideal_gain, beyond
    cdef Py_ssize_t i, entry = 0, place = 0, n_ideal = 0
    ideal_gain = next_ideal_gain(query, params, &entry, &place)
    for i in range(query.n_found):
        while n_ideal < query.ranks[i] and ideal_gain > 0.0:
            n_ideal += 1
            ideal += ideal_gain
            cost += max(1.0, ideal_gain)
            ideal_gain = next_ideal_gain(query, params, &entry, &place)
        gain = gain_of(query.grades[i], params)
        if gain > 0.0:
            gains += gain
            beyond = <double> max(0, query.ranks[i] - n_ideal)
            # Large numbers near each other: their difference first.
            total += gain / log2_of(2.0 + max(cost + beyond - gains, 0.0))
    while ideal_gain > 0.0:
        ideal += ideal_gain
        ideal_gain = next_ideal_gain(query, params, &entry, &place)
    return ratio(total, ideal)


cdef inline double worth(double grade, double highest, const Params *params) noexcept nogil:
    """What RBP counts a document for: 0 or 1, or with grading=graded a share of the highest."""
    if params.choice == 0:
        return 1.0 if grade >= params.rel else 0.0
    return grade / highest if grade > 0.0 else 0.0


cdef inline double highest_grade(const Query *query) noexcept nogil:
    return max(1.0, query.ideal[0] if query.n_ideal else 0.0)


cdef double rbp(const Query *query, const Params *params) noexcept nogil:
    """(1 - p) * sum of worth * p^(rank - 1)"""
    cdef double p = params.numbers[0], power = 1.0, total = 0.0
    cdef double highest = highest_grade(query)
    cdef Py_ssize_t i, rank = 1
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        while rank < query.ranks[i] and power > 0.0:
            power *= p
            rank += 1
        total += worth(query.grades[i], highest, params) * power
    return (1.0 - p) * total


cdef double expected_rbp(const Query *query, const Params *params) noexcept nogil:
    """Each document of a group gets the mean of the group's powers."""
    cdef double p = params.numbers[0], power = 1.0, total = 0.0, weight
    cdef double highest = highest_grade(query)
    cdef Py_ssize_t i, j, rank = 1
    cdef const Group *group
    for i in range(query.n_groups):
        group = &query.groups[i]
        if group.above >= params.k:
            break
        weight = 0.0
        for j in range(within(group, params)):
            while rank < group.above + j + 1 and power > 0.0:
                power *= p
                rank += 1
            if not power > 0.0:
                break
            weight += power
        weight /= <double> group.size
        for j in range(group.first, group.end):
            total += worth(query.grades[j], highest, params) * weight
    return (1.0 - p) * total


cdef double err(const Query *query, const Params *params) noexcept nogil:
    """sum of 1 / rank * (2^grade - 1) / 2^max * the chance that nothing before was enough"""
    cdef double left = 1.0, total = 0.0, enough
    cdef double most = exp2_of(params.highest)
    cdef Py_ssize_t i
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        if query.grades[i] > 0.0:
            enough = exp2m1(query.grades[i]) / most
            total += 1.0 / <double> query.ranks[i] * enough * left
            left *= 1.0 - enough
    return total


# Rows

ROWS = (
    row(
        "ndcg", ndcg, expected_ndcg, GAINS, "optional", ("gain", "discount"),
        summary="graded relevance, discounted by rank, against the best order possible",
        formula="DCG / ideal DCG; DCG = sum of gain(grade) * discount(rank) (within k)",
        convention="the ideal is drawn from all judged documents, cut at k; 0 where it is 0",
        source="Jarvelin and Kekalainen, TOIS 2002; exponential gain: Burges et al., ICML 2005",
        trec_eval={"ndcg_cut_{k}": "ndcg@{k}(gain=linear)"},
        synonyms=("n_dcg",),
        special={
            "ambiguous": "has linear gain in some tools and exponential gain in others",
            "ranx": {"ndcg_burges": "ndcg", "ndcg_burges@{k}": "ndcg@{k}"},
        },
    ),
    row(
        "dcg", dcg_, expected_dcg, GAINS, "optional", ("gain", "discount"),
        summary="graded relevance, discounted by rank",
        formula="sum of gain(grade) * discount(rank) (within k)",
        convention="the numerator of ndcg; not comparable between queries",
        source="Jarvelin and Kekalainen, TOIS 2002",
        trec_eval={},
        synonyms=(),
        special={
            "ambiguous": "has linear gain in some tools and exponential gain in others",
            "ranx": {"dcg_burges": "dcg", "dcg_burges@{k}": "dcg@{k}"},
        },
    ),
    row(
        "idcg", idcg, idcg, GAINS, "optional", ("gain", "discount"),
        summary="the highest DCG that is possible",
        formula="DCG of all judged documents in the best order (within k)",
        convention="the denominator of ndcg",
        source="Jarvelin and Kekalainen, TOIS 2002",
        trec_eval={},
        synonyms=("ideal_dcg",),
        special={"ambiguous": "has linear gain in some tools and exponential gain in others"},
    ),
    row(
        "ndcg_rel", ndcg_rel, NULL, GAINS, "none", ("gain",),
        summary="ndcg averaged over the relevant documents",
        formula="mean over the documents with a gain of nDCG at their ranks, and of nDCG at the "
                "end for those that are not found",
        convention="linear gain unless told otherwise; 0 where there are none",
        source="trec_eval ndcg_rel",
        trec_eval={},
        synonyms=(),
        special={"defaults": {"gain": "linear"}},
    ),
    row(
        "rndcg", rndcg, NULL, GAINS, "none", ("gain",),
        summary="ndcg averaged over the levels of gain",
        formula="mean of nDCG at the ranks where the best order comes to a lower gain, and at the "
                "end of the ranking",
        convention="linear gain unless told otherwise; the end does not count where it comes at "
                   "the last level or one rank behind it; 0 where nothing has a gain",
        source="trec_eval Rndcg",
        trec_eval={"Rndcg": "rndcg"},
        synonyms=(),
        special={"defaults": {"gain": "linear"}},
    ),
    row(
        "g", g, NULL, GAINS, "none", ("gain",),
        summary="gain, discounted by what stands before it against the best order",
        formula="sum of gain / log2(2 + cost - gains so far) / sum of ideal gains; cost = sum over "
                "the ranks so far of max(1, gain of the best order)",
        convention="linear gain unless told otherwise; 0 where nothing has a gain",
        source="trec_eval G",
        trec_eval={"G": "g"},
        synonyms=("normalized_gain",),
        special={"defaults": {"gain": "linear"}, "erratic": True},
    ),
    row(
        "rbp", rbp, expected_rbp, GRADES, "optional", ("rel", "p", "grading"),
        summary="rank-biased precision: what a reader of some patience meets",
        formula="(1 - p) * sum over the relevant of p^(rank - 1) (within k)",
        convention="grading=graded counts a document grade / the highest grade of the query, if "
                   "that is above 1; trec_eval's rbp has p=0.9",
        source="Moffat and Zobel, TOIS 2008",
        trec_eval={},
        synonyms=("rank_biased_precision",),
    ),
    row(
        "err", err, NULL, GAINS, "optional", ("max",),
        summary="expected reciprocal rank of the document that is enough",
        formula="sum over the ranks (within k) of 1 / rank * e(grade) * product of 1 - e over the "
                "ranks before, e(grade) = (2^grade - 1) / 2^max",
        convention="max is the highest grade of the scale, 4 as in gdeval; a higher one is refused",
        source="Chapelle et al., CIKM 2009",
        trec_eval={},
        synonyms=("expected_reciprocal_rank",),
    ),
)
