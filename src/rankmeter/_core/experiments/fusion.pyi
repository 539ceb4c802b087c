"""The fusion of runs, as Python sees it."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from rankmeter._core.driver import Metrics

def fuse(
    names: tuple[Any, ...],
    runs: list[dict[Any, Any]],
    weights: npt.NDArray[np.float64],
    scale: str | None,
    k: float,
    counted: bool,
    depth: int | None,
) -> dict[Any, dict[Any, float]]: ...

@disjoint_base
class Mixture:
    def __new__(
        cls,
        names: tuple[Any, ...],
        runs: list[dict[Any, Any]],
        scale: str | None,
        k: float,
        counted: bool,
        judgments: list[tuple[Any, dict[Any, Any]]],
        metrics: Metrics,
    ) -> Self: ...
    @property
    def retrieved(self) -> bytearray: ...
    def evaluate(
        self, weights: npt.NDArray[np.float64], values: npt.NDArray[np.float64]
    ) -> int: ...
