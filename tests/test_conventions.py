"""Each line of the conventions table, on an input small enough to work out on paper."""

from __future__ import annotations

import math
import re
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import inf, log2, nan
from typing import Any

import pytest
import reference
from reference import COUNTS, HAND, REFERENCE, Hand

import rankmeter as rm
from rankmeter.naming.rows import METRICS


def score(metric: str, ranked: Any, judged: dict[Any, Any], **options: Any) -> float:
    """One query, one metric."""
    return rm.evaluate({"q": judged}, {"q": ranked}, metric, **options)[metric]


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-15)


# ---------------------------------------------------------------------------------------------
# Every metric has two witnesses


@pytest.mark.parametrize("name", sorted(METRICS))
def test_each_metric_has_a_reference_and_a_hand_computed_value(name: str) -> None:
    assert name in REFERENCE, f"write {name} in plain Python in tests/reference.py"
    assert HAND.get(name), f"work a value of {name} out on paper, in HAND of tests/reference.py"
    for parameter in METRICS[name].parameters:
        if parameter == "judged_only":
            continue  # it shortens the ranking before any metric sees it
        assert any(parameter in reference.parse(hand.metric)[2] for hand in HAND[name]), (
            f"no hand-computed value of {name} uses {parameter}="
        )


def test_a_hand_computed_value_leaves_out_what_is_not_judged() -> None:
    for value in (True, False):
        assert any(
            reference.parse(hand.metric)[2].get("judged_only") is value
            for hands in HAND.values()
            for hand in hands
        )


def test_no_witness_stands_for_a_metric_that_is_gone() -> None:
    assert set(REFERENCE) == set(HAND) == set(METRICS)


ON_PAPER = [
    pytest.param(hand, id=f"{hand.metric} #{i}")
    for hands in HAND.values()
    for i, hand in enumerate(hands)
]


@pytest.mark.parametrize("hand", ON_PAPER)
def test_hand_computed_value(hand: Hand) -> None:
    value = score(hand.metric, hand.ranked, hand.qrels)
    assert value == close(float(hand.value))
    by_reference = reference.evaluate({"q": hand.qrels}, {"q": hand.ranked}, [hand.metric])
    assert by_reference.mean[hand.metric] == value
    if isinstance(hand.value, Fraction) and reference.parse(hand.metric)[0] in COUNTS:
        assert value == float(hand.value), "a quotient of two counts is rounded once"


# ---------------------------------------------------------------------------------------------
# relevant


def test_relevant_is_a_grade_of_at_least_one() -> None:
    assert score("mrr", ["a"], {"a": 1}) == 1.0
    assert score("mrr", ["a"], {"a": 0.99}) == 0.0
    assert score("mrr", ["a"], {"a": True}) == 1.0


def test_rel_moves_the_line_and_includes_it() -> None:
    judged = {"a": 1, "b": 2, "c": 3}
    assert score("mrr(rel=2)", ["a", "b", "c"], judged) == 1 / 2
    assert score("mrr(rel=3)", ["a", "b", "c"], judged) == 1 / 3
    assert score("mrr(rel=0.5)", ["a"], {"a": 0.5}) == 1.0


def test_an_unjudged_document_is_as_one_of_grade_zero() -> None:
    for metric in ("recall@2", "precision@2", "hit@2", "mrr", "map", "ndcg"):
        unjudged = score(metric, ["x", "a"], {"a": 1})
        assert score(metric, ["x", "a"], {"a": 1, "x": 0}) == unjudged


def test_a_negative_grade_is_not_relevant_and_gains_nothing() -> None:
    judged = {"a": 1, "b": -2, "c": -1}
    ranked = ["b", "c", "a"]
    assert score("mrr", ranked, judged) == 1 / 3
    assert score("precision@2", ranked, judged) == 0.0
    assert score("recall@3", ranked, judged) == 1.0
    assert score("ndcg", ranked, judged) == 0.5
    assert score("ndcg(gain=linear)", ranked, judged) == 0.5


# ---------------------------------------------------------------------------------------------
# precision, recall, hit, mrr, map


def test_precision_divides_by_k_also_when_fewer_were_returned() -> None:
    assert score("precision@5", ["a", "x"], {"a": 1}) == 1 / 5
    assert score("precision@2", ["a", "x", "a2"], {"a": 1, "a2": 1}) == 1 / 2


