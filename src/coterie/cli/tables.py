"""Tables on a terminal, and plain in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as Sheet

from coterie.studies.table import Table


def new_sheet(title: str, out: Console) -> Sheet:
    """Make an empty table, as all of ours look."""
    return Sheet(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD if out.is_terminal else None,
        pad_edge=False,
    )


def print_table(
    table: Table, out: Console, *, wraps: Sequence[str], dispensable: Sequence[str] = ()
) -> None:
    """Print a table of text: no number is ever cut or broken; columns that do not fit go.

    Parameters
    ----------
    table
        The table.
    out
        Where to.
    wraps
        Columns whose cells may be broken into lines.
    dispensable
        Columns that a narrow terminal does without, the first first.
    """
    left_out = []
    sheet = _fill(table, out, wraps)
    for name in dispensable:
        if name in table.header and _width(sheet, out) > out.width:
            left_out.append(name)
            table = table.without(name)
            sheet = _fill(table, out, wraps)
    out.print()
    out.print(sheet)
    if left_out:
        names = ", ".join(left_out)
        out.print(f"(Left out for want of width, but written by --out: {names}.)", style="dim")


def _fill(table: Table, out: Console, wraps: Sequence[str]) -> Sheet:
    sheet = new_sheet(table.title, out)
    sheet.collapse_padding = out.is_terminal  # there every column counts
    for k, name in enumerate(table.header):
        justify: Literal["left", "right"] = "left" if k in table.left else "right"
        sheet.add_column(name, justify=justify, overflow="fold", no_wrap=name not in wraps)
    for row in table.rows:
        sheet.add_row(*map(escape, row))
    return sheet


def _width(sheet: Sheet, out: Console) -> int:
    """Give the width at which no cell of a table is broken."""
    return Measurement.get(out, out.options.update(width=10_000), sheet).maximum
