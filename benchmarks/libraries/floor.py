"""No library: the cheapest loop in C over the same input. It computes nothing of use."""

from __future__ import annotations

from benchmarks.arrays import ArrayInput
from benchmarks.data import TrackInput, deepest_rank

label = "floor"


def prepare(track_input: TrackInput | ArrayInput) -> tuple[TrackInput | ArrayInput, int | None]:
    return track_input, deepest_rank(track_input.metrics)


def evaluate(prepared: tuple[TrackInput | ArrayInput, int | None]) -> None:
    if isinstance(prepared[0], ArrayInput):
        _, scores, labels, rankings, _ = prepared[0]
        if rankings is not None:
            rankings.sum()
        elif labels is not None:
            scores.sum()
            labels.sum()
        else:
            scores.max()
        return
    (_, qrels, scored, ranked, one_by_one), deepest = prepared
    if scored:
        for scores in scored.values():
            sum(scores.values())
    elif one_by_one:
        for query, ids in ranked.items():
            grades = qrels[query]
            [grades.get(document) for document in ids]
    elif deepest is None:
        for query, ids in ranked.items():
            list(map(qrels[query].get, ids))
    else:
        for query, ids in ranked.items():
            list(map(qrels[query].get, ids[:deepest]))
