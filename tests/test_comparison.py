"""``compare``: pairing, tests of differences, corrections, and what a comparison gives."""

from __future__ import annotations

import json
import math
import pickle
import random
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made import evaluation

import rankmeter as rm
from rankmeter._core.experiments.resampling import flip_all_signs, flip_signs
from rankmeter.statistics.significance import MOST_ENUMERATED, adjust, differences_of, outcomes_of


def pair(differences: Any, **options: Any) -> rm.Comparison:
    """Zeros against these."""
    base = evaluation(np.zeros(len(differences)))
    return rm.compare({"base": base, "new": evaluation(differences)}, **options)


def drawn(n: int, seed: int = 0, shift: float = 0.05) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(shift, 0.2) for _ in range(n)]


# ---------------------------------------------------------------------------------------------
# By hand


def test_numbers_by_hand() -> None:
    base = evaluation([0.5, 0.5, 1.0, 0.0])
    new = evaluation([1.0, 0.25, 1.0, 0.5])
    row = rm.compare({"base": base, "new": new})["new", "mrr"]
    assert (row.baseline, row.mean, row.difference) == (0.5, 0.6875, 0.1875)
    assert row.relative == 0.375
    assert (row.wins, row.ties, row.losses, row.queries, row.changed) == (2, 1, 1, 4, 3)
    # |±0.5 ± 0.25 ± 0.5| >= 0.75 for +++ and +-+ and their opposites: 4 of 8.
    assert (row.p, row.adjusted_p, row.how) == (0.5, 0.5, "exact")
    assert (row.smallest_p, row.resolvable, row.verdict) == (0.25, False, "can't tell")
    # Differences 0.5, -0.25, 0, 0.5: s^2 = 0.421875 / 3; t of 3 degrees is 3.18245.
    margin = 3.182446305284263 * math.sqrt(0.421875 / 3 / 4)
    assert (row.low, row.high) == pytest.approx((0.1875 - margin, 0.1875 + margin), rel=1e-12)


def test_relative_to_a_mean_below_zero() -> None:
    both = {"base": evaluation([-0.5], metrics="yaap"), "new": evaluation([-0.25], metrics="yaap")}
    assert rm.compare(both)["new", "yaap"].relative == -0.5


@pytest.mark.parametrize(("sign", "verdict"), [(1, "better"), (-1, "worse")])
@pytest.mark.parametrize("n", [6, 40])
def test_verdicts(sign: int, verdict: str, n: int) -> None:
    row = pair([sign * 0.25] * n)["new", "mrr"]
    assert row.verdict == verdict
    assert row.p == (2.0**-5 if n == 6 else 1 / 100_001)


def test_alpha_is_included() -> None:
    least = pair([0.5] * 6, alpha=2.0**-5)
    assert least["new", "mrr"].verdict == "better"
    assert least["new", "mrr"].resolvable
    assert not any("unresolvable" in note for note in least.notes)
    row = pair([0.5] * 6, alpha=2.0**-5 - 1e-9)["new", "mrr"]
    assert (row.verdict, row.resolvable) == ("can't tell", False)


def test_the_lowest_p_where_signs_are_drawn() -> None:
    assert pair([0.5] * MOST_ENUMERATED)["new", "mrr"].smallest_p == 2.0 ** (1 - MOST_ENUMERATED)
    drawn_ones = pair([0.5] * (MOST_ENUMERATED + 1), draws=999)["new", "mrr"]
    assert (drawn_ones.smallest_p, drawn_ones.p) == (1 / 1000, 1 / 1000)


def test_no_difference() -> None:
    pytest.importorskip("scipy", reason="some tests are those of scipy")
    for test in ("randomisation", "t", "wilcoxon"):
        row = pair([0.0] * 5, test=test)["new", "mrr"]
        assert (row.p, row.low, row.high, row.verdict) == (1.0, 0.0, 0.0, "can't tell")
        assert row.relative is None
        assert not row.resolvable


