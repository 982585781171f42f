"""coterie aggregate of files larger than memory: scan, fit shard by shard, write part by part."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli import aggregate, show
from coterie.cli.guard import nothing_lost
from coterie.errors import CoterieError
from coterie.files.atomic import Writer, write_set
from coterie.files.paths import check_room
from coterie.io.files import find
from coterie.io.read import read_truth
from coterie.io.reading import Columns, Reading
from coterie.io.scan import Scan, scan
from coterie.io.scan.sources import find_all, is_scanned, sum_of_names
from coterie.io.write import check_format, json_writer, table_writer
from coterie.models import Estimator
from coterie.models.majority import Scored, score_beside_vote
from coterie.models.registry import names_where
from coterie.posterior import Posterior
from coterie.posterior.sharded import MOST_ON_PAGE, ShardedPosterior, Totals, sample_title
from coterie.posterior.sheets import REVIEW, confusion_sheet, coterie_sheet
from coterie.posterior.store import writer as posterior_writer
from coterie.words.numbers import count, seconds

if TYPE_CHECKING:
    from coterie.cli.aggregate import Job
    from coterie.metrics import Score

READ = tuple(one.name for one in fields(Columns))
"""What a scan takes of the options that say how to read."""


def wanted(sources: Sequence[str], *, asked: bool) -> bool:
    """Say whether labels go through a scan: asked for, or a pattern or address that needs it."""
    return asked or any(map(is_scanned, sources))


def run(sources: Sequence[str], reading: Reading, job: Job, engine: str) -> bool:
    """Do the main job, items in shards.

    Returns
    -------
    Whether the result has converged.
    """
    refuse(reading, job)
    model = model_of(job, engine)
    check_format("parquet")
    paths = aggregate.places(job, model, parts=True)
    truth_file = None if job.truth is None else find(job.truth)
    truth = None if truth_file is None else read_truth(truth_file)
    told = {name: getattr(reading, name) for name in READ}
    labels = scan(sources[0] if len(sources) == 1 else list(sources), **told, engine=engine)
    say_scanned(sources, labels)
    read = facts_of(sources, labels)
    if labels.n_items > MOST_ON_PAGE and paths:
        del paths["posterior"]  # it would be one file of all items
    if job.out is not None:
        check_room(job.out, aggregate.least_bytes(labels))
    vote = aggregate.vote_scored(labels, truth)  # before the long part
    start = time.perf_counter()
    posterior = model.fit(labels).posterior_.compact()
    assert isinstance(posterior, ShardedPosterior)  # what fit gives of a scan
    fitted = time.perf_counter() - start
    show.line(f"Fitted {posterior.model} in {seconds(fitted)} s")
    scored = None if vote is None else score_beside_vote(posterior, truth, vote)
    scores = {} if scored is None else scored.by_model(posterior.model)
    record = {
        **aggregate.describe(posterior, job, fitted),
        "scores": {} if scored is None else scored.own.numbers(),
        "input": read,
        "gold": aggregate.gold_facts(labels),
        "truth": None if truth_file is None else aggregate.checked(str(job.truth), truth_file),
        "engine": engine,
    }
    start, totals = time.perf_counter(), Totals(posterior)
    if paths:
        with keeping(posterior, scores):
            write(posterior, paths, record, totals, scored, force=job.force)
    else:
        totals.add_all()
    wrote = time.perf_counter() - start
    say_result(posterior, totals, scores, paths, wrote)
    return posterior.converged


def keeping(
    posterior: ShardedPosterior, scores: Mapping[str, Score]
) -> AbstractContextManager[None]:
    """Show a result that cannot be written within, and save the labels elsewhere."""

    def shown() -> None:
        totals = Totals(posterior)  # others may have been summed in part
        totals.add_all()
        say_found(posterior, totals, scores)

    return nothing_lost(shown, posterior.write_labels, "labels", "holds the labels in parts")


def refuse(reading: Reading, job: Job) -> None:
    """Say which option a scan does not take: those of exports, and what looks at all items."""
    names = [one.name for one in fields(reading) if one.name not in (*READ, "order")]
    odd: dict[str, Any] = {name: getattr(reading, name) for name in names}
    odd |= {"kinds": job.kinds, "update": job.update, "text": job.beside.text}
    odd |= {"image": job.beside.image, "check-gold": job.check_gold, "recalibrate": job.recalibrate}
    for name, value in odd.items():
        if value:
            option = {"format": "from"}.get(name, name)
            raise CoterieError(
                f"--{option} needs all labels in memory, and these are scanned; leave it out, or"
                " name a file without --scan"
            )


def model_of(job: Job, engine: str) -> Estimator:
    """Make the model; one that knows no other engine than threads says so."""
    settings = {**job.settings, **({} if engine == "threads" else {"engine": engine})}
    model = aggregate.model_of(job._replace(settings=settings))
    model.check_shards()
    if engine != "threads" and not model.takes.engine:
        names = names_where(lambda kind: kind.takes.engine)
        raise CoterieError(
            f"{type(model).__name__} runs in threads; leave out --engine {engine}, or choose one of"
            f" {names}"
        )
    return model


def say_scanned(sources: Sequence[str], labels: Scan) -> None:
    """Say that the files went through a scan, how much there is, and what it took."""
    name = sources[0] + (f" and {len(sources) - 1:,} more" if len(sources) > 1 else "")
    took = labels.seconds["reading"], labels.seconds["shards"]
    show.line(
        f"{name}: scanned {count(labels.n_files, 'file')} in {seconds(sum(took))} s "
        f"(reading {seconds(took[0])} s, shards {seconds(took[1])} s): {labels.describe()}"
    )
    show.line(labels.origin)


def facts_of(sources: Sequence[str], labels: Scan) -> dict[str, Any]:
    """Say what was read: the part of ``run.json`` about the input."""
    return {
        "path": sources[0] if len(sources) == 1 else list(sources),
        "files": labels.n_files,
        "sha256": sum_of_names(find_all(sources)),
        "sha256_of": "names and sizes of the files",
        "origin": labels.origin,
        "items": labels.n_items,
        "annotators": labels.n_annotators,
        "labels": labels.n_labels,
        "classes": labels.classes.tolist(),
        "extra_answers": labels.extra_answers.tolist(),
        "gold": labels.n_gold,
        "shards": len(labels),
    }


def write(
    posterior: ShardedPosterior,
    paths: Mapping[str, Path],
    record: Mapping[str, Any],
    totals: Totals,
    scored: Scored | None,
    *,
    force: bool,
) -> None:
    """Write labels part by part, then tables, the record, people and the report: all or nothing."""
    out = paths["run"].parent
    format = record["format"]

    def matrices(path: Path) -> None:  # after the parts, over which counts are summed
        table_writer(confusion_sheet(posterior, totals.said), format)(path)

    writers: dict[str, Writer] = {
        "confusion": matrices,
        "annotators": table_writer(posterior.annotators(), format),
        "run": json_writer(record),
    }
    if "posterior" in paths:
        writers["posterior"] = posterior_writer(posterior.gather())
    if "coteries" in paths:
        writers["coteries"] = table_writer(coterie_sheet(posterior), format)
    if "diagnostics" in paths:
        writers["diagnostics"] = table_writer(Posterior.diagnostics(posterior), format)
    if "report" in paths:
        writers["report"] = page(posterior, record, scored)
    parts = totals.writers(out / "labels")
    old = [*aggregate.leavings(paths), out / "run.coterie"]
    found = {**parts, **{path: writers[name] for name, path in paths.items()}}
    write_set(out, found, old, force=force)


def page(posterior: ShardedPosterior, record: Mapping[str, Any], scored: Scored | None) -> Writer:
    """Make the report; say which items it leaves out, if there are too many."""
    from coterie.report.page import writer

    shown = posterior.sample(MOST_ON_PAGE)
    title = None
    if shown.annotations.n_items < posterior.scan.n_items:
        title = sample_title(posterior, shown)
        show.line(
            f"The report shows {shown.annotations.n_items:,} of {posterior.scan.n_items:,} items, "
            "a sample by a hash of their ids; people are of all labels. No run.coterie is written"
        )
    return writer(shown, title=title, record=record, truth=scored)


def say_result(
    posterior: ShardedPosterior,
    totals: Totals,
    scores: Mapping[str, Score],
    paths: Mapping[str, Path],
    took: float,
) -> None:
    """Show how the run ended."""
    say_found(posterior, totals, scores)
    doubtful = f"{count(totals.review, 'item')} below {100 * REVIEW:.0f} %"
    if not paths:
        show.line(f"Next: add --out result/ for labels, tables and a report; {doubtful}")
        return
    folder = paths["run"].parent
    parts = f"labels/part-*.parquet ({count(len(posterior.scan), 'part')})"
    names = ", ".join([parts, *(path.name for path in paths.values())])
    show.line(f"Written to {folder} in {seconds(took)} s: {names}")
    show.line(f"Next: ask for more labels of the {doubtful} (review in the parts of labels)")


def say_found(posterior: ShardedPosterior, totals: Totals, scores: Mapping[str, Score]) -> None:
    """Show what was found."""
    show.line("")
    for line in show.consensus(posterior, show.console().width, n=totals.items):
        show.line(line)
    show.people(posterior)
    show.compared(scores)
    show.convergence(posterior)
