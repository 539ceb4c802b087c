"""What several runs or evaluations need together."""
