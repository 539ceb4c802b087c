"""scikit-learn's ndcg_score, on gains that are computed beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn.metrics import ndcg_score

from benchmarks.arrays import ArrayInput

label = f"scikit-learn {sklearn.__version__}"


def prepare(track_input: ArrayInput) -> tuple[Any, Any, bool, str]:
    labels = track_input.labels
    assert labels is not None
    # Averaging over ties is what it does unless it is told not to; long lists show its price.
    name = "ndcg@10(mean over ties)" if track_input.kind == "tied" else "ndcg@10"
    return np.exp2(labels) - 1, track_input.scores, labels.shape[1] <= 100, name


def evaluate(prepared: tuple[Any, Any, bool, str]) -> dict[str, float]:
    gains, scores, ignore_ties, name = prepared
    return {name: float(ndcg_score(gains, scores, k=10, ignore_ties=ignore_ties))}
