"""How many queries stand behind the numbers, and what was not found."""

from __future__ import annotations

from typing import Any, NamedTuple


class Coverage(NamedTuple):
    """How many queries stand behind the numbers.

    Attributes
    ----------
    judged : int
        Queries in the qrels.
    evaluated : int
        Of these, found in the run.
    missing : int
        Of these, not found in the run.
    unjudged : int
        Queries of the run that are not in the qrels; not scored.
    no_relevant : int
        Judged queries without a document of grade 1 or higher.
    unmatched : int
        The evaluated queries, if for none of them a document of grade 1 or higher was found in the
        run, as deep as the metrics look, though there are some: then the ids may not be the same
        ones. Otherwise 0.
    """

    judged: int
    evaluated: int
    missing: int
    unjudged: int
    no_relevant: int
    unmatched: int = 0


Coverage.__module__ = "rankmeter"


def lost_text(query: Any, judged: Any, retrieved: Any) -> str:
    """Say that no relevant document was found in a run, with ids of both sides."""
    return (
        f"no relevant document was found for any query: query {query!r} has {judged!r:.80}, the "
        f"run has {retrieved!r:.80}; are the ids the same ones?"
    )
