"""polars: what a user of it writes; tables of Arrow become frames before the clock starts."""

from __future__ import annotations

from typing import Any

import polars
from polars import col

from benchmarks.files import FileInput

label = f"polars {polars.__version__}, by hand"

TOP = col("rank") <= 10


def prepare(track_input: FileInput) -> list[Any]:
    assert track_input.tables is not None
    return [polars.DataFrame(table) for table in track_input.tables]


def evaluate(prepared: list[Any]) -> dict[str, float]:
    qrels, run = (frame.lazy() for frame in prepared)
    relevant = qrels.filter(col("grade") > 0).with_columns(gain=2.0 ** col("grade") - 1)
    rank = col("score").rank("ordinal", descending=True).over("query_id")
    ranked = run.with_columns(rank=rank)
    scored = (
        relevant.join(ranked, on=["query_id", "doc_id"])
        .with_columns(nth=col("rank").rank("ordinal").over("query_id"))
        .group_by("query_id")
        .agg(
            dcg=(col("gain") / (col("rank") + 1).log(2)).filter(TOP).sum(),
            precisions=(col("nth") / col("rank")).sum(),
            reciprocal=1 / col("rank").min(),
            top=TOP.sum(),
        )
    )
    place = col("gain").rank("ordinal", descending=True).over("query_id")
    ideal = (
        relevant.with_columns(place=place)
        .group_by("query_id")
        .agg(
            relevant=polars.len(),
            ideal=(col("gain") / (col("place") + 1).log(2)).filter(col("place") <= 10).sum(),
        )
    )
    means = (
        ideal.join(scored, on="query_id", how="left")
        .fill_null(0)
        .select(
            (col("dcg") / col("ideal")).mean().alias("ndcg@10"),
            (col("precisions") / col("relevant")).mean().alias("map"),
            col("reciprocal").mean().alias("mrr"),
            (col("top") / col("relevant")).mean().alias("recall@10"),
            (col("top") / 10).mean().alias("precision@10"),
            (col("top") > 0).mean().alias("hit@10"),
        )
    )
    return means.collect().row(0, named=True)  # type: ignore[no-any-return]
