"""coterie aggregate: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
from coterie.io.reading import Reading
from coterie.models.registry import DEFAULT


@guarded
@reads
def aggregate(
    labels: Annotated[
        list[str],
        typer.Argument(
            help="A platform's export (file, folder, zip, several), or a table: CSV, TSV, JSONL, "
            "Excel (.gz too) or Parquet; - is stdin."
        ),
    ],
    model: Model = DEFAULT,
    gold: Told = None,
    truth: Truth = None,
    out: Out = None,
    *,
    reading: Reading,
    kinds: Annotated[
        str | None,
        typer.Option(help="Kinds of items: how many to look for, or the column that says."),
    ] = None,
    chains: Annotated[
        int | None, typer.Option(help="Chains of a sampling model (default: the model's own).")
    ] = None,
    sweeps: Annotated[
        int | None, typer.Option(help="Sweeps of each chain at most, burn-in included (likewise).")
    ] = None,
    burn_in: Annotated[
        int | None, typer.Option(help="Sweeps dropped at the start of a chain (likewise).")
    ] = None,
    early_stop: Annotated[
        bool | None,
        typer.Option(
            "--early-stop/--no-early-stop", help="Stop when the chains have converged (likewise)."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Threads (default: all cores).")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        a_path(help="A file to keep a long run in, and to go on from."),
    ] = None,
    update: Annotated[
        Path | None,
        a_path("--update", help="A saved run that LABELS join: its chains go on from their end."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 3 if the labels are not settled.")
    ] = False,
    check_gold: Annotated[
        bool | None,
        typer.Option(
            "--check-gold/--no-check-gold",
            help="Predict known items without their gold, by five more fits (default: up to "
            "10,000 labels, or if the model is quick).",
        ),
    ] = None,
    recalibrate: Annotated[
        bool,
        typer.Option("--recalibrate", help="Mend probabilities that the check by gold refutes."),
    ] = False,
    report: Annotated[bool, typer.Option(help="Write report.html beside the tables.")] = True,
    scan: Annotated[
        bool,
        typer.Option(
            "--scan",
            help="Files larger than memory: tables in a folder or file go through shards on disk "
            "(a quoted pattern, 'labels/*.parquet', always does).",
        ),
    ] = False,
    engine: Annotated[
        str,
        typer.Option(help="Where shards are worked on: threads, dask, or a scheduler's address."),
    ] = "threads",
    text: Text = None,
    image: Image = None,
    items: Items = None,
    seed: Seed = 0,
    format: Format = "csv",
    force: Force = False,
) -> None:
    """Turn labels into a consensus, with the coteries among the annotators, and a report."""
    from coterie.cli import aggregate as command
    from coterie.cli.item_columns import Beside

    lengths = {"chains": chains, "sweeps": sweeps, "burn_in": burn_in, "early_stop": early_stop}
    settings = {
        "random_state": seed,
        "duplicates": reading.duplicates,
        "n_jobs": jobs,
        "checkpoint": checkpoint,
        "progress": True,
        **{name: value for name, value in lengths.items() if value is not None},
    }
    job = command.Job(model, settings, truth, out, format, force, report, check_gold, recalibrate)
    job = job._replace(beside=Beside(text, image, items), kinds=kinds, update=update)
    from coterie.cli import scanned

    if scanned.wanted(labels, asked=scan or engine != "threads"):
        converged = scanned.run(labels, reading, job, engine)
    else:
        converged = command.run(labels, reading, job)
    if not converged and strict:
        raise typer.Exit(3)
