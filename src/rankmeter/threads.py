"""Threads that wait for the next call, for the doors that do not hold the GIL."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

MOST = 256


@cache
def pool() -> ThreadPoolExecutor:
    """Return the threads; to start them for each call would cost more than a small call."""
    from concurrent.futures import ThreadPoolExecutor  # costs as much as all of this package

    return ThreadPoolExecutor(MOST, thread_name_prefix="rankmeter")


if hasattr(os, "register_at_fork"):  # a forked process has none of them
    os.register_at_fork(after_in_child=pool.cache_clear)


def checked(threads: Any) -> int:
    """Return the number, or raise TypeError or ValueError for what is none."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)):
        raise TypeError(f"threads must be an integer, not {threads!r}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return int(threads)
