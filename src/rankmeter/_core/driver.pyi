"""The loop over metrics, as Python sees it."""

from typing import Any, Self, TypeAlias

from typing_extensions import disjoint_base

from rankmeter._core.metrics.rows import MetricRow

_Specification: TypeAlias = tuple[MetricRow, int | None, dict[str, Any]]

@disjoint_base
class Metrics:
    def __new__(cls, specifications: list[_Specification]) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def unexpected(self) -> tuple[str, ...]: ...

METRICS: tuple[MetricRow, ...]
