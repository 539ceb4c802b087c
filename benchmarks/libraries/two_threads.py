"""rankmeter with two threads, on the tracks of arrays."""

from __future__ import annotations

from importlib.metadata import version

from benchmarks.arrays import ArrayInput
from benchmarks.libraries.rankmeter import evaluate_arrays

label = f"rankmeter {version('rankmeter')}, two threads"


def prepare(track_input: ArrayInput) -> ArrayInput:
    return track_input


def evaluate(prepared: ArrayInput) -> dict[str, float]:
    return evaluate_arrays(prepared, threads=2)
