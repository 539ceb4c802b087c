"""From what callers hold to the record of each query."""
