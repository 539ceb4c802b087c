"""Made-up judgments and runs, the same in every process.

Ids look like those of a real collection. The judgments and the run hold different ``str`` objects
for the same id, as they do when they are read from two files: a library that compared objects
instead of characters would gain nothing here.

Where the objects lie in memory changes the time of a loop over them several times over. Everything
is therefore drawn into arrays first, and the objects are then made with nothing else allocated in
between, in the order of the layout: as reading a file makes them, which is the kindest one; or all
ids before, in the random order of a collection, as a search in memory has them; or as read, and
then put into dicts in another order.
"""

from __future__ import annotations

import random
from array import array
from collections import OrderedDict, UserDict, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

SEED = 20240607
COLLECTION_SIZE = 8_000_000
SHARE_OF_JUDGED_RETRIEVED = 0.8

Kind = Literal[
    "scored",
    "float64",
    "float32",
    "int64",
    "tensor",
    "defaultdict",
    "OrderedDict",
    "UserDict",
    "bytes-ids",
    "numpy-str-ids",
    "numpy-int64-ids",
    "tuple-ids",
    "prepared",
    "preparing",
    "ranked",
    "one by one",
    "array",
]
Layout = Literal["as read", "shared", "shuffled"]

LAYOUTS: dict[Layout, str] = {
    "as read": "",
    "shared": ", whose ids are the objects of one list in random order",
    "shuffled": ", in another order than the objects were made in",
}


def query_id(number: int) -> str:
    """Return the id of the query of this number."""
    return f"q{number}"


def document_id(number: int) -> str:
    """Return the id of the document of this number."""
    return f"d{number:07d}"


def _tensor(score: float) -> Any:
    import torch  # not every track needs it

    return torch.tensor(score)


class Types(NamedTuple):
    """What ids, scores and the mapping of a query are made by."""

    text: str = "scored documents"
    document: Callable[[int], Any] = document_id
    score: Callable[[float], Any] = float
    mapping: Callable[[dict[Any, Any]], Any] = dict


TYPES: dict[Kind, Types] = {
    "scored": Types(),
    "prepared": Types(),
    "float64": Types("documents scored by numpy's float64", score=np.float64),
    "float32": Types("documents scored by numpy's float32", score=np.float32),
    "int64": Types("documents scored by numpy's int64", score=lambda x: np.int64(10_000 * x)),
    "tensor": Types("documents scored by tensors", score=_tensor),
    "defaultdict": Types("documents in a defaultdict", mapping=partial(defaultdict, float)),
    "OrderedDict": Types("documents in an OrderedDict", mapping=OrderedDict),
    "UserDict": Types("documents in a UserDict", mapping=UserDict),
    "bytes-ids": Types("documents named by bytes", lambda n: document_id(n).encode()),
    "numpy-str-ids": Types("documents named by numpy's str_", lambda n: np.str_(document_id(n))),
    "numpy-int64-ids": Types("documents named by numpy's int64", np.int64),
    "tuple-ids": Types("documents named by tuples", lambda n: ("made-up", document_id(n))),
}


class Shape(NamedTuple):
    """How much there is of everything. Lists are cut at ``cut`` when they have all been made.

    For each query of the run there are ``others`` that are judged only.
    """

    kind: Kind
    queries: int
    depth: int
    relevant: int
    not_relevant: int
    cut: int | None = None
    layout: Layout = "as read"
    others: int = 0

    @property
    def text(self) -> str:
        """Say how much of what there is."""
        judged = f"{self.relevant} relevant + {self.not_relevant} judged not"
        if self.kind == "preparing":
            return f"an Evaluator of {self.queries:,} queries, {judged}"
        calls = ", one call each" if self.kind in ONE_CALL_EACH else ""
        documents = TYPES[self.kind].text if self.kind in TYPES else "ids in rank order"
        others = f", {self.others * self.queries:,} queries more judged" if self.others else ""
        return (
            f"{self.queries:,} queries{calls} × {self.cut or self.depth:,} {documents}"
            f"{LAYOUTS[self.layout]}, {judged}{others}"
        )


class TrackInput(NamedTuple):
    """What a library is handed. The run is in ``scored`` or in ``ranked``; the other one is empty.

    Some kinds ask for one call a query instead of one call for all of them.
    """

    metrics: tuple[str, ...]
    qrels: dict[str, dict[Any, int]]
    scored: dict[str, dict[Any, float]]
    ranked: dict[str, Any]
    kind: Kind


ONE_CALL_EACH = ("one by one", "array")


