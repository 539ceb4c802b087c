"""rankmeter compare and rankmeter power: options, formats, the gate and the exit codes."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from commands import Runner, cells
from made import evaluation

import rankmeter as rm
from rankmeter.experiments.budgets import Budget, check, never_exceeded, read_budget
from rankmeter.naming.rows import METRICS

N = 40


def trec(ranked: dict[str, list[str]]) -> str:
    return "".join(
        f"{query} Q0 {doc} {rank} {-rank} t\n"
        for query, docs in ranked.items()
        for rank, doc in enumerate(docs, 1)
    )


QUERIES = [f"q{i:02}" for i in range(N)]
GOOD = {query: ["a", "x", "b"] for query in QUERIES}
# Worse on 30 queries, better on none.
BAD = {query: ["x", "a", "b"] if i < 30 else ["a", "x", "b"] for i, query in enumerate(QUERIES)}
# Better on 1 query and worse on 2: nobody can tell.
LIKE = GOOD | {"q00": ["a", "b"], "q01": ["x", "y", "a", "b"], "q02": ["x", "a", "b"]}
FACETS = "".join(f"{query}\t{'how' if i < 20 else 'why'}\n" for i, query in enumerate(QUERIES[:35]))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run each test in a folder that holds the files above."""
    monkeypatch.chdir(tmp_path)
    qrels = "".join(f"{query} 0 a 2\n{query} 0 b 1\n" for query in QUERIES)
    files = {"qrels": qrels, "good": trec(GOOD), "bad": trec(BAD), "like": trec(LIKE)}
    for name, text in (files | {"kind.tsv": FACETS}).items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capsys)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def compared(**options: Any) -> rm.Comparison:
    runs = {"good": "good", "bad": "bad"}
    return rm.compare("qrels", runs, ["mrr", "ndcg@10"], **options)


MRR = ("compare", "qrels", "good", "bad", "-m", "mrr")
BOTH = (*MRR, "-m", "ndcg@10")

# ---------------------------------------------------------------------------------------------
# The table


def test_a_row_a_metric(run: Runner) -> None:
    row = compared()["bad", "mrr"]
    lines = cells(run.well(*BOTH))
    assert lines[0] == [
        "metric", "verdict", "good", "bad", "difference", "relative", "95%", "interval",
        "p", "(holm)", "win/tie/loss",
    ]  # fmt: skip
    assert lines[1] == [
        "mrr", "worse", "1.0000", "0.6250", "-0.3750", "-37.5%",
        f"[{row.low:+.4f},", f"{row.high:+.4f}]", "<0.0001", "0/10/30",
    ]  # fmt: skip
    assert lines[2][:2] == ["ndcg@10", "worse"]
    assert lines[3] == []
    assert " ".join(lines[4]) == (
        "note: 40 queries, randomisation test of 100,000 draws (seed 0), alpha 0.05 with Holm's "
        "correction for 2 p-values"
    )


def test_the_other_way_round_is_better(run: Runner) -> None:
    out = run.well("compare", "qrels", "bad", "good", "-m", "mrr")
    assert cells(out)[1][:2] == ["mrr", "better"]


def test_nobody_can_tell_and_why(run: Runner) -> None:
    out = run.well("compare", "qrels", "good", "like", "-m", "mrr")
    assert "can't tell" in out.splitlines()[1]
    assert "note: mrr: unresolvable, 2 queries differ and p cannot be below 0.5" in out


def test_several_candidates(run: Runner) -> None:
    lines = cells(run.well("compare", "qrels", "good", "bad", "like", "-m", "mrr", "-m", "hit@1"))
    assert lines[0][:5] == ["candidate", "metric", "verdict", "good", "candidate"]
    assert [line[:2] for line in lines[1:5]] == [
        ["bad", "mrr"], ["bad", "hit@1"], ["like", "mrr"], ["like", "hit@1"],
    ]  # fmt: skip


def test_default_metrics(run: Runner) -> None:
    lines = cells(run.well("compare", "qrels", "good", "bad"))
    assert [line[0] for line in lines[1:5]] == ["ndcg@10", "recall@100", "map", "mrr"]


