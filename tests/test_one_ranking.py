"""One ranking, one number: the values, the kinds of input, and what is refused."""

from __future__ import annotations

import contextlib
import math
from collections import UserList, deque
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import rankmeter as rm

RANKED = ["x", "a", "y", "b"]
QRELS = {"a": 1, "b": 3, "c": 2, "n": 0}

# Each function with everything but the ranking and the qrels filled in.
CALLS: dict[str, Callable[..., float]] = {
    "recall_at_k": lambda ranked, qrels, **kw: rm.recall_at_k(ranked, qrels, 4, **kw),
    "precision_at_k": lambda ranked, qrels, **kw: rm.precision_at_k(ranked, qrels, 4, **kw),
    "hit_at_k": lambda ranked, qrels, **kw: rm.hit_at_k(ranked, qrels, 4, **kw),
    "reciprocal_rank": rm.reciprocal_rank,
    "reciprocal_rank, k": lambda ranked, qrels, **kw: rm.reciprocal_rank(ranked, qrels, 4, **kw),
    "average_precision": rm.average_precision,
    "average_precision, k": lambda ranked, qrels, **kw: rm.average_precision(
        ranked, qrels, 4, **kw
    ),
    "ndcg_at_k": rm.ndcg_at_k,
}
WITH_K: dict[str, Callable[[Any], float]] = {
    "recall_at_k": lambda k: rm.recall_at_k(RANKED, QRELS, k),
    "precision_at_k": lambda k: rm.precision_at_k(RANKED, QRELS, k),
    "hit_at_k": lambda k: rm.hit_at_k(RANKED, QRELS, k),
    "reciprocal_rank": lambda k: rm.reciprocal_rank(RANKED, QRELS, k),
    "average_precision": lambda k: rm.average_precision(RANKED, QRELS, k),
    "ndcg_at_k": lambda k: rm.ndcg_at_k(RANKED, QRELS, k),
}
WITH_REL = {name: call for name, call in CALLS.items() if name != "ndcg_at_k"}


