"""``rankmeter trec-eval`` prints what trec_eval prints.

Three sources: trec_eval's own quick test; small data with the output of trec_eval 10.0 written down
here; and, if the environment variable TREC_EVAL names its binary, random data.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rankmeter.cli.commands import main
from rankmeter.compat.trec_names import MEASURES, NICKNAMES
from rankmeter.doors import text as texts

FOLDER = Path(__file__).parent / "cases" / "trec_eval"
BINARY = shutil.which(os.environ.get("TREC_EVAL", ""))

with_binary = pytest.mark.skipif(
    BINARY is None, reason="the environment variable TREC_EVAL names no binary"
)

# Ties, a document of the pool without a judgment, a high grade, a query without judgments.
QRELS = """\
# judged by hand
q2 0 a 1
q2 0 b 0
q2 0 c 2
q1 0 a 1
q1 0 x -1
q1 0 d 0
q1 0 e 3
q1 0 f 12
"""
Q3 = "q3 0 a 1\nq3 0 b 1\n"  # which the run lacks
RUN = """\
q2 Q0 b 1 0.5 first
q2 Q0 c 1 0.5 first
q2 Q0 z 1 0.9 first
q1 Q0 f 1 3 first
q1 Q0 x 1 2.5 first
q1 Q0 d 1 2 first
q1 Q0 y 1 1.5 first
q1 Q0 a 1 1 first
q9 Q0 a 1 1 last more
# the end
"""


SCORES = """\
q1 map 0.25 0.5
q1 map_cut_2 0.1 0
q1 num_q 1 1
q1 gm_map 0 1
q1 z 0 1
q2 map 0.5 0.25
q2 map_cut_2 0.25 0
q2 gm_map 0 2
q2 num_q 1 1
q2 z 0 1
z z 0 1
"""

# What trec_eval 10.0 prints, by the options; -c with the query that the run lacks.
EXPECTED = {
    "": (
        "runid all last",
        "num_q all 2",
        "num_ret all 8",
        "num_rel all 5",
        "num_rel_ret all 3",
        "map all 0.3583",
        "gm_map all 0.3416",
        "Rprec all 0.4167",
        "bpref all 0.4167",
        "recip_rank all 0.7500",
        "iprec_at_recall_0.00 all 0.7500",
        "iprec_at_recall_0.10 all 0.7500",
        "iprec_at_recall_0.20 all 0.7500",
        "iprec_at_recall_0.30 all 0.7500",
        "iprec_at_recall_0.40 all 0.7500",
        "iprec_at_recall_0.50 all 0.4500",
        "iprec_at_recall_0.60 all 0.4500",
        "iprec_at_recall_0.70 all 0.4500",
        "iprec_at_recall_0.80 all 0.2000",
        "iprec_at_recall_0.90 all 0.0000",
        "iprec_at_recall_1.00 all 0.0000",
        "P_5 all 0.3000",
        "P_10 all 0.1500",
        "P_15 all 0.1000",
        "P_20 all 0.0750",
        "P_30 all 0.0500",
        "P_100 all 0.0150",
        "P_200 all 0.0075",
        "P_500 all 0.0030",
        "P_1000 all 0.0015",
    ),
    "-q -n -mset -mrelstring": (
        "num_ret q1 5",
        "num_rel q1 3",
        "num_rel_ret q1 2",
        "relstring q1 '>.0-1'",
        "utility q1 -1.0000",
        "set_P q1 0.4000",
        "set_relative_P q1 0.6667",
        "set_recall q1 0.6667",
        "set_map q1 0.2667",
        "set_F q1 0.5000",
        "num_ret q2 3",
        "num_rel q2 2",
        "num_rel_ret q2 1",
        "relstring q2 '-20'",
        "utility q2 -1.0000",
        "set_P q2 0.3333",
        "set_relative_P q2 0.5000",
        "set_recall q2 0.5000",
        "set_map q2 0.1667",
        "set_F q2 0.4000",
    ),
    "-q -c -l2 -mnum_q -mnum_rel -mgm_map -mmap "
    "-mrelstring.3 -mrelstring -mutility.1,-1,0,0 -mrbp_resid -munj.2": (
        "num_rel q1 2",
        "map q1 0.5000",
        "relstring_3 q1 '>.0'",
        "utility_1,-1,0,0 q1 -3.0000",
        "rbp_resid q1 0.7534",
        "unj_2 q1 0.5000",
        "num_rel q2 1",
        "map q2 0.5000",
        "relstring_3 q2 '-20'",
        "utility_1,-1,0,0 q2 -1.0000",
        "rbp_resid q2 0.8290",
        "unj_2 q2 0.5000",
        "num_rel q3 0",
        "map q3 0.0000",
        "relstring_3 q3 '-'",
        "utility_1,-1,0,0 q3 -1.0000",
        "rbp_resid q3 0.0000",
        "unj_2 q3 0.0000",
        "num_q all 3",
        "num_rel all 7",
        "map all 0.3333",
        "gm_map all 0.0136",
        "utility_1,-1,0,0 all -1.6667",
        "rbp_resid all 0.5275",
        "unj_2 all 0.3333",
    ),
    "-q -M2 -mnum_ret -mnum_rel_ret -mmap -mrelstring -mndcg": (
        "num_ret q1 2",
        "num_rel_ret q1 1",
        "map q1 0.3333",
        "relstring q1 '>.'",
        "ndcg q1 0.8338",
        "num_ret q2 2",
        "num_rel_ret q2 1",
        "map q2 0.2500",
        "relstring q2 '-2'",
        "ndcg q2 0.4796",
        "num_ret all 4",
        "num_rel_ret all 2",
        "map all 0.2917",
        "ndcg all 0.6567",
    ),
    "-J -q -mnum_ret -mP.1,3 -mbpref -mrelstring": (
        "num_ret q1 3",
        "bpref q1 0.3333",
        "P_1 q1 1.0000",
        "P_3 q1 0.6667",
        "relstring q1 '>01'",
        "num_ret q2 2",
        "bpref q2 0.5000",
        "P_1 q2 1.0000",
        "P_3 q2 0.3333",
        "relstring q2 '20'",
        "num_ret all 5",
        "bpref all 0.4167",
        "P_1 all 1.0000",
        "P_3 all 0.5000",
    ),
    "-q -l3 -mRndcg -mndcg_rel": (  # no grade of q2 reaches the level, for which Rndcg looks
        "ndcg_rel q1 0.9071",
        "Rndcg q1 0.8895",
        "ndcg_rel q2 0.4796",
        "Rndcg q2 0.0000",
        "ndcg_rel all 0.6934",
        "Rndcg all 0.4448",
    ),
    "-mP.1 -D0.q1": ("P_1 all 1.0000",),
    # The query that the run lacks, of two relevant documents, counts as one document that is not
    # relevant, so that 10 - 1 - 2 are neither: -1 + 7 / 2.
    "-q -c -N10 -mutility.1,-1,0,0.5": (
        "utility_1,-1,0,0.5 q1 1.0000",
        "utility_1,-1,0,0.5 q2 2.0000",
        "utility_1,-1,0,0.5 q3 2.5000",
        "utility_1,-1,0,0.5 all 1.8333",
    ),
    "-mmap -mmap_cut.2 -mnum_q -mgm_map -Z scores": (
        "Znum_q all 2.0000",
        "Zmap all -0.2833",
        "Zgm_map all 0.4830",
        "Zmap_cut_2 all -500000.0000",
    ),
    "-mndcg.1=0,2=7 -mRprec_mult.0.5,1 -m11pt_avg.0,.5,1 -mset_F.0.5 -mmap.7": (
        "map all 0.3583",
        "Rprec_mult_0.50 all 0.2500",
        "Rprec_mult_1.00 all 0.4167",
        "11pt_avg_0,.5,1 all 0.4000",
        "ndcg_1=0,2=7 all 0.7473",
        "set_F_0.5 all 0.4183",
    ),
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels", QRELS), ("qrels3", QRELS + Q3), ("run", RUN), ("scores", SCORES)):
        Path(name).write_text(text, encoding="ascii")
    return ["qrels", "run"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["trec-eval", *arguments])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def lines(*cells: str) -> str:
    """Lines as trec_eval prints them, from ``name query value``."""
    text = ""
    for cell in cells:
        name, query, value = cell.split(" ")
        text += f"{name[0]}{name[1:]:{21 + name.startswith('Z')}}\t{query}\t{value}\n"
    return text


# ---------------------------------------------------------------------------------------------
# Small data


@pytest.mark.parametrize("options", EXPECTED)
def test_small_data(options: str, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    qrels = "qrels3" if "-c" in options else "qrels"
    assert printed(capsys, *options.split(), qrels, "run") == lines(*EXPECTED[options])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-m map", "-mmap"),
        ("-m map -m P.5", "--measure=map --meas P.5"),
        ("-q -c -mmap", "-qcmmap"),
        ("-l 2 -M 3", "-l2 -M3"),
        ("-m P.3,1 -m P.9", "-m P.1,3"),  # the first parameters count
        ("-m set.4", "-m set"),
        ("-m map -o -R qrels -T trec_results -D 0", "-m map"),
        ("-m official", ""),
        ("-m success -m map", "-m map -m success"),  # the order is that of trec_eval
        ("-m recall.2.7", "-m recall.2"),
    ],
)
def test_spellings(
    one: str, other: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    first = printed(capsys, *one.split(), *files)
    assert first == printed(capsys, *other.split(), *files)
    assert first == printed(capsys, *files, *one.split()), "options may stand last"


def test_queries_that_the_run_lacks_are_left_out(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "-q", "qrels3", "run") == printed(capsys, "-q", *files)


def test_nothing_divided_by_nothing_is_0(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run").write_text("q2 Q0 x 1 1 tag\n", encoding="ascii")
    found = printed(capsys, "-J", "-mnum_ret", "-miprec_at_recall.0", "-m11pt_avg", *files)
    assert found == lines("num_ret all 0", "iprec_at_recall_0.00 all 0.0000", "11pt_avg all 0.0000")


def test_the_geometric_mean_of_one_query_and_of_those_that_the_run_lacks(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("qrels").write_text("q1 0 a 1\nq2 0 a 1\n", encoding="ascii")
    Path("run").write_text("q1 Q0 a 1 1 tag\n", encoding="ascii")
    for options in ("-c", "-c -D0.q1"):
        found = printed(capsys, *options.split(), "-mgm_map", *files)
        assert found == lines("gm_map all 0.0032")  # the square root of 0.00001


def test_rndcg_where_no_grade_reaches_the_level(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, "-qn", "-l3", "-mRndcg", *files).splitlines(keepends=True)
    assert found[1] == lines("Rndcg q2 0.0000")
    plain = printed(capsys, "-qn", "-mRndcg", *files).splitlines(keepends=True)
    assert found[0] == plain[0] != lines("Rndcg q1 0.0000")
    assert plain[1] != lines("Rndcg q2 0.0000")


def test_all_are_judged(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is left that could be relevant, whatever comes behind."""
    Path("run").write_text("q2 Q0 a 1 2 tag\nq2 Q0 b 1 1 tag\n", encoding="ascii")
    assert printed(capsys, "-qn", "-mrbp_resid", *files) == lines("rbp_resid q2 0.0000")


