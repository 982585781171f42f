"""coterie aggregate: read, fit, score, show, write."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from coterie.annotations import Annotations
from coterie.cli import show
from coterie.io import read, read_truth
from coterie.io.files import find
from coterie.io.write import (
    Writer,
    check_free,
    json_writer,
    table_writer,
    targets,
    write_together,
)
from coterie.models import SamplingEstimator, make_model
from coterie.posterior import Posterior
from coterie.version import __version__


class Job(NamedTuple):
    """What to do, and where to put it."""

    model: str
    settings: Mapping[str, Any]  # of the model, where it has them
    truth: Path | None
    out: Path | None
    format: str
    force: bool


def run(source: str, reading: Mapping[str, Any], job: Job) -> bool:
    """Do the main job; ``reading`` are the options of :func:`coterie.read`.

    Returns
    -------
    Whether the result has converged.
    """
    model = make_model(job.model, **job.settings)
    paths = places(job, isinstance(model, SamplingEstimator))
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
        write(posterior, paths, record, job.format)
        show.files(list(paths.values()))
    show.convergence(posterior)
    return posterior.converged


def places(job: Job, sampled: bool) -> dict[str, Path]:
    """Name the files to write, and check before any work that they may be written."""
    if job.out is None:
        return {}
    tables = ["labels", "annotators", *(["diagnostics"] if sampled else [])]
    paths = targets(job.out, tables, job.format)
    paths |= {"run": job.out / "run.json", "posterior": job.out / "run.coterie"}
    check_free(job.out, paths.values(), force=job.force)
    return paths


def write(
    posterior: Posterior, paths: Mapping[str, Path], record: Mapping[str, Any], format: str
) -> None:
    """Write the tables, the record of the run and the posterior itself, all or nothing."""
    writers: dict[str, Writer] = {
        "labels": table_writer(posterior.labels(), format),
        "annotators": table_writer(posterior.annotators(), format),
        "run": json_writer(record),
        "posterior": posterior.save,
    }
    if "diagnostics" in paths:
        writers["diagnostics"] = table_writer(posterior.diagnostics(), format)
    write_together({path: writers[name] for name, path in paths.items()})


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
        "converged": posterior.converged,
        "run": dict(posterior.run),
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
