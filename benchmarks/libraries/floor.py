"""No library: the cheapest loop in C over the same input. It computes nothing of use."""

from __future__ import annotations

from benchmarks.data import TrackInput, deepest_rank

label = "floor"


def prepare(track_input: TrackInput) -> tuple[TrackInput, int | None]:
    return track_input, deepest_rank(track_input.metrics)


def evaluate(prepared: tuple[TrackInput, int | None]) -> None:
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
