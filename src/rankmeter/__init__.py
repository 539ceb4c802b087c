"""Retrieval metrics at the speed of reading the input."""

from rankmeter.arrays import evaluate_grades, evaluate_rankings, evaluate_scores
from rankmeter.evaluation import Bounds, Coverage, Evaluation, Evaluator, concat, evaluate
from rankmeter.metrics import Metric, parse
from rankmeter.single import (
    average_precision,
    hit_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
    retrieval_metrics,
)
from rankmeter.writing import write_qrels, write_run

__all__ = [
    "Bounds",
    "Coverage",
    "Evaluation",
    "Evaluator",
    "Metric",
    "average_precision",
    "concat",
    "evaluate",
    "evaluate_grades",
    "evaluate_rankings",
    "evaluate_scores",
    "hit_at_k",
    "ndcg_at_k",
    "parse",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
    "retrieval_metrics",
    "write_qrels",
    "write_run",
]
