"""Small tables as text, Markdown and HTML, for what is printed without any further package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Style = Literal["text", "markdown", "html"]


def render(
    header: Sequence[str], rows: Sequence[Sequence[str]], style: Style, *, left: int = 1
) -> str:
    """Lay out a table.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
        Each as long as the header.
    style : {"text", "markdown", "html"}
    left : int
        So many columns are aligned to the left, the others to the right.

    Returns
    -------
    str
        Without a newline at the end.

    Examples
    --------
    >>> print(render(["metric", "mean"], [["mrr", "0.5"]], "text"))
    metric  mean
    mrr      0.5
    """
    if style == "html":
        return _html(header, rows, left)
    table = [list(header), *map(list, rows)]
    if style == "markdown":
        table = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in table]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    if style == "text":
        return "\n".join("  ".join(_aligned(row, widths, left)).rstrip() for row in table)
    rule = ["-" * width if i < left else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines = [_aligned(table[0], widths, left), rule]
    lines += [_aligned(row, widths, left) for row in table[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _aligned(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    return [
        cell.ljust(width) if i < left else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def _html(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    from html import escape  # its table of entities is large

    def line(tag: str, cells: Sequence[str]) -> str:
        styles = ["left" if i < left else "right" for i in range(len(cells))]
        return "".join(
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
            for side, cell in zip(styles, cells, strict=True)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    head = f"<tr>{line('th', header)}</tr>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
