"""The package and the plain reference: the same digits, or the same refusal."""

from __future__ import annotations

import copy
import math
import random
from collections import ChainMap, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import reference
import strategies
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import Example, Floatable

import rankmeter as rm
from rankmeter.naming.rows import METRICS


def digits_of_means(means: dict[str, float]) -> dict[str, str]:
    """All digits; of a geometric mean those that some 100 bits decide.

    Of two neighbouring doubles, it lies half way between them but for the 107th bit.
    """
    return {
        text: f"{value:.14g}" if text.partition("(")[0] in reference.GEOMETRIC else value.hex()
        for text, value in means.items()
    }


def by_package(example: Example) -> dict[str, Any]:
    ev = rm.evaluate(example.qrels, example.run, example.metrics, **example.options)
    rows = zip(ev.query_ids, ev.values.tolist(), strict=True)
    return {
        "values": {query: [value.hex() for value in row] for query, row in rows},
        "mean": digits_of_means(ev.mean),
        "coverage": ev.coverage._replace(unmatched=0)._asdict(),
    }


def by_reference(example: Example) -> dict[str, Any]:
    result = reference.evaluate(example.qrels, example.run, example.metrics, **example.options)
    return {
        "values": {
            query: [values[text].hex() for text in example.metrics]
            for query, values in result.per_query.items()
        },
        "mean": digits_of_means(result.mean),
        "coverage": result.coverage,
    }


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """What the call returns, or how it refuses; other errors than these go through."""
    try:
        return call(*arguments)
    except (TypeError, ValueError) as error:
        return error


def same_refusal(ours: Any, expected: Exception) -> None:
    """The same type, for the same reason: the words of the reference are among ours."""
    assert type(ours) is type(expected), (ours, expected)
    assert str(expected) in str(ours)


def compare(example: Example) -> None:
    before = copy.deepcopy((example.qrels, example.run))
    expected = outcome(by_reference, example)
    ours = outcome(by_package, example)
    if isinstance(expected, Exception):
        same_refusal(ours, expected)
    else:
        assert ours == expected
    assert repr((example.qrels, example.run)) == repr(before), "the input was changed"


# ---------------------------------------------------------------------------------------------
# Any call


IN_TURN = ["d0", "d1", "d2"]


@settings(max_examples=300)
# Gains whose sum in this order is rounded to more than in the best order.
@example(Example({"a": dict(zip(IN_TURN, [1.1, 3.3, 2.2], strict=True))}, {"a": IN_TURN}, ["g"]))
# Whole numbers that doubles round together.
@example(Example({"a": {"d0": 1}}, {"a": {"d0": -(2**53), "d1": -(2**53) - 1}}, ["mrr"]))
@example(Example({"a": {"d0": 1}}, {"a": {"d0": 2**53 + 1, "d1": 2**53}}, ["mrr"]))
@given(strategies.examples())
def test_same_digits_or_same_refusal(one: Example) -> None:
    compare(one)


@pytest.mark.slow
@settings(max_examples=20_000)
@given(strategies.examples())
def test_same_digits_or_same_refusal_many(one: Example) -> None:
    compare(one)


@pytest.mark.parametrize("name", sorted(METRICS))
@settings(max_examples=40)
@given(example=strategies.examples(valid=True), data=st.data())
def test_same_digits_of_each_metric(name: str, example: Example, data: st.DataObject) -> None:
    positive = strategies.positive_grades(example.qrels)
    example.metrics = [data.draw(strategies.metric_texts(positive, name))]
    compare(example)


@settings(max_examples=100)
@given(strategies.examples(valid=True))
def test_the_second_evaluation_of_one_evaluator_equals_the_first(example: Example) -> None:
    options: Any = example.options
    scorer = rm.Evaluator(example.qrels, example.metrics)
    first = scorer.evaluate(example.run, **options)
    scorer.evaluate({query: [] for query in example.qrels})
    second = scorer.evaluate(example.run, **options)
    assert first.values.tobytes() == second.values.tobytes()
    assert first.query_ids == second.query_ids
    assert first.coverage == second.coverage
    assert by_package(example)["values"] == {
        query: [value.hex() for value in row]
        for query, row in zip(second.query_ids, second.values.tolist(), strict=True)
    }


# ---------------------------------------------------------------------------------------------
# One fault in a call that is right otherwise


def known_ids(example: Example) -> list[Hashable]:
    entries = [*example.qrels.values(), *example.run.values()]
    return [doc for entry in entries for doc in entry] or ["d0"]


def without_second_faults(metrics: list[str], instead: str) -> list[str]:
    """Neither a gain mapping nor a highest grade that was drawn for other grades."""
    fit = [text for text in metrics if "{" not in text and reference.parse(text)[0] != "err"]
    return fit or [instead]


