"""The doors for arrays, as Python sees them."""

from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from rankmeter._core.driver import Metrics

_Problem: TypeAlias = tuple[str, int, int, int, Any]

NAMES: dict[int, str]

@disjoint_base
class Rows:
    def __new__(cls, array: Any, indptr: npt.NDArray[np.int64] | None = None) -> Self: ...
    @property
    def count(self) -> int: ...

@disjoint_base
class Judgments:
    def __new__(cls, columns: Rows, grades: Rows, n_columns: int) -> Self: ...

def evaluate_scores(
    metrics: Metrics,
    scores: Rows,
    labels: Rows | None,
    judgments: Judgments | None,
    mask: Rows | None,
    expected: bool,
    begin: int,
    end: int,
    values: npt.NDArray[np.float64],
    answerable: npt.NDArray[np.uint8],
) -> _Problem | None: ...
def evaluate_rankings(
    metrics: Metrics,
    rankings: Rows,
    judgments: Judgments,
    pad: int,
    begin: int,
    end: int,
    values: npt.NDArray[np.float64],
    answerable: npt.NDArray[np.uint8],
) -> _Problem | None: ...
def evaluate_grades(
    metrics: Metrics,
    grades: Rows,
    ideal: Rows | None,
    begin: int,
    end: int,
    values: npt.NDArray[np.float64],
    answerable: npt.NDArray[np.uint8],
) -> _Problem | None: ...
