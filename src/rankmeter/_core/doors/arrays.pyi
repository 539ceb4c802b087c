"""The doors for arrays, as Python sees them."""

from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from rankmeter._core.doors.array_rows import ArrayRows
from rankmeter._core.driver import Metrics

_Problem: TypeAlias = tuple[str, int, int, int, Any]

@disjoint_base
class JudgedArrays:
    def __new__(cls, columns: ArrayRows, grades: ArrayRows, n_columns: int) -> Self: ...

def evaluate_scores(
    metrics: Metrics,
    scores: ArrayRows,
    labels: ArrayRows | None,
    judgments: JudgedArrays | None,
    mask: ArrayRows | None,
    expected: bool,
    begin: int,
    end: int,
    values: npt.NDArray[np.float64],
    answerable: npt.NDArray[np.uint8],
) -> _Problem | None: ...
def evaluate_rankings(
    metrics: Metrics,
    rankings: ArrayRows,
    judgments: JudgedArrays,
    pad: int,
    begin: int,
    end: int,
    values: npt.NDArray[np.float64],
    answerable: npt.NDArray[np.uint8],
) -> _Problem | None: ...
def evaluate_grades(
    metrics: Metrics,
    grades: ArrayRows,
    ideal: ArrayRows | None,
    begin: int,
    end: int,
    values: npt.NDArray[np.float64],
    answerable: npt.NDArray[np.uint8],
) -> _Problem | None: ...
