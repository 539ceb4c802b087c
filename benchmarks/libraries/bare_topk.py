"""No metric at all: torch.topk of the scores, to compare the cost of a small call with."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.arrays import ArrayInput

label = f"torch.topk {torch.__version__}, nothing else"


def prepare(track_input: ArrayInput) -> Any:
    return torch.from_numpy(track_input.scores)


def evaluate(prepared: Any) -> dict[str, float]:
    prepared.topk(10, dim=1)
    return {}
