"""What a terminal sees."""
