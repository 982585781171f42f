"""What a notebook shows of an object: a line, and the first rows of its tables."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from coterie.words.visible import visible

if TYPE_CHECKING:
    import pandas as pd

ROWS = 5
"""Of each table."""


def as_html(headline: str, tables: Iterable[pd.DataFrame] = (), lines: Iterable[str] = ()) -> str:
    """Write a headline, sentences and the head of tables as HTML; everything is escaped.

    Examples
    --------
    >>> as_html("<Posterior of IBCC>", lines=["labels settled"])
    '<div><p><b>&lt;Posterior of IBCC&gt;</b></p><p>labels settled</p></div>'
    """
    parts = [f"<p><b>{escape(visible(headline))}</b></p>"]
    parts += [f"<p>{escape(visible(line))}</p>" for line in lines]
    for table in tables:
        parts.append(table.head(ROWS).to_html(index=False, border=0, float_format="{:.3f}".format))
        if len(table) > ROWS:
            parts.append(f"<p>and {len(table) - ROWS:,} more rows</p>")
    return f"<div>{''.join(parts)}</div>"
