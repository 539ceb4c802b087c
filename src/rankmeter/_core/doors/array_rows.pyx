"""ArrayRows of arrays, the grades in them, and what may be wrong with them."""

import sys

from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.math cimport ceil, isfinite
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memset

from rankmeter._core.driver cimport complain, complaint
from rankmeter._core.grades cimport sort_grades
from rankmeter._core.query cimport Plan, Query
from rankmeter._core.ranks cimport MOST_BEST
from rankmeter._core.scratch cimport Scratch, reserve_counts, reserve_judged

NAMES = {
    NAN_SCORE: "nan score", BAD_GRADE: "bad grade", NO_GAIN: "no gain",
    COLUMN_OUTSIDE: "column outside", COLUMN_TWICE: "column twice", ID_TWICE: "id twice",
    ID_NEGATIVE: "id negative", ID_AFTER_PAD: "id after pad", BEYOND_IDEAL: "beyond ideal",
}

cdef object describe_problem(const Problem *problem):
    """(name, row, place, id, number or message), or None where nothing is wrong."""
    cdef object found = problem.number
    if problem.fault == NOTHING:
        return None
    if problem.fault == NO_GAIN:
        found = complaint(problem.what, problem.number)
    return NAMES[problem.fault], problem.row, problem.place, problem.id, found


cdef class ArrayRows:
    """An array in rows, held until this is gone.

    Parameters
    ----------
    array : object with the buffer protocol
        Two-dimensional; or one-dimensional, cut by `indptr`. Values of a row lie side by side.
    indptr : int64 array, optional
        Where each row starts, and the end of the last. Nobody else may change it.
    """

    def __cinit__(self, array, const int64_t[::1] indptr=None):
        cdef Py_ssize_t i
        PyObject_GetBuffer(array, &self.buffer, PyBUF_STRIDES | PyBUF_FORMAT)
        self.held = True
        native = "@=<" if sys.byteorder == "little" else "@=>"
        code = self.buffer.format.decode().lstrip(native)
        self.kind = ord("f" if code in "fd" else "u" if code in "?B" else "i" if code in "hilq"
                        else "x")
        if self.kind == b"x":
            raise TypeError(f"no rows of {code}")
        if self.buffer.ndim != (2 if indptr is None else 1):
            raise ValueError("rows must have two dimensions, or one and indptr")
        if (self.buffer.shape[self.buffer.ndim - 1] > 1
                and self.buffer.strides[self.buffer.ndim - 1] != self.buffer.itemsize):
            raise ValueError("the values of a row must lie side by side")
        if indptr is None:
            self.count = self.buffer.shape[0]
            return
        if indptr.shape[0] < 1 or indptr[0] != 0:
            raise ValueError("indptr must start with 0")
        for i in range(1, indptr.shape[0]):
            if indptr[i] < indptr[i - 1]:
                raise ValueError("indptr must not fall")
        if indptr[indptr.shape[0] - 1] != self.buffer.shape[0]:
            raise ValueError("indptr must end with the length")
        self.indptr = indptr
        self.starts = &indptr[0]
        self.count = indptr.shape[0] - 1

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.buffer)

    cdef const void *row(self, Py_ssize_t i, Py_ssize_t *n) noexcept nogil:
        if self.starts != NULL:
            n[0] = self.starts[i + 1] - self.starts[i]
            return <const char *> self.buffer.buf + self.starts[i] * self.buffer.itemsize
        n[0] = self.buffer.shape[1]
        return <const char *> self.buffer.buf + i * self.buffer.strides[0]


cdef int check_part(
    Py_ssize_t begin, Py_ssize_t end, ArrayRows rows, const Plan *plan, double[:, :, ::1] values,
    Py_ssize_t depth, unsigned char[::1] answerable,
) except -1:
    if not 0 <= begin <= end <= rows.count:
        raise ValueError("no such rows")
    if (values.shape[0] != depth or values.shape[1] < end or values.shape[2] != plan.n_tasks
            or answerable.shape[0] < end):
        raise ValueError("values or answerable are of the wrong shape")
    return 0


# Labels of candidates

