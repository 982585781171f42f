"""coterie report: a saved result as a page to pass around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Option

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Image, Items, Saved, Text, Title, Truth, a_path

if TYPE_CHECKING:
    from coterie.data.annotations import Annotations
    from coterie.report import Shown

NAME = "report.html"


@guarded
def report(
    run: Saved,
    out: Path | None = a_path(None, "--out", "-o", help="The page; by default beside the run."),
    truth: Truth = None,
    title: Title = None,
    text: Text = None,
    image: Image = None,
    items: Items = None,
    budget: float | None = Option(
        None, min=0, help="Labels that can be asked for: says what to do next."
    ),
    force: Force = False,
) -> None:
    """Write a saved result as a page to pass around: one HTML file that needs nothing else."""
    from coterie.cli import show
    from coterie.files.atomic import check_free
    from coterie.posterior import load
    from coterie.report import write

    saved = saved_at(run)
    path = saved.with_name(NAME) if out is None else out / NAME if out.is_dir() else out
    posterior = load(saved)
    check_free(path.parent, [path], force=force)
    record = recorded(saved)
    truth = truth or scored_by(record, saved.parent)
    beside = {"text": text, "image": image, "items": None if items is None else str(items)}
    shown = shown_again(beside, record, posterior.annotations)._replace(budget=budget)
    write(posterior, path, truth=truth, title=title, record=record, shown=shown)
    show.files([path])


def saved_at(path: Path) -> Path:
    """Give the file of a saved run, or of the folder that holds one."""
    return path / "run.coterie" if path.is_dir() else path


def recorded(saved: Path) -> dict[str, Any]:
    """Read the record that ``coterie aggregate`` wrote beside a run; empty if there is none."""
    import json

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


def shown_with(beside: Mapping[str, str | None], sources: Sequence[str], a: Annotations) -> Shown:
    """Read what a page shows of the items beside their ids; nothing if nothing is asked for.

    Parameters
    ----------
    beside
        What is asked for, as ``run.json`` has it: columns of ``text`` and ``image``, and the table
        of ``items`` that has them, if not the labels.
    sources, a
        Where the labels come from, and the labels, which know the column of their items.
    """
    from coterie.errors import Argument, DataError
    from coterie.io.files import find
    from coterie.io.tables import read_beside
    from coterie.report import Shown

    columns = {name: beside.get(name) for name in ("text", "image")}
    asked = {name: column for name, column in columns.items() if column is not None}
    if not asked:
        return Shown()
    told, items = a.provenance, beside.get("items")
    table = told is not None and told.export is None and len(sources) == 1 and sources[0] != "-"
    if items is None and not table:
        raise DataError(
            "only a table in one file has columns of text and pictures",
            remedy=["give one with ", Argument("items")],
        )
    path = Path(sources[0] if items is None else items)
    found = read_beside(find(path), asked, None if told is None else told.item)
    return Shown(found.get("text"), found.get("image"), path.parent)


def shown_again(
    beside: Mapping[str, str | None], record: Mapping[str, Any], a: Annotations
) -> Shown:
    """Read what is asked for now, or was for the page of the run; say so if its file is gone."""
    from coterie.cli import show
    from coterie.errors import DataError
    from coterie.report import Shown

    path = (record.get("input") or {}).get("path")
    sources = [path if isinstance(path, str) else "-"]
    if beside["text"] is not None or beside["image"] is not None:
        return shown_with(beside, sources, a)
    try:
        return shown_with(record.get("shown") or {}, sources, a)
    except DataError as error:
        show.line(f"Items without their text or pictures: {error}")
        return Shown()
