"""Arrays of any kind, as the core reads them, and what is wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from rankmeter._core.doors.array_rows import ArrayRows
from rankmeter._core.doors.arrays import JudgedArrays
from rankmeter._core.doors.groups import number_ids, number_integers, sort_numbers
from rankmeter._core.ids import check_ids, listed

Array = npt.NDArray[Any]
_ON_THE_CPU = (1, 3)  # device types of DLPack: plain memory, and host memory that a GPU may read
_EXACT_INTEGERS = 2**53  # from here on doubles skip integers
_SORTABLE = "iuUSbfmM"  # the kinds of query ids of which each is one
_INTEGRAL = "iubmM"  # those that are integers in memory
LARGEST_ID = 2**63 - 1

# What arrays hold, if not integers.
_NUMBERS = dict.fromkeys(("scores", "labels", "grades", "ideal"), "numbers")

_HELD = {"mask": "True and False", **_NUMBERS}

# What to pass instead of rows of different lengths, and of what is not a number.
_RELEVANT_COLUMNS = "columns that are relevant are (indptr, indices, data)"
_RAGGED_SCORES = "pass the rows one after the other with groups=, or fill them up and pass mask="
_RAGGED_GRADES = "fill them up with NaN, or pass the tuple (values, indptr)"

_INSTEAD_OF_RAGGED = {
    "scores": _RAGGED_SCORES,
    "labels": f"{_RAGGED_SCORES}; {_RELEVANT_COLUMNS}",
    "mask": _RAGGED_SCORES,
    "rankings": "fill them up with pad=, or pass the tuple (values, indptr)",
    "grades": _RAGGED_GRADES,
    "ideal": _RAGGED_GRADES,
}

_INSTEAD_OF_OBJECTS = {
    "scores": "; mask= leaves candidates out",
    "labels": f"; mask= leaves candidates out, and {_RELEVANT_COLUMNS}",
}

_ROWS_OF_IDS = (
    "of rows of relevant ids make indptr = np.cumsum([0, *map(len, rows)]), "
    "indices = [id for row in rows for id in row] and data = np.ones(len(indices))"
)


_ONE_ID_A_ROW = (
    "where each row has one relevant id, they are (np.arange(len(ids) + 1), ids, np.ones(len(ids)))"
)


def describe_problem(
    problem: tuple[str, int, int, int, Any],
    where: Callable[[int, int], str],
    unsigned: np.dtype[Any] | None,
) -> str:
    """Say what is wrong; `unsigned` is the type of ids that were read as signed ones."""
    fault, row, place, document, found = problem
    read = document
    if unsigned is not None and read < 0 and fault.startswith("id "):
        document += int(np.iinfo(unsigned).max) + 1
    if fault == "nan score":
        return f"{where(row, place)}: the score is NaN"
    if fault == "bad grade":
        return f"{where(row, place)}: the grade is not finite: {found}"
    if fault == "no gain":
        return f"{where(row, place)}: {found}"
    if fault == "column outside":
        return f"row {row} of the judgments: there is no column {document}"
    if fault == "column twice":
        return f"row {row} of the judgments: column {document} is judged twice"
    if fault == "id twice":
        return (
            f"row {row}: id {document} stands twice in the ranking, at columns {found:.0f} "
            f"and {place}"
        )
    if fault == "id negative":
        is_what = "negative" if document < 0 else "-1 in disguise" if read == -1 else "2^63 or more"
        return f"{where(row, place)}: id {document} is {is_what} and is not the pad"
    if fault == "id after pad":
        return f"row {row}: an id stands behind the pad {document} at column {place}"
    return (
        f"row {row}: more of grade {found:g} or higher was retrieved than the ideal holds: "
        "it must hold the grades of all judged documents"
    )


def name_queries(query_ids: Any, count: int) -> Sequence[Any]:
    """Return the name of each query."""
    if isinstance(query_ids, range):
        names: Sequence[Any] = query_ids
    else:
        names = tuple(_list_ids(query_ids))
        if not _are_ids(query_ids):
            check_ids(names, "query_ids:")
    if len(names) != count:
        raise ValueError(f"query_ids must name each of the {count} queries; they name {len(names)}")
    if len(set(names)) < count:
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(f"query {twice!r} is named twice in query_ids")
    return names


def _list_ids(query_ids: Any) -> list[Any]:
    """Ids as objects of Python."""
    if hasattr(query_ids, "detach"):
        query_ids = query_ids.detach().cpu()
    has_order = hasattr(query_ids, "tolist") or (
        isinstance(query_ids, Iterable)
        and not isinstance(query_ids, (str, bytes, set, frozenset))
        and not hasattr(query_ids, "keys")
    )
    if not has_order:
        raise TypeError(f"query_ids must be a sequence of ids, not {type(query_ids).__name__}")
    found = listed(query_ids) if hasattr(query_ids, "tolist") else list(query_ids)
    if not isinstance(found, list):
        raise TypeError("query_ids must have one dimension, not none")
    return found


def _are_ids(query_ids: Any) -> bool:
    """Whether all elements are known to be ids."""
    return (
        type(query_ids) is np.ndarray
        and query_ids.ndim == 1
        and query_ids.dtype.kind in _SORTABLE
        and not _any_missing(query_ids)
    )


def _any_missing(ids: Array) -> bool:
    """Whether there is a NaN or a NaT."""
    return ids.dtype.kind in "fmM" and bool((ids != ids).any())


# From anything to an array


def as_array(name: str, given: Any) -> Array:
    """Whatever holds an array, without a copy where there can be none."""
    if type(given) is np.ndarray:
        array = given
    elif isinstance(given, np.ma.MaskedArray):
        masked = name in ("scores", "labels")
        raise TypeError(
            f"{name} is a masked array, whose mask would be lost: pass "
            + (f"{name}.data and mask=~np.ma.getmaskarray({name})" if masked else ".filled(value)")
        )
    elif hasattr(given, "tocsr"):
        raise TypeError(f"{name} must be dense, not {type(given).__name__}: pass .toarray()")
    else:
        if _is_elsewhere(given):
            raise ValueError(
                f"{name} is not on the CPU but on {getattr(given, 'device', 'another device')}: "
                "move it there first, for example with .cpu() (torch) or jax.device_get (JAX)"
            )
        try:
            array = _convert(given)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            if isinstance(given, Sequence):
                _require_rows_alike(name, given)
                if any(hasattr(row, "detach") for row in given):
                    return np.asarray([as_array(name, row) for row in given])
            raise TypeError(f"{name} cannot be read as an array: {error}") from None
    if array.dtype.isbuiltin == 2 and np.can_cast(array.dtype, np.float32):
        array = array.astype(np.float32)  # bfloat16 and the like are not types of numpy's own
    return array if array.dtype.kind != "O" else _of_objects(name, given, array)


def _of_objects(name: str, given: Any, array: Array) -> Array:
    if array.ndim:
        _require_rows_alike(name, array)
    if array.ndim == 1 and all(isinstance(row, (list, np.ndarray)) for row in array):
        array = np.asarray(array.tolist())  # such as a column of lists
    if array.dtype.kind == "O":
        raise TypeError(_describe_objects(name, given, array))
    return array


def _is_elsewhere(given: Any) -> bool:
    if not hasattr(given, "__dlpack_device__"):
        return False
    try:
        device: int = given.__dlpack_device__()[0]
    except ValueError:  # one that DLPack has no word for, such as torch's meta
        return True
    except (TypeError, BufferError):  # a class; an array in several parts
        return False
    return device not in _ON_THE_CPU


def _convert(given: Any) -> Array:
    if hasattr(given, "detach"):  # torch: what is only read needs no gradient
        given = given.detach()
    if hasattr(given, "__dlpack__") and not hasattr(given, "__array__"):
        return np.from_dlpack(given)
    try:
        return np.asarray(given)
    except TypeError:
        if not (hasattr(given, "is_floating_point") and given.is_floating_point()):
            raise
        return np.asarray(given.float())  # torch has no bfloat16 for numpy


def _length(row: Any) -> int | None:
    if isinstance(row, (str, bytes, Mapping)):
        return None
    try:
        return len(row)
    except TypeError:
        return None


def _require_rows_alike(name: str, rows: Any) -> None:
    lengths = [_length(row) for row in rows]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            first, other = (
                f"row {j} " + (f"is {rows[j]!r:.40}" if lengths[j] is None else f"has {lengths[j]}")
                for j in (0, i)
            )
            raise ValueError(
                f"the rows of {name} differ in length: {first}, {other}; "
                + _INSTEAD_OF_RAGGED.get(name, "they must be one list")
            )


def _describe_objects(name: str, given: Any, array: Array) -> str:
    held = _HELD.get(name, "numbers" if name.startswith("the data") else "integers below 2^63")
    if not array.ndim:
        return f"{name} must be an array of {held}, not {type(given).__name__}"
    for i, value in enumerate(array.flat):
        if not isinstance(value, (Number, np.bool_)):
            place = ", ".join(map(str, np.unravel_index(i, array.shape)))
            instead = _INSTEAD_OF_OBJECTS.get(name, "")
            return f"{name} must hold {held}, but [{place}] is {value!r:.40}{instead}"
    return f"{name} has dtype object: pass an array of {held}, all of one type"


def lay_side_by_side(array: Array) -> Array:
    """Values of a row next to each other, aligned, in the machine's byte order."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.ndim and array.shape[-1] > 1 and array.strides[-1] != array.itemsize:
        return np.ascontiguousarray(array)
    return array if array.flags.aligned else array.copy()


