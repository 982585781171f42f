"""Do the counts of a chain's state follow from its classes and groups? Asked of what is restored.

The kernels find their way by these counts and never look whether they are right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes


def check_counts(state: Any, data: Codes, prior: Any) -> None:
    """Raise ValueError unless every count of the state is what its parts add up to.

    Parameters
    ----------
    state
        Of any model of the paper, or of Consensus; classes and groups are known to be in range.
    data, prior
        What it is of.
    """
    parts = state._asdict()
    matches = {"class_total": np.bincount(state.truth[state.truth >= 0], minlength=data.n_classes)}
    item = np.repeat(np.arange(len(data.gold)), np.diff(data.item_start))
    own = np.ones(len(item), bool)
    if "kind" in parts:
        own = _check_sources(state, data, prior, item, matches)
    said = np.zeros((len(data.annotator_start) - 1, data.n_answers, data.n_classes), np.int64)
    place = (data.item_annotator[own], data.item_answer[own], state.truth[item[own]])
    np.add.at(said, place, 1)
    if "group" in parts:
        check_groups(state, getattr(prior, "auxiliaries", 0))
    if parts.get("own", item).ndim == 3:  # cBCC counts by annotator, and by group
        matches["own"] = said
        grouped = np.zeros_like(state.said, dtype=np.int64)
        np.add.at(grouped, state.group[state.group >= 0], said[state.group >= 0])
        said = grouped
    matches["said"], matches["said_total"] = said, said.sum(axis=1)
    for name, expected in matches.items():
        if not np.array_equal(parts[name], expected):
            raise ValueError(f"{name} does not follow from the state")


def _check_sources(
    state: Any, data: Codes, prior: Any, item: NDArray[Any], matches: dict[str, NDArray[Any]]
) -> NDArray[np.bool_]:
    """Check what Consensus has beside: kinds of items and sources of labels; give whose are own."""
    n_kinds, labelled = len(prior.guessing), np.diff(data.item_start) > 0
    in_range = ((state.kind >= 0) == labelled) & (state.kind >= -1) & (state.kind < n_kinds)
    points = (state.known >= 0) & (state.known < len(prior.point))
    if not (in_range.all() and points.all() and np.isin(state.own, (0, 1)).all()):
        raise ValueError("kind, known or own is out of range")
    matches["kind_total"] = np.bincount(state.kind[labelled], minlength=n_kinds)
    source = np.zeros((n_kinds, 2), np.int64)
    np.add.at(source, (state.kind[item], state.own), 1)
    matches["source"] = source
    own: NDArray[np.bool_] = state.own == 1
    matches["guessed"] = np.bincount(data.item_answer[~own], minlength=data.n_answers)
    return own


def check_groups(state: Any, auxiliaries: int = 0) -> None:
    """Check sizes, slots and, where there are any, the parameters of the groups in use."""
    n_slots = len(state.size)
    size = np.bincount(state.group[state.group >= 0], minlength=n_slots)
    n_coteries = int(np.count_nonzero(size))
    if not (np.array_equal(state.size, size) and state.n_coteries[0] == n_coteries):
        raise ValueError("size or n_coteries does not follow from the state")
    if sorted(state.slot.tolist()) != list(range(n_slots)):
        raise ValueError("slot is no order of the slots")
    if (size[state.slot[:n_coteries]] == 0).any():
        raise ValueError("slot does not begin with the groups")
    if not state.log_concentration[0] < np.inf:
        raise ValueError("log_concentration is infinite")
    used = state.slot[: n_coteries + auxiliaries]
    for name in ("weight", "strength"):
        if name in state._fields:
            array = getattr(state, name)[used]
            if not ((array >= 0) & (array < np.inf)).all():
                raise ValueError(f"{name} is out of range")
