"""Any dataframe or triples -> Annotations: column guessing, validation, the error sentences."""

from coterie.data.build import annotations_from
from coterie.data.gold import known_labels, truth_for, with_gold
from coterie.data.table import Coded, Table, table_from

__all__ = [
    "Coded", "Table", "annotations_from", "known_labels", "table_from", "truth_for",
    "with_gold",
]  # fmt: skip
