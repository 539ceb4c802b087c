"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import math
import re
import shlex
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rankmeter as rm
from rankmeter.cli.commands import main

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"

if not (README.is_file() and (ROOT / "examples").is_dir()):
    pytest.skip("README.md and examples are not beside the tests", allow_module_level=True)

TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def marked(name: str) -> str:
    found = re.search(rf"<!-- {name}: begin -->\n(.*?)\n<!-- {name}: end -->", TEXT, re.DOTALL)
    assert found, f"no part {name!r}"
    return found[1]


def rows(table: str) -> list[list[str]]:
    """The cells of a Markdown table, without its header."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def same_bits(a: rm.Evaluation, b: rm.Evaluation) -> bool:
    return a.values.tobytes() == b.values.tobytes()


# ---------------------------------------------------------------------------------------------
# Code


def test_python_blocks_do_what_they_show() -> None:
    for library in ("polars", "pyarrow"):
        pytest.importorskip(library, reason="a block shows a table of it")
    # test_integrations has these, where the frameworks are installed
    of_frameworks = re.findall(
        r"^<!-- integration: \w+ -->\n```python\n(.*?)^```$", TEXT, re.S | re.M
    )
    assert len(of_frameworks) == 4
    text = "\n".join(text for text in blocks("python") if text not in of_frameworks)
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", str(README), 0)
    assert len(test.examples) > 20
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=report.append)
    assert not report, "".join(report)


def test_the_first_two_commands_are_one_line_each() -> None:
    for command in blocks("bash")[:2]:
        assert command.count("\n") == 1
        assert command.startswith("python3 -m venv .venv && ")


def test_the_first_command_prints_what_follows_it(capsys: pytest.CaptureFixture[str]) -> None:
    command = blocks("bash")[0].rpartition("&&")[2]
    program, *arguments = shlex.split(command)
    assert program == ".venv/bin/rankmeter"
    assert main(arguments) == 0
    assert capsys.readouterr().out.strip("\n") == blocks("text")[0].strip("\n")


def test_the_command_with_facets_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [command] = [text for text in blocks("bash") if "rankmeter eval" in text and "--by" in text]
    program, *arguments = shlex.split(command)
    assert program == ".venv/bin/rankmeter"
    assert main(arguments) == 0
    assert "difference" in capsys.readouterr().out


def test_the_example_program_runs() -> None:
    done = subprocess.run(
        [sys.executable, "examples/score.py"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "ndcg@10" in done.stdout


# ---------------------------------------------------------------------------------------------
# Tables


def test_the_metric_table_is_the_generated_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "--format", "markdown"]) == 0
    generated = capsys.readouterr().out.strip("\n").splitlines()
    assert marked("metrics").splitlines() == [line.rstrip() for line in generated]


def test_the_three_formulas_of_ndcg() -> None:
    grades = {"a": 3, "b": 2, "c": 1}
    table = rows(marked("ndcg"))
    assert len(table) == 3
    for name, *sums, shown in table:
        worked = []
        for cell in sums:
            formula, _, result = cell.partition(" = ")
            value = eval(formula, {"log2": math.log2})
            assert f"{value:.4f}" == result
            worked.append(value)
        got = rm.evaluate({"q": grades}, {"q": ["b", "x", "a", "c"]}, name.strip("`"))
        assert got.values[0, 0] == pytest.approx(worked[0] / worked[1], abs=1e-15)
        assert f"{got.values[0, 0]:.4f}" == shown


def relevant() -> None:
    qrels = {"a": 2, "b": 1, "c": -1}
    assert rm.precision_at_k(["c", "x", "b", "a"], qrels, 4) == 0.5
    assert rm.precision_at_k(["c", "x", "b", "a"], qrels, 4, rel=2) == 0.25
    assert rm.ndcg_at_k(["c", "a", "b"], qrels) == rm.ndcg_at_k(["x", "a", "b"], qrels)


def precision() -> None:
    assert rm.precision_at_k(["a"], {"a": 1}, 4) == 0.25


def recall() -> None:
    assert rm.recall_at_k(["a", "x"], {"a": 1, "b": 1, "c": 0}, 2) == 0.5
    assert rm.recall_at_k(["a"], {"a": 0}, 2) == 0.0


def hit() -> None:
    assert rm.hit_at_k(["x", "a"], {"a": 1}, 2) == 1.0
    assert rm.hit_at_k(["x", "a"], {"a": 1}, 1) == 0.0


def mrr() -> None:
    assert rm.reciprocal_rank(["x", "a"], {"a": 1}) == 0.5
    assert rm.reciprocal_rank(["x", "a"], {"a": 1}, 1) == 0.0


def map_() -> None:
    qrels = {"a": 1, "b": 1, "c": 1, "d": 1}
    assert rm.average_precision(["a", "x", "x2", "b"], qrels) == (1 + 2 / 4) / 4
    assert rm.average_precision(["a", "x", "x2", "b"], qrels, 2) == 1 / 4


def ndcg() -> None:
    assert rm.ndcg_at_k(["a"], {"a": 1, "b": 1}) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert rm.ndcg_at_k(["a"], {"a": 1, "b": 1}, 1) == 1.0
    assert rm.ndcg_at_k(["a"], {"a": 0}) == 0.0


def gain() -> None:
    ranked, qrels = ["b", "a"], {"a": 3, "b": 1}
    exponential = rm.ndcg_at_k(ranked, qrels)
    linear = rm.ndcg_at_k(ranked, qrels, gain="linear")
    assert exponential == rm.ndcg_at_k(ranked, qrels, gain={3: 7, 1: 1})
    assert linear == rm.ndcg_at_k(ranked, qrels, gain={3: 3, 1: 1})


def discount() -> None:
    ranked, qrels = ["x", "y", "z", "a"], {"a": 1}
    assert rm.ndcg_at_k(ranked, qrels) == pytest.approx(1 / math.log2(5), abs=1e-15)
    assert rm.ndcg_at_k(ranked, qrels, discount="jarvelin") == 0.5
    assert rm.ndcg_at_k(["x", "a"], qrels, discount="jarvelin") == 1.0


def order() -> None:
    qrels = {"q": {"b": 1}}
    assert rm.evaluate(qrels, {"q": {"a": 1, "b": 1, "c": 0}}, "mrr")["mrr"] == 1.0
    assert rm.evaluate(qrels, {"q": {"a": 1, "b": 1}}, "mrr", ties="input")["mrr"] == 0.5
    assert rm.evaluate(qrels, {"q": ["a", "b"]}, "mrr")["mrr"] == 0.5


def missing() -> None:
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"]}
    zero = rm.evaluate(qrels, run, "mrr")
    skip = rm.evaluate(qrels, run, "mrr", missing="skip")
    assert (zero["mrr"], skip["mrr"]) == (0.5, 1.0)
    assert zero.coverage.missing == skip.coverage.missing == 1
    with pytest.raises(ValueError, match="'r'"):
        rm.evaluate(qrels, run, "mrr", missing="error")


def unjudged() -> None:
    ev = rm.evaluate({"q": {"a": 1}}, {"q": ["a"], "r": ["a"]}, "mrr")
    assert ev.query_ids == ("q",)
    assert ev.coverage.unjudged == 1


def nothing_in_common() -> None:
    with pytest.raises(ValueError, match="no query in common"):
        rm.evaluate({"q": {"a": 1}}, {"r": ["a"]}, "mrr")


def twice() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["x", "x", "a"]}
    with pytest.raises(ValueError, match=r"'q'.*'x'.*ranks 1 and 2"):
        rm.evaluate(qrels, run, "mrr")
    assert rm.evaluate(qrels, run, "mrr", duplicates="first")["mrr"] == 0.5


def nan() -> None:
    with pytest.raises(ValueError, match=r"'q'.*'a'.*NaN"):
        rm.evaluate({"q": {"a": 1}}, {"q": {"a": math.nan}}, "mrr")
    scores = {"a": 0.0, "x": math.inf, "y": -math.inf}
    assert rm.evaluate({"q": {"a": 1}}, {"q": scores}, "mrr")["mrr"] == 0.5


def mean() -> None:
    qrels = {query: {"a": 1} for query in range(10)}
    run = {query: [f"x{i}" for i in range(query)] + ["a"] for query in range(10)}
    ev = rm.evaluate(qrels, run, "mrr")
    assert ev["mrr"] == math.fsum(1 / (query + 1) for query in range(10)) / 10


def digits() -> None:
    metrics = ["ndcg", "map", "mrr", "recall@3"]
    ids = ["b", "x", "c", "a", "y"]
    qrels = {"q": {"a": 3, "b": 1.5, "c": 2}}
    scored = {"q": {doc: -float(i) for i, doc in enumerate(ids)}}
    assert same_bits(rm.evaluate(qrels, {"q": ids}, metrics), rm.evaluate(qrels, scored, metrics))


def unmatched() -> None:
    ev = rm.evaluate({"q": {"doc4": 1}}, {"q": ["4"]}, "mrr")
    assert (ev["mrr"], ev.coverage.unmatched) == (0.0, 1)
    assert "'doc4'" in repr(ev)
    assert "'4'" in repr(ev)


def ids() -> None:
    for id_ in ("a", b"a", 1, np.int64(1), np.str_("a"), ("a", 1), 1.5, uuid.UUID(int=1)):
        assert rm.evaluate({"q": {id_: 1}}, {"q": [id_]}, "mrr")["mrr"] == 1.0
    for nothing in (None, math.nan, object()):
        with pytest.raises(TypeError, match="cannot be an id"):
            rm.evaluate({"q": {"a": 1}}, {"q": ["a", nothing]}, "mrr")
    for other in (1, uuid.UUID(int=1)):
        with pytest.raises(TypeError, match="can never match"):
            rm.evaluate({"q": {other: 1}}, {"q": [str(other)]}, "mrr")


CONVENTIONS: dict[str, Callable[[], None]] = {
    "relevant": relevant,
    "precision@k": precision,
    "recall@k": recall,
    "hit@k": hit,
    "mrr, mrr@k": mrr,
    "map, map@k": map_,
    "ndcg, ndcg@k": ndcg,
    "gain": gain,
    "discount": discount,
    "order of scored documents": order,
    "queries in the qrels but not in the run": missing,
    "queries in the run but not in the qrels": unjudged,
    "no query in common": nothing_in_common,
    "no relevant document in the whole run": unmatched,
    "ids": ids,
    "the same id twice in one ranking": twice,
    "NaN score": nan,
    "mean": mean,
    "digits": digits,
}


@pytest.mark.parametrize("point", [point for point, _ in rows(marked("conventions"))])
def test_every_convention_holds(point: str) -> None:
    CONVENTIONS[point]()


def test_no_convention_is_left_out() -> None:
    assert [point for point, _ in rows(marked("conventions"))] == list(CONVENTIONS)