def test_digits(run: Runner) -> None:
    line = cells(run.well("compare", "qrels", "good", "bad", "-m", "map", "--digits", "1"))[1]
    assert line[0] == "map"
    assert all(len(cell) == 3 for cell in line[2:4])
    line = cells(run.well(*MRR, "--movers", "1", "--digits", "1").split("\n\n")[1])[1]
    assert line == ["mrr", "q00", "1.0", "0.5", "-0.5"]


def test_what_was_not_scored_is_noted(run: Runner, folder: Path) -> None:
    fewer = {query: docs for query, docs in GOOD.items() if query > "q01"}
    (folder / "fewer").write_text(trec(fewer | {"z": ["a"]}))
    out = run.well("compare", "qrels", "good", "fewer", "-m", "mrr")
    assert "note: the run of fewer lacks 2 queries (scored as empty)" in out
    assert "note: fewer: 1 of 39 queries not judged, not scored: z" in out
    out = run.well("compare", "qrels", "good", "fewer", "-m", "mrr", "--missing", "skip")
    assert "note: 38 queries, " in out
    outcome = run("compare", "qrels", "good", "fewer", "-m", "mrr", "--missing", "error")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("rankmeter: fewer: ")


def test_by_facets(run: Runner) -> None:
    out = run.well(*MRR, "--by", "kind.tsv")
    part = out.split("\n\n")[1]
    lines = cells(part)
    assert lines[0][:7] == ["facet", "label", "metric", "verdict", "queries", "good", "bad"]
    assert lines[1][:5] == ["kind", "how", "mrr", "worse", "20"]
    assert [line[1] for line in lines[1:]] == ["how", "why", "(none)"]
    assert "corrected for 3 p-values" in out
    assert "corrected for" not in run.well(*MRR, "--by", "kind.tsv", "--correction", "none")


def test_facets_of_other_queries(run: Runner, folder: Path) -> None:
    (folder / "other.tsv").write_text("z\tlabel\n")
    outcome = run(*MRR, "--by", "other.tsv")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("rankmeter: other.tsv: ")


def test_movers(run: Runner) -> None:
    out = run.well("compare", "qrels", "good", "like", "-m", "ndcg@10", "--movers", "1")
    lines = cells(out.split("\n\n")[1])
    assert lines[0] == ["metric", "query", "good", "like", "difference"]
    assert [line[1] for line in lines[1:]] == ["q00", "q01"]
    assert lines[1][4].startswith("+")
    assert lines[2][4].startswith("-")
    out = run.well("compare", "qrels", "good", "like", "-m", "ndcg@10", "--movers", "9")
    assert [line[1] for line in cells(out.split("\n\n")[1])[1:]] == ["q00", "q01", "q02"]


# ---------------------------------------------------------------------------------------------
# Options of the comparison


@pytest.mark.parametrize(
    ("argv", "options"),
    [
        ([], {}),
        (["--test", "t"], {"test": "t"}),
        (["--test", "wilcoxon"], {"test": "wilcoxon"}),
        (["--correction", "bonferroni"], {"correction": "bonferroni"}),
        (["--correction", "bh"], {"correction": "bh"}),
        (["--correction", "none"], {"correction": "none"}),
        (["--alpha", "0.2"], {"alpha": 0.2}),
        (["--confidence", "0.9"], {"confidence": 0.9}),
        (["--draws", "999", "--seed", "7"], {"draws": 999, "seed": 7}),
        (["--ties", "input"], {"ties": "input"}),
        (["--missing", "skip"], {"missing": "skip"}),
        (["--threads", "2"], {"threads": 2}),
    ],
)
def test_options_are_those_of_compare(
    run: Runner, argv: list[str], options: dict[str, Any]
) -> None:
    if "--test" in argv:
        pytest.importorskip("scipy")
    got = json.loads(run.well(*BOTH, "--format", "json", *argv))
    want = json.loads(compared(**options).to_json(movers=0))
    assert got["rows"] == want["rows"]
    assert got["settings"] == want["settings"]
    assert got["notes"] == want["notes"]


