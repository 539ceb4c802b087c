"""Made-up TREC files and tables, the same in every process, of what ``data.py`` draws."""

from __future__ import annotations

import gzip
import random
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.data import SEED, DrawnQuery, Shape, document_id, draw, query_id

Kind = Literal[
    "files",
    "prepared",
    "command",
    "everything",
    "gzip",
    "qrels",
    "pyarrow",
    "polars",
    "pandas",
    "parquet",
]
Layout = Literal["grouped", "shards", "shuffled", "chunks"]
Ids = Literal["text", "integers", "categories"]

TABLES = ("pyarrow", "polars", "pandas", "parquet")
LAYOUTS: dict[Layout, str] = {
    "grouped": "",
    "shards": ", those of a query in two places",
    "shuffled": " in random order",
    "chunks": ", a chunk a query",
}


class FileShape(NamedTuple):
    """How much there is of everything, how it is laid out, and what is done with it."""

    kind: Kind
    queries: int
    depth: int
    relevant: int
    not_relevant: int
    layout: Layout = "grouped"
    ids: Ids = "text"

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
            "pandas": "rows of a pandas frame",
            "parquet": "rows of a Parquet file",
        }[self.kind]
        ids = f", ids as {self.ids}" if self.kind in TABLES else ""
        return (
            f"{self.queries:,} queries × {self.depth:,} {lines}{LAYOUTS[self.layout]}{ids}, "
            f"{self.relevant} relevant + {self.not_relevant} judged not"
        )


class FileInput(NamedTuple):
    """What a library is handed. Of judgments alone, the run is empty.

    ``tables`` are both again, where a track is about tables, each in one block if not in chunks; or
    the paths of tables; or the judgments as a dict, and the run.
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
        for number, query in enumerate(draw(Shape("scored", *shape[1:5]))):
            qrels_file.write(_judgments(query_id(number), query))
            if shape.kind != "qrels":
                run_file.write(_ranking(query_id(number), query))
    if shape.layout in ("shards", "shuffled"):
        _lay_out(qrels, shape.layout)
        _lay_out(run, shape.layout)
    tables: tuple[Any, Any] | None = None
    if shape.kind in TABLES:
        tables = _tables(shape, qrels, run)
    if shape.kind == "prepared":
        tables = _judgments_of(qrels), run
    return FileInput(metrics, shape.kind, qrels, run, tables)


def _judgments_of(qrels: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for line in qrels.read_text().splitlines():
        query, _, document, grade = line.split()
        judged.setdefault(query, {})[document] = int(grade)
    return judged


def _lay_out(path: Path, layout: Layout) -> None:
    lines = path.read_text().splitlines(keepends=True)
    if layout == "shards":  # as two parts of a collection return them, one after the other
        lines = lines[::2] + lines[1::2]
    else:
        random.Random(SEED).shuffle(lines)
    path.write_text("".join(lines))


def _tables(shape: FileShape, qrels: Path, run: Path) -> tuple[Any, Any]:
    judged = _arrow_table(qrels, "query_id iteration doc_id grade", "grade", shape)
    ranked = _arrow_table(run, "query_id Q0 doc_id rank score tag", "score", shape)
    if shape.layout == "chunks":
        import pyarrow  # not every track needs it

        rows = range(0, len(ranked), shape.depth)
        ranked = pyarrow.concat_tables(
            ranked.take(list(range(start, start + shape.depth))) for start in rows
        )
    return _as_kind(shape, judged, qrels), _as_kind(shape, ranked, run)


def _arrow_table(path: Path, columns: str, number: str, shape: FileShape) -> Any:
    from pyarrow import compute, csv  # not every track needs it

    table = csv.read_csv(
        path,
        csv.ReadOptions(column_names=columns.split()),
        csv.ParseOptions(delimiter=" "),
        csv.ConvertOptions(include_columns=["query_id", "doc_id", number]),
    ).combine_chunks()
    for place, name in enumerate(("query_id", "doc_id")):
        if shape.ids == "integers":
            numbers = compute.utf8_slice_codeunits(table[name], 1).cast("int64")
            table = table.set_column(place, name, numbers)
        elif shape.ids == "categories" and shape.kind == "pyarrow":
            table = table.set_column(place, name, table[name].dictionary_encode())
    return table


def _as_kind(shape: FileShape, table: Any, path: Path) -> Any:
    if shape.kind == "pandas":
        categories = dict.fromkeys(("query_id", "doc_id"), "category")
        frame = table.to_pandas()
        return frame.astype(categories) if shape.ids == "categories" else frame
    if shape.kind == "polars":
        import polars  # not every track needs it

        frame = polars.from_arrow(table)
        ids = polars.col("query_id", "doc_id")
        return (
            frame.with_columns(ids.cast(polars.Categorical)) if shape.ids == "categories" else frame
        )
    if shape.kind == "parquet":
        from pyarrow import parquet  # not every track needs it

        parquet.write_table(table, path := path.with_suffix(path.suffix + ".parquet"))
        return path
    return table


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
