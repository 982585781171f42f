"""coterie aggregate: read, fit, score, show, write."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from coterie.cli.guard import guarded
from coterie.cli.options import (
    Force,
    Format,
    Image,
    Items,
    Model,
    Out,
    Seed,
    Text,
    Told,
    Truth,
    a_path,
    reads,
)
from coterie.cli.report import recorded, saved_at, shown_with
from coterie.errors import CoterieError
from coterie.io.reading import Reading
from coterie.models.registry import DEFAULT, MODELS, make_model, name_of, names_where

if TYPE_CHECKING:
    from coterie.data.annotations import Annotations
    from coterie.io.files import File
    from coterie.models import Estimator
    from coterie.posterior import Posterior

LEAST_GOLD = 10
"""Known items below which a check by gold says nothing."""
FEW_LABELS = 10_000
"""Labels up to which five more fits of a sampler take seconds."""
OF_THE_MACHINE = ("n_jobs", "progress")
"""Settings that come from the command, as ``duplicates`` does if told; all others are those of
the saved run that goes on."""


@guarded
@reads
def aggregate(
    labels: list[str] = Argument(
        ...,
        help="A platform's export (file, folder, zip, several), or a table: CSV, TSV, JSONL, "
        "Excel (.gz too) or Parquet; - is stdin.",
    ),
    model: Model = DEFAULT,
    gold: Told = None,
    truth: Truth = None,
    out: Out = None,
    *,
    reading: Reading,
    kinds: str | None = Option(
        None, help="Kinds of items: how many to look for, or the column that says."
    ),
    chains: int | None = Option(
        None, help="Chains of a sampling model (default: the model's own)."
    ),
    sweeps: int | None = Option(
        None, help="Sweeps of each chain at most, burn-in included (likewise)."
    ),
    burn_in: int | None = Option(None, help="Sweeps dropped at the start of a chain (likewise)."),
    early_stop: bool | None = Option(
        None, "--early-stop/--no-early-stop", help="Stop when the chains have converged (likewise)."
    ),
    jobs: int | None = Option(None, "--jobs", "-j", min=1, help="Threads (default: all cores)."),
    checkpoint: Path | None = a_path(None, help="A file to keep a long run in, and to go on from."),
    update: Path | None = a_path(
        None, "--update", help="A saved run that LABELS join: its chains go on from their end."
    ),
    strict: bool = Option(
        False, "--strict", help="Exit with code 3 if the labels are not settled."
    ),
    check_gold: bool | None = Option(
        None,
        "--check-gold/--no-check-gold",
        help="Predict known items without their gold, by five more fits (default: up to "
        "10,000 labels, or if the model is quick).",
    ),
    recalibrate: bool = Option(
        False, "--recalibrate", help="Mend probabilities that the check by gold refutes."
    ),
    report: bool = Option(True, help="Write report.html beside the tables."),
    scan: bool = Option(
        False,
        "--scan",
        help="Files larger than memory: tables in a folder or file go through shards on disk "
        "(a quoted pattern, 'labels/*.parquet', always does).",
    ),
    engine: str = Option(
        "threads", help="Where shards are worked on: threads, dask, or a scheduler's address."
    ),
    text: Text = None,
    image: Image = None,
    items: Items = None,
    seed: Seed = 0,
    format: Format = "csv",
    force: Force = False,
) -> None:
    """Turn labels into a consensus, with the coteries among the annotators, and a report."""
    from coterie.cli import results, show
    from coterie.files.paths import check_room
    from coterie.io.exports.part import parts_of
    from coterie.io.files import find
    from coterie.io.read import read, read_truth
    from coterie.io.scan.sources import is_scanned
    from coterie.models.base import joined
    from coterie.models.majority import score_beside_vote
    from coterie.words.numbers import seconds as in_words

    lengths = {"chains": chains, "sweeps": sweeps, "burn_in": burn_in, "early_stop": early_stop}
    settings = {
        "random_state": seed,
        "duplicates": reading.duplicates,
        "n_jobs": jobs,
        "checkpoint": checkpoint,
        "progress": True,
        **{name: value for name, value in lengths.items() if value is not None},
    }
    beside = {"text": text, "image": image, "items": None if items is None else str(items)}
    if scan or engine != "threads" or any(map(is_scanned, labels)):
        from coterie.cli import scanned

        wanted = {"kinds": kinds, "update": update, "text": text, "image": image}
        scanned.refuse(reading, wanted | {"check-gold": check_gold, "recalibrate": recalibrate})
        chosen = scanned.model_of(model, settings, engine)
        paths = results.places(out, chosen, format, force=force, report=report, parts=True)
        converged = scanned.run(
            labels, reading, chosen, paths, engine=engine, truth=truth, seed=seed, format=format,
            force=force,
        )  # fmt: skip
        if strict and not converged:
            raise typer.Exit(3)
        return
    # Before the long part: what does not fit is noticed now.
    gold_file = None
    if update is None:
        latent = {"kinds": int(kinds)} if kinds is not None and kinds.isdecimal() else {}
        chosen = make_model(model, **settings, **latent)
    else:
        chosen = earlier_model(update, model, settings)
        reading, gold_file = read_on(chosen.posterior_, reading)
    told = bool(kinds)
    paths = results.places(out, chosen, format, force=force, report=report, kinds=told)
    single = len(labels) == 1 and not Path(labels[0]).is_dir()
    files = [find(labels[0])] if single else [part.file for part in parts_of(labels)]
    more = annotations = read(files[0] if single else list(labels), **vars(reading))
    show.data(labels, more)
    if update is not None:
        annotations = joined(chosen.posterior_.annotations, more, chosen.duplicates, gold_file)
    if out is not None:
        check_room(out, results.least_bytes(annotations))
    shown = shown_with(beside, labels, annotations) if "report" in paths else None
    truth_file = None if truth is None else find(truth)
    known = None if truth_file is None else read_truth(truth_file, annotations)
    vote = results.vote_scored(annotations, known)
    if check_gold or recalibrate:
        from coterie.default import known_places

        known_places(annotations)
    of_items = kinds_told(kinds, chosen, files, annotations)
    start = time.perf_counter()
    # What is shown and written is what is saved: a page made again says the same.
    fitted = (
        chosen.fit(annotations, **of_items) if update is None else chosen.update(more, gold_file)
    )
    posterior = fitted.posterior_.compact()
    seconds = time.perf_counter() - start
    if update is not None:
        before = recorded(saved_at(update)).get("seconds")
        said = f", where the fit before it took {in_words(before)} s" if before else ""
        show.line(f"Updated {update} in {in_words(seconds)} s{said} (compiling not counted)")
    posterior = checked_by_gold(
        posterior, model, settings, check_gold=check_gold, recalibrate=recalibrate
    )
    scored = None if vote is None else score_beside_vote(posterior, known, vote)
    scores = {} if scored is None else scored.by_model(posterior.model)
    record = {
        **results.describe(posterior, seconds, seed=seed, format=format, shown=beside),
        "scores": {} if scored is None else scored.own.numbers(),
        "input": {**results.checked_all(labels, files), **results.sizes(annotations)},
        "gold": results.gold_facts(annotations),
        "truth": None if truth_file is None else results.checked(truth, truth_file),
    }
    with results.keeping(posterior, scores):
        results.write(posterior, paths, record, scored, shown, force=force)
    show.result(posterior, scores, list(paths.values()))
    if strict and not posterior.converged:
        raise typer.Exit(3)


def kinds_told(
    kinds: str | None, model: Estimator, files: Sequence[File], annotations: Annotations
) -> dict[str, Any]:
    """Give what ``fit`` is told of kinds, or say why it cannot be."""
    from coterie.data.gold import kinds_of_column
    from coterie.io.tables import table_of_file

    if kinds is None:
        return {}
    if kinds.isdecimal():
        if not model.takes.latent_kinds:
            names = names_where(lambda kind: kind.takes.latent_kinds)
            raise CoterieError(
                f"a number of --kinds is for the models {names}; choose one by --model"
            )
        return {}
    if not model.takes.known_kinds:
        names = names_where(lambda kind: kind.takes.known_kinds)
        raise CoterieError(f"--kinds is for the models {names}; choose one by --model")
    if len(files) > 1:
        raise CoterieError("--kinds is a column of one table, but there are several files")
    return {"kinds": kinds_of_column(table_of_file(files[0]), kinds, annotations)}


def checked_by_gold(
    posterior: Posterior,
    model: str,
    settings: Mapping[str, Any],
    *,
    check_gold: bool | None,
    recalibrate: bool,
) -> Posterior:
    """Note how far probabilities hold on known items, and mend them if that is asked for."""
    from coterie.abilities import SAMPLED
    from coterie.cli import show
    from coterie.words.numbers import count

    n_known = int((posterior.annotations.codes.gold >= 0).sum())
    few = n_known < LEAST_GOLD
    sampled = posterior.method in SAMPLED
    slow = sampled and posterior.annotations.n_labels > FEW_LABELS
    wanted = not (slow or few) if check_gold is None else check_gold
    if not (wanted or recalibrate):
        if not few:
            show.line("How far do these probabilities hold on your known items? Try --check-gold.")
        return posterior
    from coterie.default import check_gold as gold_check

    if sampled:
        show.line(
            f"Five more fits see how far probabilities hold on {count(n_known, 'known item')}"
            " (--no-check-gold: none)."
        )
    quiet = {**settings, "progress": False, "checkpoint": None}
    check = gold_check(posterior.annotations, make_model(model, **quiet))
    if recalibrate and check.significant:
        posterior = check.recalibrate(posterior)
    elif recalibrate:
        show.line("--recalibrate: gold does not refute the probabilities, which stay as they are.")
    return check.noted_in(posterior)


def earlier_model(path: Path, asked: str, settings: Mapping[str, Any]) -> Estimator:
    """Give the model of a saved run, fitted as it was; another that is asked for is refused."""
    from coterie.posterior import load

    kind = None if asked == DEFAULT else MODELS.find(asked)  # it may bring the prior that is saved
    posterior = load(saved_at(path))
    if kind is not None and kind.__name__ != posterior.model:
        raise CoterieError(
            f"{path} is of the model {posterior.model}, and goes on with it; leave out --model"
            f" {asked}, or aggregate all labels with it"
        )
    name = asked if kind is not None else name_of(posterior.model)
    if name is None:
        raise CoterieError(
            f"{path} is of the model {posterior.model}, which has no short name here; say where it"
            f" is by --model module:{posterior.model}"
        )
    here = {key: settings[key] for key in OF_THE_MACHINE if key in settings}
    if settings.get("duplicates", "error") != "error":
        here["duplicates"] = settings["duplicates"]
    model = make_model(name, **{**posterior.settings, **here, "checkpoint": None})
    model.posterior_ = posterior
    return model


def read_on(posterior: Posterior, reading: Reading) -> tuple[Reading, Any]:
    """Read new labels with the possible truths and answers of the saved run, if none are told.

    A file of known labels comes apart, as a table: these may be of items of the saved run, too.
    """
    from coterie.files.paths import is_there
    from coterie.io.tables import table_of_file

    a = posterior.annotations
    words = {"classes": a.classes.tolist(), "extra_answers": a.extra_answers.tolist() or None}
    reading = replace(reading, **{k: v for k, v in words.items() if getattr(reading, k) is None})
    gold = reading.gold
    if gold is None or gold == "-" or not is_there(gold):
        return reading, None
    return replace(reading, gold=None), table_of_file(gold)
