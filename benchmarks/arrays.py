"""Made-up arrays, the same in every process: scores with labels, and rankings of integer ids."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

SEED = 20240607
CATALOGUE = 1_000_000

Array = npt.NDArray[np.generic]
Kind = Literal["scores", "catalogue", "rankings", "structured"]


class ArrayShape(NamedTuple):
    """How much there is: rows, columns, and how many of a row are relevant or judged."""

    kind: Kind
    queries: int
    depth: int
    judged: int

    @property
    def text(self) -> str:
        """Say how much of what there is."""
        of_what = {
            "structured": "int64 ids that differ in their upper bits, with judgments",
            "scores": "float32 scores with int64 labels",
            "catalogue": "float32 scores with compressed judgments",
            "rankings": "int64 ids in rank order with compressed judgments",
        }[self.kind]
        return f"{self.queries:,} × {self.depth:,} {of_what}, some {self.judged} relevant a row"


class ArrayInput(NamedTuple):
    """What a library is handed; what a kind does not have is None.

    ``judgments`` are compressed rows: where each starts, ids, grades.
    """

    metrics: tuple[str, ...]
    scores: npt.NDArray[np.float32] | None = None
    labels: npt.NDArray[np.int64] | None = None
    rankings: npt.NDArray[np.int64] | None = None
    judgments: tuple[Array, Array, Array] | None = None


def make_array_input(shape: ArrayShape, metrics: tuple[str, ...]) -> ArrayInput:
    """Draw the arrays of this shape, always the same for the same shape."""
    rng = np.random.default_rng(SEED)
    if shape.kind in ("rankings", "structured"):
        rankings, judgments = _rankings(rng, shape)
        return ArrayInput(metrics, rankings=rankings, judgments=judgments)
    # As of a model that has learnt something; different in single precision, or else libraries
    # that order equal scores otherwise would be right too.
    noise = rng.standard_normal((shape.queries, shape.depth), np.float32)
    if shape.kind == "catalogue":
        columns = np.array([_some(rng, shape.depth, shape.judged) for _ in noise])
        np.put_along_axis(noise, columns, np.take_along_axis(noise, columns, 1) + 1.5, axis=1)
        return ArrayInput(metrics, scores=noise, judgments=_compressed(rng, columns))
    labels = np.where(
        rng.random(noise.shape) < shape.judged / shape.depth, rng.integers(1, 4, noise.shape), 0
    )
    order = np.argsort(np.argsort(noise + 1.5 * (labels > 0), axis=1), axis=1)
    levels = np.sort(rng.choice(2**22, shape.depth, replace=False)).astype(np.float32) / 2**20 - 2
    return ArrayInput(metrics, scores=levels[order], labels=labels)


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
    if shape.kind == "structured":  # as of a part of a collection that stands in the upper bits
        ids = np.argsort(ids, axis=1) << 48
    rankings, unseen = ids[:, : shape.depth].copy(), ids[:, shape.depth :]
    columns = unseen.copy()
    found = shape.judged * 4 // 5
    places = rng.integers(0, shape.depth // found, (shape.queries, found))
    places += np.arange(found) * (shape.depth // found)
    columns[:, :found] = np.take_along_axis(rankings, places, axis=1)
    return rankings, _compressed(rng, np.sort(columns, axis=1))


def _some(rng: np.random.Generator, size: int, count: int) -> npt.NDArray[np.int64]:
    return np.sort(rng.choice(size, count, replace=False))


def _compressed(
    rng: np.random.Generator, columns: npt.NDArray[np.int64]
) -> tuple[Array, Array, Array]:
    grades = rng.integers(1, 4, columns.size)
    return np.arange(0, columns.size + 1, columns.shape[1]), columns.ravel(), grades
