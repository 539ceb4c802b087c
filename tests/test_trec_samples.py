"""The sample judgments and runs that come with trec_eval, against the values that it prints.

A value is compared as text, in the four digits that trec_eval prints.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from readers import read_qrels, read_run

import rankmeter as rm

FOLDER = Path(__file__).parent / "cases" / "trec_eval"

FAMILIES = r"map|recip_rank|P_\d+|recall_\d+|ndcg|ndcg_cut_\d+|map_cut_\d+|success_\d+"

Printed = dict[str, dict[str, str]]


def printed(name: str) -> Printed:
    """Values by query and measure, as trec_eval prints them; the means under ``all``."""
    values: Printed = {}
    for line in (FOLDER / name).read_text(encoding="ascii").splitlines():
        measure, query, value = line.split()
        if re.fullmatch(FAMILIES, measure):
            values.setdefault(query, {})[measure] = value
    return values


def ours(measure: str, rel: int = 1) -> str:
    """Spell a measure for this package, where ``ndcg`` alone has another gain."""
    if measure == "ndcg":
        return "ndcg(gain=linear)"
    if rel == 1 or measure.startswith("ndcg"):
        return measure
    family, _, k = measure.rpartition("_") if measure[-1].isdigit() else (measure, "", "")
    names = {"P": "precision", "success": "hit", "recip_rank": "mrr", "map_cut": "map"}
    return f"{names.get(family, family)}{'@' + k if k else ''}(rel={rel})"


@pytest.mark.parametrize(
    ("qrels", "run", "output", "missing", "rel"),
    [
        ("qrels.test", "results.test", "out.test.aq", "skip", 1),
        ("qrels.test", "results.test", "out.test.a", "skip", 1),
        ("qrels.test", "results.test", "out.test", "skip", 1),
        # -c: queries that the run lacks count 0
        ("qrels.test", "results.trunc", "out.test.aqc", "zero", 1),
        # -l2: relevant from grade 2 on
        ("qrels.rel_level", "results.test", "out.test.aql", "skip", 2),
    ],
)
def test_printed_values(qrels: str, run: str, output: str, missing: str, rel: int) -> None:
    expected = printed(output)
    measures = list(expected["all"])
    ev = rm.evaluate(
        read_qrels(str(FOLDER / qrels)),
        read_run(str(FOLDER / run)),
        [ours(measure, rel) for measure in measures],
        missing=missing,
    )
    per_query = expected.keys() - {"all"}
    if per_query:
        assert set(ev.query_ids) == per_query
    found: Printed = {
        query: {measure: f"{values[ours(measure, rel)]:.4f}" for measure in measures}
        for query, values in [*ev.per_query.items(), ("all", ev.mean)]
        if query in expected
    }
    assert found == expected


def test_the_samples_hold_what_is_compared() -> None:
    values = printed("out.test.aq")
    assert set(values) == {"all", "301", "302", "303"}
    assert len(values["all"]) == 42
    scores = read_run(str(FOLDER / "results.test"))
    # Equal scores, so that the order of ties counts.
    assert any(len(set(run.values())) < len(run) for run in scores.values())
