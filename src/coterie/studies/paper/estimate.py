"""How long it will take: measured on this machine for a second, then scaled to each job."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping

import coterie
from coterie.datasets import REGISTRY
from coterie.errors import CoterieWarning
from coterie.studies.job import Job
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.sparsity_real import own_sparsity
from coterie.studies.paper.thinning import n_kept
from coterie.studies.paper.work import SAMPLERS

PER_SWEEP, PER_MEMBER = 1_000, 10
"""What a sweep, and in it an item or annotator, costs in labels; rough, from sets of all sizes."""
FIXED = 0.15
"""Seconds of a fit that are not sweeps: reading, scoring."""
CROWD_SECONDS = 0.001
TRIAL_SWEEPS = 200

Speed = Mapping[str, float]
"""Seconds per sweep and unit of size, by model."""


def measure() -> Speed:
    """Time each sampler on a small crowd; this also compiles what is not yet compiled."""
    crowd = coterie.simulate(items=300, annotators=60, labels_per_item=10, random_state=0)
    speed = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoterieWarning)
        for name, model in SAMPLERS.items():
            trial = model(burn_in=1, early_stop=False, chains=1, random_state=0, progress=False)
            trial.set_params(sweeps=2).fit(crowd.annotations)
            start = time.perf_counter()
            trial.set_params(sweeps=TRIAL_SWEEPS).fit(crowd.annotations)
            seconds = time.perf_counter() - start
            speed[name] = seconds / (TRIAL_SWEEPS * _size(300, 60, 3_000, 3))
    return speed


def _size(items: int, annotators: int, labels: int, classes: int) -> float:
    return PER_SWEEP + (labels + PER_MEMBER * (items + annotators)) * classes**2 / 9


def seconds(job: Job, settings: Settings, speed: Speed) -> float:
    """Estimate the seconds of a job on one core."""
    kind = job.kind
    if kind == "correlation":
        return CROWD_SECONDS * settings.crowds
    if kind == "limit":
        return 3 * settings.chains * settings.sweeps * speed["hcbcc"] * _size(60, 12, 360, 3)
    model = job.told.get("model", "")
    if model not in speed:
        return FIXED
    chains = 1 if kind == "thinned" else settings.chains
    return FIXED + chains * settings.sweeps * speed[model] * _size(*_sizes(job, settings))


def _sizes(job: Job, settings: Settings) -> tuple[int, int, int, int]:
    """Give the items, annotators, labels and classes that a job fits."""
    entry = REGISTRY.get(job.told.get("data", ""))
    items, annotators = (
        (settings.items, settings.annotators) if entry is None else (entry.items, entry.annotators)
    )
    level = job.told["level"] if "level" in job.told else own_sparsity(job.told["data"])
    classes = 3 if entry is None else len(entry.classes)
    return items, annotators, n_kept(items, annotators, level), classes