def test_names_of_columns_and_formats(run: Runner, folder: Path) -> None:
    for name, ranked in (("good", GOOD), ("bad", BAD)):
        (folder / f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"query_id": query, "ranked": docs}) + "\n"
                for query, docs in ranked.items()
            )
        )
    argv = ("compare", "qrels", "good.jsonl", "bad.jsonl", "-m", "mrr", "--format", "csv")
    [row] = table(run(*argv, "--input-format", "run=jsonl").out)
    assert float(row["difference"]) == -0.375
    assert run(*argv, "--input-format", "run=trec").code == 1


def test_errors_are_gathered(run: Runner, folder: Path) -> None:
    (folder / "wrong").write_text("q1 x\nq2 y\n")
    argv = ("compare", "qrels", "good", "wrong", "-m", "mrr", "--input-format", "run=trec")
    assert run(*argv).err.count("\n") == 1
    outcome = run(*argv, "--errors", "collect")
    assert outcome.code == 1
    assert [line.split(":")[2] for line in outcome.err.splitlines()] == ["1", "2"]


def test_a_test_without_its_library(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.delitem(sys.modules, "scipy.stats", raising=False)
    outcome = run(*MRR, "--test", "t")
    assert (outcome.code, outcome.out) == (1, "")
    assert "pip install 'rankmeter[stats]'" in outcome.err


# ---------------------------------------------------------------------------------------------
# Formats


def test_json(run: Runner) -> None:
    out = run.well(*BOTH, "--format", "json", "--by", "kind.tsv", "--movers", "2", "--budget",
                   "mrr=0.5")  # fmt: skip
    got = json.loads(out)
    assert (got["qrels"], got["ties"]) == ("qrels", "docid")
    assert (got["baseline"], got["systems"]) == ("good", ["bad"])
    assert got["metrics"] == ["mrr", "ndcg@10"]
    assert [row["metric"] for row in got["rows"]] == ["mrr", "ndcg@10"]
    assert [mover["query"] for mover in got["rows"][0]["regressed"]] == ["q00", "q01"]
    assert [part["label"] for part in got["facets"]] == ["how", "why", None]
    [budget] = got["budgets"]
    assert budget == {
        "system": "bad", "metric": "mrr", "budget": "0.5", "allowed": 0.5, "drop": 0.375,
        "adjusted_p": got["rows"][0]["adjusted_p"], "outcome": "kept",
    }  # fmt: skip
    assert any("corrected for 6 p-values" in note for note in got["notes"])


def test_csv_has_all_digits(run: Runner) -> None:
    outcome = run(*BOTH, "--format", "csv")
    assert outcome.code == 0
    assert outcome.err.startswith("rankmeter: note: 40 queries")
    rows = table(outcome.out)
    for row, want in zip(rows, compared().rows, strict=True):
        assert (row["system"], row["metric"], row["verdict"]) == ("bad", want.metric, "worse")
        for name in ("baseline", "mean", "difference", "relative", "low", "high", "adjusted_p"):
            assert float(row[name]) == getattr(want, name)
        assert (row["wins"], row["losses"]) == ("0", "30")
        assert row["resolvable"] == "true"


def test_csv_of_facets_and_of_movers(run: Runner) -> None:
    rows = table(run(*MRR, "--format", "csv", "--by", "kind.tsv").out)
    assert [(row["label"], row["queries"]) for row in rows] == [
        ("how", "20"), ("why", "15"), ("", "5"),
    ]  # fmt: skip
    assert [row["losses"] for row in rows] == ["20", "10", "0"]
    rows = table(run(*MRR, "--format", "csv", "--movers", "3").out)
    assert [(row["query"], row["baseline"], row["value"], row["difference"]) for row in rows] == [
        (query, "1.0", "0.5", "-0.5") for query in ("q00", "q01", "q02")
    ]


def test_markdown_says_the_verdict_first(run: Runner) -> None:
    out = run("compare", "qrels", "good", "bad", "like", "-m", "mrr", "--format", "markdown",
              "--budget", "mrr=0.1").out  # fmt: skip
    lines = out.splitlines()
    assert lines[0] == "**bad against good: worse by mrr**"
    assert lines[2] == "**like against good: can't tell by mrr**"
    assert lines[4] == (
        "- budget exceeded: mrr of bad drops by 0.375, from 1, more than its budget of 0.1"
    )
    assert lines[5] == "- budget kept: mrr of like keeps its budget of 0.1"
    assert lines[7].startswith("| candidate | metric | verdict ")
    assert lines[12].startswith("- note: 40 queries")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


SCRIPT = "<script>alert(1)</script>"


@pytest.mark.parametrize("style", ["html", "markdown"])
def test_ids_are_text(run: Runner, folder: Path, style: str) -> None:
    (folder / "qrels").write_text(f"{SCRIPT} 0 a 1\nq 0 a 1\n*q*|r 0 a 1\n")
    (folder / "one").write_text(trec({SCRIPT: ["a"], "q": ["a"], "*q*|r": ["x", "a"]}))
    two = {SCRIPT: ["x", "a"], "q": ["a"], "*q*|r": ["a"], f"unjudged{SCRIPT}": ["a"]}
    (folder / "two").write_text(trec(two))
    out = run.well(
        "compare", "qrels", "one", "two", "-m", "mrr", "--movers", "5", "--format", style
    )
    assert "<script" not in out.replace("\\<", "")
    if style == "html":
        assert out.startswith("<!doctype html>")
        page = Tags()
        page.feed(out)
        assert page.tags.count("table") == 2
        assert SCRIPT in page.text
        assert any(text.endswith(f"not scored: unjudged{SCRIPT}") for text in page.text)
        assert "two against one: can't tell by mrr" in page.text
    else:
        assert "\\<script\\>alert(1)\\</script\\>" in out
        assert "\\*q\\*\\|r" in out


def test_output_to_a_file(run: Runner, folder: Path) -> None:
    assert run.well(*MRR, "--output", "out.md", "--format", "markdown") == ""
    assert (folder / "out.md").read_text().startswith("**bad against good")


# ---------------------------------------------------------------------------------------------
# Budgets


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("ndcg@10=0.01", Budget("ndcg@10", 0.01, False, "0.01")),
        ("mrr=2%", Budget("mrr", 0.02, True, "2%")),
        ("mrr=.5%", Budget("mrr", 0.005, True, ".5%")),
        ("mrr=1e-3", Budget("mrr", 0.001, False, "1e-3")),
        ("mrr=0", Budget("mrr", 0.0, False, "0")),
        ("ndcg@10(gain={1:1,2:3})=1", Budget("ndcg@10(gain={1:1,2:3})", 1.0, False, "1")),
    ],
)
def test_read_budget(text: str, budget: Budget) -> None:
    assert read_budget(text) == budget


