from rankmeter._core.query cimport Kernel, Params, Plan, Query, Task


cdef class Row:
    cdef Kernel kernel
    cdef bint graded            # reads grades through a gain; else compares them with rel
    cdef readonly str name
    cdef readonly str cutoff
    cdef readonly tuple parameters
    cdef readonly str summary
    cdef readonly str formula
    cdef readonly str convention
    cdef readonly str source
    cdef readonly dict trec_eval
    cdef readonly tuple synonyms
    cdef readonly str ambiguous


cdef class Metrics:
    cdef Plan plan
    cdef Task *tasks
    cdef double *gains
    cdef list names


cdef int specify(Task *task, Row row, object k, object rel, object gain, object discount) except -1
cdef Plan plan_of(const Task *tasks, Py_ssize_t n_tasks) noexcept
cdef str complaint(const Plan *plan, const double *ideal, Py_ssize_t n_judged, Py_ssize_t *place)
cdef int score(const Plan *plan, Query *query, double *values) except -1 nogil
