"""Random signs and random samples, as Python sees them."""

import numpy as np
import numpy.typing as npt

LANES: int
MOST_EXACT: int
ROWS_A_WORD: int
WIDE: int

def flip_signs(
    differences: npt.NDArray[np.int64],
    thresholds: npt.NDArray[np.int64],
    begin: int,
    end: int,
    seed: int,
) -> list[int]: ...
def flip_all_signs(differences: npt.NDArray[np.int64], threshold: int) -> int: ...
def bootstrap_sums(
    values: npt.NDArray[np.float64],
    begin: int,
    end: int,
    seed: int,
    sums: npt.NDArray[np.float64],
) -> None: ...
