"""torchmetrics' retrieval metric, which loops over the queries, in single precision."""

from __future__ import annotations

from typing import Any

import torch
import torchmetrics
from torchmetrics.retrieval import RetrievalNormalizedDCG

from benchmarks.arrays import ArrayInput

label = f"torchmetrics {torchmetrics.__version__}"


def prepare(track_input: ArrayInput) -> tuple[Any, Any, Any]:
    assert track_input.labels is not None
    gains = 2 ** torch.from_numpy(track_input.labels) - 1
    queries = torch.arange(len(gains)).repeat_interleave(gains.shape[1])
    return torch.from_numpy(track_input.scores).flatten(), gains.flatten(), queries


def evaluate(prepared: tuple[Any, Any, Any]) -> dict[str, float]:
    scores, gains, queries = prepared
    metric = RetrievalNormalizedDCG(top_k=10)
    metric.update(scores, gains, indexes=queries)
    return {"ndcg@10(single precision)": metric.compute().item()}
