"""Places of lines and points in the page's charts, and the same charts in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie.words.numbers import count, decimal, percent

WIDTH, HEIGHT = 600, 130

STEPS = 20
"""Steps of colour of a heat map: the style has a class for each."""

Facts = dict[str, Any]


def heat(share: float | None) -> str:
    """Name the class that colours a cell of a heat map.

    Examples
    --------
    >>> heat(0.0), heat(0.51), heat(1.0), heat(None)
    ('h0', 'h10', 'h20', 'h0')
    """
    return f"h{0 if share is None else round(min(max(share, 0.0), 1.0) * STEPS)}"


def line(values: Sequence[float], low: float, high: float) -> str:
    """Place a line in a chart of 600 by 130: the points of an SVG polyline.

    Examples
    --------
    >>> line([1, 2, 3], 1, 3)
    '0,127 300,65 600,3'
    """
    across = WIDTH / max(len(values) - 1, 1)
    height = HEIGHT - 6
    up = [(value - low) / (high - low) if high > low else 0.5 for value in values]
    return " ".join(f"{k * across:.4g},{HEIGHT - 3 - y * height:.4g}" for k, y in enumerate(up))


def trace_words(trace: Facts) -> str:
    """Say what a trace shows, for those who do not see it."""
    digits = max(trace["digits"], 1)
    means = ", ".join(
        f"chain {chain} {decimal(mean, digits)}"
        for chain, mean in zip(trace["chains"], trace["means"], strict=True)
    )
    return (
        f"{trace['name']} over {count(trace['sweeps'], 'sweep')} after burn-in, between "
        f"{decimal(trace['low'], trace['digits'])} and {decimal(trace['high'], trace['digits'])}. "
        f"Means: {means}."
    )


def calibration_words(bins: list[Facts]) -> str:
    """Say what the calibration curve shows."""
    points = "; ".join(
        f"{percent(row['confidence'])} sure, {percent(row['accuracy'])} right"
        f" ({count(row['items'], 'item')})"
        for row in bins
    )
    return f"How sure the labels are against how often they are right: {points}."


def cooccurrence_words(together: Facts) -> str:
    """Say what the picture of co-occurrence shows."""
    sizes = ", ".join(str(group["size"]) for group in together["groups"][:12])
    return (
        f"Probability that two annotators share a coterie, {together['n']} by {together['n']}, "
        f"ordered by coterie; blocks along the diagonal of {sizes} annotators. "
        "The table below gives the averages."
    )
