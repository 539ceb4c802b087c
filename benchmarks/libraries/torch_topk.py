"""No library: what a competent user of torch writes, with topk."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.arrays import ArrayInput

label = f"torch.topk {torch.__version__}, by hand"

DISCOUNTS = 1 / torch.log2(torch.arange(2, 12, dtype=torch.float64))


def prepare(track_input: ArrayInput) -> tuple[Any, Any]:
    return torch.from_numpy(track_input.scores), torch.from_numpy(track_input.labels)


def evaluate(prepared: tuple[Any, Any]) -> dict[str, float]:
    scores, labels = prepared
    best = labels.gather(1, scores.topk(10, dim=1).indices)
    ideal = labels.topk(10, dim=1).values
    dcg, ideal_dcg = (
        ((torch.exp2(grades.double()) - 1) * DISCOUNTS).sum(1) for grades in (best, ideal)
    )
    return {"ndcg@10": torch.where(ideal_dcg > 0, dcg / ideal_dcg, 0.0).mean().item()}
