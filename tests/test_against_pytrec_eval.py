"""Live comparison with trec_eval's own code, where the conventions agree.

Scores are numbers that float32 holds exactly, because pytrec_eval reads them as float32.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import rankmeter as rm

pytrec_eval = pytest.importorskip(
    "pytrec_eval", reason="pytrec-eval-terrier has no wheel for this Python"
)

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

CUTOFFS = (1, 3, 5, 10, 100)
MEASURES = [
    "map",
    "recip_rank",
    *(f"{name}_{k}" for name in ("ndcg_cut", "map_cut", "recall", "P", "success") for k in CUTOFFS),
]
# trec_eval's ndcg without a cut-off shares its name with ours, so it has another spelling here.
OURS = {**{measure: measure for measure in MEASURES}, "ndcg": "ndcg(gain=linear)"}


def by_pytrec_eval(qrels: Qrels, run: Run) -> dict[str, dict[str, float]]:
    cutoffs = ",".join(map(str, CUTOFFS))
    families = {f"{name}.{cutoffs}" for name in ("ndcg_cut", "map_cut", "recall", "P", "success")}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "recip_rank", "ndcg"} | families)
    values: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return values


def compare(qrels: Qrels, run: Run) -> set[float]:
    """Compare each value and each mean; return the values seen."""
    expected = by_pytrec_eval(qrels, run)
    ev = rm.evaluate(qrels, run, list(OURS.values()), missing="skip")
    seen = set()
    assert set(ev.query_ids) == set(expected)
    for query, values in ev.per_query.items():
        for theirs, ours in OURS.items():
            assert values[ours] == pytest.approx(expected[query][theirs], rel=0, abs=1e-12), (
                query,
                theirs,
            )
            seen.add(values[ours])
    for theirs, ours in OURS.items():
        mean = pytrec_eval.compute_aggregated_measure(
            theirs, [values[theirs] for values in expected.values()]
        )
        assert ev[ours] == pytest.approx(mean, rel=0, abs=1e-12)
    return seen


def random_data(rng: random.Random, ids: list[str], levels: int) -> tuple[Qrels, Run]:
    """Forty queries; the fewer the levels of the scores, the more ties."""
    qrels: Qrels = {}
    run: Run = {}
    for i in range(40):
        judged = rng.sample(ids, rng.randint(1, min(80, len(ids))))
        found = rng.sample(ids, rng.randint(1, len(ids)))
        if rng.random() < 0.9:
            qrels[f"q{i}"] = {doc: rng.choice([0, 0, 1, 1, 2, 3, 7]) for doc in judged}
        if rng.random() < 0.9:
            run[f"q{i}"] = {doc: rng.randrange(levels) / 64 - 2.0 for doc in found}
    return qrels, run


@pytest.mark.parametrize("levels", [1, 3, 40, 2**24])
@pytest.mark.parametrize("size", [3, 30, 400])
def test_random_data(levels: int, size: int, rng: random.Random) -> None:
    qrels, run = random_data(rng, [f"d{i}" for i in range(size)], levels)
    assert len(compare(qrels, run)) > 5, "the data hardly vary"


def test_ids_in_the_order_of_their_utf8_bytes(rng: random.Random) -> None:
    letters = ["a", "Z", "0", "~", "é", "ß", "中", "\uffff", "\U00010000", "😀"]
    ids = [a + b for a in letters for b in ["", *letters]]
    compare(*random_data(rng, ids, levels=2))


def test_deep_pools(rng: random.Random) -> None:
    ids = [f"doc{i}" for i in range(3000)]
    qrels: Qrels = {}
    run: Run = {}
    for i, judged in enumerate((300, 600, 1200)):
        qrels[f"q{i}"] = {doc: rng.randint(0, 3) for doc in rng.sample(ids, judged)}
        run[f"q{i}"] = {doc: float(rng.randrange(200)) for doc in rng.sample(ids, 1000)}
    compare(qrels, run)


def test_a_negative_grade_is_not_relevant_there_either(rng: random.Random) -> None:
    ids = [f"d{i}" for i in range(40)]
    qrels: Qrels = {}
    run: Run = {}
    for i in range(30):
        # A relevant document in each query: without one, pytrec_eval can stop the interpreter.
        qrels[f"q{i}"] = {doc: rng.randint(-2, 3) for doc in rng.sample(ids, 15)} | {"d0": 1}
        run[f"q{i}"] = {doc: rng.randrange(5) / 4 for doc in rng.sample(ids, 20)}
    compare(qrels, run)


def test_the_default_counts_a_missing_query_and_trec_eval_does_not() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    run = {"1": {"a": 1.0}}
    theirs: Any = by_pytrec_eval(qrels, run)
    assert set(theirs) == {"1"}
    assert rm.evaluate(qrels, run, "map")["map"] == 0.5
    assert rm.evaluate(qrels, run, "map", missing="skip")["map"] == 1.0
