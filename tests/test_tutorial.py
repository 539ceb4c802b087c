"""The example over the standard library: its files fit together, the tutorial is true."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rankmeter.cli.commands import main

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
STDLIB = EXAMPLES / "stdlib"

if not STDLIB.is_dir():
    pytest.skip("examples is not beside the tests", allow_module_level=True)

from readers import read_qrels, read_run  # noqa: E402  (beside the tests, too)

TEXT = (EXAMPLES / "TUTORIAL.md").read_text(encoding="utf-8")
RUNS = ("bm25", "dense", "hybrid")


@pytest.fixture(autouse=True)
def _in_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tutorial writes must not land in the project."""
    shutil.copytree(STDLIB, tmp_path / "examples" / "stdlib")
    monkeypatch.chdir(tmp_path)


# ---------------------------------------------------------------------------------------------
# The tutorial

BLOCKS = re.findall(r"^```(python|bash|text)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_python_blocks_do_what_they_show() -> None:
    text = "\n".join(text for language, text in BLOCKS if language == "python")
    test = doctest.DocTestParser().get_doctest(text, {}, "TUTORIAL.md", "TUTORIAL.md", 0)
    assert len(test.examples) > 10
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=report.append)
    assert not report, "".join(report)


COMMANDS = [i for i, (language, _) in enumerate(BLOCKS) if language == "bash"]


@pytest.mark.parametrize("i", COMMANDS, ids=[shlex.split(BLOCKS[i][1])[1] for i in COMMANDS])
def test_commands_print_what_follows_them(i: int, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(BLOCKS[i][1])
    assert program == ".venv/bin/rankmeter"
    if arguments[0] == "report":
        pytest.importorskip("jinja2", reason="the page needs jinja2")
        pytest.importorskip("vl_convert", reason="the charts come from vl-convert-python")
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    if i + 1 < len(BLOCKS) and BLOCKS[i + 1][0] == "text":
        assert printed.strip("\n") == BLOCKS[i + 1][1].strip("\n")
    if "-o" in arguments:
        assert Path(arguments[arguments.index("-o") + 1]).stat().st_size > 0


def test_each_step_has_a_block() -> None:
    for step in ("rm.fuse(", "rm.sweep(", "rm.compare(", "rankmeter compare", "rankmeter report"):
        assert any(step in text for _, text in BLOCKS), step
    assert len(COMMANDS) == 3
    assert len(BLOCKS) == TEXT.count("```") / 2


# ---------------------------------------------------------------------------------------------
# The golden set


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """The script; it imports the retrievers only where it uses them."""
    spec = importlib.util.spec_from_file_location("stdlib_build", STDLIB / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def qrels() -> dict[str, dict[str, Any]]:
    return read_qrels(str(STDLIB / "qrels.txt"))


@pytest.fixture(scope="module")
def runs() -> dict[str, dict[str, dict[str, float]]]:
    return {name: read_run(str(STDLIB / f"{name}.run")) for name in RUNS}


def test_the_files_have_the_same_questions(
    build: ModuleType, qrels: dict[str, Any], runs: dict[str, Any]
) -> None:
    questions = list(build.read_questions())
    facets = [line.split("\t") for line in (STDLIB / "facets.tsv").read_text().splitlines()]
    assert facets[0] == ["query_id", "kind", "modules"]
    assert [row[0] for row in facets[1:]] == questions
    assert all(len(row) == 3 and all(row) for row in facets)
    assert list(qrels) == questions
    for run in runs.values():
        assert list(run) == questions
        assert {len(ranking) for ranking in run.values()} == {build.DEPTH}


def test_the_best_of_each_run_are_judged(
    build: ModuleType, qrels: dict[str, Any], runs: dict[str, Any]
) -> None:
    for run in runs.values():
        for query, scores in run.items():
            assert set(build.best(scores, build.POOL)) <= qrels[query].keys()
    assert {grade for grades in qrels.values() for grade in grades.values()} == {0, 1, 2, 3}
    assert all(max(grades.values()) >= 2 for grades in qrels.values())


def test_the_hybrid_run_is_the_fusion_of_the_others(
    build: ModuleType, runs: dict[str, Any]
) -> None:
    both = {name: runs[name] for name in ("dense", "bm25")}
    assert build.fuse(both, {"dense": 0.7, "bm25": 0.3}) == runs["hybrid"]


def test_nearly_all_judged_documents_exist_here(qrels: dict[str, Any]) -> None:
    # In a process of its own: some modules warn or do more when they are imported.
    program = "import json, build; print(json.dumps(build.corpus()))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=STDLIB, capture_output=True, text=True, timeout=120, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    corpus = json.loads(done.stdout)
    judged = {document for grades in qrels.values() for document in grades}
    # Other versions and systems lack some; on Windows a part of os and signal.
    assert len(judged & corpus.keys()) > 0.9 * len(judged)
    assert all(isinstance(text, str) and len(text) >= 25 for text in corpus.values())


# ---------------------------------------------------------------------------------------------
# What the README of the examples says


def test_the_readme_of_the_examples_counts_right(qrels: dict[str, Any]) -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"{len(qrels)} questions about Python's standard library" in text
    assert f"{sum(map(len, qrels.values()))} judgments" in text
    judged = {document for grades in qrels.values() for document in grades}
    assert re.search(rf"of the {len(judged)}\s+documents with a judgment", text)
    best = [max(grades.values()) for grades in qrels.values()]
    assert best.count(2) == 9
    assert "For nine questions no docstring is worth a 3." in text
    for line in re.findall(r"^.venv/bin/rankmeter (.*)$", text, re.MULTILINE):
        arguments = [
            str(EXAMPLES.parent / word) if word.startswith("examples/") else word
            for word in shlex.split(line)
        ]
        assert main(arguments) == 0
