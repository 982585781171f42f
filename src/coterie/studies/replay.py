"""Replay: the real labels of dense data sets revealed as a policy asks for them.

After each batch, what is known is fitted and scored. A study is data sets by policies by seeds.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import coterie
from coterie.assign import stop
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.files.atomic import check_free, text_writer, write_set
from coterie.files.values import as_json
from coterie.io.read import read, read_truth
from coterie.io.write import table_writer
from coterie.models import make_model
from coterie.models.majority import score_vote
from coterie.posterior import Posterior
from coterie.report import base
from coterie.studies.fits import Source
from coterie.studies.policies import POLICIES, hide
from coterie.studies.pool import Job, run_jobs
from coterie.studies.table import Table, listing
from coterie.words.numbers import decimal, in_percent
from coterie.words.visible import visible

STEPS = 50
"""Batches into which all labels are cut, if nobody says how large one is."""
WITHIN = 0.005
"""Half a point: as good as the accuracy of all labels."""
NAMES = ("replay.json", "replay.csv", "replay.html", "replay.md")
WIDTH, HEIGHT = 600, 220
HEADER = (
    "data", "policy", "labels", "accuracy", "needed", "at 20 %", "stops at", "accuracy then",
    "risk holds", "below balanced",
)  # fmt: skip
MEANINGS = (
    ("accuracy", "of all labels, in %"),
    ("needed", "share of the labels that first reaches it, within half a point"),
    ("at 20 %", "accuracy of a fifth of the labels"),
    ("stops at", "share of the labels at which no item is worth another one"),
    ("risk holds", "share of the batches after which at most so many are wrong as is said"),
    ("below balanced", "mean shortfall against balanced assignment, in standard errors"),
)


class Settings(NamedTuple):
    """How labels are revealed."""

    start: int = 1  # labels of each item that are known at the start
    batch: int | None = None  # labels; None for a fiftieth of all
    model: str = "quick"
    target: float = 0.95  # of the rule to stop
    duplicates: str = "error"  # what repeated labels of a pair mean: :func:`coterie.read`


class Point(NamedTuple):
    """What is known after so many labels."""

    labels: int
    accuracy: float
    log_loss: float
    expected_wrong: float
    at_most_wrong: float
    asks: int  # items that are worth another label, by the rule to stop


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


def replay(
    annotations: Annotations, truth: pd.Series[Any], policy: str, seed: int, settings: Settings
) -> list[Point]:
    """Reveal labels until all are known; give what is known after each batch.

    Repeated labels of a pair are revealed one by one; the truth scores and nothing else. The seed
    is of the labels that are known at the start, the same for all policies, and of ties.
    """
    first, ties = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    hidden = hide(annotations, settings.start, first)
    batch = settings.batch or math.ceil(annotations.n_labels / STEPS)
    points = []
    while True:
        posterior = fit(hidden.seen(), settings.model, seed)
        score, rule = posterior.score(truth), stop(posterior, settings.target)
        risk = (rule.expected_wrong, rule.at_most_wrong, rule.counts["ask"])
        points.append(Point(int(hidden.known.sum()), score.accuracy, score.log_loss, *risk))
        if len(hidden.waiting) == 0:
            return points
        number = min(batch, len(hidden.waiting))
        hidden = hidden.revealed(POLICIES[policy](hidden, posterior, number, ties))


def fit(annotations: Annotations, model: str, seed: int) -> Posterior:
    """Fit a model to what is known, whatever there is to warn of; repeated labels all count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"random_state": seed, "duplicates": "keep", "progress": False, "n_jobs": 1}
        return make_model(model, **settings).fit(annotations).posterior_


def replay_job(given: Source, policy: str, seed: int, settings: Settings) -> Job:
    """Make the job of one replay of a data set that has a truth."""
    told = {"given": given, "policy": policy, "seed": seed, "settings": settings}
    return Job(f"{given.name}/{policy}/{seed}", replay_files, told)


def replay_files(given: Source, policy: str, seed: int, settings: Settings) -> list[Point]:
    """Read a data set and replay it."""
    return replay(*_read(given, settings), policy, seed, settings)


def _read(given: Source, settings: Settings) -> tuple[Annotations, pd.Series[Any]]:
    assert given.truth is not None
    annotations = read(given.labels, duplicates=settings.duplicates)
    return annotations, read_truth(given.truth, annotations)


def check_policies(policies: Sequence[str]) -> None:
    """Refuse a policy that there is not."""
    for name in policies:
        if name not in POLICIES:
            raise DataError(f"no policy {name!r}; there are {', '.join(POLICIES)}",
                            argument="policies")  # fmt: skip