@st.composite
def places(draw: st.DrawFn) -> tuple[Example, Hashable, Hashable]:
    """A call that is right, and a scored query and an id in it to put a fault at."""
    example = draw(strategies.examples(valid=True))
    example.metrics = without_second_faults(example.metrics, "map")
    query = draw(st.sampled_from([query for query in example.qrels if query in example.run]))
    return example, query, draw(st.sampled_from(known_ids(example)))


def refused_alike(example: Example) -> None:
    expected = outcome(by_reference, example)
    assert isinstance(expected, Exception)
    same_refusal(outcome(by_package, example), expected)


def name(value: object) -> str:
    return f"{type(value).__name__} {value!r:.20}"


faulty = settings(max_examples=12)


@pytest.mark.parametrize(
    "grade",
    [None, "1", 1j, [1], math.nan, np.float32("nan"), math.inf, -math.inf, 10**400],
    ids=name,
)
@faulty
@given(place=places())
def test_a_bad_grade_is_refused_alike(grade: Any, place: Any) -> None:
    example, query, doc = place
    example.qrels[query][doc] = grade
    refused_alike(example)


@pytest.mark.parametrize("judged", [None, ["d0"], "d0", 3], ids=name)
@faulty
@given(place=places())
def test_bad_judgments_are_refused_alike(judged: Any, place: Any) -> None:
    example, query, _ = place
    example.qrels[query] = judged
    refused_alike(example)


@pytest.mark.parametrize(
    "score",
    [None, "1.0", b"1.0", 1j, [1.0], math.nan, np.float64("nan"), Floatable(math.nan)],
    ids=name,
)
@faulty
@given(place=places())
def test_a_bad_score_is_refused_alike(score: Any, place: Any) -> None:
    example, query, doc = place
    example.run[query] = {doc: score}
    refused_alike(example)


@pytest.mark.parametrize("entry", [None, "abc", b"abc", 7, {"d0"}, iter("abc")], ids=name)
@faulty
@given(place=places())
def test_a_bad_ranking_is_refused_alike(entry: Any, place: Any) -> None:
    example, query, _ = place
    example.run[query] = entry
    refused_alike(example)


@faulty
@given(places())
def test_an_id_that_cannot_be_hashed_is_refused_alike(place: Any) -> None:
    example, query, doc = place
    example.run[query] = [[doc]]
    for evaluate in (rm.evaluate, reference.evaluate):  # the words are those of Python
        with pytest.raises(TypeError, match="unhashable type: 'list'"):
            evaluate(example.qrels, example.run, example.metrics, **example.options)


@faulty
@given(places())
def test_an_id_twice_is_refused_alike(place: Any) -> None:
    example, query, doc = place
    example.options["duplicates"] = "error"
    example.run.update(dict.fromkeys(example.run, ()))
    example.run[query] = [doc, doc]
    example.metrics[:] = ["map"]  # which looks at all of the ranking
    refused_alike(example)


@pytest.mark.parametrize("scored", [False, True], ids=["ranked", "scored"])
@faulty
@given(place=places())
def test_ids_of_types_that_cannot_match_are_refused_alike(scored: bool, place: Any) -> None:
    example, query, doc = place
    other = 0 if isinstance(doc, str) else "0"
    example.qrels[query][doc] = 9  # a document that each metric looks for
    example.run[query] = {other: 1.0} if scored else [other]
    refused_alike(example)


@faulty
@given(places())
def test_the_same_name_twice_is_refused_alike(place: Any) -> None:
    example = place[0]
    example.metrics.append(example.metrics[0])
    refused_alike(example)


@faulty
@given(places(), st.sampled_from(["qrels", "run", "metrics"]))
def test_nothing_to_score_is_refused_alike(place: Any, empty: str) -> None:
    example = place[0]
    getattr(example, empty).clear()
    refused_alike(example)


@settings(max_examples=40)
@example(Example({"a": {"d0": 1}}, {"a": []}, ["g(gain=exponential)"]), 1023)
@given(strategies.examples(valid=True), st.sampled_from([1023, 1023.5, 1024, 1e300, 2**60]))
def test_only_an_exponential_gain_has_a_largest_grade(example: Example, grade: float) -> None:
    query = next(iter(example.qrels))
    # Alone in its query: sums of such gains are another matter.
    example.qrels[query] = {known_ids(example)[0]: grade}
    example.metrics = without_second_faults(example.metrics, "ndcg")
    compare(example)


# ---------------------------------------------------------------------------------------------
# Other kinds of the same input


class Dict(dict):  # type: ignore[type-arg]
    """A dict that is not exactly a dict."""


class List(list):  # type: ignore[type-arg]
    """A list that is not exactly a list."""


class Str(str):
    """A str that is not exactly a str."""


class Int(int):
    """An int that is not exactly an int."""


