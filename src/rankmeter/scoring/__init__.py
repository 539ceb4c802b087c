"""From judgments and a run to an evaluation."""
