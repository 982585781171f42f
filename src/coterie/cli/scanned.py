"""coterie aggregate of files larger than memory: scan, fit shard by shard, write part by part."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli import results, show
from coterie.cli.guard import nothing_lost
from coterie.errors import CoterieError
from coterie.files.atomic import Writer, write_set
from coterie.files.paths import check_room
from coterie.io.files import find
from coterie.io.read import read_truth
from coterie.io.reading import Columns, Reading
from coterie.io.scan import scan
from coterie.io.scan.sources import find_all, sum_of_names
from coterie.io.write import check_format, json_writer, table_writer
from coterie.models import Estimator, make_model
from coterie.models.majority import Scored, score_beside_vote
from coterie.models.registry import names_where
from coterie.posterior.sharded import MOST_ON_PAGE, ShardedPosterior, Totals, sample_title
from coterie.posterior.sheets import REVIEW, confusion_sheet
from coterie.posterior.store import writer as posterior_writer
from coterie.words.numbers import count, seconds

if TYPE_CHECKING:
    from coterie.metrics import Score

READ = tuple(one.name for one in fields(Columns))
"""What a scan takes of the options that say how to read."""


def refuse(reading: Reading, wanted: Mapping[str, Any]) -> None:
    """Say which option a scan does not take: those of exports, and what looks at all items."""
    told = {"from" if name == "format" else name: value for name, value in vars(reading).items()}
    for name, value in {**told, **wanted}.items():
        if value and name not in (*READ, "order"):  # which has a value of its own
            raise CoterieError(
                f"--{name} needs all labels in memory, and these are scanned; leave it out, or"
                " name a file without --scan"
            )


def model_of(name: str, settings: Mapping[str, Any], engine: str) -> Estimator:
    """Make the model; one that knows no other engine than threads says so."""
    model = make_model(name, **settings, **({} if engine == "threads" else {"engine": engine}))
    model.check_shards()
    if engine != "threads" and not model.takes.engine:
        names = names_where(lambda kind: kind.takes.engine)
        raise CoterieError(
            f"{type(model).__name__} runs in threads; leave out --engine {engine}, or choose one of"
            f" {names}"
        )
    check_format("parquet")
    return model


def run(
    sources: Sequence[str],
    reading: Reading,
    model: Estimator,
    paths: dict[str, Path],
    *,
    engine: str,
    truth: Path | None,
    seed: int,
    format: str,
    force: bool,
) -> bool:
    """Do the main job, items in shards; give whether the result has converged."""
    truth_file = None if truth is None else find(truth)
    known = None if truth_file is None else read_truth(truth_file)
    told = {name: getattr(reading, name) for name in READ}
    labels = scan(sources[0] if len(sources) == 1 else list(sources), **told, engine=engine)
    name = sources[0] + (f" and {len(sources) - 1:,} more" if len(sources) > 1 else "")
    took = labels.seconds["reading"], labels.seconds["shards"]
    show.line(
        f"{name}: scanned {count(labels.n_files, 'file')} in {seconds(sum(took))} s "
        f"(reading {seconds(took[0])} s, shards {seconds(took[1])} s): {labels.describe()}"
    )
    show.line(labels.origin)
    about = {
        "path": sources[0] if len(sources) == 1 else list(sources),
        "files": labels.n_files,
        "sha256": sum_of_names(find_all(sources)),
        "sha256_of": "names and sizes of the files",
        **results.sizes(labels),
        "gold": labels.n_gold,
        "shards": len(labels),
    }
    if paths:
        check_room(paths["run"].parent, results.least_bytes(labels))
        if labels.n_items > MOST_ON_PAGE:
            del paths["posterior"]  # it would be one file of all items
    vote = results.vote_scored(labels, known)  # before the long part
    start = time.perf_counter()
    posterior = model.fit(labels).posterior_.compact()
    assert isinstance(posterior, ShardedPosterior)  # what fit gives of a scan
    fitted = time.perf_counter() - start
    show.line(f"Fitted {posterior.model} in {seconds(fitted)} s")
    scored = None if vote is None else score_beside_vote(posterior, known, vote)
    scores = {} if scored is None else scored.by_model(posterior.model)
    record = {
        **results.describe(posterior, fitted, seed=seed, format=format),
        "scores": {} if scored is None else scored.own.numbers(),
        "input": about,
        "gold": results.gold_facts(labels),
        "truth": None if truth_file is None else results.checked(truth, truth_file),
        "engine": engine,
    }
    start, totals = time.perf_counter(), Totals(posterior)
    if paths:
        with keeping(posterior, scores):
            write(posterior, paths, record, totals, scored, force=force)
    else:
        totals.add_all()
    wrote = time.perf_counter() - start
    say_found(posterior, totals, scores)
    doubtful = f"{count(totals.review, 'item')} below {100 * REVIEW:.0f} %"
    if paths:
        parts = f"labels/part-*.parquet ({count(len(posterior.scan), 'part')})"
        names = ", ".join([parts, *(path.name for path in paths.values())])
        show.line(f"Written to {paths['run'].parent} in {seconds(wrote)} s: {names}")
        show.line(f"Next: ask for more labels of the {doubtful} (review in the parts of labels)")
    else:
        show.line(f"Next: add --out result/ for labels, tables and a report; {doubtful}")
    return posterior.converged


def say_found(posterior: ShardedPosterior, totals: Totals, scores: Mapping[str, Score]) -> None:
    """Show what was found."""
    show.line("")
    for line in show.consensus(posterior, show.console().width, n=totals.items):
        show.line(line)
    show.people(posterior)
    show.compared(scores)
    show.convergence(posterior)


def keeping(
    posterior: ShardedPosterior, scores: Mapping[str, Score]
) -> AbstractContextManager[None]:
    """Show a result that cannot be written within, and save the labels elsewhere."""

    def shown() -> None:
        totals = Totals(posterior)  # others may have been summed in part
        totals.add_all()
        say_found(posterior, totals, scores)

    return nothing_lost(shown, posterior.write_labels, "labels", "holds the labels in parts")


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
    out, format = paths["run"].parent, record["format"]

    def matrices(path: Path) -> None:  # after the parts, over which counts are summed
        table_writer(confusion_sheet(posterior, totals.said), format)(path)

    writers = results.tables(posterior, paths.keys() - {"confusion"}, format)
    writers |= {"confusion": matrices, "run": json_writer(record)}
    if "posterior" in paths:
        writers["posterior"] = posterior_writer(posterior.gather())
    if "report" in paths:
        writers["report"] = page(posterior, record, scored)
    parts = totals.writers(out / "labels")
    found = {**parts, **{path: writers[name] for name, path in paths.items()}}
    write_set(out, found, [*results.leavings(out), out / "run.coterie"], force=force)


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
