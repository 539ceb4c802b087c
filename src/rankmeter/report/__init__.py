"""A comparison as a page: one HTML file that needs no network and nothing beside it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rankmeter.arguments import require
from rankmeter.doors.how import Ties
from rankmeter.doors.kinds import Qrels, Run

if TYPE_CHECKING:
    from rankmeter.experiments.comparison import Comparison

_LONE = re.compile("[\ud800-\udfff]")  # halves of characters, which UTF-8 cannot hold

_ENDS = re.compile("<(/script|!--)", re.IGNORECASE)  # what would end a script in the middle


def html(
    comparison: Comparison,
    *,
    runs: Mapping[str, Run] | None = None,
    qrels: Qrels | None = None,
    facets: Mapping[Any, Any] | None = None,
    command: str | None = None,
    title: str | None = None,
    ties: Ties = "docid",
) -> str:
    """Write a comparison as a page.

    Parameters
    ----------
    comparison : Comparison
    runs : mapping, optional
        ``{name: run}`` of all that are compared, each as for `evaluate`; and with it:
    qrels : mapping, path, binary file or table, optional
        The judgments. Without these two there are neither rankings side by side, nor metrics at
        several k, nor risk and coverage.
    facets : mapping, optional
        As for `Comparison.by`; by default what the comparison was made with.
    command : str, optional
        What makes this page again, to be shown on it.
    title : str, optional
    ties : {"docid", "input", "expected"}
        How the runs were evaluated.

    Returns
    -------
    str
        HTML, the same for the same input and the same versions of the libraries. The page may
        fetch nothing and runs no script but its own, and its Content-Security-Policy says so.

    Raises
    ------
    ImportError
        Without ``rankmeter[report]``.
    OSError
        If a file cannot be read.
    TypeError
        If only one of `runs` and `qrels` is given, or something is of the wrong type.
    ValueError
        If runs and judgments are not those that were compared, or as for `evaluate`.
    """
    jinja2 = require("jinja2", "report")
    charts_library = library()
    from rankmeter.report.charts import SPECS
    from rankmeter.report.content import Content

    content = Content(comparison, runs, qrels, facets, ties)
    charts_script = _ENDS.sub(r"<\\\1", charts_library.replace("\r", ""))
    page_script = _own("page.js")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.from_string(_own("page.html.jinja")).render(
        title=title or content.title,
        content=content,
        command=command,
        style=_own("style.css"),
        charts_script=charts_script,
        page_script=page_script,
        hashes=[_hash(charts_script), _hash(page_script)],
        data=for_script(content.data),
        specs=for_script(SPECS),
    )
    return _LONE.sub("\ufffd", page)


def for_script(content: Any) -> str:
    r"""Return JSON that is safe between the tags of a script, whatever the strings hold.

    Examples
    --------
    >>> for_script(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    from json import dumps

    from rankmeter.experiments.comparison import for_json

    text = dumps(for_json(content), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@lru_cache(maxsize=1)
def library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, which takes a second to make.

    Raises
    ------
    ImportError
        If what they come from is not installed.
    """
    script: str = require("vl_convert", "report").javascript_bundle()
    return script


def _own(name: str) -> str:
    return files("rankmeter.report").joinpath(name).read_text("utf-8").replace("\r", "")


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