def every(calls: dict[str, Callable[..., float]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", calls.values(), ids=calls.keys())


# ---------------------------------------------------------------------------------------------
# Values


def test_values() -> None:
    # relevant: a at rank 2, b at rank 4, c never
    assert rm.recall_at_k(RANKED, QRELS, 2) == 1 / 3
    assert rm.precision_at_k(RANKED, QRELS, 4) == 2 / 4
    assert rm.hit_at_k(RANKED, QRELS, 1) == 0.0
    assert rm.hit_at_k(RANKED, QRELS, 2) == 1.0
    assert rm.reciprocal_rank(RANKED, QRELS) == 1 / 2
    assert rm.reciprocal_rank(RANKED, QRELS, 1) == 0.0
    assert rm.average_precision(RANKED, QRELS) == (1 / 2 + 2 / 4) / 3
    assert rm.average_precision(RANKED, QRELS, 3) == (1 / 2) / 3
    # gains 1 and 7 at ranks 2 and 4, ideal 7, 3, 1
    ndcg = (1 / math.log2(3) + 7 / math.log2(5)) / (7 + 3 / math.log2(3) + 1 / 2)
    assert rm.ndcg_at_k(RANKED, QRELS) == pytest.approx(ndcg, rel=1e-15)


def test_rel_is_the_least_relevant_grade() -> None:
    assert rm.recall_at_k(RANKED, QRELS, 4, rel=2) == 1 / 2
    assert rm.precision_at_k(RANKED, QRELS, 4, rel=3) == 1 / 4
    assert rm.hit_at_k(RANKED, QRELS, 3, rel=2) == 0.0
    assert rm.reciprocal_rank(RANKED, QRELS, rel=2) == 1 / 4
    assert rm.average_precision(RANKED, QRELS, rel=2) == (1 / 4) / 2
    assert rm.reciprocal_rank(["a"], {"a": 0.5}, rel=0.5) == 1.0


def test_ndcg_takes_gain_and_discount() -> None:
    log3, log5 = math.log2(3), math.log2(5)
    linear = (1 / log3 + 3 / log5) / (3 + 2 / log3 + 1 / 2)
    assert rm.ndcg_at_k(RANKED, QRELS, 10, "linear") == pytest.approx(linear, rel=1e-15)
    jarvelin = (1 + 3 / 2) / (3 + 2 + 1 / log3)
    value = rm.ndcg_at_k(RANKED, QRELS, gain="linear", discount="jarvelin")
    assert value == pytest.approx(jarvelin, rel=1e-15)
    mapping = (2 / log3 + 4 / log5) / (4 + 2 / log3)
    value = rm.ndcg_at_k(RANKED, QRELS, gain={1: 2, 2: 0, 3: 4})
    assert value == pytest.approx(mapping, rel=1e-15)
    assert rm.ndcg_at_k(RANKED, QRELS, gain=MappingProxyType({1: 2, 2: 0, 3: 4})) == value


def test_ndcg_is_cut_at_ten_unless_said_otherwise() -> None:
    ranked = [f"x{i}" for i in range(10)] + ["a"]
    assert rm.ndcg_at_k(ranked, {"a": 1}) == 0.0
    assert rm.ndcg_at_k(ranked, {"a": 1}, 11) > 0.0


@every(CALLS)
def test_an_empty_ranking_scores_zero(call: Callable[..., float]) -> None:
    assert call([], QRELS) == 0.0


@every(CALLS)
def test_nothing_relevant_scores_zero(call: Callable[..., float]) -> None:
    for qrels in ({}, {"a": 0}, {"a": -1}, {"not there": 1}):
        assert call(RANKED, qrels) == 0.0


@every(CALLS)
def test_the_value_is_a_plain_float(call: Callable[..., float]) -> None:
    assert type(call(RANKED, QRELS)) is float
    assert type(call([], {})) is float


@every(WITH_K)
def test_k_beyond_the_list(call: Callable[[Any], float]) -> None:
    values = {k: call(k) for k in (4, 5, 1000, 2**31, 2**62)}
    if call is WITH_K["precision_at_k"]:
        assert values == {k: 2 / k for k in values}
    else:
        assert len(set(values.values())) == 1


@every(WITH_K)
def test_k_may_be_a_numpy_integer(call: Callable[[Any], float]) -> None:
    assert call(np.int64(3)) == call(np.uint8(3)) == call(3)


# ---------------------------------------------------------------------------------------------
# retrieval_metrics


def test_retrieval_metrics_names_and_values() -> None:
    ranked = [f"x{i}" for i in range(8)] + ["b", "a"]
    assert rm.retrieval_metrics(ranked, QRELS, 9) == {
        "recallAtK": rm.recall_at_k(ranked, QRELS, 9),
        "precisionAtK": rm.precision_at_k(ranked, QRELS, 9),
        "ndcgAt10": rm.ndcg_at_k(ranked, QRELS, 10),
        "mrr": rm.reciprocal_rank(ranked, QRELS),
        "hitAtK": rm.hit_at_k(ranked, QRELS, 9),
    }


def test_retrieval_metrics_keys_in_order() -> None:
    keys = ["recallAtK", "precisionAtK", "ndcgAt10", "mrr", "hitAtK"]
    assert list(rm.retrieval_metrics(RANKED, QRELS)) == keys


@pytest.mark.parametrize("k", [1, 3, 10, 50])
def test_retrieval_metrics_at_any_k(k: int) -> None:
    ranked = ["x", "a", *(f"y{i}" for i in range(10)), "b"]
    metrics = rm.retrieval_metrics(ranked, QRELS, k, rel=2)
    assert metrics["recallAtK"] == rm.recall_at_k(ranked, QRELS, k, rel=2)
    assert metrics["precisionAtK"] == rm.precision_at_k(ranked, QRELS, k, rel=2)
    assert metrics["hitAtK"] == rm.hit_at_k(ranked, QRELS, k, rel=2)
    assert metrics["ndcgAt10"] == rm.ndcg_at_k(ranked, QRELS, 10)
    assert metrics["mrr"] == 1 / 13  # not cut at k


# ---------------------------------------------------------------------------------------------
# Kinds of input


def object_array(ids: list[Any]) -> Any:
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    return array


SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "UserList": UserList,
    "deque": deque,
    "array": np.array,
    "array of objects": object_array,
    "array backwards": lambda ids: np.array(ids[::-1])[::-1],
}


@pytest.mark.parametrize("kind", SEQUENCES.values(), ids=SEQUENCES.keys())
@every(CALLS)
def test_any_sequence_is_a_ranking(call: Callable[..., float], kind: Callable[..., Any]) -> None:
    assert call(kind(RANKED), QRELS) == call(RANKED, QRELS)
    numbers = {1: 1, 3: 3, 2: 2, -5: 0}
    assert call(kind([9, 1, -8, 3]), numbers) == call(RANKED, QRELS)


def test_a_range_is_a_ranking() -> None:
    assert rm.reciprocal_rank(range(10), {4: 1}) == 1 / 5


def test_other_integer_arrays() -> None:
    for dtype in ("int8", "uint8", "int32", "uint64", ">i4"):
        assert rm.reciprocal_rank(np.array([7, 4, 2], dtype=dtype), {2: 1}) == 1 / 3


@every(CALLS)
def test_any_hashable_is_an_id(call: Callable[..., float]) -> None:
    ids = {"x": ("x", 1), "a": ("a", 2), "y": frozenset("y"), "b": b"b", "c": -1, "n": 2.5}
    qrels = {ids[doc]: grade for doc, grade in QRELS.items()}
    assert call([ids[doc] for doc in RANKED], qrels) == call(RANKED, QRELS)


@every(CALLS)
def test_ids_of_str_and_int_may_be_mixed(call: Callable[..., float]) -> None:
    assert call(["x", 1, 2, "b"], {1: 1, "b": 3, "c": 2, 7: 0}) == call(RANKED, QRELS)


@every(CALLS)
def test_grades_may_be_any_number(call: Callable[..., float]) -> None:
    expected = call(RANKED, QRELS)
    for number in (float, np.int64, np.float32, np.uint8, np.float16):
        assert call(RANKED, {doc: number(grade) for doc, grade in QRELS.items()}) == expected
    yes_or_no = {"a": True, "b": True, "n": False}
    assert call(RANKED, yes_or_no) == call(RANKED, {"a": 1, "b": 1, "n": 0})
    numpy_bools = {doc: np.bool_(grade) for doc, grade in yes_or_no.items()}
    assert call(RANKED, numpy_bools) == call(RANKED, yes_or_no)


@every(CALLS)
def test_qrels_may_be_any_mapping(call: Callable[..., float]) -> None:
    assert call(RANKED, MappingProxyType(QRELS)) == call(RANKED, QRELS)


def test_an_id_is_found_by_equality_not_by_identity() -> None:
    doc = "".join(["do", "c"])
    assert rm.reciprocal_rank([doc], {"doc": 1}) == 1.0
    # the same hash, another id
    assert rm.reciprocal_rank([2**61 - 1, 0], {0: 1}) == 1 / 2
    assert rm.reciprocal_rank([-1, -2], {-2: 1}) == 1 / 2


# ---------------------------------------------------------------------------------------------
# Refused


@every(CALLS)
@pytest.mark.parametrize(
    "ranked",
    [None, "abc", b"abc", 7, 1.5, {"a", "b"}, frozenset("ab"), np.array("a"), Ellipsis],
    ids=lambda ranked: type(ranked).__name__,
)
def test_what_is_no_ranking(call: Callable[..., float], ranked: Any) -> None:
    with pytest.raises(TypeError):
        call(ranked, QRELS)


@every(CALLS)
def test_an_iterator_is_no_ranking(call: Callable[..., float]) -> None:
    for iterator in (iter(RANKED), (doc for doc in RANKED), reversed(RANKED)):
        with pytest.raises(TypeError):
            call(iterator, QRELS)


@every(CALLS)
def test_scores_are_no_ranking_here(call: Callable[..., float]) -> None:
    """A dict of scores read as a list of ids would be ranked by insertion."""
    with pytest.raises(TypeError):
        call({"a": 0.1, "b": 0.9}, QRELS)


@every(CALLS)
@pytest.mark.parametrize("qrels", [None, ["a"], "a", {"a"}, 3, [("a", 1)]], ids=repr)
def test_what_are_no_judgments(call: Callable[..., float], qrels: Any) -> None:
    with pytest.raises(TypeError):
        call(RANKED, qrels)


@every(CALLS)
@pytest.mark.parametrize("grade", [None, "1", b"1", [1], 1j, Ellipsis], ids=repr)
@pytest.mark.parametrize("doc", ["a", "not retrieved"])
def test_a_grade_that_is_no_number(call: Callable[..., float], doc: str, grade: Any) -> None:
    with pytest.raises(TypeError, match=doc):
        call(RANKED, {"b": 1, doc: grade})


@every(CALLS)
@pytest.mark.parametrize(
    "grade",
    [math.nan, math.inf, -math.inf, np.float32("nan"), 10**400],
    ids=["nan", "inf", "-inf", "numpy nan", "10**400"],
)
@pytest.mark.parametrize("doc", ["a", "not retrieved"])
def test_a_grade_that_is_not_finite(call: Callable[..., float], doc: str, grade: Any) -> None:
    with pytest.raises(ValueError, match=doc):
        call(RANKED, {"b": 1, doc: grade})


@every(CALLS)
@pytest.mark.parametrize("doc", ["a", "x"], ids=["judged", "unjudged"])
def test_the_same_id_twice(call: Callable[..., float], doc: str) -> None:
    with pytest.raises(ValueError, match=doc) as caught:
        call(["p", doc, doc], QRELS)
    message = str(caught.value)
    assert "2" in message
    assert "3" in message
    assert call(["p", doc, doc], QRELS, duplicates="first") == call(["p", doc], QRELS)


@every(CALLS)
def test_the_same_id_twice_in_an_array(call: Callable[..., float]) -> None:
    for ranked in (np.array(["p", "a", "a"]), ("p", "a", "a")):
        with pytest.raises(ValueError, match="a"):
            call(ranked, QRELS)
        assert call(ranked, QRELS, duplicates="first") == call(["p", "a"], QRELS)


def test_the_same_id_twice_below_the_cutoff_is_not_read() -> None:
    ranked = ["a", "x", "y", "y"]
    assert rm.precision_at_k(ranked, QRELS, 3) == 1 / 3
    assert rm.reciprocal_rank(ranked, QRELS, 3) == 1.0
    with pytest.raises(ValueError, match="y"):
        rm.reciprocal_rank(ranked, QRELS)


def test_duplicates_first_reads_on_until_k_different_ids() -> None:
    assert rm.recall_at_k(["x", "x", "x", "a"], {"a": 1}, 2, duplicates="first") == 1.0
    assert rm.hit_at_k(["x", "x", "y", "a"], {"a": 1}, 2, duplicates="first") == 0.0


def test_an_array_of_more_dimensions_is_no_ranking() -> None:
    with pytest.raises((TypeError, ValueError)):
        rm.reciprocal_rank(np.array([["a", "b"]]), {"a": 1})


@every(CALLS)
def test_an_id_that_cannot_be_hashed(call: Callable[..., float]) -> None:
    for bad in (["a"], {"a": 1}, {"a"}):
        with pytest.raises(TypeError):
            call(["x", bad], QRELS)


@every(CALLS)
def test_ids_of_types_that_cannot_match(call: Callable[..., float]) -> None:
    """Numbers against text would find nothing; say so instead of a zero."""
    for ranked, qrels in (
        ([1, 2, 3], {"1": 1}),
        (["1", "2"], {1: 1}),
        (np.array([1, 2]), {"1": 1}),
        (np.array(["1", "2"]), {1: 1}),
        ([b"a", b"b"], {"a": 1}),
    ):
        with pytest.raises(TypeError, match="str"):
            call(ranked, qrels)


@every(WITH_K)
@pytest.mark.parametrize("k", [0, -1, -(2**40), np.int64(0), -(2**80)], ids=repr)
def test_k_below_one(call: Callable[[Any], float], k: Any) -> None:
    with pytest.raises(ValueError, match=r"0|-1|-\d+"):
        call(k)


@every(WITH_K)
@pytest.mark.parametrize(
    "k", [True, False, 1.0, 2.5, "3", math.nan, np.float64(3), np.bool_(True), [3]], ids=repr
)
def test_k_that_is_no_integer(call: Callable[[Any], float], k: Any) -> None:
    with pytest.raises(TypeError):
        call(k)


@pytest.mark.parametrize("name", ["recall_at_k", "precision_at_k", "hit_at_k", "ndcg_at_k"])
def test_k_is_not_optional_where_the_name_says_so(name: str) -> None:
    with pytest.raises(TypeError):
        WITH_K[name](None)


@every(WITH_REL)
def test_rel_that_cannot_be(call: Callable[..., float]) -> None:
    for rel in (0, -1, math.nan, -0.5):
        with pytest.raises(ValueError, match="rel"):
            call(RANKED, QRELS, rel=rel)
    for no_number in (None, "1", [1]):
        with pytest.raises(TypeError):
            call(RANKED, QRELS, rel=no_number)


@every(CALLS)
def test_duplicates_that_cannot_be(call: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match="last"):
        call(RANKED, QRELS, duplicates="last")


def test_gain_and_discount_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="quadratic"):
        rm.ndcg_at_k(RANKED, QRELS, gain="quadratic")
    with pytest.raises(ValueError, match="sqrt"):
        rm.ndcg_at_k(RANKED, QRELS, discount="sqrt")
    for gain in ({1: -1, 2: 1, 3: 1}, {1: math.inf, 2: 1, 3: 1}, {0: 1, 1: 1, 2: 1, 3: 1}):
        with pytest.raises(ValueError, match="gain"):
            rm.ndcg_at_k(RANKED, QRELS, gain=gain)
    for no_gain in ({1: None, 2: 1, 3: 1}, {1: "1", 2: 1, 3: 1}, None, 7, ["linear"]):
        with pytest.raises(TypeError):
            rm.ndcg_at_k(RANKED, QRELS, gain=no_gain)  # type: ignore[arg-type]


