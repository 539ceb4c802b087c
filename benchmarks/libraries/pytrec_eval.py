"""pytrec_eval (the maintained build, pytrec-eval-terrier): trec_eval behind a Python face."""

from __future__ import annotations

from importlib.metadata import version
from statistics import fmean
from typing import Any

import pytrec_eval

from benchmarks import drop_in
from benchmarks.data import TrackInput
from benchmarks.files import FileInput
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


def prepare(track_input: TrackInput | FileInput) -> tuple[Any, dict[str, str]]:
    wanted = track_input.metrics
    measures = {
        name: theirs for name, theirs in _THEIRS.items() if name.partition("(")[0] in wanted
    }
    if track_input.kind == "prepared":
        return track_input._replace(qrels=_evaluator(track_input.qrels, measures)), measures
    return track_input, measures


def evaluate(prepared: tuple[Any, dict[str, str]]) -> dict[str, float] | drop_in.PerQuery:
    track_input, measures = prepared
    if track_input.metrics == drop_in.MEASURES:
        return drop_in.evaluate(pytrec_eval, track_input)
    if isinstance(track_input, FileInput):
        with track_input.qrels.open() as qrels_file, track_input.run.open() as run_file:
            qrels, run = pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
    else:
        qrels, run = track_input.qrels, run_with_scores(track_input)
    evaluator = qrels if track_input.kind == "prepared" else _evaluator(qrels, measures)
    if track_input.kind == "preparing":
        return {}
    rows = evaluator.evaluate(run).values()
    return {name: fmean([row[theirs] for row in rows]) for name, theirs in measures.items()}


def _evaluator(qrels: Any, measures: dict[str, str]) -> Any:
    return pytrec_eval.RelevanceEvaluator(qrels, set(measures.values()))
