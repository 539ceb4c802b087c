"""The metrics: what one is, and the formulas."""
