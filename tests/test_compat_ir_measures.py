"""The provider of ir_measures against its other providers, and its measures as metrics."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rankmeter as rm

ir_measures = pytest.importorskip("ir_measures", reason="ir-measures is not installed")

from ir_measures import (  # noqa: E402
    AP,
    ERR,
    RBP,
    RR,
    Bpref,
    Compat,
    IPrec,
    Judged,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    SetRelP,
    Success,
    infAP,
    nDCG,
)

from rankmeter.compat.ir_measures import provider  # noqa: E402

# What ir_measures warns of is its own.
pytestmark = pytest.mark.filterwarnings("ignore")

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

WITH_JUDGED_ONLY = [
    *(AP, AP(rel=2), AP @ 5, RR, RR(rel=2), P @ 1, P(rel=2) @ 5, P @ 100, R @ 5, R(rel=3) @ 10),
    *(Rprec, Rprec(rel=2), nDCG, nDCG @ 5, nDCG(gains={1: 5, 2: 7}) @ 10, Success @ 1),
    *(SetAP, SetP, SetP(rel=2), SetRelP, SetF, SetF(beta=0.5), SetF(beta=2.0, rel=2)),
    *(IPrec @ 0.0, IPrec @ 0.1, IPrec @ 0.125, IPrec @ 0.5, IPrec(rel=2) @ 1.0),
]
BY_PYTREC_EVAL = [
    *WITH_JUDGED_ONLY,
    *(measure(judged_only=True) for measure in WITH_JUDGED_ONLY),
    *(SetR, SetR(rel=2), Bpref, Bpref(rel=2), infAP),
    *(infAP(rel=2), NumQ, NumRet, NumRelRet, NumRet(rel=2), NumRel),
]
LOWERING = nDCG(gains={0: -2, 1: 0, 3: -1})
OTHERS = {
    "pytrec_eval": BY_PYTREC_EVAL,
    "judged": [Judged, Judged @ 1, Judged @ 5, Judged @ 1000],
    "msmarco": [RR @ 3, RR(rel=2) @ 10],
    "gdeval": [nDCG(dcg="exp-log2") @ 5, nDCG(dcg="exp-log2") @ 100, ERR @ 5, ERR @ 20],
    "cwl_eval": [RBP(rel=1), RBP(rel=2, p=0.5), RBP(rel=1, p=0.95)],
}


def random_data(rng: random.Random, negative: bool = False) -> tuple[Qrels, Run]:
    """Queries that are judged, retrieved or both, with ties in all of them."""
    ids = [f"d{i}" for i in range(40)]
    qrels: Qrels = {}
    run: Run = {}
    grades = [0, 0, 1, 1, 2, 3, 4] + ([-1, -2] if negative else [])
    for i in range(30):
        if rng.random() < 0.85:
            docs = rng.sample(ids, rng.randint(1, 25))
            qrels[str(i)] = {doc: rng.choice(grades) for doc in docs}
            if negative:  # without a relevant document, pytrec_eval can stop the interpreter
                qrels[str(i)]["d0"] = 2
        if rng.random() < 0.85:
            docs = rng.sample(ids, rng.randint(1, 40))
            run[str(i)] = {doc: rng.randrange(12) / 8 for doc in docs}
    return qrels, run


def values_of(found: Any) -> dict[tuple[str, str], float]:
    values = {(metric.query_id, str(metric.measure)): metric.value for metric in found}
    # With judged_only, pytrec_eval divides 0 by 0 where nothing is left.
    return {key: 0.0 if math.isnan(value) else value for key, value in values.items()}


def other(name: str) -> Any:
    found = ir_measures.providers.registry[name]
    if not found.is_available():
        pytest.skip(f"{name} is not installed")
    return found


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_values_of_the_other_providers(name: str, negative: bool, rng: random.Random) -> None:
    qrels, run = random_data(rng, negative)
    tolerance = 6e-6 if name == "gdeval" else 1e-9  # gdeval prints five digits
    seen: set[float] = set()
    lowering = [LOWERING] if name == "pytrec_eval" and negative else []
    for measure in OTHERS[name] + lowering:  # one by one: pytrec_eval's provider mixes up some
        assert provider.supports(measure)
        theirs = values_of(other(name).iter_calc([measure], qrels, run))
        ours = values_of(provider.iter_calc([measure], qrels, run))
        assert set(ours) == set(theirs)
        assert {key: pytest.approx(theirs[key], rel=0, abs=tolerance) for key in theirs} == ours
        seen.update(ours.values())
        mean = other(name).calc_aggregate([measure], qrels, run)[measure]
        if not math.isnan(mean):
            found = provider.calc_aggregate([measure], qrels, run)[measure]
            assert found == pytest.approx(mean, rel=0, abs=tolerance)
    assert len(seen) > 3, "the data hardly vary"


def test_together_as_one_by_one(rng: random.Random) -> None:
    qrels, run = random_data(rng, negative=True)
    measures = [measure for part in OTHERS.values() for measure in part]
    evaluator = provider.evaluator(measures, qrels)
    for _ in range(2):
        together = values_of(evaluator.iter_calc(run))
        for measure in measures:
            alone = values_of(provider.iter_calc([measure], qrels, run))
            assert {key: together[key] for key in alone} == alone
    aggregated, per_query = evaluator.calc(run)
    assert values_of(per_query) == together
    assert {m: pytest.approx(value) for m, value in aggregated.items()} == (
        evaluator.calc_aggregate(run)
    )


def test_it_stands_first_and_once() -> None:
    from rankmeter.compat.ir_measures import register

    assert register() is provider
    assert ir_measures.DefaultPipeline.providers.count(provider) == 1
    assert ir_measures.DefaultPipeline.providers[0] is provider
    evaluator: Any = ir_measures.evaluator([nDCG @ 10, RR @ 10, Judged @ 10], {"1": {"a": 1}})
    assert type(evaluator).__module__ == "rankmeter.compat.ir_measures"


def test_the_other_providers_compute_the_rest() -> None:
    found = ir_measures.calc_aggregate(
        [P @ 1, Compat(p=0.8)], {"1": {"a": 1}}, {"1": {"a": 1.0, "b": 0.5}}
    )
    assert found[P @ 1] == 1.0
    assert found[Compat(p=0.8)] > 0


@pytest.mark.parametrize(
    "measure",
    [
        RBP,
        P(rel=0) @ 5,
        Compat,
        nDCG(gains={0: 1}),
        nDCG(gains={1: 1}, dcg="exp-log2"),
        nDCG(gains={1: -1}, judged_only=True),
    ],
    ids=str,
)
def test_what_is_not_computed_is_left_to_others(measure: Any) -> None:
    assert not provider.supports(measure)
    with pytest.raises(ValueError, match="the measure "):
        rm.parse(measure)


def test_a_measure_of_the_user_with_a_known_name() -> None:
    mine = ir_measures.define_byquery(lambda qrels, run: 7.0, name="P")
    assert not provider.supports(mine)
    assert ir_measures.calc_aggregate([mine], {"1": {"a": 1}}, {"1": {"a": 1.0}})[mine] == 7.0


def test_kinds_of_input(rng: random.Random) -> None:
    pandas = pytest.importorskip("pandas")
    qrels, run = random_data(rng)
    judged = [ir_measures.Qrel(q, d, v) for q, docs in qrels.items() for d, v in docs.items()]
    scored = [ir_measures.ScoredDoc(q, d, v) for q, docs in run.items() for d, v in docs.items()]
    measures = [nDCG @ 5, RR @ 5, NumRet]
    expected = values_of(provider.iter_calc(measures, qrels, run))
    shuffled = pandas.DataFrame(scored).sample(frac=1, random_state=1)
    for some_qrels, some_run in [
        (judged, scored),
        (iter(judged), iter(scored)),
        (pandas.DataFrame(judged), pandas.DataFrame(scored)),
        (pandas.DataFrame(judged), shuffled),
    ]:
        assert values_of(provider.iter_calc(measures, some_qrels, some_run)) == expected
    twice = pandas.DataFrame([("1", "a", 1.0), ("2", "a", 2.0), ("1", "a", 3.0), ("1", "b", 2.0)])
    twice.columns = ["query_id", "doc_id", "score"]
    assert provider.calc_aggregate([RR], {"1": {"a": 1}}, twice)[RR] == 1.0  # the last one counts
    with pytest.raises(ValueError, match="missing columns"):
        provider.calc_aggregate(measures, judged, shuffled.drop(columns="score"))


def test_nothing_to_score() -> None:
    qrels, run = {"1": {"a": 1}}, {"2": {"a": 1.0}}
    assert list(provider.iter_calc([P @ 1], qrels, run)) == [ir_measures.Metric("1", P @ 1, 0.0)]
    assert provider.calc_aggregate([NumQ], qrels, []) == {NumQ: 0.0}
    assert list(provider.iter_calc([P @ 1], [], run)) == []
    assert str(provider.calc_aggregate([P @ 1], [], run)[P @ 1]) == "nan"


@pytest.mark.skipif(
    sys.version_info >= (3, 14),
    reason="ir_measures reads names of measures by what Python has dropped",
)
def test_its_command_line(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 0 a 1\n1 0 b 2\n")
    run.write_text("1 Q0 b 1 0.5 x\n1 Q0 a 2 0.5 x\n")
    found = subprocess.run(
        [sys.executable, "-m", "rankmeter.compat.ir_measures", qrels, run, "nDCG@1", "RBP(rel=1)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "nDCG@1\t1.0000\nRBP(rel=1)\t0.3600\n"


# ---------------------------------------------------------------------------------------------
# Measures as metrics


@pytest.mark.parametrize(
    ("measure", "ours"),
    [
        (nDCG @ 10, "ndcg@10(gain=linear)"),
        (nDCG(dcg="exp-log2"), "ndcg"),
        (nDCG(gains={1: 3, 2: -1}) @ 5, "ndcg@5(gain={1:3,2:0})"),
        (P(rel=2) @ 5, "precision@5(rel=2)"),
        (RR(judged_only=True) @ 3, "mrr@3(judged_only=true)"),
        (IPrec @ 0.125, "iprec(recall=0.12,rounding=up)"),
        (SetF(beta=0.5), "set_f(beta=0.5,weight=plain)"),
        (SetRelP, "set_relative_precision"),
        (NumRet, "num_ret"),
        (NumRelRet(rel=3), "num_rel_ret(rel=3)"),
        (Judged @ 10, "judged@10(negative=judged)"),
        (RBP(rel=1, p=0.5) @ 7, "rbp@7(p=0.5)"),
        (ERR @ 20, "err@20"),
    ],
    ids=str,
)
def test_a_measure_means_what_it_means_there(measure: Any, ours: str) -> None:
    assert rm.parse(measure) == rm.parse(ours)


def test_measures_and_names_together(rng: random.Random) -> None:
    qrels, run = random_data(rng)
    measure = nDCG @ 10
    ev = rm.evaluate(qrels, run, [measure, "ndcg@10", P(rel=2) @ 5])
    assert ev.metrics == ("nDCG@10", "ndcg@10", "P(rel=2)@5")
    assert ev[measure] == ev["ndcg_cut_10"] == ev.mean["nDCG@10"]
    assert ev["ndcg@10"] != ev[measure]
    assert measure in ev
    assert AP not in ev
    assert ev[measure] == pytest.approx(ir_measures.calc_aggregate([measure], qrels, run)[measure])
    alone = rm.Evaluator(qrels, measure).evaluate(run)
    assert alone[measure] == ev[measure]
    assert json.loads(alone.to_json())["mean"] == {"nDCG@10": ev[measure]}
    assert rm.concat([alone])[measure] == ev[measure]
    with pytest.raises(ValueError, match="linear gain"):
        rm.parse("nDCG@10")


@pytest.mark.parametrize("given", [3, object(), None])
def test_no_metric(given: Any) -> None:
    for wanted in (given, [given]):
        with pytest.raises(TypeError):
            rm.evaluate({"1": {"a": 1}}, {"1": ["a"]}, wanted)


def test_a_measure_that_lacks_its_cutoff() -> None:
    with pytest.raises(ValueError, match="the measure P: precision needs a cut-off"):
        rm.evaluate({"1": {"a": 1}}, {"1": ["a"]}, [P])
