"""coterie simulate: a synthetic crowd as files, with its truth and its groups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.cli import show
from coterie.files.atomic import check_free, write_set
from coterie.io.write import other_formats, table_writer, targets
from coterie.simulation import simulate

TABLES = ("labels", "truth", "groups")


def run(scenario: str, sizes: Mapping[str, Any], out: Path, format: str, force: bool) -> None:
    """Simulate and write labels, truth and groups."""
    paths = targets(out, TABLES, format)
    others = other_formats(paths.values())
    check_free(out, [*paths.values(), *others], force=force)
    crowd = simulate(scenario, **sizes)
    labels = crowd.annotations.to_frame()
    if crowd.kinds is not None:  # beside the labels, where --kinds looks for them
        labels = labels.assign(kind=labels["item"].map(crowd.kinds))
    tables = {
        "labels": labels,
        "truth": crowd.truth.rename("label").reset_index(),
        "groups": crowd.groups.reset_index(),
    }
    writers = {paths[name]: table_writer(table, format) for name, table in tables.items()}
    write_set(out, writers, others, force=force)
    show.console().print(str(crowd), markup=False, soft_wrap=True)
    show.files(list(paths.values()))