@pytest.mark.parametrize(
    ("budget", "code"),
    [
        ("mrr=0.374", 3),
        ("mrr=0.375", 0),
        ("mrr=0.376", 0),
        ("mrr=37.4%", 3),
        ("mrr=37.5%", 0),
        ("mrr=0", 3),
        ("recall@2=0", 0),
        ("hit@1=10%", 3),
    ],
)
def test_gate(run: Runner, budget: str, code: int) -> None:
    outcome = run(*BOTH, "--budget", budget)
    assert outcome.code == code
    assert outcome.err.count("\n") == (code == 3)
    assert outcome.out.startswith("metric ")
    assert f"\n{budget.partition('=')[0]} " in outcome.out


def test_gains_exceed_nothing(run: Runner) -> None:
    run.well("compare", "qrels", "bad", "good", "-m", "mrr", "--budget", "mrr=0")


def test_rounding_is_no_drop(run: Runner, folder: Path) -> None:
    hits, lost, percent = next(
        (hits, lost, percent)
        for hits in range(1, 101)
        for lost in range(1, hits + 1)
        for percent in range(1, 100)
        if hits * percent == lost * 100 and hits / 100 * (percent / 100) < lost / 100
    )
    (folder / "qrels").write_text("".join(f"q{i} 0 a 1\n" for i in range(100)))
    for name, found in (("before", hits), ("after", hits - lost)):
        ranked = {f"q{i}": ["a"] if i < found else ["x"] for i in range(100)}
        (folder / name).write_text(trec(ranked))
    argv = ("compare", "qrels", "before", "after", "-m", "mrr", "--budget")
    assert run(*argv, f"mrr={percent}%").code == 0
    assert run(*argv, f"mrr={lost / 100}").code == 0
    assert run(*argv, f"mrr={percent - 0.01:.2f}%").code == 3


