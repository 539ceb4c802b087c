"""rankmeter itself."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import rankmeter
from benchmarks import drop_in
from benchmarks.arrays import ArrayInput
from benchmarks.comparisons import CompareInput, named
from benchmarks.data import ONE_CALL_EACH, TrackInput
from benchmarks.files import FileInput
from benchmarks.fusions import GRID, WEIGHTS, FusionInput
from benchmarks.libraries import AnyInput
from rankmeter.compat import pytrec_eval

label = f"rankmeter {version('rankmeter')}"


def prepare(track_input: AnyInput) -> Any:
    if isinstance(track_input, TrackInput) and track_input.kind == "prepared":
        evaluator = rankmeter.Evaluator(track_input.qrels, track_input.metrics)
        return track_input._replace(qrels=evaluator)
    return track_input


def evaluate(prepared: Any) -> dict[str, float] | list[float] | drop_in.PerQuery:
    if isinstance(prepared, FusionInput):
        return _fuse(prepared)
    if isinstance(prepared, CompareInput):
        return _compare(prepared)
    if not isinstance(prepared, TrackInput):
        return evaluate_with(1, prepared)
    if prepared.metrics == drop_in.MEASURES:
        return drop_in.evaluate(pytrec_eval, prepared)
    qrels = prepared.qrels
    if prepared.kind == "prepared":
        return qrels.evaluate(prepared.scored, missing="skip").mean
    if prepared.kind == "preparing":
        rankmeter.Evaluator(qrels, prepared.metrics)
        return {}
    if prepared.kind in ONE_CALL_EACH:
        ndcg_at_k = rankmeter.ndcg_at_k
        return [ndcg_at_k(ranked, qrels[query]) for query, ranked in prepared.ranked.items()]
    return rankmeter.evaluate(qrels, prepared.scored or prepared.ranked, prepared.metrics).mean


def evaluate_with(threads: int, prepared: ArrayInput | FileInput) -> dict[str, float]:
    if isinstance(prepared, FileInput):
        return _evaluate_files(prepared, threads)
    return _evaluate_arrays(prepared, threads)


def _fuse(prepared: FusionInput) -> dict[str, float]:
    if prepared.kind == "sweep":
        (metric,) = prepared.metrics
        return {metric: rankmeter.sweep(prepared.runs, GRID, prepared.qrels, metric).best_mean}
    weights = WEIGHTS if prepared.kind == "wsum" else None
    fused = rankmeter.fuse(prepared.runs, prepared.kind, weights)
    return {"the sums of a query": sum(next(iter(fused.values())).values())}


def _compare(prepared: CompareInput) -> dict[str, float]:
    metrics, qrels, runs, draws = prepared
    found: dict[str, float] = {}
    for row in rankmeter.compare(qrels, runs, metrics, draws=draws).rows:
        found |= named(row.metric, row.difference, row.p)
    return found


def _evaluate_files(prepared: FileInput, threads: int) -> dict[str, float]:
    metrics, kind, *files, tables = prepared
    qrels, run = tables or files
    if kind == "command":
        return _means_of_command(prepared, threads)
    if kind == "everything":
        command = [sys.executable, "-m", "rankmeter", "trec-eval", "-mall_trec", *map(str, files)]
        return printed_means(subprocess.check_output(command, text=True))
    if kind == "qrels":
        rankmeter.Evaluator(qrels, metrics)
        return {}
    if kind == "prepared":
        return rankmeter.Evaluator(qrels, metrics).evaluate(run, threads=threads).mean
    return rankmeter.evaluate(qrels, run, metrics, threads=threads).mean


def _means_of_command(prepared: FileInput, threads: int) -> dict[str, float]:
    metrics, _, qrels, run, _ = prepared
    command = [sys.executable, "-m", "rankmeter", "eval", str(qrels), str(run)]
    command += [word for name in metrics for word in ("-m", name)]
    command += ["--threads", str(threads), "--format", "json"]  # which has all digits
    means: dict[str, float] = json.loads(subprocess.check_output(command))["runs"][0]["mean"]
    return means


def printed_means(text: str) -> dict[str, float]:
    """Read what trec_eval prints, but for the name of the run.

    Nor is its rbp compared: that depends on what stands in its memory before.
    """
    lines = [line.split() for line in text.splitlines()]
    return {name: float(mean) for name, _, mean in lines if name not in ("runid", "rbp")}


def _evaluate_arrays(prepared: ArrayInput, threads: int) -> dict[str, float]:
    metrics, _, scores, labels, rankings, judgments, query_ids = prepared
    if rankings is not None:
        ev = rankmeter.evaluate_rankings(rankings, judgments, metrics, threads=threads)
    else:
        given = judgments if labels is None else labels
        ev = rankmeter.evaluate_scores(scores, given, metrics, query_ids=query_ids, threads=threads)
    return ev.mean
