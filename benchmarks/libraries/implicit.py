"""implicit, with a model that has computed all recommendations beforehand."""

from __future__ import annotations

from typing import Any

import implicit
import numpy as np
from implicit.evaluation import ranking_metrics_at_k
from scipy.sparse import csr_matrix

from benchmarks.arrays import CATALOGUE, ArrayInput

label = f"implicit {implicit.__version__}"


class Computed:
    """What its evaluation asks of a model."""

    def __init__(self, rankings: Any) -> None:
        self.rankings = rankings

    def recommend(self, users: Any, _: object, N: int) -> tuple[Any, None]:
        return self.rankings[users, :N], None


def prepare(track_input: ArrayInput) -> tuple[Computed, Any, Any]:
    assert track_input.rankings is not None
    assert track_input.judgments is not None
    indptr, items, grades = track_input.judgments
    shape = (len(track_input.rankings), CATALOGUE)
    seen, relevant = csr_matrix(shape), csr_matrix((grades, items, indptr), shape)
    return Computed(track_input.rankings.astype(np.int32)), seen, relevant


def evaluate(prepared: tuple[Computed, Any, Any]) -> dict[str, float]:
    found = ranking_metrics_at_k(*prepared, K=10, show_progress=False)
    return {"ndcg@10": found["ndcg"], "map@10": found["map"]}
