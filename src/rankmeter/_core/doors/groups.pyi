"""Rows of equal ids brought together, as Python sees it."""

from typing import Any

import numpy as np
import numpy.typing as npt

def number_ids(ids: list[Any], numbers: npt.NDArray[np.int64]) -> list[Any]: ...
def number_integers(ids: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> int: ...
def sort_numbers(
    numbers: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
) -> None: ...
