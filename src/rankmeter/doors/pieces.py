"""Rows are scored piece by piece in the fast way; what that cannot take, is read with care."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from rankmeter._core.doors.columns import JudgedRows
from rankmeter._core.doors.text_rows import TextRows
from rankmeter.doors.how import How
from rankmeter.doors.mistakes import Mistakes
from rankmeter.doors.opening import Columnar
from rankmeter.doors.scored import Scored
from rankmeter.doors.text import rows_of
from rankmeter.doors.threads import pool


def score_rows(
    judged: JudgedRows, given: Columnar, mistakes: Mistakes, how: How, out: Scored
) -> None:
    """Score a file or a table of rows.

    The fast way gives them to the core as they come. Where a query comes back, all are read into
    memory and put in order. A number that the fast way cannot read, a mistake: then all is read
    again, line by line.
    """
    with suppress(ValueError):  # it comes again, unless something before it is wrong, too
        if _score_pieces(judged, given.read_pieces(), how, out):
            return
        out.clear()
        if _score_pieces(judged, _read_in_order(given), how, out):
            return
    out.clear()
    rows = rows_of(given.read_carefully(mistakes))
    scored = _score_pieces(judged, iter([rows]), how, out)
    assert scored


def _read_in_order(given: Columnar) -> Iterator[TextRows | None]:
    rows = given.read_whole()
    yield None if rows is None else rows.in_order()


def _score_pieces(
    judged: JudgedRows, pieces: Iterator[TextRows | None], how: How, out: Scored
) -> bool:
    """Score rows; False where the careful reader should look at them."""
    start = list(islice(pieces, 2))
    together = chain(start, pieces)
    if how.threads == 1 or len(start) < 2:
        usual = all(
            rows is not None
            and judged.evaluate(rows, how.ties, out.filled, out.marks, out.unjudged, out.lost)
            for rows in together
        )
    else:
        usual = _score_among_threads(judged, together, how, out)
    once = len(set(out.unjudged)) == len(out.unjudged)
    return usual and once and bool(out.unjudged or out.marks.any())


def _score_among_threads(
    judged: JudgedRows, pieces: Iterator[TextRows | None], how: How, out: Scored
) -> bool:
    waiting: deque[tuple[Any, npt.NDArray[np.uint8], list[str]]] = deque()
    usual = True
    try:
        for rows in pieces:
            usual = rows is not None
            if rows is not None:
                marks = np.zeros_like(out.marks)  # two pieces may hold the same query
                unjudged: list[str] = []
                task = pool().submit(
                    judged.evaluate, rows, how.ties, out.filled, marks, unjudged, out.lost
                )
                waiting.append((task, marks, unjudged))
                if len(waiting) > how.threads:
                    usual = _merge(*waiting.popleft(), out)
            if not usual:
                break
    except BaseException:
        for task, *_ in waiting:  # nobody may write any more
            with suppress(Exception):
                task.result()
        raise
    for piece in waiting:
        usual = _merge(*piece, out) and usual
    return usual


def _merge(task: Any, marks: npt.NDArray[np.uint8], unjudged: list[str], out: Scored) -> bool:
    """Wait for a piece; False where the careful reader should look at the rows."""
    usual: bool = task.result() and not (out.marks & marks).any()
    np.bitwise_or(out.marks, marks, out=out.marks)
    out.unjudged.extend(unjudged)
    return usual
