"""The order of grades; nothing of it is visible from Python."""
