"""Medians, ratios and goals, worked out from the raw numbers and put beside them."""

from __future__ import annotations

from statistics import median, quantiles
from typing import Any

from benchmarks.tracks import IMPORT, IMPORT_LIMIT, MEMORY_TRACK, SPEED_TRACK, Goal


def summarize(results: dict[str, Any]) -> None:
    """Add the summary of each library and the verdict on each goal, in place."""
    tracks = results["tracks"]
    for name, track in tracks.items():
        if name not in MEMORY_TRACK:
            _add_medians(track["libraries"])
    for name, track in tracks.items():
        track["goals"] = [] if results["quick"] else _verdicts(name, tracks)


def _add_medians(rows: dict[str, dict[str, Any]]) -> None:
    for row in rows.values():
        lower, middle, upper = quantiles(row["seconds"], n=4, method="inclusive")
        row["median"] = middle
        row["quartiles"] = [lower, upper]
        if "floor_seconds" in row:
            row["times_floor"] = _median_ratio(row["seconds"], row["floor_seconds"])
        if "rankmeter" in rows:
            row["times_rankmeter"] = _median_ratio(row["seconds"], rows["rankmeter"]["seconds"])


def _median_ratio(seconds: list[float], others: list[float]) -> float:
    # Round by round: a machine that slows down for a while slows both sides of a round.
    return median(ours / theirs for ours, theirs in zip(seconds, others, strict=True))


def _verdicts(name: str, tracks: dict[str, Any]) -> list[dict[str, Any]]:
    if "rankmeter" not in tracks[name]["libraries"]:
        return []
    if name == IMPORT:
        rows = tracks[name]["libraries"]
        ratio = 1 / rows["numpy"]["times_rankmeter"]
        text = f"at most {IMPORT_LIMIT:g} times as long as numpy"
        return [{"goal": text, "value": ratio, "met": ratio <= IMPORT_LIMIT}]
    if name in MEMORY_TRACK:
        grown = tracks[name]["libraries"]["rankmeter"]["resident_bytes"]
        if grown is None:
            return []
        limit = MEMORY_TRACK[name].limit_bytes
        text = f"less than {limit / 1e6:g} MB"
        return [{"goal": text, "value": grown, "met": grown < limit}]
    verdicts = []
    for goal in SPEED_TRACK[name].goals:
        ratio = _ratio(goal, name, tracks)
        if ratio is not None:
            verdicts.append({"goal": goal.text, "value": ratio, "met": goal.is_met_by(ratio)})
    return verdicts


def _ratio(goal: Goal, name: str, tracks: dict[str, Any]) -> float | None:
    """Return what the goal is about, or None where the other side was not measured."""
    rows = tracks[name]["libraries"]
    times_floor: float = rows["rankmeter"]["times_floor"]
    if goal.aspect == "times the floor":
        return times_floor
    if goal.aspect in ("times the track", "times the same in"):
        return _median_ratio(rows["rankmeter"]["seconds"], rows[goal.other]["seconds"])
    if goal.aspect == "times the time a query of":
        # The floor would not do: it is slower on a file that no cache holds.
        other_track = tracks.get(goal.other)
        if other_track is None:
            return None
        return _seconds_a_query(tracks[name]) / _seconds_a_query(other_track)
    peer, who = rows.get(goal.other), rows.get(goal.who)
    if peer is None or who is None:
        return None
    ratio = _median_ratio(peer["seconds"], who["seconds"])
    return ratio if goal.aspect == "times as fast as" else 1 / ratio


def _seconds_a_query(track: dict[str, Any]) -> float:
    seconds: float = track["libraries"]["rankmeter"]["median"] / track["shape"]["queries"]
    return seconds
