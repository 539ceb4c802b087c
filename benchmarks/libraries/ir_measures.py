"""ir-measures, with the providers that it chooses itself; a table becomes a pandas frame first."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import ir_measures
from ir_measures import AP, RR, P, R, Success, nDCG

from benchmarks.data import TrackInput
from benchmarks.files import FileInput
from benchmarks.scores_for_lists import run_with_scores

label = f"ir-measures {version('ir-measures')}"

_THEIRS: dict[str, Any] = {
    "ndcg@10(gain=linear)": nDCG @ 10,  # an exponential gain would cost it a second pass
    "map": AP,
    "map@10": AP @ 10,
    "mrr": RR,
    "mrr@10": RR,  # the run is cut at 10 where this is asked for; RR @ 10 is a slower provider's
    "recall@10": R @ 10,
    "precision@10": P @ 10,
    "hit@10": Success @ 10,
}


def prepare(track_input: TrackInput | FileInput) -> tuple[TrackInput | FileInput, dict[str, Any]]:
    wanted = track_input.metrics
    if isinstance(track_input, FileInput) and track_input.tables:
        qrels, run = (table.to_pandas() for table in track_input.tables)
        frames = qrels.rename(columns={"grade": "relevance"}), run
        track_input = track_input._replace(tables=frames)
    return track_input, {
        name: theirs for name, theirs in _THEIRS.items() if name.partition("(")[0] in wanted
    }


def evaluate(prepared: tuple[TrackInput | FileInput, dict[str, Any]]) -> dict[str, float]:
    track_input, measures = prepared
    qrels: Any
    run: Any
    if isinstance(track_input, TrackInput):
        qrels, run = track_input.qrels, run_with_scores(track_input)
    elif track_input.tables:
        qrels, run = track_input.tables
    else:
        qrels = ir_measures.read_trec_qrels(str(track_input.qrels))
        run = ir_measures.read_trec_run(str(track_input.run))
    means = ir_measures.calc_aggregate(list(measures.values()), qrels, run)
    return {name: means[theirs] for name, theirs in measures.items()}
