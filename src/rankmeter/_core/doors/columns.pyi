"""The door for files and tables, as Python sees it."""

from typing import Self

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from rankmeter._core.doors.text_rows import TextRows
from rankmeter._core.driver import Metrics

@disjoint_base
class JudgedRows:
    def __new__(cls, rows: TextRows, metrics: Metrics) -> Self: ...
    @property
    def usual(self) -> bool: ...
    @property
    def queries(self) -> tuple[str, ...]: ...
    def score_missing(
        self, values: npt.NDArray[np.float64], retrieved: npt.NDArray[np.uint8]
    ) -> None: ...
    def mark_answerable(self, answerable: npt.NDArray[np.uint8]) -> None: ...
    def mapping(self) -> dict[str, dict[str, float]]: ...
    def evaluate(
        self,
        rows: TextRows,
        ties: str,
        values: npt.NDArray[np.float64],
        retrieved: npt.NDArray[np.uint8],
        unjudged: list[str],
        lost: list[tuple[str, str, str]] | None = None,
    ) -> bool: ...