def test_a_gain_mapping_that_lacks_a_grade() -> None:
    with pytest.raises(ValueError, match="2"):
        rm.ndcg_at_k(RANKED, QRELS, gain={1: 1, 3: 1})


def test_a_grade_whose_exponential_gain_overflows() -> None:
    assert rm.ndcg_at_k(["a"], {"a": 1023}) == 1.0
    for grade in (1024, 1023.0000001, 1e300):
        with pytest.raises(ValueError, match="doc-A"):
            rm.ndcg_at_k(["x"], {"doc-A": grade})
        assert rm.ndcg_at_k(["doc-A"], {"doc-A": grade}, gain="linear") == 1.0
        assert rm.recall_at_k(["doc-A"], {"doc-A": grade}, 1) == 1.0
        with pytest.raises(ValueError, match="doc-A"):
            rm.retrieval_metrics(["doc-A"], {"doc-A": grade})


def test_gains_whose_sum_overflows_never_give_a_nan() -> None:
    """Each gain is finite, their sum is not: refuse it, or answer with a number."""
    ids = [f"d{i}" for i in range(8)]
    for grade, gain in ((1023, "exponential"), (1.7e308, "linear")):
        qrels = dict.fromkeys(ids, grade)
        for ranked in (ids, ids[:3]):
            try:
                value = rm.ndcg_at_k(ranked, qrels, gain=gain)
            except ValueError:
                continue
            assert 0.0 < value <= 1.0


