"""The charts as Vega-Lite, without data; the script of the page adds that and the titles.

Colours are names of CSS, so that dark, light and paper need no other chart.
"""

from __future__ import annotations

from typing import Any

_SHAPES = ["circle", "square", "diamond", "cross", "triangle-up", "triangle-down"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3]]
_COLOURS = [f"var(--system-{i})" for i in range(len(_SHAPES))]
_VERDICTS = {"better": "var(--better)", "can't tell": "var(--even)", "worse": "var(--worse)"}

_CONFIG: dict[str, Any] = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--text)",
        "titleColor": "var(--text)",
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": "var(--line)",
        "domainColor": "var(--soft)",
        "tickColor": "var(--soft)",
    },
    "legend": {
        "labelColor": "var(--text)",
        "titleColor": "var(--text)",
        "labelFontSize": 12,
        "labelLimit": 220,
        "orient": "top",
        "columns": 2,
        "title": None,
        "symbolOpacity": 1,
    },
    "text": {"color": "var(--text)"},
    "aria": False,  # each chart is described as a whole, and its numbers stand in a table
}


def _chart(height: Any, **parts: Any) -> dict[str, Any]:
    return {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": _CONFIG,
        **parts,
    }


def _quantitative(field: str, title: str | None = None, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, **more}


def _nominal(field: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "nominal", **more}


_IN_A_ROW = {"columns": 3}
_DIRECTION = {
    "domain": ["better", "same", "worse"],
    "range": ["var(--better)", "var(--even)", "var(--worse)"],
}
_DIRECTION_SHAPE = {
    "domain": _DIRECTION["domain"],
    "range": ["triangle-up", "circle", "triangle-down"],
}

_SCATTER = _chart(
    360,
    params=[{"name": "picked", "value": -1}],
    layer=[
        {
            "data": {"name": "diagonal"},
            "mark": {"type": "line", "color": "var(--soft)", "strokeDash": [4, 4]},
            "encoding": {"x": _quantitative("at"), "y": _quantitative("at")},
        },
        {
            "data": {"name": "points"},
            "mark": {"type": "point", "filled": True},
            "encoding": {
                "x": _quantitative("baseline", scale={"zero": False}),
                "y": _quantitative("system", scale={"zero": False}),
                "color": _nominal("direction", scale=_DIRECTION, legend=_IN_A_ROW),
                "shape": _nominal("direction", scale=_DIRECTION_SHAPE, legend=_IN_A_ROW),
                "size": _quantitative("count", scale={"type": "sqrt"}, legend=None),
                "tooltip": [
                    _nominal("names", title="query"),
                    _quantitative("baseline", "baseline"),
                    _quantitative("system", "system"),
                    _quantitative("difference", "difference"),
                ],
            },
        },
        {
            "data": {"name": "points"},
            "transform": [{"filter": "datum.place === picked"}],
            "mark": {
                "type": "point",
                "size": 500,
                "stroke": "var(--text)",
                "strokeWidth": 3,
                "filled": False,
            },
            "encoding": {"x": _quantitative("baseline"), "y": _quantitative("system")},
        },
    ],
)

_DISTRIBUTION = _chart(
    220,
    data={"name": "points"},
    mark={"type": "bar", "stroke": "var(--page)", "strokeWidth": 1},
    encoding={
        "x": _quantitative("low", bin="binned", axis={"tickCount": 8}),
        "x2": {"field": "high"},
        "y": _quantitative("count", "queries", axis={"format": ",d"}),
        "color": _nominal("direction", scale=_DIRECTION, legend=None),
        "tooltip": [
            _nominal("range", title="difference"),
            _quantitative("count", "queries"),
        ],
    },
)

_INTERVALS = _chart(
    100,
    data={"name": "points"},
    encoding={"y": _nominal("label", sort=None, title=None, axis={"labelLimit": 140})},
    layer=[
        {
            "data": {"values": [{"at": 0}]},
            "mark": {"type": "rule", "color": "var(--soft)", "strokeDash": [4, 4]},
            "encoding": {"x": _quantitative("at", axis={"tickCount": 6}), "y": None},
        },
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {
                "x": _quantitative("low", axis={"tickCount": 6}),
                "x2": {"field": "high"},
                "color": _nominal(
                    "verdict",
                    scale={"domain": list(_VERDICTS), "range": list(_VERDICTS.values())},
                    legend=_IN_A_ROW,
                ),
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {
                "x": _quantitative("difference", axis={"tickCount": 6}),
                "color": _nominal(
                    "verdict",
                    scale={"domain": list(_VERDICTS), "range": list(_VERDICTS.values())},
                    legend=_IN_A_ROW,
                ),
                "shape": _nominal(
                    "verdict",
                    scale={"domain": list(_VERDICTS), "range": _DIRECTION_SHAPE["range"]},
                    legend=_IN_A_ROW,
                ),
                "tooltip": [
                    _nominal("label"),
                    _quantitative("difference", "difference"),
                    _quantitative("low", "from"),
                    _quantitative("high", "to"),
                    _nominal("verdict"),
                ],
            },
        },
    ],
)

_CURVES = _chart(
    260,
    data={"name": "points"},
    mark={"type": "line", "strokeWidth": 2, "point": {"filled": True, "size": 60, "opacity": 1}},
    encoding={
        "x": _quantitative("k", "k", scale={"type": "log", "nice": False}, axis={"grid": False}),
        "y": _quantitative("value"),
        "color": _nominal("system", scale={"range": _COLOURS}, sort=None),
        "shape": _nominal("system", scale={"range": _SHAPES}, sort=None),
        "strokeDash": _nominal("system", scale={"range": _DASHES}, sort=None),
        "tooltip": [
            _nominal("system"),
            _quantitative("k", "k"),
            _quantitative("value", "mean"),
        ],
    },
)

_RISK = _chart(
    260,
    data={"name": "points"},
    mark={"type": "line", "strokeWidth": 2},
    encoding={
        "x": _quantitative("coverage", "coverage: share of the queries answered"),
        "y": _quantitative("risk"),
        "color": _nominal(
            "curve",
            sort=None,
            scale={"range": ["var(--system-1)", *["var(--soft)"] * 2]},
            legend=_IN_A_ROW,
        ),
        "strokeDash": _nominal(
            "curve", sort=None, scale={"range": [[1, 0], [6, 3], [2, 2]]}, legend=_IN_A_ROW
        ),
        "tooltip": [
            _nominal("curve"),
            _quantitative("coverage", "coverage", format=".2f"),
            _quantitative("risk", "risk", format=".4f"),
        ],
    },
)

SPECS: dict[str, dict[str, Any]] = {
    "scatter": _SCATTER,
    "distribution": _DISTRIBUTION,
    "intervals": _INTERVALS,
    "curves": _CURVES,
    "risk": _RISK,
}