def test_recall_divides_by_all_relevant_in_the_qrels() -> None:
    judged = {"a": 1, "b": 1, "never found": 1, "not relevant": 0}
    assert score("recall@2", ["a", "x", "b"], judged) == 1 / 3
    assert score("recall@3", ["a", "x", "b"], judged) == 2 / 3


def test_recall_is_zero_where_nothing_is_relevant() -> None:
    assert score("recall@3", ["a"], {"a": 0}) == 0.0
    assert score("recall@3", ["a"], {}) == 0.0


def test_hit_is_one_or_zero() -> None:
    ranked, judged = ["x", "a", "b"], {"a": 1, "b": 1}
    assert [score(f"hit@{k}", ranked, judged) for k in (1, 2, 3)] == [0.0, 1.0, 1.0]


def test_mrr_is_one_over_the_rank_of_the_first_relevant_document() -> None:
    assert score("mrr", ["x", "a", "b"], {"a": 1, "b": 1}) == 1 / 2
    assert score("mrr", ["x"], {"a": 1}) == 0.0


def test_mrr_at_k_looks_no_further_than_k() -> None:
    assert score("mrr@2", ["x", "a"], {"a": 1}) == 1 / 2
    assert score("mrr@1", ["x", "a"], {"a": 1}) == 0.0


def test_map_divides_by_all_relevant_in_the_qrels() -> None:
    # 1/1 and 2/4 found, one of three never: (1 + 1/2) / 3
    assert score("map", ["a", "x", "y", "b"], {"a": 1, "b": 1, "c": 1}) == 0.5


def test_map_at_k_divides_by_all_relevant_too() -> None:
    # 1/1 within three; the other comes later: 1 / 2, neither 1 / 1 nor 1 / 3
    assert score("map@3", ["a", "x", "y", "z", "b"], {"a": 1, "b": 1}) == 0.5


def test_map_at_k_capped_divides_by_what_fits() -> None:
    # 1/1 within one; two are relevant, one fits
    assert score("map@1(norm=capped)", ["a", "b"], {"a": 1, "b": 1}) == 1.0
    assert score("map@1", ["a", "b"], {"a": 1, "b": 1}) == 0.5


# ---------------------------------------------------------------------------------------------
# ndcg


def test_ndcg_draws_its_ideal_from_all_judged_documents() -> None:
    # only one of two relevant documents was returned: 1 / (1 + 1/log2(3))
    assert score("ndcg@10", ["a", "x"], {"a": 1, "b": 1}) == close(1 / (1 + 1 / log2(3)))


def test_ndcg_cuts_the_ideal_at_k_too() -> None:
    assert score("ndcg@1", ["a", "b"], {"a": 1, "b": 1, "c": 1}) == 1.0


def test_ndcg_is_zero_where_the_ideal_is_zero() -> None:
    assert score("ndcg", ["a"], {"a": 0, "b": -1}) == 0.0
    assert score("ndcg@10", ["a"], {}) == 0.0


# One ranking, three formulas: grades 0, 1, 3 at ranks 1, 2, 3.
THREE = (["a", "b", "c"], {"a": 0, "b": 1, "c": 3})


def test_ndcg_formula_exponential_gain_log2_discount_is_the_default() -> None:
    # gains 0, 1, 7: (1/log2(3) + 7/2) / (7 + 1/log2(3))
    expected = (1 / log2(3) + 7 / 2) / (7 + 1 / log2(3))
    assert score("ndcg@3", *THREE) == close(expected)
    assert score("ndcg@3(gain=exponential,discount=log2)", *THREE) == close(expected)
    assert expected == close(0.5413402936435214)


def test_ndcg_formula_linear_gain_log2_discount() -> None:
    # gains 0, 1, 3: (1/log2(3) + 3/2) / (3 + 1/log2(3))
    expected = (1 / log2(3) + 3 / 2) / (3 + 1 / log2(3))
    assert score("ndcg@3(gain=linear)", *THREE) == close(expected)
    assert expected == close(0.58688267143572)


