"""What goes out, as files and as tables."""
