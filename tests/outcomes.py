"""Evaluations, or what is said in their place, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rankmeter as rm


def outcome(call: Callable[..., rm.Evaluation], *given: Any, **options: Any) -> rm.Evaluation | str:
    """The evaluation, or what is said; other errors than those that are allowed go through."""
    try:
        return call(*given, **options)
    except (ValueError, OSError, TypeError) as error:
        return str(error)


def refused(qrels: Any, run: Any, kind: type[Exception] = ValueError, **options: Any) -> str:
    """What is said where nothing may be scored."""
    with pytest.raises(kind) as caught:
        rm.evaluate(qrels, run, ["mrr", "ndcg"], **options)
    return str(caught.value)


def alike(ours: rm.Evaluation | str, expected: rm.Evaluation | str) -> None:
    """Both say the same, or both are the same."""
    if isinstance(ours, str) or isinstance(expected, str):
        assert ours == expected
    else:
        same(ours, expected)


def same(ours: rm.Evaluation, theirs: rm.Evaluation) -> None:
    """To the last bit, bounds included."""
    assert ours.query_ids == theirs.query_ids
    assert ours.values.tobytes() == theirs.values.tobytes()
    assert ours.coverage == theirs.coverage
    assert ours.ties == theirs.ties
    assert ours.bounds.lowest.values.tobytes() == theirs.bounds.lowest.values.tobytes()
    assert ours.bounds.highest.values.tobytes() == theirs.bounds.highest.values.tobytes()
