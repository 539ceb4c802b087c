"""Equal scores: expectations and bounds, against every order there is."""

from __future__ import annotations

import math
import pickle
from collections.abc import Hashable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import reference
import strategies
from hypothesis import example, given, settings
from hypothesis import strategies as st
from outcomes import same

import rankmeter as rm
from rankmeter.naming.rows import METRICS

# Six documents have at most 720 orders.
POOL: list[Hashable] = ["a", "b", "c", "d", "e", "f"]


@st.composite
def tied_examples(draw: st.DrawFn, name: str | None = None) -> strategies.Example:
    """Calls with many equal scores, and documents that are judged but not retrieved."""
    qrels: strategies.Qrels = {
        query: draw(strategies.judgments([*POOL, "never", "seen"])) for query in ("q", "r")
    }
    positive = strategies.positive_grades(qrels)
    texts = st.lists(
        strategies.metric_texts(positive, name), min_size=1, max_size=5, unique_by=rm.parse
    )
    run: strategies.Run = {"q": draw(strategies.scored(POOL)), "r": draw(strategies.scored(POOL))}
    return strategies.Example(qrels, run, draw(texts), {"ties": "expected"})


ERRATIC = ("g", "infap")  # may fall when a better document moves up: their bounds are not known


def same_bounds(ours: rm.Evaluation, every: reference.Result) -> None:
    for bound, expected in (
        (ours.bounds.lowest, every.lowest),
        (ours.bounds.highest, every.highest),
    ):
        for query, values in bound.per_query.items():
            for text, value in values.items():
                if rm.parse(text).name in ERRATIC and math.isnan(value):
                    continue
                assert value == expected[query][text], (query, text)


def check_against_all_orders(example: strategies.Example) -> None:
    closed = [text for text in example.metrics if METRICS[rm.parse(text).name].closed_form]
    if len(closed) < len(example.metrics):
        with pytest.raises(ValueError, match="ties='expected' has no closed form for"):
            rm.evaluate(example.qrels, example.run, example.metrics, ties="expected")
    ev = rm.evaluate(example.qrels, example.run, example.metrics)
    if closed:
        expected = rm.evaluate(example.qrels, example.run, closed, ties="expected")
    every = reference.evaluate(example.qrels, example.run, example.metrics, ties="expected")
    same_bounds(ev, every)
    least = sum(every.lowest[query] != every.highest[query] for query in every.query_ids)
    assert ev.ties == least or (ev.ties > least and np.isnan(ev.bounds.lowest.values).any())
    for query, values in every.per_query.items():
        for text in closed:
            value = values[text]
            ours = expected.per_query[query][text]
            assert ours == pytest.approx(value, rel=1e-13, abs=1e-15), (query, text)
            assert every.lowest[query][text] <= ours <= every.highest[query][text]
            if every.lowest[query][text] == every.highest[query][text]:
                assert ours == every.lowest[query][text]
    for ties in ("docid", "input"):
        one = rm.evaluate(example.qrels, example.run, example.metrics, ties=ties)  # type: ignore[arg-type]
        assert one.ties == ev.ties
        same_bounds(one, every)
        assert not (one.bounds.lowest.values > one.values).any()
        assert not (one.values > one.bounds.highest.values).any()


def tied(
    judged: dict[Hashable, Any], scores: dict[Hashable, Any], *metrics: str
) -> strategies.Example:
    return strategies.Example({"q": judged}, {"q": scores}, [*metrics], {"ties": "expected"})


@settings(max_examples=150)
@example(tied({"a": -1, "b": 1}, {"a": 1.0, "x": 1.0}, "judged@1(negative=judged)"))
@example(tied({"a": 1, "b": 3}, {"a": 2, "b": 1}, "mrr(rel=3)", "recall@1"))
@example(tied({"a": 1}, {"a": 1, "x": 1}, "unjudged@1", "rbp_residual@1"))  # the best is lowest
@given(tied_examples())
def test_expectations_and_bounds(one: strategies.Example) -> None:
    check_against_all_orders(one)


