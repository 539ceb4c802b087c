"""Run the tracks and collect the raw numbers, as plain data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from benchmarks.check import check_means
from benchmarks.imports import import_seconds
from benchmarks.processes import MissingError, WorkerProcess
from benchmarks.tracks import (
    IMPORT,
    MEMORY_TRACK,
    SPEED_TRACK,
    SPEED_TRACKS,
    MemoryTrack,
    Track,
)

_LIBRARIES = {
    **{track.name: track.libraries for track in SPEED_TRACKS},
    **{name: track.libraries for name, track in MEMORY_TRACK.items()},
    IMPORT: ("rankmeter",),
}


def measure(
    tracks: Sequence[str], libraries: Sequence[str], *, rounds: int, quick: bool
) -> dict[str, Any]:
    """Measure the tracks in turn; progress goes to the standard error."""
    present = [
        name
        for name in libraries
        if any(name in _LIBRARIES[track] for track in tracks)
        and _is_present(name, warm_up=not quick)
    ]
    measured: dict[str, Any] = {}
    for name in tracks:
        taking_part = [library for library in _LIBRARIES[name] if library in present]
        if not taking_part or _lacks_a_module(name):
            continue
        _say(f"track {name}")
        if name == IMPORT:
            measured[name] = _measure_import(rounds)
        elif name in MEMORY_TRACK:
            measured[name] = _measure_memory(MEMORY_TRACK[name], taking_part, quick=quick)
        else:
            track = SPEED_TRACK[name]
            measured[name] = _measure_speed(track, taking_part, rounds=rounds, quick=quick)
    return measured


def _is_present(library: str, *, warm_up: bool) -> bool:
    try:
        with closing(WorkerProcess(library)) as worker:
            if warm_up:
                # Compiled code that is kept on disk is made once a machine, not once a process:
                # the first call that is measured must find it there.
                _say(f"{worker.label}: warming up")
                first = next(track for track in SPEED_TRACKS if library in track.libraries)
                worker.ask("load", track=first.name, quick=True)
    except MissingError as reason:
        _say(str(reason))
        return False
    return True


def _lacks_a_module(track: str) -> bool:
    needs = SPEED_TRACK[track].needs if track in SPEED_TRACK else ()
    missing = next((module for module in needs if find_spec(module) is None), None)
    if missing is not None:
        _say(f"track {track}: skipped, {missing} is not installed")
    return missing is not None


def _measure_speed(
    track: Track, libraries: Sequence[str], *, rounds: int, quick: bool
) -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {}
    with ExitStack() as stack:
        # Fresh ones for each track: memory that was used before is laid out worse.
        workers: dict[str, WorkerProcess] = {}
        takes_part = "rankmeter" in libraries
        others = track.beside("times the track", "times the same in") if takes_part else ()
        for name in (*libraries, *others):
            library, input_of = ("rankmeter", name) if name in others else (name, track.name)
            workers[name] = worker = stack.enter_context(closing(WorkerProcess(library)))
            loaded = worker.ask("load", track=input_of, quick=quick)
            label = f"{worker.label}, {name}" if name in others else worker.label
            rows[name] = {"label": label, **loaded, "seconds": [], "floor_seconds": []}
        comparable = {*libraries, *track.beside("times the same in")}
        check_means({name: row["means"] for name, row in rows.items() if name in comparable})
        for _ in range(rounds):
            for name, worker in workers.items():
                for kind, seconds in worker.ask("sample").items():
                    rows[name][kind].append(seconds)
    return {
        "title": track.title,
        "description": track.describe(quick=quick),
        "floor": track.floor,
        "timed_by": track.timed_by,
        "shape": track.shape_for(quick=quick)._asdict(),
        "metrics": track.metrics,
        "libraries": rows,
    }


def _measure_import(rounds: int) -> dict[str, Any]:
    return {
        "title": IMPORT,
        "description": f"{IMPORT}: each in interpreters started for it alone",
        "libraries": {
            module: {"label": f"{module} {version(module)}", "seconds": seconds}
            for module, seconds in import_seconds(("rankmeter", "numpy"), rounds).items()
        },
    }


def _measure_memory(track: MemoryTrack, libraries: Sequence[str], *, quick: bool) -> dict[str, Any]:
    rows = {}
    for library in libraries:
        with closing(WorkerProcess(library)) as worker:
            rows[library] = {
                "label": worker.label,
                **worker.ask("memory", track=track.name, quick=quick),
            }
    return {
        "title": track.name,
        "description": (
            f"{track.name}: peak growth over the input while evaluating "
            f"{track.input.describe(quick=quick)}"
        ),
        "libraries": rows,
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
