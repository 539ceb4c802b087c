"""Made-up TREC files, the same in every process: what ``data.py`` draws, written down."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.data import DrawnQuery, Shape, document_id, draw, query_id

Kind = Literal["files", "command", "gzip", "qrels"]


class FileShape(NamedTuple):
    """How much there is of everything, and what is done with it."""

    kind: Kind
    queries: int
    depth: int
    relevant: int
    not_relevant: int


class FileInput(NamedTuple):
    """What a library is handed. Of judgments alone, the run is empty."""

    metrics: tuple[str, ...]
    kind: Kind
    qrels: Path
    run: Path


def make_file_input(shape: FileShape, metrics: tuple[str, ...], folder: Path) -> FileInput:
    """Write judgments and a run of this shape, always the same for the same shape."""
    qrels, run = folder / f"{shape.queries}.qrels", folder / f"{shape.queries}.run"
    opener: Any = partial(gzip.open, compresslevel=6) if shape.kind == "gzip" else open
    with qrels.open("w") as qrels_file, opener(run, "wt") as run_file:
        for number, query in enumerate(draw(Shape("scored", *shape[1:]))):
            qrels_file.write(_judgments(query_id(number), query))
            if shape.kind != "qrels":
                run_file.write(_ranking(query_id(number), query))
    return FileInput(metrics, shape.kind, qrels, run)


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
