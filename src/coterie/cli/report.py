"""coterie report: a saved result as a page to pass around."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Image, Items, Saved, Text, Title, Truth, a_path

NAME = "report.html"


@guarded
def report(
    run: Saved,
    out: Annotated[
        Path | None, a_path("--out", "-o", help="The page; by default beside the run.")
    ] = None,
    truth: Truth = None,
    title: Title = None,
    text: Text = None,
    image: Image = None,
    items: Items = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="Labels that can be asked for: says what to do next."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a saved result as a page to pass around: one HTML file that needs nothing else."""
    from coterie.cli import show
    from coterie.cli.item_columns import Beside, shown_again
    from coterie.files.atomic import check_free
    from coterie.posterior import load
    from coterie.report import write

    saved = saved_at(run)
    path = saved.with_name(NAME) if out is None else out / NAME if out.is_dir() else out
    posterior = load(saved)
    check_free(path.parent, [path], force=force)
    record = recorded(saved)
    truth = truth or scored_by(record, saved.parent)
    shown = shown_again(Beside(text, image, items), record, posterior.annotations)
    shown = shown._replace(budget=budget)
    write(posterior, path, truth=truth, title=title, record=record, shown=shown)
    show.files([path])


def saved_at(path: Path) -> Path:
    """Give the file of a saved run, or of the folder that holds one."""
    return path / "run.coterie" if path.is_dir() else path


def recorded(saved: Path) -> dict[str, Any]:
    """Read the record that ``coterie aggregate`` wrote beside a run; empty if there is none."""
    try:
        record = json.loads(saved.with_name("run.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) and saved.name == "run.coterie" else {}


def scored_by(record: Mapping[str, Any], folder: Path) -> Path | None:
    """Find the truth that the run was scored by; if it is gone, say that its section is, too."""
    from coterie.cli import show
    from coterie.errors import DataError
    from coterie.io.files import find

    if not record.get("scores"):
        return None
    told = record.get("truth")
    why = "the run was scored by a truth that is in no file"  # the demo: only it knew the truth
    if told:
        for path in (Path(told["path"]), folder / told["path"]):
            try:
                if find(path).sha256() == told["sha256"]:
                    return path
            except DataError:
                continue
        why = f"{told['path']}, by which the run was scored, is gone or has changed"
    show.line(f"No section on the truth: {why}. Give it with --truth.")
    return None
