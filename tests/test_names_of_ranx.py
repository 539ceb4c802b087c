"""Names of ranx: read where they mean one of our metrics, else refused with what to write."""

from __future__ import annotations

import random

import pytest

import rankmeter as rm

EXACT = {
    "hit_rate@10": "hit@10",
    "hit_rate@3-l2": "hit@3(rel=2)",
    "precision@5": "precision@5",
    "precision@5-l2": "precision@5(rel=2)",
    "recall@10-l3": "recall@10(rel=3)",
    "f1@10": "f1@10",
    "f1@10-l2": "f1@10(rel=2)",
    "r-precision": "rprec",
    "r-precision-l2": "rprec(rel=2)",
    "mrr": "mrr",
    "mrr@10-l2": "mrr@10(rel=2)",
    "map": "map",
    "map-l2": "map(rel=2)",
    "map@10": "map@10",
    "map@10-l2": "map@10(rel=2)",
    "bpref": "bpref",
    "bpref-l2": "bpref(rel=2)",
    "ndcg_burges": "ndcg",
    "ndcg_burges@10": "ndcg@10",
    "dcg_burges@10": "dcg@10",
}
REFUSED = {
    "rbp.95": r"'rbp\(p=0.95\)'",
    "rbp@95-l2": r"'rbp\(p=0.95,rel=2\)'",
    "hits": "'num_rel_ret'",
    "hits@5-l2": r"'hit@5\(rel=2\)'",
    "ndcg@10-l2": r"'ndcg@10\(gain={",
    "ndcg_burges@10-l2": r"'ndcg@10\(gain={",
    "hit_rate": "'hit@10'",
    "precision": "'set_precision'",
    "recall": "'set_recall'",
    "f1": "'set_f'",
    "precision-l2": "'set_precision'",
    "mrr-l0": "above 0",
    "err-l2": "unknown metric",
    "P_5-l2": "unknown metric",
}


@pytest.mark.parametrize(("theirs", "ours"), [*EXACT.items(), ("r_precision", "rprec")])
def test_read(theirs: str, ours: str) -> None:
    assert str(rm.parse(theirs)) == ours
    ev = rm.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a", "x"]}, [theirs])
    assert ev.metrics == (theirs,)
    assert ev[ours] == ev[theirs]


@pytest.mark.parametrize(("theirs", "message"), REFUSED.items())
def test_refused(theirs: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.parse(theirs)


@pytest.mark.filterwarnings("ignore")
def test_values_of_ranx(rng: random.Random) -> None:
    ranx = pytest.importorskip("ranx")
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for i in range(25):
        docs = [f"d{j}" for j in range(30)]
        # A grade of 0 and one of 3, or bpref divides by 0 there.
        qrels[f"q{i}"] = {d: rng.choice([0, 1, 2, 3]) for d in rng.sample(docs, 15)}
        qrels[f"q{i}"] |= {"zero": 0, "three": 3}
        found = rng.sample([*docs, "zero", "three"], 20)
        run[f"q{i}"] = {doc: float(rank) for rank, doc in enumerate(found)}
    ev = rm.evaluate(qrels, run, list(EXACT))
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(EXACT), return_mean=False)
    for column, name in enumerate(EXACT):
        assert ev.values[:, column] == pytest.approx(theirs[name], rel=0, abs=1e-12), name
