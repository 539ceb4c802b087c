"""No library: the cheapest loop in C over the same input. It computes nothing of use."""

from __future__ import annotations

import gzip

from benchmarks.arrays import ArrayInput
from benchmarks.comparisons import CompareInput
from benchmarks.data import deepest_rank
from benchmarks.files import FileInput
from benchmarks.fusions import FusionInput
from benchmarks.libraries import AnyInput

label = "floor"

_BLOCK = 1 << 20


def prepare(track_input: AnyInput) -> tuple[AnyInput, int | None]:
    return track_input, deepest_rank(track_input.metrics) if track_input.metrics else None


def evaluate(prepared: tuple[AnyInput, int | None]) -> None:
    if isinstance(prepared[0], FileInput):
        read_file(prepared[0])
        return
    if isinstance(prepared[0], (FusionInput, CompareInput)):
        for run in prepared[0].runs.values():
            for scores in run.values():
                sum(scores.values())
        return
    if isinstance(prepared[0], ArrayInput):
        _, _, scores, labels, rankings, *_ = prepared[0]
        if rankings is not None:
            rankings.sum()
        elif labels is not None:
            scores.sum()
            labels.sum()
        else:
            scores.max()
        return
    (_, qrels, scored, ranked, kind), deepest = prepared
    if kind == "preparing":
        for grades in qrels.values():
            sum(grades.values())
    elif scored:
        for scores in scored.values():
            sum(scores.values())
    elif kind == "array":
        for ids in ranked.values():
            ids.sum()
    elif kind == "one by one":
        for query, ids in ranked.items():
            grades = qrels[query]
            [grades.get(document) for document in ids]
    elif deepest is None:
        for query, ids in ranked.items():
            list(map(qrels[query].get, ids))
    else:
        for query, ids in ranked.items():
            list(map(qrels[query].get, ids[:deepest]))


def read_file(given: FileInput) -> None:
    """Count the lines of a file, or decompress it and not even that."""
    if given.kind == "gzip":
        with gzip.open(given.run) as unpacked:
            while unpacked.read(_BLOCK):
                pass
        return
    path = given.qrels if given.kind == "qrels" else given.run
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            block.count(b"\n")
