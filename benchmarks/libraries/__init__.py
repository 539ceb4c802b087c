"""The libraries that are compared: one module each, with exactly three public names.

``label``
    The name and version to print.
``prepare(track_input)``
    Whatever may be done once. Reading the run and the judgments is not part of it.
``evaluate(prepared)``
    What is timed: from dicts and lists of Python, from arrays, files or tables to the mean of each
    metric, keyed by rankmeter's name of it. Where one call a query is asked for, the value of each
    query, in a list; on the track ``drop-in`` a dict a query. Where runs are compared, the
    difference and the p of each metric.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast

from benchmarks.arrays import ArrayInput
from benchmarks.comparisons import CompareInput
from benchmarks.data import TrackInput
from benchmarks.drop_in import PerQuery
from benchmarks.files import FileInput
from benchmarks.fusions import FusionInput

AnyInput = TrackInput | ArrayInput | FileInput | FusionInput | CompareInput
Means = dict[str, float] | list[float] | PerQuery | None


class Library(Protocol):
    """The face of a module in this package."""

    label: str

    def prepare(self, track_input: AnyInput, /) -> Any: ...

    def evaluate(self, prepared: Any, /) -> Means: ...


def load(name: str) -> Library:
    """Import the module of this name.

    ModuleNotFoundError where the library is not installed; MissingError where a module knows
    better what is missing.
    """
    return cast(Library, importlib.import_module(f"{__name__}.{name}"))
