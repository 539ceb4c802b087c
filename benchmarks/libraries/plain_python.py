"""No library: what a competent user writes in twenty lines."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from math import fsum, log2

from benchmarks.data import ONE_CALL_EACH, TrackInput, deepest_rank

label = f"plain Python {platform.python_version()}"


def prepare(track_input: TrackInput) -> tuple[TrackInput, int | None]:
    return track_input, deepest_rank(track_input.metrics)


def evaluate(prepared: tuple[TrackInput, int | None]) -> dict[str, float] | list[float]:
    (metrics, qrels, scored, ranked, kind), deepest = prepared
    if kind in ONE_CALL_EACH:
        return [ndcg_at_10(ids, qrels[query]) for query, ids in ranked.items()]
    rows = []
    for query, judged in qrels.items():
        if scored:
            scores = scored.get(query, {})
            ids = sorted(scores, key=scores.__getitem__, reverse=True)
        else:
            ids = ranked.get(query, [])[:deepest]
        rows.append(all_six(ids, judged))
    columns = zip(*rows, strict=True)
    return {name: fsum(column) / len(rows) for name, column in zip(metrics, columns, strict=True)}


def all_six(ids: list[str], judged: dict[str, int]) -> tuple[float, ...]:
    hits, hits_at_10, sum_of_precisions, reciprocal_rank = 0, 0, 0.0, 0.0
    for rank, document in enumerate(ids, 1):
        if judged.get(document, 0) > 0:
            hits += 1
            sum_of_precisions += hits / rank
            if hits == 1:
                reciprocal_rank = 1 / rank
            if rank <= 10:
                hits_at_10 = hits
    relevant = sum(grade > 0 for grade in judged.values()) or 1
    return (
        ndcg_at_10(ids, judged),
        sum_of_precisions / relevant,
        reciprocal_rank,
        hits_at_10 / relevant,
        hits_at_10 / 10,
        float(hits_at_10 > 0),
    )


def ndcg_at_10(ids: list[str], judged: dict[str, int]) -> float:
    ideal = dcg(sorted(judged.values(), reverse=True)[:10])
    return dcg(judged.get(document, 0) for document in ids[:10]) / ideal if ideal else 0.0


def dcg(grades: Iterable[int]) -> float:
    return sum((2.0**grade - 1) / log2(rank + 1) for rank, grade in enumerate(grades, 1))
