from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t

from rankmeter._core.query cimport Plan, Query
from rankmeter._core.scratch cimport Scratch

ctypedef fused label:
    uint8_t
    int16_t
    int32_t
    int64_t
    float
    double


# What may be wrong, for the wrapper to put in words. `place` counts within the row.
cdef enum Fault:
    NOTHING
    NAN_SCORE
    BAD_GRADE
    NO_GAIN
    COLUMN_OUTSIDE
    COLUMN_TWICE
    ID_TWICE
    ID_NEGATIVE
    ID_AFTER_PAD
    BEYOND_IDEAL


cdef struct Problem:
    Fault fault
    Py_ssize_t row
    Py_ssize_t place
    int64_t id
    double number
    int what                # of complain()


cdef class ArrayRows:
    cdef Py_buffer buffer
    cdef bint held
    cdef object indptr
    cdef const int64_t *starts
    cdef char kind          # f: floating, i: signed, u: unsigned
    cdef readonly Py_ssize_t count
    cdef const void *row(self, Py_ssize_t i, Py_ssize_t *n) noexcept nogil


cdef inline double value_at(ArrayRows labels, const void *row, Py_ssize_t i) noexcept nogil:
    if labels.kind == b"f":
        if labels.buffer.itemsize == 4:
            return (<const float *> row)[i]
        return (<const double *> row)[i]
    if labels.buffer.itemsize == 1:
        return (<const uint8_t *> row)[i]
    if labels.buffer.itemsize == 2:
        return (<const int16_t *> row)[i]
    if labels.buffer.itemsize == 4:
        return (<const int32_t *> row)[i]
    return <double> (<const int64_t *> row)[i]


cdef object describe_problem(const Problem *problem)
cdef int check_part(
    Py_ssize_t begin, Py_ssize_t end, ArrayRows rows, const Plan *plan, double[:, :, ::1] values,
    Py_ssize_t depth, unsigned char[::1] answerable,
) except -1
cdef Py_ssize_t read_grades(
    const label *labels, Py_ssize_t n, double lowest, Scratch *scratch, Problem *problem
) except -1 nogil
cdef Py_ssize_t tally_row(
    ArrayRows labels, const void *row, Py_ssize_t n, double lowest, Scratch *scratch
) except -2 nogil
cdef Py_ssize_t read_row(
    ArrayRows labels, const void *row, Py_ssize_t n, double lowest, Scratch *scratch,
    Problem *problem,
) except -1 nogil
cdef bint set_ideal(
    const Plan *plan, Py_ssize_t n_ideal, Scratch *scratch, Query *record, Problem *problem
) except -1 nogil