def test_ndcg_formula_of_2002_linear_gain_jarvelin_discount() -> None:
    # weights 1, 1, 1/log2(3): (1 + 3/log2(3)) / (3 + 1)
    expected = (1 + 3 / log2(3)) / (3 + 1)
    assert score("ndcg@3(gain=linear,discount=jarvelin)", *THREE) == close(expected)


def test_ndcg_of_trec_eval_has_linear_gain() -> None:
    assert score("ndcg_cut_3", *THREE) == score("ndcg@3(gain=linear)", *THREE)


def test_gain_mapping_gives_each_grade_its_gain() -> None:
    # gains 0, 2, 10: (2/log2(3) + 10/2) / (10 + 2/log2(3))
    expected = (2 / log2(3) + 10 / 2) / (10 + 2 / log2(3))
    assert score("ndcg(gain={1:2,3:10})", *THREE) == close(expected)


def test_gain_mapping_orders_the_ideal_by_gain() -> None:
    # grade 1 gains more than grade 3, so b before c is ideal
    assert score("ndcg(gain={1:10,3:2})", ["b", "c"], {"b": 1, "c": 3}) == 1.0


def test_gain_mapping_must_know_each_positive_grade() -> None:
    with pytest.raises(ValueError, match="3"):
        score("ndcg(gain={1:2})", *THREE)


def test_gain_mapping_cannot_reward_what_is_not_relevant() -> None:
    assert score("ndcg(gain={-1:0,0:0,1:1,3:1})", ["c"], {"c": 3, "d": -1}) == 1.0
    for mapping in ("{0:1,1:2}", "{-1:1,1:2}", "{1:-1}"):
        with pytest.raises(ValueError, match="gain"):
            score(f"ndcg(gain={mapping})", ["a"], {"a": 1})


def test_discount_log2_does_tell_ranks_one_and_two_apart() -> None:
    assert score("ndcg", ["x", "a"], {"a": 1}) == close(1 / log2(3))


def test_discount_jarvelin_does_not() -> None:
    assert score("ndcg(discount=jarvelin)", ["x", "a"], {"a": 1}) == 1.0
    assert score("ndcg(discount=jarvelin)", ["x", "y", "a"], {"a": 1}) == close(1 / log2(3))
    assert score("ndcg(discount=jarvelin)", ["x", "y", "z", "a"], {"a": 1}) == 0.5


# ---------------------------------------------------------------------------------------------
# What was not judged

UNLISTED_AND_NEGATIVE = (["x", "e", "d", "a"], {"a": 1, "d": 0, "e": -1})


@pytest.mark.parametrize(
    ("metric", "value"),
    [("mrr", 1 / 2), ("precision@2", 1 / 2), ("num_ret", 2.0), ("judged@2", 1.0), ("bpref", 0.0)],
)
def test_judged_only_closes_the_gaps_before_anything_else(metric: str, value: float) -> None:
    assert score(f"{metric}(judged_only=true)", *UNLISTED_AND_NEGATIVE) == value
    assert score(f"{metric}(judged_only=false)", *UNLISTED_AND_NEGATIVE) == score(
        metric, *UNLISTED_AND_NEGATIVE
    )


def test_judged_only_reads_a_list_to_its_end() -> None:
    assert score("mrr@1(judged_only=true)", [*"xstuvw", "a"], {"a": 1}) == 1.0
    with pytest.raises(ValueError, match="x"):
        score("mrr@1(judged_only=true)", ["a", "x", "x"], {"a": 1})


def test_a_negative_grade_is_not_a_judgment() -> None:
    ranked, judged = UNLISTED_AND_NEGATIVE
    assert score("judged@2", ranked, judged) == 0.0
    assert score("unjudged@3", ranked, judged) == 2 / 3
    assert score("num_nonrel_judged_ret", ranked, judged) == 1.0
    # e is not judged, so nothing stands above a but d
    assert score("bpref", ["x", "e", "a", "d"], judged) == 1.0


def test_infap_knows_a_document_of_the_pool_from_an_unlisted_one() -> None:
    # 1/2 + 1/2 * 1 * 1/2, and 1/2 + 1/2 * 0
    assert score("infap", ["e", "a"], {"a": 1, "e": -1}) == close(3 / 4)
    assert score("infap", ["x", "a"], {"a": 1, "e": -1}) == 1 / 2


