"""Ranks from scores; nothing of it is visible from Python."""
