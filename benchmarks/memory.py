"""How much a process grows while it works.

``resident_bytes`` is the highest resident size during the call, less the size just before it.
Linux keeps that high-water mark (``VmHWM``) and lets a process lower it to its present size by
writing 5 to ``/proc/self/clear_refs``. Where that cannot be done, the growth of ``ru_maxrss`` is
taken; it sees only what goes beyond the highest size so far, and so may be too low.

``traced_bytes`` is the peak that ``tracemalloc`` sees in a second call: Python objects, numpy
arrays and whatever else is allocated through Python, but not the ``malloc`` of a C extension.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")


def peak_growth(call: Callable[[], object]) -> dict[str, Any]:
    """Measure both, and say how the first one was measured."""
    gc.collect()
    resident, method = _resident_growth(call)
    gc.collect()
    return {"resident_bytes": resident, "method": method, "traced_bytes": _traced_growth(call)}


def _resident_growth(call: Callable[[], object]) -> tuple[int | None, str]:
    try:
        _CLEAR_REFS.write_text("5")
        before = _high_water_mark()
    except OSError:
        return _growth_beyond_the_highest(call)
    call()
    return _high_water_mark() - before, "VmHWM, reset before the call"


def _high_water_mark() -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{_STATUS} has no VmHWM")


def _growth_beyond_the_highest(call: Callable[[], object]) -> tuple[int | None, str]:
    if sys.platform == "win32":
        return None, "not measured"
    from resource import RUSAGE_SELF, getrusage

    unit = 1 if sys.platform == "darwin" else 1024
    before = getrusage(RUSAGE_SELF).ru_maxrss
    call()
    return (getrusage(RUSAGE_SELF).ru_maxrss - before) * unit, "ru_maxrss, may be too low"


def _traced_growth(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
