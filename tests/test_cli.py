"""The command line: every option, every way to go wrong, and the exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import pytest
from commands import Runner, cells
from readers import read_qrels, read_run

import rankmeter as rm
from rankmeter._core.metrics.rows import PARAMETERS
from rankmeter.cli.commands import DEFAULT_METRICS
from rankmeter.doors.facet_files import read_facets
from rankmeter.naming.rows import METRICS

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

posix = pytest.mark.skipif(os.name == "nt", reason="pipes and links of POSIX")

# Two queries are found, q3 is missing, q4 has nothing relevant; q9 is not judged.
QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 a 1\nq3 0 a 1\nq4 0 a 0\n"
ONE = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\nq2 Q0 x 1 2.0 t\nq4 Q0 a 1 1 t\nq9 Q0 a 1 1 t\n"
TWO = "q1 Q0 b 1 1.0 t\nq2 Q0 a 1 1.0 t\nq3 Q0 x 1 2.0 t\nq3 Q0 a 2 1.0 t\nq4 Q0 a 1 1 t\n"
FACETS = "query_id\tkind\tarea\nq1\thow\tmail\nq2\trule\tmail\nq3\trule\t\nq8\thow\tmail\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run each test in a folder that holds the files above."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels", QRELS), ("one", ONE), ("two", TWO), ("facets.tsv", FACETS)):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capsys)


def process(
    *argv: str | bytes, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "rankmeter", *argv],
        input=stdin,
        capture_output=True,
        env={**os.environ, **(env or {})},
    )


# ---------------------------------------------------------------------------------------------
# The table


def test_one_row_a_metric_one_column_a_run(run: Runner) -> None:
    out = run.well("eval", "qrels", "one", "two", "-m", "mrr", "-m", "P_1", "-m", "ndcg@2")
    assert cells(out)[:4] == [
        ["metric", "one", "two"],
        ["mrr", "0.2500", "0.6250"],
        ["P_1", "0.2500", "0.5000"],
        ["ndcg@2", "0.1992", "0.6143"],
    ]


def test_notes_say_what_was_not_scored(run: Runner) -> None:
    out = run.well("eval", "qrels", "one", "two", "-m", "mrr", "--by", "facets.tsv")
    assert [line for line in out.splitlines() if line.startswith("note: ")] == [
        "note: qrels: 1 of 4 queries without a document of grade 1 or more: q4",
        "note: facets.tsv: 1 of 4 queries not judged: q8",
        "note: one: 1 of 4 queries missing from the run, taken as empty: q3",
        "note: one: 1 of 4 queries not judged, not scored: q9",
    ]
    out = run.well("eval", "qrels", "one", "-m", "mrr", "--missing", "skip")
    assert "note: one: 1 of 4 queries missing from the run, left out: q3" in out


def test_a_note_names_five_queries(run: Runner, folder: Path) -> None:
    (folder / "many").write_text("".join(f"m{i} 0 a 1\n" for i in range(7)) + "q1 0 a 1\n")
    out = run.well("eval", "many", "one", "-m", "mrr")
    assert (
        "7 of 8 queries missing from the run, taken as empty: m0, m1, m2, m3, m4 and 2 more" in out
    )


def test_nothing_to_note(run: Runner, folder: Path) -> None:
    (folder / "qrels").write_text("q1 0 a 1\n")
    (folder / "one").write_text("q1 Q0 a 1 1 t\n")
    out = run.well("eval", "qrels", "one", "-m", "mrr")
    assert cells(out) == [["metric", "one"], ["mrr", "1.0000"]]


def test_default_metrics(run: Runner) -> None:
    out = run.well("eval", "qrels", "two")
    assert [row[0] for row in cells(out)[1:5]] == list(DEFAULT_METRICS)
    assert DEFAULT_METRICS == ("ndcg@10", "recall@100", "map", "mrr")


def test_digits(run: Runner) -> None:
    argv = ("eval", "qrels", "two", "-m", "ndcg@2", "--format")
    assert cells(run.well(*argv, "table", "--digits", "0"))[1] == ["ndcg@2", "1"]
    assert cells(run.well(*argv, "table", "--digits", "7"))[1] == ["ndcg@2", "0.6142911"]
    assert "0.6142911 |" in run.well(*argv, "markdown", "--digits", "7")


def test_per_query(run: Runner) -> None:
    out = run.well("eval", "qrels", "one", "two", "-m", "mrr", "-m", "P_1", "--per-query")
    queries, means, _ = out.split("\n\n")
    assert cells(queries) == [
        ["query", "metric", "one", "two"],
        ["q1", "mrr", "1.0000", "1.0000"],
        ["q1", "P_1", "1.0000", "1.0000"],
        ["q2", "mrr", "0.0000", "1.0000"],
        ["q2", "P_1", "0.0000", "1.0000"],
        ["q3", "mrr", "0.0000", "0.5000"],
        ["q3", "P_1", "0.0000", "0.0000"],
        ["q4", "mrr", "0.0000", "0.0000"],
        ["q4", "P_1", "0.0000", "0.0000"],
    ]
    assert cells(means)[0] == ["metric", "one", "two"]


def test_per_query_where_a_run_lacks_queries(run: Runner) -> None:
    argv = ("eval", "qrels", "one", "two", "-m", "mrr", "--per-query", "--missing", "skip")
    assert ["q3", "mrr", "-", "0.5000"] in cells(run.well(*argv))
    outcome = run(*argv, "--format", "csv")
    assert "q3,mrr,,0.5\n" in outcome.out


def test_facets(run: Runner) -> None:
    out = run.well("eval", "qrels", "one", "two", "-m", "mrr", "--by", "facets.tsv")
    assert cells(out.split("\n\n")[0]) == [
        ["facet", "label", "metric", "one", "two"],
        ["kind", "how", "n", "1", "1"],
        ["kind", "how", "mrr", "1.0000", "1.0000"],
        ["kind", "rule", "n", "2", "2"],
        ["kind", "rule", "mrr", "0.0000", "0.7500"],
        ["kind", "(none)", "n", "1", "1"],
        ["kind", "(none)", "mrr", "0.0000", "0.0000"],
        ["area", "mail", "n", "2", "2"],
        ["area", "mail", "mrr", "0.5000", "1.0000"],
        ["area", "(none)", "n", "2", "2"],
        ["area", "(none)", "mrr", "0.0000", "0.2500"],
    ]


def test_facets_where_a_run_lacks_queries(run: Runner, folder: Path) -> None:
    (folder / "kind.tsv").write_text("q1\ta\nq3\tb\n")
    out = run.well(
        "eval", "qrels", "one", "two", "-m", "mrr", "--by", "kind.tsv", "--missing", "skip"
    )
    rows = cells(out.split("\n\n")[0])
    assert ["kind", "b", "n", "0", "1"] in rows
    assert ["kind", "b", "mrr", "-", "0.5000"] in rows


def test_ties(run: Runner, folder: Path) -> None:
    (folder / "tied").write_text("q1 Q0 x 1 1 t\nq1 Q0 b 2 1 t\nq1 Q0 a 3 1 t\n")
    (folder / "qrels").write_text("q1 0 b 1\n")
    for extra, value in ((), "0.5000"), (("--ties", "docid"), "0.5000"):
        assert cells(run.well("eval", "qrels", "tied", "-m", "mrr", *extra))[1] == ["mrr", value]
    (folder / "tied").write_text("q1 Q0 b 1 1 t\nq1 Q0 x 2 1 t\nq1 Q0 a 3 1 t\n")
    out = run.well("eval", "qrels", "tied", "-m", "mrr", "--ties", "input")
    assert cells(out)[1] == ["mrr", "1.0000"]


def test_ties_go_by_the_bytes_of_any_id(run: Runner, folder: Path) -> None:
    (folder / "qrels").write_bytes(b"q 0 \xff 1\n")
    (folder / "tied").write_bytes(b"".join(b"q Q0 %s 1 1 t\n" % i for i in (b"\xc3\xa9", b"\xff")))
    assert cells(run.well("eval", "qrels", "tied", "-m", "mrr"))[1] == ["mrr", "1.0000"]


def test_missing(run: Runner) -> None:
    argv = ("eval", "qrels", "one", "-m", "mrr", "--missing")
    assert cells(run.well(*argv, "zero"))[1] == ["mrr", "0.2500"]
    assert cells(run.well(*argv, "skip"))[1] == ["mrr", "0.3333"]
    said = run.bad_input(*argv, "error")
    assert said.startswith("one: ")
    assert "q3" in said


# ---------------------------------------------------------------------------------------------
# Other formats


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_json_holds_every_digit(run: Runner, missing: str) -> None:
    metrics = ["ndcg@10", "map", "recip_rank"]
    argv = [part for metric in metrics for part in ("-m", metric)]
    report = json.loads(
        run.well(
            *("eval", "qrels", "one", "two", "--per-query", "--by", "facets.tsv", *argv),
            *("--missing", missing, "--format", "json", "--digits", "1"),
        )
    )
    assert list(report) == ["qrels", "metrics", "ties", "missing", "runs"]
    assert (report["qrels"], report["metrics"]) == ("qrels", metrics)
    assert (report["ties"], report["missing"]) == ("docid", missing)
    qrels, facets = read_qrels("qrels"), read_facets("facets.tsv")
    for name, found in zip(("one", "two"), report["runs"], strict=True):
        ev = rm.evaluate(qrels, read_run(name), metrics, missing=missing)
        assert found == {
            "run": name,
            "mean": ev.mean,
            "coverage": ev.coverage._asdict(),
            "per_query": ev.per_query,
            "facets": {
                facet: [
                    {"label": label, "n": len(part), "mean": part.mean}
                    for label, part in labels.items()
                ]
                for facet, labels in ev.by(facets).items()
            },
        }
    assert report["runs"][0]["coverage"] == {
        "judged": 4,
        "evaluated": 3,
        "missing": 1,
        "unjudged": 1,
        "no_relevant": 1,
        "unmatched": 0,
    }


def test_json_without_details(run: Runner) -> None:
    report = json.loads(run.well("eval", "qrels", "two", "--format", "json"))
    assert list(report["runs"][0]) == ["run", "mean", "coverage"]


def test_csv(run: Runner) -> None:
    outcome = run("eval", "qrels", "one", "two", "-m", "ndcg@2", "--format", "csv")
    assert outcome.code == 0
    assert outcome.err.splitlines()[1] == (
        "rankmeter: note: one: 1 of 4 queries missing from the run, taken as empty: q3"
    )
    rows = list(csv.reader(io.StringIO(outcome.out)))
    assert rows[0] == ["metric", "one", "two"]
    for name, text in zip(("one", "two"), rows[1][1:], strict=True):
        ev = rm.evaluate(read_qrels("qrels"), read_run(name), "ndcg@2")
        assert float(text) == ev["ndcg@2"]
        assert text == repr(ev["ndcg@2"])
    assert "\r" not in outcome.out


def test_csv_of_facets(run: Runner) -> None:
    outcome = run("eval", "qrels", "two", "-m", "mrr", "--format", "csv", "--by", "facets.tsv")
    assert outcome.out.splitlines()[:3] == [
        "facet,label,metric,two",
        "kind,how,n,1",
        "kind,how,mrr,1.0",
    ]
    assert "kind,,n,1" in outcome.out


def test_markdown(run: Runner) -> None:
    out = run.well("eval", "qrels", "one", "-m", "mrr", "--format", "markdown", "--per-query")
    queries, means, notes = out.split("\n\n")
    assert [cell.strip() for cell in queries.splitlines()[2].strip("|").split("|")] == [
        "q1",
        "mrr",
        "1.0000",
    ]
    assert means.startswith("| metric")
    assert notes.splitlines()[1] == (
        "- note: one: 1 of 4 queries missing from the run, taken as empty: q3"
    )


def test_markdown_notes_are_escaped(run: Runner, folder: Path) -> None:
    (folder / "qrels").write_text("q1 0 a 1\n*q*_|_ 0 a 1\n")
    out = run.well("eval", "qrels", "one", "-m", "mrr", "--format", "markdown")
    assert r"taken as empty: \*q\*\_\|\_" in out


# ---------------------------------------------------------------------------------------------
# Files


def test_standard_input(folder: Path) -> None:
    done = process("eval", "qrels", "-", "-m", "mrr", stdin=TWO.encode())
    assert done.returncode == 0
    assert cells(done.stdout.decode())[:2] == [["metric", "-"], ["mrr", "0.6250"]]
    done = process("eval", "-", "two", "-m", "mrr", stdin=b"\nq 0 d\n")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"rankmeter: <stdin>:2: 3 columns")


def test_output(run: Runner, folder: Path) -> None:
    out = folder / "out"
    argv = ("eval", "qrels", "one", "--format")
    for format_ in ("table", "json", "csv", "markdown"):
        expected = run(*argv, format_).out
        outcome = run(*argv, format_, "--output", "out")
        assert (outcome.code, outcome.out) == (0, "")
        assert out.read_bytes().decode() == expected


def test_output_to_standard_output(run: Runner, folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert run("eval", "qrels", "one", "--output", "-").out == run("eval", "qrels", "one").out
    assert sorted(folder.iterdir()) == before


def test_threads_do_not_change_the_report(run: Runner) -> None:
    argv = ("eval", "qrels", "one", "two", "--per-query", "--by", "facets.tsv", "--format", "json")
    outs = {run.well(*argv, "--threads", n) for n in ("1", "2", "64")}
    assert outs == {run.well(*argv)}


def test_an_error_leaves_the_output_as_it_was(run: Runner, folder: Path) -> None:
    (folder / "out").write_text("before")
    (folder / "bad").write_text("q1 Q0 a 1 nan t\n")
    run.bad_input("eval", "qrels", "one", "bad", "--output", "out")
    assert (folder / "out").read_text() == "before"
    run.bad_input("eval", "qrels", "bad", "--output", "new")
    assert not (folder / "new").exists()


def test_output_that_cannot_be_written(run: Runner, folder: Path) -> None:
    said = run.bad_input("eval", "qrels", "one", "--output", "nowhere/out")
    assert said == "nowhere/out: No such file or directory"
    assert run.bad_input("eval", "qrels", "one", "--output", ".").startswith(".: ")


@posix
def test_output_to_a_device(folder: Path) -> None:
    done = process("eval", "qrels", "two", "-m", "mrr", "--output", "/dev/stdout")
    assert cells(done.stdout.decode())[1] == ["mrr", "0.6250"]
    # Nor does it take the place of a file that standard output goes to.
    log = folder / "log"
    log.write_text("before\n")
    with log.open("ab") as file:
        command = [sys.executable, "-m", "rankmeter", "eval", "qrels", "two", "-m", "mrr"]
        subprocess.run([*command, "--output", "/dev/stdout"], stdout=file, check=True)
    assert cells(log.read_text())[:2] == [["before"], ["metric", "two"]]


@posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "rankmeter", "eval", "qrels", "two"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"rankmeter: standard output: No space left on device\n"
    done = process("eval", "qrels", "two", "--output", "/dev/full")
    assert (done.returncode, done.stderr[:20]) == (1, b"rankmeter: /dev/full")


@posix
def test_a_reader_that_has_seen_enough() -> None:
    command = [sys.executable, "-m", "rankmeter", "eval", "qrels", "two"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert started.stdout is not None
    assert started.stderr is not None
    started.stdout.close()
    assert started.stderr.read() == b""
    started.stderr.close()
    assert started.wait() == 0


@posix
def test_output_keeps_the_mode_and_follows_a_link(run: Runner, folder: Path) -> None:
    (folder / "real").write_text("before")
    (folder / "real").chmod(0o600)
    (folder / "link").symlink_to("real")
    run.well("eval", "qrels", "two", "--output", "link")
    assert (folder / "link").is_symlink()
    assert (folder / "real").read_text().startswith("metric")
    assert stat.S_IMODE((folder / "real").stat().st_mode) == 0o600


@pytest.mark.parametrize("format_", ["table", "json", "csv", "markdown"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_ids_that_no_encoding_can_hold(folder: Path, format_: str, encoding: str) -> None:
    names = {b"ok": "ok", b"\xe4\xb8\xad": "\u4e2d", b"\xff\x1b": "\udcff\x1b"}
    (folder / "qrels").write_bytes(b"".join(b"%s 0 a 1\n" % name for name in names))
    (folder / "one").write_bytes(b"ok Q0 a 1 1 t\n\xff Q0 a 1 1 t\n\xff\x1b Q0 a 1 1 t\n")
    (folder / "facets.tsv").write_bytes(b"ok\t\xfe\n")
    argv = ["eval", "qrels", "one", "-m", "mrr", "--format", format_]
    for extra in (["--per-query"], ["--by", "facets.tsv"]):
        done = process(*argv, *extra, env={"PYTHONIOENCODING": encoding})
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr
        done.stdout.decode(encoding, "surrogateescape")
        if format_ == "json" and "--per-query" in extra:
            report = json.loads(done.stdout)
            assert list(report["runs"][0]["per_query"]) == list(names.values())
        if format_ == "csv" and "--per-query" in extra and encoding == "utf-8":
            rows = done.stdout.splitlines()
            assert [row.split(b",")[0] for row in rows[1:]] == list(names)
        if format_ in ("table", "markdown"):
            assert b"\x1b" not in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_file_names_that_no_encoding_can_hold(folder: Path) -> None:
    name = b"\xff\x1b.run"
    with open(name, "wb") as file:
        file.write(TWO.encode())
    for format_ in ("table", "json", "csv", "markdown"):
        done = process("eval", "qrels", name, "-m", "mrr", "--format", format_)
        assert done.returncode == 0
    done = process("eval", "qrels", name + b".gone")
    assert done.returncode == 1
    assert done.stderr == b"rankmeter: \\udcff\\x1b.run.gone: No such file or directory\n"


# ---------------------------------------------------------------------------------------------
# Bad input: code 1, one line


def test_files_that_are_not_there(run: Runner) -> None:
    missing = "No such file or directory"
    assert run.bad_input("eval", "nowhere", "one") == f"nowhere: {missing}"
    assert run.bad_input("eval", "qrels", "one", "nowhere") == f"nowhere: {missing}"
    assert run.bad_input("eval", "qrels", "one", "--by", "nowhere") == f"nowhere: {missing}"
    assert run.bad_input("eval", ".", "one").startswith(".: ")


def test_bad_lines_name_file_and_line(run: Runner, folder: Path) -> None:
    (folder / "bad").write_text("q1 0 a 1\n\nq1 0 b x\n")
    said = run.bad_input("eval", "bad", "one")
    assert said == "bad:3: the grade 'x' is not a number: 'q1 0 b x'"
    (folder / "bad").write_text("q1 Q0 a 1 1 t\nq1 Q0 a 2 0 t\n")
    assert run.bad_input("eval", "qrels", "bad").startswith("bad:2: document 'a' of query 'q1'")
    (folder / "bad").write_text("q1\n")
    assert run.bad_input("eval", "qrels", "one", "--by", "bad").startswith("bad:1: 1 column")
    (folder / "bad").write_text("")
    assert run.bad_input("eval", "qrels", "bad") == "bad: no lines in it"


def test_swapped_files_get_a_hint(run: Runner) -> None:
    assert "is this a run?" in run.bad_input("eval", "one", "qrels")


def test_what_cannot_be_scored_names_the_file(run: Runner, folder: Path) -> None:
    (folder / "other").write_text("z Q0 a 1 1 t\n")
    assert run.bad_input("eval", "qrels", "one", "other").startswith("other: no query")
    (folder / "high").write_text("q1 0 d\xe9 1024\n", encoding="utf-8")
    said = run.bad_input("eval", "high", "one", "-m", "ndcg@10")
    assert said.startswith("high: ")
    assert "1024" in said
    assert "d\xe9" in said
    (folder / "high").write_text("q1 0 a 3\n")
    said = run.bad_input("eval", "high", "one", "-m", "ndcg@10(gain={1:1})")
    assert said.startswith("high: ")
    (folder / "kind.tsv").write_text("z\tlabel\n")
    said = run.bad_input("eval", "qrels", "one", "--by", "kind.tsv")
    assert said.startswith("kind.tsv, one: ")


def test_interrupted(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankmeter.cli.input.Evaluator", interrupt)
    outcome = run("eval", "qrels", "one")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


# ---------------------------------------------------------------------------------------------
# Bad usage: code 2


@pytest.mark.parametrize(
    ("argv", "what"),
    [
        ([], "give a command"),
        (["score"], "score"),
        (["eval"], "QRELS"),
        (["eval", "qrels"], "RUN"),
        (["eval", "qrels", "one", "one"], "the run one is given twice"),
        (
            ["eval", "qrels", "one", "-m", "recall@5", "-m", "recall_05"],
            "'recall@5' and 'recall_05' are the same metric",
        ),
        (["eval", "qrels", "one", "-m", "mrr", "-m", "mrr"], "the metric 'mrr' is named twice"),
        (["eval", "-", "-"], "standard input (-) can be read once only"),
        (["eval", "qrels", "-", "--by", "-"], "standard input (-) can be read once only"),
        (["eval", "qrels", "one", "-m", "recal@10"], "recall@10"),
        (["eval", "qrels", "one", "-m", "recall"], "recall@"),
        (["eval", "qrels", "one", "-m", "nDCG@10"], "ndcg@10(gain=linear)"),
        (["eval", "qrels", "one", "-m", "mrr@0"], "mrr@0"),
        (["eval", "qrels", "one", "-m", ""], "argument -m"),
        (["eval", "qrels", "one", "-m"], "expected one argument"),
        (["eval", "qrels", "one", "--ties", "random"], "random"),
        (["eval", "qrels", "one", "--missing", "drop"], "drop"),
        (["eval", "qrels", "one", "--format", "xml"], "xml"),
        (["eval", "qrels", "one", "--digits", "18"], "'18' is not a number from 0 to 17"),
        (["eval", "qrels", "one", "--digits", "-1"], "--digits"),
        (["eval", "qrels", "one", "--digits", "x"], "'x' is not a number from 0 to 17"),
        (["eval", "qrels", "one", "--threads", "0"], "'0' is not a number from 1 up"),
        (["eval", "qrels", "one", "--threads", "many"], "'many' is not a number from 1 up"),
        (["eval", "qrels", "one", "--per"], "--per"),
        (["eval", "qrels", "one", "--output", "one"], "--output would replace the input one"),
        (
            ["eval", "qrels", "one", "--format", "csv", "--per-query", "--by", "facets.tsv"],
            "csv holds one table",
        ),
        (["metrics", "--format", "csv"], "csv"),
    ],
)
def test_bad_usage(run: Runner, argv: Sequence[str], what: str) -> None:
    assert what in run.bad_usage(*argv)


def test_exit_codes_of_a_process() -> None:
    assert process("eval", "qrels", "one").returncode == 0
    assert process("eval", "qrels", "nowhere").returncode == 1
    assert process("eval", "qrels", "one", "-m", "nope").returncode == 2


# ---------------------------------------------------------------------------------------------
# The rest


def test_version_and_help(run: Runner) -> None:
    assert run.well("--version") == f"rankmeter {version('rankmeter')}\n"
    assert "rankmeter eval qrels.txt bm25.run" in run.well("--help")
    out = run.well("eval", "--help")
    for word in ("query_id TAB facet", '"coverage"', "no_relevant", "examples:", "--missing"):
        assert word in out
    assert "--format" in run.well("metrics", "--help")


def test_spread(run: Runner) -> None:
    out = run.well("eval", "qrels", "one", "two", "-m", "mrr", "-m", "recall@1", "--spread")
    table = cells(out)
    assert [row[1] for row in table[1:6]] == ["mean", "min", "median", "max", "std"]
    listed = json.loads(
        run.well("eval", "qrels", "one", "two", "-m", "mrr", "--spread", "--format", "json")
    )
    ev = rm.evaluate("qrels", "one", "mrr")
    for name in ("mean", "min", "median", "max", "std"):
        assert listed["runs"][0][name] == getattr(ev, name)
    rows = run("eval", "qrels", "one", "-m", "mrr", "--spread", "--format", "csv").out.split()
    assert rows[1:3] == [f"mrr,mean,{ev['mrr']!r}", f"mrr,min,{ev.min['mrr']!r}"]
    Path("single").write_text("q1 0 d1 1\n")
    alone = json.loads(run.well("eval", "single", "one", "--spread", "--format", "json"))
    assert alone["runs"][0]["std"]["mrr"] is None
    assert "-" in run.well("eval", "single", "one", "--spread").splitlines()[5].split()


def test_metrics(run: Runner) -> None:
    table = run.well("metrics")
    markdown = run.well("metrics", "--format", "markdown")
    listed = json.loads(run.well("metrics", "--format", "json"))
    assert [row["name"] for row in listed] == list(METRICS)
    for found, row in zip(listed, METRICS.values(), strict=True):
        assert found == {
            "name": row.name,
            "cutoff": row.cutoff,
            "defaults": row.defaults,
            "mean": row.mean,
            "ties_expected": row.closed_form,
            "summary": row.summary,
            "formula": row.formula,
            "convention": row.convention,
            "source": row.source,
            "trec_eval": dict(row.trec_eval),
        }
        for text in (row.summary, row.formula, row.convention, row.source, *row.trec_eval):
            assert text in table
        assert any(line.startswith(row.name) for line in table.splitlines())
    assert "recall@k" in table
    assert "mrr[@k]" in table
    assert len(markdown.splitlines()) == 2 + len(METRICS) + 3 + 2 + len(PARAMETERS)
    for parameter in PARAMETERS.values():
        assert f"\n| {parameter.name} " in markdown
        assert parameter.meaning in table


def test_the_examples(run: Runner) -> None:
    qrels, keyword, hybrid = (
        str(EXAMPLES / name) for name in ("qrels.txt", "keyword.run", "hybrid.run")
    )
    out = run.well(
        *("eval", qrels, keyword, hybrid, "-m", "ndcg@10", "-m", "recall@5", "-m", "mrr"),
        *("--per-query", "--by", str(EXAMPLES / "facets.tsv"), "--format", "json"),
    )
    first, second = json.loads(out)["runs"]
    assert first["coverage"] == second["coverage"]
    assert first["coverage"]["judged"] == first["coverage"]["evaluated"] == 10
    # What the README there says about them.
    for metric in ("ndcg@10", "recall@5", "mrr"):
        assert second["mean"][metric] > first["mean"][metric]
        assert second["per_query"]["q10"][metric] == first["per_query"]["q10"][metric] == 0
    worse = {
        query: first["per_query"][query]["ndcg@10"] - values["ndcg@10"]
        for query, values in second["per_query"].items()
        if values["ndcg@10"] < first["per_query"][query]["ndcg@10"]
    }
    assert set(worse) == {"q04", "q07"}
    assert worse["q07"] < 0.01
    judged, scores = read_qrels(qrels), (read_run(keyword), read_run(hybrid))
    for query, grades in judged.items():
        assert 5 <= len(grades) <= 8
        for ranking in scores:
            assert len(ranking[query]) == 10
            assert ranking[query].keys() - grades.keys()
    titles = dict(
        line.split("\t") for line in (EXAMPLES / "documents.tsv").read_text().splitlines()
    )
    for table in (judged, *scores):
        assert {document for documents in table.values() for document in documents} <= set(titles)
    questions = [
        line.split("\t")[0] for line in (EXAMPLES / "queries.tsv").read_text().splitlines()
    ]
    assert questions == list(judged)
