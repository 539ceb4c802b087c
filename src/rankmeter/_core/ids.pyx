"""Who may be an id, and whether two kinds of ids can match.

An id is text, bytes, an integer, a scalar of numpy of one of these, or a tuple of these. What else
has a value that can be compared and hashed (a UUID, a date, a float) is taken too, where it can
match. Refused is what can never match or never repeats: None, whatever does not equal itself (NaN,
NA, NaT), what cannot be hashed, and objects that equal only themselves, such as tensors.
why_no_id() decides that for all doors.
"""

from numbers import Integral, Number
from operator import index
from os import urandom

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE


cdef extern from "dict_keys.h":
    bint rankmeter_keys_have_kind
    int rankmeter_kind_of_keys(object mapping) noexcept
    bint rankmeter_all_text(object mapping) noexcept

SEED = int.from_bytes(urandom(8), "little")

cdef int DEEPEST = 100                  # tuples within tuples
cdef set PLAIN = {str, int, bytes}      # types of which every object may be an id; grows
cdef set NUMBERS = {float, int}         # of which every object is a number; grows, too
cdef Py_ssize_t MOST_PLAIN = 100        # classes made on the fly are not kept for ever


cdef bint tells_kind():
    """Whether the kind of the keys stands where it is looked for."""
    cdef dict many = {str(i): i for i in range(1000)}
    cdef dict mixed = {**many, 1: 1}
    return (
        rankmeter_kind_of_keys({"a": 1}) == rankmeter_kind_of_keys(many) == 1
        and rankmeter_kind_of_keys({1: 1}) == rankmeter_kind_of_keys({b"a": 1}) == 0
        and rankmeter_kind_of_keys(mixed) == 0
    )


rankmeter_keys_have_kind = tells_kind()


cdef bint all_text(dict mapping) noexcept:
    """Whether all keys are known to be exact str; to be asked while nobody else can change it."""
    return rankmeter_all_text(mapping)


cdef unsigned int tag_of_large(object number) except? 0:
    """The tag of an integer beyond 64 bits."""
    cdef bytes digits = number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)
    return <unsigned int> (mix_bytes(PyBytes_AS_STRING(digits), PyBytes_GET_SIZE(digits)) >> 32)


cdef str why_no_id(object id_, int depth=0):
    """Why this cannot be an id; "" where it may be one."""
    kind = type(id_)
    if kind is not tuple and (kind in PLAIN or (kind is float and id_ == id_)):
        return ""
    if id_ is None:
        return "None names nothing"
    if isinstance(id_, tuple):
        if depth == DEEPEST:
            return "tuples lie too deep in each other"
        for part in id_:
            if is_exact_id(<PyObject *> part):
                continue
            why = why_no_id(part, depth + 1)
            if why:
                return why if depth else f"of {text_of(part)} in it: {why}"
        if kind is tuple:           # whose parts can be compared and hashed, so it can be, too
            return ""
    # numpy takes spans of time for integers, but they may be NaT.
    if isinstance(id_, (str, bytes)) or is_integer(id_):
        if len(PLAIN) < MOST_PLAIN:
            PLAIN.add(kind)
        return ""
    try:
        value = hash(id_)
        if not id_ == id_:
            return "it does not equal itself, so it can never be found"
    except Exception as error:
        if hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"):
            return f"{kind.__name__} is an array: {AS_LIST}"
        return f"{kind.__name__} cannot be compared and hashed ({error})"
    # What hashes by its address, as objects do unless their class says otherwise.
    if value == object.__hash__(id_) or value == hash(id(id_)):
        if hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"):
            return f"{kind.__name__} equals only itself, whatever it holds: {AS_LIST}"
        return f"{kind.__name__} equals only itself: give it text or a number for a name"
    return ""


cdef bint is_integer(object number) except -1:
    """Whether this is an integer of any type; numpy takes spans of time for integers, too."""
    return isinstance(number, Integral) and hasattr(number, "__index__")


cdef str AS_LIST = "pass the numbers, for example with .tolist() or .item()"


cdef str text_of(object id_):
    """What it looks like, as far as that can be told."""
    try:
        return f"{id_!r:.80}"
    except RecursionError:
        return f"a {type(id_).__name__}"


