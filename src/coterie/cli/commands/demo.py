"""coterie demo: its options."""

from __future__ import annotations

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Model, Out, Seed
from coterie.models.registry import DEFAULT


@guarded
def demo(model: Model = DEFAULT, out: Out = None, seed: Seed = 0, force: Force = False) -> None:
    """Aggregate a built-in synthetic crowd whose truth is known, and show the result."""
    from coterie.cli import demo as command

    command.run(model, seed, out, force)
