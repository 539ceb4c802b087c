"""`rankmeter.compat.pytrec_eval` gives what pytrec_eval gives, and where it does not, says so here.

Live comparisons keep away from what stops the interpreter there: rankings without a document that
counts, and negative grades where nothing is relevant. Scores are numbers that float32 holds.
"""

from __future__ import annotations

import math
import random
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankmeter.compat import pytrec_eval as ours

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

EXACT = {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
SPELLINGS = [
    ["P"],
    ["P_7"],
    ["P", "P_7"],
    ["P.20,5,100"],
    ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "recall.1000"],
    ["P_010"],
    ["success.3"],
    ["relative_P_3"],
    ["map_cut_2"],
    ["iprec_at_recall_0.123"],
    ["iprec_at_recall.0.005,0.25", "iprec_at_recall_1"],
    ["Rprec_mult_3.456"],
    ["11pt_avg_0.25,0.75"],
    ["set_F_0.5"],
    ["set_F.2"],
    ["utility_0,1,2,3"],
    ["official", "set", "ndcg"],
    ["runid", "relstring"],
    [],
]


@pytest.fixture
def theirs() -> Any:
    return pytest.importorskip(
        "pytrec_eval", reason="pytrec-eval-terrier has no wheel for this Python"
    )


def compare(theirs: Any, qrels: Qrels, run: Run, measures: list[str], *options: Any) -> None:
    expected = theirs.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
    found = ours.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert list(found[query]) == list(values)
        assert found[query] == pytest.approx(values, rel=1e-12, abs=1e-12)
        for measure in EXACT & set(values):
            assert found[query][measure] == values[measure]


def random_data(rng: random.Random, grades: list[int], rel: int) -> tuple[Qrels, Run]:
    qrels: Qrels = {}
    run: Run = {}
    for i in range(60):
        ids = [f"d{j}" for j in range(rng.choice([4, 30, 300]))]
        judged = rng.sample(ids, rng.randint(1, min(60, len(ids))))
        found = {*rng.sample(ids, rng.randint(1, len(ids))), judged[0]}
        if rng.random() < 0.9:
            qrels[f"q{i}"] = {doc: rng.choice(grades) for doc in judged} | {judged[0]: rel}
        if rng.random() < 0.9:
            run[f"q{i}"] = {doc: rng.randrange(50) / 8 for doc in found}
    order = rng.sample(list(run), len(run))
    return qrels, {query: run[query] for query in order}


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("rel", [1, 2, 3])
@pytest.mark.parametrize("grades", [[0, 1], [0, 0, 1, 2, 3, 7], [-1, 0, 0, 1, 2, 3]])
def test_all_measures(
    theirs: Any, grades: list[int], rel: int, judged_only: bool, rng: random.Random
) -> None:
    compare(theirs, *random_data(rng, grades, rel), ["all_trec"], rel, judged_only)


@pytest.mark.parametrize("measures", SPELLINGS, ids=str)
def test_spellings(theirs: Any, measures: list[str], rng: random.Random) -> None:
    compare(theirs, *random_data(rng, [0, 0, 1, 2], 1), measures)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), min_size=1),
            st.dictionaries(st.sampled_from("cdefgh"), st.sampled_from([0.5, 1.0, 2, 3, True])),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 3),
    st.booleans(),
)
def test_generated(data: list[tuple[Any, Any]], rel: int, judged_only: bool) -> None:
    theirs = pytest.importorskip("pytrec_eval")
    qrels = {f"q{i}": judged | {"z": 3} for i, (judged, _) in enumerate(data)}
    run = {f"q{i}": scores | {"z": 1} for i, (_, scores) in enumerate(data)}
    compare(theirs, qrels, run, ["all_trec"], rel, judged_only)


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("rel", [2, 3])
def test_no_grade_reaches_the_level(
    theirs: Any, rel: int, judged_only: bool, rng: random.Random
) -> None:
    """One grade of 1 in each query, so that it does not stop the interpreter there."""
    qrels, run = random_data(rng, [-1, 0, 1], 1)
    compare(
        theirs, qrels | {"z": {"a": 3}}, run | {"z": {"a": 1.0}}, ["all_trec"], rel, judged_only
    )


def test_names(theirs: Any) -> None:
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames
    assert set(theirs.__all__) <= set(ours.__all__)
    assert ours.__version__.split(".")[:2] == theirs.__version__.split(".")[:2]


@pytest.mark.parametrize("measure", ["map", "gm_map", "num_rel", "P_10"])
def test_aggregates(theirs: Any, measure: str, rng: random.Random) -> None:
    values = [rng.uniform(-3, 3) for _ in range(99)]
    expected = theirs.compute_aggregated_measure(measure, values)
    assert ours.compute_aggregated_measure(measure, values) == expected


def test_aggregates_of_nothing() -> None:
    assert math.isnan(ours.compute_aggregated_measure("map", []))
    assert math.isnan(ours.compute_aggregated_measure("gm_map", []))
    assert ours.compute_aggregated_measure("num_q", []) == 0.0


