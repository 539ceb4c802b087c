"""The door for dicts and lists, as Python sees it."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from rankmeter._core.driver import Metrics
from rankmeter._core.metrics.rows import MetricRow

@disjoint_base
class JudgedMappings:
    def __new__(
        cls,
        qrels: Mapping[Any, Mapping[Any, Any]],
        metrics: Metrics,
        *,
        keep_all: bool = False,
        integers: bool = False,
    ) -> Self: ...
    @property
    def queries(self) -> tuple[Any, ...]: ...
    def evaluate(
        self,
        run: dict[Any, Any],
        ties: str,
        duplicates: str,
        values: npt.NDArray[np.float64],
        retrieved: npt.NDArray[np.uint8],
        lost: list[tuple[Any, Any, Any]] | None = None,
        numbers: list[int] | None = None,
    ) -> None: ...
    def numbers_of(self, run: dict[Any, Any]) -> list[int]: ...
    def unjudged(self, run: dict[Any, Any]) -> list[Any]: ...
    def judged(self, i: int) -> tuple[list[Any], list[float]]: ...
    def describe(
        self, i: int, ranking: Any, ties: str = "docid", duplicates: str = "error"
    ) -> dict[str, Any]: ...
    def score_missing(
        self, values: npt.NDArray[np.float64], retrieved: npt.NDArray[np.uint8]
    ) -> None: ...
    def mark_answerable(self, answerable: npt.NDArray[np.uint8]) -> None: ...

def score_one(
    row: MetricRow,
    ranked: Any,
    qrels: Mapping[Any, Any],
    k: int | None,
    rel: float,
    gain: str | Mapping[Any, Any],
    discount: str,
    duplicates: str,
) -> float: ...
def score_all(
    metrics: Metrics, ranked: Any, qrels: Mapping[Any, Any], duplicates: str
) -> list[float]: ...