def test_retrieval_metrics_refuses_what_the_others_refuse() -> None:
    wrong: list[tuple[type[Exception], Any, Any, Any]] = [
        (TypeError, None, QRELS, 10),
        (TypeError, "abc", QRELS, 10),
        (TypeError, RANKED, None, 10),
        (TypeError, [1, 2], QRELS, 10),
        (TypeError, [["a"]], QRELS, 10),
        (TypeError, RANKED, {"a": None}, 10),
        (TypeError, RANKED, QRELS, True),
        (TypeError, RANKED, QRELS, 1.0),
        (TypeError, RANKED, QRELS, None),
        (ValueError, RANKED, QRELS, 0),
        (ValueError, RANKED, {"a": math.nan}, 10),
        (ValueError, ["a", "a"], QRELS, 10),
    ]
    for error, ranked, qrels, k in wrong:
        with pytest.raises(error):
            rm.retrieval_metrics(ranked, qrels, k)


# ---------------------------------------------------------------------------------------------
# Input that changes while it is read: any answer and any exception will do, a crash will not


class Meddler:
    """An id, or a grade, that calls something whenever it is looked at."""

    def __init__(self, meddle: Callable[[], object], value: float = 1.0) -> None:
        self.meddle = meddle
        self.value = value

    def __float__(self) -> float:
        self.meddle()
        return self.value

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        self.meddle()
        return False


