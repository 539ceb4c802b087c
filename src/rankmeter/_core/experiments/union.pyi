"""One query in several runs, as Python sees it."""

from typing import Any, Self

from typing_extensions import disjoint_base

SCALES: dict[str | None, int]

@disjoint_base
class Union:
    def __new__(cls, names: tuple[Any, ...], scale: str | None, k: float) -> Self: ...
