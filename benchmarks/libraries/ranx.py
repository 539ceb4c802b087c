"""ranx: numba over its own Qrels and Run, whose making from dicts is counted."""

from __future__ import annotations

from importlib.metadata import version

import ranx

from benchmarks.data import TrackInput
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


def prepare(track_input: TrackInput) -> tuple[TrackInput, dict[str, str]]:
    return track_input, {name: _THEIRS[name] for name in track_input.metrics}


def evaluate(prepared: tuple[TrackInput, dict[str, str]]) -> dict[str, float]:
    track_input, measures = prepared
    means = ranx.evaluate(
        ranx.Qrels(track_input.qrels),
        ranx.Run(run_with_scores(track_input)),
        list(measures.values()),
        threads=1,
    )
    return {name: float(means[theirs]) for name, theirs in measures.items()}
