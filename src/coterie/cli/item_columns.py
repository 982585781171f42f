"""What pages show of the items beside their ids: columns that the user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.cli import show
from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError
from coterie.io.files import find
from coterie.io.item_columns import read_beside

if TYPE_CHECKING:
    from coterie.report import Shown


class Beside(NamedTuple):
    """Which columns, and of which table if not of the labels."""

    text: str | None = None
    image: str | None = None
    items: Path | None = None

    @property
    def columns(self) -> dict[str, str]:
        """The columns by the names of their options."""
        asked = {"text": self.text, "image": self.image}
        return {name: column for name, column in asked.items() if column is not None}

    def record(self) -> dict[str, Any]:
        """Give what ``run.json`` says of it."""
        items = None if self.items is None else str(self.items)
        return {"text": self.text, "image": self.image, "items": items}


def shown_with(beside: Beside, sources: Sequence[str], a: Annotations) -> Shown:
    """Read what was asked for; nothing if nothing was.

    Parameters
    ----------
    beside
        What was asked for.
    sources
        Where the labels come from.
    a
        The labels, which know the column of their items.
    """
    from coterie.report import Shown

    if not beside.columns:
        return Shown()
    told = a.provenance
    table = told is not None and told.export is None and len(sources) == 1 and sources[0] != "-"
    if beside.items is None and not table:
        raise DataError(
            "only a table in one file has columns of text and pictures",
            remedy=["give one with ", Argument("items")],
        )
    path = Path(sources[0]) if beside.items is None else beside.items
    item = None if told is None else told.item
    found = read_beside(find(path), beside.columns, item)
    return Shown(found.get("text"), found.get("image"), path.parent)


def shown_again(beside: Beside, record: Mapping[str, Any], a: Annotations) -> Shown:
    """Read what was asked for now, or for the page of the run; say so if its file is gone."""
    from coterie.report import Shown

    path = (record.get("input") or {}).get("path")
    sources = [path if isinstance(path, str) else "-"]
    if beside.columns:
        return shown_with(beside, sources, a)
    before = record.get("shown") or {}
    items = before.get("items")
    again = Beside(before.get("text"), before.get("image"), Path(items) if items else None)
    try:
        return shown_with(again, sources, a)
    except DataError as error:
        show.line(f"Items without their text or pictures: {error}")
        return Shown()
