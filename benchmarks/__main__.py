"""``python -m benchmarks``: measure, print, save."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.check import DisagreementError
from benchmarks.measure import measure
from benchmarks.report import render
from benchmarks.summary import summarize
from benchmarks.tracks import ALL_LIBRARIES, TRACK_NAMES

ROUNDS = 11
QUICK_ROUNDS = 2
# Its first call in every process takes some seconds, and a minute on a fresh machine.
TOO_SLOW_TO_START = "ranx"
RESULTS = Path(__file__).with_name("results.json")


def main() -> int:
    """Run what the command line asks for; 1 where two libraries disagree."""
    options = _options()
    results = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "rounds": options.rounds,
        "quick": options.quick,
    }
    try:
        results["tracks"] = measure(
            options.tracks, options.libraries, rounds=options.rounds, quick=options.quick
        )
    except DisagreementError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    summarize(results)
    print(render(results))
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"\nsaved: {options.output}")
    if options.chart:
        # matplotlib is needed by those who ask for a chart only.
        from benchmarks.chart import draw

        draw(results, options.chart)
        print(f"saved: {options.chart}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--tracks",
        nargs="+",
        choices=TRACK_NAMES,
        default=TRACK_NAMES,
        metavar="TRACK",
        help=f"of {', '.join(TRACK_NAMES)}; all of them by default",
    )
    parser.add_argument(
        "--libraries",
        nargs="+",
        choices=ALL_LIBRARIES,
        metavar="LIBRARY",
        help=f"of {', '.join(ALL_LIBRARIES)}; all of them by default",
    )
    parser.add_argument("--rounds", type=int, help=f"at least 2; {ROUNDS} by default")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"few queries, {QUICK_ROUNDS} rounds, without {TOO_SLOW_TO_START} "
        "unless it is named: shows that it works, measures nothing",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"the results as JSON; {RESULTS} by default, and nowhere with --quick",
    )
    parser.add_argument(
        "--chart", type=Path, metavar="FILE", help="draw the results as SVG; needs matplotlib"
    )
    options = parser.parse_args()
    if options.rounds is None:
        options.rounds = QUICK_ROUNDS if options.quick else ROUNDS
    if options.output is None and not options.quick:
        options.output = RESULTS
    if options.rounds < 2:
        parser.error("--rounds must be at least 2: there is no spread in one")
    if options.libraries is None:
        options.libraries = [
            name for name in ALL_LIBRARIES if not (options.quick and name == TOO_SLOW_TO_START)
        ]
        if options.quick:
            print(f"{TOO_SLOW_TO_START}: left out of --quick; name it to have it", file=sys.stderr)
    return options


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
