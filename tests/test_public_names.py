"""What is public: pickles that outlive a move, and examples that are run."""

from __future__ import annotations

import doctest
import inspect
import pickle
import pickletools
from collections.abc import Iterator
from typing import Any

import pytest

import rankmeter as rm

CLASSES = [value for name in rm.__all__ if inspect.isclass(value := getattr(rm, name))]
MADE_BY_FUNCTIONS = {  # where their examples stand
    rm.Bounds,
    rm.Coverage,
    rm.Fold,
    rm.Intervals,
    rm.Resolution,
    rm.RiskCoverage,
    rm.Sweep,
}


def made() -> Iterator[Any]:
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    runs = {"one": {query: ["a"] for query in qrels}, "two": {query: ["x", "a"] for query in qrels}}
    scored = {"q0": {"a": 1.0}, "q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 3.0}, "q3": {"a": 4.0}}
    ev = rm.evaluate(qrels, scored, "mrr")
    comparison = rm.compare(qrels, runs, "mrr")
    swept = rm.sweep({"one": scored, "two": scored}, [0, 1], qrels, "mrr", folds=2, draws=10)
    yield from (ev, ev.coverage, ev.bounds, rm.parse("mrr"), comparison, swept, swept.folds[0])
    yield from (rm.intervals(ev, draws=10), rm.resolution(comparison))
    yield rm.risk_coverage(ev, "mrr", dict.fromkeys(qrels, 0.5))


@pytest.mark.parametrize("one", [*made()], ids=lambda one: type(one).__name__)
def test_a_pickle_knows_the_public_name_alone(one: Any) -> None:
    pickled = pickle.dumps(one, protocol=2)  # which writes each name as one argument
    named = [argument for _, argument, _ in pickletools.genops(pickled) if argument is not None]
    ours = {text for text in named if isinstance(text, str) and text.startswith("rankmeter")}
    assert f"rankmeter {type(one).__name__}" in ours
    for name in ours - {"rankmeter"}:
        module, kind = name.split()
        assert module == "rankmeter"
        assert hasattr(rm, kind)
    assert repr(pickle.loads(pickled)) == repr(one)


def test_every_public_class_was_pickled() -> None:
    assert {type(one) for one in made()} == set(CLASSES) - {rm.Evaluator}  # which refuses it


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_examples_of_public_classes(kind: Any) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags)
    # The files that they stand in do not look like their homes, so these are not looked through.
    found = doctest.DocTestFinder().find(kind, kind.__name__, module=False, globs={})
    results = [runner.run(test) for test in found]
    assert not sum(result.failed for result in results)
    assert bool(sum(result.attempted for result in results)) == (kind not in MADE_BY_FUNCTIONS)
