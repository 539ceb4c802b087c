"""Two made-up runs of the same judgments, to be compared."""

from __future__ import annotations

import random
from typing import NamedTuple

from benchmarks.data import SEED, Shape, make_track_input

# So much is added to the scores of relevant documents of the second run, and so much noise to all:
# neither are all differences plain, nor none.
HELP = 0.005
NOISE = 0.3


class CompareShape(NamedTuple):
    """How much there is of everything."""

    queries: int
    depth: int
    relevant: int
    not_relevant: int
    draws: int

    @property
    def text(self) -> str:
        """Say how much of what there is."""
        return (
            f"two runs of {self.queries:,} queries × {self.depth:,} scored documents, "
            f"{self.draws:,} random signs of each difference"
        )


class CompareInput(NamedTuple):
    """What a library is handed."""

    metrics: tuple[str, ...]
    qrels: dict[str, dict[str, int]]
    runs: dict[str, dict[str, dict[str, float]]]
    draws: int


def make_compare_input(shape: CompareShape, metrics: tuple[str, ...]) -> CompareInput:
    """Draw judgments and two runs of this shape, always the same for the same shape."""
    drawn = make_track_input(
        Shape("scored", shape.queries, shape.depth, shape.relevant, shape.not_relevant), metrics
    )
    rng = random.Random(SEED)
    other = {
        query: {
            document: score + rng.gauss(HELP * (drawn.qrels[query].get(document, 0) > 0), NOISE)
            for document, score in scores.items()
        }
        for query, scores in drawn.scored.items()
    }
    return CompareInput(metrics, drawn.qrels, {"base": drawn.scored, "new": other}, shape.draws)


def named(metric: str, difference: float, p: float) -> dict[str, float]:
    """Return what is checked against other libraries."""
    return {f"{metric} difference": difference, f"{metric} p": p}
