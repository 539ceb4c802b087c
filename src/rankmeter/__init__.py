"""Retrieval metrics at the speed of reading the input."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from rankmeter.fusion import fuse
    from rankmeter.risk import RiskCoverage, risk_coverage
    from rankmeter.sweeping import Fold, Sweep, sweep

__all__ = [
    "Bounds",
    "Coverage",
    "Evaluation",
    "Evaluator",
    "Fold",
    "Metric",
    "RiskCoverage",
    "Sweep",
    "average_precision",
    "concat",
    "evaluate",
    "evaluate_grades",
    "evaluate_rankings",
    "evaluate_scores",
    "fuse",
    "hit_at_k",
    "ndcg_at_k",
    "parse",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
    "retrieval_metrics",
    "risk_coverage",
    "sweep",
    "write_qrels",
    "write_run",
]

_LATER = {  # not everybody needs them
    "Fold": "rankmeter.sweeping",
    "RiskCoverage": "rankmeter.risk",
    "Sweep": "rankmeter.sweeping",
    "fuse": "rankmeter.fusion",
    "risk_coverage": "rankmeter.risk",
    "sweep": "rankmeter.sweeping",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