def test_rbp_and_its_residual_are_a_whole_where_all_found_is_relevant() -> None:
    ranked, judged = ["a", "x", "b"], {"a": 1, "b": 1}
    both = score("rbp(p=0.5)", ranked, judged) + score("rbp_residual(p=0.5)", ranked, judged)
    assert both == 1.0


@pytest.mark.parametrize("metric", ["err", "err@1"])
def test_err_refuses_a_grade_above_its_highest(metric: str) -> None:
    for ranked in (["a"], ["x"]):
        with pytest.raises(ValueError, match="5"):
            score(metric, ranked, {"a": 5})
    assert score("err(max=5)", ["a"], {"a": 5}) == 31 / 32


@pytest.mark.parametrize("metric", ["iprec", "iprec(rel=2)", "iprec(rounding=up)"])
def test_iprec_has_no_default_recall(metric: str) -> None:
    with pytest.raises(ValueError, match="recall"):
        score(metric, ["a"], {"a": 1})


@pytest.mark.parametrize("k", [2**31, 2**40, 2**63 - 1])
@pytest.mark.parametrize("name", [name for name in METRICS if METRICS[name].cutoff != "none"])
def test_a_cutoff_may_be_beyond_any_index(name: str, k: int) -> None:
    metric = f"{name}@{k}"
    judged = {"a": 1, "b": 2, "x": 1}
    for ranked in (["a", "c", "b"], {"a": 3.0, "c": 2.0, "b": 2.0}):
        expected = reference.evaluate({"q": judged}, {"q": ranked}, [metric]).mean[metric]
        assert score(metric, ranked, judged) == expected


def test_rprec_may_be_cut_beyond_any_index() -> None:
    assert score("rprec(multiple=1e10)", ["a", "b"], {"a": 1, "b": 1}) == 2 / 2e10


