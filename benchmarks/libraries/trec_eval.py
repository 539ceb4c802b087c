"""trec_eval itself: the binary that the environment variable TREC_EVAL names."""

from __future__ import annotations

import os
import shutil
import subprocess

from benchmarks.files import FileInput
from benchmarks.libraries.rankmeter import printed_means
from benchmarks.processes import MissingError

_BINARY = shutil.which(os.environ.get("TREC_EVAL", ""))
if _BINARY is None:
    raise MissingError("set TREC_EVAL to its binary")

_THEIRS = {
    "ndcg_cut.10": "ndcg@10(gain=linear)",  # it has no other gain
    "map": "map",
    "recip_rank": "mrr",
    "recall.10": "recall@10",
    "P.10": "precision@10",
    "success.10": "hit@10",
}


def prepare(track_input: FileInput) -> list[str]:
    if track_input.kind == "everything":
        return ["-mall_trec", str(track_input.qrels), str(track_input.run)]
    wanted = track_input.metrics
    asked = [theirs for theirs, name in _THEIRS.items() if name.partition("(")[0] in wanted]
    options = [word for theirs in asked for word in ("-m", theirs)]
    return [*options, str(track_input.qrels), str(track_input.run)]


def evaluate(prepared: list[str]) -> dict[str, float]:
    if "-mall_trec" in prepared:
        return printed_means(_output(*prepared))
    lines = _output(*prepared).splitlines()
    means = {theirs: mean for theirs, _, mean in map(str.split, lines)}
    return {
        name: float(means[printed])
        for theirs, name in _THEIRS.items()
        if (printed := theirs.replace(".", "_")) in means
    }


def _output(*arguments: str) -> str:
    command = [str(_BINARY), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _version() -> str:
    # It says so among its errors.
    command = [str(_BINARY), "--version"]
    return subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr.split()[-1]


label = f"trec_eval {_version()}"
