"""The tracks: what is measured on which input, and the goal of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.arrays import ArrayShape
from benchmarks.arrays import Kind as ArrayKind
from benchmarks.comparisons import CompareShape
from benchmarks.data import Kind, Shape
from benchmarks.drop_in import MEASURES
from benchmarks.files import FileShape
from benchmarks.files import Kind as FileKind
from benchmarks.files import Layout as FileLayout
from benchmarks.fusions import FusionShape

AnyShape = Shape | ArrayShape | FileShape | FusionShape | CompareShape

Aspect = Literal[
    "times as fast as",
    "times as fast with",
    "times the floor",
    "times the track",  # which is measured in the same rounds
    "times the same in",  # a track of the same content: its values must be equal, too
    "times the time a query of",
]

WHOLE_RANKING = ("ndcg@10", "map", "mrr", "recall@10", "precision@10", "hit@10")
# Eight metrics at six depths, and twelve of the whole ranking.
SIXTY = (
    *(
        f"{name}@{k}"
        for name in ("ndcg", "map", "recall", "precision", "hit", "mrr", "f1", "judged")
        for k in (1, 3, 5, 10, 100, 1_000)
    ),
    *("rprec", "bpref", "infap", "iprec(recall=0.1)", "iprec11", "set_f", "rbp", "err", "yaap"),
    *("bing", "num_ret", "num_rel_ret"),
)
TOP_10 = ("ndcg@10", "map@10", "mrr@10", "recall@10", "precision@10", "hit@10")

# Who takes part in the tracks of dicts and lists, and everybody.
EVERY_LIBRARY = ("rankmeter", "pytrec_eval", "ranx", "ir_measures", "plain_python")
ALL_LIBRARIES = (
    *EVERY_LIBRARY,
    "two_threads",
    "million_threads",
    "collector",
    "duckdb",
    "polars",
    "rectools",
    "implicit",
    "ir_eval_numba",
    "sklearn",
    "torchmetrics",
    "torch_topk",
    "bare_topk",
    "numpy_argpartition",
    "trec_eval",
    "weight_by_weight",
    "scipy",
)
SMALLEST_QUICK_QUERIES = 5
QUICK_SHARE = 50


@dataclass(frozen=True)
class Goal:
    """A bound on one ratio: a lower one on speed-ups, an upper one on costs.

    The time in it is rankmeter's with one thread, unless ``who`` says otherwise.
    """

    aspect: Aspect
    limit: float
    other: str = ""
    who: str = "rankmeter"

    @property
    def text(self) -> str:
        """The goal in words."""
        if self.aspect.startswith("times as fast"):
            who = "" if self.who == "rankmeter" else f", by {self.who}"
            return f"at least {self.limit:g} {self.aspect} {self.other}{who}"
        return f"at most {self.limit:g} {self.aspect} {self.other}".rstrip()

    def is_met_by(self, ratio: float) -> bool:
        """Tell whether the ratio keeps to the bound."""
        least = self.aspect.startswith("times as fast")
        return ratio >= self.limit if least else ratio <= self.limit


@dataclass(frozen=True)
class Track:
    """One input, the metrics computed on it, and who takes part."""

    name: str
    title: str
    floor: str
    shape: AnyShape
    metrics: tuple[str, ...] = WHOLE_RANKING
    goals: tuple[Goal, ...] = ()
    libraries: tuple[str, ...] = EVERY_LIBRARY
    timed_by: Literal["run", "query"] = "run"
    needs: tuple[str, ...] = ()  # modules, for the input

    def beside(self, *aspects: Aspect) -> tuple[str, ...]:
        """Return the names of the tracks that the goals of these aspects compare this one with."""
        return tuple(goal.other for goal in self.goals if goal.aspect in aspects)

    def shape_for(self, *, quick: bool) -> AnyShape:
        """Return the shape, with fewer queries for a quick run."""
        if not quick:
            return self.shape
        queries = max(SMALLEST_QUICK_QUERIES, self.shape.queries // QUICK_SHARE)
        return self.shape._replace(queries=min(queries, self.shape.queries))

    def describe(self, *, quick: bool) -> str:
        """Return one line that says what is computed on what."""
        metrics = ", ".join(self.metrics)
        what = "; ".join(filter(None, (metrics, self.shape_for(quick=quick).text)))
        return f"{self.title}: {what}"


SUM_SCORES = "for d in run.values(): sum(d.values())"
SUM_RUNS = "for run in runs: for d in run.values(): sum(d.values())"
LOOK_UP_IDS = "for q, ids in run.items(): list(map(qrels[q].get, ids))"
LOOK_UP_TOP_10 = "for q, ids in run.items(): list(map(qrels[q].get, ids[:10]))"
SUM_ARRAYS = "scores.sum(); labels.sum()"
LOOK_UP_ONE = "[qrels.get(d) for d in ranked]"
COUNT_LINES = 'while block := file.read(1 << 20): block.count(b"\\n")'

# The lists of every depth are the same ones, cut: their first ids lie at the same distances in
# memory, and only the depth can make a difference.
TOP_10_QUERIES = 250
TOP_10_DEPTHS = (100, 1_000, 10_000)
TOP_10_SHALLOWEST = f"lists-top10-depth{TOP_10_DEPTHS[0]}"
ROOM_FOR_NOISE = 1.2
MILLION_LINES = "million-lines"
DRAWS = 2_000

# Against the plain dict, and against pytrec_eval where that takes such a run.
TYPE_GOALS: dict[Kind, tuple[Goal, ...]] = {
    "float64": (Goal("times the same in", 1.5, "dict"), Goal("times as fast as", 8, "pytrec_eval")),
    "float32": (Goal("times the same in", 6, "dict"),),
    "int64": (Goal("times the same in", 6, "dict"),),
    "tensor": (Goal("times the same in", 6, "dict"),),
    "defaultdict": (
        Goal("times the same in", 1.3, "dict"),
        Goal("times as fast as", 1, "pytrec_eval"),
    ),
    "OrderedDict": (
        Goal("times the same in", 3, "dict"),
        Goal("times as fast as", 1, "pytrec_eval"),
    ),
    "UserDict": (Goal("times the same in", 6, "dict"),),
    "bytes-ids": (Goal("times the same in", 6, "dict"),),
    "numpy-str-ids": (
        Goal("times the same in", 6, "dict"),
        Goal("times as fast as", 1, "pytrec_eval"),
    ),
    "numpy-int64-ids": (Goal("times the same in", 6, "dict"),),
    "tuple-ids": (Goal("times the same in", 6, "dict"),),
}

DICT = Shape("scored", queries=1_000, depth=1_000, relevant=5, not_relevant=5)
MANY = DICT._replace(queries=10_000, depth=100)
FILES = FileShape("files", queries=2_000, depth=1_000, relevant=5, not_relevant=5)
TABLE = FILES._replace(kind="pyarrow")
INTEGERS = TABLE._replace(ids="integers")
TABLE_THREADS = Goal("times as fast with", 1.54, "two_threads")
FRAMES: tuple[FileKind, ...] = ("polars", "pandas")
# How a query comes back, and how much more that may cost than one that does not.
REORDERED: tuple[tuple[FileLayout, float], ...] = (("shards", 2), ("shuffled", 5))
NDCG = ("ndcg@10",)
SCORES = ArrayShape("scores", queries=128, depth=1_000, judged=100)
ROW = ArrayShape("scores", queries=1, depth=100_000, judged=10_000)
MILLION = ROW._replace(depth=1_000_000, judged=100_000)
GROUPED: tuple[tuple[ArrayKind, tuple[Goal, ...]], ...] = (
    ("grouped", ()),
    ("grouped-shuffled", (Goal("times the same in", 4, "scores-grouped"),)),
    ("grouped-text", (Goal("times the same in", 4, "scores-grouped"),)),
)
PREPARED = Shape("prepared", queries=100, depth=100, relevant=5, not_relevant=5)

SPEED_TRACKS = (
    Track(
        name="dict-shared",
        title="dict, ids of one list",
        floor=SUM_SCORES,
        shape=DICT._replace(layout="shared"),
        goals=(
            Goal("times as fast as", 35, "pytrec_eval"),
            Goal("times the floor", 1.5),
        ),
    ),
    Track(
        name="dict-shuffled",
        title="dict, in another order",
        floor=SUM_SCORES,
        shape=DICT._replace(layout="shuffled"),
        goals=(
            Goal("times as fast as", 25, "pytrec_eval"),
            Goal("times the floor", 1.5),
        ),
        libraries=("rankmeter", "pytrec_eval"),
    ),
    Track(
        name="dict",
        title="dict, as read",
        floor=SUM_SCORES,
        shape=DICT,
        goals=(
            Goal("times as fast as", 25, "pytrec_eval"),
            Goal("times the floor", 1.6),
        ),
    ),
    *(
        Track(
            name=f"types-{kind}",
            title=f"types, {kind}",
            floor=SUM_SCORES,
            shape=DICT._replace(kind=kind),
            goals=goals,
            libraries=("rankmeter", *(goal.other for goal in goals if goal.other != "dict")),
            needs=("torch",) if kind == "tensor" else ("numpy",),
        )
        for kind, goals in TYPE_GOALS.items()
    ),
    Track(
        name="drop-in-shared",
        title="drop-in for pytrec_eval, ids of one list",
        floor=SUM_SCORES,
        shape=DICT._replace(layout="shared"),
        metrics=MEASURES,
        goals=(Goal("times as fast as", 25, "pytrec_eval"),),
        libraries=("rankmeter", "pytrec_eval"),
    ),
    Track(
        name="drop-in",
        title="drop-in for pytrec_eval",
        floor=SUM_SCORES,
        shape=DICT,
        metrics=MEASURES,
        goals=(Goal("times as fast as", 15, "pytrec_eval"),),
        libraries=("rankmeter", "pytrec_eval"),
    ),
    Track(
        name="sixty-metrics",
        title="dict, sixty metrics",
        floor=SUM_SCORES,
        shape=DICT,
        metrics=SIXTY,
        goals=(Goal("times the track", 2.0, "dict"),),
        libraries=("rankmeter",),
    ),
    Track(
        name="dict-many",
        title="dict, many queries, as read",
        floor=SUM_SCORES,
        shape=MANY,
        goals=(
            Goal("times as fast as", 12, "pytrec_eval"),
            Goal("times the floor", 2.2),
        ),
    ),
    Track(
        name="dict-many-shared",
        title="dict, many queries, ids of one list",
        floor=SUM_SCORES,
        shape=MANY._replace(layout="shared"),
        goals=(
            Goal("times as fast as", 12, "pytrec_eval"),
            Goal("times the floor", 2.2),
        ),
        libraries=("rankmeter", "pytrec_eval"),
    ),
    Track(
        name="deep-pool",
        title="dict, deep pool",
        floor=SUM_SCORES,
        shape=Shape("scored", queries=50, depth=1_000, relevant=150, not_relevant=450),
        goals=(Goal("times as fast as", 10, "pytrec_eval"),),
    ),
    Track(
        name="lists",
        title="lists",
        floor=LOOK_UP_IDS,
        shape=Shape("ranked", queries=1_000, depth=1_000, relevant=5, not_relevant=5),
        goals=(Goal("times the floor", 0.45),),
    ),
    *(
        Track(
            name=f"lists-top10-depth{depth}",
            title="lists, top 10",
            floor=LOOK_UP_TOP_10,
            shape=Shape("ranked", TOP_10_QUERIES, max(TOP_10_DEPTHS), 5, 5, cut=depth),
            metrics=TOP_10,
            goals=(
                (Goal("times the track", ROOM_FOR_NOISE, TOP_10_SHALLOWEST),)
                if depth > TOP_10_DEPTHS[0]
                else ()
            ),
            timed_by="query",
        )
        for depth in TOP_10_DEPTHS
    ),
    Track(
        name="one-query",
        title="one query",
        floor=LOOK_UP_ONE,
        shape=Shape("one by one", queries=100, depth=10, relevant=3, not_relevant=2),
        metrics=NDCG,
        goals=(
            Goal("times as fast as", 8, "plain_python"),
            Goal("times the floor", 1.0),
        ),
        libraries=("rankmeter", "plain_python"),
        timed_by="query",
    ),
    Track(
        name="array-one",
        title="one query as an array",
        floor="for ranked in run.values(): ranked.sum()",
        shape=Shape("array", queries=100, depth=100, relevant=5, not_relevant=0),
        metrics=NDCG,
        goals=(Goal("times as fast as", 1, "ir_eval_numba"),),
        libraries=("rankmeter", "ir_eval_numba"),
        timed_by="query",
        needs=("numpy",),
    ),
    Track(
        name="prepared",
        title="an Evaluator made before",
        floor=SUM_SCORES,
        shape=PREPARED._replace(others=2_000),
        goals=(
            Goal("times the same in", ROOM_FOR_NOISE, "prepared-few"),
            Goal("times as fast as", 5, "pytrec_eval"),
        ),
        libraries=("rankmeter", "pytrec_eval"),
    ),
    Track(
        name="prepared-few",
        title="an Evaluator of few queries made before",
        floor=SUM_SCORES,
        shape=PREPARED,
        goals=(Goal("times as fast as", 5, "pytrec_eval"),),
        libraries=("rankmeter", "pytrec_eval"),
    ),
    Track(
        name="preparing",
        title="preparing",
        floor="for grades in qrels.values(): sum(grades.values())",
        shape=Shape("preparing", queries=200_000, depth=1, relevant=1, not_relevant=0),
        goals=(Goal("times as fast with", 0.83, "collector"),),
        libraries=("rankmeter", "collector", "pytrec_eval"),
    ),
    Track(
        name="scores",
        title="scores",
        floor=SUM_ARRAYS,
        shape=SCORES,
        metrics=NDCG,
        goals=(
            Goal("times as fast as", 100, "sklearn"),
            Goal("times as fast as", 100, "torchmetrics"),
            Goal("times as fast as", 3, "torch_topk"),
            Goal("times the floor", 4),
            Goal("times as fast with", 1.7, "two_threads"),
        ),
        libraries=(
            "rankmeter",
            "two_threads",
            "sklearn",
            "torchmetrics",
            "torch_topk",
            "numpy_argpartition",
        ),
    ),
    Track(
        name="scores-short",
        title="scores, short lists",
        floor=SUM_ARRAYS,
        shape=ArrayShape("scores", queries=10_000, depth=100, judged=10),
        metrics=NDCG,
        goals=(
            Goal("times as fast as", 30, "sklearn"),
            Goal("times as fast as", 4, "numpy_argpartition"),
            Goal("times the floor", 7),
            Goal("times as fast with", 1.7, "two_threads"),
            Goal("times as fast with", 1.7, "million_threads"),
        ),
        libraries=(
            "rankmeter",
            "two_threads",
            "million_threads",
            "sklearn",
            "torch_topk",
            "numpy_argpartition",
        ),
    ),
    Track(
        name="scores-all",
        title="scores, all metrics",
        floor=SUM_ARRAYS,
        shape=SCORES,
        goals=(Goal("times the track", 2.5, "scores"),),
        libraries=("rankmeter",),
    ),
    Track(
        name="catalogue",
        title="catalogue",
        floor="scores.max()",
        shape=ArrayShape("catalogue", queries=500, depth=100_000, judged=20),
        metrics=("ndcg@10", "recall@100", "mrr"),
        goals=(Goal("times the floor", 3),),
        libraries=("rankmeter", "two_threads"),
    ),
    *(
        Track(
            name=name,
            title=f"scores, {name.replace('-', ' ')}",
            floor=SUM_ARRAYS,
            shape=shape,
            metrics=metrics,
            libraries=("rankmeter", "sklearn") if metrics == NDCG else ("rankmeter",),
        )
        for name, shape, metrics in (
            ("row", ROW, NDCG),
            ("row-map", ROW, ("map",)),
            ("row-million", MILLION, NDCG),
        )
    ),
    *(
        Track(
            name=name,
            title=f"scores, {name.replace('-', ' ')}",
            floor=SUM_ARRAYS,
            shape=shape,
            metrics=metrics,
            goals=(Goal("times the track", limit, other),),
            libraries=libraries,
        )
        for name, shape, metrics, limit, other, libraries in (
            ("tied", ROW._replace(kind="tied"), NDCG, 3, "row", ("rankmeter", "sklearn")),
            ("tied-map", ROW._replace(kind="tied"), ("map",), 1.5, "row-map", ("rankmeter",)),
            ("tied-million", MILLION._replace(kind="tied"), NDCG, 3, "row-million", ("rankmeter",)),
            ("few", SCORES._replace(kind="few"), NDCG, 3, "scores", ("rankmeter",)),
            ("few-row", ROW._replace(kind="few"), NDCG, 3, "row", ("rankmeter",)),
            ("few-million", MILLION._replace(kind="few"), NDCG, 3, "row-million", ("rankmeter",)),
        )
    ),
    *(
        Track(
            name=f"scores-{kind}",
            title=f"scores, {kind.replace('-', ' ')}",
            floor=SUM_ARRAYS,
            shape=ArrayShape(kind, queries=1_000, depth=1_000, judged=100),
            metrics=NDCG,
            goals=goals,
            libraries=("rankmeter",),
        )
        for kind, goals in GROUPED
    ),
    Track(
        name="threads-small",
        title="threads, small",
        floor=SUM_ARRAYS,
        shape=ArrayShape("scores", queries=64, depth=100, judged=10),
        metrics=NDCG,
        goals=(Goal("times as fast with", 0.91, "two_threads"),),
        libraries=("rankmeter", "two_threads"),
    ),
    Track(
        name="rankings",
        title="rankings",
        floor="rankings.sum()",
        shape=ArrayShape("rankings", queries=100_000, depth=100, judged=5),
        goals=(
            Goal("times as fast as", 15, "ranx"),
            Goal("times as fast as", 4, "rectools"),
            Goal("times the floor", 7),
            Goal("times as fast with", 1.7, "two_threads"),
        ),
        libraries=("rankmeter", "two_threads", "ranx", "rectools"),
    ),
    Track(
        name="rankings-top10",
        title="rankings, top 10",
        floor="rankings.sum()",
        shape=ArrayShape("recommendations", queries=100_000, depth=10, judged=5),
        metrics=("ndcg@10", "map@10"),
        goals=(
            Goal("times as fast as", 4, "rectools"),
            Goal("times as fast as", 4, "implicit"),
        ),
        libraries=("rankmeter", "rectools", "implicit"),
    ),
    Track(
        name="rankings-structured",
        title="rankings, ids with structure",
        floor=SUM_ARRAYS,
        shape=ArrayShape("structured", queries=100_000, depth=100, judged=5),
        goals=(Goal("times the track", 2, "rankings"),),
        libraries=("rankmeter",),
    ),
    Track(
        name="small-call",
        title="small call",
        floor=SUM_ARRAYS,
        shape=ArrayShape("scores", queries=8, depth=50, judged=5),
        metrics=NDCG,
        libraries=("rankmeter", "torch_topk", "bare_topk", "numpy_argpartition"),
    ),
    Track(
        name="files",
        title="files",
        floor=COUNT_LINES,
        shape=FILES._replace(kind="command"),
        goals=(
            Goal("times as fast as", 25, "trec_eval"),
            Goal("times as fast as", 40, "trec_eval", who="two_threads"),
            Goal("times the floor", 10),
        ),
        libraries=("rankmeter", "two_threads", "trec_eval"),
    ),
    Track(
        name="everything",
        title="files, all measures of trec_eval",
        floor=COUNT_LINES,
        shape=FILES._replace(kind="everything"),
        metrics=("all_trec",),
        goals=(Goal("times as fast as", 20, "trec_eval"),),
        libraries=("rankmeter", "trec_eval"),
    ),
    Track(
        name="files-in-process",
        title="files, in process",
        floor=COUNT_LINES,
        shape=FILES,
        goals=(
            Goal("times as fast as", 100, "ir_measures"),
            Goal("times as fast as", 50, "ranx"),
        ),
        libraries=("rankmeter", "two_threads", "ranx", "ir_measures"),
    ),
    Track(
        name="files-prepared",
        title="files, by an Evaluator of a dict",
        floor=COUNT_LINES,
        shape=FILES._replace(kind="prepared"),
        goals=(Goal("times the track", ROOM_FOR_NOISE, "files-in-process"),),
        libraries=("rankmeter",),
    ),
    Track(
        name="files-gzip",
        title="files, compressed",
        floor="while file.read(1 << 20): pass",
        shape=FILES._replace(kind="gzip"),
        goals=(Goal("times the floor", 1.3),),
        libraries=("rankmeter", "two_threads"),
    ),
    *(
        Track(
            name=f"file-{layout}",
            title=f"files, {layout}",
            floor=COUNT_LINES,
            shape=FILES._replace(layout=layout),
            goals=(
                Goal("times the same in", limit, "files-in-process"),
                Goal("times as fast as", 1, "pytrec_eval"),
            ),
            libraries=("rankmeter", "pytrec_eval"),
        )
        for layout, limit in REORDERED
    ),
    Track(
        name="table",
        title="table",
        floor=COUNT_LINES,
        shape=TABLE,
        goals=(
            Goal("times the track", 1, "files-in-process"),
            Goal("times as fast as", 30, "ir_measures"),
            TABLE_THREADS,
        ),
        libraries=("rankmeter", "two_threads", "ir_measures", "duckdb", "polars"),
        needs=("pyarrow", "pandas"),
    ),
    *(
        Track(
            name=f"table-{layout}",
            title=f"table, {layout}",
            floor=COUNT_LINES,
            shape=TABLE._replace(layout=layout),
            goals=(
                Goal("times the same in", limit, "table"),
                Goal("times as fast as", 1.2, "duckdb"),
            ),
            libraries=("rankmeter", "duckdb", "polars"),
            needs=("pyarrow",),
        )
        for layout, limit in REORDERED
    ),
    Track(
        name="integers",
        title="table, integers",
        floor=COUNT_LINES,
        shape=INTEGERS,
        goals=(
            Goal("times the same in", 0.7, "table"),
            Goal("times as fast as", 2, "duckdb"),
        ),
        libraries=("rankmeter", "duckdb", "polars"),
        needs=("pyarrow",),
    ),
    *(
        Track(
            name=f"integers-{layout}",
            title=f"table, integers, {layout}",
            floor=COUNT_LINES,
            shape=INTEGERS._replace(layout=layout),
            goals=(
                Goal("times the same in", limit, "integers"),
                Goal("times as fast as", 1, "duckdb"),
            ),
            libraries=("rankmeter", "duckdb", "polars"),
            needs=("pyarrow",),
        )
        for layout, limit in REORDERED
    ),
    Track(
        name="integers-pandas",
        title="table of pandas, integers, top 10",
        floor=COUNT_LINES,
        shape=FileShape("pandas", 100_000, depth=10, relevant=5, not_relevant=0, ids="integers"),
        goals=(Goal("times as fast as", 4, "rectools"),),
        libraries=("rankmeter", "rectools"),
        needs=("pyarrow", "pandas"),
    ),
    Track(
        name="chunks",
        title="table, chunks",
        floor=COUNT_LINES,
        shape=TABLE._replace(layout="chunks"),
        goals=(Goal("times the same in", 1.5, "table"),),
        libraries=("rankmeter",),
        needs=("pyarrow",),
    ),
    *(
        Track(
            name=f"table-{kind}",
            title=f"table of {kind}",
            floor=COUNT_LINES,
            shape=TABLE._replace(kind=kind),
            goals=(Goal("times the track", 1, "files-in-process"), TABLE_THREADS),
            libraries=("rankmeter", "two_threads"),
            needs=("pyarrow", kind),
        )
        for kind in FRAMES
    ),
    *(
        Track(
            name=f"categories-{kind}",
            title=f"table of {kind}, categories",
            floor=COUNT_LINES,
            shape=TABLE._replace(kind=kind, ids="categories"),
            goals=(Goal("times the same in", 1, text),),
            libraries=("rankmeter",),
            needs=("pyarrow", kind),
        )
        for kind, text in (("pyarrow", "table"), *((kind, f"table-{kind}") for kind in FRAMES))
    ),
    Track(
        name="parquet",
        title="Parquet",
        floor=COUNT_LINES,
        shape=TABLE._replace(kind="parquet"),
        goals=(TABLE_THREADS,),
        libraries=("rankmeter", "two_threads", "duckdb"),
        needs=("pyarrow",),
    ),
    Track(
        name="qrels",
        title="judgments in a file",
        floor=COUNT_LINES,
        shape=FileShape("qrels", queries=10_000, depth=100, relevant=10, not_relevant=90),
        goals=(Goal("times the floor", 12),),
        libraries=("rankmeter",),
    ),
    Track(
        name="fuse",
        title="reciprocal rank fusion",
        floor=SUM_RUNS,
        shape=FusionShape("rrf", queries=1_000, depth=1_000, pool=3_000),
        metrics=(),
        goals=(Goal("times as fast as", 10, "ranx"),),
        libraries=("rankmeter", "ranx"),
    ),
    Track(
        name="fuse-scores",
        title="weighted sum of min-max scores",
        floor=SUM_RUNS,
        shape=FusionShape("wsum", queries=1_000, depth=1_000, pool=3_000),
        metrics=(),
        goals=(Goal("times as fast as", 10, "ranx"),),
        libraries=("rankmeter", "ranx"),
    ),
    Track(
        name="sweep",
        title="sweep",
        floor=SUM_RUNS,
        shape=FusionShape("sweep", queries=1_000, depth=100, pool=200),
        metrics=NDCG,
        goals=(Goal("times as fast as", 5, "weight_by_weight"),),
        libraries=("rankmeter", "weight_by_weight"),
    ),
    *(
        Track(
            name=name,
            title=f"files, {name.replace('-', ' ')}",
            floor=COUNT_LINES,
            shape=FileShape("files", queries, depth=1_000, relevant=5, not_relevant=5),
            goals=goals,
            libraries=("rankmeter",),
            timed_by="query",
        )
        for name, queries, goals in (
            (MILLION_LINES, 1_000, ()),
            (
                "ten-million-lines",
                10_000,
                (Goal("times the time a query of", ROOM_FOR_NOISE, MILLION_LINES),),
            ),
        )
    ),
    Track(
        name="compare",
        title="comparison of two runs",
        floor="for run in runs: for d in run.values(): sum(d.values())",
        # A fiftieth of what compare() draws by default, which takes others minutes. It flatters
        # them: the evaluation costs the same.
        shape=CompareShape(queries=5_000, depth=100, relevant=5, not_relevant=5, draws=DRAWS),
        goals=(
            Goal("times as fast as", 20, "scipy"),
            Goal("times as fast as", 10, "ranx"),
        ),
        libraries=("rankmeter", "scipy", "ranx"),
    ),
)

SPEED_TRACK = {track.name: track for track in SPEED_TRACKS}
IMPORT = "import"
IMPORT_LIMIT = 1.3


@dataclass(frozen=True)
class MemoryTrack:
    """By how much a process grows on the input of another track, and by how much it may."""

    name: str
    input: Track
    limit_bytes: int

    @property
    def libraries(self) -> tuple[str, ...]:
        """Who takes part there, takes part here."""
        return self.input.libraries


MEMORY_TRACK = {
    track.name: track
    for track in (
        MemoryTrack("memory", SPEED_TRACK["dict"], limit_bytes=4_000_000),
        MemoryTrack("memory-files", SPEED_TRACK["ten-million-lines"], limit_bytes=64_000_000),
    )
}
TRACK_NAMES = (*SPEED_TRACK, IMPORT, *MEMORY_TRACK)
