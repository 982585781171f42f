"""What a table says of the items beside their labels: their text, where their pictures are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from coterie.data import Table
from coterie.data.columns import guess, place_of
from coterie.data.table import Coded
from coterie.errors import DataError
from coterie.io.files import File
from coterie.io.tables import table_of_file

if TYPE_CHECKING:
    import pandas as pd


def read_beside(
    file: File, columns: Mapping[str, str], item: Hashable | None = None
) -> dict[str, pd.Series]:
    """Read columns of a table by item: Series, item -> the first value that is not blank.

    Parameters
    ----------
    file
        A table of items, or of labels.
    columns
        Name of the argument that asks -> name of the column.
    item
        The column of the items; by default the one whose name says so.
    """
    table = table_of_file(file)
    places = [_item_place(table, item), *(place_of(table, columns[key], key) for key in columns)]
    items, *cells = table.read(places)
    return {key: _first(items, cell) for key, cell in zip(columns, cells, strict=True)}


def _item_place(table: Table, item: Hashable | None) -> int:
    if item is not None and item in table.columns:
        return place_of(table, item, "item")
    found = guess(table, "item")
    if found is None:
        raise DataError(
            f"no column of {table.name} is known to hold the items; call it 'item', or as in the "
            "labels"
        )
    return found


def _first(items: Coded, cells: Coded) -> pd.Series:
    """Give the first value of each item that has any."""
    import pandas as pd

    keys: Sequence[Hashable] = items.values.tolist()
    (there,) = np.nonzero((items.codes >= 0) & (cells.codes >= 0))
    codes, first = np.unique(items.codes[there], return_index=True)
    values = [cells.values[code] for code in cells.codes[there[first]]]
    index = pd.Index([keys[code] for code in codes], dtype=object, tupleize_cols=False)
    return pd.Series(values, index=index, dtype=object)
