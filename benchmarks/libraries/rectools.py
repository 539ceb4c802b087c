"""RecTools, over frames of users, items and ranks, which are made beforehand."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pandas
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

from benchmarks.arrays import ArrayInput
from benchmarks.files import FileInput

label = f"RecTools {version('rectools')}"


def prepare(track_input: ArrayInput | FileInput) -> tuple[Any, Any, dict[str, Any]]:
    if isinstance(track_input, FileInput):
        recommended, relevant = _renamed(track_input)
    else:
        recommended, relevant = _frames(track_input)
    depth = int(recommended[Columns.Rank].max())
    # It knows no grades.
    ndcg = "ndcg@10" if track_input.kind == "recommendations" else "ndcg@10(gain=binary)"
    theirs = {
        ndcg: NDCG(10, divide_by_achievable=True),
        "map": MAP(depth),
        "map@10": MAP(10),
        "mrr": MRR(depth),
        "recall@10": Recall(10),
        "precision@10": Precision(10),
        "hit@10": HitRate(10),
    }
    wanted = track_input.metrics
    return (
        recommended,
        relevant,
        {name: metric for name, metric in theirs.items() if name.partition("(")[0] in wanted},
    )


def _frames(track_input: ArrayInput) -> tuple[Any, Any]:
    assert track_input.rankings is not None
    assert track_input.judgments is not None
    users, depth = track_input.rankings.shape
    indptr, items, _ = track_input.judgments
    recommended = pandas.DataFrame(
        {
            Columns.User: np.repeat(np.arange(users), depth),
            Columns.Item: track_input.rankings.ravel(),
            Columns.Rank: np.tile(np.arange(1, depth + 1), users),
        }
    )
    user = np.repeat(np.arange(users), np.diff(indptr))
    return recommended, pandas.DataFrame({Columns.User: user, Columns.Item: items})


def _renamed(track_input: FileInput) -> tuple[Any, Any]:
    assert track_input.tables is not None
    names = {"query_id": Columns.User, "doc_id": Columns.Item}
    qrels, run = (table.rename(columns=names) for table in track_input.tables)
    run[Columns.Rank] = run.groupby(Columns.User).cumcount() + 1
    return run, qrels[qrels.grade > 0]


def evaluate(prepared: tuple[Any, Any, dict[str, Any]]) -> dict[str, float]:
    recommended, relevant, metrics = prepared
    return {name: float(v) for name, v in calc_metrics(metrics, recommended, relevant).items()}