cdef object no_id(str what, object id_, str why):
    """The error. `what` says where it stands, such as "query 'q': document"."""
    return TypeError(f"{what} {text_of(id_)} cannot be an id: {why}")


cdef bint is_plain(object id_) except -1:
    """Whether every object of this type may be an id, as far as is known."""
    return type(id_) in PLAIN


cpdef object check_ids(object ids, str what):
    """Refuse a collection in which something cannot be an id.

    Parameters
    ----------
    ids : iterable
    what : str
        What they are, such as ``"query"``, for the message.

    Raises
    ------
    TypeError
        Naming the first that cannot be an id, and why.
    """
    cdef object latest = None
    for id_ in ids:
        if type(id_) is latest:
            continue
        why = why_no_id(id_)
        if why:
            raise no_id(what, id_, why)
        if is_plain(id_):           # and so will the next be, most likely
            latest = type(id_)


def maps_ids(given, str where not None):
    """Whether something goes from ids to numbers.

    Parameters
    ----------
    given : object
    where : str
        What the message begins with, such as ``"query 'q': "``.

    Raises
    ------
    TypeError
        For a series of pandas, which does that, and may as well hold ids, and for a table.
    """
    if hasattr(type(given), "columns"):
        raise TypeError(
            f"{where}one query has {{id: number}}, or a list of ids, best first, not a "
            f"{type(given).__name__}; a table of all queries is passed as the run or the qrels "
            "themselves"
        )
    if not hasattr(given, "items") or not hasattr(given, "keys"):
        return False
    if hasattr(given, "__array__"):
        raise TypeError(
            f"{where}a {type(given).__name__} may hold ids or go from id to number: pass its "
            ".tolist() if its values are ids, best first, or its .to_dict() if its index is ids"
        )
    return True


def list_of(ranking, str where not None):
    """The ids of a ranking, of whatever sequence, as a list of its own.

    Parameters
    ----------
    ranking : object
        What `maps_ids` says no to.
    where : str
        What the message begins with, such as ``"query 'q': "``.

    Raises
    ------
    TypeError
        For what is not a sequence, or of more than one dimension.
    """
    kind = type(ranking).__name__
    if ranking is None or isinstance(ranking, (str, bytes, bytearray)):
        raise TypeError(
            f"{where}a ranking must be a sequence of document ids, best first, or a "
            f"mapping from id to score, not {kind}"
            + ("" if ranking is None else f": {ranking!r:.40}")
        )
    if isinstance(ranking, (set, frozenset)):
        raise TypeError(f"{where}a {kind} has no order: pass a list of ids, best first")
    if hasattr(ranking, "tolist"):
        ids = listed(ranking)
        dimensions = getattr(ranking, "ndim", 1) if isinstance(ids, list) else "none"
        if dimensions != 1:
            raise TypeError(f"{where}a ranking must have one dimension, not {dimensions}")
        return ids
    if hasattr(ranking, "to_pylist"):       # of pyarrow, whose elements are not ids
        return list(ranking.to_pylist())
    if not hasattr(ranking, "__getitem__") or not hasattr(ranking, "__len__"):
        raise TypeError(
            f"{where}a ranking must be a sequence of document ids, not {kind}: "
            "pass list(...) of it"
        )
    return list(ranking)


def listed(given):
    """The ids in something that has a tolist(), by which arrays become objects of Python.

    Dates and spans of time stay as they are when an array is gone through: its tolist() may make
    of them the integers that they are counted by.

    Parameters
    ----------
    given : array or the like

    Returns
    -------
    list
        Or one object, if there is no dimension.
    """
    kind = getattr(getattr(given, "dtype", None), "kind", None)
    if kind in ("m", "M") and getattr(given, "ndim", 0):
        return list(given)
    return given.tolist()


cpdef object decimal_text(object id_):
    """An integer of any type as decimal text; what is none as it is."""
    kind = type(id_)
    if kind is int:
        return str(id_)
    if kind is not str and is_integer(id_):
        return str(index(id_))
    return id_


