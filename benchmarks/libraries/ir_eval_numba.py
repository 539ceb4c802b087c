"""ir-eval-numba: one compiled call a query, of an array of relevant ids and one in rank order."""

from __future__ import annotations

from typing import Any

import ir_eval_numba
import numpy as np
from ir_eval_numba.metrics import ndcg

from benchmarks.data import TrackInput

label = f"ir-eval-numba {ir_eval_numba.__version__}"


def prepare(track_input: TrackInput) -> list[tuple[Any, Any]]:
    return [
        (np.array([d for d, grade in track_input.qrels[query].items() if grade]), ranked)
        for query, ranked in track_input.ranked.items()
    ]


def evaluate(prepared: list[tuple[Any, Any]]) -> list[float]:
    return [ndcg(relevant, ranked, 10) for relevant, ranked in prepared]
