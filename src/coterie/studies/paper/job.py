"""One job: a piece of work that depends on nothing but its name, the settings and a seed."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coterie.errors import CoterieError, CoterieWarning
from coterie.studies.paper.settings import Settings

Result = dict[str, Any]
Work = Callable[..., Result]


@dataclass(frozen=True)
class Job:
    """A piece of work and what it is told.

    Two jobs of the same name are the same job, whoever asks for it: it is done once.

    Parameters
    ----------
    work
        A function of a module, called as ``work(settings, seed, **told)``; what it returns is
        ready for JSON.
    told
        Words and numbers, by name.
    """

    work: Work
    told: tuple[tuple[str, str | int | float], ...]

    @property
    def name(self) -> str:
        """What identifies the job: ``thinned data=dataset1 level=0.9 database=3 model=cbcc``."""
        return " ".join([self.kind, *(f"{key}={value}" for key, value in self.told)])

    @property
    def kind(self) -> str:
        """The name of the work."""
        return self.work.__name__

    def get(self, key: str) -> Any:
        """Give something it is told, or None."""
        return dict(self.told).get(key)


def job(work: Work, **told: str | int | float) -> Job:
    """Make a job.

    Examples
    --------
    >>> from coterie.studies.paper.work import describe
    >>> job(describe, data="rte").name
    'describe data=rte'
    """
    return Job(work, tuple(told.items()))


def seed_of(root: int, name: str) -> int:
    """Derive a seed from a name: the order of jobs, or which others there are, changes nothing.

    Examples
    --------
    >>> seed_of(0, "real data=rte") == seed_of(0, "real data=rte") != seed_of(1, "real data=rte")
    True
    """
    words = np.random.SeedSequence([root, *name.encode()]).generate_state(2, np.uint64)
    return int(words[0])


class Outcome(NamedTuple):
    """What became of a job: a result, or the reason why there is none."""

    job: Job
    seed: int
    seconds: float
    result: Result | None
    error: str = ""


def perform(job: Job, settings: Settings) -> Outcome:
    """Do a job in this process; an error is an outcome.

    Warnings are silenced: whether chains agree is part of the results.
    """
    seed = seed_of(settings.seed, job.name)
    start = time.perf_counter()
    result, error = None, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoterieWarning)
        try:
            result = job.work(settings, seed, **dict(job.told))
        except CoterieError as problem:
            error = str(problem)
        except Exception as problem:  # one job must not take the others with it
            place = traceback.extract_tb(problem.__traceback__)[-1]
            where = f"{Path(place.filename).name}, line {place.lineno}"
            error = f"{type(problem).__name__}: {problem} ({where})"
    return Outcome(job, seed, time.perf_counter() - start, result, error)


Results = Mapping[str, Result]
"""Results by the names of the jobs."""
