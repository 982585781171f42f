"""Who changed, and when: the tables of a model whose matrices change with time."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.errors import CoterieError
from coterie.posterior.draws import INTERVAL
from coterie.posterior.people import codes_of

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior


def moments_of(posterior: Posterior) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Give each moment's annotator and time, and its accuracy in every draw, (draws, moments)."""
    draws, times = posterior.draws, posterior.annotations.times
    if draws is None or times is None or "accuracy_at" not in draws.extra:
        raise CoterieError(f"{posterior.model} does not know of time; fit DynamicIBCC")
    from coterie.kernels.gibbs.dynamic.course import course_of

    settings = posterior.settings
    course = course_of(times, settings["clock"], settings["unit"], settings["step_size"])
    accuracy = draws.extra["accuracy_at"].values
    n = np.diff(course.moment_start)
    who = np.repeat(np.arange(len(n)), n)
    first = np.searchsorted(course.moment, np.arange(len(who)))
    return who, times.time[first], accuracy.reshape(-1, accuracy.shape[-1])


def drift_table(posterior: Posterior) -> pd.DataFrame:
    """Give one row per annotator; see :meth:`coterie.posterior.Posterior.drift`."""
    who, _, accuracy = moments_of(posterior)
    assert posterior.draws is not None
    a = posterior.annotations
    static = posterior.draws.extra["static"].values.mean(axis=(0, 1))
    heard = np.flatnonzero(a.labels_per_annotator > 0)
    first = np.searchsorted(who, heard)
    last = np.searchsorted(who, heard, side="right") - 1
    columns: dict[str, Any] = {
        "annotator": a.annotators[heard],
        "n_labels": a.labels_per_annotator[heard],
        "changed": 1 - static[heard],
    }
    for name, at in (("first", first), ("last", last)):
        low, high = np.quantile(accuracy[:, at], INTERVAL, axis=0)
        columns |= {name: accuracy[:, at].mean(axis=0), f"{name}_low": low, f"{name}_high": high}
    table = pd.DataFrame(columns)
    return table.sort_values("changed", ascending=False, kind="stable", ignore_index=True)


def trajectory_table(posterior: Posterior, annotator: Hashable) -> pd.DataFrame:
    """Give one row per moment; see :meth:`coterie.posterior.Posterior.trajectory`."""
    who, time, accuracy = moments_of(posterior)
    (l,) = codes_of([annotator], posterior.annotations.annotators)
    at = np.flatnonzero(who == l)
    low, high = np.quantile(accuracy[:, at], INTERVAL, axis=0)
    return pd.DataFrame(
        {
            "time": time[at],
            "accuracy": accuracy[:, at].mean(axis=0),
            "accuracy_low": low,
            "accuracy_high": high,
        }
    )