def readable_scores(scores: Array) -> Array:
    """Return scores as the core reads them; what doubles would round together keeps its order."""
    kind, size = scores.dtype.kind, scores.itemsize
    if kind == "f" and size in (4, 8):
        return lay_side_by_side(scores)
    if (kind == "f" and size == 2) or kind == "b" or (kind in "iu" and size <= 2):
        return np.ascontiguousarray(scores, np.float32)
    if kind not in "iuf":
        raise TypeError(f"scores must be numbers, not {scores.dtype}")
    with np.errstate(over="ignore"):  # what is beyond all doubles is not the same
        rounded = np.ascontiguousarray(scores, np.float64)
    if kind == "f":
        same = bool(((rounded == scores) | (scores != scores)).all())
    else:
        same = not scores.size or (
            int(scores.max()) <= _EXACT_INTEGERS and int(scores.min()) >= -_EXACT_INTEGERS
        )
    if same:
        return rounded
    # Only their order matters: numbers that a double would round together become their places.
    places = np.unique(scores, return_inverse=True)[1]
    ordered = places.reshape(scores.shape).astype(np.float64)
    ordered[scores != scores] = np.nan
    return ordered


_WIDER = {"b": np.int16, "H": np.int32, "e": np.float32}


def readable_grades(name: str, grades: Array) -> Array:
    """Return grades as the core reads them."""
    kind, size = grades.dtype.kind, grades.itemsize
    if kind not in "biuf":
        raise TypeError(f"{name} must be numbers, not {grades.dtype}")
    if grades.dtype.char in _WIDER:
        return np.ascontiguousarray(grades, _WIDER[grades.dtype.char])
    if kind == "u" and size == 4:
        return np.ascontiguousarray(grades, np.int64)
    if (kind == "u" and size == 8) or (kind == "f" and size > 8):
        return np.ascontiguousarray(grades, np.float64)
    return lay_side_by_side(grades)


