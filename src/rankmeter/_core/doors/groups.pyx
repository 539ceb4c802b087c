"""Rows of equal ids brought together, whatever their order."""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from rankmeter._core.ids cimport Probe, Slot, Table, look_for, next_alike, put, tag_of_word
from rankmeter._core.memory cimport allocate, reallocate


cdef extern from "thresholds.h":
    Py_ssize_t threshold "RANKMETER_THRESHOLD" (Py_ssize_t usual) noexcept nogil


def number_ids(list ids not None, int64_t[::1] numbers not None):
    """Number ids in the order in which they come first; returns each of them once.

    Raises
    ------
    TypeError
        For one that cannot be hashed.
    """
    cdef Py_ssize_t i
    cdef dict places = {}
    cdef int64_t number = -1
    latest = None
    if numbers.shape[0] != len(ids):
        raise ValueError("there must be one number for each id")
    for i in range(numbers.shape[0]):
        id_ = ids[i]
        # As a rule, equal ids follow each other.
        if not (number >= 0 and type(id_) is str and type(latest) is str and id_ == latest):
            number = places.setdefault(id_, len(places))
            latest = id_
        numbers[i] = number
    return list(places)


def number_integers(const int64_t[::1] ids not None, int64_t[::1] numbers not None):
    """Number integers in the order in which they come first; returns how many there are."""
    cdef int64_t *different = NULL
    cdef Py_ssize_t i, j, size, n = 0, number = -1
    cdef Table table = Table(NULL, 0, 0)
    cdef Probe probe
    if not numbers.shape[0] == ids.shape[0] <= 0x3FFFFFFF:
        raise ValueError("there must be one number for each id, and not too many")
    try:
        with nogil:
            for i in range(ids.shape[0]):
                if number < 0 or ids[i] != different[number]:
                    if 2 * n > <Py_ssize_t> table.mask or table.slots == NULL:
                        size = max(threshold(1024), 2 * (<Py_ssize_t> table.mask + 1))
                        different = <int64_t *> reallocate(different, size, sizeof(int64_t))
                        free(table.slots)
                        table.slots = NULL
                        table.slots = <Slot *> allocate(size, sizeof(Slot))
                        table.mask = <unsigned int> (size - 1)
                        memset(table.slots, 0, size * sizeof(Slot))
                        for j in range(n):
                            find_integer(&table, different, different[j], &probe)
                            put(&table, &probe, j)
                    number = find_integer(&table, different, ids[i], &probe)
                    if number < 0:
                        number = n
                        put(&table, &probe, n)
                        different[n] = ids[i]
                        n += 1
                numbers[i] = number
    finally:
        free(different)
        free(table.slots)
    return n


cdef inline Py_ssize_t find_integer(
    const Table *table, const int64_t *different, int64_t id_, Probe *probe
) noexcept nogil:
    """Its number; -1 where it has none yet, and `probe` stands where it belongs."""
    probe[0] = look_for(tag_of_word(<uint64_t> id_))
    while next_alike(table, probe):
        if different[probe.place] == id_:
            return probe.place
    return -1


def sort_numbers(
    const int64_t[::1] numbers not None, int64_t[::1] starts not None, int64_t[::1] order not None
):
    """Lay out where each number stands, equals in their order.

    Parameters
    ----------
    numbers : int64 array
        From 0 to one less than the starts but the last.
    starts : int64 array
        Filled: where each number starts in the order, and the end.
    order : int64 array, as long as numbers
        Filled.
    """
    cdef Py_ssize_t i, n_groups = starts.shape[0] - 1
    cdef int64_t total = 0, count
    if n_groups < 0 or order.shape[0] != numbers.shape[0]:
        raise ValueError("starts or order are of the wrong shape")
    starts[:] = 0
    for i in range(numbers.shape[0]):
        if not 0 <= numbers[i] < n_groups:
            raise ValueError("there are more numbers than starts")
        starts[numbers[i]] += 1
    for i in range(n_groups + 1):
        count = starts[i]
        starts[i] = total
        total += count
    for i in range(numbers.shape[0]):
        order[starts[numbers[i]]] = i
        starts[numbers[i]] += 1
    for i in range(n_groups, 0, -1):
        starts[i] = starts[i - 1]
    starts[0] = 0
