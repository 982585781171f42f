"""coterie aggregate: read, fit, score, show, write."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from coterie.annotations import Annotations
from coterie.cli import show
from coterie.io import read, read_truth
from coterie.io.files import find
from coterie.io.write import check_free, targets, write_tables
from coterie.models import make_model
from coterie.posterior import Posterior
from coterie.version import __version__

TABLES = ("labels", "annotators")


class Job(NamedTuple):
    """What to do, and where to put it."""

    model: str
    settings: Mapping[str, Any]  # of the model, where it has them
    truth: Path | None
    out: Path | None
    format: str
    force: bool


def run(source: str, reading: Mapping[str, Any], job: Job) -> None:
    """Do the main job; ``reading`` are the options of :func:`coterie.read`."""
    model = make_model(job.model, **job.settings)
    paths = places(job)
    file = find(source)
    annotations = read(file, **reading)
    truth = None if job.truth is None else read_truth(job.truth)
    show.data(source, annotations)
    start = time.perf_counter()
    posterior = model.fit(annotations).posterior_
    seconds = time.perf_counter() - start
    scores = {} if truth is None else show.scores_of(posterior, truth)
    show.summary(posterior, scores)
    if paths:
        record = {
            **describe(posterior, job, seconds, scores),
            "input": {"path": source, "sha256": file.sha256(), **sizes(annotations)},
        }
        write(posterior, paths, record)
        show.files(list(paths.values()))


def places(job: Job) -> dict[str, Path]:
    """Name the files to write, and check before any work that they may be written."""
    if job.out is None:
        return {}
    paths = {**targets(job.out, TABLES, job.format), "run": job.out / "run.json"}
    check_free(job.out, paths.values(), force=job.force)
    return paths


def write(posterior: Posterior, paths: Mapping[str, Path], record: Mapping[str, Any]) -> None:
    """Write the tables and the record of the run, all or nothing."""
    tables: dict[Path, pd.DataFrame] = {
        paths["labels"]: posterior.labels(),
        paths["annotators"]: posterior.annotators(),
    }
    write_tables(tables, {paths["run"]: record})


def describe(
    posterior: Posterior, job: Job, seconds: float, scores: Mapping[str, float]
) -> dict[str, Any]:
    """Say what was done: the head of ``run.json``."""
    return {
        "version": __version__,
        "model": posterior.model,
        "settings": dict(posterior.settings),
        "seed": job.settings["random_state"],
        "seconds": round(seconds, 3),
        "scores": dict(scores),
    }


def sizes(annotations: Annotations) -> dict[str, Any]:
    """Give the sizes of the data, and where they came from."""
    return {
        "origin": annotations.origin,
        "items": annotations.n_items,
        "annotators": annotations.n_annotators,
        "labels": annotations.n_labels,
        "classes": annotations.classes.tolist(),
        "extra_answers": annotations.extra_answers.tolist(),
        "gold": len(annotations.gold),
    }
