"""What scoring a run fills in, for every query of the judgments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_FOUND = 2  # of the marks of a query: a relevant document was found


class Scored(NamedTuple):
    """What is computed of a run.

    Attributes
    ----------
    filled : array
        float64, 3 x queries x metrics: the values, and the lowest and the highest that an order of
        equal scores can give. The core writes into it.
    marks : array
        uint8, of each query: whether the run holds it, and whether it was found a relevant
        document.
    unjudged : list
        Queries of the run without judgments.
    lost : list
        Examples of what was not found: a query, one of its relevant documents, and one that the run
        has for it.
    numbers : list of int or None
        Which queries the rows stand for, by their place in the judgments, ascending. None: all.
    """

    filled: npt.NDArray[np.float64]
    marks: npt.NDArray[np.uint8]
    unjudged: list[Any]
    lost: list[tuple[Any, Any, Any]]
    numbers: list[int] | None = None

    @classmethod
    def empty(cls, queries: int, metrics: int, numbers: list[int] | None = None) -> Scored:
        """Return what a run without any query scores."""
        if numbers is not None:
            queries = len(numbers)
        marks = np.zeros(queries, np.uint8)
        return cls(np.zeros((3, queries, metrics)), marks, [], [], numbers)

    def clear(self) -> None:
        """Forget everything."""
        self.filled[:] = self.marks[:] = 0
        self.unjudged.clear()
        self.lost.clear()

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The values, queries x metrics."""
        values: npt.NDArray[np.float64] = self.filled[0]
        return values

    @property
    def retrieved(self) -> npt.NDArray[np.bool_]:
        """Which queries the run holds."""
        retrieved: npt.NDArray[np.bool_] = self.marks != 0
        return retrieved

    @property
    def found(self) -> bool:
        """Whether a relevant document was found, for some query."""
        return bool((self.marks & _FOUND).any())