@pytest.mark.parametrize(
    "metric",
    [
        *("rbp(p=0)", "rbp(p=1)", "rbp(p=1.5)", "rbp(p=nan)", "rbp_residual(p=-0.5)"),
        *("iprec(recall=-0.1)", "iprec(recall=1.1)", "iprec(recall=nan)"),
        *("rprec(multiple=0)", "rprec(multiple=-1)", "rbp(grading=none)", "map(norm=none)"),
        *("iprec11(rounding=down)", "set_f(weight=cubed)", "mrr(judged_only=perhaps)"),
        *("num_q@5", "set_f@10", "rprec@3", "gm_map@10", "bpref@10"),  # these have no cut-off
    ],
)
def test_wrong_values_of_parameters_are_refused(metric: str) -> None:
    with pytest.raises(ValueError):
        score(metric, ["a"], {"a": 1})


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("map(rel=1,rel=2)", "rel is given twice"),
        ("map(rel)", "cannot read 'rel'; parameters are name=value"),
        ("map(depth=2)", "unknown parameter 'depth'; there are rel, gain, "),
        ("map(rel=x)", "rel must be a number, not 'x'"),
        ("map(judged_only=yes)", "judged_only must be true or false, not 'yes'"),
        ("ndcg(gain={1:3,2})", "gain must be {grade:gain,...}, not '{1:3,2}'"),
        ("recall@ten", "the cut-off must be an integer, not 'ten'"),
        ("recall@0", "k must be between 1 and "),
        ("mrr, map", "is more than one name: pass a list of names"),
        ("mpr@5", "did you mean 'mrr@5' or "),
        ("nDCG@10", "write 'ndcg@10' for exponential gain or 'ndcg@10(gain=linear)' for linear"),
        ("NDCG@10(gain=linear)", "write 'ndcg@10(gain=linear)'"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(metric: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        rm.parse(metric)


# ---------------------------------------------------------------------------------------------
# Order of scored documents


def test_scores_are_ordered_high_to_low() -> None:
    assert score("mrr", {"a": 1.0, "b": 3.0, "c": 2.0}, {"c": 1}) == 1 / 2
    assert score("mrr", {"a": -0.1, "b": -2.0}, {"a": 1}) == 1.0


def test_equal_scores_are_ordered_by_id_high_to_low() -> None:
    tied = {"a": 1.0, "c": 1.0, "b": 1.0}
    ranks = [1 / score("mrr", tied, {doc: 1}) for doc in "abc"]
    assert ranks == [3, 2, 1]


def test_text_ids_are_ordered_by_their_utf8_bytes() -> None:
    # 7a < c3 a9 < ef bf bf < f0 90 80 80; UTF-16 would swap the last two
    low_to_high = ["z", "é", "\uffff", "\U00010000"]
    tied = dict.fromkeys(low_to_high, 0.0)
    assert [1 / score("mrr", tied, {doc: 1}) for doc in low_to_high] == [4, 3, 2, 1]
    # text, not number: "10" < "9"
    assert score("mrr", {"10": 0.0, "9": 0.0}, {"9": 1}) == 1.0
    # a prefix sorts lower, the empty id lowest
    assert score("mrr", {"d": 0.0, "d1": 0.0, "": 0.0}, {"": 1}) == 1 / 3


def test_integer_ids_are_ordered_as_numbers() -> None:
    tied = dict.fromkeys([9, 10, -1, 2**70], 0.0)
    assert [1 / score("mrr", tied, {doc: 1}) for doc in (-1, 9, 10, 2**70)] == [4, 3, 2, 1]


def test_zero_and_minus_zero_are_equal_scores() -> None:
    assert score("mrr", {"a": 0.0, "b": -0.0}, {"b": 1}) == 1.0
    assert score("mrr", {"a": -0.0, "b": 0.0}, {"a": 1}) == 1 / 2


def test_whole_numbers_are_compared_as_whole_numbers() -> None:
    assert score("mrr", {"a": -(2**53), "b": -(2**53) - 1}, {"a": 1}) == 1.0
    assert score("mrr", {"a": 2**53 + 1, "b": 2**53}, {"a": 1}) == 1.0
    assert score("mrr", {"a": 2**53 + 1, "b": float(2**53)}, {"a": 1}) == 1.0
    assert score("mrr", {"a": 2**53, "b": float(2**53)}, {"b": 1}) == 1.0


def test_scores_are_read_as_double_not_float() -> None:
    assert score("mrr", {"a": 16777217.0, "b": 16777216.0}, {"a": 1}) == 1.0
    assert score("mrr", {"a": 0.10000000001, "b": 0.1}, {"a": 1}) == 1.0


def test_ties_input_keeps_the_order_given() -> None:
    tied = {"a": 1.0, "c": 1.0, "b": 1.0, "top": 2.0}
    ranks = [1 / score("mrr", tied, {doc: 1}, ties="input") for doc in ("top", "a", "c", "b")]
    assert ranks == [1, 2, 3, 4]


def test_a_list_is_taken_as_ranked() -> None:
    for ties in ("docid", "input"):
        assert score("mrr", ["a", "c", "b"], {"a": 1}, ties=ties) == 1.0


# ---------------------------------------------------------------------------------------------
# Which queries count

TWO_JUDGED = {"1": {"a": 1}, "2": {"b": 0}, "3": {"c": 1}}
TWO_ANSWERED = {"1": ["a"], "2": ["b"], "4": ["x"], "5": ["y"]}


def test_a_query_missing_from_the_run_counts_zero() -> None:
    ev = rm.evaluate(TWO_JUDGED, TWO_ANSWERED, "map")
    assert ev.query_ids == ("1", "2", "3")
    assert ev.values.tolist() == [[1.0], [0.0], [0.0]]
    assert ev["map"] == 1 / 3


def test_a_query_missing_from_the_run_is_left_out_on_request() -> None:
    ev = rm.evaluate(TWO_JUDGED, TWO_ANSWERED, "map", missing="skip")
    assert ev.query_ids == ("1", "2")
    assert ev["map"] == 1 / 2


def test_a_query_missing_from_the_run_is_refused_on_request() -> None:
    with pytest.raises(ValueError, match="3"):
        rm.evaluate(TWO_JUDGED, TWO_ANSWERED, "map", missing="error")


def test_a_query_without_judgments_is_not_scored() -> None:
    ev = rm.evaluate(TWO_JUDGED, TWO_ANSWERED, "map")
    assert "4" not in ev.query_ids
    assert "4" not in ev.per_query


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_what_was_not_scored_is_counted(missing: Any) -> None:
    coverage = rm.evaluate(TWO_JUDGED, TWO_ANSWERED, "map", missing=missing).coverage
    assert coverage._asdict() == {
        "judged": 3,
        "evaluated": 2,
        "missing": 1,
        "unjudged": 2,
        "no_relevant": 1,
        "unmatched": 0,
    }


def test_no_query_in_common_is_an_error_never_a_zero() -> None:
    for run in ({}, {"one": ["a"]}):
        for missing in ("zero", "skip", "error"):
            with pytest.raises(ValueError, match="quer"):
                rm.evaluate({"1": {"a": 1}}, run, "map", missing=missing)


def test_a_query_with_an_empty_ranking_counts_zero_and_is_not_missing() -> None:
    empties: list[Any] = [[], {}]
    for empty in empties:
        ev = rm.evaluate({"1": {"a": 1}}, {"1": empty}, "map", missing="error")
        assert ev["map"] == 0.0
        assert ev.coverage.missing == 0


# ---------------------------------------------------------------------------------------------
# Duplicates, NaN, mean, digits


def test_the_same_id_twice_is_an_error_that_names_query_id_and_both_ranks() -> None:
    ranked = ["x", "doc-A", "y", "z", "doc-A"]
    for judged in ({"doc-A": 1}, {"x": 1}):  # judged or not
        with pytest.raises(ValueError, match="query-7") as caught:
            rm.evaluate({"query-7": judged}, {"query-7": ranked}, "map")
        for word in ("doc-A", "2", "5"):
            assert word in str(caught.value)


def test_duplicates_first_keeps_the_first_and_closes_the_gap() -> None:
    ranked = ["x", "x", "a", "x", "a", "b"]
    judged = {"a": 1, "b": 1}
    # read as x, a, b
    assert score("mrr", ranked, judged, duplicates="first") == 1 / 2
    assert score("map", ranked, judged, duplicates="first") == close((1 / 2 + 2 / 3) / 2)
    assert score("recall@3", ranked, judged, duplicates="first") == 1.0
    assert score("precision@3", ranked, judged, duplicates="first") == 2 / 3


def test_a_list_is_read_only_as_deep_as_the_metrics_need() -> None:
    ranked = ["a", "x", "x"]
    assert score("precision@2", ranked, {"a": 1}) == 1 / 2
    with pytest.raises(ValueError, match="x"):
        rm.evaluate({"q": {"a": 1}}, {"q": ranked}, ["precision@2", "precision@3"])
    with pytest.raises(ValueError, match="x"):
        rm.evaluate({"q": {"a": 1}}, {"q": ranked}, ["precision@2", "mrr"])


def test_a_nan_score_is_an_error_that_names_query_and_id() -> None:
    for judged in ({"doc-A": 1}, {"x": 1}):  # judged or not
        with pytest.raises(ValueError, match="query-7") as caught:
            rm.evaluate({"query-7": judged}, {"query-7": {"x": 1.0, "doc-A": nan}}, "mrr")
        assert "doc-A" in str(caught.value)


def test_infinite_scores_order_as_numbers() -> None:
    scores = {"a": -inf, "b": 1e308, "c": inf, "d": -1e308}
    assert [1 / score("mrr", scores, {doc: 1}) for doc in "cbda"] == [1, 2, 3, 4]
    assert score("mrr", {"a": inf, "b": inf}, {"b": 1}) == 1.0


def test_the_mean_is_an_exactly_rounded_sum_over_the_number_of_queries() -> None:
    # 1/3 ten times, and a hundred zeros: adding one after the other ends elsewhere
    qrels = {f"q{i}": {"a": 1} for i in range(110)}
    run = {f"q{i}": ["x", "y", "a"] if i < 10 else ["x"] for i in range(110)}
    one_by_one = 0.0
    for _ in range(10):
        one_by_one += 1 / 3
    assert one_by_one != math.fsum([1 / 3] * 10)
    assert rm.evaluate(qrels, run, "mrr")["mrr"] == math.fsum([1 / 3] * 10) / 110


@pytest.mark.parametrize("metric", ["gm_map", "gm_bpref"])
def test_the_geometric_mean_takes_a_low_value_for_a_hundred_thousandth(metric: str) -> None:
    qrels = {"1": {"a": 1, "b": 1, "c": 1, "d": 1}, "2": {"a": 1}, "3": {"a": 1}}
    run = {"1": ["a"], "2": ["a"], "3": ["x"]}
    values = {"1": 1 / 4, "2": 1.0, "3": 0.0}
    for queries, mean in (("12", 1 / 2), ("3", 1e-5), ("123", (1 / 4 * 1 * 1e-5) ** (1 / 3))):
        judged = {query: qrels[query] for query in queries}
        ev = rm.evaluate(judged, run, metric)
        # the floor is for the mean alone
        assert {query: row[metric] for query, row in ev.per_query.items()} == {
            query: values[query] for query in queries
        }
        assert ev[metric] == close(mean)
        assert ev[metric] == reference.evaluate(judged, run, [metric]).mean[metric]


def test_a_query_missing_from_the_run_counts_as_an_empty_ranking() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 1, "b": 1, "c": 1}}
    run = {"1": ["a"]}
    for metric, missing in (
        ("num_q", 1.0),
        ("num_rel", 3.0),
        ("num_ret", 0.0),
        ("yaap", math.log(1 / 4)),  # (1 + 0) / (1 + 3 - 0)
        ("utility(c=-1)", -3.0),
        ("rbp_residual", 1.0),  # nothing is known
    ):
        assert rm.evaluate(qrels, run, metric).per_query["2"][metric] == close(missing)