def test_one_query_tells_nothing() -> None:
    pytest.importorskip("scipy", reason="some tests are those of scipy")
    for test in ("randomisation", "t", "wilcoxon"):
        row = pair([0.5], test=test)["new", "mrr"]
        assert (row.p, row.low, row.high) == (1.0, -math.inf, math.inf)


def test_rounding_makes_no_difference() -> None:
    base, new = evaluation([0.3 - 0.1, 0.5]), evaluation([0.2, 0.5])
    assert (0.3 - 0.1) != 0.2
    row = rm.compare({"base": base, "new": new})["new", "mrr"]
    assert (row.ties, row.difference) == (2, 0.0)


def test_sums_that_rounding_could_have_made_equal_are_equal() -> None:
    # 0.1 + 0.2 - 0.3: the pattern ++- has the sum 0 or 5.6e-17, by the order.
    row = pair([0.1, 0.2, -0.3])["new", "mrr"]
    assert row.p == 1.0
    row = pair([0.1, 0.2, 0.3])["new", "mrr"]
    assert row.p == 0.25


# ---------------------------------------------------------------------------------------------
# Tests against enumeration and scipy


@pytest.mark.parametrize("n", range(1, 11))
def test_exact_is_enumeration(n: int) -> None:
    rng = random.Random(n)
    values = [rng.randint(-4, 5) / 8 for _ in range(n)]  # sums are exact, and many are equal
    total = abs(sum(values))
    hits = sum(
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) >= total
        for signs in product((1, -1), repeat=n)
    )
    assert pair(values)["new", "mrr"].p == hits / 2**n


