"""rankmeter without a sweep: one fusion and one evaluation for each weight."""

from __future__ import annotations

from importlib.metadata import version

import rankmeter
from benchmarks.fusions import GRID, FusionInput

label = f"rankmeter {version('rankmeter')}, weight by weight"


def prepare(track_input: FusionInput) -> FusionInput:
    return track_input


def evaluate(prepared: FusionInput) -> dict[str, float]:
    (metric,) = prepared.metrics
    means = []
    for weight in GRID:
        fused = rankmeter.fuse(prepared.runs, "wsum", [weight, 1 - weight])
        means.append(rankmeter.evaluate(prepared.qrels, fused, metric)[metric])
    return {metric: max(means)}