def run_study(
    sets: Sequence[Source],
    policies: Sequence[str],
    seeds: int,
    settings: Settings,
    *,
    workers: int = 1,
    done: Callable[[str], object] = lambda name: None,
) -> pd.DataFrame:
    """Replay every data set, which has a truth, with every policy and seed; one row per batch.

    Columns are data, policy, seed, and the fields of :class:`Point`.
    """
    check_policies(policies)
    for given in sets:
        try:
            score_vote(*_read(given, settings))
        except DataError as error:
            raise error.about(given.name) from error
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
        reference = _grid(rows[rows["policy"] == "balanced"])
        for policy in dict.fromkeys(rows["policy"]):
            own = rows[rows["policy"] == policy]
            grid = _grid(own)
            mean, share = grid.mean(axis=1), grid.index.to_numpy(float) / total
            stopped, at_stop = np.mean([_stop(r, total) for _, r in own.groupby("seed")], axis=0)
            yield Standing(
                str(data),
                str(policy),
                total,
                full,
                needed=float(share[int(np.argmax(mean.to_numpy() >= full - WITHIN))]),
                early=float(np.interp(0.2, share, mean)),
                stopped=stopped,
                at_stop=at_stop,
                holds=float((1 - own["accuracy"] <= own["at_most_wrong"]).mean()),
                worst=_shortfall(grid, reference) if len(reference) else np.nan,
            )


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
    """Give a policy's mean shortfall in standard errors over seeds; below 2 is noise."""
    both = grid.index.intersection(reference.index)
    gap = (reference.loc[both] - grid.loc[both]).mean(axis=0)
    error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else np.nan
    return float(gap.mean() / max(error, 1e-12))


# ---- what people and machines read


def check_target(out: Path, *, force: bool) -> None:
    """Refuse, before any work is done, to write where an earlier study lies."""
    check_free(out, [out / name for name in NAMES], force=force)


def write_study(curves: pd.DataFrame, command: str, out: Path, *, force: bool) -> list[Path]:
    """Write ``replay.json``, ``replay.csv``, ``replay.html`` and ``replay.md``, all or none."""
    found = list(standings(curves))
    table = table_of(found)
    record = {
        "command": command,
        "version": coterie.__version__,
        "within": WITHIN,
        "standings": [one._asdict() for one in found],
    }
    page = base.make_page(
        "replay.html",
        ["coterie.studies"],
        styles=["study.css", "replay.css"],
        filters=(in_percent,),
        charts=[_chart(str(data), rows) for data, rows in curves.groupby("data")],
        table=table,
        command=command,
        meanings=MEANINGS,
        width=WIDTH,
        height=HEIGHT,
        version=coterie.__version__,
    )
    text = f"Made by `{visible(command)}`.\n\n{table.markdown()}\n\n{listing(MEANINGS)}\n"
    csv = table_writer(curves.round(5), "csv")
    each = (text_writer(as_json(record)), csv, text_writer(page), text_writer(text))
    writers = dict(zip([out / name for name in NAMES], each, strict=True))
    write_set(out, writers, force=force)
    return list(writers)


def table_of(found: Sequence[Standing]) -> Table:
    """Give the standings as a table of text, with the means of every policy below."""
    rows = [_row(one) for one in found]
    if len({one.data for one in found}) > 1:
        for policy in dict.fromkeys(one.policy for one in found):
            numbers = np.array([one[3:] for one in found if one.policy == policy], float)
            mean = _row(Standing("mean", policy, 0, *map(float, numbers.mean(axis=0))))
            rows.append([*mean[:2], "", *mean[3:-1], ""])
    return Table("Labels needed for the accuracy of all of them, in %", HEADER, rows, (0, 1))


def _row(one: Standing) -> list[str]:
    data, policy, labels, *shares, worst = one
    return [data, policy, f"{labels:,}", *(in_percent(x, 1) for x in shares), decimal(worst, 1)]


def _chart(data: str, rows: pd.DataFrame) -> dict[str, Any]:
    """Place the lines of one data set: of each policy the mean over seeds, and their band."""
    total = rows["labels"].max()
    low, high = float(rows["accuracy"].min()), float(rows["accuracy"].max())

    def height(accuracy: float) -> float:
        return HEIGHT - 4 - (accuracy - low) / max(high - low, 1e-9) * (HEIGHT - 8)

    lines = []
    for policy in dict.fromkeys(rows["policy"]):
        by_labels = rows[rows["policy"] == policy].groupby("labels")["accuracy"]
        mean, upper, lower = (
            [f"{labels / total * WIDTH:.1f},{height(accuracy):.1f}"
             for labels, accuracy in by_labels.agg(name).items()]
            for name in ("mean", "max", "min")
        )  # fmt: skip
        band = " ".join([*upper, *lower[::-1]])
        lines.append({"policy": str(policy), "points": " ".join(mean), "band": band})
    full = height(float(rows.loc[rows["labels"] == total, "accuracy"].mean()))
    return {"data": data, "low": low, "high": high, "full": full, "lines": lines}
