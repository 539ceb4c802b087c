from rankmeter._core.query cimport Kernel, Params, Plan, Query, Reads, Task, Values


cdef class Row:
    cdef Kernel kernel
    cdef Kernel expected
    cdef Reads reads
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


cdef int specify(Task *task, Row row, object k, object rel, object gain, object discount) except -1
cdef Plan plan_of(const Task *tasks, Py_ssize_t n_tasks) noexcept
cdef int complain(
    const Plan *plan, const double *ideal, Py_ssize_t n_ideal, Py_ssize_t *place
) except -1 nogil
cdef str complaint(int what, double grade)
cdef int score(const Plan *plan, Query *query, double *values) except -1 nogil
cdef int find_bounds(
    const Plan *plan, Query *query, Py_ssize_t *ranks, double *grades, Values *values
) except -1 nogil
cdef int score_expected(const Plan *plan, Query *query, Values *values) except -1 nogil
