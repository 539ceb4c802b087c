"""The metrics that there are: a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rankmeter._core.driver import METRICS as _ROWS
from rankmeter._core.metrics.rows import MetricRow

METRICS: Mapping[str, MetricRow] = MappingProxyType({row.name: row for row in _ROWS})
"""Every metric, by name."""

LEAST = 0.00001
"""What lower values count as in a geometric mean, as trec_eval has it."""
