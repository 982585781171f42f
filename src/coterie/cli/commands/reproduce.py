"""coterie reproduce: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import Seed, a_path


@guarded
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; --list names them (default: all).")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The whole story, smaller, in minutes.")
    ] = False,
    out: Annotated[
        Path | None,
        a_path("--out", "-o", help="Folder to write to, or go on in (default: reproduction)."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Processes at once (default: one per core)."),
    ] = None,
    databases: Annotated[
        int | None, typer.Option(min=2, help="Random databases per level (default: 50; quick: 4).")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Fits of each real set (default: 5; quick: 1).")
    ] = None,
    markdown: Annotated[
        Path | None,
        a_path(help="Also write the page as this Markdown file."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    mix: Annotated[
        bool, typer.Option("--mix", help="Keep results in the folder that other code made.")
    ] = False,
    seed: Seed = 0,
) -> None:
    """Make the tables and figures of the paper again, beside its numbers."""
    from coterie.cli import reproduce as command

    if list_:
        command.show_experiments()
        return
    target = command.Target(out, markdown)
    settings = command.size(quick, seed, databases, runs)
    command.run(names or [], settings, jobs=jobs, mix=mix, target=target)
