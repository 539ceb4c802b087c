"""Rows of arrays, as Python sees them."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

NAMES: dict[int, str]

@disjoint_base
class ArrayRows:
    def __new__(cls, array: Any, indptr: npt.NDArray[np.int64] | None = None) -> Self: ...
    @property
    def count(self) -> int: ...
