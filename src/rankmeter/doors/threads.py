"""Threads that wait for the next call, for the doors that do not hold the GIL."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

MOST = 256  # in the pool
LEAST_WORK = 1 << 15  # numbers that are worth a thread


@cache
def pool() -> ThreadPoolExecutor:
    """Return the threads; to start them for each call would cost more than a small call."""
    from concurrent.futures import ThreadPoolExecutor  # costs as much as all of this package

    return ThreadPoolExecutor(MOST, thread_name_prefix="rankmeter")


if hasattr(os, "register_at_fork"):  # a forked process has none of them
    os.register_at_fork(after_in_child=pool.cache_clear)


def count_processors() -> int:
    """Return on how many processors this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count_usable(threads: Any, work: int | None = None) -> int:
    """Return how many of the threads can help, or raise TypeError or ValueError for what is none.

    Work is split into as many pieces, and a piece for which no processor is free only costs, as
    does one that is too small. `work`: how many numbers are read, if that is known.
    """
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)):
        raise TypeError(f"threads must be an integer, not {threads!r}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    if threads == 1:  # a small call would feel that the system is asked
        return 1
    pieces = MOST if work is None else max(1, work // LEAST_WORK)
    return min(int(threads), count_processors(), MOST, pieces)
