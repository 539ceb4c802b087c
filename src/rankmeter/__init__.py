"""Retrieval metrics at the speed of reading the input."""

from typing import TYPE_CHECKING, Any

from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import parse
from rankmeter.results.coverage import Coverage
from rankmeter.results.evaluation import Bounds, Evaluation, concat
from rankmeter.scoring.evaluator import Evaluator, evaluate
from rankmeter.scoring.single import (
    average_precision,
    hit_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
    retrieval_metrics,
)

if TYPE_CHECKING:
    from rankmeter.experiments.compare import compare
    from rankmeter.experiments.comparison import Comparison
    from rankmeter.experiments.fuse import fuse
    from rankmeter.experiments.intervals import Intervals, intervals
    from rankmeter.experiments.resolution import Resolution, resolution
    from rankmeter.experiments.risk import RiskCoverage, risk_coverage
    from rankmeter.experiments.sweep import Fold, Sweep, sweep
    from rankmeter.scoring.arrays import evaluate_grades, evaluate_rankings, evaluate_scores
    from rankmeter.writers.run_files import write_qrels, write_run

# What not everybody needs is imported when it is first asked for. No module may have the name of
# what is asked for here: importing it would put the module in that place.
_LATER = {
    "Comparison": "experiments.comparison",
    "Fold": "experiments.sweep",
    "Intervals": "experiments.intervals",
    "Resolution": "experiments.resolution",
    "RiskCoverage": "experiments.risk",
    "Sweep": "experiments.sweep",
    # What these hold, under names that pickles may keep.
    "Detectable": "experiments.resolution",
    "Difference": "experiments.comparison",
    "Interval": "experiments.intervals",
    "Settings": "experiments.comparison",
    "compare": "experiments.compare",
    "evaluate_grades": "scoring.arrays",
    "evaluate_rankings": "scoring.arrays",
    "evaluate_scores": "scoring.arrays",
    "fuse": "experiments.fuse",
    "intervals": "experiments.intervals",
    "resolution": "experiments.resolution",
    "risk_coverage": "experiments.risk",
    "sweep": "experiments.sweep",
    "write_qrels": "writers.run_files",
    "write_run": "writers.run_files",
}

__all__ = [
    "Bounds",
    "Comparison",
    "Coverage",
    "Evaluation",
    "Evaluator",
    "Fold",
    "Intervals",
    "Metric",
    "Resolution",
    "RiskCoverage",
    "Sweep",
    "average_precision",
    "compare",
    "concat",
    "evaluate",
    "evaluate_grades",
    "evaluate_rankings",
    "evaluate_scores",
    "fuse",
    "hit_at_k",
    "intervals",
    "ndcg_at_k",
    "parse",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
    "resolution",
    "retrieval_metrics",
    "risk_coverage",
    "sweep",
    "write_qrels",
    "write_run",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
