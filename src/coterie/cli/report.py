"""coterie report: a saved result as a page to pass around."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.cli import show
from coterie.cli.item_columns import Beside, shown_again
from coterie.errors import DataError
from coterie.files.atomic import check_free
from coterie.io.files import find
from coterie.posterior import load
from coterie.report import write

NAME = "report.html"
NOTHING = Beside()


def run(
    source: Path,
    out: Path | None,
    truth: Path | None,
    title: str | None,
    force: bool,
    beside: Beside = NOTHING,
    budget: float | None = None,
) -> None:
    """Write the report of a saved run, by default beside it."""
    saved = source / "run.coterie" if source.is_dir() else source
    path = saved.with_name(NAME) if out is None else out / NAME if out.is_dir() else out
    posterior = load(saved)
    check_free(path.parent, [path], force=force)
    record = recorded(saved)
    truth = truth or scored_by(record, saved.parent)
    shown = shown_again(beside, record, posterior.annotations)._replace(budget=budget)
    write(posterior, path, truth=truth, title=title, record=record, shown=shown)
    show.files([path])


def recorded(saved: Path) -> dict[str, Any]:
    """Read the record that ``coterie aggregate`` wrote beside a run; empty if there is none."""
    try:
        record = json.loads(saved.with_name("run.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) and saved.name == "run.coterie" else {}


def scored_by(record: Mapping[str, Any], folder: Path) -> Path | None:
    """Find the truth that the run was scored by; if it is gone, say that its section is, too."""
    if not record.get("scores"):
        return None
    told = record.get("truth")
    if not told:  # the demo, whose truth only the simulation knew
        show.no_truth("the run was scored by a truth that is in no file")
        return None
    for path in (Path(told["path"]), folder / told["path"]):
        try:
            if find(path).sha256() == told["sha256"]:
                return path
        except DataError:
            continue
    show.no_truth(f"{told['path']}, by which the run was scored, is gone or has changed")
    return None
