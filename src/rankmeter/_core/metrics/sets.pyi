"""Rows of metrics, as Python sees them."""

from rankmeter._core.metrics.rows import Row

ROWS: tuple[Row, ...]
