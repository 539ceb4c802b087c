"""What a door leaves of one query, and what a kernel makes of it.

A door fills a ``Query``. A kernel reads nothing else. Both may rely on what is written here.
"""


cdef struct Query:
    Py_ssize_t n_retrieved      # documents in the ranking; repeats beyond plan.depth are not seen
    Py_ssize_t n_judged         # documents with a judgment, of any grade
    Py_ssize_t n_found          # judged documents that the plan seeks and the ranking holds
    const Py_ssize_t *ranks     # [n_found] their ranks, 1-based, ascending, no two equal
    const double *grades        # [n_found] grades[i] is the grade of the document at ranks[i]
    const double *ideal         # [n_judged] the grades of all judged documents, high to low
    const double *discounts     # 1 / log2(rank + 1) up to every rank and count above; by score()


# How nDCG turns a grade into a gain.
cdef enum Gain:
    EXPONENTIAL
    LINEAR
    MAPPED


# One metric with its parameters, as a kernel sees it.
cdef struct Params:
    Py_ssize_t k                # cut-off; PY_SSIZE_T_MAX where there is none
    bint graded                 # reads gains; else compares grades with rel
    double rel                  # grades from here on are relevant, or have a gain
    Gain gain
    Py_ssize_t n_gains          # entries of the mapping, highest gain first
    const double *gain_grades
    const double *gain_values
    Py_ssize_t discount_shift   # 0: log2; 1: jarvelin, the same constants one rank later


ctypedef double (*Kernel)(const Query *query, const Params *params) noexcept nogil


cdef struct Task:
    Kernel kernel
    Params params


# The metrics to compute, and how much of the input they need.
cdef struct Plan:
    Py_ssize_t n_tasks
    const Task *tasks
    double lowest               # judged documents with a lower grade need not be sought
    Py_ssize_t depth            # ranks beyond are not read; PY_SSIZE_T_MAX where all are