@pytest.mark.slow
@settings(max_examples=5_000)
@given(tied_examples())
def test_expectations_and_bounds_many(one: strategies.Example) -> None:
    check_against_all_orders(one)


@pytest.mark.parametrize("name", sorted(METRICS))
@settings(max_examples=40)
@given(data=st.data())
def test_expectations_and_bounds_of_each_metric(name: str, data: st.DataObject) -> None:
    check_against_all_orders(data.draw(tied_examples(name)))


# Ten documents of one score behind a better one; three of the ten are relevant.
WIDE_QRELS: dict[str, dict[str, float]] = {"q": {"d1": 1, "d2": 2, "d3": 1, "gone": 1}}
WIDE_RUN: dict[str, dict[str, float]] = {"q": {"top": 2.0} | {f"d{i}": 1.0 for i in range(1, 11)}}
WIDE = {
    # 3 relevant * 4 of 10 ranks = 1.2 expected in the top 5
    "recall@5": Fraction(12, 40),
    "precision@5": Fraction(12, 50),
    # 1 - (7/10 * 6/9 * 5/8 * 4/7), the share of orders with none in the first four of the group
    "hit@5": 1 - Fraction(7 * 6 * 5 * 4, 10 * 9 * 8 * 7),
    # first at place j of ten: C(10 - j, 2) / C(10, 3), rank j + 1
    "mrr": sum(Fraction(math.comb(10 - j, 2), 120) / (j + 1) for j in range(1, 9)),
    "mrr@3": sum(Fraction(math.comb(10 - j, 2), 120) / (j + 1) for j in range(1, 3)),
    # at each rank: relevant in 3 of 10 orders, then with 2/9 of each place before it
    "map": sum(Fraction(3, 10) * (1 + Fraction(2, 9) * (j - 1)) / (j + 1) for j in range(1, 11))
    / 4,
}


@pytest.mark.parametrize("metric", WIDE)
def test_values_computed_by_hand(metric: str) -> None:
    ev = rm.evaluate(WIDE_QRELS, WIDE_RUN, metric, ties="expected")
    assert ev[metric] == pytest.approx(float(WIDE[metric]), rel=1e-14)
    assert ev.ties == 1


def tied(size: int, relevant: int, metric: str) -> float:
    """The value of one query whose documents all have the same score."""
    labels = np.zeros((1, size), np.int8)
    labels[0, :relevant] = 1
    ev = rm.evaluate_scores(np.zeros((1, size)), labels, metric, ties="expected")
    return float(ev[metric])


def chance(size: int, relevant: int, k: int) -> Fraction:
    """Of a relevant document in the top k: 1 - that of none."""
    none = Fraction(1)
    for j in range(min(relevant, k)):
        none *= Fraction(max(size - max(relevant, k) - j, 0), size - j)
    return 1 - none


@pytest.mark.parametrize(
    ("size", "relevant", "k"),
    [(5, 1, 1), (5, 2, 1), (49, 1, 7), (1_000_000, 1, 1), (1_000_000, 1, 999_999), (77, 30, 1)],
)
def test_a_chance_that_is_one_quotient(size: int, relevant: int, k: int) -> None:
    assert tied(size, relevant, f"hit@{k}") == relevant * k / size


@pytest.mark.parametrize("size", [2, 3, 10, 49, 1_000, 1_000_000])
@pytest.mark.parametrize("relevant", [1, 2, 3, 20, 200])
@pytest.mark.parametrize("k", [1, 2, 10, 30, 1_000])
def test_small_chances_keep_their_digits(size: int, relevant: int, k: int) -> None:
    relevant, k = min(relevant, size), min(k, size)
    expected = chance(size, relevant, k)
    ulp = Fraction(math.ulp(float(expected)))
    assert abs(Fraction(tied(size, relevant, f"hit@{k}")) - expected) <= 8 * ulp


