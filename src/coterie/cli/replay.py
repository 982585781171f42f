"""coterie replay: the labels of dense data revealed as policies ask for them."""

from __future__ import annotations

from typer import Option

from coterie.cli.guard import guarded, typed_again
from coterie.cli.options import Datasets, Force, Labelled, Out, Told, Truth, reads, split


@guarded
@reads
def replay(
    path: Labelled,
    truth: Truth = None,
    only: Datasets = None,
    duplicates: Told = None,
    policies: str = Option(
        "random,balanced,uncertainty,information",
        help="Who chooses the labels, separated by commas.",
    ),
    start: int = Option(1, min=0, help="Labels of each item that are known at the start."),
    batch: int | None = Option(None, min=1, help="Labels asked for at once (default: 2 % of all)."),
    seeds: int = Option(3, min=1, help="Replays of each policy."),
    model: str = Option(
        "quick", "--model", "-m", help="The model that is fitted after every batch."
    ),
    jobs: int = Option(1, "--jobs", "-j", min=1, help="Processes at once."),
    out: Out = None,
    force: Force = False,
) -> None:
    """Prove a policy on real labels: reveal them as it asks for them, and score every batch."""
    from coterie.cli import show
    from coterie.errors import DataError
    from coterie.studies.fits import find_sources
    from coterie.studies.replay import (
        Settings,
        check_policies,
        check_target,
        run_study,
        standings,
        table_of,
        write_study,
    )

    asked = split(policies) or []
    check_policies(asked)
    if out is not None:
        check_target(out, force=force)
    sources, _ = find_sources(path, truth, split(only))
    sets = [source for source in sources if source.truth]
    if not sets:
        raise DataError(f"{path} has no true labels to score against; pass them: --truth")
    settings = Settings(start, batch, model, duplicates=duplicates)
    console = show.console()
    progress = (lambda name: console.print(name, style="dim")) if console.is_terminal else str
    curves = run_study(sets, asked, seeds, settings, workers=jobs, done=progress)
    gone = ("at 20 %", "labels", "accuracy then")
    show.print_table(table_of(list(standings(curves))), console, wraps=(), dispensable=gone)
    if out is not None:
        show.files(write_study(curves, typed_again("--out", "-o"), out, force=force))
