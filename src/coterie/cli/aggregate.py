"""coterie aggregate: read, fit, score, show, write."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from coterie.cli import show
from coterie.cli.ahead import compiling_ahead
from coterie.data.annotations import Annotations
from coterie.files.atomic import Writer, check_free, write_files
from coterie.io import read, read_truth
from coterie.io.files import File, find
from coterie.io.write import FORMATS, json_writer, other_formats, table_writer, targets
from coterie.models import Estimator, MajorityVote, make_model
from coterie.posterior import Posterior
from coterie.posterior.store import writer as posterior_writer
from coterie.version import __version__

TABLES = ("labels", "annotators", "coteries", "diagnostics")
"""Methods of a posterior, and files."""


class Job(NamedTuple):
    """What to do, and where to put it."""

    model: str
    settings: Mapping[str, Any]  # of the model, where it has them
    truth: Path | None
    out: Path | None
    format: str
    force: bool
    report: bool = True


def run(source: str, reading: Mapping[str, Any], job: Job) -> bool:
    """Do the main job; ``reading`` are the options of :func:`coterie.read`.

    Returns
    -------
    Whether the result has converged.
    """
    model = make_model(job.model, **job.settings)
    paths = places(job, model)
    file = find(source)
    annotations = read(file, **reading)
    show.data(source, annotations)
    vote = MajorityVote(duplicates="keep").fit(annotations).posterior_
    # Before the long part: a truth that does not fit is noticed now.
    truth = None if job.truth is None else read_truth(job.truth, annotations)
    scores = {} if truth is None else {vote.model: vote.score(truth)}
    if any(score.items == 0 for score in scores.values()):
        show.nothing_to_score()
        scores = {}
    start = time.perf_counter()
    with compiling_ahead(model):
        posterior = model.fit(annotations).posterior_
    seconds = time.perf_counter() - start
    if truth is not None and scores:
        scores[posterior.model] = posterior.score(truth)
    record = {
        **describe(posterior, job, seconds),
        "scores": scores[posterior.model].numbers() if scores else {},
        "input": {**checked(source, file), **sizes(annotations)},
        "gold": gold_facts(annotations),
        "truth": None if job.truth is None else checked(str(job.truth), find(job.truth)),
    }
    write(posterior, paths, record, truth)
    show.result(posterior, scores, list(paths.values()))
    return posterior.converged


def places(job: Job, model: Estimator) -> dict[str, Path]:
    """Name the files to write, and check before any work that they may be written."""
    if job.out is None:
        return {}
    tables = ["labels", "annotators"]
    tables += ["coteries"] if model.abilities.coteries else []
    tables += ["diagnostics"] if model.method == "gibbs" else []
    paths = targets(job.out, tables, job.format)
    paths |= {"run": job.out / "run.json", "posterior": job.out / "run.coterie"}
    if job.report:
        paths["report"] = job.out / "report.html"
    check_free(job.out, [*paths.values(), *other_formats(paths.values())], force=job.force)
    return paths


def write(
    posterior: Posterior,
    paths: Mapping[str, Path],
    record: Mapping[str, Any],
    truth: pd.Series | None,
) -> None:
    """Write tables, the record of the run, the posterior and its report, all or nothing."""
    if not paths:
        return
    writers: dict[str, Writer] = {
        name: table_writer(getattr(posterior, name)(), record["format"])
        for name in TABLES
        if name in paths
    }
    writers["run"] = json_writer(record)
    writers["posterior"] = posterior_writer(posterior)
    if "report" in paths:
        from coterie.report.page import writer

        writers["report"] = writer(posterior, truth=truth, record=record)
    write_files({path: writers[name] for name, path in paths.items()}, remove=leavings(paths))


def leavings(paths: Mapping[str, Path]) -> list[Path]:
    """Name all files that a run may leave where this one writes."""
    out = paths["run"].parent
    tables = [out / f"{name}.{format}" for name in TABLES for format in FORMATS]
    return [*tables, out / "report.html"]


def command() -> str:
    """Give the command line, as it can be typed again."""
    return shlex.join(["coterie", *(word for word in sys.argv[1:] if word != "--force")])


def describe(posterior: Posterior, job: Job, seconds: float) -> dict[str, Any]:
    """Say what was done: the head of ``run.json``."""
    return {
        "version": __version__,
        "command": command(),
        "model": posterior.model,
        "settings": dict(posterior.settings),
        "seed": job.settings["random_state"],
        "format": job.format,
        "seconds": round(seconds, 3),
        "converged": posterior.converged,
        "run": dict(posterior.run),
    }


def checked(path: str, file: File) -> dict[str, Any]:
    """Say which file was read, with its checksum."""
    return {"path": path, "sha256": file.sha256()}


def gold_facts(annotations: Annotations) -> dict[str, Any] | None:
    """Say where the known labels came from: a column of the input, or a file of their own."""
    if annotations.provenance is None or annotations.provenance.gold is None:
        return None
    gold = annotations.provenance.gold
    if gold.source is None:
        where: dict[str, Any] = {"column": gold.column}
    elif gold.source.path in (None, "-"):  # standard input cannot be read again
        where = {"path": gold.source.path}
    else:
        where = checked(str(gold.source.path), find(str(gold.source.path)))
    return {**where, "items": len(annotations.gold)}


def sizes(annotations: Annotations) -> dict[str, Any]:
    """Give the sizes of the data, and where they came from."""
    return {
        "origin": annotations.origin,
        "items": annotations.n_items,
        "annotators": annotations.n_annotators,
        "labels": annotations.n_labels,
        "classes": annotations.classes.tolist(),
        "extra_answers": annotations.extra_answers.tolist(),
    }