@pytest.mark.parametrize("k", [1, 3, 1_000, 2_000])
def test_few_that_are_not_judged_keep_their_digits(k: int) -> None:
    size, judged = 2_003, 2_002
    qrels = {"q": dict.fromkeys(range(judged), 0)}
    run = {"q": dict.fromkeys(range(size), 1.0) | {"last": 0.5}}
    ev = rm.evaluate(qrels, run, [f"unjudged@{k}", "unjudged@2004"], ties="expected")
    exact = Fraction(size - judged, size)
    assert abs(Fraction(ev[f"unjudged@{k}"]) - exact) <= Fraction(math.ulp(float(exact)))
    assert ev["unjudged@2004"] == 2 / 2004


def test_the_discounts_of_a_group_are_averaged() -> None:
    ev = rm.evaluate(WIDE_QRELS, WIDE_RUN, ["ndcg@5(gain=linear)"], ties="expected")
    weights = sum(1 / math.log2(rank + 1) for rank in range(2, 6)) / 10
    ideal = 2 + sum(1 / math.log2(rank + 1) for rank in (2, 3, 4))
    assert ev["ndcg@5(gain=linear)"] == pytest.approx(4 * weights / ideal, rel=1e-14)


def test_a_negative_grade_may_count_as_judged() -> None:
    metrics = ["judged@1(negative=judged)", "judged@1"]
    ev = rm.evaluate({"q": {"a": -1, "b": 1}}, {"q": {"a": 1, "x": 1}}, metrics, ties="expected")
    assert ev.values.tolist() == [[0.5, 0.0]]


@pytest.mark.parametrize("n_judged", [1, 3, 30, 200])
@pytest.mark.parametrize("n_scores", [7, 1_000])
def test_expectations_agree_with_many_drawn_orders(n_judged: int, n_scores: int) -> None:
    """Groups too large for all orders: a mean over some is near."""
    rng = np.random.default_rng(n_judged * n_scores)
    n_judged = min(n_judged, n_scores)
    scores = rng.integers(0, 4, n_scores) / 4
    grades = np.zeros(n_scores, int)
    grades[rng.choice(n_scores, n_judged, replace=False)] = rng.integers(1, 4, n_judged)
    metrics = [f"{row}@20" for row in METRICS if METRICS[row].cutoff != "none"]
    metrics = [text for text in metrics if METRICS[text[:-3]].closed_form]
    qrels = {"q": dict(enumerate(grades.tolist()))}
    exact = rm.evaluate(qrels, {"q": dict(enumerate(scores.tolist()))}, metrics, ties="expected")
    drawn = []
    for _ in range(400):
        shuffled = rng.permutation(n_scores)
        ranked = shuffled[np.argsort(-scores[shuffled], kind="stable")]
        drawn.append(rm.evaluate(qrels, {"q": ranked.tolist()}, metrics).values[0])
    error = np.std(drawn, axis=0) / 20
    assert (abs(np.mean(drawn, axis=0) - exact.values[0]) <= 5 * error + 1e-12).all()
    assert (np.min(drawn, axis=0) >= exact.bounds.lowest.values[0]).all()
    assert (np.max(drawn, axis=0) <= exact.bounds.highest.values[0]).all()


def test_gains_near_the_largest_double() -> None:
    one: list[Any] = [[1.0, 1.0, 1.0]]
    for labels, metrics in (
        ([[1023, 1023, 0]], ["ndcg@1", "ndcg@2"]),
        ([[1e308, 1e308, 0]], ["ndcg@1(gain=linear)"]),
    ):
        ev = rm.evaluate_scores(one, labels, metrics, ties="expected")
        assert list(ev.mean.values()) == pytest.approx([2 / 3] * len(metrics))


def test_what_was_pickled_is_still_read_only() -> None:
    ev = pickle.loads(pickle.dumps(evaluation(range(3))))
    for values in (ev.values, ev.bounds.lowest.values):
        with pytest.raises(ValueError, match="read-only"):
            values[0, 0] = 2.0


