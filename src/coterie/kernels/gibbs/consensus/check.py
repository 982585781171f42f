"""Is a state of Consensus that was restored one of these data? Its items here, or elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.check import (
    check_classes,
    check_groups,
    check_labels,
    check_parameters,
    check_said,
    count_said,
    require_match,
)
from coterie.kernels.gibbs.consensus.state import Prior, State


def check_state(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state is one of these data."""
    check_classes(state, data)
    own = _check_sources(state, data, prior)
    check_said(state, count_said(state.truth, data, own))
    check_groups(state)
    check_parameters(state, prior.auxiliaries)


def check_without_items(state: State, data: Codes, prior: Prior) -> None:
    """Raise ValueError unless the state can be of these labels, whose items are elsewhere."""
    check_labels(state.said, data, guesses=True)
    n_labels = int(np.diff(data.annotator_start).sum())
    counts = (state.kind_total, state.source, state.guessed, state.class_total)
    sources = (int(state.guessed.sum()), int(state.said.sum(dtype=np.int64)))
    if any((array < 0).any() for array in counts) or sum(sources) != n_labels:
        raise ValueError("source does not follow from the labels")
    if tuple(state.source.sum(axis=0).tolist()) != sources:
        raise ValueError("source does not follow from the counts")
    _check_points(state, prior)
    check_said(state, state.said)
    check_groups(state)
    check_parameters(state, prior.auxiliaries)


def _check_sources(state: State, data: Codes, prior: Prior) -> NDArray[Any]:
    """Check kinds of items and sources of labels; give whose labels are no guesses."""
    n_kinds, labelled = len(prior.guessing), np.diff(data.item_start) > 0
    in_range = ((state.kind >= 0) == labelled) & (state.kind >= -1) & (state.kind < n_kinds)
    if not (in_range.all() and np.isin(state.own, (0, 1)).all()):
        raise ValueError("kind or own is out of range")
    _check_points(state, prior)
    item = np.repeat(np.arange(len(data.gold)), np.diff(data.item_start))
    source = np.zeros((n_kinds, 2), np.int64)
    np.add.at(source, (state.kind[item], state.own), 1)
    own = np.asarray(state.own == 1)
    guessed = np.bincount(data.item_answer[~own], minlength=data.n_answers)
    kinds = np.bincount(state.kind[labelled], minlength=n_kinds)
    require_match("kind_total", state.kind_total, kinds)
    require_match("source", state.source, source)
    require_match("guessed", state.guessed, guessed)
    return own


def _check_points(state: State, prior: Prior) -> None:
    if not ((state.known >= 0) & (state.known < len(prior.point))).all():
        raise ValueError("known is out of range")
