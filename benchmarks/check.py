"""No race against a library that computes something else."""

from __future__ import annotations

from collections.abc import Mapping

TOLERANCE = 1e-9
RANDOM = 0.15  # p-values: 2,000 draws, and not everybody counts sums that only rounding sets apart
ROUNDED = {"trec_eval": 5e-5}  # prints four digits


class DisagreementError(Exception):
    """Two libraries give different values to a metric that they define alike."""


def check_means(means: Mapping[str, Mapping[str, float]]) -> None:
    """Compare every library with the first one, metric by metric.

    A library whose nDCG has another gain returns it under another name, which is not compared.
    Every other metric of the first library must be there.
    """
    (first, expected), *others = means.items()
    for library, values in others:
        exact = TOLERANCE + ROUNDED.get(first, 0) + ROUNDED.get(library, 0)
        for metric, value in expected.items():
            if metric not in values and metric.startswith("ndcg"):
                continue
            if metric not in values:
                raise DisagreementError(f"{library} has no {metric}")
            tolerance = RANDOM if metric.endswith(" p") else exact
            # Written so that a NaN fails, too.
            if not abs(values[metric] - value) <= tolerance:
                raise DisagreementError(
                    f"{metric}: {value!r} from {first}, {values[metric]!r} from {library}"
                )
