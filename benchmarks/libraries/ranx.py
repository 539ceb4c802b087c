"""ranx: numba over its own Qrels and Run, whose making from dicts or files is counted.

Rankings of integer ids are handed over as the arrays that it builds itself, made beforehand.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import ranx

from benchmarks.arrays import ArrayInput
from benchmarks.comparisons import CompareInput, named
from benchmarks.data import TrackInput
from benchmarks.files import FileInput
from benchmarks.fusions import WEIGHTS, FusionInput
from benchmarks.libraries import AnyInput
from benchmarks.scores_for_lists import run_with_scores

label = f"ranx {version('ranx')}"

_THEIRS = {
    "ndcg@10": "ndcg_burges@10",  # the exponential gain; plain ndcg is the linear one
    "map": "map",
    "map@10": "map@10",
    "mrr": "mrr",
    "mrr@10": "mrr@10",
    "recall@10": "recall@10",
    "precision@10": "precision@10",
    "hit@10": "hit_rate@10",
}


def prepare(track_input: AnyInput) -> tuple[Any, Any, dict[str, str]]:
    if isinstance(track_input, FusionInput):
        return None, track_input, {}
    theirs = {name: _THEIRS[name] for name in track_input.metrics}
    if isinstance(track_input, ArrayInput):
        return *_built(track_input), theirs
    if isinstance(track_input, CompareInput):
        runs = [ranx.Run(run, name=name) for name, run in track_input.runs.items()]
        return ranx.Qrels(track_input.qrels), (runs, track_input.draws), theirs
    return track_input.qrels, track_input, theirs


def evaluate(prepared: tuple[Any, Any, dict[str, str]]) -> dict[str, float]:
    qrels, run, measures = prepared
    if isinstance(run, FusionInput):
        return _fuse(run)
    if isinstance(run, tuple) and not isinstance(run, (FileInput, TrackInput)):
        return _compare(qrels, *run, measures)
    if isinstance(run, FileInput):
        qrels = ranx.Qrels.from_file(str(qrels), kind="trec")
        run = ranx.Run.from_file(str(run.run), kind="trec")
    elif not isinstance(run, np.ndarray):
        qrels, run = ranx.Qrels(qrels), ranx.Run(run_with_scores(run))
    means = ranx.evaluate(qrels, run, list(measures.values()), threads=1)
    return {name: float(means[theirs]) for name, theirs in measures.items()}


def _fuse(given: FusionInput) -> dict[str, float]:
    runs = [ranx.Run(run) for run in given.runs.values()]
    if given.kind == "rrf":
        fused = ranx.fuse(runs, norm=None, method="rrf", params={"k": 60})
    else:
        fused = ranx.fuse(runs, norm="min-max", method="wsum", params={"weights": WEIGHTS})
    query = next(iter(next(iter(given.runs.values()))))
    return {"the sums of a query": float(sum(fused.run[query].values()))}


def _compare(qrels: Any, runs: list[Any], draws: int, measures: dict[str, str]) -> dict[str, float]:
    """Runs are built beforehand; each pair is compared twice, which is how it does that."""
    report = ranx.compare(
        qrels, runs, list(measures.values()), stat_test="fisher", n_permutations=draws, threads=1
    )
    tests = report.comparisons[frozenset(run.name for run in runs)]
    base, new = (report.results[run.name] for run in runs)
    found: dict[str, float] = {}
    for name, theirs in measures.items():
        found |= named(name, new[theirs] - base[theirs], float(tests[theirs]["p_value"]))
    return found


def _built(track_input: ArrayInput) -> tuple[Any, Any]:
    """(id, grade) pairs, highest grade first, and (id, score) pairs, best first."""
    assert track_input.judgments is not None
    assert track_input.rankings is not None
    indptr, ids, grades = track_input.judgments
    rows = len(indptr) - 1
    qrels = np.stack([ids, grades], axis=-1).reshape(rows, -1, 2)
    order = np.argsort(-qrels[:, :, 1], axis=1, kind="stable")
    qrels = np.take_along_axis(qrels, order[:, :, None], axis=1)
    scores = np.broadcast_to(
        np.arange(track_input.rankings.shape[1], 0, -1), track_input.rankings.shape
    )
    return qrels.astype(float), np.stack([track_input.rankings, scores], axis=-1).astype(float)
