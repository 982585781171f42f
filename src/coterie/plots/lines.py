"""Lines and points: accuracies with their intervals, chains, accuracy in time, reliability."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from coterie.diagnostics import Quantity, quantities_of
from coterie.errors import DataError
from coterie.metrics.scores import chance_interval
from coterie.numeric import Array, LongArray
from coterie.plots.colours import (
    COLUMN_INCHES,
    DARK,
    LEAST_POINTS,
    LETTER,
    LINE,
    LONGEST,
    LOOKS,
    PLAIN,
    POINTS,
    REST,
    Look,
    font_size,
    lay_out,
    legend_beside,
    literal,
    literals,
    look_of,
    open_frame,
    room,
)  # fmt: skip
from coterie.words.names import name
from coterie.words.numbers import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coterie.posterior import Posterior

INTERVAL = "accuracy (95 % interval)"
MOST_COTERIES = 20
"""Coteries of a figure that fits a page."""
ROLE_WIDTH = 26
"""Characters of a role on one line."""
ROLE_LINES = 2
"""Lines of a role, at most."""
LEADING = 1.2
"""From line to line, as a multiple of the font size."""
POINT = 4.0
"""Size of a point, in points; smaller where many stand side by side."""
THICK = 1.0
"""Width of an interval, in points."""
COTERIES = Quantity("n_coteries")
"""A small whole number, which chains share."""
APART = 0.06
"""Between a whole number and the dots of a chain, at most, so that they are seen to be equal."""
LABEL_WIDTH = 22
"""Characters of the axis' label on one line: a new figure is not tall."""
GAP = 5.0
"""Points between the axes, the counts above them and the title."""


def draw_coteries(ax: Axes, table: pd.DataFrame) -> None:
    """Draw the accuracy of each coterie, the largest on top, with its role and size."""
    ax.set_xlabel(literal(INTERVAL, LINE))
    lay_out(ax)
    _, height = room(ax, 1, 1)
    most = max(1, min(MOST_COTERIES, int(height / (LEADING * LEAST_POINTS))))
    left_out = len(table) - most
    table = table.head(most)
    for row, coterie in enumerate(table["coterie"]):
        one, look = table.iloc[[row]], look_of(coterie)
        ax.hlines([row], one["accuracy_low"], one["accuracy_high"], color=look.color, lw=THICK)
        ax.plot(one["accuracy"], [row], look.marker, color=look.color, ms=POINT)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    what = _name_coteries(ax, table, height / len(table))
    what += f", {left_out:,} smaller ones not shown" if left_out > 0 else ""
    letters = max(1, int(height / (LETTER * font_size(ax))))
    ax.set_ylabel(textwrap.fill(what, letters, break_long_words=False))
    open_frame(ax)


def _name_coteries(ax: Axes, table: pd.DataFrame, height: float) -> str:
    """Write role and size of each, on one line if rows of these points are low; say what is."""
    ax.set_yticks(range(len(table)))
    size = float(ax.get_yticklabels()[0].get_fontsize())
    what, names, short = "coterie", [], []
    for m, role, n in zip(table["coterie"], table["role"], table["size"], strict=True):
        called = f"{m}: {role}"
        lines = textwrap.wrap(called, ROLE_WIDTH, max_lines=ROLE_LINES, placeholder="…")
        names.append("\n".join(literal(part, LINE) for part in (*lines, count(n, "annotator"))))
        short.append(f"{literal(called, ROLE_WIDTH)} ({n:,})")
    if LEADING * size * (1 + max(label.count("\n") for label in names)) > height:
        what, names = "coterie (annotators)", short
    ax.set_yticks(range(len(table)), names, fontsize=min(size, height / LEADING))
    return what


def rank(table: pd.DataFrame) -> pd.DataFrame:
    """Give the annotators with labels, the most accurate first."""
    labelled = table[table["n_labels"] > 0]
    return labelled.sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)


