"""The door for files, as Python sees it."""

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

from rankmeter._core.kernels import Metrics

@disjoint_base
class Columns:
    def __new__(cls, text: bytes, metrics: Metrics) -> Self: ...
    @property
    def usual(self) -> bool: ...
    @property
    def queries(self) -> tuple[bytes, ...]: ...
    def mark_answerable(self, answerable: npt.NDArray[np.uint8]) -> None: ...
    def evaluate(
        self,
        text: npt.NDArray[np.uint8],
        length: int,
        ties: str,
        values: npt.NDArray[np.float64],
        retrieved: npt.NDArray[np.uint8],
        unjudged: list[bytes],
    ) -> bool: ...

def last_query(text: npt.NDArray[np.uint8], length: int) -> int: ...
def number_of(text: bytes) -> float | None: ...
