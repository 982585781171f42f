"""What a run leaves behind: tables, its record, the result itself and its page, all or nothing."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from coterie.abilities import SAMPLED
from coterie.cli import show
from coterie.cli.guard import nothing_lost, typed_again
from coterie.data.annotations import Annotations
from coterie.files.atomic import Writer, check_free, write_set
from coterie.io.files import File, find
from coterie.io.scan import Scan
from coterie.io.write import (
    FORMATS,
    check_format,
    json_writer,
    other_formats,
    table_writer,
    targets,
)
from coterie.models import Estimator
from coterie.models.majority import Scored, score_vote
from coterie.posterior import Posterior
from coterie.posterior.sheets import confusion_sheet, coterie_sheet, label_sheet
from coterie.posterior.store import writer as posterior_writer
from coterie.posterior.verdicts import verdicts_by_name
from coterie.version import __version__

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


def places(
    out: Path | None,
    model: Estimator,
    format: str,
    *,
    force: bool,
    report: bool = True,
    kinds: bool = False,
    parts: bool = False,
) -> dict[str, Path]:
    """Name the files to write, and check before any work that they may be written.

    Labels in parts are named by who writes them; here only that none are there.
    """
    check_format(format)
    if out is None:
        return {}
    there = {
        "labels": not parts,
        "annotators": True,
        "confusion": True,
        "coteries": model.abilities.coteries,
        "kinds": kinds,
        "drift": "time" in model.needs,
        "diagnostics": model.method in SAMPLED,
    }
    paths = targets(out, [name for name, wanted in there.items() if wanted], format)
    paths |= {"run": out / "run.json", "posterior": out / "run.coterie"}
    if report:
        paths["report"] = out / "report.html"
    others = [*other_formats(paths.values()), *(parts_in(out) if parts else [])]
    check_free(out, [*paths.values(), *others], force=force)
    return paths


def parts_in(out: Path) -> list[Path]:
    """List the parts that labels were written in."""
    return sorted((out / "labels").glob("part-*.parquet"))


def leavings(out: Path) -> list[Path]:
    """Name all files that a run may leave in a folder."""
    tables = [out / f"{name}.{format}" for name in TABLES for format in FORMATS]
    return [*tables, *parts_in(out), out / "report.html"]


def least_bytes(labels: Annotations | Scan) -> int:
    """Give how much the tables alone will take at least: a few characters per cell."""
    cells = labels.n_items * (5 + labels.n_classes)
    return 4 * (cells + 5 * labels.n_annotators * labels.n_classes * labels.n_answers)


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
    writers = tables(posterior, paths, record["format"])
    writers |= {"run": json_writer(record), "posterior": posterior_writer(posterior)}
    if "report" in paths:
        from coterie.report.page import writer

        beside = {} if shown is None else {"shown": shown}
        writers["report"] = writer(posterior, truth=scored, record=record, **beside)
    out, found = paths["run"].parent, {path: writers[name] for name, path in paths.items()}
    write_set(out, found, leavings(out), force=force)


def tables(posterior: Posterior, names: Container[str], format: str) -> dict[str, Writer]:
    """Give what writes the tables of some names."""
    made = {name: make for name, make in TABLES.items() if name in names}
    return {name: table_writer(make(posterior), format) for name, make in made.items()}


def keeping(posterior: Posterior, scores: Mapping[str, Score]) -> AbstractContextManager[None]:
    """Show a result that cannot be written within, and save it elsewhere."""
    shown, use = partial(show.result, posterior, scores, []), "coterie report and coterie.load read"
    return nothing_lost(shown, posterior.save, "run.coterie", use)


def vote_scored(labels: Annotations | Scan, truth: pd.Series | None) -> Score | None:
    """Score the vote, if there is a truth; say so if there is no item to score, and give None."""
    vote = None if truth is None else score_vote(labels, truth)
    if vote is not None and vote.items == 0:
        show.nothing_to_score()
        return None
    return vote


def describe(
    posterior: Posterior,
    took: float,
    *,
    seed: int,
    format: str = "csv",
    shown: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """Say what was done: the head of ``run.json``."""
    return {
        "version": __version__,
        "command": typed_again(),
        "model": posterior.model,
        "settings": dict(posterior.settings),
        "seed": seed,
        "format": format,
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(took, 3),
        "converged": posterior.converged,
        "verdicts": verdicts_by_name(posterior),
        "shown": dict(shown or dict.fromkeys(("text", "image", "items"))),
        "run": {name: value for name, value in posterior.run.items() if name != "verdicts"},
    }


def checked(path: object, file: File) -> dict[str, Any]:
    """Say which file was read, with its checksum."""
    return {"path": str(path), "sha256": file.sha256()}


def checked_all(sources: Sequence[str], files: Sequence[File]) -> dict[str, Any]:
    """Say which files were read; several have the checksum of their checksums, in order."""
    if len(files) == len(sources) == 1:
        return checked(sources[0], files[0])
    together = hashlib.sha256("".join(file.sha256() for file in files).encode()).hexdigest()
    named = sources[0] if len(sources) == 1 else list(sources)
    return {"path": named, "files": len(files), "sha256": together}


def gold_facts(labels: Annotations | Scan) -> dict[str, Any] | None:
    """Say where the known labels came from: a column of the input, or a file of their own."""
    gold = None if labels.provenance is None else labels.provenance.gold
    if gold is None:
        return None
    if gold.source is None:
        where: dict[str, Any] = {"column": gold.column}
    elif gold.source.path in (None, "-"):  # standard input cannot be read again
        where = {"path": gold.source.path}
    else:
        where = checked(gold.source.path, find(str(gold.source.path)))
    return {**where, "items": labels.n_gold if isinstance(labels, Scan) else len(labels.gold)}


def sizes(labels: Annotations | Scan) -> dict[str, Any]:
    """Give the sizes of the data, and where they came from."""
    found = None if isinstance(labels, Scan) else labels.provenance
    export = None if found is None or found.export is None else asdict(found.export)
    if export is not None:
        export |= {name: dict(export[name]) for name in ("left_out", "kept", "told")}
    return {
        "origin": labels.origin,
        **({} if export is None else {"export": export}),
        "items": labels.n_items,
        "annotators": labels.n_annotators,
        "labels": labels.n_labels,
        "classes": labels.classes.tolist(),
        "extra_answers": labels.extra_answers.tolist(),
    }
