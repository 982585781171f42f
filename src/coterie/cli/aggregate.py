"""coterie aggregate: read, fit, score, show, write."""

from __future__ import annotations

import datetime
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from coterie.abilities import SAMPLED
from coterie.cli import show
from coterie.cli.guard import nothing_lost, typed_again
from coterie.cli.item_columns import Beside, shown_with
from coterie.cli.kinds import is_number, kinds_told
from coterie.cli.update import earlier_model, gold_apart, read_as, say_time
from coterie.data.annotations import Annotations
from coterie.files.atomic import Writer, check_free, write_set
from coterie.files.paths import check_room
from coterie.io.exports.part import parts_of
from coterie.io.files import File, find
from coterie.io.read import read, read_truth
from coterie.io.reading import Reading
from coterie.io.scan import Scan
from coterie.io.write import (
    FORMATS,
    check_format,
    json_writer,
    other_formats,
    table_writer,
    targets,
)
from coterie.models import Estimator, make_model
from coterie.models.base import joined
from coterie.models.majority import Scored, score_beside_vote, score_vote
from coterie.posterior import Posterior
from coterie.posterior.sheets import confusion_sheet, coterie_sheet, label_sheet
from coterie.posterior.store import writer as posterior_writer
from coterie.posterior.verdicts import verdicts_by_name
from coterie.version import __version__
from coterie.words.numbers import count

if TYPE_CHECKING:
    from coterie.metrics import Score
    from coterie.report import Shown

TABLES: Mapping[str, Callable[[Posterior], pd.DataFrame]] = {
    "labels": label_sheet,
    "annotators": Posterior.annotators,
    "coteries": coterie_sheet,
    "confusion": confusion_sheet,
    "kinds": Posterior.kinds,
    "drift": lambda posterior: posterior.drift(),
    "diagnostics": Posterior.diagnostics,
}
"""Files, and what makes them of a posterior."""
LEAST_GOLD = 10
"""Known items below which a check by gold says nothing."""
FEW_LABELS = 10_000
"""Labels up to which five more fits of a sampler take seconds."""


class Job(NamedTuple):
    """What to do, and where to put it."""

    model: str
    settings: Mapping[str, Any]  # of the model, where it has them
    truth: Path | None
    out: Path | None
    format: str
    force: bool
    report: bool = True
    check_gold: bool | None = None  # None: where it costs little
    recalibrate: bool = False
    beside: Beside = Beside()
    kinds: str | None = None  # a number of them, or a column
    update: Path | None = None  # a saved run that goes on


def run(sources: Sequence[str], reading: Reading, job: Job) -> bool:
    """Do the main job; ``reading`` are the options of :func:`coterie.read`.

    Returns
    -------
    Whether the result has converged.
    """
    model = model_of(job)
    gold = None
    if job.update is not None:
        reading, gold = gold_apart(read_as(model.posterior_, reading))
    paths = places(job, model)
    single = len(sources) == 1 and not Path(sources[0]).is_dir()
    files = [find(sources[0])] if single else [part.file for part in parts_of(sources)]
    annotations = read(files[0] if single else list(sources), **vars(reading))
    show.data(sources, annotations)
    more = annotations
    if job.update is not None:
        annotations = joined(model.posterior_.annotations, more, model.duplicates, gold)
    if job.out is not None:
        check_room(job.out, least_bytes(annotations))
    # Before the long part: what does not fit is noticed now.
    shown = shown_with(job.beside, sources, annotations) if "report" in paths else None
    truth_file = None if job.truth is None else find(job.truth)
    truth = None if truth_file is None else read_truth(truth_file, annotations)
    vote = vote_scored(annotations, truth)
    insist_on_gold(annotations, job)
    known = kinds_told(job.kinds, model, files, annotations)
    start = time.perf_counter()
    # What is shown and written is what is saved: a page made again says the same.
    fitted = model.fit(annotations, **known) if job.update is None else model.update(more, gold)
    posterior = fitted.posterior_.compact()
    seconds = time.perf_counter() - start
    if job.update is not None:
        say_time(job.update, seconds)
    posterior = checked_by_gold(posterior, job)
    scored = None if vote is None else score_beside_vote(posterior, truth, vote)
    scores = {} if scored is None else scored.by_model(posterior.model)
    record = {
        **describe(posterior, job, seconds),
        "scores": {} if scored is None else scored.own.numbers(),
        "input": {**checked_all(sources, files), **sizes(annotations)},
        "gold": gold_facts(annotations),
        "truth": None if truth_file is None else checked(str(job.truth), truth_file),
    }
    with keeping(posterior, scores):
        write(posterior, paths, record, scored, shown, force=job.force)
    show.result(posterior, scores, list(paths.values()))
    return posterior.converged


