"""coterie datasets: its options."""

from __future__ import annotations

from coterie.cli.guard import guarded


@guarded
def datasets() -> None:
    """List the real data sets that coterie can load, with licence and citation."""
    from coterie.cli import datasets as command

    command.run()
