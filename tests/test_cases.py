"""Worked examples with published numbers, and situations that users of other libraries met."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import reference

import rankmeter as rm

FOLDER = Path(__file__).parent / "cases"


def cases() -> list[Any]:
    parameters = []
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            parameters.append(pytest.param(case, id=f"{path.stem}: {case['name']}"))
    return parameters


def inputs(case: dict[str, Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Qrels and run, whether the case holds one ranking or many."""
    if "ranked" in case:
        return {"q": case["qrels"]}, {"q": case["ranked"]}
    if "runs" in case:
        return case["qrels_by_query"], case["runs"]
    return case["qrels"], case["run"]


def check(case: dict[str, Any], mean: dict[str, float]) -> None:
    assert list(mean) == list(case["expect"])
    for metric, expected in case["expect"].items():
        if "places" in case:
            assert round(mean[metric], case["places"]) == expected, metric
        else:
            assert mean[metric] == pytest.approx(expected, rel=1e-15, abs=1e-15), metric


def test_the_cases_are_there() -> None:
    assert len(cases()) >= 54


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any]) -> None:
    qrels, run = inputs(case)
    options = case.get("options", {})
    if "raises" in case:
        with pytest.raises((TypeError, ValueError)) as caught:
            rm.evaluate(qrels, run, ["map", "ndcg@10"], **options)
        assert caught.type.__name__ == case["raises"]
        for word in case.get("mentions", []):
            assert word in str(caught.value)
        return
    check(case, rm.evaluate(qrels, run, list(case["expect"]), **options).mean)
    scorer = rm.Evaluator(qrels, list(case["expect"]))
    for _ in range(2):
        check(case, scorer.evaluate(run, **options).mean)


@pytest.mark.parametrize("case", cases())
def test_case_in_the_reference(case: dict[str, Any]) -> None:
    qrels, run = inputs(case)
    options = case.get("options", {})
    if "raises" in case:
        with pytest.raises((TypeError, ValueError)) as caught:
            reference.evaluate(qrels, run, ["map", "ndcg@10"], **options)
        assert caught.type.__name__ == case["raises"]
        return
    check(case, reference.evaluate(qrels, run, list(case["expect"]), **options).mean)