def test_the_reason_is_one_line_each(run: Runner) -> None:
    outcome = run("compare", "qrels", "good", "bad", "like", "-m", "mrr",
                  "--budget", "mrr=0.01", "--budget", "P_1=2%")  # fmt: skip
    assert outcome.code == 3
    assert outcome.err.splitlines() == [
        "rankmeter: mrr of bad drops by 0.375, from 1, more than its budget of 0.01",
        "rankmeter: mrr of like drops by 0.02917, from 1, more than its budget of 0.01",
        "rankmeter: P_1 of bad drops by 0.75, from 1, more than its budget of 2% (0.02)",
        "rankmeter: P_1 of like drops by 0.05, from 1, more than its budget of 2% (0.02)",
    ]


def test_with_alpha_only_what_is_significant(run: Runner) -> None:
    like = ("compare", "qrels", "good", "like", "-m", "mrr", "--budget", "mrr=0.01")
    assert run(*like).code == 3
    outcome = run(*like, "--alpha", "0.05")
    assert outcome.code == 0
    assert outcome.err == (
        "rankmeter: note: mrr of like drops by 0.02917, from 1, more than its budget of 0.01, but "
        "it may be noise: unresolvable, 2 queries differ and p cannot be below 0.5\n"
    )
    outcome = run(*like, "--alpha", "0.6")
    assert outcome.code == 3
    assert outcome.err.endswith("more than its budget of 0.01, and p is 0.5\n")
    outcome = run(*MRR, "--budget", "mrr=0.01", "--alpha", "0.05")
    assert outcome.code == 3
    got = json.loads(run(*like, "--alpha", "0.05", "--format", "json").out)
    assert [one["outcome"] for one in got["budgets"]] == ["not significant"]


def test_a_budget_in_another_spelling_adds_no_metric(run: Runner) -> None:
    got = json.loads(run(*MRR, "--budget", "recip_rank=0.01", "--format", "json").out)
    assert got["metrics"] == ["mrr"]
    got = json.loads(run(*MRR, "--budget", "recall@2=0", "--format", "json").out)
    assert got["metrics"] == ["mrr", "recall@2"]


@pytest.mark.parametrize(
    ("given", "never"),
    [("2", True), ("0.625", True), ("0.62", False), ("100%", True), ("99%", False), ("63%", False)],
)
def test_a_budget_that_cannot_be_exceeded_is_noted(run: Runner, given: str, never: bool) -> None:
    out = run.well("compare", "qrels", "bad", "good", "-m", "mrr", "--budget", f"mrr={given}")
    note = f"note: mrr: its budget of {given} cannot be exceeded, the mean of bad is 0.625\n"
    assert (note in out) == never
    assert ("cannot be exceeded" in out) == never


def budgeted(before: float, after: float, metric: str, *given: str) -> tuple[list[str], list[bool]]:
    """What becomes of these budgets, and which of them cannot be exceeded."""
    pair = {
        name: evaluation([value], metrics=metric)
        for name, value in (("base", before), ("new", after))
    }
    comparison = rm.compare(pair)
    budgets = [read_budget(f"{metric}={amount}") for amount in given]
    outcomes = [one.outcome for one in check(comparison, budgets, only_significant=False)]
    return outcomes, [bool(never_exceeded(comparison, [budget])) for budget in budgets]


def test_a_share_of_a_small_mean() -> None:
    outcomes, never = budgeted(0.1, 0.04, "mrr", "50%", "100%", "0.05", "0.1")
    assert outcomes == ["exceeded", "kept", "exceeded", "kept"]
    assert never == [False, True, False, True]


def test_a_share_of_a_negative_mean_is_an_amount_like_others() -> None:
    outcomes, never = budgeted(-0.847, -1.012, "yaap", "50%", "1%")
    assert outcomes == ["kept", "exceeded"]
    assert never == [False, False]


def test_an_output_that_fails_comes_before_the_budget(run: Runner) -> None:
    outcome = run(*MRR, "--budget", "mrr=0", "--output", "no/such/folder")
    assert outcome.code == 1
    assert outcome.err.startswith("rankmeter: no/such/folder: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_comes_before_the_budget() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rankmeter", *MRR, "--budget", "mrr=0"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"rankmeter: standard output: ")


