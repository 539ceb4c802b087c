"""What other tools call a metric, and what was meant by a name that there is not."""

from __future__ import annotations

import re

from rankmeter._core.driver import METRICS as _ROWS
from rankmeter._core.metrics.rows import MetricRow
from rankmeter.naming.rows import METRICS

LEVEL = r"-l([0-9]+)\s*$"  # of relevance, in ranx


def from_elsewhere(text: str) -> str | None:
    """Our spelling of a name of trec_eval or ranx, if it means one of our metrics."""
    level = re.search(LEVEL, text)
    name = text[: level.start()] if level else text
    for row in _ROWS:
        for theirs, ours in (row.ranx if level else row.trec_eval | row.ranx).items():
            match = re.fullmatch(_pattern(theirs), name)
            if match is not None and (not level or "rel" in row.parameters):
                found = ours if match.lastindex is None else re.sub(r"\{[kx]\}", match[1], ours)
                return f"{found}(rel={level[1]})" if level else found
    return None


def _pattern(spelling: str) -> str:
    pattern = re.escape(spelling)
    pattern = pattern.replace("_" + re.escape("{k}"), r"[_.]([0-9]+)")
    pattern = pattern.replace("@" + re.escape("{k}"), r"@([0-9]+)")
    return pattern.replace("_" + re.escape("{x}"), r"[_.]([0-9]*\.?[0-9]+)")


def _of_ranx(text: str) -> str | None:
    """What to write for a name of ranx that means none of our metrics."""
    match = re.fullmatch(r"([a-z_]+)(?:([.@])([0-9]+))?(?:-l([0-9]+))?", text)
    name, sign, digits, level = match.groups() if match else ("", None, None, None)
    cutoff = f"@{digits}" if sign == "@" else ""
    parameters = f"(rel={level})" if level else ""
    if name == "rbp" and digits and (sign == "." or level):
        given = f"p=0.{digits}" + (f",rel={level}" if level else "")
        return f"counts grades as they are in ranx: write 'rbp({given})' for binary relevance"
    if name == "hits" and sign != ".":
        return (
            f"is a count in ranx: write 'hit{cutoff or '@10'}{parameters}' for whether there is "
            f"one, 'num_rel_ret{parameters}' for how many were returned at all"
        )
    if level and re.fullmatch("n?dcg(_burges)?", name):
        ours = name.removesuffix("_burges")
        return (
            f"counts lower grades as 0: write a gain for each grade, such as "
            f"'{ours}{cutoff}(gain={{1:0,2:3,3:7}})'"
        )
    return None


def unknown_metric(text: str) -> ValueError:
    """Say that there is no such metric, and what was meant."""
    from difflib import get_close_matches  # of use to few

    if "," in text.partition("(")[0]:
        return ValueError(f"{text!r} is more than one name: pass a list of names")
    reason = _of_ranx(text.strip())
    if reason is not None:
        return ValueError(f"{text!r} {reason}")
    lowered = text.strip().lower()
    match = re.fullmatch(r"([a-z_]*[a-z])[_.@]?([0-9]*)(\(.*\))?", lowered)
    name, digits, parameters = match.groups() if match else (lowered, "", None)
    cutoff, parameters = "@" + digits if digits else "", parameters or ""
    row = METRICS.get(name)
    if row is not None and row.ambiguous and text.strip() != lowered:
        if "gain=" in parameters:
            return ValueError(f"unknown metric {text!r}: write '{name}{cutoff}{parameters}'")
        return ValueError(
            f"{text!r} {row.ambiguous}: write '{name}{cutoff}{parameters}' for exponential gain or "
            f"'{name}{cutoff}(gain=linear)' for linear gain"
        )
    known = {other: row.name for row in _ROWS for other in (row.name, *row.synonyms)}
    near = dict.fromkeys(known[n] for n in get_close_matches(name, known, n=3, cutoff=0.5))
    if name in known:
        near = {known[name]: None}
    suggestions = [repr(n + _cutoff_of(METRICS[n], cutoff) + parameters) for n in near]
    hint = (
        f"did you mean {' or '.join(suggestions)}?"
        if suggestions
        else f"there are {', '.join(METRICS)}"
    )
    return ValueError(f"unknown metric {text!r}: {hint}")


def _cutoff_of(row: MetricRow, given: str) -> str:
    """The cut-off of a suggestion."""
    if row.cutoff == "none":
        return ""
    return given or ("@10" if row.cutoff == "required" else "")
