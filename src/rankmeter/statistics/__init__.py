"""Numbers about numbers, and nothing of retrieval."""