def height_of_names(table: pd.DataFrame) -> float:
    """Give the inches that the names under a new figure take, none if they do not fit."""
    size = _name_size(POINTS, 0.75 * COLUMN_INCHES * 72 / max(len(table), 1))
    longest = max((min(len(str(name)), LONGEST) for name in table["annotator"]), default=0)
    return size * LETTER * longest / 72


def draw_annotators(ax: Axes, table: pd.DataFrame) -> None:
    """Draw the accuracy of each annotator in the order of the table, one colour a coterie."""
    width, _ = room(ax, len(table), 1)
    sampled = "accuracy_low" in table
    size = min(POINT, max(1.0, width))
    for look, label, some in _looks(table):
        if sampled:
            low, high = some["accuracy_low"], some["accuracy_high"]
            ax.vlines(some.index, low, high, color=look.color, lw=min(THICK, 0.6 * width))
        ax.plot(some.index, some["accuracy"], look.marker, color=look.color, ms=size, label=label)
    ax.set_xlim(-0.5 - 0.01 * len(table), len(table) - 0.5 + 0.01 * len(table))
    ax.set_ylim(0, 1)
    ax.set_ylabel(literal(INTERVAL, LINE) if sampled else "accuracy")
    letters = _name_size(font_size(ax), width)
    if letters:
        names = literals(table["annotator"])
        ax.set_xticks(range(len(table)), names, rotation=90, fontsize=letters)
        ax.set_xlabel("annotator")
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(table):,} annotators, by accuracy")
    open_frame(ax)
    if "coterie" in table:
        legend_beside(ax, "coterie", markerscale=POINT / size)


def _looks(table: pd.DataFrame) -> Iterator[tuple[Look, str, pd.DataFrame]]:
    """Give each coterie's look, name and rows; those without a look of their own together."""
    if "coterie" not in table:
        yield PLAIN, "annotators", table
        return
    coterie = table["coterie"].to_numpy(np.int64)
    for m in np.unique(coterie[coterie <= len(LOOKS)]).tolist():
        yield look_of(m), str(m), table[coterie == m]
    if (coterie > len(LOOKS)).any():
        yield REST, "others", table[coterie > len(LOOKS)]


def _name_size(wish: float, width: float) -> float:
    """Give the font size of names this far apart; 0 if they do not fit."""
    size = min(wish, 0.9 * width)  # turned text is as wide as it is high: a tenth between names
    return size if size >= LEAST_POINTS else 0.0


class Trace(NamedTuple):
    """One quantity of several chains."""

    label: str
    chain: list[int]  # (chains,)          numbers of the chains, from one
    sweep: LongArray  # (recorded,)       numbers of the sweeps, from one
    value: Array  # (chains, recorded)
    whole: bool  # whether the values are small whole numbers


def trace_of(posterior: Posterior, quantity: str | None) -> Trace:
    """Give a quantity at the sweeps at which it was recorded: n_coteries, or a watched one."""
    draws = posterior.require_draws("a trace")
    watched: dict[Quantity, Array] = {**quantities_of(draws.trace)}
    sweeps = next(iter(watched.values())).shape[1] if watched else None
    grouped = posterior.abilities.coteries
    wanted = quantity or ("n_coteries" if grouped else "log_joint")
    if grouped or wanted == str(COTERIES):  # says so if the model finds none
        watched.pop(COTERIES, None)
        watched = {COTERIES: posterior.n_coteries, **watched}
    found = next((one for one in watched if str(one) == wanted), None)
    if found is None:
        known = ", ".join(map(str, watched)) or "none"
        raise DataError(f"no trace of {wanted!r}; there are {known}")
    value = watched[found]
    # Watched quantities are recorded at every sweep, draws at every so many.
    step = (sweeps or value.shape[1]) // value.shape[1]
    start = int(posterior.run.get("burn_in", 0))
    sweep = start + step * np.arange(1, value.shape[1] + 1)
    gone, label = posterior.run.get("left_out", {}), str(found).replace("_", " ")
    chains = [k for k in range(1, len(value) + len(gone) + 1) if str(k) not in gone]
    if found.name == "class_total" and found.index is not None:
        label = f"items of class {literal(posterior.annotations.classes[found.index])}"
        label = textwrap.fill(label, LABEL_WIDTH, break_long_words=False)
    elif found == COTERIES:
        label = "number of coteries"
    return Trace(label, chains[: len(value)], sweep, value, found == COTERIES)


