"""What comes out of scoring."""
