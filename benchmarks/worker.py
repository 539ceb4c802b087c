"""The process of one library on one track: reads requests, answers each with one line of JSON.

It is started by ``processes.py``. One sample times the floor and the library right after one
another, so that their ratio is not disturbed by what the machine does between two processes.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TextIO

from benchmarks.arrays import ArrayShape, make_array_input
from benchmarks.comparisons import CompareShape, make_compare_input
from benchmarks.data import make_track_input
from benchmarks.files import FileShape, make_file_input
from benchmarks.fusions import FusionShape, make_fusion_input
from benchmarks.libraries import AnyInput, Library, Means, floor, load
from benchmarks.memory import peak_growth
from benchmarks.processes import MissingError
from benchmarks.tracks import MEMORY_TRACK, SPEED_TRACK, Track

SECONDS_A_SAMPLE = 0.05


class Worker:
    """A library, a folder for files, and the calls that a sample times: the floor's and its own."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library = library
        self.folder = folder
        self.pairs: list[tuple[Callable[[Any], object], Any, int]] = []

    def load(self, track: str, *, quick: bool) -> dict[str, Any]:
        """Make the input of a track, evaluate it once, and see how long that takes."""
        track_input = self.make_input(SPEED_TRACK[track], quick=quick)
        prepared = self.library.prepare(track_input)
        start = perf_counter()
        result = self.library.evaluate(prepared)
        first = perf_counter() - start
        for side, argument in ((floor, floor.prepare(track_input)), (self.library, prepared)):
            estimate = seconds_a_call(side.evaluate, argument, 1)
            self.pairs.append((side.evaluate, argument, max(1, round(SECONDS_A_SAMPLE / estimate))))
        return {"means": by_metric(result), "first_call_seconds": first}

    def sample(self) -> dict[str, Any]:
        """Time the floor, then the library."""
        floor_seconds, seconds = (seconds_a_call(*pair) for pair in self.pairs)
        return {"floor_seconds": floor_seconds, "seconds": seconds}

    def memory(self, track: str, *, quick: bool) -> dict[str, Any]:
        """Measure by how much the process grows while it evaluates."""
        # What is loaded at the first call only (code, compiled or not) is not what we ask about.
        measured = MEMORY_TRACK[track].input
        small = self.make_input(measured, quick=True)
        self.library.evaluate(self.library.prepare(small))
        prepared = self.library.prepare(self.make_input(measured, quick=quick))
        return peak_growth(lambda: self.library.evaluate(prepared))

    def make_input(self, track: Track, *, quick: bool) -> AnyInput:
        """Make the input of whatever kind the track is."""
        shape = track.shape_for(quick=quick)
        if isinstance(shape, FileShape):
            return make_file_input(shape, track.metrics, self.folder)
        if isinstance(shape, FusionShape):
            return make_fusion_input(shape, track.metrics)
        if isinstance(shape, CompareShape):
            return make_compare_input(shape, track.metrics)
        if isinstance(shape, ArrayShape):
            return make_array_input(shape, track.metrics)
        return make_track_input(shape, track.metrics)


def seconds_a_call(function: Callable[[Any], object], argument: Any, calls: int) -> float:
    """Time some calls without a garbage collection in between."""
    gc.collect()
    gc.disable()
    try:
        start = perf_counter()
        for _ in range(calls):
            function(argument)
        return (perf_counter() - start) / calls
    finally:
        gc.enable()


def by_metric(result: Means) -> dict[str, float]:
    """Bring what a library returned to one shape. One call a query is made for nDCG only."""
    if not isinstance(result, dict):
        return {"ndcg@10": fmean(result or [])}
    means: dict[str, float] = {}
    for name, value in result.items():
        if not isinstance(value, dict):
            means[name] = value
            continue
        for measure, number in value.items():  # of one query
            means[measure] = means.get(measure, 0.0) + number / len(result)
    return means


def answer(worker: Worker, request: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked."""
    action = request.pop("do")
    if action == "load":
        return worker.load(**request)
    if action == "sample":
        return worker.sample()
    if action == "memory":
        return worker.memory(**request)
    raise ValueError(f"no such action: {action!r}")


def serve(name: str, requests: TextIO, replies: TextIO) -> None:
    """Say hello, or which module is missing, and answer until the requests end."""

    def reply(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=replies, flush=True)

    try:
        library = load(name)
    except ModuleNotFoundError as error:
        reply({"missing": f"{error.name} is not installed"})
        return
    except MissingError as error:
        reply({"missing": str(error)})
        return
    reply({"label": library.label})
    with TemporaryDirectory(prefix="rankmeter-benchmark-") as folder:
        worker = Worker(library, Path(folder))
        for line in requests:
            reply(answer(worker, json.loads(line)))


def main() -> None:
    """Keep the pipe for the replies alone: what a library prints goes to the errors."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, replies)


if __name__ == "__main__":
    main()
