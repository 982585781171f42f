"""Consensus, whose items may lie anywhere: the sampler is blocked already, the numbers are keyed.

Coteries, their parameters and an exchange of classes need counts alone. An exchange moves rows of
counts: the items need not be told, for their classes are drawn next, given the matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.gibbs.blocked.given import clear_totals, take_totals
from coterie.kernels.gibbs.blocked.hard import HardItems, HardMarks, Told, sweep_hard
from coterie.kernels.gibbs.blocked.items import Totals, new_totals
from coterie.kernels.gibbs.blocked.kernels import kernels_around_items
from coterie.kernels.gibbs.blocked.whole import new_stream
from coterie.kernels.gibbs.consensus import model
from coterie.kernels.gibbs.consensus.check import check_without_items as check_state
from coterie.kernels.gibbs.consensus.items import Given
from coterie.kernels.gibbs.consensus.model import (
    finish,
    initial_state,
    keep_draw,
    layout_of,
    pack_prior,
)
from coterie.kernels.gibbs.consensus.parameters import draw_given, sweep_parameters
from coterie.kernels.gibbs.consensus.state import (
    Chosen,
    Prior,
    State,
    crowd_of,
    free_classes,
    new_room,
)
from coterie.kernels.gibbs.consensus.swap import sweep_classes
from coterie.kernels.gibbs.consensus.tally import tally_bystanders
from coterie.kernels.keep import Record, Streams
from coterie.numeric.jit import kernel, part

__all__ = [
    "Prior",
    "State",
    "begin_sweep",
    "check_state",
    "crowd_of",
    "finish_sweep",
    "initial_state",
    "keep_draw",
    "knowing",
    "layout_of",
    "new_room",
    "new_scratch",
    "pack_prior",
    "run_block",
    "take_counts",
]


class Whole(NamedTuple):
    """All items that are here, what they are given and counted in."""

    items: HardItems
    given: Given
    totals: Totals
    marks: HardMarks


class Scratch(NamedTuple):
    """Room to sweep in, for all blocks of a chain."""

    plain: model.Scratch
    whole: Whole


def new_scratch(state: State, data: Codes, prior: Prior) -> Scratch:
    """Give room to sweep in, for all blocks of a chain; items are keyed by their numbers."""
    plain = model.new_scratch(state, data, prior)
    n_items, n_kinds = len(data.gold), len(prior.guessing)
    items = HardItems(
        key=np.arange(n_items, dtype=np.uint64),
        item_start=data.item_start,
        item_annotator=data.item_annotator,
        item_answer=data.item_answer,
        gold=data.gold,
        winner=np.full(n_items, -1, np.int32),
        n_classes=data.n_classes,
        n_answers=data.n_answers,
    )
    told = Told(prior.guessing, prior.log_source, prior.design_effect)
    marks = HardMarks(plain.found.work, Chosen(state.truth, state.kind, state.own))
    totals = new_totals(len(state.said), data.n_classes, data.n_answers, n_kinds)
    given = Given(told, plain.given.drawn)  # type: ignore[arg-type]
    return Scratch(plain, Whole(items, given, totals, marks))


def knowing(scratch: Scratch, data: Codes) -> Scratch:
    """Tell of items that are elsewhere: which classes may be exchanged, gold items have others."""
    plain = scratch.plain
    room = plain.room._replace(free_class=free_classes(data))
    return scratch._replace(plain=plain._replace(room=room))


@part
def begin(
    state: State, data: Codes, prior: Prior, given: Given, scratch: Scratch,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Update coteries and what they have, exchange classes; then draw what the items are given."""
    sweep_parameters(state, scratch.plain.crowd, prior, scratch.plain.room, rng)
    sweep_classes(state, prior, scratch.plain.room, rng)
    draw_given(state, prior, given.drawn, rng)


@part
def take(state: State, totals: Totals) -> None:
    """Write what was counted to the state."""
    take_totals(totals, state.class_total, state.said, state.said_total)
    for k in range(len(state.kind_total)):
        state.kind_total[k] = totals.kind_total[k]
        for own in range(2):
            state.source[k, own] = totals.source[k, own]
    for c in range(len(state.guessed)):
        state.guessed[c] = totals.guessed[c]


begin_sweep, take_counts, finish_sweep = kernels_around_items(begin, take, finish)


@kernel
def run_block(
    state: State, data: Codes, prior: Prior, streams: Streams, record: Record, scratch: Scratch
) -> None:
    """Make as many sweeps as the trace has room for, changing the state in place."""
    items, given, totals, marks = scratch.whole
    for sweep in range(len(record.trace.log_joint)):
        begin(state, data, prior, given, scratch, streams.moves)
        clear_totals(totals)
        sweep_hard(items, given, new_stream(streams.moves), totals, marks, record.tally)
        take(state, totals)
        tally_bystanders(state, prior, data, record.tally)
        finish(sweep, state, data, prior, streams, record, scratch.plain)
