"""What evaluations say together."""