def keeping(posterior: Posterior, scores: Mapping[str, Score]) -> AbstractContextManager[None]:
    """Show a result that cannot be written within, and save it elsewhere."""
    shown, use = partial(show.result, posterior, scores, []), "coterie report and coterie.load read"
    return nothing_lost(shown, posterior.save, "run.coterie", use)


def model_of(job: Job) -> Estimator:
    """Make the model, or take that of the run that goes on."""
    if job.update is not None:
        return earlier_model(job.update, job.model, job.settings)
    latent = {"kinds": int(job.kinds or 1)} if is_number(job.kinds) else {}
    return make_model(job.model, **job.settings, **latent)


def checked_by_gold(posterior: Posterior, job: Job) -> Posterior:
    """Note how far probabilities hold on known items, and mend them if that is asked for."""
    n_known = int(np.count_nonzero(posterior.annotations.codes.gold >= 0))
    few = n_known < LEAST_GOLD
    slow = posterior.method in SAMPLED and posterior.annotations.n_labels > FEW_LABELS
    wanted = not (slow or few) if job.check_gold is None else job.check_gold
    if not (wanted or job.recalibrate):
        if not few:
            show.line("How far do these probabilities hold on your known items? Try --check-gold.")
        return posterior
    from coterie.default import check_gold

    if posterior.method in SAMPLED:
        show.line(
            f"Five more fits see how far probabilities hold on {count(n_known, 'known item')}"
            " (--no-check-gold: none)."
        )
    quiet = {**job.settings, "progress": False, "checkpoint": None}
    check = check_gold(posterior.annotations, make_model(job.model, **quiet))
    if job.recalibrate and check.significant:
        posterior = check.recalibrate(posterior)
    elif job.recalibrate:
        show.line("--recalibrate: gold does not refute the probabilities, which stay as they are.")
    return check.noted_in(posterior)


def insist_on_gold(annotations: Annotations, job: Job) -> None:
    """Say before the fit that there is no gold to check its result by, where that is asked for."""
    if job.check_gold or job.recalibrate:
        from coterie.default import known_places

        known_places(annotations)


def vote_scored(labels: Annotations | Scan, truth: pd.Series | None) -> Score | None:
    """Score the vote, if there is a truth; say so if there is no item to score, and give None."""
    vote = None if truth is None else score_vote(labels, truth)
    if vote is not None and vote.items == 0:
        show.nothing_to_score()
        return None
    return vote


def places(job: Job, model: Estimator, *, parts: bool = False) -> dict[str, Path]:
    """Name the files to write, and check before any work that they may be written.

    Labels in parts are named by who writes them; here only that none are there.
    """
    check_format(job.format)
    if job.out is None:
        return {}
    tables = ["annotators", "confusion"] if parts else ["labels", "annotators", "confusion"]
    tables += ["coteries"] if model.abilities.coteries else []
    tables += ["kinds"] if job.kinds else []
    tables += ["drift"] if "time" in model.needs else []
    tables += ["diagnostics"] if model.method in SAMPLED else []
    paths = targets(job.out, tables, job.format)
    paths |= {"run": job.out / "run.json", "posterior": job.out / "run.coterie"}
    if job.report:
        paths["report"] = job.out / "report.html"
    others = [*other_formats(paths.values()), *(parts_in(job.out) if parts else [])]
    check_free(job.out, [*paths.values(), *others], force=job.force)
    return paths