cdef bint all_finite(const label *labels, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint bad = False
    if label is float or label is double:
        for i in range(n):
            bad |= not labels[i] - labels[i] == 0
    return not bad


cdef Py_ssize_t read_grades(
    const label *labels, Py_ssize_t n, double lowest, Scratch *scratch, Problem *problem
) except -1 nogil:
    """Find the candidates of grade `lowest` or more, from left to right."""
    cdef Py_ssize_t i, count = 0
    cdef Py_ssize_t *columns
    cdef int64_t bound
    cdef double grade
    if not all_finite(labels, n):
        for i in range(n):
            if not isfinite(<double> labels[i]):
                problem.fault = BAD_GRADE
                problem.place = i
                problem.number = <double> labels[i]
                return 0
    reserve_counts(scratch, n)
    columns = scratch.counts
    if label is float or label is double:
        for i in range(n):
            columns[count] = i
            count += <double> labels[i] >= lowest
    else:
        bound = <int64_t> max(-9e18, min(ceil(lowest), 9e18))
        for i in range(n):
            columns[count] = i
            count += <int64_t> labels[i] >= bound
    reserve_judged(scratch, count)
    for i in range(count):
        grade = <double> labels[columns[i]]
        if not isfinite(grade):                 # since it was looked at first
            problem.fault = BAD_GRADE
            problem.place = columns[i]
            problem.number = grade
            return 0
        scratch.found[i].place = columns[i]
        scratch.found[i].grade = scratch.grades[i] = grade
    return count


cdef Py_ssize_t tally_grades(
    const label *labels, Py_ssize_t n, double lowest, Scratch *scratch
) except -2 nogil:
    """Sort the grades of `lowest` or more into the ideal; -1 unless all are whole and below 16."""
    cdef Py_ssize_t *counts
    cdef Py_ssize_t i = 0, j, whole, first, count = 0, size = 4 * 16
    cdef int64_t wide = 0
    if label is float or label is double:
        return -1
    else:
        reserve_counts(scratch, size)
        counts = scratch.counts
        memset(counts, 0, size * sizeof(Py_ssize_t))
        # Four sets of counts, so that increments of the usual grade do not wait for each other.
        while i + 4 <= n:
            wide |= <int64_t> labels[i] | labels[i + 1] | labels[i + 2] | labels[i + 3]
            counts[labels[i] & 15] += 1
            counts[16 + (labels[i + 1] & 15)] += 1
            counts[32 + (labels[i + 2] & 15)] += 1
            counts[48 + (labels[i + 3] & 15)] += 1
            i += 4
        while i < n:
            wide |= labels[i]
            counts[labels[i] & 15] += 1
            i += 1
        if not 0 <= wide < 16:
            return -1
        first = <Py_ssize_t> max(0.0, min(ceil(lowest), 16.0))
        for whole in range(first, 16):
            counts[whole] += counts[16 + whole] + counts[32 + whole] + counts[48 + whole]
            count += counts[whole]
        reserve_judged(scratch, max(count, <Py_ssize_t> MOST_BEST))
        i = 0
        for whole in range(15, first - 1, -1):
            for j in range(i, min(i + counts[whole], count)):
                scratch.ideal[j] = <double> whole
            i += counts[whole]
        return count


cdef Py_ssize_t tally_row(
    ArrayRows labels, const void *row, Py_ssize_t n, double lowest, Scratch *scratch
) except -2 nogil:
    if labels.kind == b"f":
        return -1
    if labels.buffer.itemsize == 1:
        return tally_grades(<const uint8_t *> row, n, lowest, scratch)
    if labels.buffer.itemsize == 2:
        return tally_grades(<const int16_t *> row, n, lowest, scratch)
    if labels.buffer.itemsize == 4:
        return tally_grades(<const int32_t *> row, n, lowest, scratch)
    return tally_grades(<const int64_t *> row, n, lowest, scratch)


cdef Py_ssize_t read_row(
    ArrayRows labels, const void *row, Py_ssize_t n, double lowest, Scratch *scratch,
    Problem *problem,
) except -1 nogil:
    if labels.kind == b"f":
        if labels.buffer.itemsize == 4:
            return read_grades(<const float *> row, n, lowest, scratch, problem)
        return read_grades(<const double *> row, n, lowest, scratch, problem)
    if labels.buffer.itemsize == 1:
        return read_grades(<const uint8_t *> row, n, lowest, scratch, problem)
    if labels.buffer.itemsize == 2:
        return read_grades(<const int16_t *> row, n, lowest, scratch, problem)
    if labels.buffer.itemsize == 4:
        return read_grades(<const int32_t *> row, n, lowest, scratch, problem)
    return read_grades(<const int64_t *> row, n, lowest, scratch, problem)


cdef bint set_ideal(
    const Plan *plan, Py_ssize_t n_ideal, Scratch *scratch, Query *record, Problem *problem
) except -1 nogil:
    """Sort the grades in scratch.grades into the ideal; returns whether all have a gain."""
    cdef Py_ssize_t place
    sort_grades(scratch.grades, n_ideal, scratch.ideal)
    record.ideal = scratch.ideal
    record.n_ideal = n_ideal
    problem.what = complain(plan, scratch.ideal, n_ideal, &place)
    if not problem.what:
        return True
    problem.fault = NO_GAIN
    problem.number = scratch.ideal[place]
    problem.place = 0
    while (
        problem.place < n_ideal - 1 and scratch.found[problem.place].grade != problem.number
    ):
        problem.place += 1
    problem.place = scratch.found[problem.place].place
    return False