def draw_trace(ax: Axes, trace: Trace) -> None:
    """Draw one line per chain; whole numbers as dots, a little apart, for lines would hide them."""
    from matplotlib.ticker import MaxNLocator

    style = {"ls": "none", "marker": ".", "ms": 2.5, "mew": 0} if trace.whole else {"lw": 0.5}
    n, most = len(trace.chain), 0.0
    if trace.whole and n > 1:
        # Whole numbers are moved by half a dot: in axes as tall as the values' span and one more on
        # either side, 1.2 % of the height.
        most = min(APART, 0.012 * (np.ptp(trace.value) + 2))
    for k, value, up in zip(trace.chain, trace.value, np.linspace(-most, most, n), strict=True):
        color = LOOKS[(k - 1) % len(LOOKS)].color
        ax.plot(trace.sweep, value + up, color=color, alpha=0.7, label=f"{k}", **style)
    ax.set_xlabel("sweep")
    ax.set_ylabel(trace.label)
    ax.margins(x=0)
    if trace.whole:
        # One more on either side: a number that never changes gets an axis it can be read from.
        ax.set_ylim(trace.value.min() - 1, trace.value.max() + 1)
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    open_frame(ax)
    legend = legend_beside(ax, "chain")
    for line in legend.get_lines():
        line.set(linewidth=1.5, markersize=6, alpha=1)


def draw_reliability(ax: Axes, table: pd.DataFrame, error: float) -> None:
    """Draw how often labels are right against how sure they are, with the items of each bin."""
    table = table[table["items"] > 0]
    low, high = chance_interval(table)
    ax.plot([0, 1], [0, 1], ls="--", lw=0.8, color=DARK)
    confidence, color = table["confidence"], LOOKS[0].color
    ax.vlines(confidence, low, high, color=color, lw=1, clip_on=False)
    ax.plot(confidence, table["accuracy"], "o-", color=color, ms=4, lw=0.5, clip_on=False)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set_xlabel("probability of the label")
    ax.set_ylabel("share of labels that are right")
    above = _write_counts(ax, table)
    ax.set_title(f"ECE {error:.3f}", fontsize=font_size(ax), pad=above)
    open_frame(ax)


def _write_counts(ax: Axes, table: pd.DataFrame) -> float:
    """Write the number of items of each bin above it; give the points that they reach up to."""
    from matplotlib.transforms import ScaledTranslation

    counts = [f"{items:,}" for items in table["items"]]
    size = 0.8 * font_size(ax)
    bin_points = (table["high"] - table["low"]).min() * min(room(ax, 1, 1))
    width = LETTER * size * max(map(len, counts))
    turn = 90 if width > bin_points else 0
    above = ax.get_xaxis_transform() + ScaledTranslation(0, GAP / 72, ax.figure.dpi_scale_trans)
    ax.text(0, 1, "items", transform=above, ha="right", fontsize=size)
    for number, centre in zip(counts, (table["low"] + table["high"]) / 2, strict=True):
        ax.text(centre, 1, number, transform=above, ha="center", fontsize=size, rotation=turn)
    return 2 * GAP + (width if turn else size)


def draw_drift(ax: Axes, courses: dict[Hashable, pd.DataFrame]) -> None:
    """Draw the accuracy of some annotators against their labels, with 95 % bands."""
    for k, (annotator, course) in enumerate(courses.items()):
        color, at = LOOKS[k % len(LOOKS)].color, range(1, len(course) + 1)
        low, high = course["accuracy_low"], course["accuracy_high"]
        ax.fill_between(at, low, high, color=color, alpha=0.2, lw=0)
        ax.plot(at, course["accuracy"], color=color, lw=1, label=name(annotator))
    ax.set(ylim=(0, 1), xlabel="moment", ylabel="accuracy")
    ax.legend(frameon=False)
    open_frame(ax)
