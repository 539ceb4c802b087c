"""The chart of the README, drawn from a file of results.

``python -m benchmarks.chart results.json chart.svg`` draws it without measuring again. The same
file gives the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchmarks.tracks import ALL_LIBRARIES

# Readable on white and on a dark page alike: the page shows through, and text is a middle grey.
_INK = "#767d86"
_COLOURS = (
    "#4c8dd9",
    "#d9822b",
    "#3fa06b",
    "#a06cd5",
    "#c9a227",
    "#2fa8a8",
    "#d1495b",
    "#8d6e63",
    "#7a8f3c",
    "#e377b5",
    "#5b6bb5",
    "#b5651d",
    "#4f9d9d",
    "#a8a13a",
    "#7d4f9e",
    "#c97b84",
    "#5f8a5f",
)
_STYLE: Any = {
    "svg.hashsalt": "rankmeter",  # without it the ids in the file are random
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}
# One bar a track says enough; depths, types and sizes are compared in the report.
_LEFT_OUT = (
    "lists-top10-depth100",
    "lists-top10-depth10000",
    "prepared-few",
    "row",
    "row-million",
    "small-call",
    "types-OrderedDict",
    "types-defaultdict",
    "types-numpy-str-ids",
)
_DRAWN = frozenset(ALL_LIBRARIES) - {
    "rankmeter",
    "two_threads",
    "million_threads",
    "collector",
}
_BAR_HEIGHT = 0.8


class Bar(NamedTuple):
    """How many times rankmeter's time a library takes, and where that is drawn."""

    position: int
    library: str
    ratio: float


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw the ratio of each library's time to rankmeter's, on each track."""
    tracks = [
        track
        for name, track in results["tracks"].items()
        if "floor" in track and name not in _LEFT_OUT and "rankmeter" in track["libraries"]
    ]
    bars, ticks = _lay_out(tracks)
    if not bars:
        raise ValueError("nothing to draw: no track has rankmeter and another library")
    labels = {
        name: row["label"]
        for track in tracks
        for name, row in track["libraries"].items()
        if name in _DRAWN
    }
    ours = tracks[0]["libraries"]["rankmeter"]["label"]
    colours = dict(zip(labels, _COLOURS, strict=False))
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(9, 1.5 + 0.22 * bars[-1].position), layout="constrained")
        axes = figure.subplots()
        axes.set_xscale("log")
        ratios = [bar.ratio for bar in bars]
        axes.set_xlim(min(1, *ratios), 1.5 * max(ratios))  # leaves room for the last number
        axes.xaxis.set_major_formatter("{x:g}×")
        for position, library, ratio in bars:
            # A logarithmic axis has no zero: bars start at rankmeter itself.
            axes.barh(position, ratio - 1, _BAR_HEIGHT, left=1, color=colours[library])
            axes.text(ratio * 1.05, position, f"{ratio:.3g}×", va="center", fontsize=8)
        axes.axvline(1, color=_INK)
        axes.set_yticks(list(ticks), list(ticks.values()))
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_xlabel(f"time, in multiples of the time of {ours} (logarithmic)")
        patches = [Patch(color=colours[name], label=label) for name, label in labels.items()]
        figure.legend(
            handles=patches, loc="outside upper center", ncols=3, fontsize=9, frameon=False
        )
        figure.supxlabel(_caption(results), fontsize=8)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None})


def _lay_out(tracks: list[dict[str, Any]]) -> tuple[list[Bar], dict[float, str]]:
    """Place the bars below one another, with a gap after each track and its name at the middle."""
    bars: list[Bar] = []
    ticks: dict[float, str] = {}
    position = 0
    for track in tracks:
        ratios = {
            name: row["times_rankmeter"]
            for name, row in track["libraries"].items()
            if name in _DRAWN
        }
        if not ratios:
            continue
        bars += (Bar(position + n, name, ratio) for n, (name, ratio) in enumerate(ratios.items()))
        shape = track["shape"]
        name = f"{track['title']}\n{shape['queries']:,} × {shape.get('cut') or shape['depth']:,}"
        ticks[position + (len(ratios) - 1) / 2] = name
        position += len(ratios) + 1
    return bars, ticks


def _caption(results: dict[str, Any]) -> str:
    warning = "QUICK RUN, means nothing; " if results["quick"] else ""
    day = results["date"][:10]
    return f"{warning}{results['python']}, one thread, {results['cpu']}, {day}"


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
