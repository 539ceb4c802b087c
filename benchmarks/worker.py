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
from statistics import fmean
from time import perf_counter
from typing import Any, TextIO

from benchmarks.arrays import ArrayInput, ArrayShape, make_array_input
from benchmarks.data import Shape, TrackInput, make_track_input
from benchmarks.libraries import Library, Means, floor, load
from benchmarks.memory import peak_growth
from benchmarks.tracks import MEMORY_INPUT, SPEED_TRACK

SECONDS_A_SAMPLE = 0.05


class Worker:
    """A library, and the calls that a sample times: the floor's and its own."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.pairs: list[tuple[Callable[[Any], object], Any, int]] = []

    def load(self, track: str, *, quick: bool) -> dict[str, Any]:
        """Make the input of a track, evaluate it once, and see how long that takes."""
        track_input = make_input(
            SPEED_TRACK[track].shape_for(quick=quick), SPEED_TRACK[track].metrics
        )
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

    def memory(self, *, quick: bool) -> dict[str, Any]:
        """Measure by how much the process grows while it evaluates."""
        # What is loaded at the first call only (code, compiled or not) is not what we ask about.
        small = make_input(MEMORY_INPUT.shape_for(quick=True), MEMORY_INPUT.metrics)
        self.library.evaluate(self.library.prepare(small))
        whole = make_input(MEMORY_INPUT.shape_for(quick=quick), MEMORY_INPUT.metrics)
        prepared = self.library.prepare(whole)
        return peak_growth(lambda: self.library.evaluate(prepared))


def make_input(shape: Shape | ArrayShape, metrics: tuple[str, ...]) -> TrackInput | ArrayInput:
    """Make the input of whatever kind the track is."""
    if isinstance(shape, ArrayShape):
        return make_array_input(shape, metrics)
    return make_track_input(shape, metrics)


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
    return result if isinstance(result, dict) else {"ndcg@10": fmean(result or [])}


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
        reply({"missing": error.name})
        return
    reply({"label": library.label})
    worker = Worker(library)
    for line in requests:
        reply(answer(worker, json.loads(line)))


def main() -> None:
    """Keep the pipe for the replies alone: what a library prints goes to the errors."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, replies)


if __name__ == "__main__":
    main()
