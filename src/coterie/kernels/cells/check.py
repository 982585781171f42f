"""Do the counts of a state follow from where its items sit? Asked of what is restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.cells.items import View, count_items

COUNTED = ("class_total", "chosen", "chosen_block", "said", "said_total")


def check_cells(state: Any, data: Codes, prior: Any, view_of: Callable[[Any, Any], View]) -> None:
    """Raise ValueError unless cells are in range and allowed, and every count adds up.

    Parameters
    ----------
    state
        Of any model with cells; its counts are called as in :data:`COUNTED`.
    data, prior
        What it is of.
    view_of
        ``(state, prior) -> View``: the model's own.
    """
    space, cell = prior.space, state.cell
    labelled = np.diff(data.item_start) > 0
    if not (((cell >= 0) == labelled) & (cell >= -1) & (cell < len(space.class_of))).all():
        raise ValueError("cell is out of range")
    truth, kind = space.class_of[cell[labelled]], space.kind_of[cell[labelled]]
    known = view_of(state, prior).known
    wrong_kind = (known[labelled] >= 0) & (known[labelled] != kind) if len(known) else False
    if ((truth != state.truth[labelled]) | wrong_kind).any():
        raise ValueError("cell is not what truth or the known kind says")
    empty = {name: np.zeros_like(getattr(state, name)) for name in COUNTED}
    fresh = state._replace(**empty, truth=state.truth.copy(), cell=cell.copy())
    count_items(view_of(fresh, prior), data)
    for name in COUNTED:
        if not np.array_equal(getattr(state, name), getattr(fresh, name)):
            raise ValueError(f"{name} does not follow from the state")