class Float(float):
    """A float that is not exactly a float."""


def object_array(ids: list[Any]) -> Any:
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    return array


def typed_array(ids: list[Any]) -> Any:
    """An array of numbers or of text, where that loses nothing."""
    array = np.array(ids)
    lossless = array.dtype.kind in "iuU" and array.tolist() == ids
    return array if lossless else object_array(ids)


def other_id(doc: Any) -> Any:
    if isinstance(doc, str):
        return Str(doc)
    return Int(doc)


def numpy_id(doc: Any) -> Any:
    if isinstance(doc, str):
        return np.str_(doc) if str(np.str_(doc)) == doc else doc
    return np.int64(doc) if -(2**63) <= doc < 2**63 else doc


def other_number(value: Any) -> Any:
    if type(value) is float:
        return Float(value)
    if type(value) is int:
        return Int(value)
    return value


def numpy_number(value: Any) -> Any:
    return np.float64(value) if type(value) is float else value


def floatable(value: Any) -> Any:
    return Floatable(value) if type(value) is float else value


MAPPINGS: dict[str, Callable[[dict[Any, Any]], Mapping[Any, Any]]] = {
    "dict subclass": Dict,
    "OrderedDict": OrderedDict,
    "defaultdict": lambda d: defaultdict(dict, d),
    "MappingProxyType": MappingProxyType,
    "UserDict": UserDict,
    "ChainMap": ChainMap,
}
SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "list subclass": List,
    "UserList": UserList,
    "deque": deque,
    "object array": object_array,
    "typed array": typed_array,
    "array, every second": lambda ids: object_array([i for i in ids for _ in range(2)])[::2],
}
IDS: dict[str, Callable[[Any], Any]] = {"subclass": other_id, "numpy": numpy_id}
NUMBERS: dict[str, Callable[[Any], Any]] = {
    "subclass": other_number,
    "numpy": numpy_number,
    "__float__": floatable,
}


def rebuilt(
    example: Example,
    mapping: Callable[[dict[Any, Any]], Any] = dict,
    sequence: Callable[[list[Any]], Any] = list,
    run_id: Callable[[Any], Any] = lambda doc: doc,
    judged_id: Callable[[Any], Any] = lambda doc: doc,
    number: Callable[[Any], Any] = lambda value: value,
) -> Example:
    """The same call in other clothes."""
    run = {
        query: (
            mapping({run_id(doc): number(score) for doc, score in entry.items()})
            if isinstance(entry, dict)
            else sequence([run_id(doc) for doc in entry])
        )
        for query, entry in example.run.items()
    }
    qrels = {
        query: mapping({judged_id(doc): number(grade) for doc, grade in judged.items()})
        for query, judged in example.qrels.items()
    }
    return Example(mapping(qrels), mapping(run), example.metrics, example.options)


KINDS: dict[str, dict[str, Callable[[Any], Any]]] = {
    **{f"mapping: {name}": {"mapping": kind} for name, kind in MAPPINGS.items()},
    **{f"ranking: {name}": {"sequence": kind} for name, kind in SEQUENCES.items()},
    **{f"ids of the run: {name}": {"run_id": kind} for name, kind in IDS.items()},
    **{f"ids of the qrels: {name}": {"judged_id": kind} for name, kind in IDS.items()},
    **{f"numbers: {name}": {"number": kind} for name, kind in NUMBERS.items()},
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(example=strategies.examples(valid=True))
def test_other_kinds_of_input_give_the_same_digits(kind: str, example: Example) -> None:
    expected = by_reference(example)
    assert by_package(example) == expected
    assert by_package(rebuilt(example, **KINDS[kind])) == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=1000)
@given(example=strategies.examples(valid=True))
def test_other_kinds_of_input_give_the_same_digits_many(kind: str, example: Example) -> None:
    assert by_package(rebuilt(example, **KINDS[kind])) == by_reference(example)


def test_a_defaultdict_is_read_only() -> None:
    qrels: Any = defaultdict(dict, {"q": {"a": 1}, "r": {"a": 1}})
    run: Any = defaultdict(dict, {"q": defaultdict(float, {"b": 1.0})})
    ev = rm.evaluate(qrels, run, "map")
    assert ev.coverage.missing == 1
    assert list(run) == ["q"]
    assert list(run["q"]) == ["b"]


# ---------------------------------------------------------------------------------------------
# One ranking


