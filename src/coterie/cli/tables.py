"""Tables on a terminal, and plain in a pipe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as Sheet

from coterie.studies.table import Table
from coterie.words.visible import shorten

LEAST_TEXT = 8
"""Characters of a name that are shown, however narrow the terminal."""


def print_frame(
    frame: pd.DataFrame, title: str, out: Console, *, dispensable: Sequence[str] = ()
) -> None:
    """Print a frame: text to the left, numbers to the right, every row on one line.

    Parameters
    ----------
    frame, title, out
        What, under which words, and where to.
    dispensable
        Columns that a narrow terminal does without, the first first.
    """
    columns = [column for _, column in frame.items()]
    left = [k for k, one in enumerate(columns) if not pd.api.types.is_numeric_dtype(one)]
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    table = Table(title, [str(name) for name in frame.columns], rows, tuple(left))
    print_table(table, out, wraps=(), dispensable=dispensable, said=False)


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.3f}"
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def print_table(
    table: Table,
    out: Console,
    *,
    wraps: Sequence[str],
    dispensable: Sequence[str] = (),
    said: bool = True,
) -> None:
    """Print a table of text: no number is ever cut or broken; columns that do not fit go.

    Parameters
    ----------
    table
        The table.
    out
        Where to.
    wraps
        Columns whose cells may be broken into lines; other text that is too long is cut.
    dispensable
        Columns that a narrow terminal does without, the first first.
    said
        Say which those are.
    """
    left_out = []
    sheet = _fill(table, out, wraps)
    for name in dispensable:
        if name in table.header and _width(sheet, out) > out.width:
            left_out.append(name)
            table = table.without(name)
            sheet = _fill(table, out, wraps)
    if not wraps and _width(sheet, out) > out.width:
        sheet = _fill(_cut(table, _width(sheet, out) - out.width), out, wraps)
    out.print()
    out.print(escape(table.title), style="bold", highlight=False)  # it may be wider than its table
    out.print(sheet)
    if left_out and said:
        names = ", ".join(left_out)
        out.print(f"(Left out for want of width, but written by --out: {names}.)", style="dim")


def _cut(table: Table, excess: int) -> Table:
    """Take away the middle of the widest column of text, but leave something of it."""
    wide = {k: max(len(row[k]) for row in table.rows) for k in table.left} if table.rows else {}
    if not wide:
        return table
    k = max(wide, key=lambda k: wide[k])
    rows = [list(row) for row in table.rows]
    for row in rows:
        row[k] = shorten(row[k], max(wide[k] - excess, LEAST_TEXT))
    return table._replace(rows=rows)


def _fill(table: Table, out: Console, wraps: Sequence[str]) -> Sheet:
    look = box.SIMPLE_HEAD if out.is_terminal else None
    sheet = Sheet(box=look, pad_edge=False, show_edge=False, collapse_padding=out.is_terminal)
    for k, name in enumerate(table.header):
        sheet.add_column(
            escape(name),
            justify="left" if k in table.left else "right",
            overflow="fold" if name in wraps else "ellipsis",
            no_wrap=name not in wraps,
        )
    for row in table.rows:
        sheet.add_row(*map(escape, row))
    return sheet


def _width(sheet: Sheet, out: Console) -> int:
    """Give the width at which no cell of a table is broken."""
    return Measurement.get(out, out.options.update(width=10_000), sheet).maximum