def test_grades_of_two_digits(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("qrels").write_text("q 0 a 9\nq 0 b 10\nq 0 c 8\n", encoding="ascii")
    run = "q Q0 a 1 3 tag\nq Q0 b 1 2 tag\nq Q0 c 1 1 tag\n"
    Path("run").write_text(run, encoding="ascii")
    assert printed(capsys, "-qn", "-mrelstring", *files) == lines("relstring q '9>8'")


def test_what_stops_trec_eval(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("qrels").write_text("#q 0 a 1\n#q 0 b -2\n# end\n", encoding="ascii")
    Path("run").write_text("#q Q0 b 1 2 tag\n#q Q0 a 1 1 #tag\n# end\n", encoding="ascii")
    found = printed(capsys, "-q", "-mmap", "-mrelstring", "-mrunid", *files)
    assert found == lines("map #q 0.5000", "relstring #q '.1'", "runid all #tag", "map all 0.5000")


def test_compressed_files(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    expected = printed(capsys, *files)
    for name in files:
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))
    assert printed(capsys, "qrels.gz", "run.gz") == expected


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n \n", b"\n" + b"# c\n" * 200_000])
def test_the_tag_is_that_of_the_last_line(
    end: bytes, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    start = b"q1 Q0 y 1 1 one\n" + b"".join(b"q2 Q0 d%d 1 1 two\n" % i for i in range(20_000))
    Path("run").write_bytes(start + b"q2 Q0 \xff 1 1 l%sst more" + end)
    assert printed(capsys, "-mrunid", *files) == lines("runid all l%sst")


def test_the_tag_wherever_the_last_block_begins(
    files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "q1 Q0 doc 1 1.0 right\n# x y wrong Q0 doc 1 1.0 wrongtag\n"
    Path("run").write_text(text, encoding="ascii")
    for size in range(20, 60):
        monkeypatch.setattr(texts, "_BLOCK", size)
        assert printed(capsys, "-mrunid", *files) == lines("runid all right")


def test_a_cut_among_ties_and_infinite_scores(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run = "q1 Q0 d 1 inf t\nq2 Q0 a 1 1 t\nq1 Q0 e 1 1 t\nq1 Q0 f 1 1 t\nq1 Q0 a 1 1 t\n"
    Path("run").write_text(run, encoding="ascii")
    for most, string in enumerate(["", "0", "0>", "0>3", "0>31", "0>31"]):
        found = printed(capsys, "-qnmrelstring", f"-M{most}", *files)
        assert found == lines(f"relstring q1 '{string}'", f"relstring q2 '{'1' if most else ''}'")
    Path("run").write_text(run.replace("inf", "2"), encoding="ascii")
    assert printed(capsys, "-qnmrelstring", "-M3", *files).startswith(lines("relstring q1 '0>3'"))


def test_no_query_in_common(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("run").write_text("q7 Q0 a 1 1 tag\n", encoding="ascii")
    assert main(["trec-eval", *files]) == 7
    assert "no query in common" in capsys.readouterr().err
    # With -c, all are missing.
    assert printed(capsys, "-c", "-mmap", "-mnum_q", *files) == lines(
        "num_q all 2", "map all 0.0000"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("-m foo qrels run", 1, "there is no measure 'foo'"),
        ("-m prefs_simp qrels run", 1, "preferences"),
        ("-m P. qrels run", 1, "no parameters behind the point"),
        ("-x qrels run", 1, "option -x not recognized"),
        ("--nonsense qrels run", 1, "option --nonsense not recognized"),
        ("qrels", 1, "two files are needed"),
        ("qrels run run", 1, "not 3"),
        ("- -", 1, "once only"),
        ("-l0 qrels run", 1, "-l 0: a whole number of at least 1"),
        ("-Mx qrels run", 1, "-M x: a whole number"),
        ("-N -1 qrels run", 1, "-N -1: a whole number"),
        ("nofile run", 2, "nofile: No such file"),
        ("qrels nofile", 2, "nofile: No such file"),
        ("run run", 2, "run:1: 6 columns"),
        ("qrels qrels", 2, "qrels:2: 4 columns"),
        ("-M1 qrels qrels", 2, "qrels:2: 4 columns"),
        ("-m P.0 qrels run", 2, "-m P.0: cut-offs must be 1 or more"),
        ("-m P.5,x qrels run", 2, "'x' is not a number"),
        ("-m P.5,5 qrels run", 2, "stands twice"),
        ("-m iprec_at_recall.2 qrels run", 2, "recall must be"),
        ("-m 11pt_avg.0.5,0.2 qrels run", 2, "must rise"),
        ("-m ndcg.1 qrels run", 2, "'1' is not name=number"),
        ("-m ndcg.x=1 qrels run", 2, "'x' is not a number"),
        ("-m ndcg.1.5=1 qrels run", 2, "'1.5' is not a grade"),
        ("-m ndcg.1=1,1=2 qrels run", 2, "1 stands twice"),
        ("-m ndcg.1=-1 qrels run", 2, "not negative"),
        ("-m rbp.1=2 qrels run", 2, "only parameter is p"),
        ("-q -m relstring.2000 qrels run", 2, "at most 1000"),
        ("-m utility.1 qrels run", 4, "four parameters"),
        ("-R prefs -m all_prefs qrels run", 2, "-R prefs: this format is not read"),
        ("-m qrels_jg -R qrels_jg qrels run", 2, "-R qrels_jg: this format is not read"),
        ("-R qrels_prefs -m all_prefs qrels run", 2, "-R qrels_prefs: this format is not read"),
        ("-T other qrels run", 2, "-T other: this format is not read"),
        ("-D 1.q3 qrels run", 7, "'q3'"),
        ("-Z nofile qrels run", 255, "nofile: No such file"),
        ("-Z qrels qrels run", 255, "qrels:1: mean and deviation must be numbers"),
        ("-Z run qrels run", 255, "run:1: 6 columns instead of 4"),
    ],
)
def test_refusals(
    arguments: str,
    code: int,
    message: str,
    files: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["trec-eval", *arguments.split()]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("rankmeter: ")
    assert message in err


@pytest.mark.parametrize("option", ["-h", "--help", "-qh"])
def test_help(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, option)
    assert text.startswith("usage: rankmeter trec-eval")
    assert set(MEASURES) | set(NICKNAMES) <= set(re.split(r"[\s:]+", text))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert "trec_eval 10.0" in printed(capsys, "--version")


# ---------------------------------------------------------------------------------------------
# The quick test


def quick_test() -> list[tuple[str, str]]:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(.+)` \| `(.+)` \|$", text, re.MULTILINE)


def test_the_quick_test_has_ten_lines() -> None:
    assert len(quick_test()) == 10


@pytest.mark.parametrize(("arguments", "output"), quick_test())
def test_the_quick_test(
    arguments: str,
    output: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(FOLDER)
    expected = (FOLDER / output).read_bytes()
    assert printed(capsys, *arguments.split()).encode("ascii") == expected


# ---------------------------------------------------------------------------------------------
# trec_eval itself


def random_files(rng: random.Random, folder: Path) -> tuple[str, str]:
    """Queries of all lengths, ties, grades with gaps; the run lacks none, and has one more."""
    judgments: list[str] = []
    ranking: list[str] = []
    queries = [f"q{i}" for i in range(32)]
    for query in queries:
        ids = [f"d{j}" for j in range(rng.choice([3, 8, 40, 300]))]
        judged = rng.sample(ids, rng.randint(2, min(len(ids), 60)))
        # A judgment of 0 or more in each: without one, trec_eval can stop.
        grades = [rng.choice([-1, 0, 0, 1, 1, 2, 3, 11]) for _ in judged[1:]]
        for document, grade in zip(judged, [rng.choice([0, 1, 2]), *grades], strict=True):
            judgments.append(f"{query} 0 {document} {grade}")
        ranking += [
            f"{query} Q0 {document} 0 {rng.choice([0.5, 1, 2, rng.random()])} tag"
            for document in rng.sample(ids, rng.randint(1, len(ids)))
        ]
    ranking.append("extra Q0 d1 0 1 tag")
    rng.shuffle(judgments)
    rng.shuffle(ranking)
    qrels, run = folder / "qrels", folder / "run"
    qrels.write_text("\n".join(judgments) + "\n", encoding="ascii")
    run.write_text("\n".join(ranking) + "\n", encoding="ascii")
    return str(qrels), str(run)


def comparable(text: str, nan: set[tuple[str, ...]]) -> list[str]:
    # trec_eval's rbp depends on what stands in memory before.
    return [
        line
        for line in text.splitlines()
        if not line.startswith("rbp ") and tuple(line.split()[:2]) not in nan
    ]


def by_binary(*arguments: str) -> str:
    command = [str(BINARY), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def compare(capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
    expected = by_binary(*arguments)
    # 0 / 0 is printed as 0 here.
    nan = {tuple(line.split()[:2]) for line in expected.splitlines() if line.endswith("nan")}
    assert {name for name, _ in nan} <= {"iprec_at_recall_0.00", "11pt_avg"} or "-J" in arguments
    found = printed(capsys, *arguments)
    assert comparable(found, nan) == comparable(expected, nan)


@with_binary
@pytest.mark.parametrize("options", ["", "-J", "-M7", "-l2", "-l3 -J", "-M 20 -J -l 2", "-N1000"])
@pytest.mark.parametrize("queries", ["", "-q", "-q -n", "-c"])
def test_the_binary(
    options: str,
    queries: str,
    rng: random.Random,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    qrels, run = random_files(rng, tmp_path)
    measures = ["-mall_trec", "-m", "yaap", "-mrelstring.15"]
    compare(capsys, *measures, *options.split(), *queries.split(), qrels, run)
    compare(capsys, *options.split(), qrels, run, *queries.split())  # the official ones


@with_binary
@pytest.mark.parametrize("options", ["", "-J", "-M5", "-l2"])
def test_the_binary_with_queries_that_the_run_lacks(
    options: str, rng: random.Random, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = random_files(rng, tmp_path)
    kept = [line for line in Path(run).read_text("ascii").splitlines() if hash_of(line) % 4]
    Path(run).write_text("\n".join(kept) + "\n", encoding="ascii")
    everything = ["-q", "-c", *options.split(), qrels, run]
    compare(capsys, "-mall_trec", "-myaap", *everything)
    with_parameters = ["-mutility.2,-1,0.5,0.25", "-N500", "-mrelstring.5", "-mrbp_resid.p=0.7"]
    compare(capsys, *with_parameters, *everything)


def hash_of(line: str) -> int:
    return int(re.sub(r"\D", "", line.split()[0]) or 0)


@with_binary
@pytest.mark.parametrize(
    "measure",
    [
        "P.7,3",
        "recall.1,23.4",
        "map_cut.2",
        "ndcg_cut.3,400",
        "relative_P.4",
        "success.2",
        "unj.1,3",
        "iprec_at_recall..15,0.35,-1",
        "Rprec_mult.0.5,3,0",
        "11pt_avg.0.2,0.5,0.8",
        "utility.1,-0.5,0.25,0.001",
        "set_F.0.5",
        "ndcg.1=3,3=7",
        "ndcg_rel.1=3,2=9,7=1",
        "Rndcg.2=5",
        "G.1=2,2=4,3=9",
        "dcg.1=4",
        "ideal_dcg.1=4",
        "dcg",
        "rbp_resid.p=0.5",
        "relstring.0",
        "relstring.50",
        "official.1",
        "map.5",
    ],
)
def test_the_binary_with_parameters(
    measure: str, rng: random.Random, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(capsys, "-q", f"-m{measure}", "-N", "900", *random_files(rng, tmp_path))


@with_binary
def test_the_binary_with_standard_scores(
    rng: random.Random, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = random_files(rng, tmp_path)
    raw = by_binary("-q", "-n", "-mall_trec", qrels, run)
    scores = tmp_path / "scores"
    rows = [line.split() for line in raw.splitlines() if "'" not in line]
    # trec_eval looks behind the end for a name beyond the last.
    ends = "".join(f"{query} ~ 0 1\n" for query in {query for _, query, _ in rows})
    scores.write_text(
        ends
        + "".join(
            f"{query} {name} {rng.random():.3f} {rng.choice([0, 0.25, 1.5])}\n"
            for name, query, _ in rows
            if rng.random() < 0.8 and not name.startswith("rbp")
        ),
        encoding="ascii",
    )
    compare(capsys, "-q", "-c", "-mall_trec", "-Z", str(scores), qrels, run)
