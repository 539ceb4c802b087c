"""rankmeter as everybody runs it: with Python's garbage collector on."""

from __future__ import annotations

import gc
from importlib.metadata import version

from benchmarks.data import TrackInput
from benchmarks.libraries import rankmeter

label = f"rankmeter {version('rankmeter')}, collector on"


def prepare(track_input: TrackInput) -> TrackInput:
    return track_input


def evaluate(prepared: TrackInput) -> object:
    gc.enable()  # it is off while a sample is timed
    try:
        return rankmeter.evaluate(prepared)
    finally:
        gc.disable()
