"""Memory that is there, or a MemoryError: no size wraps, not on 32 bits either."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport realloc


cdef extern from *:
    Py_ssize_t PY_SSIZE_T_MAX


cdef inline void *allocate(uint64_t n, uint64_t size) except NULL nogil:
    """Room for `n` things of a size, to be freed by free()."""
    return reallocate(NULL, n, size)


cdef inline void *reallocate(void *memory, uint64_t n, uint64_t size) except NULL nogil:
    """The same room, larger or smaller. After an error `memory` is still there."""
    cdef void *moved = NULL
    if n <= <uint64_t> PY_SSIZE_T_MAX / size:
        moved = realloc(memory, <size_t> max(n * size, <uint64_t> 1))
    if moved == NULL:
        with gil:
            raise MemoryError()
    return moved
