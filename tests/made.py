"""Evaluations that are made up."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankmeter as rm


def evaluation(values: Any, queries: Any = None, metrics: Any = "mrr") -> rm.Evaluation:
    """An evaluation of these values, whatever could have made them."""
    array = np.array(values, dtype=np.float64)
    array = array[:, np.newaxis] if array.ndim == 1 else array
    count = len(array)
    marks = np.ones(count, dtype=np.bool_)
    return rm.Evaluation(
        [f"q{i}" for i in range(count)] if queries is None else queries,
        {name: rm.parse(name) for name in ([metrics] if isinstance(metrics, str) else metrics)},
        array,
        rm.Coverage(count, count, 0, 0, 0),
        lowest=array,
        highest=array,
        retrieved=marks,
        answerable=marks,
    )