def test_lists_have_no_ties() -> None:
    ev = rm.evaluate({"q": {"b": 1}}, {"q": ["a", "b"]}, "mrr", ties="expected")
    assert (ev["mrr"], ev.ties) == (0.5, 0)


def test_ties_that_no_metric_can_feel() -> None:
    qrels = {"behind": {"z": 1}, "same": {"a": 1, "b": 1}, "unjudged": {"a": 1}}
    run = {
        "behind": {"a": 3.0, "y": 1.0, "z": 1.0},  # beyond the cut-off
        "same": {"a": 1.0, "b": 1.0},
        "unjudged": {"a": 2.0, "x": 1.0, "y": 1.0},
    }
    assert rm.evaluate(qrels, run, ["recall@1", "ndcg@1", "mrr@1"], ties="expected").ties == 0
    felt = rm.evaluate(qrels, run, "mrr", ties="expected")
    assert felt.ties == 1
    assert "1 with ties that can change a value" in repr(felt)


def test_ids_that_cannot_be_ordered_need_no_order() -> None:
    run: dict[str, Any] = {"q": {("a", 1): 1.0, (1, "a"): 1.0}}
    qrels: dict[str, Any] = {"q": {("a", 1): 1}}
    with pytest.raises(TypeError, match="ties='expected' needs none"):
        rm.evaluate(qrels, run, "mrr")
    assert rm.evaluate(qrels, run, "mrr", ties="expected")["mrr"] == 0.75


def test_bounds_are_evaluations() -> None:
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    run = {"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0, "b": 0.0}}
    lowest, highest = rm.evaluate(qrels, run, ["mrr", "hit@1"], ties="expected").bounds
    assert lowest.mean == {"mrr": 0.75, "hit@1": 0.5}
    assert highest.mean == {"mrr": 1.0, "hit@1": 1.0}
    assert lowest.by({"q": "x"})["x"]["mrr"] == 0.5
    assert lowest.ties == 0
    assert lowest.coverage.judged == 2
    part = rm.evaluate(qrels, run, "mrr").by({"q": "x", "r": "y"})
    assert {label: one.ties for label, one in part.items()} == {"x": 1, "y": 0}


# ---------------------------------------------------------------------------------------------
# Evaluations put together


def evaluation(queries: range, **options: Any) -> rm.Evaluation:
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 5, (100, 30)) / 7
    grades = rng.integers(-1, 4, (100, 30))
    qrels = {f"q{i}": dict(enumerate(grades[i].tolist())) for i in queries}
    run = {f"q{i}": dict(enumerate(scores[i].tolist())) for i in queries if i % 7}
    return rm.evaluate(qrels, run, ["ndcg@10", "map", "mrr"], **options)


@pytest.mark.parametrize("ties", ["docid", "input", "expected"])
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_parts_together_are_the_whole(ties: str, missing: str) -> None:
    whole = evaluation(range(100), ties=ties, missing=missing)
    cuts = [0, 3, 4, 50, 100]
    parts = [
        evaluation(range(first, last), ties=ties, missing=missing) for first, last in pairwise(cuts)
    ]
    together = rm.concat(pickle.loads(pickle.dumps(part)) for part in parts)
    assert together.mean == whole.mean
    assert together.query_ids == whole.query_ids
    assert together.values.tobytes() == whole.values.tobytes()
    assert together.coverage == whole.coverage
    assert together.ties == whole.ties
    assert together.bounds.lowest.mean == whole.bounds.lowest.mean
    assert together.bounds.highest.mean == whole.bounds.highest.mean
    backwards = rm.concat(parts[::-1])
    assert backwards.mean == whole.mean
    labels = {f"q{i}": i % 3 for i in range(100)}
    rolled, expected = together.by(labels), whole.by(labels)
    assert {label: part.mean for label, part in rolled.items()} == {
        label: part.mean for label, part in expected.items()
    }