@settings(max_examples=150)
@given(strategies.examples(), st.integers(1, 30), st.data())
def test_single_functions_give_the_same_digits(
    example: Example, k: int, data: st.DataObject
) -> None:
    qrels = next(iter(example.qrels.values()))
    pool = list(dict.fromkeys(known_ids(example)))
    ranked = data.draw(strategies.rankings(pool, duplicates=True))
    duplicates: Any = example.options["duplicates"]
    rel = data.draw(st.sampled_from([1, 2, 0.5]))
    gain = data.draw(st.sampled_from(["exponential", "linear"]))
    discount = data.draw(st.sampled_from(["log2", "jarvelin"]))
    cutoff = data.draw(st.sampled_from([None, k]))
    at_cutoff = "" if cutoff is None else f"@{k}"

    calls: dict[str, Callable[[], float]] = {
        f"recall@{k}(rel={rel})": lambda: rm.recall_at_k(
            ranked, qrels, k, rel=rel, duplicates=duplicates
        ),
        f"precision@{k}(rel={rel})": lambda: rm.precision_at_k(
            ranked, qrels, k, rel=rel, duplicates=duplicates
        ),
        f"hit@{k}(rel={rel})": lambda: rm.hit_at_k(
            ranked, qrels, k, rel=rel, duplicates=duplicates
        ),
        f"mrr{at_cutoff}(rel={rel})": lambda: rm.reciprocal_rank(
            ranked, qrels, cutoff, rel=rel, duplicates=duplicates
        ),
        f"map{at_cutoff}(rel={rel})": lambda: rm.average_precision(
            ranked, qrels, cutoff, rel=rel, duplicates=duplicates
        ),
        f"ndcg@{k}(gain={gain},discount={discount})": lambda: rm.ndcg_at_k(
            ranked, qrels, k, gain, discount, duplicates=duplicates
        ),
    }
    for text, call in calls.items():
        one = Example({"q": qrels}, {"q": ranked}, [text], {"duplicates": duplicates})
        expected = outcome(by_reference, one)
        value = outcome(call)
        if isinstance(expected, Exception):
            same_refusal(value, expected)
        else:
            assert type(value) is float, text
            assert [value.hex()] == expected["values"]["q"], text


# ---------------------------------------------------------------------------------------------
# Large sizes: few and many judged documents, few and many ties


def pool_of(size: int, integer_ids: bool) -> list[Hashable]:
    return (
        [i * 7919 % 100_003 for i in range(size)]
        if integer_ids
        else [f"doc-{i}" for i in range(size)]
    )


@pytest.mark.parametrize("form", ["scored", "ranked"])
@pytest.mark.parametrize("integer_ids", [False, True], ids=["str", "int"])
@pytest.mark.parametrize("ties", ["docid", "input"])
def test_deep_pools(form: str, integer_ids: bool, ties: str, rng: random.Random) -> None:
    pool = pool_of(6000, integer_ids)
    qrels: dict[Hashable, dict[Hashable, float]] = {}
    run: dict[Hashable, Any] = {}
    scales: list[list[float]] = [[-1, 0, 1, 2, 3, 4], [0, 0.5, 1, 1.5, 2, 3.5], [1]]
    for query, (judged, retrieved, levels) in enumerate(
        (judged, retrieved, levels)
        for judged in (1, 7, 60, 400, 900)
        for retrieved in (20, 1000, 5000)
        for levels in (1, 4, 10**9)
    ):
        scale = rng.choice(scales)
        qrels[query] = {doc: rng.choice(scale) for doc in rng.sample(pool, judged)}
        found = rng.sample(pool, retrieved)
        run[query] = (
            {doc: rng.randrange(levels) / 8 for doc in found} if form == "scored" else found
        )
    metrics = [
        "recall@100", "precision@10", "hit@1", "mrr", "map", "map@50(rel=2)", "ndcg", "ndcg@10",
        "ndcg(gain=linear,discount=jarvelin)",
    ]  # fmt: skip
    example = Example(qrels, run, metrics, {"ties": ties})
    values = by_package(example)
    assert values == by_reference(example)
    seen = {value for row in values["values"].values() for value in row}
    assert len(seen) > 100, "the data hardly vary"


def test_deep_pools_with_a_few_whole_numbers_beyond_double(rng: random.Random) -> None:
    """The way for many judged documents must compare whole numbers exactly too."""
    pool = pool_of(3000, False)
    scores: list[Any] = [2**53, 2**53 + 1, float(2**53), 2**53 + 2, -(2**60) - 1, -(2.0**60)]
    scores += [1, 0.5, Fraction(1, 2), np.int64(2**53 + 1), float("inf"), float("-inf"), -0.0, 0]
    qrels: dict[Hashable, dict[Hashable, float]] = {}
    run: dict[Hashable, Any] = {}
    for query, judged in enumerate((2, 30, 300, 900)):
        qrels[query] = {doc: rng.randint(0, 3) for doc in rng.sample(pool, judged)}
        run[query] = {doc: rng.choice(scores) for doc in rng.sample(pool, 2000)}
    for ties in ("docid", "input"):
        compare(Example(qrels, run, ["map", "ndcg", "mrr", "ndcg@10"], {"ties": ties}))
