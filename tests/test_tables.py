"""Tables of every kind give the digits of dicts, and what is wrong with them is said."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import pickle
import re
import subprocess
import sys
from collections import UserDict, UserList, deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import alike, outcome, refused, same
from readers import read_qrels, read_run

import rankmeter as rm
from rankmeter.cli.commands import main
from rankmeter.doors import arrow

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

METRICS = ["ndcg@10", "map", "mrr", "recall@2", "ndcg@3(gain=linear)"]

QRELS: dict[str, dict[str, float]] = {
    "q1": {"a": 3, "b": 1, "\u00e9": 2},
    "20": {"7": 1, "8": 2},
    "gone": {"a": 1},
}
RUN: dict[str, dict[str, float]] = {
    "20": {"8": 9.0, "9": 8.5, "7": 1.0},
    "q1": {"x": 3.5, "b": 3.25, "a": -0.5, "\u00e9": -2.0},
    "new": {"a": 1.0},
}
ROWS = [(q, d, s) for q, scores in RUN.items() for d, s in scores.items()]
JUDGED = [(q, d, g) for q, grades in QRELS.items() for d, g in grades.items()]


def table(rows: Any = ROWS, number: str = "score", **types: Any) -> Any:
    names = ("query_id", "doc_id", number)
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return pa.table({name: pa.array(list(v), types.get(name)) for name, v in columns})


def expected(**options: Any) -> rm.Evaluation:
    return rm.evaluate(QRELS, RUN, METRICS, **options)


# ---------------------------------------------------------------------------------------------
# Kinds of tables


class Foreign:
    """All that is known of it is that it speaks Arrow."""

    def __init__(self, content: Any) -> None:
        self._content = content

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._content.__arrow_c_stream__(requested_schema)


def _duckdb(content: Any) -> Any:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().from_arrow(content)
    if not hasattr(relation, "__arrow_c_stream__"):
        pytest.skip("this duckdb does not speak Arrow")
    return relation


def _polars(content: Any) -> Any:
    return pytest.importorskip("polars").DataFrame(content.to_pydict())


def _pandas(content: Any) -> Any:
    return pytest.importorskip("pandas", "2.2").DataFrame(content.to_pydict())


KINDS: dict[str, Callable[[Any], Any]] = {
    "Table": lambda content: content,
    "RecordBatch": lambda content: content.to_batches()[0],
    "RecordBatchReader": lambda content: content.to_reader(3),
    "Foreign": Foreign,
    "polars": _polars,
    "pandas": _pandas,
    "duckdb": _duckdb,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_kinds_of_tables(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    make = KINDS[kind]
    for together in (1, 2, 1 << 16):
        monkeypatch.setattr(arrow, "_TOGETHER", together)
        same(rm.evaluate(QRELS, make(table()), METRICS, threads=threads), expected())
        judged = table(JUDGED, "grade")
        same(rm.evaluate(make(judged), make(table()), METRICS, threads=threads), expected())
        same(rm.evaluate(make(judged), RUN, METRICS), expected())
        # A stream can be read once only, also where the careful reader is needed.
        mixed = table(ROWS[::2] + ROWS[1::2])
        same(rm.evaluate(make(judged), make(mixed), METRICS, threads=threads), expected())


@pytest.mark.parametrize("number", ["grade", "relevance"])
def test_columns_of_judgments(number: str) -> None:
    same(rm.evaluate(table(JUDGED, number), table(), METRICS), expected())


def test_ranks() -> None:
    ranked = [
        (query, document, rank)
        for query, scores in RUN.items()
        for rank, document in reversed([*enumerate(sorted(scores, key=lambda d: -scores[d]), 5)])
    ]
    for rows in (ranked, ranked[::2] + ranked[1::2]):  # the careful reader knows of ranks, too
        same(rm.evaluate(QRELS, table(rows, "rank"), METRICS), expected())
    both = table().append_column("rank", pa.array([1] * len(ROWS)))
    same(rm.evaluate(QRELS, both, METRICS), expected())
    same(rm.evaluate(QRELS, table(ranked, "rank").cast(_all_text("rank")), METRICS), expected())


def _all_text(number: str) -> Any:
    return pa.schema([("query_id", pa.large_string()), ("doc_id", pa.binary()), (number, "float")])


def _pandas_categories(content: Any) -> Any:
    frame = _pandas(content)
    return frame.astype({"query_id": "category", "doc_id": "category"})


def _polars_categories(content: Any) -> Any:
    polars = pytest.importorskip("polars")
    text = polars.Categorical
    return _polars(content).with_columns(
        polars.col("query_id").cast(text), polars.col("doc_id").cast(text)
    )


@pytest.mark.parametrize("make", [_pandas_categories, _polars_categories])
def test_categories(make: Callable[[Any], Any]) -> None:
    same(rm.evaluate(make(table(JUDGED, "grade")), make(table()), METRICS), expected())


# ---------------------------------------------------------------------------------------------
# Types of columns


def _dictionary(index: Any, kind: Any) -> Callable[[Any], Any]:
    def encode(column: Any) -> Any:
        coded = column.combine_chunks().dictionary_encode()
        values = coded.dictionary.cast(kind)
        return pa.DictionaryArray.from_arrays(coded.indices.cast(index), values)

    return encode


def _cast(kind: Any) -> Callable[[Any], Any]:
    return lambda column: column.cast(kind)


ID_TYPES = {
    "string": _cast(pa.string()),
    "large_string": _cast(pa.large_string()),
    "string_view": _cast(pa.string_view()) if hasattr(pa, "string_view") else None,
    "binary": _cast(pa.binary()),
    "large_binary": _cast(pa.large_binary()),
    "dictionary": _dictionary(pa.int8(), pa.string()),
    "dictionary of large_string": _dictionary(pa.uint32(), pa.large_string()),
    "dictionary of string_view": (
        _dictionary(pa.int32(), pa.string_view()) if hasattr(pa, "string_view") else None
    ),
    "dictionary of binary": _dictionary(pa.int16(), pa.binary()),
}


def changed(content: Any, change: Callable[[Any], Any], names: Any = ("query_id", "doc_id")) -> Any:
    for name in names:
        at = content.schema.get_field_index(name)
        content = content.set_column(at, name, change(content.column(name)))
    return content


@pytest.mark.parametrize("kind", ID_TYPES)
@pytest.mark.parametrize("names", [("query_id",), ("doc_id",), ("query_id", "doc_id")])
def test_types_of_ids(kind: str, names: tuple[str, ...]) -> None:
    change = ID_TYPES[kind]
    if change is None:
        pytest.skip("this pyarrow has no string views")
    run = changed(table(), change, names)
    same(rm.evaluate(QRELS, run, METRICS), expected())
    same(rm.evaluate(changed(table(JUDGED, "grade"), change, names), run, METRICS), expected())
    mixed = changed(table(ROWS[::2] + ROWS[1::2]), change, names)
    same(rm.evaluate(QRELS, mixed, METRICS), expected())
    for start in range(4):
        part = run.slice(start, len(ROWS) - 2)
        want = rm.evaluate(QRELS, _of(ROWS[start : start + len(ROWS) - 2]), METRICS)
        same(rm.evaluate(QRELS, part, METRICS), want)


def _of(rows: Any) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for query, document, score in rows:
        run.setdefault(query, {})[document] = score
    return run


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("coded", [False, True])
def test_integers_as_ids(kind: str, coded: bool) -> None:
    info = np.iinfo(kind)
    ids = [int(info.min), 0, 1, 20, int(info.max)]
    ids = list(dict.fromkeys(ids))
    rows = [(q, d, float(d % 3)) for q in ids for d in ids]
    run = table(rows, query_id=getattr(pa, kind)(), doc_id=getattr(pa, kind)())
    if coded:
        run = changed(run, lambda column: column.dictionary_encode())
    want = {str(q): {str(d): float(d % 3) for d in ids} for q in ids}
    qrels = {str(q): {str(ids[0]): 1, str(ids[-1]): 2} for q in ids}
    same(rm.evaluate(qrels, run, METRICS), rm.evaluate(qrels, want, METRICS))


def _integer_ids(content: Any) -> dict[int, dict[int, float]]:
    return {int(q): {int(d): x for d, x in found.items()} for q, found in content.items()}


NUMBERED = {"1": {"7": 3.0, "8": 1.0, "-2": 2.0}, "20": {"7": 1.0}, "3": {"9": 1.0}}
FOUND = {"20": {"8": 2.0, "7": 1.0}, "1": {"9": 5.0, "7": 1.0, "-2": 1.0}, "4": {"7": 1.0}}


def _numbered(content: Any, number: str) -> Any:
    whole = _integer_ids(content)
    return table([(q, d, x) for q, found in whole.items() for d, x in found.items()], number)


@pytest.mark.parametrize("numpy_ids", [False, True])
@pytest.mark.parametrize("together", [1, 1 << 16])
def test_integers_match_integers(
    together: int, numpy_ids: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow, "_TOGETHER", together)
    want = rm.evaluate(NUMBERED, FOUND, METRICS)
    qrels, run = _integer_ids(NUMBERED), _integer_ids(FOUND)
    if numpy_ids:
        qrels = {np.int64(q): {np.int32(d): g for d, g in v.items()} for q, v in qrels.items()}  # type: ignore[misc]
        run = {np.uint8(q): {np.int64(d): g for d, g in v.items()} for q, v in run.items()}  # type: ignore[misc]
    scored, judged = _numbered(FOUND, "score"), _numbered(NUMBERED, "grade")
    for given_run in (scored, scored.take(pa.array([0, 2, 1, 3, 4, 5])), scored.to_reader(2)):
        found = rm.evaluate(qrels, given_run, METRICS)  # type: ignore[arg-type]
        assert found.query_ids == tuple(qrels)
        assert found.values.tobytes() == want.values.tobytes()
        assert (found.coverage, found.ties) == (want.coverage, want.ties)
    same(rm.evaluate(judged, run, METRICS), want)
    same(rm.evaluate(judged, scored, METRICS), want)
    same(rm.evaluate(judged, FOUND, METRICS), want)
    same(rm.evaluate(NUMBERED, scored, METRICS), want)
    scorer = rm.Evaluator(judged, METRICS)
    for given_run in (run, FOUND, scored, run):
        same(scorer.evaluate(given_run), want)
    for ranked in (tuple, np.array):
        lists: Any = {q: ranked(list(v)) for q, v in run.items()}
        text = {q: list(v) for q, v in FOUND.items()}
        same(rm.evaluate(judged, lists, METRICS), rm.evaluate(NUMBERED, text, METRICS))


def _made_by(module: str, name: str) -> Callable[[Any], Any]:
    return lambda ids: getattr(pytest.importorskip(module), name)(ids)


SEQUENCES: dict[str, Callable[[list[int]], Any]] = {
    "deque": deque,
    "range": lambda ids: range(ids[0], ids[-1] + 1),
    "UserList": UserList,
    "memoryview": lambda ids: memoryview(np.array(ids)),
    "pyarrow": pa.array,
    "pyarrow in chunks": lambda ids: pa.chunked_array([ids[:1], ids[1:]]),
    "pandas index": _made_by("pandas", "Index"),
    "pandas array": _made_by("pandas", "array"),
    "pandas categories": _made_by("pandas", "Categorical"),
    "polars": _made_by("polars", "Series"),
}


@pytest.mark.parametrize("kind", SEQUENCES.values(), ids=SEQUENCES.keys())
def test_every_door_takes_the_same_sequences(kind: Callable[[Any], Any], tmp_path: Path) -> None:
    ids, path = [5, 6, 7], tmp_path / "run"
    ranking = kind(ids)
    qrels = {"q": {6: 1}}
    for judged in (qrels, table([("q", 6, 1)], "grade")):
        assert rm.evaluate(judged, {"q": ranking}, "mrr")["mrr"] == 0.5
    assert rm.reciprocal_rank(ranking, qrels["q"]) == 0.5
    fused = rm.fuse({"x": {"q": ranking}})
    assert [(document, type(document)) for document in fused["q"]] == [(id_, int) for id_ in ids]
    rm.write_run({"q": ranking}, path)
    assert read_run(str(path)) == {"q": {"5": 3.0, "6": 2.0, "7": 1.0}}
    assert rm.evaluate({"q": {9: 1}}, {"q": ranking}, "mrr").lost == ("q", 9, 5)


def _lazy(content: Any) -> Any:
    return _polars(content).lazy()


@pytest.mark.parametrize("kind", [lambda content: content, _pandas, _polars, _lazy])
def test_a_table_is_no_ranking_of_one_query(kind: Callable[[Any], Any], tmp_path: Path) -> None:
    path = tmp_path / "file"
    rows = kind(table([("q", "a", 1.0)]))
    qrels: Any = {"q": {"a": 1}}
    ev = rm.evaluate(qrels, qrels, "mrr")
    for call in (
        lambda: rm.evaluate(qrels, {"q": rows}, "mrr"),
        lambda: rm.evaluate(table([("q", 6, 1)], "grade"), {"q": rows}, "mrr"),
        lambda: rm.evaluate({"q": rows}, qrels, "mrr"),
        lambda: rm.fuse({"x": {"q": rows}}),
        lambda: rm.risk_coverage(ev, "mrr", run={"q": rows}),
        lambda: rm.write_run({"q": rows}, path),
        lambda: rm.write_qrels({"q": rows}, path),
        lambda: rm.reciprocal_rank(rows, qrels["q"]),
    ):
        with pytest.raises(TypeError, match=r"a list of ids, best first, not a .*; a table of all"):
            call()
    for name, write in (("run", rm.write_run), ("qrels", rm.write_qrels)):
        with pytest.raises(TypeError, match=rf"^{name} must be .*, not a .*{name}\.setdefault\("):
            write(rows, path)
    assert not path.exists()


def test_lazy_frames_are_collected_first() -> None:
    lazy = _lazy(table())
    for call in (
        lambda: rm.evaluate(QRELS, lazy, "mrr"),
        lambda: rm.evaluate(lazy, RUN, "mrr"),
        lambda: rm.fuse({"x": lazy}),
    ):
        with pytest.raises(TypeError, match=r"not LazyFrame: pass its \.collect\(\)"):
            call()


def test_integers_of_queries_or_of_documents_alone() -> None:
    run = table([(1, "7", 2.0), (1, "8", 1.0)])
    assert rm.evaluate({1: {"8": 1}}, run, "mrr")["mrr"] == 0.5
    assert rm.evaluate({"1": {"8": 1}}, run, "mrr")["mrr"] == 0.5
    with pytest.raises(TypeError, match=r"query '1': .*ids of files are str: pass str\(id\)"):
        rm.evaluate({1: {8: 1}}, run, "mrr")
    run = table([("1", 7, 2.0), ("1", 8, 1.0)])
    assert rm.evaluate({"1": {8: 1}}, run, "mrr")["mrr"] == 0.5
    with pytest.raises(ValueError, match=r"no query in common.*str ids \(such as '1'\)"):
        rm.evaluate({1: {8: 1}}, run, "mrr")


def test_integers_that_no_table_can_hold() -> None:
    run = _numbered(FOUND, "score")
    for more in ({5: {}}, {2**70: {2**70: 1}}, {True: {7: 1}}):
        qrels: Any = _integer_ids({"20": NUMBERED["20"]}) | more
        assert rm.evaluate(qrels, run, "mrr").per_query[20] == {"mrr": 0.5}
    assert (
        rm.evaluate({1: {7: 1, "7": 1}, 20: {7: 1}}, {1: {7: 2.0, "7": 1.0}}, "map")["map"] == 0.5
    )


def test_integers_and_their_decimal_text_are_one_id_to_a_table() -> None:
    judged, run = table([(1, 7, 1)], "grade"), table([(1, 7, 2.0)])
    twice = {7: 2.0, "7": 1.0}
    for found in (twice, {"7": 1.0, 7: 2.0}, MappingProxyType(twice)):
        said = refused(judged, {1: found})
        assert said.startswith("query '1': document 7 is there as an integer and as text")
    assert refused(judged, {1: [7, "7"]}).startswith("query '1': document '7' stands twice")
    assert refused(judged, {1: [7], "1": [7]}).startswith("query 1 is there as an integer and")
    assert refused({1: twice}, run).startswith("query 1: judged document 7 is there as an")
    assert refused({1: {7: 1}, "1": {7: 1}}, run).startswith("judged query 1 is there as an")
    with pytest.raises(ValueError, match="document 7 is there as an integer and as text"):
        rm.fuse({"a": {1: twice}, "b": run})
    assert rm.evaluate(judged, {1: [7, "7"]}, "mrr", duplicates="first")["mrr"] == 1.0


def _ids_of_two_kinds() -> Iterator[Any]:
    lists: dict[Any, Any] = {1: ["none", 5], 2: ["none", 6], 3: ["7"]}
    for found in (lists, dict(reversed(lists.items()))):
        yield found
        yield {q: tuple(ids) for q, ids in found.items()}
        yield {q: np.array(ids, dtype=object) for q, ids in found.items()}
        yield {str(q) if q == 2 else q: ids for q, ids in found.items()}
        for make in (dict, MappingProxyType, UserDict):
            yield {q: make({d: float(-i) for i, d in enumerate(ids)}) for q, ids in found.items()}


@pytest.mark.parametrize("run", list(_ids_of_two_kinds()))
def test_runs_with_integers_and_text_find_the_integers_of_a_table(run: Any) -> None:
    judged = table([(1, 5, 1), (2, 6, 1), (3, 7, 1)], "grade")
    ev = rm.evaluate(judged, run, ["mrr", "recall@1"])
    assert (ev["mrr"], ev["recall@1"]) == (2 / 3, 1 / 3)
    assert rm.evaluate(judged, run, "mrr", duplicates="first")["mrr"] == 2 / 3


def test_judgments_with_integers_and_text_find_the_integers_of_a_run() -> None:
    qrels: dict[Any, Any] = {
        1: {"x": 1, 5: 1},
        "2": {6: 1, b"x": 1},
        3: {True: 1, "7": 1},
        ("4",): {},
    }
    rows = [(1, 9, 5), (1, 5, 4), (2, 9, 5), (2, 6, 4), (3, 9, 5), (3, 7, 4), (3, 1, 3)]
    lines = b"".join(
        json.dumps({"query_id": q, "ranked": [d for p, d, _ in rows if p == q]}).encode() + b"\n"
        for q in (1, 2, 3)
    )
    records = [{"query_id": q, "doc_id": d, "score": s} for q, d, s in rows]
    for judged in (qrels, dict(reversed(qrels.items()))):
        for run in (table(rows), io.BytesIO(lines), io.BytesIO(json.dumps(records).encode())):
            ev = rm.evaluate(judged, run, ["mrr", "recall@3"])
            assert ev.query_ids == tuple(judged)
            assert [*ev.per_query[1].values(), *ev.per_query["2"].values()] == [0.5] * 4
            assert [*ev.per_query[3].values()] == [0.5, 1.0]
        lost = rm.evaluate(judged, table([(1, 9, 1.0), (5, 9, 1.0)]), "mrr").lost
        assert lost in ((1, "x", "9"), (1, "5", "9"))


def test_integers_and_text_in_fusions_with_a_table() -> None:
    mixed: dict[Any, Any] = {1: {"x": 1.0, 5: 2.0}, 2: [6, "7"]}
    text: dict[Any, Any] = {1: {"x": 1.0, "5": 2.0}, 2: ["6", "7"]}
    run = table([(1, 5, 1.0), (2, 7, 2.0), (2, 6, 1.0)])
    want = rm.fuse({"a": text, "b": run})
    assert rm.fuse({"a": mixed, "b": run}) == want
    assert list(want[1]) == ["5", "x"]
    judged = table([(1, 5, 1), (2, 7, 1)], "grade")
    qrels: list[Any] = [judged, {1: {5: 1}, 2: {"7": 1}}, {"1": {"5": 1}, 2: {7: 1}}]
    values = {
        rm.sweep({"a": one, "b": run}, [0, 0.5, 1], grades, "mrr", folds=2).values.tobytes()
        for grades in qrels
        for one in (text, mixed)
    }
    assert values == {np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.5]]).tobytes()}


def _of_integers(metrics: Any = "mrr") -> rm.Evaluation:
    judged = table([(1, 5, 1), (2, 6, 1)], "grade")
    return rm.evaluate(judged, {1: [5], 2: [7, 6]}, metrics)


def test_results_of_integers_match_integers() -> None:
    ev = pickle.loads(pickle.dumps(_of_integers()))
    assert ev.query_ids == ("1", "2")
    for one in (ev, rm.concat([ev]), ev.bounds.lowest):
        for labels in ({1: "x", 2: "y"}, {"1": "x", "2": "y"}, {np.int8(1): "x", "2": "y"}):
            assert {label: part["mrr"] for label, part in one.by(labels).items()} == (
                {"x": 1.0, "y": 0.5}
            )
            assert set(one.by({"f": labels})["f"]) == {"x", "y"}
            part = one.by(labels)["x"]
            assert part.by({1: "z"})["z"].query_ids == ("1",)
    with pytest.raises(ValueError, match="query 1 is there as an integer and as text"):
        ev.by({1: "x", "1": "y"})
    with pytest.raises(TypeError, match="facets must be a mapping"):
        ev.by(3)
    with pytest.raises(ValueError, match="no evaluated query has a label"):
        rm.evaluate({"1": {"a": 1}}, {"1": ["a"]}, "mrr").by({1: "x"})


def test_comparisons_of_integers_match_integers() -> None:
    judged = table([(1, 5, 1), (2, 6, 1)], "grade")
    runs = {"a": {1: {5: 2.0}, 2: {7: 2.0, 6: 1.0}}, "b": table([(1, 5, 3.0), (2, 6, 1.0)])}
    comparison = rm.compare(judged, runs, "mrr", facets={1: "x", 2: "y"})
    assert set(comparison.facets) == {"x", "y"}
    assert set(comparison.facets["x"].by({1: "z"})) == {"z"}
    ev = _of_integers()
    other = rm.evaluate({2: {6: 1}, 1: {5: 1}}, runs["a"], "mrr")
    for two in ({"a": ev, "b": other}, {"b": other, "a": ev}):
        paired = rm.compare(two)
        assert set(paired.query_ids) == {"1", "2"}
        assert paired.rows[0].difference == 0.0
        assert set(paired.by({1: "x"})) == {"x", None}
    twice = rm.evaluate({1: {5: 1}, "1": {5: 1}}, {1: [5]}, "mrr")
    with pytest.raises(ValueError, match="'b': query 1 is there as an integer and as text"):
        rm.compare({"a": ev, "b": twice})


def test_confidences_of_integers_match_integers() -> None:
    ev, run = _of_integers(), {1: {5: 2.0}, 2: {7: 3.0, 6: 1.0}}
    want = rm.risk_coverage(ev, "mrr", {"1": 2.0, "2": 3.0})
    assert want.risk.tolist() == [0.5, 0.25]
    rows = table([(q, d, s) for q, found in run.items() for d, s in found.items()])
    sources: list[Any] = [{"run": run}, {"run": rows}, {"confidence": {1: 2.0, 2: 3.0}}]
    for source in sources:
        assert rm.risk_coverage(ev, "mrr", **source).risk.tobytes() == want.risk.tobytes()


def test_concat_counts_no_query_twice() -> None:
    ev = _of_integers()
    one, three = (rm.evaluate({q: {5: 1}}, {q: [5]}, "mrr") for q in (1, 3))
    text = rm.evaluate({"1": {"5": 1}}, {"1": ["5"]}, "mrr")
    for parts in ([ev, one], [one, ev]):
        with pytest.raises(ValueError, match="query '1' is in two evaluations"):
            rm.concat(parts)
    with pytest.raises(ValueError, match=r"query 1 is there as an integer and as text.*str\(id\)"):
        rm.concat([text, one])
    both = rm.concat([three, ev])
    assert both.query_ids == ("3", "1", "2")
    assert set(both.by({1: "x", 3: "y"})) == {"x", "y", None}
    assert rm.concat([text, three]).query_ids == ("1", 3)


def test_equal_scores_of_integers_go_by_their_decimal_text() -> None:
    ids = {1: {9: 1, 10: 2}}
    scores = {q: dict.fromkeys(found, 0.5) for q, found in ids.items()}
    run = table([(q, d, x) for q, found in scores.items() for d, x in found.items()])
    judged = table([(q, d, g) for q, found in ids.items() for d, g in found.items()], "grade")
    for qrels in (ids, judged, ids | {2: {}}):
        assert rm.evaluate(qrels, run, "mrr(rel=2)").values[0, 0] == 0.5
    assert rm.evaluate(judged, scores, "mrr(rel=2)")["mrr(rel=2)"] == 0.5


def test_queries_in_common_of_integers() -> None:
    run = _numbered(FOUND, "score")
    with pytest.raises(
        ValueError, match=r"qrels have 1 query \(6\), the run has 3 .*\(20, 1, 4\)$"
    ):
        rm.evaluate({6: {7: 1}}, run, "mrr")
    with pytest.raises(ValueError, match=r"have 3 .*, the run has 1 query \('6'\)$"):
        rm.evaluate(_numbered(NUMBERED, "grade"), {6: [7]}, "mrr")


def test_integers_of_other_functions() -> None:
    qrels, run = _integer_ids(NUMBERED), _integer_ids(FOUND)
    tables = _numbered(NUMBERED, "grade"), _numbered(FOUND, "score")
    assert rm.fuse({"a": run, "b": tables[1]}) == rm.fuse({"a": run, "b": run})
    assert rm.fuse({"a": FOUND, "b": tables[1]}) == rm.fuse({"a": FOUND, "b": FOUND})
    both: list[Any] = [{"a": run, "b": _integer_ids(NUMBERED)}, {"a": tables[1], "b": tables[1]}]
    both[1]["b"] = _numbered(NUMBERED, "score")
    want = rm.sweep(both[0], [0, 0.5, 1], qrels, "map", folds=2).values.tobytes()
    for runs in (*both, {**both[0], "b": both[1]["b"]}):
        for judged in (qrels, tables[0]):
            found = rm.sweep(runs, [0, 0.5, 1], judged, "map", folds=2)
            assert found.values.tobytes() == want
    ev = rm.evaluate(qrels, run, "map")
    curve = rm.risk_coverage(ev, "map", run=run)
    assert rm.risk_coverage(ev, "map", run=tables[1]).aurc == curve.aurc
    with pytest.raises(TypeError, match="no query in common; str ids"):
        rm.risk_coverage(ev, "map", run=FOUND)


def test_integers_of_json_match_integers() -> None:
    qrels, run = {1: {7: 1}, 2: {7: 1}}, b'{"query_id": 1, "ranked": [8, 7]}\n'
    assert rm.evaluate(qrels, io.BytesIO(run), "mrr").per_query[1] == {"mrr": 0.5}
    text = {str(q): {str(d): g for d, g in grades.items()} for q, grades in qrels.items()}
    assert rm.evaluate(text, io.BytesIO(run), "mrr").per_query["1"] == {"mrr": 0.5}
    for twice in (b'{"query_id": "1", "ranked": []}', b'{"query_id": 3, "ranked": [7, "7"]}'):
        for judged in (qrels, text):
            assert refused(judged, io.BytesIO(run + twice)).startswith("<file>:2: ")
    judgments = b'{"query_id": 1, "qrels": {"7": 1}}\n'
    for found in ({1: ["8", "7"]}, {"1": ["8", "7"]}):
        assert rm.evaluate(io.BytesIO(judgments), found, "mrr").per_query == {"1": {"mrr": 0.5}}
    mixed = io.BytesIO(judgments + b'{"query_id": "2", "qrels": {"7": 1}}')
    assert "never match" in refused(mixed, {1: ["7"]})


def test_bytes_that_are_no_text() -> None:
    rows = [(b"q\xff", b"\x80", 1.0), (b"q\xff", b"\xff\0 \n", 1.0), (b"q\xff", b"", 0.5)]
    qrels = table([(b"q\xff", b"\xff\0 \n", 1), (b"q\xff", b"", 2)], "grade")
    ev = rm.evaluate(qrels, table(rows), ["mrr", "mrr(rel=2)"])
    assert ev.query_ids == ("q\udcff",)
    assert ev.mean == {"mrr": 1.0, "mrr(rel=2)": 1 / 3}


SCORE_TYPES = ["float32", "float64", "float16", *INTEGERS]


@pytest.mark.parametrize("kind", SCORE_TYPES)
@pytest.mark.parametrize("coded", [False, True])
def test_types_of_scores(kind: str, coded: bool) -> None:
    numbers = np.array([100, 7, 3, 2, 1, 0, 5, 5], kind)
    if kind.startswith("float"):
        numbers /= numbers.dtype.type(7)
    rows = [(q, d, n) for (q, d, _), n in zip(ROWS, numbers, strict=True)]
    run = table([(q, d, 0) for q, d, _ in rows])
    column = pa.array(numbers)
    if coded:
        try:
            column = column.dictionary_encode()
        except pa.ArrowNotImplementedError as error:
            pytest.skip(str(error))
    run = run.set_column(2, "score", column)
    want = _of((q, d, float(n)) for q, d, n in rows)
    same(rm.evaluate(QRELS, run, METRICS), rm.evaluate(QRELS, want, METRICS))


@pytest.mark.parametrize("bits", [128, 256])
def test_decimals_become_the_nearest_doubles(bits: int) -> None:
    rng = np.random.default_rng(bits)
    texts = [f"{n // 10**6}.{n % 10**6:06}" for n in rng.integers(0, 10**8, 500).tolist()]
    kind = getattr(pa, f"decimal{bits}")(20, 6)
    rows = [("q", f"d{i}", Decimal(text)) for i, text in enumerate(texts)]
    want = {"q": {f"d{i}": float(text) for i, text in enumerate(texts)}}
    judged = table(rows, "grade", grade=kind)
    assert read_qrels(judged) == want
    run = table(rows, score=kind)
    assert read_run(run) == want
    linear = ["ndcg(gain=linear)", "ndcg@3(gain=linear)"]
    shuffled = {"q": {d: float(i * 7 % 11) for i, d in enumerate(want["q"])}}
    same(rm.evaluate(judged, shuffled, linear), rm.evaluate(want, shuffled, linear))
    same(rm.evaluate(QRELS | want, run, METRICS), rm.evaluate(QRELS | want, want, METRICS))
    assert read_run(table([("q", "d", Decimal("-0.000001"))], score=kind)) == {"q": {"d": -1e-6}}


def test_large_integers_keep_their_order() -> None:
    numbers = [2**53 + 1, 2**53, 2**63 - 1, 2**62 + 513, -(2**53) - 3]
    rows = [("q", f"d{n}", n) for n in numbers]
    assert read_run(table(rows)) == {"q": {f"d{n}": n for n in numbers}}
    largest = table([("q", "d", 2**64 - 1), ("q", "e", 2**64 - 2)], score=pa.uint64())
    assert read_run(largest) == {"q": {"d": 2**64 - 1, "e": 2**64 - 2}}
    in_order = sorted(numbers, reverse=True)
    qrels = {"q": {f"d{n}": 1 + i % 3 for i, n in enumerate(in_order)}}
    want = rm.evaluate(qrels, {"q": {f"d{n}": n for n in numbers}}, METRICS)
    same(rm.evaluate(qrels, table(rows), METRICS), want)
    same(rm.evaluate(qrels, io.BytesIO(FILES["parquet"][0](table(rows))), METRICS), want)
    batches = pa.concat_tables([table(rows[:1]), table(rows[1:])])
    assert rm.evaluate({"q": {f"d{2**53}": 1}}, batches, "mrr")["mrr"] == 0.25
    judged = table([("q", "d", 2**53 + 1)], "grade")
    assert read_qrels(judged) == {"q": {"d": float(2**53)}}


@pytest.mark.parametrize(
    ("shape", "coded"),
    [("table", False), ("table", True), ("stream", False), ("stream", True), ("parquet", False)],
)
def test_booleans_are_numbers(shape: str, coded: bool) -> None:
    judged = [(query, document, grade > 1) for query, document, grade in JUDGED]
    want = rm.evaluate(_of(judged), _of(judged), METRICS)

    def made(number: str) -> Any:
        content = table(judged, number)
        if coded:
            numbers = pa.DictionaryArray.from_arrays(
                content.column(number).combine_chunks().cast("int8"), pa.array([False, True])
            )
            content = content.set_column(2, number, numbers)
        return content if shape == "table" else io.BytesIO(FILES[shape][0](content))

    same(rm.evaluate(made("grade"), made("score"), METRICS), want)
    same(rm.evaluate(made("relevance"), _of(judged), METRICS), want)


@pytest.mark.parametrize(
    ("column", "values", "what"),
    [
        ("query_id", [1.0], "column query_id holds double, not texts or integers"),
        ("doc_id", [True], "column doc_id holds bool, not texts or integers"),
        ("doc_id", [["a"]], "column doc_id holds list<"),
        ("query_id", [None], "column query_id holds null, not texts or integers"),
        ("score", ["1"], "column score holds string, not numbers"),
        ("score", [None], "column score holds null, not numbers"),
    ],
)
def test_types_that_are_refused(column: str, values: list[Any], what: str, tmp_path: Path) -> None:
    run = changed(table(ROWS[:1]), lambda _: pa.array(values), (column,))
    assert refused(QRELS, run, TypeError).startswith("run: " + what)
    path = tmp_path / "run"
    feather.write_feather(run, str(path))
    assert refused(QRELS, path, TypeError).startswith(f"{path}: {what}")


@pytest.mark.parametrize("ids", [["a", 1], [1, "a"], [2**70, 1], ["\udcff", "a"]])
def test_columns_of_pandas_without_a_type(ids: list[Any]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query_id": "q", "doc_id": "a", "score": [1.0]})
    mixed = pandas.concat([frame, frame], ignore_index=True)
    mixed["doc_id"] = pandas.Series(ids, dtype=object)
    said = refused({"q": {"a": 1}}, mixed, TypeError)
    assert re.match(r"run: column doc_id has no type of Arrow \(.*\.astype\(str\)", said)
    mixed["other"], mixed["doc_id"] = mixed["doc_id"], ["a", "b"]  # nobody asks for it
    assert rm.evaluate({"q": {"a": 1}}, mixed, "mrr")["mrr"] == 0.5


def test_a_stream_that_fails() -> None:
    class Failing:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        rm.evaluate(QRELS, Failing(), "mrr")


# ---------------------------------------------------------------------------------------------
# Chunks


@settings(max_examples=200)
@given(st.data())
def test_chunks_and_slices(data: st.DataObject) -> None:
    queries = data.draw(
        st.lists(st.sampled_from(["a", "b", "cc", "d", ""]), min_size=1, max_size=20)
    )
    if data.draw(st.booleans()):
        queries = sorted(queries)
    values = st.sampled_from([0.0, 1.0, 0.5, float("inf")])
    rows = [(query, f"d{i % 12}x{i // 12}", data.draw(values)) for i, query in enumerate(queries)]
    borders = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=6)))
    whole = changed(table(rows), ID_TYPES[data.draw(st.sampled_from(["string", "dictionary"]))])  # type: ignore[arg-type]
    pieces = [
        whole.slice(start, stop - start)
        for start, stop in zip([0, *borders], [*borders, len(rows)], strict=True)
    ]
    run = pa.concat_tables(pieces)
    qrels = {query: {document: 1 + i % 2 for i, (q, document, _) in enumerate(rows) if q == query}
             for query in ["a", "b", "cc", ""]}  # fmt: skip
    ties: Any = data.draw(st.sampled_from(["docid", "input", "expected"]))
    threads = data.draw(st.sampled_from([1, 2, 5]))
    want = outcome(rm.evaluate, qrels, _of(rows), METRICS, ties=ties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_TOGETHER", data.draw(st.sampled_from([1, 2, 3, 1 << 16])))
        for given_run in (run, run.to_reader(2), io.BytesIO(_stream(run))):
            ours = outcome(rm.evaluate, qrels, given_run, METRICS, ties=ties, threads=threads)
            alike(ours, want)


def test_a_query_that_begins_in_the_middle_of_a_batch() -> None:
    """Ids of several lengths, so that texts which are cut wrongly are not ids of others."""
    rows = [("a", "x", 3.0), ("a", "yy", 2.0), ("bbb", "z", 3.0), ("bbb", "x", 2.0)]
    rows += [("bbb", "uuuu", 1.0), ("cc", "x", 1.0)]
    qrels = {"a": {"yy": 1}, "bbb": {"x": 1, "uuuu": 2}, "cc": {"x": 1}}
    want = rm.evaluate(qrels, _of(rows), METRICS)
    for chunk in range(1, 7):
        same(rm.evaluate(qrels, table(rows).to_reader(chunk), METRICS), want)


# ---------------------------------------------------------------------------------------------
# What is wrong


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("column", ["query_id", "doc_id", "score"])
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_nulls(column: str, coded: bool, chunk: int) -> None:
    at = ["query_id", "doc_id", "score"].index(column)
    rows = [list(row) for row in ROWS]
    rows[5][at] = None
    run = table(rows)
    if coded:
        run = changed(run, lambda found: found.dictionary_encode(), (column,))
    said = refused(QRELS, run.to_reader(chunk))
    assert said == f"run: row 5: {column} is null"
    number = {"score": "grade"}.get(column, column)
    judged = run.rename_columns(["query_id", "doc_id", "grade"])
    assert refused(judged, RUN) == f"qrels: row 5: {number} is null"


def test_nulls_inside_a_dictionary() -> None:
    for column in (0, 1):
        values = pa.array(["q1", None, "a"])
        coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), values)
        arrays = [pa.array(["q1"] * 3), pa.array(["a", "b", "c"]), pa.array([1.0, 2.0, 3.0])]
        arrays[column] = coded
        run = pa.table(arrays, names=["query_id", "doc_id", "score"])
        assert refused(QRELS, run).startswith("run: row 1: ")
    numbers = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1.0, None]))
    run = pa.table([["q1", "q1"], ["a", "b"], numbers], names=["query_id", "doc_id", "score"])
    assert refused(QRELS, run) == "run: row 1: score is null"


@pytest.mark.parametrize("type_", ["float64", "float32", "float16"])
@pytest.mark.parametrize("row", range(4))
def test_a_nan_and_nothing_else(row: int, type_: str) -> None:
    """No null before it that would send the table to the careful reader."""
    scores = np.array([4, 3, 2, 1], type_)
    scores[row] = float("nan")
    run = pa.table({"query_id": ["q1"] * 4, "doc_id": ["x", "a", "y", "b"], "score": scores})
    for given_run in (run, run.to_reader(1), run.to_reader(3)):
        assert refused(QRELS, given_run) == f"run: row {row}: score is NaN"
    judged = run.rename_columns(["query_id", "doc_id", "grade"])
    assert refused(judged, RUN) == f"qrels: row {row}: grade is NaN"


def test_mistakes_are_gathered() -> None:
    rows: Any = [("q1", "a", 1.0), ("q1", "b", None), ("q1", "c", float("nan")), ("q1", "a", 2.0)]
    rows += [(None, "a", 1.0), ("q2", None, 1.0), ("q2", "a", float("inf"))]
    said = refused(QRELS, table(rows).to_reader(2), errors="collect").split("\n")
    assert said == [
        "run: row 1: score is null",
        "run: row 2: score is NaN",
        "run: row 3: document 'a' of query 'q1' stands in row 0 too; "
        "duplicates='first' keeps the first",
        "run: row 4: query_id is null",
        "run: row 5: doc_id is null",
    ]
    assert refused(QRELS, table(rows)) == said[0]
    said = refused(table(rows, "grade"), RUN, errors="collect").split("\n")
    assert said[-1] == "qrels: row 6: grade is infinite"
    assert len(said) == 6
    many = refused(QRELS, table([("q", "d", None)] * 30, score=pa.float64()), errors="collect")
    assert many.split("\n")[20:] == ["run: the rest is not looked at"]
    assert (
        refused(QRELS, table([("q", "d", float("inf"))], "rank")) == "run: row 0: rank is infinite"
    )


@pytest.mark.parametrize("number", ["score", "rank"])
@pytest.mark.parametrize("shape", ["table", "stream", "parquet", "mixed"])
def test_duplicates_first_keeps_the_first_row(shape: str, number: str) -> None:
    rows = [("q", "x", 3), ("q", "a", 2), ("q", "x", 9), ("r", "a", 1), ("q", "a", 1)]
    run: Any = table(rows if shape == "mixed" else sorted(rows, key=lambda row: row[0]), number)
    if shape in FILES:
        run = io.BytesIO(FILES[shape][0](run))
    ev = rm.evaluate({"q": {"a": 1}}, run, ["mrr", "map"], duplicates="first")
    assert ev.mean == dict.fromkeys(["mrr", "map"], 1.0 if number == "rank" else 0.5)
    assert "in row 0 too" in refused(table([("q", "a", 1)] * 2, "grade"), RUN, duplicates="first")


def test_grades_out_of_range() -> None:
    said = refused(table([("q1", "a", 2000)], "grade"), RUN)
    assert said.startswith("qrels: query 'q1': document 'a': grade 2000 is over 1023")


def test_no_rows(tmp_path: Path) -> None:
    assert refused(QRELS, table().slice(0, 0)) == "run: no rows in it"
    assert refused(table(JUDGED, "grade").slice(3, 0), RUN) == "qrels: no rows in it"
    path = tmp_path / "empty"
    pq.write_table(table().slice(0, 0), path)
    assert refused(QRELS, path) == f"{path}: no rows in it"


def test_a_stream_given_twice() -> None:
    reader = table().to_reader()
    same(rm.evaluate(QRELS, reader, METRICS), expected())
    assert refused(QRELS, reader) == "run: no rows in it (a stream can be read only once)"


@pytest.mark.parametrize("write", ["parquet", "feather", "file", "stream"])
def test_an_open_file_given_twice(write: str) -> None:
    file = io.BytesIO(FILES[write][0](table()))
    for _ in range(2):
        same(rm.evaluate(QRELS, file, METRICS), expected())
        said = "<file> has been read or written to its end: seek(0) first"
        assert refused(QRELS, file) == said
        file.seek(0)


# ---------------------------------------------------------------------------------------------
# columns=


def test_names_of_columns() -> None:
    run = table().rename_columns(["qid", "docno", "sim"])
    judged = table(JUDGED, "grade").rename_columns(["qid", "docno", "label"])
    flat = {"query_id": "qid", "doc_id": "docno", "score": "sim", "grade": "label"}
    same(rm.evaluate(judged, run, METRICS, columns=flat), expected())
    sides = {"qrels": {**flat}, "run": {**flat}}
    same(rm.evaluate(judged, run, METRICS, columns=sides), expected())
    one = {"run": {"query_id": "qid", "doc_id": "docno", "score": "sim"}}
    same(rm.evaluate(table(JUDGED, "grade"), run, METRICS, columns=one), expected())
    judged = judged.append_column("grade", pa.array([9] * len(JUDGED)))
    named = {**flat, "relevance": "label"}
    del named["grade"]
    same(rm.evaluate(judged, run, METRICS, columns=named), expected())


@pytest.mark.parametrize(
    "names",
    [("qid", "docid", "rel"), ("query-id", "corpus-id", "score"), ("Q_ID", "DocNo", "label")],
)
def test_other_names_that_are_known(names: tuple[str, ...]) -> None:
    judged = table(JUDGED, "grade").rename_columns([*names])
    same(rm.evaluate(judged, table(), METRICS), expected())
    run = table().rename_columns([*names[:2], "score"])
    same(rm.evaluate(judged, run, METRICS), expected())
    # The usual name goes before, and two others are none.
    more = run.append_column("query_id", run.column(0)).set_column(0, names[0], run.column(1))
    same(rm.evaluate(judged, more, METRICS), expected())
    two = run.append_column("topic_id", run.column(0))
    assert refused(judged, two).startswith("run: no column query_id; there are ")


def test_integers_of_rows_of_json_match_integers() -> None:
    run = b'[{"query_id": 1, "doc_id": 8, "score": 2}, {"query_id": 1, "doc_id": 7, "score": 1}]'
    assert rm.evaluate({1: {7: 1}}, io.BytesIO(run), "mrr")["mrr"] == 0.5
    assert rm.evaluate({"1": {"7": 1}}, io.BytesIO(run), "mrr")["mrr"] == 0.5
    judged = b'{"query-id": 1, "corpus-id": 7, "score": 1}\n'
    for found in ({1: [8, 7]}, {"1": ["8", "7"]}):
        assert rm.evaluate(io.BytesIO(judged), found, "mrr")["mrr"] == 0.5


def test_rows_of_json_with_ids_of_two_kinds_are_text() -> None:
    rows = [{"query_id": 1, "doc_id": d, "score": s} for d, s in ((7, 1), ("07", 3), (8, 2))]
    given = json.dumps(rows).encode()
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    for run in (given, lines):
        assert rm.evaluate({1: {7: 1}}, io.BytesIO(run), "mrr")["mrr"] == pytest.approx(1 / 3)
        with pytest.raises(TypeError, match="can never match str ids"):
            rm.fuse({"a": {1: {7: 0.5}}, "b": io.BytesIO(run)}, "combsum", norm=None)
    rows.append({"query_id": "x", "doc_id": 7, "score": 1})
    ev = rm.evaluate({1: {7: 1}}, io.BytesIO(json.dumps(rows).encode()), "mrr")
    assert (ev["mrr"], ev.coverage.unjudged) == (pytest.approx(1 / 3), 1)


def test_large_integers_of_rows_of_json_keep_their_order() -> None:
    for base in (2**53, 10**400):
        scores = {"y": base, "x": base + 1}
        rows = [{"query_id": "q", "doc_id": d, "score": s} for d, s in scores.items()]
        for qrels in ({"q": {"x": 1}}, io.BytesIO(b"q 0 x 1\n")):
            run = io.BytesIO(json.dumps(rows).encode())
            assert rm.evaluate(qrels, run, "mrr")["mrr"] == 1.0
        again = [io.BytesIO(json.dumps(rows).encode()) for _ in range(2)]
        assert list(rm.fuse({"a": again[0], "b": again[1]}, "rrf")["q"]) == ["x", "y"]


def test_columns_that_there_are_not() -> None:
    said = refused(QRELS, table().rename_columns(["key", "item", "sim"]))
    assert said == (
        "run: no column query_id, no column doc_id, no column score or rank; there are key, item, "
        "sim: name them with columns={'query_id': ..., 'doc_id': ..., 'score': ...}"
    )
    assert "no column sim;" in refused(QRELS, table(), columns={"score": "sim"})
    assert "no column grade or relevance;" in refused(table(), RUN)
    assert refused(QRELS, table(), columns={"qid": "x"}).startswith("columns has the key 'qid'; ")
    wrong = {"runs": {"score": "x"}}
    assert (
        refused(QRELS, table(), columns=wrong) == "columns has the key 'runs'; there are qrels, run"
    )
    assert "'score'" in refused(QRELS, table(), columns={"score": "x", "run": {"score": "x"}})
    assert "'qid'" in refused(QRELS, table(), columns={"run": {"qid": "x"}})
    assert "must give names" in refused(QRELS, table(), TypeError, columns={"score": 3})
    assert "must be a mapping" in refused(QRELS, table(), TypeError, columns=["score"])
    twice = pa.table([["q"], ["d"], [1.0], [2.0]], names=["query_id", "doc_id", "score", "score"])
    assert refused(QRELS, twice) == "run: two columns are called score"
    for columns in ({"doc_id": "query_id"}, {"score": "doc_id"}):
        assert "cannot be two columns at once" in refused(QRELS, table(), columns=columns)


# ---------------------------------------------------------------------------------------------
# Files


def _stream(content: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, content.schema, **options) as writer:
        writer.write_table(content, max_chunksize=4)
    return out.getvalue()


def _file(content: Any) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_file(out, content.schema) as writer:
        writer.write_table(content, max_chunksize=3)
    return out.getvalue()


def _parquet(content: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(content, out, **options)
    return out.getvalue()


def _feather(content: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    feather.write_feather(content, out, **options)
    return out.getvalue()


FILES: dict[str, tuple[Callable[[Any], bytes], str]] = {
    "parquet": (_parquet, "parquet"),
    "parquet in groups": (lambda content: _parquet(content, row_group_size=3), "parquet"),
    "parquet plain": (lambda content: _parquet(content, use_dictionary=False), "parquet"),
    "feather": (_feather, "arrow"),
    "feather zstd": (lambda content: _feather(content, compression="zstd"), "arrow"),
    "feather plain": (lambda content: _feather(content, compression="uncompressed"), "arrow"),
    "file": (_file, "arrow"),
    "stream": (_stream, "arrow"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("coded", [False, True])
def test_files(name: str, coded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, format = FILES[name]
    run, judged = table(), table(JUDGED, "relevance")
    if coded:
        run, judged = (changed(t, lambda c: c.dictionary_encode()) for t in (run, judged))
    run = run.append_column("more", pa.array([[1]] * len(ROWS)))
    path, qrels = tmp_path / "run", tmp_path / "qrels"
    path.write_bytes(write(run))
    qrels.write_bytes(write(judged))
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    mixed = tmp_path / "mixed"
    mixed.write_bytes(write(run.take(pa.array([*range(0, 8, 2), *range(1, 8, 2)]))))
    for together in (2, 1 << 16):
        monkeypatch.setattr(arrow, "_TOGETHER", together)
        options: dict[str, Any]
        for options in ({}, {"format": format}, {"threads": 3}):
            for given_run in (path, str(path), packed, mixed, io.BytesIO(path.read_bytes())):
                same(rm.evaluate(qrels, given_run, METRICS, **options), expected())
        same(rm.evaluate(qrels, RUN, METRICS), expected())
        with path.open("rb") as file, qrels.open("rb") as other:
            same(rm.evaluate(other, file, METRICS), expected())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    same(rm.evaluate(qrels, "-", METRICS), expected())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", FILES)
def test_a_named_pipe(name: str, tmp_path: Path) -> None:
    path, pipe = tmp_path / "run", tmp_path / "pipe"
    path.write_bytes(FILES[name][0](table()))
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", str(path), str(pipe)]) as writer:
        same(rm.evaluate(QRELS, pipe, METRICS), expected())
        assert writer.wait(10) == 0


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_cut_off(name: str, tmp_path: Path) -> None:
    write = FILES[name][0]
    path = tmp_path / "run"
    whole = write(table())
    for cut in range(8, len(whole), 13):
        path.write_bytes(whole[:cut])
        for given_run, said in ((path, str(path)), (io.BytesIO(whole[:cut]), "<file>")):
            assert refused(QRELS, given_run).startswith(f"{said}: damaged file: ")
    judged = write(table(JUDGED, "grade"))
    said = refused(io.BytesIO(judged[:-9]), RUN)
    assert said.startswith("<file>: damaged file: ")
    packed = gzip.compress(whole)
    for cut in (20, len(packed) // 2, len(packed) - 4):
        said = refused(QRELS, io.BytesIO(packed[:cut]))
        assert said.startswith("<file>: damaged gzip file: ")


def test_a_format_that_it_is_not() -> None:
    text = b"q1 Q0 a 1 1 t\n"
    for format in ("parquet", "arrow"):
        assert (
            refused(QRELS, io.BytesIO(text), format=format) == "<file>: neither Parquet nor Arrow"
        )
    for name, format in (("parquet", "trec"), ("stream", "msmarco"), ("feather", "jsonl")):
        data = io.BytesIO(FILES[name][0](table()))
        assert refused(QRELS, data, format={"run": format}).startswith("<file>:")


def test_files_and_tables_on_either_side_of_others(tmp_path: Path) -> None:
    lines = json.dumps({"query_id": "q1", "scores": RUN["q1"]}).encode()
    part = {"q1": RUN["q1"]}
    want = rm.evaluate(QRELS, part, METRICS)
    judged = table(JUDGED, "grade")
    same(rm.evaluate(judged, io.BytesIO(lines), METRICS), want)
    same(rm.evaluate(io.BytesIO(json.dumps(QRELS).encode()), table(), METRICS), expected())
    trec = "".join(f"{q} 0 {d} {g}\n" for q, d, g in JUDGED).encode()
    same(rm.evaluate(io.BytesIO(trec), table(), METRICS), expected())
    integers = {int(q): {int(d): g for d, g in QRELS[q].items()} for q in ("20",)}
    with pytest.raises(ValueError, match="no query in common"):
        rm.evaluate(integers, table(), METRICS)


def test_tables_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = table()
    path = tmp_path / "run"
    pq.write_table(run, path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for given_run in (run, path):
        with pytest.raises(ImportError, match=r"pip install 'rankmeter\[arrow\]'"):
            rm.evaluate(QRELS, given_run, "mrr")
    with pytest.raises(ImportError, match=r"pip install 'rankmeter\[arrow\]'"):
        rm.Evaluator(run, "mrr")


def test_the_fast_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> Any:
        raise AssertionError("read carefully")

    monkeypatch.setattr(arrow.Table, "read_carefully", fail)
    for threads in (1, 2):
        same(rm.evaluate(table(JUDGED, "grade"), table(), METRICS, threads=threads), expected())


# ---------------------------------------------------------------------------------------------
# The command


def test_columns_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(table().rename_columns(["key", "hit", "sim"]), "run")
    pq.write_table(table(JUDGED, "grade").rename_columns(["key", "item", "value"]), "qrels")
    names = ["query_id=key", "qrels.doc_id=item", "run.doc_id=hit", "score=sim", "grade=value"]
    argv = [f"--column={name}" for name in names]
    for more in ([], ["--input-format", "parquet"]):
        assert main(["eval", "qrels", "run", "-mmap", "--format", "json", *argv, *more]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out)["runs"][0]["mean"]["map"] == expected()["map"]
        assert err == ""
    assert main(["eval", "qrels", "run", *argv[1:]]) == 1
    assert capsys.readouterr().err.startswith(
        "rankmeter: qrels: no column query_id; there are key,"
    )
    rows: Any = [("q1", "a", None), ("q1", None, 1.0)]
    pq.write_table(table(rows), "bad")
    pq.write_table(table(JUDGED, "grade"), "qrels")
    assert main(["eval", "qrels", "bad", "--errors", "collect"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "rankmeter: bad: row 0: score is null",
        "rankmeter: bad: row 1: doc_id is null",
    ]


# ---------------------------------------------------------------------------------------------
# Damage


def _coded(content: Any) -> Any:
    return changed(content, lambda column: column.dictionary_encode())


def _viewed(content: Any) -> Any:
    change = ID_TYPES["string_view"]
    long = changed(content, lambda c: pa.array([x * 9 for x in c.to_pylist()]), ("doc_id",))
    return changed(long, change) if change else long


SHAPES: list[tuple[str, Callable[[Any], Any]]] = [
    ("plain", lambda content: content),
    ("coded", _coded),
    ("views", _viewed),
]
WHOLE = {
    (side, name, shape): write(change(content))
    for side, content in (("run", table()), ("qrels", table(JUDGED, "grade")))
    for name, (write, _) in FILES.items()
    for shape, change in SHAPES
    if shape != "views" or not name.startswith("parquet")
}


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    key = draw(st.sampled_from(sorted(WHOLE)))
    data = bytearray(WHOLE[key])
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.integers(0, 5))
        if kind < 3:
            data[place : place + 1] = bytes([draw(st.sampled_from([0, 1, 2, 8, 127, 128, 255]))])
        elif kind == 3:
            data[place : place + 4] = draw(st.sampled_from([b"\xff" * 4, b"\0\0\0\x7f", b"\0" * 4]))
        elif kind == 4:
            del data[place : place + draw(st.integers(1, 40))]
        else:
            data = data[:place]
    return key[0], bytes(data)


def check_damage(side: str, data: bytes, threads: int) -> None:
    given: dict[str, Any] = {"qrels": QRELS, "run": RUN, side: io.BytesIO(data)}
    ours = outcome(rm.evaluate, **given, metrics=METRICS, threads=threads)
    read = {"qrels": read_qrels, "run": read_run}[side]

    def carefully() -> rm.Evaluation:
        given[side] = read(io.BytesIO(data))
        return rm.evaluate(**given, metrics=METRICS)

    expected = outcome(carefully)
    if ours == f"<file>: {expected}":  # grades of a file are told with its name
        return
    alike(ours, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_wrong_first_is_said_before_damage(threads: int) -> None:
    sink = io.BytesIO()
    schema = pa.schema(
        [("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())]
    )
    with pa.ipc.new_stream(sink, schema) as writer:
        for query, score in (("q1", 1.0), ("q2", math.nan)):
            writer.write_batch(pa.record_batch([[query], ["a"], [score]], schema=schema))
    end = sink.getvalue()[-8:]
    damaged = sink.getvalue()[:-8] + b"\xff\xff\xff\xff\xff\xff\0\0" + end
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    with pytest.raises(ValueError, match="<file>: row 1: score is NaN"):
        rm.evaluate(qrels, io.BytesIO(damaged), "mrr", threads=threads)


@settings(max_examples=400)
@given(damaged(), st.sampled_from([1, 2]))
def test_damage_is_seen_or_harmless(file: tuple[str, bytes], threads: int) -> None:
    check_damage(*file, threads)


@pytest.mark.slow
@settings(max_examples=5_000)
@given(damaged(), st.sampled_from([1, 2]))
def test_much_damage_is_seen_or_harmless(file: tuple[str, bytes], threads: int) -> None:
    check_damage(*file, threads)
