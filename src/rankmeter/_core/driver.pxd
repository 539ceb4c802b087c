from rankmeter._core.metrics.rows cimport MetricRow
from rankmeter._core.query cimport Plan, Query, Task, Values


cdef class Metrics:
    cdef Plan plan
    cdef Task *tasks
    cdef double *gains
    cdef readonly tuple unexpected
    cdef int require_expectations(self, bint wanted) except -1


cdef int start_task(Task *task, MetricRow row, object k) except -1
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
cdef int check_shapes(
    const Plan *plan, Py_ssize_t n_queries, double[:, :, ::1] values,
    const unsigned char[::1] retrieved,
) except -1
cdef int score_empty(
    const Plan *plan, const double *ideal, Py_ssize_t n_judged, double[:, :, ::1] values,
    Py_ssize_t row,
) except -1