# ---------------------------------------------------------------------------------------------
# rankmeter power

POWER = ("power", "qrels", "good")


def test_power_of_two(run: Runner) -> None:
    out = run.well(*POWER, "bad", "-m", "mrr", "-m", "hit@1", "--difference", "0.01")
    means, resolved, notes = out.split("\n\n")
    spread = rm.intervals(rm.evaluate("qrels", "bad", ["mrr", "hit@1"]))
    row = rm.resolution(compared(), difference=0.01)["bad", "mrr"]
    assert cells(means)[0] == ["run", "metric", "method", "mean", "95%", "interval"]
    assert [line[:3] for line in cells(means)[1:]] == [
        ["good", "mrr", "binomial"], ["good", "hit@1", "binomial"],
        ["bad", "mrr", "bootstrap"], ["bad", "hit@1", "binomial"],
    ]  # fmt: skip
    low, high = spread["mrr"].low, spread["mrr"].high
    assert cells(means)[3][3:] == ["0.6250", f"[{low:.4f},", f"{high:.4f}]"]
    assert row.detectable is not None
    assert cells(resolved)[1] == [
        "mrr", "40", "30", f"{row.deviation:.4f}", f"{row.detectable:.4f}", "+0.0100",
        str(row.needed), "1e-05",
    ]  # fmt: skip
    assert f"mrr: 40 queries show a difference of {row.detectable:.4f} in 80% of cases" in notes
    assert f"{row.needed:,} queries would show one of 0.0100" in notes


def test_power_without_a_difference_takes_the_observed_one(run: Runner) -> None:
    [row] = json.loads(run.well(*POWER, "bad", "-m", "mrr", "--format", "json"))["rows"]
    assert row["difference"] == -0.375
    assert row["needed"] == rm.resolution(compared())["bad", "mrr"].needed


def test_unresolvable_is_said_in_words(run: Runner, folder: Path) -> None:
    out = run.well(*POWER, "like", "-m", "mrr")
    assert "mrr: unresolvable, 2 queries differ and p cannot be below 0.5" in out
    out = run.well(*POWER, "like", "-m", "recall@9")
    assert "recall@9: unresolvable, no query differs" in out
    (folder / "few").write_text("q00 0 a 1\nq01 0 b 1\n")
    out = run("power", "few", "bad", "-m", "mrr").out
    assert "mrr: unresolvable, with 2 queries p cannot be below 0.5" in out


def test_power_of_one_run(run: Runner) -> None:
    argv = ("power", "qrels", "bad", "-m", "mrr", "--difference", "0.05", "--format", "json")
    got = json.loads(run.well(*argv))
    [row] = got["rows"]
    deviation = float(rm.evaluate("qrels", "bad", "mrr").values.std(ddof=1)) * 2**0.5
    assert row["deviation"] == pytest.approx(deviation, rel=1e-12)
    assert (row["changed"], row["queries"], row["smallest_p"]) == (None, 40, 2.0**-39)
    # By the normal approximation: (1.960 + 0.842) deviations of the mean.
    assert row["detectable"] == pytest.approx(2.80158 * deviation / 40**0.5, rel=0.03)
    assert row["needed"] == pytest.approx((2.80158 * deviation / 0.05) ** 2, rel=0.03)
    assert got["runs"][0]["run"] == "bad"
    assert any("nothing in common" in note for note in got["notes"])


def test_power_where_nothing_varies(run: Runner) -> None:
    out = run.well(*POWER, "-m", "mrr", "--difference", "0.1")
    assert "mrr: every query has the same value, so nothing is known of the spread" in out
    assert "queries would show" not in out


def test_power_where_the_lowest_p_is_alpha(run: Runner, folder: Path) -> None:
    (folder / "six").write_text("".join(f"q0{i} 0 {'ab'[i % 2]} 1\n" for i in range(6)))
    argv = ("power", "six", "good", "-m", "mrr", "--format", "json", "--alpha")
    for alpha, resolvable in (("0.03125", True), ("0.03124", False)):
        [row] = json.loads(run(*argv, alpha).out)["rows"]
        assert (row["smallest_p"], row["resolvable"]) == (2.0**-5, resolvable)
        assert ("unresolvable" in row["sentence"]) != resolvable


