"""DuckDB: what a user of SQL writes, over tables of Arrow in place or files of Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from benchmarks.files import FileInput

label = f"DuckDB {duckdb.__version__}, by SQL"

QUERY = """
WITH ranked AS (
    SELECT query_id, doc_id,
        row_number() OVER (PARTITION BY query_id ORDER BY score DESC) AS rank
    FROM run
), found AS (
    SELECT query_id, grade, rank,
        row_number() OVER (PARTITION BY query_id ORDER BY rank) AS nth
    FROM ranked JOIN qrels USING (query_id, doc_id)
    WHERE grade > 0
), scored AS (
    SELECT query_id,
        sum((2 ** grade - 1) / log2(rank + 1)) FILTER (rank <= 10) AS dcg,
        sum(nth / rank) AS precisions,
        min(rank) AS first,
        count(*) FILTER (rank <= 10) AS top
    FROM found GROUP BY query_id
), placed AS (
    SELECT query_id, grade,
        row_number() OVER (PARTITION BY query_id ORDER BY grade DESC) AS place
    FROM qrels WHERE grade > 0
), ideal AS (
    SELECT query_id, count(*) AS relevant,
        sum((2 ** grade - 1) / log2(place + 1)) FILTER (place <= 10) AS dcg
    FROM placed GROUP BY query_id
)
SELECT
    avg(coalesce(scored.dcg, 0) / ideal.dcg) AS "ndcg@10",
    avg(coalesce(precisions, 0) / relevant) AS map,
    avg(coalesce(1 / first, 0)) AS mrr,
    avg(coalesce(top, 0) / relevant) AS "recall@10",
    avg(coalesce(top, 0) / 10) AS "precision@10",
    avg(CASE WHEN top > 0 THEN 1 ELSE 0 END) AS "hit@10"
FROM ideal LEFT JOIN scored USING (query_id)
"""


def prepare(track_input: FileInput) -> Any:
    assert track_input.tables is not None
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET enable_progress_bar = false")
    for name, table in zip(("qrels", "run"), track_input.tables, strict=True):
        if isinstance(table, Path):
            connection.execute(f"CREATE VIEW {name} AS FROM '{table}'")
        else:
            connection.register(name, table)
    return connection


def evaluate(prepared: Any) -> dict[str, float]:
    result = prepared.execute(QUERY)
    names = [column[0] for column in result.description]
    return dict(zip(names, result.fetchone(), strict=True))
