"""Generated inputs through every door, whole and damaged: the digits of the naive reference, or an
error that a user can read.

Behind the marker ``slow``. ``RANKMETER_FUZZ`` says how many inputs there are of all doors together;
a failure names the seed of its input.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference

import rankmeter as rm
from rankmeter.cli.commands import main

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("RANKMETER_FUZZ", "40000"))
METRICS = ["ndcg@3", "map", "mrr", "recall@2", "bpref", "judged@4", "err", "rprec", "hit@1"]
REFUSED = (ValueError, TypeError, OSError)
QUERIES = ["q", "1", "é", "#q", "q 1"]
NAMES = [
    "a",
    "b",
    "c",
    "10",
    "é",
    "\U0001f600",
    "\udcff",
    "#",
    "x" * 40,
    *(f"d{i}" for i in range(8)),
]

Qrels = dict[str, dict[str, int]]
Run = dict[str, Any]


def make(
    rng: random.Random, *, plain: bool = False, ranked: bool | None = None
) -> tuple[Qrels, Run]:
    """Judgments and a run, valid ones; `plain`: with ids that every format can hold."""
    queries = rng.sample(QUERIES[:3] if plain else QUERIES, rng.randint(1, 3))
    names = [n for n in NAMES if n not in ("\udcff", "#")] if plain else NAMES
    qrels = {}
    run: Run = {}
    for query in queries:
        judged = rng.sample(names, rng.randint(1, 8))
        qrels[query] = {d: rng.choice([0, 0, 1, 1, 2, 3]) for d in judged}
        if rng.random() < 0.1 and run:
            continue
        found = rng.sample(names, rng.randint(1, len(names)))
        if ranked or (ranked is None and rng.random() < 0.3):
            run[query] = found
        else:
            levels = rng.choice([1, 2, 5, 10**6])
            run[query] = {d: rng.randrange(-levels, levels) / rng.choice([1, 4]) for d in found}
    return qrels, run


def agree(ev: rm.Evaluation, qrels: Qrels, run: Run, **options: Any) -> None:
    """To the last bit."""
    expected = reference.evaluate(qrels, run, METRICS, **options).per_query
    for query, values in ev.per_query.items():
        assert values == expected[query], (query, values, expected[query])


def in_range(ev: rm.Evaluation) -> None:
    assert ((ev.values >= 0) & (ev.values <= 1)).all(), ev.values


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Some bytes flipped, dropped, doubled or put in."""
    content = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(content) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(content):
            content[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del content[at : at + rng.choice([1, 1, 4, 40])]
        elif kind == 2:
            content[at:at] = rng.choice(
                [b"\0", b"\n", b"\t", b" ", b"nan", b"1e999", b"-", b'"', b"\xff"]
            )
        elif kind == 3:
            content[at:at] = content[at : at + rng.choice([1, 8, 60])]
        else:
            content[at:] = b""
        if not content:
            break
    return bytes(content)


# One input of each door


def dicts(rng: random.Random) -> None:
    qrels, run = make(rng)
    ties = rng.choice(["docid", "input"])
    ev = rm.evaluate(qrels, run, METRICS, ties=ties)  # type: ignore[arg-type]
    agree(ev, qrels, run, ties=ties)


def odd_dicts(rng: random.Random) -> None:
    """Scores, grades and ids of which some are of other types, or wrong."""
    qrels, run = make(rng)
    query = rng.choice(list(run))
    wrong: Any = rng.choice(
        [
            math.nan,
            math.inf,
            None,
            "x",
            2**70,
            np.float32(0.5),
            np.float64(1),
            True,
            10**400,
            [],
            1j,
        ]
    )
    side: Any = rng.choice([qrels, run])
    if isinstance(side[query], list):
        side[query].insert(rng.randrange(len(side[query]) + 1), wrong)
    elif rng.random() < 0.7:
        side[query][rng.choice(list(side[query]))] = wrong
    else:
        with contextlib.suppress(TypeError):
            side[query][wrong] = 1
    with contextlib.suppress(*REFUSED):
        in_range(rm.evaluate(qrels, run, METRICS))


def arrays(rng: random.Random) -> None:
    n, width = rng.randint(1, 3), rng.choice([1, 3, 14, 14, 40, 300])
    generator = np.random.default_rng(rng.getrandbits(32))
    scores = generator.integers(0, rng.choice([2, 5, 10**6]), (n, width)).astype(
        rng.choice([np.float32, np.float64])
    )
    labels = (generator.integers(0, 4, (n, width)) * (generator.random((n, width)) < 0.3)).astype(
        rng.choice([np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64])
    )
    wrong = rng.random() < 0.2
    if wrong:
        bad = rng.choice([math.nan, math.inf, -1])
        target = scores if rng.random() < 0.5 else labels
        if target.dtype.kind == "f" or bad == -1:
            with np.errstate(over="ignore"):
                target[rng.randrange(n), rng.randrange(width)] = (
                    bad if target.dtype != np.uint8 else 9
                )
    mask = generator.random((n, width)) < 0.8 if rng.random() < 0.3 else None
    try:
        ev = rm.evaluate_scores(scores, labels, METRICS, mask=mask)
    except ValueError:
        assert wrong
        return
    kept = np.ones((n, width), bool) if mask is None else mask
    for row in range(n):
        columns = [f"{i:03}" for i in np.flatnonzero(kept[row])]
        graded = {c: float(labels[row, int(c)]) for c in columns}
        run = {c: float(scores[row, int(c)]) for c in columns}
        expected = reference.evaluate({"q": graded}, {"q": run}, METRICS, ties="input")
        assert ev.per_query[row] == expected.per_query["q"]


def rankings(rng: random.Random) -> None:
    width = rng.choice([1, 5, 14, 60])
    shift = rng.choice([0, 0, 20, 40])
    ids = np.array(rng.sample(range(2 * width), width), np.int64) << shift
    judged = sorted(rng.sample(range(2 * width), rng.randint(1, width)))
    grades = [float(rng.choice([0, 1, 2])) for _ in judged]
    wrong = rng.random() < 0.2
    if wrong:
        ids[rng.randrange(width)] = rng.choice([-1, -5, int(ids[0]), 2**62])
    indices = np.array(judged, np.int64) << shift
    try:
        ev = rm.evaluate_rankings(ids[None], ([0, len(judged)], indices, grades), METRICS)
    except ValueError:
        assert wrong
        return
    ranked = [i for i in ids.tolist() if i != -1]
    graded = dict(zip(indices.tolist(), grades, strict=True))
    assert ev.per_query[0] == reference.evaluate({0: graded}, {0: ranked}, METRICS).per_query[0]


def text(rng: random.Random) -> None:
    qrels, run = make(rng, plain=True, ranked=False)
    judged = "".join(f"{q} 0 {d} {g}\n" for q, grades in qrels.items() for d, g in grades.items())
    lines = [f"{q} Q0 {d} 1 {s} t\n" for q, scores in run.items() for d, s in scores.items()]
    if rng.random() < 0.2:
        rng.shuffle(lines)
    files(rng, judged.encode(), "".join(lines).encode(), qrels, run)


def json_text(rng: random.Random) -> None:
    qrels, run = make(rng)
    if rng.random() < 0.5:
        given = json.dumps(qrels).encode(), json.dumps(run).encode()
    else:
        given = (
            "\n".join(json.dumps({"query_id": q, "qrels": j}) for q, j in qrels.items()).encode(),
            "\n".join(
                json.dumps({"query_id": q, "ranked" if isinstance(r, list) else "scores": r})
                for q, r in run.items()
            ).encode(),
        )
    files(rng, *given, qrels, run)


def tables(rng: random.Random) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    qrels, run = make(rng, plain=True, ranked=False)
    written = []
    for content, number in ((qrels, "grade"), (run, "score")):
        rows = [(q, d, float(x)) for q, inner in content.items() for d, x in inner.items()]
        columns = dict(
            zip(("query_id", "doc_id", number), map(list, zip(*rows, strict=True)), strict=True)
        )
        sink = io.BytesIO()
        if rng.random() < 0.5:
            parquet.write_table(pa.table(columns), sink)
        else:
            feather.write_feather(pa.table(columns), sink, compression="uncompressed")
        written.append(sink.getvalue())
    files(rng, *written, qrels, run)


def files(rng: random.Random, judged: bytes, ranked: bytes, qrels: Qrels, run: Run) -> None:
    """Whole: the digits of the reference. Damaged: a value in range, or an error."""
    threads = rng.choice([1, 1, 2])
    if rng.random() < 0.2:
        ev = rm.evaluate(io.BytesIO(judged), io.BytesIO(ranked), METRICS, threads=threads)
        agree(ev, qrels, run)
        return
    if rng.random() < 0.5:
        judged = damaged(rng, judged)
    else:
        ranked = damaged(rng, ranked)
    errors = rng.choice(["raise", "collect"])
    with contextlib.suppress(*REFUSED):
        in_range(
            rm.evaluate(
                io.BytesIO(judged), io.BytesIO(ranked), METRICS, threads=threads, errors=errors
            )  # type: ignore[call-overload]
        )


def commands(rng: random.Random, folder: Path) -> None:
    qrels, run = make(rng, plain=True, ranked=False)
    judged = "".join(f"{q} 0 {d} {g}\n" for q, grades in qrels.items() for d, g in grades.items())
    lines = [f"{q} Q0 {d} 1 {s} t\n" for q, scores in run.items() for d, s in scores.items()]
    given = [judged.encode(), "".join(lines).encode()]
    whole = rng.random() < 0.2
    if not whole:
        place = rng.randrange(2)
        given[place] = damaged(rng, given[place])
    paths = [str(folder / "qrels"), str(folder / "run")]
    for path, content in zip(paths, given, strict=True):
        Path(path).write_bytes(content)
    argv = rng.choice(
        [
            ["eval", *paths, "-m", "mrr", "--format", "json"],
            ["trec-eval", "-q", "-m", "map", *paths],
        ]
    )
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    if whole and argv[0] == "eval":
        expected = reference.evaluate(qrels, run, ["mrr"]).mean
        assert json.loads(out.getvalue())["runs"][0]["mean"] == expected
    assert code == 0 or (err.getvalue() and "Traceback" not in err.getvalue()), err.getvalue()


# How many of a thousand inputs each gets: those that cost little get most.
DOORS: dict[Callable[..., None], int] = {
    dicts: 200,
    odd_dicts: 300,
    arrays: 40,
    rankings: 100,
    text: 170,
    json_text: 170,
    tables: 15,
    commands: 5,
}


@pytest.mark.parametrize("door", DOORS)
def test_generated_inputs(door: Callable[..., None], tmp_path: Path) -> None:
    first = random.SystemRandom().getrandbits(40)
    more = (tmp_path,) if door is commands else ()
    for seed in range(first, first + COUNT * DOORS[door] // 1000):
        try:
            door(random.Random(seed), *more)
        except Exception as error:
            raise AssertionError(f"{door.__name__}(random.Random({seed}))") from error
