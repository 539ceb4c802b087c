"""Correctly rounded constants and sums; of these, Python sees the sums."""

import numpy as np
import numpy.typing as npt

def exact_sums(values: npt.NDArray[np.float64]) -> list[float]: ...
def geometric_means(values: npt.NDArray[np.float64], least: float) -> list[float]: ...
