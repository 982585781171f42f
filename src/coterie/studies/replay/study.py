"""A study of replays: data sets by policies by seeds, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from coterie.errors import DataError
from coterie.io.read import read, read_truth
from coterie.models.majority import score_vote
from coterie.studies.job import Job
from coterie.studies.pool import run_jobs
from coterie.studies.replay.policies import POLICIES
from coterie.studies.replay.replay import Point, Settings, replay

WITHIN = 0.005
"""Half a point: as good as the accuracy of all labels."""
REFERENCE = "balanced"


class Given(NamedTuple):
    """A data set on disk."""

    name: str
    labels: Path
    truth: Path


class Standing(NamedTuple):
    """How one policy did on one data set, averaged over seeds."""

    data: str
    policy: str
    labels: int  # in all
    accuracy: float  # of all labels
    needed: float  # share of the labels that first reaches it, within half a point
    early: float  # accuracy of 20 % of the labels
    stopped: float  # share of the labels at which no item is worth another
    at_stop: float  # accuracy then
    holds: float  # share of the batches after which "at most ... wrong" holds
    worst: float  # mean shortfall against balanced assignment, in standard errors


def replay_job(given: Given, policy: str, seed: int, settings: Settings) -> Job:
    """Make the job of one replay."""
    told = {"given": given, "policy": policy, "seed": seed, "settings": settings}
    return Job(f"{given.name}/{policy}/{seed}", replay_files, told)


def replay_files(given: Given, policy: str, seed: int, settings: Settings) -> list[Point]:
    """Read a data set and replay it."""
    annotations = read(given.labels, duplicates=settings.duplicates)
    return replay(annotations, read_truth(given.truth, annotations), policy, seed, settings)


def check_set(given: Given, settings: Settings) -> None:
    """Refuse a data set that cannot be read, or not be scored by its truth."""
    try:
        annotations = read(given.labels, duplicates=settings.duplicates)
        score_vote(annotations, read_truth(given.truth, annotations))
    except DataError as error:
        raise error.about(given.name) from error


def check_policies(policies: Sequence[str]) -> None:
    """Refuse a policy that there is not."""
    for name in policies:
        if name not in POLICIES:
            raise DataError(f"no policy {name!r}; there are {', '.join(POLICIES)}",
                            argument="policies")  # fmt: skip


def run_study(
    sets: Sequence[Given],
    policies: Sequence[str],
    seeds: int,
    settings: Settings,
    *,
    workers: int = 1,
    done: Callable[[str], object] = lambda name: None,
) -> pd.DataFrame:
    """Replay every data set with every policy and seed; one row per batch.

    Returns
    -------
    DataFrame
        data, policy, seed, and the fields of :class:`Point`.
    """
    check_policies(policies)
    for given in sets:
        check_set(given, settings)
    places = product(sets, policies, range(seeds))
    jobs = {place: replay_job(*place, settings) for place in places}
    place_of = {job.name: place for place, job in jobs.items()}
    rows: list[tuple[Any, ...]] = []
    for outcome in run_jobs(list(jobs.values()), workers):
        if outcome.status != "ok":
            raise DataError(f"{outcome.name}: {outcome.reason}")
        given, policy, seed = place_of[outcome.name]
        rows += [(given.name, policy, seed, *point) for point in outcome.result]
        done(outcome.name)
    curves = pd.DataFrame(rows, columns=["data", "policy", "seed", *Point._fields])
    return curves.sort_values(["data", "policy", "seed", "labels"], ignore_index=True)


def standings(curves: pd.DataFrame) -> Iterator[Standing]:
    """Say how every policy did on every data set."""
    for data, rows in curves.groupby("data"):
        total = int(rows["labels"].max())
        full = float(rows.loc[rows["labels"] == total, "accuracy"].mean())
        reference = _grid(rows[rows["policy"] == REFERENCE])
        for policy in dict.fromkeys(rows["policy"]):
            own = rows[rows["policy"] == policy]
            yield _standing(str(data), str(policy), own, (total, full, reference))


def _standing(
    data: str, policy: str, own: pd.DataFrame, known: tuple[int, float, pd.DataFrame]
) -> Standing:
    total, full, reference = known
    grid = _grid(own)
    mean, share = grid.mean(axis=1), grid.index.to_numpy(float) / total
    stops = [_stop(run, total) for _, run in own.groupby("seed")]
    stopped, at_stop = np.mean(stops, axis=0)
    needed = float(share[int(np.argmax(mean.to_numpy() >= full - WITHIN))])
    worst = _shortfall(grid, reference) if len(reference) else np.nan
    holds = float((1 - own["accuracy"] <= own["at_most_wrong"]).mean())
    early = float(np.interp(0.2, share, mean))
    return Standing(data, policy, total, full, needed, early, stopped, at_stop, holds, worst)


def _grid(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the accuracies by number of labels (rows) and seed (columns)."""
    return rows.pivot_table(index="labels", columns="seed", values="accuracy")


def _stop(run: pd.DataFrame, total: int) -> tuple[float, float]:
    """Give the share of the labels at which the rule stops, and the accuracy then."""
    later = run.iloc[1:]
    ends = later[later["asks"] == 0]
    point = ends.iloc[0] if len(ends) else run.iloc[-1]
    return float(point["labels"]) / total, float(point["accuracy"])


def _shortfall(grid: pd.DataFrame, reference: pd.DataFrame) -> float:
    """Give how far a policy falls below balanced assignment on average over its curve.

    In standard errors over seeds, whose starts are the same; below 2 is noise.
    """
    both = grid.index.intersection(reference.index)
    gap = (reference.loc[both] - grid.loc[both]).mean(axis=0)
    error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else np.nan
    return float(gap.mean() / max(error, 1e-12))
