"""rankmeter itself."""

from __future__ import annotations

from importlib.metadata import version

import rankmeter
from benchmarks.data import TrackInput

label = f"rankmeter {version('rankmeter')}"


def prepare(track_input: TrackInput) -> TrackInput:
    return track_input


def evaluate(prepared: TrackInput) -> dict[str, float] | list[float]:
    qrels = prepared.qrels
    if prepared.one_by_one:
        ndcg_at_k = rankmeter.ndcg_at_k
        return [ndcg_at_k(ranked, qrels[query]) for query, ranked in prepared.ranked.items()]
    return rankmeter.evaluate(qrels, prepared.scored or prepared.ranked, prepared.metrics).mean
