"""coterie aggregate: read, fit, score, show, write."""

from __future__ import annotations

import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import coterie
from coterie.annotations import Annotations
from coterie.cli import show
from coterie.io import read, read_truth, write_results
from coterie.io.write import check_target, sha256_of
from coterie.models import make_model
from coterie.posterior import Posterior


class Columns(NamedTuple):
    """Which columns to read; None guesses."""

    item: str | None
    annotator: str | None
    label: str | None


class Vocabulary(NamedTuple):
    """What may be true, what may be said, and what a repeated label means."""

    classes: list[str] | None
    extra_answers: list[str] | None
    duplicates: str


class Known(NamedTuple):
    """Labels that are clamped, and labels that only score."""

    gold: str | None
    truth: Path | None


class Job(NamedTuple):
    """What to do and where to put it."""

    model: str
    seed: int
    out: Path | None
    format: str
    force: bool


def run(source: str, columns: Columns, vocabulary: Vocabulary, known: Known, job: Job) -> None:
    """Do the main job."""
    model = make_model(job.model, random_state=job.seed, duplicates=vocabulary.duplicates)
    if job.out is not None:
        check_target(job.out, job.format, force=job.force)
    content = BytesIO(sys.stdin.buffer.read()) if source == "-" else Path(source)
    annotations = read(content, **columns._asdict(), **vocabulary._asdict(), gold=known.gold)
    truth = None if known.truth is None else read_truth(known.truth, annotations)
    show.data(source, annotations)
    start = time.perf_counter()
    posterior = model.fit(annotations).posterior_
    seconds = time.perf_counter() - start
    scores = {} if truth is None else show.scores_of(posterior, truth)
    show.summary(posterior, scores)
    if job.out is not None:
        record = describe_run(posterior, job, source, seconds, scores)
        record["input"]["sha256"] = sha256_of(content)
        show.files(write_results(posterior, job.out, record, format=job.format))


def describe_run(
    posterior: Posterior, job: Job, source: str, seconds: float, scores: dict[str, float]
) -> dict[str, Any]:
    """Say what was done: the content of ``run.json``."""
    return {
        "version": coterie.__version__,
        "model": posterior.model,
        "settings": dict(posterior.settings),
        "seed": job.seed,
        "seconds": round(seconds, 3),
        "input": {"path": source, **sizes(posterior.annotations)},
        "scores": scores,
    }


def sizes(annotations: Annotations) -> dict[str, Any]:
    """Give the sizes of the data, and the columns they came from."""
    return {
        "columns": annotations.columns,
        "items": annotations.n_items,
        "annotators": annotations.n_annotators,
        "labels": annotations.n_labels,
        "classes": annotations.classes.tolist(),
        "extra_answers": annotations.extra_answers.tolist(),
        "gold": len(annotations.gold),
    }
