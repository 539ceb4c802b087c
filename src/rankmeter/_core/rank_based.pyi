"""Rows of metrics, as Python sees them."""

from rankmeter._core.rows import Row

ROWS: tuple[Row, ...]
