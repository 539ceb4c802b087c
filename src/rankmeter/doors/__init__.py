"""From what callers hold to what the core reads."""
