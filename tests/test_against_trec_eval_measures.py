"""Live comparison with trec_eval's own code of every measure that it and this library share.

``test_against_pytrec_eval`` compares the everyday measures on ties and odd ids; here the order is
never in doubt, and each further measure is compared once. pytrec_eval holds trec_eval 9, whose
interpolated precision rounds up and whose gains are the grades.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

import rankmeter as rm

pytrec_eval = pytest.importorskip(
    "pytrec_eval", reason="pytrec-eval-terrier has no wheel for this Python"
)

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

CUTOFFS = (5, 10, 15, 20, 30, 100)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)

# Measures that take the level of relevance, by their name there and here. {rel} stands for the
# parameter, and for nothing where it is 1.
RELEVANCE = {
    "map": "map({rel})",
    "Rprec": "rprec({rel})",
    "bpref": "bpref({rel})",
    "infAP": "infap({rel})",
    "binG": "bing({rel})",
    "recip_rank": "mrr({rel})",
    "11pt_avg": "iprec11({rel},rounding=up)",
    "set_P": "set_precision({rel})",
    "set_recall": "set_recall({rel})",
    "set_map": "set_map({rel})",
    "set_relative_P": "set_relative_precision({rel})",
    "set_F": "set_f({rel},weight=plain)",
    "num_ret": "num_ret",
    "num_rel": "num_rel({rel})",
    "num_rel_ret": "num_rel_ret({rel})",
    "num_nonrel_judged_ret": "num_nonrel_judged_ret({rel})",
    "utility": "utility({rel})",
    **{
        f"iprec_at_recall_{i / 10:.2f}": f"iprec({{rel}},recall={i / 10},rounding=up)"
        for i in range(11)
    },
    **{f"relative_P_{k}": f"relative_precision@{k}({{rel}})" for k in CUTOFFS},
    **{f"Rprec_mult_{m:.2f}": f"rprec({{rel}},multiple={m})" for m in MULTIPLES},
    **{f"P_{k}": f"precision@{k}({{rel}})" for k in CUTOFFS},
    **{f"map_cut_{k}": f"map@{k}({{rel}})" for k in CUTOFFS},
}
# What is relevant to these is what gains.
GRADED = {
    "num_q": "num_q",
    "ndcg": "ndcg(gain=linear)",
    "ndcg_rel": "ndcg_rel(gain=linear)",
    "Rndcg": "rndcg(gain=linear)",
    "G": "g(gain=linear)",
}
# pytrec_eval gives the logarithm for each query.
GEOMETRIC = {"gm_map": "gm_map", "gm_bpref": "gm_bpref"}
FAMILIES = ("iprec_at_recall", "relative_P", "Rprec_mult", "P", "map_cut")


def spelled(ours: str, rel: int) -> str:
    text = ours.replace("{rel}", "" if rel == 1 else f"rel={rel}")
    return text.replace("(,", "(").replace("()", "")


def by_pytrec_eval(
    qrels: Qrels, run: Run, measures: Iterable[str], rel: int = 1
) -> dict[str, dict[str, float]]:
    wanted = {
        next((family for family in FAMILIES if name.startswith(f"{family}_")), name)
        for name in measures
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, wanted, relevance_level=rel)
    values: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return values


def close(value: float) -> Any:
    return pytest.approx(value, rel=0, abs=1e-12)


def compare(qrels: Qrels, run: Run, measures: Mapping[str, str], rel: int = 1) -> None:
    # Each metric once, by its own name: rprec is there with and without a multiple.
    names = {theirs: str(rm.parse(spelled(ours, rel))) for theirs, ours in measures.items()}
    ev = rm.evaluate(qrels, run, list(dict.fromkeys(names.values())), missing="skip")
    expected = by_pytrec_eval(qrels, run, names, rel)
    assert set(ev.query_ids) == set(expected)
    for theirs, ours in names.items():
        seen = set()
        for query, values in ev.per_query.items():
            value = expected[query][theirs]
            if theirs in GEOMETRIC:
                assert math.log(max(values[ours], 1e-5)) == close(value), (query, theirs)
            else:
                assert values[ours] == close(value), (query, theirs)
            seen.add(value)
        assert len(seen) > 2 or theirs == "num_q", f"{theirs} hardly varies"


def random_data(rng: random.Random, grades: list[int], rel: int) -> tuple[Qrels, Run]:
    """Queries with more and fewer documents than are judged; never two equal scores."""
    qrels: Qrels = {}
    run: Run = {}
    for i in range(200):
        ids = [f"d{j}" for j in range(rng.choice([4, 8, 30, 200]))]
        judged = rng.sample(ids, rng.randint(1, min(60, len(ids))))
        # A relevant document in each query: without one, pytrec_eval can stop the interpreter.
        qrels[f"q{i}"] = {doc: rng.choice(grades) for doc in judged} | {judged[0]: rel}
        found = rng.sample(ids, rng.randint(1, len(ids)))
        scores = rng.sample(range(10_000), len(found))
        run[f"q{i}"] = {doc: float(score) for doc, score in zip(found, scores, strict=True)}
    return qrels, run


# Grades with gaps, and grades that say: in the pool, but not judged.
GRADES = {
    "judged": [0, 0, 1, 1, 2, 3, 7],
    "pooled": [-2, -1, 0, 0, 1, 1, 2, 3, 5],
    "binary": [0, 1],
}


@pytest.mark.parametrize("grades", GRADES)
def test_measures_with_a_level_of_relevance(grades: str, rng: random.Random) -> None:
    compare(*random_data(rng, GRADES[grades], 1), RELEVANCE)


@pytest.mark.parametrize("rel", [2, 3])
@pytest.mark.parametrize("grades", ["judged", "pooled"])
def test_another_level_of_relevance(grades: str, rel: int, rng: random.Random) -> None:
    compare(*random_data(rng, GRADES[grades], rel), RELEVANCE, rel)


@pytest.mark.parametrize("grades", GRADES)
def test_measures_with_gains(grades: str, rng: random.Random) -> None:
    compare(*random_data(rng, GRADES[grades], 1), GRADED)


@pytest.mark.parametrize("grades", GRADES)
def test_geometric_means(grades: str, rng: random.Random) -> None:
    qrels, run = random_data(rng, GRADES[grades], 1)
    compare(qrels, run, GEOMETRIC)
    ev = rm.evaluate(qrels, run, list(GEOMETRIC.values()))
    values = by_pytrec_eval(qrels, run, GEOMETRIC)
    for theirs, ours in GEOMETRIC.items():
        mean = pytrec_eval.compute_aggregated_measure(
            theirs, [row[theirs] for row in values.values()]
        )
        assert ev[ours] == close(mean)


def test_the_steps_of_rndcg_at_every_length_of_a_ranking() -> None:
    """trec_eval adds a last step only where two documents are left over."""
    judged = {"a": 3, "b": 1, "c": 1, "d": 0}
    ranked = ["x", "b", "d", "a", "y", "c", "z", "w"]
    qrels = {f"q{n}": judged for n in range(1, 9)}
    run = {f"q{n}": {doc: -float(i) for i, doc in enumerate(ranked[:n])} for n in range(1, 9)}
    compare(qrels, run, GRADED)
