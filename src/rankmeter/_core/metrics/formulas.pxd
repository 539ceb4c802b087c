"""What several formulas share."""

from rankmeter._core.query cimport EXPONENTIAL, LINEAR, MAPPED, Group, Params, Query, count_from
from rankmeter._core.rounded cimport exp2m1


cdef inline Py_ssize_t relevant_judged(const Query *query, const Params *params) noexcept nogil:
    """R: the number of relevant documents in the judgments."""
    return count_from(params.rel, query.ideal, query.n_ideal)


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


cdef inline double dcg(const Query *query, const Params *params) noexcept nogil:
    """DCG = sum of gain(grade at rank) * discount(rank) over ranks up to k."""
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(query.n_found):
        if query.ranks[i] > params.k:
            break
        total += gain_of(query.grades[i], params) * discount_at(query.ranks[i], query, params)
    return total


cdef inline double ideal_dcg(const Query *query, const Params *params) noexcept nogil:
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


cdef inline double expected_found(const Query *query, const Params *params) noexcept nogil:
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


cdef inline Py_ssize_t relevant_retrieved(const Query *query, const Params *params) noexcept nogil:
    """The number of relevant documents in the whole ranking, whatever their order."""
    cdef Py_ssize_t i, count = 0
    for i in range(query.n_found):
        count += query.grades[i] >= params.rel
    return count


cdef inline Py_ssize_t not_relevant_judged(const Query *query, const Params *params) noexcept nogil:
    """The number of documents that are judged and not relevant."""
    cdef Py_ssize_t i, count = 0
    for i in range(query.n_ideal):
        count += 0.0 <= query.ideal[i] < params.rel
    return count


cdef inline double ratio(double a, double b) noexcept nogil:
    """a / b, and 0 where b is 0."""
    return a / b if b != 0.0 else 0.0
