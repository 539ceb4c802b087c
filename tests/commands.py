"""The command, called in this process."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from rankmeter.cli.commands import main


class Outcome(NamedTuple):
    """What one call did."""

    code: object
    out: str
    err: str


class Runner:
    """Call the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *argv: str) -> Outcome:
        try:
            code: object = main(argv)
        except SystemExit as end:
            code = end.code
        out, err = self.capsys.readouterr()
        return Outcome(code, out, err)

    def well(self, *argv: str) -> str:
        """Run what must go well and say nothing on standard error."""
        outcome = self(*argv)
        assert (outcome.code, outcome.err) == (0, "")
        return outcome.out

    def bad_input(self, *argv: str) -> str:
        """Run what must be refused in one line; return that line without the name in front."""
        outcome = self(*argv)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.startswith("rankmeter: ")
        assert outcome.err.count("\n") == 1
        return outcome.err.removeprefix("rankmeter: ").rstrip("\n")

    def bad_usage(self, *argv: str) -> str:
        """Run what must be refused with a word on how to write it."""
        outcome = self(*argv)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("usage: rankmeter")
        return outcome.err


def cells(table: str) -> list[list[str]]:
    """The words of each line."""
    return [line.split() for line in table.splitlines()]