cpdef bint is_number(object value) except -1:
    """Whether this may be asked for a double.

    Refused are text and what numpy would read as such, complex numbers, dates and spans of time,
    and arrays of these.
    """
    kind = type(value)
    if kind in NUMBERS:
        return True
    if isinstance(value, (str, bytes, complex)):
        return False
    dtype = getattr(value, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "f") not in ("f", "i", "u", "b"):
        return getattr(dtype, "isbuiltin", 1) == 2      # of others, such as bfloat16
    if isinstance(value, Number) and len(NUMBERS) < MOST_PLAIN:
        NUMBERS.add(kind)
    return True


cdef bint is_known_number(object value) except -1:
    """Whether every object of this type is a number."""
    return is_number(value) and type(value) in NUMBERS


def with_text_keys(items, str what not None):
    """A dict of pairs, in which integers among the keys are decimal text.

    Parameters
    ----------
    items : iterable of pairs
    what : str
        What the keys are, such as ``"query"``, for the message.

    Raises
    ------
    ValueError
        If an integer and its decimal text are both there.
    """
    cdef dict changed = {}
    for key, value in items:
        text = decimal_text(key)
        if text in changed:
            raise ValueError(
                f"{what} {text} is there as an integer and as text, which are the same where the "
                "other side holds integers in a table or in JSON: keep one"
            )
        changed[text] = value
    return changed


def add_types(ids, set types not None):
    """Add the types of some ids to a set.

    Parameters
    ----------
    ids : iterable
    types : set
    """
    if type(ids) is dict and ids and all_text(<dict> ids):
        types.add(str)
        return
    latest = None
    for id_ in ids:
        if type(id_) is not latest:
            latest = type(id_)
            types.add(latest)


# Order of ids

cdef bint any_escaped(list ids) except -1:
    """Whether text among them holds surrogates, such as bytes that are not UTF-8 are read as."""
    for id_ in ids:
        if not is_ascii(id_):
            break
    else:
        return False
    try:
        "".join([id_ for id_ in ids if isinstance(id_, str)]).encode()
    except UnicodeEncodeError:
        return True
    return False


cdef list keys_of(list ids, bint escaped):
    """What ids are ordered by: text by its bytes, as in a file, which is the order of str unless
    bytes are escaped."""
    if not escaped:
        return ids
    return [bytes_of(id_) if isinstance(id_, str) else id_ for id_ in ids]


cdef bytes bytes_of(object text):
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


# Kinds of ids

cdef object kind_of(object id_):
    """A name for ids that may match each other."""
    if isinstance(id_, str):
        return "str"
    if isinstance(id_, bytes):
        return "bytes"
    if isinstance(id_, Number):
        return "number"
    if isinstance(id_, tuple):
        return "tuple"
    return type(id_)


cdef bint may_match(object kind, object id_, object other_kind, object other):
    """Whether an id of one kind may equal one of another, of which these are examples."""
    if kind == other_kind:
        return True
    if isinstance(kind, str) and isinstance(other_kind, str):
        return False
    # Of other classes, those that do not know each other say so.
    try:
        return not (
            type(id_).__eq__(id_, other) is NotImplemented
            and type(other).__eq__(other, id_) is NotImplemented
        )
    except Exception:
        return True


def type_mismatch(ids, others):
    """Say that two collections of ids can have none in common for their types, or return "".

    Parameters
    ----------
    ids, others : iterables of hashable
    """
    return kinds_mismatch(kinds_of(ids), kinds_of(others))


cdef str kinds_mismatch(dict ours, dict theirs):
    """The same for the kinds of two collections."""
    if not ours or not theirs:
        return ""
    for kind, id_ in ours.items():
        for other_kind, other in theirs.items():
            if may_match(kind, id_, other_kind, other):
                return ""
    hint = ""
    if "tuple" in ours:
        hint = "; a run with scores is {id: score}: dict(pairs)"
    elif {*ours, *theirs} == {"number", "str"}:
        hint = "; ids of files are str: pass str(id)"
    return f"; {shown(ours)} can never match {shown(theirs)}{hint}"


cdef dict kinds_of(object ids):
    """The kinds there are, and the first id of each."""
    cdef dict kinds = {}
    for id_ in ids:
        kinds.setdefault(kind_of(id_), id_)
    return kinds


cdef str shown(dict kinds):
    """The kinds by name, and the first id."""
    names = sorted([kind if isinstance(kind, str) else kind.__name__ for kind in kinds])
    return f"{' and '.join(names)} ids (such as {next(iter(kinds.values()))!r:.80})"