def test_the_digits_are_the_same_from_lists_scores_and_single_functions() -> None:
    ranked = [f"d{i}" for i in range(40)]
    judged = {f"d{i}": i % 5 - 1 for i in range(0, 40, 3)} | {"z": 3}
    scored = {doc: -float(rank) for rank, doc in enumerate(ranked)}
    metrics = ["recall@7", "precision@7", "hit@7", "mrr", "map", "ndcg@7"]
    singles = [
        rm.recall_at_k(ranked, judged, 7),
        rm.precision_at_k(ranked, judged, 7),
        rm.hit_at_k(ranked, judged, 7),
        rm.reciprocal_rank(ranked, judged),
        rm.average_precision(ranked, judged),
        rm.ndcg_at_k(ranked, judged, 7),
    ]
    for entry in (ranked, tuple(ranked), scored, dict(reversed(scored.items()))):
        assert rm.evaluate({"q": judged}, {"q": entry}, metrics).values.tolist() == [singles]


def test_the_digits_do_not_depend_on_the_company_a_metric_keeps() -> None:
    ranked = [f"d{i}" for i in range(40)]
    judged = {f"d{i}": i % 5 - 1 for i in range(0, 40, 3)}
    metrics = ["ndcg@7", "map", "recall@3", "ndcg(gain=linear)", "mrr@2", "map@40(rel=2)"]
    together = rm.evaluate({"q": judged}, {"q": ranked}, metrics)
    assert [score(metric, ranked, judged) for metric in metrics] == together.values[0].tolist()


