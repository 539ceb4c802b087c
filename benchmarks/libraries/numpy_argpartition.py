"""No library: what a competent user of numpy writes, with argpartition."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.arrays import ArrayInput

label = f"numpy.argpartition {np.__version__}, by hand"

DISCOUNTS = 1 / np.log2(np.arange(2, 12))


def prepare(track_input: ArrayInput) -> tuple[Any, Any]:
    return track_input.scores, track_input.labels


def evaluate(prepared: tuple[Any, Any]) -> dict[str, float]:
    scores, labels = prepared
    top = np.argpartition(-scores, 9, axis=1)[:, :10]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
    best = np.take_along_axis(labels, np.take_along_axis(top, order, axis=1), axis=1)
    ideal = -np.sort(np.partition(-labels, 9, axis=1)[:, :10], axis=1)
    dcg, ideal_dcg = (((np.exp2(grades) - 1) * DISCOUNTS).sum(axis=1) for grades in (best, ideal))
    values = np.divide(dcg, ideal_dcg, out=np.zeros_like(dcg), where=ideal_dcg > 0)
    return {"ndcg@10": float(values.mean())}
