"""Scores brought to one scale: nothing for Python."""
