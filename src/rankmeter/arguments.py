"""Arguments that are refused the same way everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from rankmeter._core.ids import is_number


def check_mapping(name: str, what: str, given: Any) -> None:
    """Refuse what is not a mapping; `what` says from what to what one is."""
    if not hasattr(given, "items") or not hasattr(given, "keys"):
        hint = ": pass its .collect()" if hasattr(given, "collect") else ""  # polars' LazyFrame
        raise TypeError(f"{name} must be a mapping from {what}, not {type(given).__name__}{hint}")


def check_word(name: str, given: Any, words: Sequence[str]) -> None:
    """Refuse what is not one of the words."""
    if given not in words:
        listed = ", ".join(map(repr, words[:-1]))
        raise ValueError(f"{name} must be {listed} or {words[-1]!r}, not {given!r}")


def check_share(name: str, given: Any) -> None:
    """Refuse what does not lie between 0 and 1."""
    if isinstance(given, bool) or not isinstance(given, (int, float, np.number)):
        raise TypeError(f"{name} must be a number, not {given!r}")
    if not 0.0 < given < 1.0 or (1.0 + float(given)) / 2.0 == 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, not {given!r}")


def check_number(name: str, given: Any) -> float:
    """Return a finite number as a double, or refuse it."""
    if isinstance(given, bool) or not is_number(given):
        raise TypeError(f"{name} must be a number, not {given!r}")
    try:
        number = float(given)
    except TypeError:
        raise TypeError(f"{name} must be a number, not {given!r}") from None
    except (OverflowError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, not {given!r}")
    return number


def check_draws(draws: Any, seed: Any) -> tuple[int, int]:
    """Return both as integers, or refuse them."""
    for name, given in (("draws", draws), ("seed", seed)):
        if isinstance(given, bool) or not hasattr(given, "__index__"):
            raise TypeError(f"{name} must be an integer, not {given!r}")
    if index(draws) < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    if not 0 <= index(seed) < 2**64:
        raise ValueError(f"seed must be from 0 to 2^64 - 1, not {seed}")
    return index(draws), index(seed)


def require(module: str, extra: str) -> Any:
    """Import what an extra brings; say what to install where it is not there."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"this needs {module}: pip install 'rankmeter[{extra}]'") from error
