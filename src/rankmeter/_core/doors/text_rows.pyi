"""Rows of files and tables, as Python sees them."""

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

LONGEST_LINE: int

@disjoint_base
class TextRows:
    @staticmethod
    def of_lines(
        text: npt.NDArray[np.uint8],
        length: int,
        *,
        ignored_second: bool,
        has_rank: bool,
        more: bool,
        ranked: bool,
    ) -> TextRows: ...
    @staticmethod
    def of_columns(
        query_offsets: npt.NDArray[np.int64],
        query_bytes: npt.NDArray[np.uint8],
        document_offsets: npt.NDArray[np.int64],
        document_bytes: npt.NDArray[np.uint8],
        numbers: npt.NDArray[np.float64],
    ) -> TextRows: ...
    def in_order(self) -> TextRows | None: ...
    def border(self, row: int, backwards: bool = False) -> int: ...

def last_query(text: npt.NDArray[np.uint8], length: int) -> int: ...
def number_of(text: bytes) -> float | None: ...
