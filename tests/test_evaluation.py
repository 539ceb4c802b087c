"""What ``evaluate`` gives back."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
import subprocess
import sys
from collections import UserDict
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import rankmeter as rm

QRELS: dict[str, dict[str, float]] = {
    "q1": {"a": 3, "b": 1},
    "q2": {"c": 1},
    "q3": {"d": 0},
    "q4": {"e": 1},
}
RUN: dict[str, Any] = {
    "q1": ["a", "x", "b"],
    "q2": {"x": 0.7, "c": 0.1},
    "q3": ["d"],
    "other": ["z"],
}
METRICS = ["mrr", "recall@10", "ndcg@10", "precision@10", "hit@10"]


@pytest.fixture
def ev() -> rm.Evaluation:
    return rm.evaluate(QRELS, RUN, METRICS)


# ---------------------------------------------------------------------------------------------
# Values


def test_rows_and_columns(ev: rm.Evaluation) -> None:
    assert ev.query_ids == ("q1", "q2", "q3", "q4")
    assert ev.metrics == tuple(METRICS)
    assert len(ev) == 4
    assert ev.values.shape == (4, 5)
    assert ev.values.dtype == np.float64
    assert ev.values[:, 0].tolist() == [1.0, 0.5, 0.0, 0.0]


def test_values_are_read_only(ev: rm.Evaluation) -> None:
    parts = [ev, *ev.by({"q1": "x"}).values(), rm.evaluate(QRELS, RUN, "mrr", missing="skip")]
    for part in parts:
        with pytest.raises(ValueError, match="read-only"):
            part.values[0, 0] = 2.0


def test_mean_and_per_query(ev: rm.Evaluation) -> None:
    assert list(ev.mean) == METRICS
    assert list(ev.per_query) == list(ev.query_ids)
    for i, metric in enumerate(METRICS):
        column = ev.values[:, i].tolist()
        assert ev.mean[metric] == ev[metric] == math.fsum(column) / 4
        assert [ev.per_query[query][metric] for query in ev.query_ids] == column
    assert all(type(value) is float for value in ev.mean.values())
    assert all(type(value) is float for row in ev.per_query.values() for value in row.values())


def test_what_is_handed_out_is_the_callers_own(ev: rm.Evaluation) -> None:
    ev.mean["mrr"] = 7.0
    ev.per_query["q1"]["mrr"] = 7.0
    ev.to_dict()["mean"]["mrr"] = 7.0
    assert ev.mean["mrr"] == 0.375
    assert ev.per_query["q1"]["mrr"] == 1.0


def test_a_metric_by_any_spelling() -> None:
    names = ["ndcg_cut_10", "P_5", "mrr", "map(rel=1)", "ndcg@3(gain={1:1,3:7})"]
    ev = rm.evaluate(QRELS, RUN, names)
    assert ev.metrics == tuple(names)
    assert list(ev.mean) == names
    pairs = [
        ("ndcg_cut_10", "ndcg@10(gain=linear)"),
        ("ndcg_cut_10", " ndcg@10( gain = linear ) "),
        ("P_5", "precision@5"),
        ("P_5", "P.5"),
        ("mrr", "recip_rank"),
        ("map(rel=1)", "map"),
        ("ndcg@3(gain={1:1,3:7})", "ndcg@3(gain={3:7,1:1})"),
    ]
    for asked, other in pairs:
        assert ev[other] == ev[rm.parse(other)] == ev[asked] == ev.mean[asked]


def test_blanks_are_no_part_of_a_name() -> None:
    ev = rm.evaluate(QRELS, RUN, [" recall@5\n", "ndcg@10( gain = linear )"])
    assert ev.metrics == ("recall@5", "ndcg@10( gain = linear )")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("recall@5", "recall@05"),
        ("recall@5", "recall_5"),
        ("ndcg", "ndcg(gain=exponential)"),
        ("map(rel=2)", "map(rel=2.0)"),
        ("map(rel=20)", "map(rel=+2e1)"),
        ("ndcg(gain=linear,discount=jarvelin)", "ndcg( discount=jarvelin, gain=linear )"),
        ("ndcg(gain={1:1,2:.5,3:7})", "ndcg(gain={3:7e0,2:0.5,01:1})"),
        ("mrr", rm.Metric("mrr", rel=1)),
        (rm.Metric("recall", 5), "recall@5(judged_only=FALSE)"),
    ],
)
def test_a_metric_in_two_spellings_is_one_metric(one: Any, other: Any) -> None:
    says = "are the same metric: name it once|is named twice"
    with pytest.raises(ValueError, match=says):
        rm.evaluate(QRELS, RUN, [one, "hit@1", other])
    first, second = (rm.evaluate(QRELS, RUN, name) for name in (one, other))
    assert first[other] == second[one]
    with pytest.raises(ValueError, match=says):
        rm.compare({"a": first, "b": second}, metrics=[one, other])
    with pytest.raises(ValueError, match="query 'q1' is in two"):  # not: the metrics differ
        rm.concat([first, second])


def test_the_same_name_twice() -> None:
    with pytest.raises(ValueError, match="the metric 'mrr' is named twice"):
        rm.evaluate(QRELS, RUN, ["mrr", "mrr "])


@pytest.mark.parametrize("k", ["+5", " 5", "5 ", "5_0", "٥", "5.0", "", "0x5"])
def test_what_is_no_cut_off(k: str) -> None:
    with pytest.raises(ValueError, match="the cut-off must be an integer, not"):
        rm.parse(f"recall@{k}(rel=2)")


@pytest.mark.parametrize("number", ["2_0", "٢", "0x2", "inf", "nan", "", "2 0", "1e", "."])
def test_what_is_no_number(number: str) -> None:
    with pytest.raises(ValueError, match="rel must be a number, not"):
        rm.parse(f"map(rel={number})")
    with pytest.raises(ValueError, match=r"gain must be \{grade:gain,...\}, not"):
        rm.parse(f"ndcg(gain={{1:{number}}})")


@pytest.mark.parametrize("number", ["2", "+2", "2.", "2.0", "02", "20e-1", " 2 ", ".2E+1"])
def test_what_is_a_number(number: str) -> None:
    assert rm.parse(f"map(rel={number})") == rm.Metric("map", rel=2)


def test_a_metric_object_is_spelled_by_its_name() -> None:
    ev = rm.evaluate(QRELS, RUN, rm.Metric("ndcg", 10, gain="linear"))
    assert ev.metrics == ("ndcg@10(gain=linear)",)


@pytest.mark.parametrize("metric", ["map", "recall@5", "mrr(rel=2)", "nonsense", "recall@0", ""])
def test_a_metric_that_was_not_evaluated(ev: rm.Evaluation, metric: str) -> None:
    with pytest.raises(KeyError) as caught:
        ev[metric]
    assert repr(metric) in str(caught.value).replace('\\"', '"').replace("\\'", "'")
    assert "recall@10" in str(caught.value)


# ---------------------------------------------------------------------------------------------
# Coverage


def test_coverage_counts_missing_queries_as_zero(ev: rm.Evaluation) -> None:
    assert ev.coverage == rm.Coverage(judged=4, evaluated=3, missing=1, unjudged=1, no_relevant=1)
    assert "1 missing from the run (taken as empty)" in repr(ev)


def test_coverage_of_skipped_queries() -> None:
    ev = rm.evaluate(QRELS, RUN, METRICS, missing="skip")
    assert ev.query_ids == ("q1", "q2", "q3")
    assert ev["mrr"] == 0.5
    assert ev.coverage == rm.Coverage(judged=4, evaluated=3, missing=1, unjudged=1, no_relevant=1)
    assert "1 missing from the run (skipped)" in repr(ev)


def test_missing_queries_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'q4'"):
        rm.evaluate(QRELS, RUN, METRICS, missing="error")
    complete = RUN | {"q4": []}
    ev = rm.evaluate(QRELS, complete, METRICS, missing="error")
    assert ev.coverage.missing == 0
    assert ev.values.tobytes() == rm.evaluate(QRELS, RUN, METRICS).values.tobytes()
    with pytest.raises(ValueError, match="'drop'"):
        rm.evaluate(QRELS, RUN, METRICS, missing="drop")  # type: ignore[arg-type]


def test_an_evaluator_is_not_pickled() -> None:
    scorer = rm.Evaluator(QRELS, METRICS)
    with pytest.raises(TypeError, match="cannot be pickled: pass the qrels instead"):
        pickle.dumps(scorer)
    assert copy.copy(scorer) is copy.deepcopy(scorer) is scorer  # it never changes


def test_concat_takes_several(ev: rm.Evaluation) -> None:
    with pytest.raises(TypeError, match=r"concat takes several evaluations, .* not one alone"):
        rm.concat(ev)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------
# Facets


def test_one_facet(ev: rm.Evaluation) -> None:
    parts = ev.by({"q2": "long", "q1": "short", "q4": "long", "unknown": "?"})
    assert list(parts) == ["short", "long", None]  # in the order of the queries
    assert {label: part.query_ids for label, part in parts.items()} == {
        "short": ("q1",),
        "long": ("q2", "q4"),
        None: ("q3",),
    }
    assert parts["long"]["mrr"] == 0.25
    assert parts["long"].metrics == ev.metrics
    assert parts["long"].coverage == rm.Coverage(2, 1, 1, 0, 0)
    assert parts[None].coverage == rm.Coverage(1, 1, 0, 0, 1)
    assert sum(len(part) for part in parts.values()) == len(ev)


def test_several_facets(ev: rm.Evaluation) -> None:
    rolled = ev.by({"length": {"q1": "short"}, "topic": dict.fromkeys(QRELS, 7)})
    assert list(rolled) == ["length", "topic"]
    assert list(rolled["length"]) == ["short", None]
    assert list(rolled["topic"]) == [7]
    assert rolled["topic"][7].values.tolist() == ev.values.tolist()


def test_parts_of_parts(ev: rm.Evaluation) -> None:
    part = ev.by(dict.fromkeys(["q1", "q2", "q4"], "x"))["x"].by({"q4": "y"})
    assert part["y"].coverage == rm.Coverage(1, 0, 1, 0, 0)
    skipped = rm.evaluate(QRELS, RUN, "mrr", missing="skip").by({"q1": "x"})
    assert skipped[None].query_ids == ("q2", "q3")
    run = {"q4": ["a"], "q3": ["a"]}  # the first two are skipped
    skipped = rm.evaluate(QRELS, run, "mrr", missing="skip").by({"q3": "x", "q4": "y"})
    assert [part.coverage.no_relevant for part in skipped.values()] == [1, 0]


def test_labels_beside_facets(ev: rm.Evaluation) -> None:
    with pytest.raises(TypeError, match="labels and mappings"):
        ev.by({"length": {"q1": "short"}, "q1": "short"})
    assert list(ev.by(UserDict({"q1": "short"}))) == ["short", None]


def test_what_is_in_an_evaluation(ev: rm.Evaluation) -> None:
    assert "mrr" in ev
    assert "recip_rank" in ev
    assert "precision@77" not in ev
    assert "nonsense" not in ev
    with pytest.raises(TypeError):
        list(ev)  # type: ignore[call-overload]


def test_facets_that_say_nothing(ev: rm.Evaluation) -> None:
    for facets in ({}, {"elsewhere": "x"}):
        with pytest.raises(ValueError, match="label"):
            ev.by(facets)
    with pytest.raises(ValueError, match="'topic'"):
        ev.by({"length": {"q1": "x"}, "topic": {"elsewhere": "x"}})
    with pytest.raises(ValueError, match=r"number ids .such as 1. can never match"):
        ev.by({1: "x"})
    for wrong in (None, "q1", ["q1"], 3):
        with pytest.raises(TypeError, match="facets"):
            ev.by(wrong)  # type: ignore[arg-type]


def test_labels_that_are_missing(ev: rm.Evaluation) -> None:
    pandas = pytest.importorskip("pandas")
    labels = pandas.Series([math.nan, 1.5, math.nan, 1.5], index=list(QRELS))
    for facets in (labels, {"q1": math.nan, "q2": 1.5, "q3": pandas.NA, "q4": 1.5}):
        parts = ev.by(facets)
        assert {label: part.query_ids for label, part in parts.items()} == {
            None: ("q1", "q3"),
            1.5: ("q2", "q4"),
        }
    assert list(ev.by({"q1": pandas.NaT, "q2": np.float64("nan"), "q3": None})) == [None]


def test_labels_of_pandas(ev: rm.Evaluation) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"query_id": ["q1", "q2"], "kind": ["how", "why"], "n": [1, 2]})
    facets = table.set_index("query_id")
    assert {facet: list(parts) for facet, parts in ev.by(facets).items()} == {
        "kind": ["how", "why", None],
        "n": [1, 2, None],
    }
    assert list(ev.by({"kind": facets["kind"]})["kind"]) == ["how", "why", None]
    for without in (table, table["kind"]):
        with pytest.raises(
            ValueError, match=r"has a label; the index .* \.set_index\('query_id'\)"
        ):
            ev.by(without)


@pytest.mark.parametrize("label", [["l"], {"l"}, np.arange(2)])
def test_what_is_no_label(ev: rm.Evaluation, label: Any) -> None:
    with pytest.raises(TypeError, match=r"^query 'q2': .* is not a label: .*unhashable"):
        ev.by({"q1": "x", "q2": label})
    with pytest.raises(TypeError, match=r"^facet 'f': query 'q2': .* is not a label: .*unhashable"):
        ev.by({"f": {"q2": label}})


# ---------------------------------------------------------------------------------------------
# Dict and JSON


def test_to_dict(ev: rm.Evaluation) -> None:
    assert ev.to_dict() == {
        "metrics": METRICS,
        "mean": ev.mean,
        "per_query": ev.per_query,
        "coverage": {
            "judged": 4,
            "evaluated": 3,
            "missing": 1,
            "unjudged": 1,
            "no_relevant": 1,
            "unmatched": 0,
        },
        "ties": 0,
    }


def test_json_keeps_all_digits(ev: rm.Evaluation) -> None:
    assert json.loads(ev.to_json()) == ev.to_dict()
    assert "\n" not in ev.to_json()
    assert json.loads(ev.to_json(indent=2)) == ev.to_dict()
    assert "\n  " in ev.to_json(indent=2)


def test_json_with_facets(ev: rm.Evaluation) -> None:
    labels = {"q1": "short", "q2": "long"}
    parts = ev.by(labels)
    rolled = {
        name: {"queries": len(parts[label]), "mean": parts[label].mean}
        for name, label in (("short", "short"), ("long", "long"), ("null", None))
    }
    assert json.loads(ev.to_json(facets=labels))["facets"] == {"facet": rolled}
    assert json.loads(ev.to_json(facets={"length": labels}))["facets"] == {"length": rolled}


def test_json_of_results(ev: rm.Evaluation) -> None:
    content = json.loads(ev.to_json(shape="results", facets={"length": {"q1": "short"}}))
    names = {
        "recallAtK": "recall@10",
        "precisionAtK": "precision@10",
        "ndcgAt10": "ndcg@10",
        "mrr": "mrr",
        "hitAtK": "hit@10",
    }
    assert list(content) == ["results", "run", "facets"]
    assert content["results"] == [
        {"resultId": query, "retrievalMetrics": {ours: row[name] for ours, name in names.items()}}
        for query, row in ev.per_query.items()
    ]
    means = {ours: ev[name] for ours, name in names.items()}
    assert content["run"] == {"queries": 4, "retrievalMetrics": means}
    short = content["facets"]["length"]["short"]
    assert short["queries"] == 1
    assert short["retrievalMetrics"] == content["results"][0]["retrievalMetrics"]
    assert content["facets"]["length"]["null"]["queries"] == 3


def test_json_of_results_holds_what_retrieval_metrics_gives(ev: rm.Evaluation) -> None:
    results = json.loads(ev.to_json(shape="results"))["results"]
    assert results[0]["retrievalMetrics"] == rm.retrieval_metrics(RUN["q1"], QRELS["q1"])


def test_json_of_results_at_another_k() -> None:
    names = ["recall@3", "P_3", "success_3", "ndcg@10", "recip_rank"]
    ev = rm.evaluate(QRELS, RUN, names)
    content = json.loads(ev.to_json(shape="results", k=3))
    assert content["run"]["retrievalMetrics"]["precisionAtK"] == ev["P_3"]
    with pytest.raises(ValueError, match="recall@10"):
        ev.to_json(shape="results")
    with pytest.raises(ValueError, match="ndcg@10"):
        rm.evaluate(QRELS, RUN, [*names[:3], "mrr"]).to_json(shape="results", k=3)
    with pytest.raises(ValueError, match="'rows'"):
        ev.to_json(shape="rows")  # type: ignore[arg-type]


def test_json_of_numpy_queries() -> None:
    ev = rm.evaluate({np.int64(7): {"a": 1}}, {7: ["a"]}, METRICS)
    assert json.loads(ev.to_json())["per_query"]["7"]["mrr"] == 1.0
    assert json.loads(ev.to_json(shape="results"))["results"][0]["resultId"] == 7


# ---------------------------------------------------------------------------------------------
# Tables


def test_to_arrow(ev: rm.Evaluation) -> None:
    pytest.importorskip("pyarrow")
    table = ev.to_arrow()
    assert table.column_names == ["query_id", *METRICS]
    assert table["query_id"].to_pylist() == list(ev.query_ids)
    assert [table[name].to_pylist() for name in METRICS] == ev.values.T.tolist()


def test_to_pandas(ev: rm.Evaluation) -> None:
    pytest.importorskip("pandas")
    table = ev.to_pandas()
    assert list(table.columns) == ["query_id", *METRICS]
    assert table["query_id"].tolist() == list(ev.query_ids)
    assert table[METRICS].to_numpy().tolist() == ev.values.tolist()
    table.loc[0, "mrr"] = 7.0  # a copy
    assert ev.values[0, 0] == 1.0


def test_to_polars(ev: rm.Evaluation) -> None:
    pytest.importorskip("polars")
    table = ev.to_polars()
    assert table.columns == ["query_id", *METRICS]
    assert table["query_id"].to_list() == list(ev.query_ids)
    assert table.select(METRICS).to_numpy().tolist() == ev.values.tolist()


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars"])
def test_tables_of_numbers_and_of_mixed_queries(kind: str) -> None:
    pytest.importorskip(kind)
    for queries, shown in (([1, 2], [1, 2]), ([1, "b"], ["1", "b"])):
        qrels: Any = {query: {"a": 1} for query in queries}
        ev = rm.evaluate(qrels, {query: ["a"] for query in queries}, "mrr")
        table = getattr(ev, "to_arrow" if kind == "pyarrow" else f"to_{kind}")()
        column = table["query_id"]
        assert (column.to_pylist() if kind == "pyarrow" else list(column)) == shown


def _every_table(ids: list[Any]) -> list[Callable[[], Any]]:
    qrels = {query: {"a": 1} for query in ids}
    ev = rm.evaluate(qrels, qrels, "mrr")
    makers = {"pyarrow": ev.to_arrow, "pandas": ev.to_pandas, "polars": ev.to_polars}
    return [make for module, make in makers.items() if find_spec(module)]


def test_queries_that_fit_no_column() -> None:
    pytest.importorskip("pyarrow")
    for ids in (["q", "\udcff"], [1, 2**70], [("a", 1)]):
        to_arrow, *_ = _every_table(ids)
        with pytest.raises(ValueError, match=rf"^query {re.escape(repr(ids[-1]))} fits no column"):
            to_arrow()
    with pytest.raises(ValueError, match=r"^the queries together fit no column"):
        _every_table([("a",), (1,)])[0]()


def test_queries_that_are_written_alike_in_a_table() -> None:
    for make in _every_table([1, "1"]):
        with pytest.raises(ValueError, match="both written as '1' in a table"):
            make()


@pytest.mark.parametrize(
    ("method", "module", "extra"),
    [
        ("to_arrow", "pyarrow", "arrow"),
        ("to_pandas", "pandas", "pandas"),
        ("to_polars", "polars", "polars"),
    ],
)
def test_a_package_that_is_not_there(
    ev: rm.Evaluation, monkeypatch: pytest.MonkeyPatch, method: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"rankmeter\[{extra}\]"):
        getattr(ev, method)()


def test_the_import_brings_no_package_that_is_not_needed() -> None:
    heavy = ["pandas", "pyarrow", "polars", "pytest", "json", "argparse", "csv", "gzip", "html"]
    ours = ["rankmeter.cli.commands", "rankmeter.doors.source"]
    code = (
        "import sys, numpy; before = set(sys.modules); import rankmeter; "
        f"print(sorted((set(sys.modules) - before) & set({heavy + ours!r})))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    loaded = result.stdout.strip()
    assert loaded == "[]"


# ---------------------------------------------------------------------------------------------
# Shown


def test_repr_reads_as_a_table(ev: rm.Evaluation) -> None:
    lines = repr(ev).splitlines()
    assert lines[0].split() == ["metric", "mean"]
    assert lines[1].split() == ["mrr", "0.3750"]
    assert len(lines) == 2 + len(METRICS)
    assert lines[-1] == (
        "4 queries, 1 missing from the run (taken as empty), "
        "1 in the run without judgments (not scored), 1 without a relevant document"
    )
    assert repr(rm.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "mrr")).endswith("\n1 query")


def test_html_holds_no_markup_of_the_callers() -> None:
    ids = ["<script>alert(1)</script>", "&amp;"]
    qrels = {query: {query: 1} for query in ids}
    ev = rm.evaluate(qrels, {query: [query] for query in ids}, ["mrr", "ndcg@10(gain={1:3})"])
    for part in (ev, ev.by({ids[0]: "<b>"})["<b>"]):
        html = part._repr_html_()
        assert "script" not in html
        assert "<b>" not in html
        assert html.count("<table>") == html.count("</table>") == 1
        assert html.count("<tr>") == 3
        assert "1.0000" in html


def test_statistics_beside_the_mean() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    run = {"q0": ["a"], "q1": ["x", "a"], "q2": ["x", "y", "z", "a"], "q3": ["x"]}
    ev = rm.evaluate(qrels, run, ["mrr", "hit@1"])
    assert ev.sum == {"mrr": 1.75, "hit@1": 1.0}
    assert ev.min == {"mrr": 0.0, "hit@1": 0.0}
    assert ev.max == {"mrr": 1.0, "hit@1": 1.0}
    assert ev.median == {"mrr": 0.375, "hit@1": 0.0}
    assert ev.std == pytest.approx({"mrr": np.std([1, 0.5, 0.25, 0], ddof=1), "hit@1": 0.5})
    assert np.isnan(rm.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "mrr").std["mrr"])
