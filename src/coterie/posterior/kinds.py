"""The tables of models that know kinds of items: how hard items are, of which kind they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from coterie.errors import CoterieError
from coterie.posterior.items import ItemNumbers

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

HARDNESS, KIND = "hardness", "kind"
"""Names in ``item_numbers``."""


def unknown_hardness(n_items: int) -> ItemNumbers:
    """Give the column of a model that cannot tell, so that its tables are like those that can."""
    return ItemNumbers((HARDNESS,), np.full((n_items, 1), np.nan))


def difficulty_table(posterior: Posterior) -> pd.DataFrame:
    """Give one row per item; see :meth:`coterie.posterior.Posterior.difficulty`."""
    numbers = posterior.item_numbers.get(HARDNESS)
    if numbers is None or np.isnan(numbers.values).all():
        raise CoterieError(
            f"{posterior.model} does not say how hard items are; fit EasyHardBCC or Consensus"
        )
    columns = ["item", "label", HARDNESS, "n_labels"]
    table = posterior.labels()[columns]
    return table.sort_values(HARDNESS, ascending=False, kind="stable", ignore_index=True)


def kind_table(posterior: Posterior) -> pd.DataFrame:
    """Give one row per item; see :meth:`coterie.posterior.Posterior.kinds`."""
    if KIND not in posterior.item_numbers:
        raise CoterieError(
            f"{posterior.model} knows no kinds of items; fit IBCC, CBCC or HCBCC with kinds=2"
        )
    a, numbers = posterior.annotations, posterior.item_numbers[KIND]
    best = numbers.values.argmax(axis=1)
    names = pd.Index(numbers.columns)
    table = pd.DataFrame({"item": a.items, KIND: names[best], "probability": numbers.values.max(1)})
    table["n_labels"] = a.labels_per_item
    return table.join(pd.DataFrame(numbers.values, columns=names.map("kind {}".format)))
