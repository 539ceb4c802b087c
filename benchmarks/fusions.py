"""Made-up pairs of runs of the same queries, to be fused, with judgments for a sweep."""

from __future__ import annotations

import random
from typing import Literal, NamedTuple

from benchmarks.data import SEED, document_id, query_id

JUDGED = 10
WEIGHTS = (0.7, 0.3)
GRID = tuple(i / 100 for i in range(101))

Kind = Literal["rrf", "wsum", "sweep"]
Run = dict[str, dict[str, float]]


class FusionShape(NamedTuple):
    """How much there is: queries, documents of each run, and how many there are to draw from."""

    kind: Kind
    queries: int
    depth: int
    pool: int

    @property
    def text(self) -> str:
        """Say how much of what there is."""
        weights = f"{len(GRID)} weights of " if self.kind == "sweep" else ""
        return f"{weights}two runs of {self.queries:,} × {self.depth:,} scored documents"


class FusionInput(NamedTuple):
    """What a library is handed."""

    metrics: tuple[str, ...]
    kind: Kind
    runs: dict[str, Run]
    qrels: dict[str, dict[str, int]]


def make_fusion_input(shape: FusionShape, metrics: tuple[str, ...]) -> FusionInput:
    """Draw two runs without equal scores, which hold different objects for the same ids."""
    rng = random.Random(SEED)
    runs: dict[str, Run] = {
        name: {query_id(query): _ranking(rng, shape) for query in range(shape.queries)}
        for name in ("dense", "bm25")
    }
    qrels = {
        query_id(query): {
            document_id(document): rng.randint(0, 3)
            for document in rng.sample(range(shape.pool), JUDGED)
        }
        for query in range(shape.queries)
    }
    return FusionInput(metrics, shape.kind, runs, qrels)


def _ranking(rng: random.Random, shape: FusionShape) -> dict[str, float]:
    score = 30.0
    ranking = {}
    for document in rng.sample(range(shape.pool), shape.depth):
        score -= rng.uniform(0.001, 0.02)
        ranking[document_id(document)] = score
    return ranking
