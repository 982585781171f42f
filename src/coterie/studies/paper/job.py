"""The paper's jobs: named by their work and what it is told, and seeded by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from coterie.studies.job import Job
from coterie.studies.paper.settings import Settings

Result = dict[str, Any]
"""What a job gives, ready for JSON."""
Results = Mapping[str, Result]
"""Results by the names of the jobs."""


def job(work: Callable[..., Result], **told: str | int | float) -> Job:
    """Make a job, whoever asks for it: of one name it is done once.

    Parameters
    ----------
    work
        Called as ``work(settings=..., seed=..., **told)``.
    told
        Words and numbers, by name.

    Examples
    --------
    >>> from coterie.studies.paper.work import describe
    >>> job(describe, data="rte").name
    'describe data=rte'
    """
    words = [f"{key}={value}" for key, value in told.items()]
    return Job(" ".join([work.__name__, *words]), work, told)


def seed_of(root: int, name: str) -> int:
    """Derive a seed from a name: the order of jobs, or which others there are, changes nothing.

    Examples
    --------
    >>> seed_of(0, "real data=rte") == seed_of(0, "real data=rte") != seed_of(1, "real data=rte")
    True
    """
    words = np.random.SeedSequence([root, *name.encode()]).generate_state(2, np.uint64)
    return int(words[0])


def seeded(job: Job, settings: Settings) -> Job:
    """Give a job that can be done: it is told the settings and its seed too."""
    seed = seed_of(settings.seed, job.name)
    return replace(job, told={"settings": settings, "seed": seed, **job.told})