def test_the_digits_do_not_depend_on_threads() -> None:
    judged = {f"q{q}": {f"d{i}": i % 4 for i in range(q, 60, 7)} for q in range(50)}
    run = {f"q{q}": {f"d{i}": float(i * 31 % 17) for i in range(60)} for q in range(50)}
    metrics = ["map", "ndcg@10", "mrr", "recall@20"]
    scorer = rm.Evaluator(judged, metrics)
    alone = scorer.evaluate(run).values.tobytes()
    with ThreadPoolExecutor(4) as pool:
        evaluations = [pool.submit(scorer.evaluate, run) for _ in range(24)]
        fresh = [pool.submit(rm.evaluate, judged, run, metrics) for _ in range(24)]
        assert {task.result().values.tobytes() for task in evaluations + fresh} == {alone}


def test_the_smallest_threshold_reads_no_gains() -> None:
    """A grade without a gain is no matter where nothing has one."""
    assert rm.recall_at_k(["a"], {"a": 2000}, 1, rel=5e-324) == 1.0
    assert rm.evaluate({"q": {"a": 2000}}, {"q": ["a"]}, "recall@1(rel=5e-324)").mean == {
        "recall@1(rel=5e-324)": 1.0
    }


def test_gains_that_cannot_be_added_are_refused() -> None:
    judged = {"a": 1e308, "b": 1e308}
    with pytest.raises(ValueError, match="too large to be added"):
        score("g", ["a", "b"], judged)
    assert score("ndcg@1(gain=linear)", ["a", "b"], judged) == 1.0
