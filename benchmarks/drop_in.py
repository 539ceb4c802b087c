"""The measures of BEIR by the calls of pytrec_eval, which return a dict a query."""

from __future__ import annotations

from types import ModuleType

from benchmarks.data import TrackInput

PerQuery = dict[str, dict[str, float]]

MEASURES = tuple(f"{name}.1,3,5,10,100,1000" for name in ("ndcg_cut", "map_cut", "recall", "P"))


def evaluate(pytrec_eval: ModuleType, track_input: TrackInput) -> PerQuery:
    """Do what BEIR does, up to the dicts of the queries."""
    evaluator = pytrec_eval.RelevanceEvaluator(track_input.qrels, set(MEASURES))
    values: PerQuery = evaluator.evaluate(track_input.scored)
    return values