def readable_ids(name: str, ids: Array) -> Array:
    """Return ids as the core reads them."""
    kind, size = ids.dtype.kind, ids.itemsize
    if kind not in "iu" and ids.size:
        raise TypeError(
            _no_integers(name, ids) + ": ids, best first; scores are for evaluate_scores"
        )
    if kind == "u" and size == 8:
        return lay_side_by_side(ids).view(np.int64)
    if kind == "i" and size in (4, 8):
        return lay_side_by_side(ids)
    wider = np.ascontiguousarray(ids, np.int64)
    if kind == "u" and size == 4:
        wider[wider == 2**32 - 1] = -1
    return wider


def _no_integers(name: str, array: Array) -> str:
    large = array.dtype.kind == "f" and bool((array >= 2.0**63).any())
    return f"{name} must be integers{' below 2^63' if large else ''}, not {array.dtype}"


# Rows


def require_shape(name: str, array: Array, scores: Array) -> None:
    """Refuse what is not of the shape of the scores."""
    if array.shape != scores.shape:
        columns = name == "labels" and array.shape == scores.shape[:1] and array.dtype.kind in "iu"
        raise ValueError(
            f"{name} and scores must have the same shape, not {array.shape} and {scores.shape}"
            + (f"; {_ONE_ID_A_ROW}" if columns else "")
        )


def split_rows(name: str, given: Any) -> tuple[Array, Array | None]:
    """An array, and the indptr that comes with it, if any."""
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValueError(f"{name} must be an array or (values, indptr), not {len(given)} items")
        return as_array(name, given[0]), as_array(f"the indptr of {name}", given[1])
    return as_array(name, given), None


