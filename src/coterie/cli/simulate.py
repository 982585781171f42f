"""coterie simulate: a synthetic crowd as files, with its truth and its groups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.cli import show
from coterie.io.write import check_free, table_writer, targets, write_together
from coterie.simulation import simulate

TABLES = ("labels", "truth", "groups")


def run(scenario: str, sizes: Mapping[str, Any], out: Path, format: str, force: bool) -> None:
    """Simulate and write labels, truth and groups."""
    paths = targets(out, TABLES, format)
    check_free(out, paths.values(), force=force)
    crowd = simulate(scenario, **sizes)
    tables = {
        "labels": crowd.annotations.to_frame(),
        "truth": crowd.truth.rename("label").reset_index(),
        "groups": crowd.groups.reset_index(),
    }
    write_together({paths[name]: table_writer(table, format) for name, table in tables.items()})
    show.console().print(str(crowd), markup=False, soft_wrap=True)
    show.files(list(paths.values()))
