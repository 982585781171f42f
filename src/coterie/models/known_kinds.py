"""Known kinds of items, as they are told to ``fit``."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.data.annotations import Annotations
from coterie.data.kinds import KnownKinds, kinds_of_column, known_kinds
from coterie.data.table import table_from
from coterie.errors import Argument, DataError
from coterie.io.read import is_path
from coterie.io.tables import table_of_file
from coterie.posterior import ItemNumbers


def find_kinds(kinds: Any, data: Any, annotations: Annotations) -> KnownKinds:
    """Read the known kinds: a column of the data, or a table of its own."""
    if isinstance(kinds, KnownKinds):
        return kinds
    if not isinstance(kinds, str):
        return known_kinds(kinds, annotations)
    if isinstance(data, Annotations):
        raise DataError(
            [Argument("kinds", kinds), " is a column, but the labels were already read"],
            remedy="give a Series, item -> kind",
        )
    table = table_of_file(data) if is_path(data) else table_from(data)
    return kinds_of_column(table, kinds, annotations)


def certain_kinds(known: KnownKinds) -> ItemNumbers:
    """Give the probabilities of kinds that are known."""
    return ItemNumbers(tuple(map(str, known.names)), np.eye(len(known.names))[known.codes])


def check_not_told(model: object, told: bool) -> None:
    """Refuse to go on with more labels where kinds were told: new items have none."""
    if told:
        raise DataError(
            f"this {type(model).__name__} was told the kinds of the items, which update cannot"
            " be; fit all labels again, with their kinds"
        )
