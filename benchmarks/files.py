"""Made-up TREC files and tables, the same in every process, of what ``data.py`` draws."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.data import DrawnQuery, Shape, document_id, draw, query_id

Kind = Literal["files", "prepared", "command", "everything", "gzip", "qrels", "pyarrow", "polars"]


class FileShape(NamedTuple):
    """How much there is of everything, and what is done with it."""

    kind: Kind
    queries: int
    depth: int
    relevant: int
    not_relevant: int

    @property
    def text(self) -> str:
        """Say how much of what there is, and what is done with it."""
        lines = {
            "files": "lines of a run",
            "prepared": "lines of a run, by an Evaluator of a dict",
            "command": "lines of a run, by a command and its whole process",
            "everything": "lines of a run, by a command on all cores and its whole process",
            "gzip": "lines of a run, compressed",
            "qrels": "judgments, read and nothing else",
            "pyarrow": "rows of a pyarrow table",
            "polars": "rows of a polars frame",
        }[self.kind]
        return (
            f"{self.queries:,} queries × {self.depth:,} {lines}, "
            f"{self.relevant} relevant + {self.not_relevant} judged not"
        )


class FileInput(NamedTuple):
    """What a library is handed. Of judgments alone, the run is empty.

    ``tables`` are both again, where a track is about tables, each in one block; or the judgments
    as a dict, and the run.
    """

    metrics: tuple[str, ...]
    kind: Kind
    qrels: Path
    run: Path
    tables: tuple[Any, Any] | None = None


def make_file_input(shape: FileShape, metrics: tuple[str, ...], folder: Path) -> FileInput:
    """Write judgments and a run of this shape, always the same for the same shape."""
    qrels, run = folder / f"{shape.queries}.qrels", folder / f"{shape.queries}.run"
    opener: Any = partial(gzip.open, compresslevel=6) if shape.kind == "gzip" else open
    with qrels.open("w") as qrels_file, opener(run, "wt") as run_file:
        for number, query in enumerate(draw(Shape("scored", *shape[1:]))):
            qrels_file.write(_judgments(query_id(number), query))
            if shape.kind != "qrels":
                run_file.write(_ranking(query_id(number), query))
    tables: tuple[Any, Any] | None = None
    if shape.kind in ("pyarrow", "polars"):
        tables = _tables(shape.kind, qrels, run)
    if shape.kind == "prepared":
        tables = _judgments_of(qrels), run
    return FileInput(metrics, shape.kind, qrels, run, tables)


def _judgments_of(qrels: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for line in qrels.read_text().splitlines():
        query, _, document, grade = line.split()
        judged.setdefault(query, {})[document] = int(grade)
    return judged


def _tables(kind: Kind, qrels: Path, run: Path) -> tuple[Any, Any]:
    judged = _arrow_table(qrels, "query_id iteration doc_id grade", "grade")
    ranked = _arrow_table(run, "query_id Q0 doc_id rank score tag", "score")
    if kind == "pyarrow":
        return judged, ranked
    import polars  # not every track needs it

    return polars.from_arrow(judged), polars.from_arrow(ranked)


def _arrow_table(path: Path, columns: str, number: str) -> Any:
    from pyarrow import csv  # not every track needs it

    return csv.read_csv(
        path,
        csv.ReadOptions(column_names=columns.split()),
        csv.ParseOptions(delimiter=" "),
        csv.ConvertOptions(include_columns=["query_id", "doc_id", number]),
    ).combine_chunks()


def _judgments(query: str, drawn: DrawnQuery) -> str:
    return "".join(
        f"{query} 0 {document_id(document)} {grade}\n"
        for document, grade in zip(drawn.judged, drawn.grades, strict=True)
    )


def _ranking(query: str, drawn: DrawnQuery) -> str:
    ranked = enumerate(zip(drawn.retrieved, drawn.scores, strict=True), 1)
    return "".join(
        f"{query} Q0 {document_id(document)} {rank} {score:.6f} made-up\n"
        for rank, (document, score) in ranked
    )
