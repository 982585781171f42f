"""coterie reproduce: where it went."""

import typer

from coterie.cli.guard import complain


def reproduce() -> None:
    """Say where the paper's tables and figures are made."""
    complain(
        "Error",
        "the paper's tables and figures are not made by the package; "
        "take the project's source and run: make paper",
    )
    raise typer.Exit(2)