def test_one_query_tells_nothing(run: Runner, folder: Path) -> None:
    (folder / "few").write_text("q00 0 a 1\n")
    got = json.loads(run("power", "few", "bad", "-m", "mrr", "--format", "json").out)
    [row] = got["rows"]
    assert (row["deviation"], row["detectable"], row["needed"]) == (None, None, None)
    assert not row["resolvable"]
    assert run("power", "few", "bad", "good", "-m", "mrr").code == 0
    got = json.loads(run("compare", "few", "good", "bad", "-m", "mrr", "--format", "json").out)
    assert got["rows"][0]["low"] is None


def test_options_of_power(run: Runner) -> None:
    argv = (*POWER, "bad", "-m", "mrr", "--format", "json")
    got = json.loads(run.well(*argv, "--power", "0.9", "--alpha", "0.01", "--draws", "500",
                              "--seed", "3", "--confidence", "0.8"))  # fmt: skip
    want = rm.resolution(compared(), power=0.9, alpha=0.01)["bad", "mrr"]
    assert (got["rows"][0]["detectable"], got["rows"][0]["needed"]) == (
        want.detectable, want.needed,
    )  # fmt: skip
    spread = rm.intervals(rm.evaluate("qrels", "bad", "mrr"), confidence=0.8, draws=500, seed=3)[
        "mrr"
    ]
    assert got["runs"][1]["intervals"]["mrr"]["low"] == spread.low


@pytest.mark.parametrize("two", [True, False])
def test_power_as_csv(run: Runner, two: bool) -> None:
    outcome = run(*POWER, *["bad"] * two, "-m", "mrr", "-m", "hit@1", "--format", "csv")
    assert outcome.code == 0
    rows = table(outcome.out)
    assert [row["metric"] for row in rows] == ["mrr", "hit@1"]
    assert [row["method"] for row in rows] == ["binomial", "binomial"]
    assert ("candidate_low" in rows[0]) == two
    if two:
        assert float(rows[0]["candidate_mean"]) == 0.625
        assert rows[0]["changed"] == "30"
    else:
        assert rows[0]["changed"] == rows[0]["needed"] == ""


@pytest.mark.parametrize(("style", "start"), [("markdown", "| run "), ("html", "<!doctype html>")])
def test_power_for_reading(run: Runner, style: str, start: str) -> None:
    assert run.well(*POWER, "bad", "--format", style).startswith(start)


# ---------------------------------------------------------------------------------------------
# What goes wrong


@pytest.mark.parametrize(
    ("argv", "what"),
    [
        (["compare"], "QRELS"),
        (["compare", "qrels", "good"], "CANDIDATE"),
        (["compare", "qrels", "good", "good"], "the run good is given twice"),
        (["compare", "-", "good", "-"], "standard input (-) can be read once only"),
        ([*MRR, "-m", "mrr"], "the metric 'mrr' is named twice"),
        ([*MRR, "-m", "mrrr"], "mrrr"),
        ([*MRR, "--budget", "mrr"], "'mrr' is not METRIC=DROP, such as ndcg@10=0.01"),
        ([*MRR, "--budget", "mrr=-1"], "is not METRIC=DROP"),
        ([*MRR, "--budget", "mrr=nan"], "is not METRIC=DROP"),
        ([*MRR, "--budget", "mrr=1%%"], "is not METRIC=DROP"),
        ([*MRR, "--budget", "=1"], "argument --budget"),
        ([*MRR, "--budget", "mmr=1"], "mmr"),
        ([*MRR, "--budget", "mrr=1", "--budget", "recip_rank=2%"], "recip_rank has two budgets"),
        ([*MRR, "--alpha", "0"], "'0' is not a number between 0 and 1"),
        ([*MRR, "--alpha", "nan"], "'nan' is not a number between 0 and 1"),
        ([*MRR, "--alpha", "x"], "'x' is not a number between 0 and 1"),
        ([*MRR, "--confidence", "95"], "'95' is not a number between 0 and 1"),
        ([*MRR, "--draws", "0"], "'0' is not a number from 1"),
        ([*MRR, "--seed", str(2**64)], "is not a number from 0 to 2^64 - 1"),
        ([*MRR, "--movers", "-1"], "--movers"),
        ([*MRR, "--movers", "x"], "'x' is not a number from 0 up"),
        ([*MRR, "--test", "z"], "--test"),
        ([*MRR, "--correction", "z"], "--correction"),
        ([*MRR, "--missing", "z"], "--missing"),
        ([*MRR, "--format", "xml"], "xml"),
        ([*MRR, "--output", "bad"], "--output would replace the input bad"),
        ([*MRR, "--output", "kind.tsv", "--by", "kind.tsv"], "would replace the input kind.tsv"),
        (
            [*MRR, "--format", "csv", "--by", "kind.tsv", "--movers", "1"],
            "csv holds one table: choose --by or --movers",
        ),
        ([*POWER, "good"], "the run good is given twice"),
        ([*POWER, "bad", "like"], "unrecognized arguments: like"),
        ([*POWER, "--difference", "0"], "'0' is not a number above 0"),
        ([*POWER, "--difference", "inf"], "'inf' is not a number above 0"),
        ([*POWER, "--difference", "-0.1"], "--difference"),
        ([*POWER, "--power", "80"], "'80' is not a number between 0 and 1"),
        ([*POWER, "--alpha", "1"], "'1' is not a number between 0 and 1"),
    ],
)
def test_bad_usage(run: Runner, argv: list[str], what: str) -> None:
    outcome = run(*argv)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("usage: rankmeter")
    assert what in outcome.err


