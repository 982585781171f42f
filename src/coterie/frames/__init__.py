"""Any dataframe or triples -> Annotations: column guessing, validation, the error sentences."""

from coterie.frames.build import Declared, annotations_from, build
from coterie.frames.columns import Asked
from coterie.frames.gold import known_labels, with_gold
from coterie.frames.table import Table, arrow_table, columns_table, table_from
from coterie.frames.values import Coded

__all__ = [
    "Asked",
    "Coded",
    "Declared",
    "Table",
    "annotations_from",
    "arrow_table",
    "build",
    "columns_table",
    "known_labels",
    "table_from",
    "with_gold",
]
