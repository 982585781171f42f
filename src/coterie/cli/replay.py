"""coterie replay: the labels of dense data revealed as policies ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coterie.cli import show
from coterie.cli.tables import print_table
from coterie.cli.typed_again import typed_again
from coterie.errors import DataError
from coterie.studies.league.sources import find_sources
from coterie.studies.replay import Given, Settings, run_study, standings
from coterie.studies.replay.study import check_policies
from coterie.studies.replay.write import check_target, table_of, write_study


def run(
    path: Path,
    *,
    truth: Path | None,
    only: Sequence[str] | None,
    policies: Sequence[str],
    seeds: int,
    settings: Settings,
    jobs: int,
    out: Path | None,
    force: bool,
) -> None:
    """Replay the data sets of a path; show who needs how many labels, and write it."""
    check_policies(policies)
    if out is not None:
        check_target(out, force=force)
    found = find_sources(path, truth, only)
    sets = [Given(one.name, one.labels, one.truth) for one in found.sources if one.truth]
    if not sets:
        raise DataError(f"{path} has no true labels to score against; pass them: --truth")
    console = show.console()
    progress = (lambda name: console.print(name, style="dim")) if console.is_terminal else str
    curves = run_study(sets, policies, seeds, settings, workers=jobs, done=progress)
    print_table(
        table_of(list(standings(curves))),
        console,
        wraps=(),
        dispensable=("at 20 %", "labels", "accuracy then"),
    )
    if out is not None:
        show.files(write_study(curves, typed_again("--out", "-o"), out, force=force))
