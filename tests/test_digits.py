"""The digits themselves, as hexadecimal floats.

These numbers are computed from tests/reference.py, where each constant is rounded once from sixty
decimal digits. They must come out on every processor and platform; a change here is a change of
what the library answers.
"""

from __future__ import annotations

import math
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import rankmeter as rm
import rankmeter._core
from rankmeter._core.rounded import exact_means, exact_sums

# 1 / log2(rank + 1)
DISCOUNTS = {
    1: "0x1.0000000000000p+0",
    2: "0x1.430939835353dp-1",
    3: "0x1.0000000000000p-1",
    4: "0x1.b903469050f73p-2",
    5: "0x1.8c23246dc0a9fp-2",
    6: "0x1.6cc193acea9b5p-2",
    7: "0x1.5555555555555p-2",
    8: "0x1.430939835353dp-2",
    9: "0x1.34413509f79ffp-2",
    10: "0x1.28009c1dd6454p-2",
    11: "0x1.1da3383416064p-2",
    12: "0x1.14b94f8d9641fp-2",
    13: "0x1.0cf3ffed2d6acp-2",
    14: "0x1.0619dc46d3e15p-2",
    15: "0x1.0000000000000p-2",
    16: "0x1.f50b57eac5885p-3",
    17: "0x1.eb22cc68aa6e2p-3",
    18: "0x1.e21e1180c5dabp-3",
    19: "0x1.d9dcd21439835p-3",
    20: "0x1.d244c78367a0dp-3",
    100: "0x1.3397116cededfp-3",
    1000: "0x1.9af2633893af9p-4",
    1023: "0x1.999999999999ap-4",
    1024: "0x1.998ad60a08beap-4",
    4095: "0x1.5555555555555p-4",
    4096: "0x1.5552c4d8a0254p-4",
    65_535: "0x1.0000000000000p-4",
    65_536: "0x1.ffffd1d58c748p-5",
    65_537: "0x1.ffffa3ab4f667p-5",
    1_000_000: "0x1.9b019a1a2c906p-5",
}

# 2**grade - 1
GAINS = {
    5e-324: "0x0.0000000000001p-1022",
    1e-300: "0x1.db562032d3d19p-998",
    1e-17: "0x1.ff73ccef544c9p-58",
    1e-10: "0x1.30d96f4242212p-34",
    0.001: "0x1.6b88e3cd4ac16p-11",
    0.1: "0x1.25fbee2506643p-4",
    0.25: "0x1.837f0518db8a9p-3",
    0.5: "0x1.a827999fcef32p-2",
    0.75: "0x1.5d13f32b5a75bp-1",
    0.99: "0x1.f8ed3d37386bbp-1",
    1.0: "0x1.0000000000000p+0",
    1.1: "0x1.24bf7dc4a0cc9p+0",
    1.5: "0x1.d413cccfe7799p+0",
    2.25: "0x1.e0dfc14636e2ap+1",
    2.5: "0x1.2a09e667f3bcdp+2",
    3.0: "0x1.c000000000000p+2",
    3.3: "0x1.1b2c47bff8328p+3",
    7.7: "0x1.9ddf8bcce533ep+7",
    10.0: "0x1.ff80000000000p+9",
    10.5: "0x1.69c9e667f3bcdp+10",
    20.1: "0x1.125faee250669p+20",
    31.9: "0x1.ddb6800f7ab0ap+31",
    52.5: "0x1.6a09e667f3bccp+52",
    53.0: "0x1.fffffffffffffp+52",
    53.5: "0x1.6a09e667f3bccp+53",
    54.0: "0x1.0000000000000p+54",
    100.1: "0x1.125fbee250651p+100",
    511.7: "0x1.9fdf8bcce5304p+511",
    1022.5: "0x1.6a09e667f3bcdp+1022",
    1023.0: "0x1.0000000000000p+1023",
}