def test_parsers(theirs: Any) -> None:
    run = ["q1 Q0 a 1 0.9 t\n", "q2\tQ0\tb\t1\t-3\tt\n", "q1 Q0 b 2 1e-3 t\n"]
    assert ours.parse_run(run) == theirs.parse_run(run)
    qrel = ["q1 0 a 1\n", "q1 0 b -1\n", "  q2 0 a 0 \n"]
    assert ours.parse_qrel(qrel) == theirs.parse_qrel(qrel)
    assert repr(dict(ours.parse_qrel(qrel[:1]))) == "{'q1': {'a': 1}}"  # integers


@pytest.mark.parametrize("mistake", ["q 0 a", "q 0 a x", "q 0 a 1.5"])
def test_mistakes_in_lines(mistake: str) -> None:
    with pytest.raises(ValueError):
        ours.parse_qrel([mistake])


def test_the_same_document_twice() -> None:
    with pytest.raises(AssertionError, match="'q' has document 'a' twice"):
        ours.parse_qrel(["q 0 a 1", "q 0 a 2"])
    with pytest.raises(AssertionError, match="twice"):
        ours.parse_run(["q Q0 a 1 2 t", "q Q0 a 2 1 t"])


@pytest.mark.parametrize(
    ("qrels", "run"), [({}, {}), ({"q": {"a": 1}}, {}), ({}, {"q": {"a": 1.0}})]
)
def test_nothing_to_score(qrels: Qrels, run: Run) -> None:
    assert ours.RelevanceEvaluator(qrels, {"map"}).evaluate(run) == {}


def test_queries_that_are_left_out() -> None:
    qrels = {"missing": {"a": 1}, "empty": {}, "q": {"a": 1}}
    run = {"unjudged": {"a": 1.0}, "q": {"a": 1.0}, "empty": {"a": 1.0}}
    assert ours.RelevanceEvaluator(qrels, {"map"}).evaluate(run) == {"q": {"map": 1.0}}
    assert ours.RelevanceEvaluator(qrels, {"map"}).evaluate({"unjudged": {"a": 1.0}}) == {}


def value(qrels: Any, run: Any, measure: str, query: Any = "q", **options: Any) -> float:
    evaluator = ours.RelevanceEvaluator(qrels, {measure}, **options)
    (result,) = evaluator.evaluate(run)[query].values()
    return result


def test_rndcg_needs_a_relevant_document() -> None:
    qrels, run = {"q": {"a": 1, "b": 1}, "r": {"a": 2}}, {"q": {"x": 2, "a": 1}, "r": {"a": 1}}
    for measure in ("Rndcg", "Rndcg_1=3"):
        assert value(qrels, run, measure) > 0.0
        assert value(qrels, run, measure, relevance_level=2) == 0.0
        assert value(qrels, run, measure, "r", relevance_level=2) == 1.0


# Where it differs, with what happens there.


def test_scores_are_not_rounded_to_single_precision() -> None:
    """A tie there, which the ids break."""
    assert value({"q": {"a": 1}}, {"q": {"a": 1.00000002, "b": 1.0}}, "recip_rank") == 1.0


@pytest.mark.parametrize("query", ["no query", "no_query", "\ud800", "", "a\0b", 7])
def test_ids_of_queries(query: Any) -> None:
    """Stop the interpreter there, except for no_query and the empty one; 7 is refused."""
    qrels = {query: {"a": 1}, "a\0c" if query != 7 else 8: {"a": 0}}
    assert value(qrels, {query: {"a": 1.0}}, "map", query) == 1.0


@pytest.mark.parametrize("ids", [("\ud800", "x"), ("a\0b", "a\0c"), (1, 2)])
def test_ids_of_documents(ids: tuple[Any, Any]) -> None:
    """Surrogates and two ids that are the same up to a zero byte stop the interpreter there."""
    first, second = ids
    assert value({"q": {first: 1, second: 0}}, {"q": {first: 0.5, second: 1}}, "map") == 0.5


@pytest.mark.parametrize("grade", [-1, -2, -5])
def test_negative_grades_alone(grade: int) -> None:
    """Stop the interpreter there."""
    result = ours.RelevanceEvaluator({"q": {"a": grade}}, {"all_trec"}).evaluate({"q": {"a": 1}})
    assert {name for name, number in result["q"].items() if number} == {
        "num_q",
        "num_ret",
        "gm_map",
        "gm_bpref",
        "utility",
    }


def test_an_empty_ranking() -> None:
    """Gives NaN there, or stops the interpreter."""
    result = ours.RelevanceEvaluator({"q": {"a": 1}}, {"all_trec"}).evaluate({"q": {}})["q"]
    assert {name for name, number in result.items() if number} == {
        "num_q",
        "num_rel",
        "gm_map",
        "gm_bpref",
    }