@pytest.mark.parametrize("n", [4, 9, 12])
def test_exact_is_that_of_scipy(n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.array(drawn(n, seed=n))
    expected = stats.permutation_test(
        (values,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert pair(values)["new", "mrr"].p == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.06])
def test_draws_are_those_of_scipy_within_their_error(shift: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.array(drawn(100, shift=shift))
    draws = 20_000
    row = pair(values, draws=draws)["new", "mrr"]
    assert row.how == "draws"
    expected = stats.permutation_test(
        (values,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        n_resamples=draws,
        vectorized=True,
        random_state=1,
    ).pvalue
    error = math.sqrt(2 * max(expected, 1 / draws) / draws)
    assert abs(row.p - expected) < 5 * error


def test_draws_are_the_exact_p_within_their_error() -> None:
    for seed in range(3):
        values = np.array(drawn(MOST_ENUMERATED, seed=seed))
        exact = pair(values)["new", "mrr"]
        assert exact.how == "exact"
        # Two more that cannot matter, and the signs are drawn.
        p = pair([*values, 1e-13, -1e-13], draws=200_000)["new", "mrr"]
        assert p.how == "draws"
        assert abs(p.p - exact.p) < 5 * math.sqrt(exact.p / 200_000)


def test_equal_differences_are_a_sign_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = [1.0] * 40 + [-1.0] * 20 + [0.0] * 40
    expected = stats.binomtest(40, 60).pvalue
    p = pair(values, draws=400_000)["new", "mrr"].p
    assert abs(p - expected) < 5 * math.sqrt(expected / 400_000)


@pytest.mark.parametrize("n", [2, 5, 30, 200])
def test_t(n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(n)
    base, new = rng.random(n), rng.random(n)
    comparison = rm.compare({"b": evaluation(base), "n": evaluation(new)}, test="t")
    expected = stats.ttest_rel(new, base)
    row = comparison["n", "mrr"]
    assert row.p == pytest.approx(expected.pvalue, rel=1e-9)
    ends = expected.confidence_interval(0.95)
    assert (row.low, row.high) == pytest.approx((ends.low, ends.high), rel=1e-9)
    assert row.how == "formula"


@pytest.mark.parametrize("n", [5, 30, 200])
def test_wilcoxon(n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.array([*drawn(n, seed=n), 0.0, 0.0])
    row = pair(values, test="wilcoxon")["new", "mrr"]
    assert row.p == pytest.approx(stats.wilcoxon(values[:-2]).pvalue, rel=1e-9)


def test_wilcoxon_does_not_call_better_what_is_worse_on_average() -> None:
    pytest.importorskip("scipy", reason="some tests are those of scipy")
    row = pair([0.01] * 30 + [-0.9], test="wilcoxon")["new", "mrr"]
    assert row.p < 0.05
    assert row.difference < 0
    assert row.verdict == "can't tell"


def test_never_zero_and_the_same_again() -> None:
    values = [0.5 + 0.001 * i for i in range(100)]
    first = pair(values, draws=999)["new", "mrr"]
    assert first.p == 1 / 1000
    assert first.smallest_p == 1 / 1000
    values = drawn(60)
    assert pair(values)["new", "mrr"] == pair(values)["new", "mrr"]
    assert pair(values, seed=1)["new", "mrr"].p != pair(values)["new", "mrr"].p


def test_digits_are_fixed() -> None:
    """The generator is part of the promise: these may not change."""
    values = [((i * 7919) % 101 - 45) / 64 for i in range(150)]
    hits = [round(pair(values, draws=1000, seed=s)["new", "mrr"].p * 1001) for s in (0, 1, 2**63)]
    assert hits == [56, 67, 66]


def test_signs_of_the_core() -> None:
    """The table of sums against a plain loop with the same words."""
    mask = 2**64 - 1

    def mixed(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        return z ^ (z >> 31)

    rng = np.random.default_rng(0)
    values = rng.integers(-(2**50), 2**50, (128, 4))
    thresholds = np.abs(values.sum(axis=0))
    seed, draws = 12345, 700
    hits = [0] * 4
    for draw in range(draws):
        words = [
            mixed(mixed(seed) + (2 * draw + word + 1) * 0x9E3779B97F4A7C15 & mask)
            for word in range(2)
        ]
        signs = [1 - 2 * (words[i // 64] >> (i % 64) & 1) for i in range(128)]
        sums = np.array(signs) @ values
        hits = [h + int(abs(s) >= t) for h, s, t in zip(hits, sums, thresholds, strict=True)]
    assert flip_signs(values, thresholds, 0, draws, seed) == hits
    parts = [flip_signs(values, thresholds, *ends, seed) for ends in ((0, 333), (333, draws))]
    assert np.sum(parts, axis=0).tolist() == hits


def test_the_core_refuses_what_it_cannot_take() -> None:
    whole = np.zeros((64, 2), dtype=np.int64)
    for shape, thresholds in (((63, 2), 2), ((64, 3), 3), ((64, 2), 1)):
        with pytest.raises(ValueError, match="filled up"):
            flip_signs(np.zeros(shape, np.int64), np.zeros(thresholds, np.int64), 0, 1, 0)
    assert flip_signs(whole, np.zeros(2, np.int64), 0, 5, 0) == [5, 5]
    for count in (0, 41):
        with pytest.raises(ValueError, match="cannot go through"):
            flip_all_signs(np.zeros(count, np.int64), 0)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e300])
def test_scale_does_not_matter(scale: float) -> None:
    differences = np.array(drawn(15))[:, np.newaxis]
    one = outcomes_of(differences, np.abs(differences), "randomisation", 10, 0)
    other = outcomes_of(differences * scale, np.abs(differences) * scale, "randomisation", 10, 0)
    assert one[0].p == other[0].p


# ---------------------------------------------------------------------------------------------
# Corrections


def test_corrections_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.5]
    assert adjust(p, "none") == p
    assert adjust(p, "bonferroni") == pytest.approx([0.04, 0.16, 0.12, 1.0])
    assert adjust(p, "holm") == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert adjust(p, "bh") == pytest.approx([0.04, 0.04 * 4 / 3, 0.04 * 4 / 3, 0.5])


def test_bh_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    if not hasattr(stats, "false_discovery_control"):
        pytest.skip("scipy 1.11 has it")
    p = np.random.default_rng(0).random(30)
    expected = stats.false_discovery_control(p)
    assert adjust(p.tolist(), "bh") == pytest.approx(expected.tolist(), rel=1e-12)


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "none"])
def test_correction_is_over_systems_and_metrics(correction: Any) -> None:
    rng = np.random.default_rng(0)
    names = ["mrr", "map"]
    evs = {n: evaluation(rng.random((12, 2)), metrics=names) for n in ("a", "b", "c")}
    c = rm.compare(evs, correction=correction)
    assert c.comparisons == 4
    expected = adjust([row.p for row in c.rows], correction)
    assert [row.adjusted_p for row in c.rows] == expected
    assert [(row.system, row.metric) for row in c.rows] == list(product("bc", names))
    # Each column has the p that it has alone, since the signs are the same.
    assert c["c", "map"].p == rm.compare({"a": evs["a"], "c": evs["c"]}, metrics="map").rows[0].p


def test_correction_of_facets_is_over_labels_too() -> None:
    values = drawn(20)
    c = pair(values, facets={f"q{i}": i % 2 for i in range(20)})
    parts = c.facets
    assert list(parts) == [0, 1]
    assert [part.comparisons for part in parts.values()] == [2, 2]
    p = [part["new", "mrr"].p for part in parts.values()]
    assert [part["new", "mrr"].adjusted_p for part in parts.values()] == adjust(p, "holm")
    assert parts[1]["new", "mrr"].p == pair(values[1::2])["new", "mrr"].p


def test_bonferroni_makes_less_resolvable() -> None:
    # 6 queries: 1/32 at best, and 1/16 of two.
    base = evaluation(np.zeros((6, 2)), metrics=["mrr", "map"])
    new = evaluation(np.ones((6, 2)), metrics=["mrr", "map"])
    assert rm.compare({"a": base, "b": new})["b", "mrr"].resolvable
    c = rm.compare({"a": base, "b": new}, correction="bonferroni")
    assert not c["b", "mrr"].resolvable
    assert "before the correction" in c.notes[1]


# ---------------------------------------------------------------------------------------------
# Pairing


def test_paired_by_id_not_by_place() -> None:
    base = evaluation([0.1, 0.2, 0.3], ["a", "b", "c"])
    new = evaluation([0.3, 0.1, 0.2], ["c", "a", "b"])
    c = rm.compare({"base": base, "new": new})
    assert c["new", "mrr"].ties == 3
    assert c.query_ids == ("a", "b", "c")
    assert c.values["new"][:, 0].tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("missing", "queries", "difference"),
    [("zero", ("a", "b", "c"), (0.0 + 0.5 - 0.5) / 3), ("skip", ("b",), 0.5)],
)
def test_missing(missing: Any, queries: Any, difference: float) -> None:
    base = evaluation([0.25, 0.5], ["a", "b"])
    new = evaluation([1.0, 0.25], ["b", "c"])
    c = rm.compare({"base": base, "new": new}, missing=missing)
    assert c.query_ids == queries
    assert c.unpaired == {"base": 1, "new": 1}
    assert c.left_out == 3 - len(queries)
    expected = 0.5 if missing == "skip" else (-0.25 + 0.5 + 0.25) / 3
    assert c["new", "mrr"].difference == expected
    assert sum("lacks 1 query" in note for note in c.notes) == 2


def test_missing_error() -> None:
    base, new = evaluation([0.5, 0.5], ["a", "b"]), evaluation([1.0], ["b"])
    with pytest.raises(ValueError, match=r"'new' lacks 1 query \('a'\)"):
        rm.compare({"base": base, "new": new}, missing="error")
    assert rm.compare({"base": base, "new": base}, missing="error")


def test_all_systems_are_compared_on_the_same_queries() -> None:
    evs = {
        "a": evaluation([0.5, 0.5, 0.5], ["1", "2", "3"]),
        "b": evaluation([0.5, 0.5], ["2", "3"]),
        "c": evaluation([0.5, 0.5], ["3", "4"]),
    }
    assert rm.compare(evs, missing="skip").query_ids == ("3",)
    assert rm.compare(evs, missing="zero").query_ids == ("1", "2", "3", "4")


def test_no_query_in_common() -> None:
    with pytest.raises(
        ValueError, match=r"no query in common: 'x' has 2 queries .* can never match"
    ):
        rm.compare({"x": evaluation([1, 1], ["1", "2"]), "y": evaluation([1, 1], [1, 2])})


def test_baseline_is_the_first_or_the_named() -> None:
    evs = {name: evaluation([v, v]) for name, v in (("a", 0.1), ("b", 0.2), ("c", 0.3))}
    assert rm.compare(evs).baseline == "a"
    c = rm.compare(evs, baseline="b")
    assert (c.baseline, c.systems) == ("b", ("a", "c"))
    assert c["a", "mrr"].difference == pytest.approx(-0.1)


# ---------------------------------------------------------------------------------------------
# Judgments and runs

QRELS = {"q1": {"a": 3, "b": 1}, "q2": {"c": 1}, "q3": {"d": 1}}
RUNS: dict[str, Any] = {
    "base": {"q1": ["b", "a"], "q2": ["x", "c"], "q3": ["d"]},
    "new": {"q1": {"a": 2.0, "b": 1.0}, "q2": ["c"]},
}


def test_judgments_and_runs() -> None:
    metrics = ["ndcg@10", "mrr"]
    c = rm.compare(QRELS, RUNS, metrics)
    evs = {name: rm.evaluate(QRELS, run, metrics) for name, run in RUNS.items()}
    assert c.rows == rm.compare(evs).rows
    assert c.coverage["new"].missing == 1
    assert "the run of new lacks 1 query (scored as empty)" in c.notes
    skipped = rm.compare(QRELS, RUNS, metrics, missing="skip")
    assert skipped.query_ids == ("q1", "q2")
    assert skipped.unpaired == {"base": 0, "new": 1}
    with pytest.raises(ValueError, match="lacks"):
        rm.compare(QRELS, RUNS, metrics, missing="error")


def test_files(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    rm.write_qrels(QRELS, qrels)
    rm.write_run({"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}, run)
    for given in (qrels, QRELS):
        c = rm.compare(given, {"file": run, "dict": RUNS["new"]}, "mrr")
        assert c.values["file"][:, 0].tolist() == [1.0, 1.0, 0.0]
        assert c["dict", "mrr"].ties == 3


@pytest.mark.parametrize("metric", ["ndcg_cut_10", "ndcg@10(gain=linear)"])
def test_metrics_in_any_spelling(metric: str) -> None:
    c = rm.compare(QRELS, RUNS, ["ndcg@10(gain=linear)", "mrr"])
    assert c["new", metric] is c.rows[0]
    assert c["new", rm.parse(metric)] is c.rows[0]
    assert c.movers("new", metric).improved[0].query == "q2"
    evs = {name: rm.evaluate(QRELS, run, ["mrr", metric]) for name, run in RUNS.items()}
    assert rm.compare(evs, metrics="ndcg_cut_10").rows[0].p == c.rows[0].p


def test_metrics_that_all_have() -> None:
    one, two = (rm.evaluate(QRELS, RUNS["base"], m) for m in (["mrr", "map"], ["hit@1", "map"]))
    assert rm.compare({"a": one, "b": two}).metrics == ("map",)
    with pytest.raises(KeyError, match="hit@1"):
        rm.compare({"a": one, "b": two}, metrics="hit@1")
    with pytest.raises(ValueError, match="no metric in common: a: mrr; b: map"):
        rm.compare(
            {
                "a": rm.evaluate(QRELS, RUNS["base"], "mrr"),
                "b": rm.evaluate(QRELS, RUNS["base"], "map"),
            }
        )


def test_geometric_means_are_compared_by_query() -> None:
    c = rm.compare(QRELS, RUNS, ["gm_map", "map"])
    gm, plain = c["new", "gm_map"], c["new", "map"]
    assert (gm.baseline, gm.mean, gm.p) == (plain.baseline, plain.mean, plain.p)
    assert any("gm_map: compared by the value of each query" in note for note in c.notes)


# ---------------------------------------------------------------------------------------------
# What a comparison gives


def test_movers() -> None:
    c = rm.compare({"base": evaluation([0.5] * 5), "new": evaluation([0.6, 1.0, 0.5, 0.1, 0.6])})
    up, down = c.movers("new", "mrr", 2)
    assert [(m.query, m.baseline, m.value) for m in up] == [("q1", 0.5, 1.0), ("q0", 0.5, 0.6)]
    assert [(m.query, m.difference) for m in down] == [("q3", -0.4)]
    assert len(c.movers("new", "mrr").improved) == 3
    assert c.movers("new", "mrr", 0) == ([], [])
    with pytest.raises(KeyError, match="no system 'base'; there are new"):
        c.movers("base", "mrr")


@pytest.mark.parametrize(("threads", "error"), [(0, ValueError), (1.5, TypeError)])
def test_threads_are_checked_though_nothing_is_read(threads: Any, error: Any) -> None:
    ev = rm.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "mrr")
    with pytest.raises(error, match="threads must be"):
        rm.compare({"a": ev, "b": ev}, threads=threads)


def test_facets() -> None:
    base, new = evaluation([0.0, 0.0, 0.5]), evaluation([0.5, 0.0, 0.25])
    facets = {"kind": {"q0": "how", "q1": "how"}, "length": {"q0": 1, "q1": 2, "q2": 2}}
    c = rm.compare({"base": base, "new": new}, facets=facets)
    assert list(c.facets) == ["kind", "length"]
    assert list(c.facets["kind"]) == ["how", None]
    assert c.facets["kind"]["how"]["new", "mrr"].difference == 0.25
    assert c.facets["kind"][None].query_ids == ("q2",)
    missing = rm.compare({"base": base, "new": new}, facets=dict.fromkeys(["q0", "q2"], math.nan))
    assert list(missing.facets) == [None]
    assert c.facets["length"][2].movers("new", "mrr").regressed[0].query == "q2"
    with pytest.raises(ValueError, match="facet 'kind': no compared query has a label"):
        c.by({"kind": {"other": 1}})
    with pytest.raises(TypeError, match="labels and mappings"):
        c.by({"q0": 1, "kind": {"q0": 1}})
    content = json.loads(c.to_json())
    assert [(f["facet"], f["label"]) for f in content["facets"]] == [
        ("kind", "how"),
        ("kind", None),
        ("length", 1),
        ("length", 2),
    ]
    flat = rm.compare({"base": base, "new": new}, facets=facets["length"])
    assert [(f["facet"], f["label"]) for f in flat.to_dict()["facets"]] == [(None, 1), (None, 2)]


def test_repr() -> None:
    text = repr(pair([0.25] * 8)).splitlines()
    assert " ".join(text[0].split()) == (
        "metric verdict base new difference relative 95% interval p (holm) win/tie/loss"
    )
    assert " ".join(text[1].split()) == (
        "mrr better 0.0000 0.2500 +0.2500 [+0.2500, +0.2500] 0.0078 8/0/0"
    )
    assert text[2] == (
        "8 queries, exact randomisation test, alpha 0.05 with Holm's correction for 1 p-value"
    )
    several = rm.compare({n: evaluation([0.5, 0.5]) for n in "abc"}, correction="none")
    assert repr(several).splitlines()[0].split()[:5] == [
        "system",
        "metric",
        "verdict",
        "baseline",
        "mean",
    ]
    assert "unresolvable, no query differs" in repr(several)
    assert "<0.0001" in repr(pair([0.25 + i / 1000 for i in range(90)]))
    assert "randomisation test of 100,000 draws (seed 0)" in repr(pair(drawn(30)))


def test_html_is_escaped() -> None:
    evs = {"a": evaluation([0.5, 0.5]), "<b>": evaluation([0.5, 0.5])}
    html = rm.compare(evs)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_a_cell_of_markdown_is_one_line() -> None:
    evs = {"a": evaluation([0.5, 0.5]), "b|c\nd": evaluation([0.5, 0.5])}
    header, rule, row = rm.compare(evs).table("markdown").splitlines()
    assert "| b\\|c d |" in header
    assert header.replace("\\|", "").count("|") == rule.count("|") == row.count("|")


def test_json() -> None:
    c = pair([0.5, 0.0, -0.25])
    content = json.loads(c.to_json(movers=1, per_query=True))
    assert content["settings"] == {
        "test": "randomisation",
        "correction": "holm",
        "alpha": 0.05,
        "confidence": 0.95,
        "draws": 100_000,
        "seed": 0,
        "missing": "zero",
    }
    (row,) = content["rows"]
    assert row["difference"] == 0.25 / 3
    assert row["relative"] is None
    assert row["improved"] == [{"query": "q0", "baseline": 0.0, "value": 0.5, "difference": 0.5}]
    assert content["per_query"][2] == {
        "query": "q2",
        "values": {"base": {"mrr": 0.0}, "new": {"mrr": -0.25}},
    }
    assert json.loads(pair([0.5]).to_json())["rows"][0]["low"] is None
    numbered = {n: evaluation([0.5, v], np.arange(2)) for n, v in (("a", 0.5), ("b", 1.0))}
    assert json.loads(rm.compare(numbered).to_json())["rows"][0]["improved"][0]["query"] == 1


def test_pickle_and_read_only() -> None:
    c = pair(drawn(10))
    again = pickle.loads(pickle.dumps(c))
    assert again.rows == c.rows
    assert repr(again) == repr(c)
    with pytest.raises(ValueError, match="read-only"):
        c.values["new"][0, 0] = 1.0


# ---------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"test": "z"}, ValueError, "test must be 'randomisation', 't' or 'wilcoxon', not 'z'"),
        ({"correction": "x"}, ValueError, "correction must be"),
        ({"missing": "x"}, ValueError, "missing must be"),
        ({"alpha": 0}, ValueError, "alpha must lie between 0 and 1"),
        ({"confidence": 95}, ValueError, "confidence must lie between 0 and 1"),
        ({"confidence": "0.95"}, TypeError, "confidence must be a number"),
        ({"draws": 0}, ValueError, "draws must be at least 1"),
        ({"draws": 1.5}, TypeError, "draws must be an integer"),
        ({"seed": -1}, ValueError, "seed must be from 0"),
        ({"seed": 2**64}, ValueError, r"seed must be from 0 to 2\^64 - 1"),
        ({"baseline": "x"}, ValueError, "no system 'x' for a baseline; there are base, new"),
        ({"metrics": []}, ValueError, "no metric was named"),
        ({"metrics": "map"}, KeyError, "map"),
        ({"facets": 3}, TypeError, "facets must be a mapping"),
    ],
)
def test_options_are_checked(options: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        pair([0.5, 0.5], **options)


def test_arguments_are_checked() -> None:
    ev = evaluation([0.5])
    with pytest.raises(ValueError, match="two systems or more"):
        rm.compare({"a": ev})
    with pytest.raises(TypeError, match=r"compare takes \{name: Evaluation\}"):
        rm.compare([ev, ev])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not a mapping to dict"):
        rm.compare({"a": {}, "b": {}})
    with pytest.raises(TypeError, match="named by a string"):
        rm.compare({1: ev, 2: ev})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="need metrics"):
        rm.compare(QRELS, RUNS)
    with pytest.raises(ValueError, match="'b' holds values that are not finite"):
        rm.compare({"a": ev, "b": evaluation([math.nan])})
    with pytest.raises(TypeError, match=r"\[system, metric\]"):
        pair([0.5])["new"]  # type: ignore[index]
    with pytest.raises(TypeError):
        iter(pair([0.5]))  # type: ignore[call-overload]


def test_scipy_is_named_where_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert pair([0.5, 0.25]).rows
    for test in ("t", "wilcoxon"):
        with pytest.raises(ImportError, match=r"pip install 'rankmeter\[stats\]'"):
            pair([0.5, 0.25], test=test)


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, rankmeter; before = set(sys.modules); rankmeter.compare; "
        "print('rankmeter.experiments.compare' in before, 'scipy' in sys.modules, "
        "'compare' in dir(rankmeter))"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert printed.split() == ["False", "False", "True"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rm.nothing  # type: ignore[attr-defined]
    assert all(hasattr(rm, name) for name in rm.__all__)


def test_differences_of() -> None:
    found = differences_of(np.array([[0.5, 1e-20]]), np.array([[0.5 + 2**-53, 2e-20]]))
    assert found.tolist() == [[0.0, 1e-20]]


# ---------------------------------------------------------------------------------------------
# Coverage of the intervals


def golden_set(rng: np.random.Generator, n: int, kind: str) -> tuple[Any, Any, float]:
    """Values of two systems, and the true difference of their means."""
    if kind == "graded":  # many at 0 and 1, as nDCG has them
        base = np.clip(rng.normal(0.5, 0.4, n), 0.0, 1.0)
        return base, np.where(rng.random(n) < 0.5, base * 0.8, base), -0.5 * 0.2 * MEAN_CLIPPED
    if kind == "hit":  # most queries tie
        u = rng.random(n)
        base = (u < 0.5).astype(float)
        return base, np.where(u > 0.7, 1.0, np.where(u < 0.1, 0.0, base)), 0.3 - 0.1
    ranks = rng.geometric(0.3, n), rng.geometric(0.4, n)
    mean = [p / (1 - p) * -math.log(p) for p in (0.3, 0.4)]
    return 1 / ranks[0], 1 / ranks[1], mean[1] - mean[0]


# E[clip(X, 0, 1)] of a normal with mean 0.5 is 0.5, by symmetry.
MEAN_CLIPPED = 0.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["graded", "hit", "reciprocal rank"])
@pytest.mark.parametrize("n", [30, 60, 200])
def test_intervals_hold_the_truth_as_often_as_they_say(kind: str, n: int) -> None:
    rng = np.random.default_rng([n, len(kind)])
    held = 0
    for _ in range(2000):
        base, new, truth = golden_set(rng, n, kind)
        comparison = rm.compare({"base": evaluation(base), "new": evaluation(new)}, draws=1)
        row = comparison["new", "mrr"]
        held += row.low <= truth <= row.high
    print(kind, n, held / 2000)
    assert 0.93 <= held / 2000 <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 60])
def test_p_is_low_as_seldom_as_it_says(n: int) -> None:
    rng = np.random.default_rng(n)
    low = 0
    for _ in range(2000):
        values = rng.normal(0.0, 0.2, n) * rng.integers(0, 2, n)
        low += pair(values, draws=2000)["new", "mrr"].p <= 0.05
    assert low / 2000 <= 0.065


def test_measures_of_others_are_found_again() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    measure = ir_measures.nDCG @ 10
    qrels = {f"q{i}": {"a": 1, "b": 2} for i in range(6)}
    runs = {"base": dict.fromkeys(qrels, ("a", "b")), "new": dict.fromkeys(qrels, ("b", "a"))}
    c = rm.compare(qrels, runs, [measure, "mrr"])
    assert c["new", rm.Metric("mrr")] is c["new", "mrr"]
    assert c["new", measure] is c["new", "nDCG@10"] is c["new", "ndcg@10(gain=linear)"]
    wanted = {"ndcg@10(gain=linear)": 0.01, "mrr": 0.1}
    assert rm.resolution(c, difference=wanted)["new", measure].difference == 0.01


def test_resolution_says_what_the_comparison_says() -> None:
    pytest.importorskip("scipy", reason="some tests are those of scipy")
    qrels = {f"q{i}": {"a": 1} for i in range(60)}
    runs = {"base": dict.fromkeys(qrels, ("x", "a")), "new": dict.fromkeys(qrels, ("a",))}
    for options in ({"draws": 10}, {"test": "t"}, {}):
        c = rm.compare(qrels, runs, "mrr", **options)  # type: ignore[arg-type]
        found = rm.resolution(c)["new", "mrr"]
        assert found.smallest_p == c["new", "mrr"].smallest_p
        assert found.resolvable == c["new", "mrr"].resolvable