@pytest.mark.parametrize("command", ["compare", "power"])
def test_bad_input(run: Runner, folder: Path, command: str) -> None:
    outcome = run(command, "qrels", "good", "nowhere")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == "rankmeter: nowhere: No such file or directory\n"
    (folder / "alien").write_text("z Q0 a 1 1 t\n")
    outcome = run(command, "qrels", "good", "alien")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("rankmeter: alien: ")
    assert not METRICS["bpref"].closed_form
    outcome = run(command, "qrels", "good", "bad", "-m", "bpref", "--ties", "expected")
    assert (outcome.code, outcome.out) == (1, "")
    assert "bpref" in outcome.err


@pytest.mark.parametrize("command", ["eval", "compare", "power"])
def test_documents_that_stand_twice(run: Runner, folder: Path, command: str) -> None:
    (folder / "dup").write_text(trec(BAD) + "q00 Q0 b 4 9 t\n")
    assert "stands in line" in run.bad_input(command, "qrels", "good", "dup")
    kept = run.well(command, "qrels", "good", "dup", "--duplicates", "first")
    assert kept.replace("dup", "bad") == run.well(command, "qrels", "good", "bad")


# ---------------------------------------------------------------------------------------------
# As a process


def process(*argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "rankmeter", *argv], input=stdin, capture_output=True, timeout=60
    )


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (MRR, 0),
        (("compare", "qrels", "good", "nowhere"), 1),
        (("compare", "qrels", "good"), 2),
        ((*MRR, "--budget", "mrr=0.01"), 3),
        ((*POWER, "bad"), 0),
    ],
)
def test_exit_codes(argv: tuple[str, ...], code: int) -> None:
    done = process(*argv)
    assert done.returncode == code
    assert bool(done.stderr) == (code != 0)
    assert bool(done.stdout) == (code in (0, 3))


def test_standard_input() -> None:
    done = process("compare", "qrels", "good", "-", "-m", "mrr", stdin=Path("bad").read_bytes())
    assert done.returncode == 0
    assert cells(done.stdout.decode())[0][:4] == ["metric", "verdict", "good", "<stdin>"]


def test_scoring_does_not_load_the_comparison() -> None:
    code = (
        "import sys; from rankmeter.cli.commands import main; main(['eval', 'qrels', 'good']);"
        "sys.exit(any(f'rankmeter.{m}' in sys.modules for m in ('comparison', 'spread')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["compare", "power"])
def test_help(run: Runner, command: str) -> None:
    outcome = run(command, "--help")
    assert outcome.code == 0
    assert "exit code:" in outcome.out
    assert max(map(len, outcome.out.split("columns:")[1].splitlines())) <= 100
