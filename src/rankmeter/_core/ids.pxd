"""How ids are found again: one mixing function, one table, one way to go through it."""

from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject, PyObject_Hash
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport uint64_t
from libc.string cimport memcpy


cdef extern from "Python.h":
    ctypedef struct PyASCIIObject:
        Py_hash_t hash
    bint PyUnicode_IS_COMPACT_ASCII(object text)
    long long PyLong_AsLongLongAndOverflow(object number, int *overflow) except? -1

cdef extern from "mixing.h":
    uint64_t rankmeter_fold(uint64_t a, uint64_t b) noexcept nogil

# Of this process. Equal tags are checked against the ids, so no result depends on it; without it,
# ids could be chosen that all collide.
cdef uint64_t SEED


cdef inline uint64_t mix(uint64_t word) noexcept nogil:
    return rankmeter_fold(word ^ SEED, <uint64_t> 0x9E3779B97F4A7C15)


cdef inline uint64_t mix_bytes(const char *start, Py_ssize_t length) noexcept nogil:
    """Eight bytes at a time."""
    cdef uint64_t mixed = <uint64_t> length, word
    while length >= 8:
        memcpy(&word, start, 8)
        mixed = mix(mixed ^ word)
        start += 8
        length -= 8
    word = 0
    if length:
        memcpy(&word, start, length)
    return mix(mixed ^ word)


cdef inline unsigned int tag_of_word(uint64_t word) noexcept nogil:
    return <unsigned int> (mix(word) >> 32)


cdef inline bint is_exact_id(PyObject *id_) noexcept:
    """Whether this is one of the usual ids, of which no code of a caller's is run."""
    return PyUnicode_CheckExact(<object> id_) or PyLong_CheckExact(<object> id_)


cdef inline bint is_ascii(object id_) noexcept:
    """Whether this is text that is ordered as its bytes are, whatever else there is."""
    return PyUnicode_CheckExact(id_) and PyUnicode_IS_COMPACT_ASCII(id_)


cdef inline unsigned int tag_of(PyObject *id_) except? 0:
    """The tag of an exact id.

    The hash of text is mixed, with a seed of its own; that of integers is their value, nearly, so
    they are mixed here.
    """
    cdef Py_hash_t value
    cdef long long number
    cdef int overflow
    if PyUnicode_CheckExact(<object> id_):
        value = (<PyASCIIObject *> id_).hash
        if value == -1:
            value = PyObject_Hash(<object> id_)
        return <unsigned int> value
    number = PyLong_AsLongLongAndOverflow(<object> id_, &overflow)
    if overflow:
        return tag_of_large(<object> id_)
    return tag_of_word(<uint64_t> number)


cdef unsigned int tag_of_large(object number) except? 0


# One place of a table.
cdef struct Slot:
    unsigned int tag
    int place               # base of the table + place of the id + 1; not above the base: empty


# Ids by their tags. At least half of the slots are empty.
cdef struct Table:
    Slot *slots
    unsigned int mask       # slots - 1
    Py_ssize_t base


# Where a search stands.
cdef struct Probe:
    unsigned int tag
    unsigned int slot
    Py_ssize_t place        # of the id that it stands at


cdef inline Probe look_for(unsigned int tag) noexcept nogil:
    """A search that has not begun."""
    return Probe(tag, tag, -1)


cdef inline bint next_alike(const Table *table, Probe *probe) noexcept nogil:
    """Go on to the next id with this tag, which may be another id still.

    False where there is none: then the search stands at an empty slot.
    """
    cdef const Slot *slot = &table.slots[probe.slot & table.mask]
    while slot.place > table.base:
        probe.slot += 1
        if slot.tag == probe.tag:
            probe.place = slot.place - table.base - 1
            return True
        slot = &table.slots[probe.slot & table.mask]
    return False


cdef inline void put(const Table *table, const Probe *probe, Py_ssize_t place) noexcept nogil:
    """Fill the empty slot at which a search has ended."""
    cdef Slot *slot = &table.slots[probe.slot & table.mask]
    slot.tag = probe.tag
    slot.place = <int> (table.base + place + 1)


cdef str why_no_id(object id_, int depth=*)
cdef bint is_plain(object id_) except -1
cpdef object check_ids(object ids, str what)
cdef bint is_integer(object number) except -1
cdef object no_id(str what, object id_, str why)
cdef bint all_text(dict mapping) noexcept
cpdef object decimal_text(object id_)
cpdef bint is_number(object value) except -1
cdef bint is_known_number(object value) except -1
cdef bint any_escaped(list ids) except -1
cdef list keys_of(list ids, bint escaped)
cdef dict kinds_of(object ids)
cdef str kinds_mismatch(dict ours, dict theirs)
