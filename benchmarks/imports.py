"""How long an import takes, in interpreters started for it alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory

from benchmarks.processes import ENVIRONMENT

# Timed inside, so that the start of the interpreter does not flatter a ratio.
_CODE = """
from time import perf_counter
start = perf_counter()
import {module}
print(perf_counter() - start)
"""


def import_seconds(modules: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Import the modules in turn, round after round, each in a fresh process."""
    with TemporaryDirectory() as nowhere:
        for module in modules:
            _import_once(module, nowhere)  # fills the disk cache
        seconds: dict[str, list[float]] = {module: [] for module in modules}
        for _ in range(rounds):
            for module in modules:
                seconds[module].append(_import_once(module, nowhere))
    return seconds


def _import_once(module: str, folder: str) -> float:
    # From an empty folder, so that what is imported is what is installed.
    command = [sys.executable, "-c", _CODE.format(module=module)]
    return float(subprocess.check_output(command, cwd=folder, env=ENVIRONMENT, text=True))
