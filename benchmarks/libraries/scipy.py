"""scipy's permutation test, on the values of each query, which are computed beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from scipy.stats import permutation_test

import rankmeter
from benchmarks.comparisons import CompareInput, named

label = f"scipy {scipy.__version__}, without the evaluation"

BATCH = 1000  # of draws: with all at once it needs gigabytes


def prepare(track_input: CompareInput) -> tuple[Any, tuple[str, ...], int]:
    metrics, qrels, runs, draws = track_input
    base, new = (rankmeter.evaluate(qrels, run, metrics).values for run in runs.values())
    return new - base, metrics, draws


def evaluate(prepared: tuple[Any, tuple[str, ...], int]) -> dict[str, float]:
    differences, metrics, draws = prepared
    found: dict[str, float] = {}
    for metric, column in zip(metrics, differences.T, strict=True):
        result = permutation_test(
            (np.ascontiguousarray(column),),
            lambda sample, axis: sample.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=draws,
            batch=BATCH,
            random_state=1,
        )
        found |= named(metric, float(result.statistic), float(result.pvalue))
    return found