def test_what_cannot_be_put_together() -> None:
    one = evaluation(range(1, 3))
    with pytest.raises(ValueError, match="no evaluation"):
        rm.concat([])
    with pytest.raises(ValueError, match="query 'q2' is in two"):
        rm.concat([one, evaluation(range(2, 4))])
    with pytest.raises(ValueError, match="metrics differ: ndcg@10, map, mrr; mrr"):
        rm.concat([one, rm.evaluate({"x": {"a": 1}}, {"x": ["a"]}, "mrr")])
    with pytest.raises(TypeError, match="dict"):
        rm.concat([one, {}])  # type: ignore[list-item]


def batch(first: int, last: int, **options: Any) -> rm.Evaluation:
    rng = np.random.default_rng(6)
    scores, labels = rng.integers(0, 5, (20, 8)) / 7, rng.integers(-1, 3, (20, 8))
    rows = slice(first, last)
    return rm.evaluate_scores(scores[rows], labels[rows], ["ndcg@5", "mrr"], **options)


def test_rows_without_names_are_numbered_on() -> None:
    whole = batch(0, 20, ties="expected")
    parts = [batch(*cut, ties="expected") for cut in ((0, 7), (7, 8), (8, 20))]
    assert parts[1].query_ids == (0,)
    together = rm.concat(parts)
    same(together, whole)
    assert together.query_ids == tuple(range(20))
    same(rm.concat([rm.concat(parts[:2]), pickle.loads(pickle.dumps(parts[2]))]), whole)
    lowest = rm.concat(part.bounds.lowest for part in parts)
    assert lowest.values.tobytes() == whole.bounds.lowest.values.tobytes()


def test_all_doors_for_arrays_number_their_rows() -> None:
    for one in (
        rm.evaluate_scores([0.5, 0.1, 0.2], [1, 0, 1], "mrr", groups=[2, 1]),
        rm.evaluate_rankings([[1], [2]], ([0, 1, 2], [1, 1], [1, 1]), "mrr"),
        rm.evaluate_grades([[1], [0]], "mrr", ideal="retrieved"),
    ):
        assert rm.concat([one, one]).query_ids == (0, 1, 2, 3)


def test_names_are_not_repeated() -> None:
    named = [batch(0, 2, query_ids=ids) for ids in ([0, 1], range(2), np.arange(2))]
    for one in named:
        with pytest.raises(ValueError, match="query 0 is in two evaluations"):
            rm.concat([one, one])
    mixed = [batch(0, 2), batch(2, 4, query_ids=["x", "y"]), batch(4, 6)]
    for parts in (mixed[:2], mixed[1:], [rm.concat(mixed[:1]), rm.concat(mixed[1:2])]):
        with pytest.raises(ValueError, match="named, those of others only numbered"):
            rm.concat(parts)


def test_a_part_keeps_the_numbers_of_its_rows() -> None:
    labels = {row: "even" if row % 2 == 0 else "odd" for row in range(20)}
    whole = batch(0, 20)
    parts = whole.by(labels)
    assert parts["odd"].query_ids == tuple(range(1, 20, 2))
    assert rm.concat(parts.values()).query_ids == (*range(0, 20, 2), *range(1, 20, 2))
    with pytest.raises(ValueError, match=r"query 1 is in two evaluations; where .* concat first"):
        rm.concat([parts["odd"], batch(0, 4).by(labels)["odd"]])
    first_then = rm.concat([batch(0, 7), batch(7, 20)]).by(labels)
    assert first_then["odd"].mean == parts["odd"].mean


def test_erratic_metrics_are_known_where_no_order_changes_anything() -> None:
    same = rm.evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["g", "infap"])
    assert same.ties == 0
    assert same.bounds.lowest.mean == same.mean
    other = rm.evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 0.5, "b": 0.5}}, "g")
    assert other.ties == 1
    assert math.isnan(other.bounds.lowest["g"])
