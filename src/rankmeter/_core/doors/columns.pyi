"""The door for files and tables, as Python sees it."""

from typing import Self

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from rankmeter._core.driver import Metrics

LONGEST_LINE: int

@disjoint_base
class Rows:
    @staticmethod
    def of_lines(
        text: npt.NDArray[np.uint8],
        length: int,
        *,
        ignored_second: bool,
        has_rank: bool,
        more: bool,
        ranked: bool,
    ) -> Rows: ...
    @staticmethod
    def of_columns(
        query_offsets: npt.NDArray[np.int64],
        query_bytes: npt.NDArray[np.uint8],
        document_offsets: npt.NDArray[np.int64],
        document_bytes: npt.NDArray[np.uint8],
        numbers: npt.NDArray[np.float64],
    ) -> Rows: ...
    def border(self, row: int, backwards: bool = False) -> int: ...

@disjoint_base
class Columns:
    def __new__(cls, rows: Rows, metrics: Metrics) -> Self: ...
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
        rows: Rows,
        ties: str,
        values: npt.NDArray[np.float64],
        retrieved: npt.NDArray[np.uint8],
        unjudged: list[str],
        lost: list[tuple[str, str, str]] | None = None,
    ) -> bool: ...

def last_query(text: npt.NDArray[np.uint8], length: int) -> int: ...
def number_of(text: bytes) -> float | None: ...
