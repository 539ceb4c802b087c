"""The same run with scores, for libraries that take no ranked lists."""

from __future__ import annotations

from benchmarks.data import TrackInput, deepest_rank

_SCORES = tuple(map(float, range(10_000, 0, -1)))


def run_with_scores(track_input: TrackInput) -> dict[str, dict[str, float]]:
    """Return the run as query → document → score; ranks no metric looks at are left out."""
    if track_input.scored:
        return track_input.scored
    deepest = deepest_rank(track_input.metrics)
    return {
        # The shorter one ends the pairing: there are more scores than ids.
        query: dict(zip(ids[:deepest], _SCORES, strict=False))
        for query, ids in track_input.ranked.items()
    }
