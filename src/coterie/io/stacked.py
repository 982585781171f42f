"""Tables of several files with the same columns -> one Table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from coterie.data import Table
from coterie.data.table import columns_table
from coterie.errors import Argument, DataError
from coterie.words.values import written


def stacked(tables: Sequence[Table], name: str) -> Table:
    """Put tables below each other, in the order in which they were named.

    Parameters
    ----------
    tables
        The tables; their columns must be the same, in any order.
    name
        What to call all of them.

    Examples
    --------
    >>> from coterie.data import table_from
    >>> parts = [table_from([("q1", "ann", "yes")]), table_from([("q1", "bob", "no")])]
    >>> stacked(parts, "both").read([1])[0].values.tolist()
    ['ann', 'bob']
    """
    first = tables[0]
    for table in tables[1:]:
        if sorted(map(str, table.columns)) != sorted(map(str, first.columns)):
            raise DataError(
                f"{first.name} has the columns {written(first.columns)}, {table.name} "
                f"{written(table.columns)}; files that are one data set have the same",
                remedy=["name the files of labels, and one of known labels by ", Argument("gold")],
            )
    columns: dict[Hashable, list[Any]] = {name: [] for name in first.columns}
    for table in tables:
        places = [table.columns.index(name) for name in first.columns]
        for cells, coded in zip(columns.values(), table.read(places), strict=True):
            values = coded.values.tolist()
            cells += [None if code < 0 else values[code] for code in coded.codes.tolist()]
    source = replace(first.source, name=name)
    return columns_table(source, columns, counted="of all files in their order; the first is row 0")