def check_rows(
    name: str, array: Array, indptr: Array | None, count: int | None = None
) -> npt.NDArray[np.int64] | None:
    """The indptr of ragged rows, or None for an array of two dimensions."""
    if indptr is None:
        if array.ndim != 2:
            one_row = f"; for one query pass [{name}]" if array.ndim == 1 else ""
            raise ValueError(
                f"{name} must have two dimensions, not the shape {array.shape}{one_row}"
            )
        if array.shape[0] and not array.shape[1] and count is None:
            raise ValueError(f"{name} have no columns: their shape is {array.shape}")
        found = array.shape[0]
        checked = None
    else:

        def wanted() -> str:
            return f"{name} must be an array or (values, indptr){_shapes(array, indptr)}"

        if array.ndim != 1:
            raise ValueError(f"the values of {name} must have one dimension: {wanted()}")
        checked = _check_indptr(name, indptr, len(array), wanted)
        if checked[-1] != len(array):
            raise ValueError(_describe_wrong_end(name, checked, len(array), wanted))
        found = len(checked) - 1
    if count is not None and found != count:
        raise ValueError(f"{name} has {found} rows, but there are {count} queries")
    return checked


def _shapes(*arrays: Array) -> str:
    *others, last = (str(array.shape) for array in arrays)
    return f"; what was passed has the shapes {', '.join(others)} and {last}"


def _check_indptr(
    name: str, indptr: Array, length: int, wanted: Callable[[], str]
) -> npt.NDArray[np.int64]:
    """A copy, so that nobody can change it any more."""
    if indptr.dtype.kind not in "iu":
        raise TypeError(f"{_no_integers(f'the indptr of {name}', indptr)}: {wanted()}")
    if indptr.ndim != 1 or not len(indptr):
        raise ValueError(
            f"the indptr of {name} must have one dimension and start with 0: {wanted()}"
        )
    unsigned = indptr.dtype.kind == "u"  # 2^63 and more would become others
    copied = indptr.copy() if unsigned else indptr.astype(np.int64)
    if copied[0] != 0:
        raise ValueError(f"the indptr of {name} must start with 0, not {copied[0]}: {wanted()}")
    falls = np.flatnonzero(copied[1:] < copied[:-1])
    if len(falls):
        raise ValueError(f"the indptr of {name} falls at place {falls[0] + 1}: {wanted()}")
    if copied[-1] > length:
        raise ValueError(_describe_wrong_end(name, copied, length, wanted))
    return copied.astype(np.int64) if unsigned else copied


def _describe_wrong_end(name: str, indptr: Array, length: int, wanted: Callable[[], str]) -> str:
    return f"the indptr of {name} ends with {indptr[-1]}, but there are {length} values: {wanted()}"


def indptr_of_groups(groups: Any, length: int) -> npt.NDArray[np.int64]:
    """Return where each group starts, from the size of each."""
    sizes = as_array("groups", groups)
    if sizes.ndim != 1:
        raise ValueError(f"groups must have one dimension, not the shape {sizes.shape}")
    if sizes.dtype.kind not in "iu" and len(sizes):
        raise TypeError(f"groups must be integers, not {sizes.dtype}")
    if len(sizes) and int(sizes.min()) < 0:
        raise ValueError(f"group {int(sizes.argmin())} has the size {sizes.min()}")
    total = sum(sizes.tolist())
    if total != length:
        raise ValueError(
            f"the groups hold {total} rows, but there are {length} scores: groups are how many "
            "rows each query has; query_ids= takes the query of each row"
        )
    indptr = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    return indptr


def group_rows(
    query_ids: Any, length: int
) -> tuple[Array | None, npt.NDArray[np.int64], list[Any]]:
    """An order that brings equal ids together (None: they are), where each starts, and the ids."""
    ids = None
    if hasattr(query_ids, "dtype") and getattr(query_ids.dtype, "kind", "i") in _INTEGRAL:
        try:
            ids = as_array("query_ids", query_ids)
        except TypeError:  # integers with gaps and categories become objects
            ids = None
    if ids is None or ids.dtype.kind not in _INTEGRAL or _any_missing(ids):
        ids, found = None, _list_ids(query_ids)
        _require_length("query_ids", (len(found),), length)
        numbers = np.empty(length, np.int64)
        try:
            names = number_ids(found, numbers)
        except TypeError:  # one that cannot be hashed
            check_ids(found, "query_ids:")
            raise
        if not _are_ids(query_ids):
            check_ids(names, "query_ids:")
        count = len(names)
    else:
        _require_length("query_ids", ids.shape, length)
        numbers, names = np.empty(length, np.int64), []
        count = number_integers(_as_int64(ids), numbers)
    starts = np.flatnonzero(np.concatenate([[length > 0], numbers[1:] != numbers[:-1]]))
    order = None
    if count < len(starts):
        order, indptr = np.empty(length, np.int64), np.empty(count + 1, np.int64)
        sort_numbers(numbers, indptr, order)
        starts = indptr[:-1]
    if ids is not None:
        rows = starts if order is None else order[starts]
        # The dates of pandas are objects of its own.
        names = listed(query_ids.take(rows) if ids.dtype.kind in "mM" else ids[rows])
    return order, np.append(starts, length).astype(np.int64), names


