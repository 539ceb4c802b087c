"""Correctly rounded constants; nothing of them is visible from Python."""
