"""The bootstrap, written out: the random words, the rows that they draw, and means of these."""

from __future__ import annotations

from collections.abc import Sequence

MASK = 2**64 - 1


def mixed(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def drawn_rows(rows: int, draw: int, seed: int = 0) -> list[int]:
    """As many rows as there are, two of each word."""
    drawn = []
    for i in range(rows):
        position = draw * ((rows + 1) // 2) + i // 2
        word = mixed(mixed(seed) + (position + 1) * 0x9E3779B97F4A7C15 & MASK)
        drawn.append((word >> 32 if i % 2 else word & 0xFFFFFFFF) * rows >> 32)
    return drawn


def sampled_means(values: Sequence[float], draws: int, seed: int = 0) -> list[float]:
    """The mean of each sample, added up in the order of the draw."""
    means = []
    for draw in range(draws):
        total = 0.0
        for row in drawn_rows(len(values), draw, seed):
            total += values[row]
        means.append(total / len(values))
    return means


def quantile(sample: Sequence[float], share: float) -> float:
    """Between the two nearest, in proportion."""
    ordered = sorted(sample)
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def middle(sample: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Where that share of the sample lies."""
    tail = (1 - confidence) / 2
    return quantile(sample, tail), quantile(sample, 1 - tail)
