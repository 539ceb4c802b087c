"""pytrec_eval (the maintained build, pytrec-eval-terrier): trec_eval behind a Python face."""

from __future__ import annotations

from importlib.metadata import version
from statistics import fmean

import pytrec_eval

from benchmarks import drop_in
from benchmarks.data import TrackInput
from benchmarks.scores_for_lists import run_with_scores

label = f"pytrec-eval-terrier {version('pytrec-eval-terrier')}"

_THEIRS = {
    "ndcg@10(gain=linear)": "ndcg_cut_10",  # trec_eval has no other gain
    "map": "map",
    "map@10": "map_cut_10",
    "mrr": "recip_rank",
    "mrr@10": "recip_rank",  # has no cut-off, but is only asked for where the run is cut at 10
    "recall@10": "recall_10",
    "precision@10": "P_10",
    "hit@10": "success_10",
}


def prepare(track_input: TrackInput) -> tuple[TrackInput, dict[str, str]]:
    wanted = track_input.metrics
    return track_input, {
        name: theirs for name, theirs in _THEIRS.items() if name.partition("(")[0] in wanted
    }


def evaluate(prepared: tuple[TrackInput, dict[str, str]]) -> dict[str, float] | drop_in.PerQuery:
    track_input, measures = prepared
    if track_input.metrics == drop_in.MEASURES:
        return drop_in.evaluate(pytrec_eval, track_input)
    evaluator = pytrec_eval.RelevanceEvaluator(track_input.qrels, set(measures.values()))
    rows = evaluator.evaluate(run_with_scores(track_input)).values()
    return {name: fmean([row[theirs] for row in rows]) for name, theirs in measures.items()}
