"""rankmeter itself."""

from __future__ import annotations

from importlib.metadata import version

import rankmeter
from benchmarks.arrays import ArrayInput
from benchmarks.data import TrackInput

label = f"rankmeter {version('rankmeter')}"


def prepare(track_input: TrackInput | ArrayInput) -> TrackInput | ArrayInput:
    return track_input


def evaluate(prepared: TrackInput | ArrayInput) -> dict[str, float] | list[float]:
    if isinstance(prepared, ArrayInput):
        return evaluate_arrays(prepared, threads=1)
    qrels = prepared.qrels
    if prepared.one_by_one:
        ndcg_at_k = rankmeter.ndcg_at_k
        return [ndcg_at_k(ranked, qrels[query]) for query, ranked in prepared.ranked.items()]
    return rankmeter.evaluate(qrels, prepared.scored or prepared.ranked, prepared.metrics).mean


def evaluate_arrays(prepared: ArrayInput, threads: int) -> dict[str, float]:
    metrics, scores, labels, rankings, judgments = prepared
    if rankings is not None:
        ev = rankmeter.evaluate_rankings(rankings, judgments, metrics, threads=threads)
    else:
        given = judgments if labels is None else labels
        ev = rankmeter.evaluate_scores(scores, given, metrics, threads=threads)
    return ev.mean
