"""Any dataframe or triples -> Annotations: column guessing, validation, the error sentences."""

from coterie.frames.build import annotations_from
from coterie.frames.gold import known_labels, with_gold
from coterie.frames.table import Table, table_from
from coterie.frames.values import Coded

__all__ = ["Coded", "Table", "annotations_from", "known_labels", "table_from", "with_gold"]
