"""Rows of metrics, as Python sees them."""

from rankmeter._core.metrics.rows import MetricRow

ROWS: tuple[MetricRow, ...]
