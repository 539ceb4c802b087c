"""All memory that ranking one query takes, kept from query to query."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from rankmeter._core.ids cimport Slot
from rankmeter._core.memory cimport allocate
from rankmeter._core.query cimport Group

cdef Py_ssize_t LAST_PLACE = 0x7FFFFFFF


cdef void start(Scratch *scratch) noexcept nogil:
    memset(scratch, 0, sizeof(Scratch))


cdef void release(Scratch *scratch) noexcept nogil:
    free(scratch.scores)
    free(scratch.table.slots)
    free(scratch.found if scratch.found < scratch.spare else scratch.spare)
    free(scratch.counts)


cdef int reserve_scores(Scratch *scratch, Py_ssize_t n) except -1 nogil:
    if n <= scratch.run_capacity:
        return 0
    free(scratch.scores)
    scratch.scores = NULL
    scratch.run_capacity = 0
    scratch.scores = <double *> allocate(2 * n, sizeof(double))
    scratch.run_capacity = 2 * n
    return 0


cdef int open_table(Scratch *scratch, Py_ssize_t n, Py_ssize_t room) except -1 nogil:
    """An empty table for the ids of a ranking: `n` at most, `room` slots or more for each."""
    cdef uint64_t size = 16
    cdef Py_ssize_t latest = scratch.table.base + scratch.depth
    while size < <uint64_t> room * n:
        size *= 2
    if size > <uint64_t> scratch.slot_capacity:
        free(scratch.table.slots)
        scratch.table.slots = NULL
        scratch.slot_capacity = 0
        scratch.table.slots = <Slot *> allocate(size, sizeof(Slot))
        scratch.slot_capacity = size
        latest = LAST_PLACE
    if latest > LAST_PLACE - n:
        memset(scratch.table.slots, 0, scratch.slot_capacity * sizeof(Slot))
        latest = 0
    scratch.table.mask = <unsigned int> (size - 1)
    scratch.table.base = latest     # what earlier rankings left behind is empty from now on
    scratch.depth = n
    return 0


cdef int reserve_judged(Scratch *scratch, Py_ssize_t n) except -1 nogil:
    if n <= scratch.judged_capacity:
        return 0
    n = 2 * n
    free(scratch.found if scratch.found < scratch.spare else scratch.spare)
    scratch.found = scratch.spare = NULL
    scratch.judged_capacity = 0
    # One block for all, what must stand at multiples of eight first. place_all() looks at four
    # targets and a column beyond the last.
    scratch.found = <Found *> allocate(
        n + 4, 2 * sizeof(Found) + 6 * sizeof(double) + sizeof(Group) + 2 * sizeof(Py_ssize_t)
    )
    scratch.spare = scratch.found + n
    scratch.grades = <double *> (scratch.spare + n)
    scratch.arranged = scratch.grades + n
    scratch.ideal = scratch.arranged + n
    scratch.targets = scratch.ideal + n
    scratch.groups = <Group *> (scratch.targets + 3 * n + 4)
    scratch.ranks = <Py_ssize_t *> (scratch.groups + n)
    scratch.columns = scratch.ranks + n
    scratch.judged_capacity = n
    return 0


cdef int reserve_counts(Scratch *scratch, Py_ssize_t n) except -1 nogil:
    if n <= scratch.count_capacity:
        return 0
    free(scratch.counts)
    scratch.counts = NULL
    scratch.count_capacity = 0
    scratch.counts = <Py_ssize_t *> allocate(2 * n, sizeof(Py_ssize_t))
    scratch.count_capacity = 2 * n
    return 0
