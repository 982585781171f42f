"""Who changed, and when: the tables of a model whose matrices change with time."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.frames import table
from coterie.errors import Argument, CoterieError, unfit
from coterie.posterior.draws import INTERVAL
from coterie.posterior.people import codes_of

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior


LIKELY = 0.5
"""Probability of a change from which on it is dated."""


class Moments(NamedTuple):
    """All moments in a row, those of an annotator together and in the order of time."""

    annotator: NDArray[Any]  # (moments,)
    time: NDArray[Any]  # (moments,)
    n_labels: NDArray[Any]  # (moments,)
    accuracy: NDArray[Any]  # (draws, moments)


def moments_of(posterior: Posterior) -> Moments:
    """Give every moment, and its accuracy in every draw."""
    accuracy, times = posterior.drawn("accuracy_at"), posterior.annotations.times
    if accuracy is None or times is None:
        raise CoterieError(f"{posterior.model} does not know of time; fit DynamicIBCC")
    from coterie.kernels.dynamic import course_of

    settings = posterior.settings
    course = course_of(times, settings["clock"], settings["unit"], settings["step_size"])
    n = np.diff(course.moment_start)
    who = np.repeat(np.arange(len(n)), n)
    first = np.searchsorted(course.moment, np.arange(len(who)))
    flat = accuracy.reshape(-1, accuracy.shape[-1])
    return Moments(who, times.time[first], course.n_labels, flat)


def range_of(accuracy: NDArray[Any], first: NDArray[Any]) -> NDArray[Any]:
    """Give how far accuracies, shape (draws, moments), move: the highest less the lowest.

    ``first`` is where each annotator's moments begin, rising, shape (annotators,).

    Examples
    --------
    >>> range_of(np.array([[0.75, 0.25, 0.5, 0.5]]), np.array([0, 3]))
    array([[0.5, 0. ]])
    """
    most = np.maximum.reduceat(accuracy, first, axis=1)
    return np.asarray(most - np.minimum.reduceat(accuracy, first, axis=1))


def cut(course: NDArray[Any]) -> int:
    """Give where a course is best cut into two that stand still, by least squares; 0 for one.

    Examples
    --------
    >>> cut(np.array([0.9, 0.9, 0.8, 0.5, 0.5]))
    3
    """
    n = np.arange(1, len(course))
    if len(n) == 0:
        return 0
    before = np.cumsum(course)
    left, right = before[:-1], before[-1] - before[:-1]
    return int(n[np.argmax(left**2 / n + right**2 / (len(course) - n))])


@table
def drift(self: Posterior, *, margin: float = 0.1) -> pd.DataFrame:
    """One row per annotator, likeliest to have changed first (DynamicIBCC).

    Columns: annotator, n_labels; ``changed``, the probability that between some two of their
    labels their accuracy moved by more than ``margin``; ``static``, the probability that their
    walk has no steps at all, which stays near its prior where steps would be too small to see;
    ``after`` and ``when``, how many labels they had given when they changed, and the time of
    the next, if that is likely; their accuracy at the first and at the last label with 95 %
    intervals.
    """
    if not 0 <= margin < 1:
        raise unfit(Argument("margin", of="drift"), "at least 0 and below 1", margin)
    moments = moments_of(self)
    a = self.annotations
    static = self.require_draws("drift").extra["static"].values.mean(axis=(0, 1))
    heard = np.flatnonzero(a.labels_per_annotator > 0)
    first = np.searchsorted(moments.annotator, heard)
    last = np.searchsorted(moments.annotator, heard, side="right") - 1
    changed = (range_of(moments.accuracy, first) > margin).mean(axis=0)
    columns: dict[str, Any] = {
        "annotator": a.annotators[heard],
        "n_labels": a.labels_per_annotator[heard],
        "changed": changed,
        "static": static[heard],
    }
    # Where the mean course is best cut, after how many labels and when; missing if none is likely.
    course, likely = moments.accuracy.mean(axis=0), changed >= LIKELY
    turn = [
        f + cut(course[f : end + 1]) if dated else f
        for f, end, dated in zip(first, last, likely, strict=True)
    ]
    done = np.append(0, np.cumsum(moments.n_labels)).astype(np.int64)
    columns["after"] = pd.Series(done[turn] - done[first], dtype="Int64").mask(~likely)
    columns["when"] = np.where(likely, moments.time[turn], np.nan)
    for name, at in (("first", first), ("last", last)):
        columns |= dict(
            zip((name, f"{name}_low", f"{name}_high"), _course(moments, at), strict=True)
        )
    table = pd.DataFrame(columns)
    return table.sort_values("changed", ascending=False, kind="stable", ignore_index=True)


def _course(moments: Moments, at: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Give accuracies at some moments: the means, and the ends of their intervals."""
    accuracy = moments.accuracy[:, at]
    return accuracy.mean(axis=0), *np.quantile(accuracy, INTERVAL, axis=0)


@table
def trajectory(self: Posterior, annotator: Hashable) -> pd.DataFrame:
    """One row per moment of an annotator: time, accuracy, its 95 % interval (DynamicIBCC)."""
    moments = moments_of(self)
    (l,) = codes_of([annotator], self.annotations.annotators)
    at = np.flatnonzero(moments.annotator == l)
    names = ("accuracy", "accuracy_low", "accuracy_high")
    columns = dict(zip(names, _course(moments, at), strict=True))
    return pd.DataFrame({"time": moments.time[at], **columns})
