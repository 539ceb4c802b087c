"""What a door leaves of one query, and what a kernel makes of it.

A door fills a ``Query``. A kernel reads nothing else. Both may rely on what is written here.
"""


cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX


# Documents of equal score: any order of them is as good as any other.
cdef struct Group:
    Py_ssize_t above            # documents with a higher score
    Py_ssize_t size             # documents of this score, judged or not
    Py_ssize_t first            # the found ones are grades[first .. end - 1], high to low
    Py_ssize_t end


cdef struct Query:
    Py_ssize_t n_retrieved      # documents in the ranking; repeats beyond plan.depth are not seen
    Py_ssize_t n_judged         # documents with a judgment, of any grade
    Py_ssize_t n_ideal          # judged documents that the plan seeks
    Py_ssize_t n_found          # of these, in the ranking, as deep as the plan needs
    const Py_ssize_t *ranks     # [n_found] their ranks, 1-based, ascending, no two equal
    const double *grades        # [n_found] grades[i] is the grade of the document at ranks[i]
    const double *ideal         # [n_ideal] the grades of all that are sought, high to low
    Py_ssize_t n_groups
    const Group *groups         # [n_groups] all found documents, best score first; for expectations
    const double *discounts     # 1 / log2(rank + 1), as deep as a metric may ask


# What a metric reads of the grades.
cdef enum Reads:
    RELEVANT                    # which of the documents are relevant
    FIRST_RELEVANT              # the first relevant one; nothing behind it counts
    GAINS                       # the gain of each
    GRADES                      # the grade of each, where it is above 0
    JUDGED                      # which of the documents are judged at all


# How a grade becomes a gain.
cdef enum Gain:
    EXPONENTIAL
    LINEAR
    MAPPED


# One metric with its parameters, as a kernel sees it.
cdef struct Params:
    Py_ssize_t k                # cut-off; PY_SSIZE_T_MAX where there is none, or beyond all ranks
    double divisor              # the cut-off as a number, for what is divided by it
    Reads reads
    double rel                  # grades from here on are relevant, or have a gain
    Gain gain
    Py_ssize_t n_gains          # entries of the mapping, highest gain first
    const double *gain_grades
    const double *gain_values
    Py_ssize_t discount_shift   # 0: log2; 1: jarvelin, the same constants one rank later
    bint discounts              # whether it asks for discounts
    bint erratic                # it may fall when a better document moves up
    double highest              # grades above are refused
    double numbers[5]           # parameters of this metric alone, in the order of its row
    int choice                  # which word its row allows was chosen
    bint judged_only            # documents that are not judged are taken out of the ranking


ctypedef double (*Kernel)(const Query *query, const Params *params) noexcept nogil


cdef struct Task:
    Kernel kernel
    Kernel expected             # the mean over all orders within each group; NULL: not known
    Params params


# The metrics to compute, and how much of the input they need.
cdef struct Plan:
    Py_ssize_t n_tasks
    const Task *tasks
    double lowest               # judged documents with a lower grade need not be sought
    Py_ssize_t depth            # ranks beyond are not read; PY_SSIZE_T_MAX where all are
    Py_ssize_t depth_of_gains   # ranks beyond have no discount that is asked for
    Py_ssize_t depth_of_all     # beyond, only the first document of grade first_rel is needed,
    double first_rel            # if that is positive
    bint condenses              # a metric wants the documents that are judged only


# What is computed of one query: a place for each task.
cdef struct Values:
    double *value
    double *lowest              # over all orders within the groups; NULL: not wanted
    double *highest


cdef inline Py_ssize_t count_from(
    double lowest, const double *grades, Py_ssize_t n
) noexcept nogil:
    """How many of the grades, which are high to low, are at least as high as this."""
    cdef Py_ssize_t first = 0, half
    while n > 0:                    # the answer is from `first` to `first` + `n`
        half = (n + 1) >> 1
        if grades[first + half - 1] >= lowest:
            first += half
            n -= half
        else:
            n = half - 1
    return first
