"""Made-up judgments and runs, the same in every process.

Ids look like those of a real collection. The judgments and the run hold different ``str`` objects
for the same id, as they do when they are read from two files: a library that compared objects
instead of characters would gain nothing here.

Where the objects lie in memory changes the time of a loop over them by a factor of two. Everything
is therefore drawn into arrays first, and the objects are then made in the order in which reading
a file makes them, with nothing else allocated in between.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

SEED = 20240607
COLLECTION_SIZE = 8_000_000
SHARE_OF_JUDGED_RETRIEVED = 0.8

Kind = Literal["scored", "float64", "float32", "ranked", "one by one"]

# What scores are: of Python, or the scalars that an array of numpy is made of.
SCORE_TYPES: dict[str, Callable[[float], float]] = {
    "scored": float,
    "float64": np.float64,
    "float32": np.float32,  # type: ignore[dict-item]
}


class Shape(NamedTuple):
    """How much there is of everything. Lists are cut at ``cut`` when they have all been made."""

    kind: Kind
    queries: int
    depth: int
    relevant: int
    not_relevant: int
    cut: int | None = None

    @property
    def text(self) -> str:
        """Say how much of what there is."""
        documents = {
            "scored": "scored documents",
            "float64": "documents scored by numpy's float64",
            "float32": "documents scored by numpy's float32",
        }.get(self.kind, "ids in rank order")
        calls = ", one call each" if self.kind == "one by one" else ""
        return (
            f"{self.queries:,} queries{calls} × {self.cut or self.depth:,} {documents}, "
            f"{self.relevant} relevant + {self.not_relevant} judged not"
        )


class TrackInput(NamedTuple):
    """What a library is handed. The run is in ``scored`` or in ``ranked``; the other one is empty.

    ``one_by_one`` asks for one call a query instead of one call for all of them.
    """

    metrics: tuple[str, ...]
    qrels: dict[str, dict[str, int]]
    scored: dict[str, dict[str, float]]
    ranked: dict[str, list[str]]
    one_by_one: bool


def make_track_input(shape: Shape, metrics: tuple[str, ...]) -> TrackInput:
    """Draw judgments and a run of this shape, always the same for the same shape."""
    track_input = TrackInput(metrics, {}, {}, {}, one_by_one=shape.kind == "one by one")
    for query, (retrieved, scores, judged, grades) in enumerate(list(draw(shape))):
        track_input.qrels[query_id(query)] = {
            document_id(document): grade for document, grade in zip(judged, grades, strict=True)
        }
        if shape.kind in SCORE_TYPES:
            make = SCORE_TYPES[shape.kind]
            track_input.scored[query_id(query)] = {
                document_id(document): make(score)
                for document, score in zip(retrieved, scores, strict=True)
            }
        else:
            track_input.ranked[query_id(query)] = [document_id(d) for d in retrieved]
    for ids in track_input.ranked.values():
        del ids[shape.cut or shape.depth :]
    return track_input


def deepest_rank(metrics: tuple[str, ...]) -> int | None:
    """Return the rank below which no metric looks, or None where one looks at all of them."""
    cutoffs = [name.partition("@")[2] for name in metrics]
    return max(map(int, cutoffs)) if all(cutoffs) else None


class DrawnQuery(NamedTuple):
    """What was drawn for one query: numbers of documents, best first, and of judged ones."""

    retrieved: array[int]
    scores: array[float]
    judged: array[int]
    grades: array[int]


def draw(shape: Shape) -> Iterator[DrawnQuery]:
    """Draw one query after the other, always the same ones for the same shape."""
    rng = random.Random(SEED)
    judged_count = shape.relevant + shape.not_relevant
    missed_count = judged_count - round(SHARE_OF_JUDGED_RETRIEVED * judged_count)
    for _ in range(shape.queries):
        drawn = rng.sample(range(COLLECTION_SIZE), shape.depth + missed_count)
        retrieved, missed = drawn[: shape.depth], drawn[shape.depth :]
        judged = rng.sample(retrieved, judged_count - missed_count) + missed
        grades = [rng.randint(1, 3) for _ in range(shape.relevant)] + [0] * shape.not_relevant
        rng.shuffle(grades)
        yield DrawnQuery(
            array("l", retrieved),
            array("d", _scores(shape.depth, rng) if shape.kind in SCORE_TYPES else ()),
            array("l", judged),
            array("l", grades),
        )


def _scores(depth: int, rng: random.Random) -> Iterator[float]:
    # High to low, as systems return them. The steps are wide enough for no two scores to be equal
    # in single precision, which pytrec_eval keeps them in.
    score = 30.0
    for _ in range(depth):
        score -= rng.uniform(0.001, 0.02)
        yield score


def query_id(number: int) -> str:
    """Return the id of the query of this number."""
    return f"q{number}"


def document_id(number: int) -> str:
    """Return the id of the document of this number."""
    return f"d{number:07d}"