@pytest.mark.parametrize("number", [np.float32(1), np.int64(1), np.bool_(True), 10**400])
def test_numbers_of_other_types(number: Any) -> None:
    """Refused there."""
    assert value({"q": {"a": 1, "b": 0}}, {"q": {"a": number, "b": 0.5}}, "map") == 1.0


@pytest.mark.parametrize("grade", [np.float32(1), np.int64(1), np.bool_(True), 1.5])
def test_grades_of_other_types(grade: Any) -> None:
    """Refused there."""
    assert value({"q": {"a": grade}}, {"q": {"a": 1.0}}, "ndcg") == 1.0


def test_mappings_that_are_no_dicts() -> None:
    """Refused there."""
    qrels, run = MappingProxyType({"q": {"a": 1}}), MappingProxyType({"q": {"a": 1.0}})
    assert value(qrels, run, "map") == 1.0


def test_nan_is_refused() -> None:
    """Has some rank there."""
    with pytest.raises(ValueError, match="NaN"):
        value({"q": {"a": 1}}, {"q": {"a": math.nan}}, "map")


@pytest.mark.parametrize("measure", ["ndcg.1=3.5,2=9", "ndcg_1=3.5,2=9"])
def test_gains(measure: str) -> None:
    """Stops the interpreter there. Grade 4 gains itself."""
    qrels, run = {"q": {"a": 1, "b": 2, "c": 4}}, {"q": {"a": 3.0, "x": 2.0, "c": 1.0}}
    expected = (3.5 + 4 / 2) / (9 + 4 / math.log2(3) + 3.5 / 2)
    assert value(qrels, run, measure) == pytest.approx(expected, rel=0, abs=1e-15)


def test_gains_that_fall_while_grades_rise() -> None:
    """The ideal is the best order of the gains; trec_eval's is that of the grades, and beaten."""
    qrels, run = {"q": {"a": 1, "c": 2}}, {"q": {"a": 1.0, "c": 0.5}}
    assert value(qrels, run, "ndcg.1=3.5,2=0.5") == 1.0


@pytest.mark.parametrize("measure", ["G", "Rndcg", "ndcg_rel"])
def test_gains_of_other_measures(measure: str) -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    swapped = {"q": {"a": 2, "b": 1}}
    assert value(qrels, run, f"{measure}.1=2,2=1") == value(swapped, run, measure)


def test_coefficients() -> None:
    """0 there: equal ones are counted once, and negative ones are not read."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "x": 0.5, "y": 0.2}}
    assert value(qrels, run, "utility.3,-1,-1,0") == 3 - 2 - 1


def test_spellings_of_one_cutoff() -> None:
    """Stop the interpreter there."""
    found = ours.RelevanceEvaluator({"q": {"a": 1}}, {"P_5", "P_05"}).evaluate({"q": {"a": 1}})
    assert found == {"q": {"P_5": 0.2}}


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        ("map_10", "it takes no parameter"),  # map there
        ("recip_rank.10", "it takes no parameter"),  # recip_rank there
        ("P_5.7", "a cut-off is an integer"),  # P_5 there
        ("P_1e3", "there are runid"),  # P_1 there
        ("recall_5_junk", "there are runid"),  # recall_5 there
        ("P_0", "k must be between 1"),  # stops the interpreter there
        ("P_-1", "a cut-off is an integer"),
        ("P_99999999999999999999", "k must be between 1"),  # the highest there
        ("ndcg_10", "a parameter is grade=gain, not '10'"),  # stops the interpreter there
        ("iprec_at_recall.0.121,0.123", "the same two decimals"),  # one of the two there
        ("iprec_at_recall_2", "from 0 to 1"),  # 0 there
        ("set_F_1,2", "it takes one parameter"),  # the first there
        ("utility_3", "it takes four coefficients"),  # 0 there
        ("prefs", "trec_eval has it, rankmeter has not"),  # refused there, too
        ("qrels_jg", "trec_eval has it, rankmeter has not"),
        ("prefs_simp", "trec_eval has it, rankmeter has not"),
        ("foo", "there are runid"),
    ],
)
def test_measures_that_are_refused(measure: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"unsupported measure .*{reason}"):
        ours.RelevanceEvaluator({"q": {"a": 1}}, {measure})


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        (([("q", {"a": 1})], {"map"}), {}),
        (({"q": {"a": 1}}, "map"), {}),
        (({"q": {"a": 1}}, {3}), {}),
        (({"q": {"a": 1}}, {"map"}, 0), {}),
        (({"q": {"a": "1"}}, {"map"}), {}),
        (({"q": {"a": 1}}, {"map"}), ["q"]),
        (({"q": {"a": 1}}, {"map"}), {1: {"a": 1.0}}),
        (({"q": {"a": 1}}, {"map"}), {"q": {"a": "1"}}),
    ],
)
def test_wrong_types(arguments: Any, run: Any) -> None:
    with pytest.raises(TypeError):
        ours.RelevanceEvaluator(*arguments).evaluate(run)