# A fixed set of eight queries; see fixed_set below.
MEANS = {
    "recall@10": "0x1.8f0caa149d5c2p-4",
    "precision@5": "0x1.3333333333333p-3",
    "hit@3": "0x1.8000000000000p-2",
    "mrr": "0x1.7555555555555p-2",
    "mrr@4": "0x1.6000000000000p-2",
    "map": "0x1.111485fea36d8p-3",
    "map@20": "0x1.e6cfd004f712ap-5",
    "map(rel=2)": "0x1.7a391e53b7a53p-4",
    "ndcg": "0x1.5ee21bd8d5decp-2",
    "ndcg@10": "0x1.9b4128d4df72bp-4",
    "ndcg@10(gain=linear)": "0x1.09d683bbc2833p-3",
    "ndcg(gain={0.5:1,1.0:2,1.5:3,2.0:5.5,2.5:7,3.0:11})": "0x1.657fb8b0d1ee4p-2",
    "ndcg(discount=jarvelin)": "0x1.3d1422a1e0229p-2",
    "ndcg@10(gain=linear,discount=jarvelin)": "0x1.05286dcad07e9p-3",
}
FIRST_QUERY = {
    "recall@10": "0x1.2492492492492p-3",
    "precision@5": "0x1.999999999999ap-3",
    "hit@3": "0x0.0p+0",
    "mrr": "0x1.0000000000000p-2",
    "mrr@4": "0x1.0000000000000p-2",
    "map": "0x1.62343eb22da23p-4",
    "map@20": "0x1.2492492492492p-5",
    "map(rel=2)": "0x1.dae8cb2cfcb3ep-6",
    "ndcg": "0x1.1880bb96d520ep-2",
    "ndcg@10": "0x1.71f14692ed35ap-5",
    "ndcg@10(gain=linear)": "0x1.27870df9e1609p-4",
    "ndcg(gain={0.5:1,1.0:2,1.5:3,2.0:5.5,2.5:7,3.0:11})": "0x1.1d789ac7a0c3dp-2",
    "ndcg(discount=jarvelin)": "0x1.deae641635b41p-3",
    "ndcg@10(gain=linear,discount=jarvelin)": "0x1.1f1d51d218d02p-4",
}


def fixed_set() -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """Eight queries: scored with ties, ranked, one missing from the run, one without relevant."""
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, Any] = {}
    for q in range(8):
        qrels[f"q{q}"] = {
            f"d{i * (q + 3) % 101}": (i * 5 + q) % 8 / 2 - 0.5 for i in range(12 + 5 * q)
        }
        docs = [f"d{i * 37 % 101}" for i in range(90)]
        run[f"q{q}"] = {doc: (i * (q + 2)) % 13 / 4 + i % 5 for i, doc in enumerate(docs)}
    run["q5"] = list(run["q5"])
    run["q6"] = {}
    del run["q7"]
    qrels["q4"] = dict.fromkeys(qrels["q4"], 0.5)
    return qrels, run


def single_document(rank: int, discount: str) -> float:
    """The nDCG of one relevant document alone at this rank is the discount there."""
    return rm.evaluate({"q": {rank: 1}}, {"q": range(1, rank + 1)}, f"ndcg(discount={discount})")[
        f"ndcg(discount={discount})"
    ]


@pytest.mark.parametrize("rank", DISCOUNTS)
def test_discount(rank: int) -> None:
    assert reference.log2_discount(rank).hex() == DISCOUNTS[rank]
    assert single_document(rank, "log2").hex() == DISCOUNTS[rank]
    assert rm.ndcg_at_k(range(1, rank + 1), {rank: 1}, rank).hex() == DISCOUNTS[rank]


@pytest.mark.parametrize("rank", DISCOUNTS)
def test_jarvelin_discount_is_the_same_one_rank_later(rank: int) -> None:
    assert single_document(rank + 1, "jarvelin").hex() == DISCOUNTS[rank]


def test_all_discounts_down_to_rank_1500() -> None:
    ranked = list(range(1, 1501))
    qrels = {rank: {rank: 1} for rank in ranked}
    ev = rm.evaluate(qrels, dict.fromkeys(ranked, ranked), ["ndcg", "ndcg(discount=jarvelin)"])
    expected = [
        [reference.log2_discount(rank), reference.jarvelin_discount(rank)] for rank in ranked
    ]
    assert ev.values.tolist() == expected


def gain(grade: float) -> float:
    """The gain of a grade, laid bare: one document against an ideal that is a power of two.

    2**60 - 1 and 2**1023 - 1 round to powers of two, so the division changes no digit.
    """
    largest = 0 if grade <= 1 else 60 if grade < 60 else 1023
    ideal = {"ideal": largest} if largest else {"ideal": 1}
    value = rm.ndcg_at_k(["doc"], {"doc": grade, **ideal}, 1)
    return value * 2.0**largest


@pytest.mark.parametrize("grade", GAINS)
def test_gain(grade: float) -> None:
    assert reference.exponential_gain(grade).hex() == GAINS[grade]
    assert gain(grade).hex() == GAINS[grade]


@settings(max_examples=300)
@given(
    st.one_of(
        st.floats(0, 1, exclude_min=True),
        st.floats(0, 59, exclude_min=True),
        st.floats(1, 1023),
        st.floats(-323, 0).map(lambda exponent: 10.0**exponent),
        st.integers(1, 59 * 64).map(lambda n: n / 64),
    )
)
def test_gain_of_any_grade_is_correctly_rounded(grade: float) -> None:
    assert gain(grade).hex() == reference.exponential_gain(grade).hex()


