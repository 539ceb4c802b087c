"""Made-up arrays, the same in every process: scores with labels, and rankings of integer ids."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

SEED = 20240607
CATALOGUE = 1_000_000

Array = npt.NDArray[np.generic]
Kind = Literal[
    "scores",
    "tied",
    "few",
    "grouped",
    "grouped-shuffled",
    "grouped-text",
    "catalogue",
    "rankings",
    "structured",
    "recommendations",
]

KINDS: dict[Kind, str] = {
    "scores": "float32 scores with int64 labels",
    "tied": "equal float32 scores with int64 labels",
    "few": "float32 scores, half of them 0, ten others, with int64 labels",
    "grouped": "rows of scores, labels and the integer of a query",
    "grouped-shuffled": "rows of scores, labels and the integer of a query, in random order",
    "grouped-text": "rows of scores, labels and the text of a query",
    "catalogue": "float32 scores with compressed judgments",
    "rankings": "int64 ids in rank order with compressed judgments",
    "structured": "int64 ids that differ in their upper bits, with judgments",
    "recommendations": "int64 ids of a catalogue, with compressed judgments of 1",
}


class ArrayShape(NamedTuple):
    """How much there is: rows, columns, and how many of a row are relevant or judged."""

    kind: Kind
    queries: int
    depth: int
    judged: int

    @property
    def text(self) -> str:
        """Say how much of what there is."""
        return (
            f"{self.queries:,} × {self.depth:,} {KINDS[self.kind]}, "
            f"some {self.judged:,} relevant a query"
        )


class ArrayInput(NamedTuple):
    """What a library is handed; what a kind does not have is None.

    ``judgments`` are compressed rows: where each starts, ids, grades. With ``query_ids``, scores
    and labels have one dimension.
    """

    metrics: tuple[str, ...]
    kind: Kind
    scores: npt.NDArray[np.float32] | None = None
    labels: npt.NDArray[np.int64] | None = None
    rankings: npt.NDArray[np.int64] | None = None
    judgments: tuple[Array, Array, Array] | None = None
    query_ids: npt.NDArray[np.int64] | list[str] | None = None


def make_array_input(shape: ArrayShape, metrics: tuple[str, ...]) -> ArrayInput:
    """Draw the arrays of this shape, always the same for the same shape."""
    rng = np.random.default_rng(SEED)
    given = ArrayInput(metrics, shape.kind)
    if shape.kind in ("rankings", "structured", "recommendations"):
        rankings, judgments = _rankings(rng, shape)
        return given._replace(rankings=rankings, judgments=judgments)
    # As of a model that has learnt something; different in single precision, or else libraries
    # that order equal scores otherwise would be right too.
    noise = rng.standard_normal((shape.queries, shape.depth), np.float32)
    if shape.kind == "catalogue":
        columns = np.array([_some(rng, shape.depth, shape.judged) for _ in noise])
        np.put_along_axis(noise, columns, np.take_along_axis(noise, columns, 1) + 1.5, axis=1)
        return given._replace(scores=noise, judgments=_compressed(rng, columns))
    labels = np.where(
        rng.random(noise.shape) < shape.judged / shape.depth, rng.integers(1, 4, noise.shape), 0
    )
    order = np.argsort(np.argsort(noise + 1.5 * (labels > 0), axis=1), axis=1)
    levels = np.sort(rng.choice(2**22, shape.depth, replace=False)).astype(np.float32) / 2**20 - 2
    if shape.kind == "tied":
        levels[:] = 0.5
    elif shape.kind == "few":  # as of a layer that clips, or of a search for few words
        levels = np.maximum(np.arange(shape.depth) * 20 // shape.depth - 9, 0).astype(np.float32)
    given = given._replace(scores=levels[order], labels=labels)
    return _grouped(rng, given) if shape.kind.startswith("grouped") else given


def _grouped(rng: np.random.Generator, given: ArrayInput) -> ArrayInput:
    assert given.scores is not None
    assert given.labels is not None
    scores, labels = given.scores.ravel(), given.labels.ravel()
    query_ids = np.repeat(np.arange(len(given.scores)), given.scores.shape[1])
    if given.kind == "grouped-text":
        return given._replace(
            scores=scores, labels=labels, query_ids=[f"q{number}" for number in query_ids]
        )
    if given.kind == "grouped-shuffled":
        order = rng.permutation(len(scores))
        scores, labels, query_ids = scores[order], labels[order], query_ids[order]
    return given._replace(scores=scores, labels=labels, query_ids=query_ids)


def _rankings(
    rng: np.random.Generator, shape: ArrayShape
) -> tuple[npt.NDArray[np.int64], tuple[Array, Array, Array]]:
    # Steps of different lengths through the ids: no id comes twice, none is near the next. They are
    # folded, since multiplication alone keeps the steps, and hash tables like steps.
    starts = rng.integers(0, CATALOGUE, (shape.queries, 1))
    steps = 2 * rng.integers(1, CATALOGUE // 2, (shape.queries, 1)) + 1
    reached = starts + steps * np.arange(shape.depth + shape.judged)
    ids = reached * 2_654_435_761 % (1 << 40)
    ids = (ids ^ ids >> 20) * 6_700_417 % (1 << 40)
    if shape.kind == "recommendations":  # the steps are odd: no id comes twice in 64 of them
        ids = reached % CATALOGUE
    if shape.kind == "structured":  # as of a part of a collection that stands in the upper bits
        ids = np.argsort(ids, axis=1) << 48
    rankings, unseen = ids[:, : shape.depth].copy(), ids[:, shape.depth :]
    columns = unseen.copy()
    found = shape.judged * 4 // 5
    places = rng.integers(0, shape.depth // found, (shape.queries, found))
    places += np.arange(found) * (shape.depth // found)
    columns[:, :found] = np.take_along_axis(rankings, places, axis=1)
    judgments = _compressed(rng, np.sort(columns, axis=1))
    if shape.kind == "recommendations":
        judgments[2][:] = 1
    return rankings, judgments


def _some(rng: np.random.Generator, size: int, count: int) -> npt.NDArray[np.int64]:
    return np.sort(rng.choice(size, count, replace=False))


def _compressed(
    rng: np.random.Generator, columns: npt.NDArray[np.int64]
) -> tuple[Array, Array, Array]:
    grades = rng.integers(1, 4, columns.size)
    return np.arange(0, columns.size + 1, columns.shape[1]), columns.ravel(), grades
