"""rankmeter asked for a million threads: what is more than the processors must not cost."""

from __future__ import annotations

from importlib.metadata import version

from benchmarks.arrays import ArrayInput
from benchmarks.files import FileInput
from benchmarks.libraries.rankmeter import evaluate_with

label = f"rankmeter {version('rankmeter')}, a million threads"


def prepare(track_input: ArrayInput | FileInput) -> ArrayInput | FileInput:
    return track_input


def evaluate(prepared: ArrayInput | FileInput) -> dict[str, float]:
    return evaluate_with(10**6, prepared)