def parts_in(out: Path) -> list[Path]:
    """List the parts that labels were written in."""
    return sorted((out / "labels").glob("part-*.parquet"))


def write(
    posterior: Posterior,
    paths: Mapping[str, Path],
    record: Mapping[str, Any],
    scored: Scored | None,
    shown: Shown | None = None,
    *,
    force: bool,
) -> None:
    """Write tables, the record of the run, the posterior and its report, all or nothing."""
    if not paths:
        return
    writers: dict[str, Writer] = {
        name: table_writer(make(posterior), record["format"])
        for name, make in TABLES.items()
        if name in paths
    }
    writers["run"] = json_writer(record)
    writers["posterior"] = posterior_writer(posterior)
    if "report" in paths:
        from coterie.report.page import writer

        beside = {} if shown is None else {"shown": shown}
        writers["report"] = writer(posterior, truth=scored, record=record, **beside)
    found = {path: writers[name] for name, path in paths.items()}
    write_set(paths["run"].parent, found, leavings(paths), force=force)


def least_bytes(annotations: Annotations | Scan) -> int:
    """Give how much the tables alone will take at least: a few characters per cell."""
    a = annotations
    cells = a.n_items * (5 + a.n_classes) + 5 * a.n_annotators * a.n_classes * a.n_answers
    return 4 * cells


def leavings(paths: Mapping[str, Path]) -> list[Path]:
    """Name all files that a run may leave where this one writes."""
    out = paths["run"].parent
    tables = [out / f"{name}.{format}" for name in TABLES for format in FORMATS]
    return [*tables, *parts_in(out), out / "report.html"]


def describe(posterior: Posterior, job: Job, seconds: float) -> dict[str, Any]:
    """Say what was done: the head of ``run.json``."""
    return {
        "version": __version__,
        "command": typed_again(),
        "model": posterior.model,
        "settings": dict(posterior.settings),
        "seed": job.settings["random_state"],
        "format": job.format,
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "converged": posterior.converged,
        "verdicts": verdicts_by_name(posterior),
        "shown": job.beside.record(),
        "run": {name: value for name, value in posterior.run.items() if name != "verdicts"},
    }


def checked(path: str, file: File) -> dict[str, Any]:
    """Say which file was read, with its checksum."""
    return {"path": path, "sha256": file.sha256()}


def checked_all(sources: Sequence[str], files: Sequence[File]) -> dict[str, Any]:
    """Say which files were read; several have the checksum of their checksums, in order."""
    if len(files) == len(sources) == 1:
        return checked(sources[0], files[0])
    sums = "".join(file.sha256() for file in files)
    together = hashlib.sha256(sums.encode()).hexdigest()
    named = sources[0] if len(sources) == 1 else list(sources)
    return {"path": named, "files": len(files), "sha256": together}


def gold_facts(labels: Annotations | Scan) -> dict[str, Any] | None:
    """Say where the known labels came from: a column of the input, or a file of their own."""
    if labels.provenance is None or labels.provenance.gold is None:
        return None
    gold = labels.provenance.gold
    if gold.source is None:
        where: dict[str, Any] = {"column": gold.column}
    elif gold.source.path in (None, "-"):  # standard input cannot be read again
        where = {"path": gold.source.path}
    else:
        where = checked(str(gold.source.path), find(str(gold.source.path)))
    return {**where, "items": labels.n_gold if isinstance(labels, Scan) else len(labels.gold)}


def sizes(annotations: Annotations) -> dict[str, Any]:
    """Give the sizes of the data, and where they came from."""
    found = annotations.provenance
    export = None if found is None or found.export is None else asdict(found.export)
    if export is not None:
        export |= {name: dict(export[name]) for name in ("left_out", "kept", "told")}
    return {
        "origin": annotations.origin,
        **({} if export is None else {"export": export}),
        "items": annotations.n_items,
        "annotators": annotations.n_annotators,
        "labels": annotations.n_labels,
        "classes": annotations.classes.tolist(),
        "extra_answers": annotations.extra_answers.tolist(),
    }