def survive(call: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError, ValueError, TypeError, KeyError, IndexError):
        call()


@every(CALLS)
def test_a_grade_that_changes_the_qrels(call: Callable[..., float]) -> None:
    for growth in (0, 1, 1000):
        qrels: dict[Any, Any] = {}

        def meddle(qrels: dict[Any, Any] = qrels, growth: int = growth) -> None:
            qrels.clear()
            qrels.update((f"new{i}", 1) for i in range(growth))

        qrels.update({"a": Meddler(meddle), **{f"d{i}": Meddler(meddle) for i in range(50)}})
        survive(lambda qrels=qrels: call(RANKED, qrels))  # type: ignore[misc]


@every(CALLS)
def test_an_id_that_changes_the_ranking_or_the_qrels(call: Callable[..., float]) -> None:
    for victim in ("ranked", "qrels", "both"):
        ranked: list[Any] = []
        qrels: dict[Any, Any] = {}

        def meddle(
            ranked: list[Any] = ranked, qrels: dict[Any, Any] = qrels, victim: str = victim
        ) -> None:
            if victim != "qrels":
                ranked.clear()
            if victim != "ranked":
                qrels.clear()

        for judged in (True, False):
            ranked[:] = ["x", Meddler(meddle), "a", *(Meddler(meddle) for _ in range(20)), "b"]
            qrels.update(QRELS)
            if judged:
                qrels[Meddler(lambda: None)] = 1
            survive(lambda ranked=ranked, qrels=qrels: call(ranked, qrels))  # type: ignore[misc]


@every(CALLS)
def test_a_grade_that_raises(call: Callable[..., float]) -> None:
    def boom() -> None:
        raise ZeroDivisionError("from the caller's own __float__")

    with pytest.raises(ZeroDivisionError):
        call(RANKED, {"a": Meddler(boom)})
