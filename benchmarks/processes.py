"""Start the workers and talk to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent

# One thread each, and the same hashes of strings, so that every process has the same dicts.
ENVIRONMENT = {
    **os.environ,
    "PYTHONHASHSEED": "0",
    "PYTHONWARNINGS": "ignore",
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
}


class MissingError(Exception):
    """A library cannot be imported here; says what to do or what is not installed."""


class WorkerProcess:
    """A running worker, until it is closed."""

    def __init__(self, library: str) -> None:
        self.library = library
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=PROJECT,
            env=ENVIRONMENT,
            encoding="utf-8",
        )
        try:
            hello = self._read()
            if "missing" in hello:
                raise MissingError(f"{library}: skipped, {hello['missing']}")
        except BaseException:
            self.close()
            raise
        self.label: str = hello["label"]

    def ask(self, action: str, **arguments: Any) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        assert self._process.stdin is not None
        print(json.dumps({"do": action, **arguments}), file=self._process.stdin, flush=True)
        return self._read()

    def close(self) -> None:
        """Let the worker end and wait for it."""
        self._process.communicate()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker of {self.library} ended; its error is above")
        answer: dict[str, Any] = json.loads(line)
        return answer