def make_track_input(shape: Shape, metrics: tuple[str, ...]) -> TrackInput:
    """Draw judgments and a run of this shape, always the same for the same shape."""
    drawn = list(draw(shape))
    if shape.kind == "array":
        return _arrays(drawn, metrics)
    track_input = TrackInput(metrics, {}, {}, {}, shape.kind)
    types = TYPES.get(shape.kind, Types())
    name = _in_random_order(drawn) if shape.layout == "shared" else types.document
    for query, (retrieved, scores, judged, grades) in enumerate(drawn):
        track_input.qrels[query_id(query)] = {
            types.document(document): grade for document, grade in zip(judged, grades, strict=True)
        }
        if shape.kind in TYPES:
            track_input.scored[query_id(query)] = types.mapping(
                {
                    name(document): types.score(score)
                    for document, score in zip(retrieved, scores, strict=True)
                }
            )
        elif shape.kind != "preparing":
            track_input.ranked[query_id(query)] = [document_id(d) for d in retrieved]
    if shape.layout == "shuffled":
        _shuffle(track_input.scored)
    track_input.qrels.update(_judged_only(shape))
    for ids in track_input.ranked.values():
        del ids[shape.cut or shape.depth :]
    return track_input


def _arrays(drawn: list[DrawnQuery], metrics: tuple[str, ...]) -> TrackInput:
    """Put each ranking into an array, judged relevant or not as by those who know no grades."""
    ranked = {query_id(n): np.array(query.retrieved, np.int64) for n, query in enumerate(drawn)}
    qrels = {
        query_id(number): {
            document: min(grade, 1)
            for document, grade in zip(query.judged, query.grades, strict=True)
        }
        for number, query in enumerate(drawn)
    }
    return TrackInput(metrics, qrels, {}, ranked, "array")


def _shuffle(run: dict[str, dict[Any, float]]) -> None:
    rng = random.Random(SEED)
    for query, ranking in run.items():
        documents = list(ranking.items())
        rng.shuffle(documents)
        run[query] = dict(documents)


def _judged_only(shape: Shape) -> Iterator[tuple[str, dict[str, int]]]:
    rng = random.Random(SEED)
    for query in range(shape.queries, shape.queries * (1 + shape.others)):
        judged = rng.sample(range(COLLECTION_SIZE), shape.relevant + shape.not_relevant)
        yield query_id(query), dict.fromkeys(map(document_id, judged), 1)


def _in_random_order(drawn: list[DrawnQuery]) -> Callable[[int], str]:
    """Make the ids of all that is retrieved in random order, and return what finds one."""
    collection = sorted(set(chain.from_iterable(query.retrieved for query in drawn)))
    random.Random(SEED).shuffle(collection)
    return {document: document_id(document) for document in collection}.__getitem__


def deepest_rank(metrics: tuple[str, ...]) -> int | None:
    """Return the rank below which no metric looks, or None where one looks at all of them."""
    cutoffs = [name.partition("@")[2] for name in metrics]
    return max(map(int, cutoffs)) if all(cutoffs) else None


class DrawnQuery(NamedTuple):
    """What was drawn for one query: numbers of documents, best first, and of judged ones."""

    retrieved: array[int]
    scores: array[float]
    judged: array[int]
    grades: array[int]


def draw(shape: Shape) -> Iterator[DrawnQuery]:
    """Draw one query after the other, always the same ones for the same shape."""
    rng = random.Random(SEED)
    judged_count = shape.relevant + shape.not_relevant
    missed_count = judged_count - round(SHARE_OF_JUDGED_RETRIEVED * judged_count)
    for _ in range(shape.queries):
        drawn = rng.sample(range(COLLECTION_SIZE), shape.depth + missed_count)
        retrieved, missed = drawn[: shape.depth], drawn[shape.depth :]
        judged = rng.sample(retrieved, judged_count - missed_count) + missed
        grades = [rng.randint(1, 3) for _ in range(shape.relevant)] + [0] * shape.not_relevant
        rng.shuffle(grades)
        yield DrawnQuery(
            array("l", retrieved),
            array("d", _scores(shape.depth, rng) if shape.kind in TYPES else ()),
            array("l", judged),
            array("l", grades),
        )


def _scores(depth: int, rng: random.Random) -> Iterator[float]:
    # High to low, as systems return them. The steps are wide enough for no two scores to be equal
    # in single precision, which pytrec_eval keeps them in.
    score = 30.0
    for _ in range(depth):
        score -= rng.uniform(0.001, 0.02)
        yield score
