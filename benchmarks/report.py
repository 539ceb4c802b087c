"""The results as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.tracks import MEMORY_TRACK

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (0.0, "ns"))


def render(results: dict[str, Any]) -> str:
    """Return one table a track, with its goals below it."""
    lines = [
        f"{results['python']}, {results['cpu']}, {results['platform']}",
        f"{results['date']}, {results['rounds']} rounds; time: median [quartiles]",
    ]
    for name, track in results["tracks"].items():
        lines += ["", track["description"]]
        lines += _memory_table(track) if name in MEMORY_TRACK else _time_table(track)
        lines += _goals(name, track, quick=results["quick"])
    return "\n".join(lines)


def _time_table(track: dict[str, Any]) -> Iterator[str]:
    by_query = track.get("timed_by") == "query"
    calls = track["shape"]["queries"] if by_query else 1
    table = [("", "time a query" if by_query else "time", "", "× rankmeter", "× floor", "first")]
    for row in track["libraries"].values():
        lower, upper = (_time(seconds / calls) for seconds in row["quartiles"])
        first = row.get("first_call_seconds")
        table.append(
            (
                row["label"],
                _time(row["median"] / calls),
                f"[{lower} – {upper}]",
                _ratio(row.get("times_rankmeter")),
                _ratio(row.get("times_floor")),
                "" if first is None else _time(first / calls),
            )
        )
    if "floor" in track:
        # The floor was timed in every process; rankmeter's own, where it took part, is shown.
        rows = track["libraries"]
        ours = rows.get("rankmeter") or next(iter(rows.values()))
        floor = median(ours["floor_seconds"])
        against = floor / ours["median"] if "rankmeter" in rows else None
        table.append(("floor", _time(floor / calls), "", _ratio(against), "1.00", ""))
        yield f"floor: {track['floor']}"
    yield from _aligned(table)


def _memory_table(track: dict[str, Any]) -> Iterator[str]:
    rows = track["libraries"].values()
    yield from _aligned(
        [("", "resident", "traced", "resident size taken from")]
        + [
            (
                row["label"],
                _megabytes(row["resident_bytes"]),
                _megabytes(row["traced_bytes"]),
                row["method"],
            )
            for row in rows
        ]
    )


def _goals(name: str, track: dict[str, Any], *, quick: bool) -> Iterator[str]:
    if quick:
        yield "  goals are not judged in a quick run"
    for verdict in track["goals"]:
        outcome = "met" if verdict["met"] else "MISSED"
        value = _megabytes(verdict["value"]) if name in MEMORY_TRACK else _ratio(verdict["value"])
        yield f"  goal {outcome}: {verdict['goal']} (measured: {value})"


def _aligned(table: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for label, *cells in table:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield "  ".join(["", label.ljust(widths[0]), *padded]).rstrip()


def _time(seconds: float) -> str:
    unit, name = next((unit, name) for unit, name in _UNITS if seconds >= unit)
    return f"{seconds / (unit or 1e-9):.3g} {name}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:.2f} MB"