@pytest.mark.slow
@settings(max_examples=20_000)
@given(st.floats(0, 1023, exclude_min=True))
def test_gain_of_any_grade_is_correctly_rounded_many(grade: float) -> None:
    assert gain(grade).hex() == reference.exponential_gain(grade).hex()


def test_gain_of_grades_near_the_smallest_double(rng: random.Random) -> None:
    """The gain is grade * log(2) there, whose low part must not be lost to underflow."""
    for exponent in (-290, -300, -305, -307, -308, -310, -320, -323):
        for _ in range(40):
            grade = rng.uniform(1, 10) * 10.0**exponent
            assert gain(grade).hex() == reference.exponential_gain(grade).hex(), grade


def test_gain_of_grades_in_fine_steps() -> None:
    for n in range(1, 1024):
        for grade in (n / 1024, n / 100, float(n)):
            assert gain(grade).hex() == reference.exponential_gain(grade).hex(), grade


@pytest.mark.parametrize("metric", MEANS)
def test_fixed_set(metric: str) -> None:
    qrels, run = fixed_set()
    expected = reference.evaluate(qrels, run, [metric])
    assert expected.mean[metric].hex() == MEANS[metric]
    assert expected.per_query["q0"][metric].hex() == FIRST_QUERY[metric]
    ev = rm.evaluate(qrels, run, metric)
    assert ev[metric].hex() == MEANS[metric]
    assert ev.per_query["q0"][metric].hex() == FIRST_QUERY[metric]


def test_the_mean_is_the_exactly_rounded_sum_divided_once() -> None:
    # 1, 1/2, 1/3 … of unequal size: a running sum, or a pairwise one, ends on other digits
    ranks = [1 + i * i % 307 for i in range(301)]
    qrels: dict[int, dict[int, int]] = {i: {rank: 1} for i, rank in enumerate(ranks)}
    run = {i: range(1, 1001) for i in range(301)}
    ev = rm.evaluate(qrels, run, ["mrr", "ndcg"])
    for metric, values in (
        ("mrr", [1 / rank for rank in ranks]),
        ("ndcg", [reference.log2_discount(rank) for rank in ranks]),
    ):
        running = 0.0
        for value in values:
            running += value
        assert running != math.fsum(values), "the data do not tell"
        assert ev[metric] == math.fsum(values) / 301
        assert ev.mean[metric] == ev[metric]


@settings(max_examples=300)
@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300),
            st.sampled_from([1.0, -1.0, 2.0**53, 2.0**-53, 2.0**-54, 5e-324, 1e100, -1e100, 0.1]),
        ),
        max_size=60,
    ),
    st.integers(1, 3),
)
def test_sums_are_rounded_once(values: list[float], columns: int) -> None:
    rows = len(values) // columns
    table = np.array(values[: rows * columns]).reshape(rows, columns)
    # Not by math.fsum, which is wrong where the interpreter rounds twice.
    expected = [float(sum(map(Fraction, column))) for column in table.T.tolist()]
    assert [total.hex() for total in exact_sums(table)] == [total.hex() for total in expected]
    assert exact_sums(np.asfortranarray(table)) == expected
    assert exact_sums(table[::-1]) == expected


def test_means_are_divided_once() -> None:
    # The quotient is almost half-way between two doubles: 64 bits of it are half-way.
    values = np.zeros((4519, 1))
    values[7] = float.fromhex("0x1.33563f39d3d62p-1")
    assert exact_means(values)[0].hex() == "0x1.1691964511cf5p-13"
    with pytest.raises(ValueError, match="must be a row"):
        exact_means(values[:0])


HEADER = Path(rankmeter._core.__file__).with_name("digits.h")


@pytest.mark.skipif(not HEADER.exists(), reason="the sources are not here")
@pytest.mark.skipif(not (sys.platform == "linux" and shutil.which("cc")), reason="needs GCC")
@pytest.mark.parametrize(("method", "right"), [(0, True), (1, False), (2, False), (16, True)])
def test_arithmetic_of_other_digits_does_not_compile(method: int, right: bool) -> None:
    flags = ["-U__FLT_EVAL_METHOD__", f"-D__FLT_EVAL_METHOD__={method}", "-include", str(HEADER)]
    compiled = subprocess.run(
        ["cc", "-w", "-fsyntax-only", *flags, "-x", "c", "-"],
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (compiled.returncode == 0) == right, compiled.stderr
    assert ("compile with -msse2 -mfpmath=sse" in compiled.stderr) != right


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 1.7e308])
def test_sums_of_what_is_not_finite(odd: float) -> None:
    table = np.full((500, 1), 0.1)
    table[::3] = odd
    expected = sum(table[:, 0].tolist())
    assert exact_sums(table) == pytest.approx([expected], nan_ok=True)
