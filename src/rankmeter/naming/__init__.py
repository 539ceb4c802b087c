"""What a metric is called."""