def _require_length(name: str, shape: tuple[int, ...], length: int) -> None:
    if shape != (length,):
        raise ValueError(
            f"{name} must have one id for each of the {length} scores, not the shape {shape}"
        )


def _as_int64(ids: Array) -> npt.NDArray[np.int64]:
    """Integers, or what stands for others, each for one."""
    ids = lay_side_by_side(ids)
    return ids.view(np.int64) if ids.itemsize == 8 else ids.astype(np.int64)


# Compressed rows


def is_compressed(labels: Any) -> bool:
    """Whether these are compressed rows."""
    return hasattr(labels, "tocsr") or (isinstance(labels, tuple) and len(labels) == 3)


def no_judgments(given: Any) -> TypeError:
    """Say what judgments are, and how to make them of what was given."""
    n_dimensions = getattr(given, "ndim", 1)
    rows = list(given) if hasattr(given, "__len__") and n_dimensions else []
    way = ""
    if isinstance(given, Mapping) or any(isinstance(row, Mapping) for row in rows):
        way = "; {query: {id: grade}} is for evaluate()"
    elif any(_length(row) is not None for row in rows):
        way = f"; {_ROWS_OF_IDS}"
    elif rows and not isinstance(given, (str, bytes)):
        way = f"; {_ONE_ID_A_ROW}"
    if n_dimensions == 2:
        way += "; a matrix of grades is scipy.sparse.csr_array(judgments)"
    kind = f"{len(given)} items" if isinstance(given, tuple) else type(given).__name__
    return TypeError(
        f"judgments must be a scipy.sparse matrix or (indptr, indices, data), not {kind}{way}"
    )


def read_judgments(
    name: str, labels: Any, count: int, n_columns: int | None, pad: int = -1
) -> JudgedArrays:
    """Return judged columns and their grades, in compressed rows."""
    if hasattr(labels, "tocsr"):
        if len(labels.shape) != 2:
            raise ValueError(f"{name} must have two dimensions, not the shape {labels.shape}")
        if n_columns is not None and labels.shape != (count, n_columns):
            raise ValueError(
                f"{name} and scores must have the same shape, not {labels.shape} "
                f"and {(count, n_columns)}"
            )
        n_columns = labels.shape[1]
        rows = labels.tocsr()
        if labels.format == "coo" and rows.nnz != labels.nnz:  # made one of what stands twice
            places = Counter(zip(labels.row.tolist(), labels.col.tolist(), strict=True))
            raise ValueError(
                f"{name} holds two values for one place, {places.most_common(1)[0][0]}"
            )
        loose = True  # there may be room to spare
        given, indices, data = rows.indptr, rows.indices, rows.data
    else:
        loose = False
        given, indices, data = labels
    indptr = as_array(f"the indptr of {name}", given)
    columns = as_array(f"the indices of {name}", indices)
    grades = as_array(f"the data of {name}", data)

    def wanted() -> str:
        return f"{name} must be (indptr, indices, data){_shapes(indptr, columns, grades)}"

    if columns.dtype.kind not in "iu" and columns.size:
        raise TypeError(f"{_no_integers(f'the indices of {name}', columns)}: {wanted()}")
    if grades.dtype.kind not in "biuf":
        raise TypeError(f"the data of {name} must be numbers, not {grades.dtype}: {wanted()}")
    if columns.ndim != 1 or columns.shape != grades.shape:
        raise ValueError(
            f"indices and data of {name} must have one dimension and the same length: {wanted()}"
        )
    starts = _check_indptr(name, indptr, len(columns), wanted)
    if len(starts) - 1 != count:
        raise ValueError(
            f"{name} has {len(starts) - 1} rows, but there are {count} queries"
            + ("" if loose else f": {wanted()}")
        )
    if not loose and starts[-1] != len(columns):
        raise ValueError(_describe_wrong_end(name, starts, len(columns), wanted))
    used = slice(int(starts[-1]))
    columns, grades = columns[used], grades[used]
    if columns.dtype.kind == "u" and columns.size and columns.max() > LARGEST_ID:
        raise ValueError(f"the indices of {name} hold {columns.max()}, which is 2^63 or more")
    if pad >= 0 and (columns == pad).any():
        raise ValueError(f"id {pad} is judged, but is the pad: it could never be found")
    return JudgedArrays(
        ArrayRows(np.ascontiguousarray(columns, np.int64), starts),
        ArrayRows(np.ascontiguousarray(grades, np.float64), starts),
        2**63 - 1 if n_columns is None else n_columns,
    )
