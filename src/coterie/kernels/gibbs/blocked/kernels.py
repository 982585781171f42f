"""The kernels of a blocked sampler, made from its parts: what begins a sweep, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from coterie.data.codes import Codes
from coterie.kernels.gibbs.blocked.whole import sweep_whole, tally_others
from coterie.kernels.keep import Record, Streams
from coterie.numeric.jit import kernel

Part = Callable[..., None]


class AroundItems(NamedTuple):
    """What is called around a sweep of the items, wherever those are."""

    begin_sweep: Part
    take_counts: Part
    finish_sweep: Part


def kernels_around_items(begin: Part, take: Part, finish: Part) -> AroundItems:
    """Make the kernels that an engine calls before and after the shards are swept.

    Parameters
    ----------
    begin, take, finish
        Parts: draw what the items are given; write what was counted to the state; end a sweep,
        as the collapsed sampler does, whose scratch ``scratch.plain`` is.
    """

    @kernel
    def begin_sweep(state: Any, data: Codes, prior: Any, streams: Streams, scratch: Any) -> None:
        """Draw what the items are given, into ``scratch.whole.given``."""
        begin(state, data, prior, scratch.whole.given, scratch, streams.moves)

    @kernel
    def take_counts(state: Any, scratch: Any) -> None:
        """Take in ``scratch.whole.totals``, which are of all items."""
        take(state, scratch.whole.totals)

    @kernel
    def finish_sweep(
        state: Any, data: Codes, prior: Any, streams: Streams, record: Record, scratch: Any
    ) -> None:
        """Take in ``scratch.whole.totals``, of all items, and end the trace's one sweep."""
        take(state, scratch.whole.totals)
        finish(0, state, data, prior, streams, record, scratch.plain)

    return AroundItems(begin_sweep, take_counts, finish_sweep)


def kernel_of_block(begin: Part, take: Part, finish: Part) -> Part:
    """Make the kernel that sweeps all items in one place; ``scratch.plain`` begins with the view.

    The parameters are those of :func:`kernels_around_items`.
    """

    @kernel
    def run_block(
        state: Any, data: Codes, prior: Any, streams: Streams, record: Record, scratch: Any
    ) -> None:
        """Make as many sweeps as the trace has room for, changing the state in place."""
        view, whole = scratch.plain[0], scratch.whole  # by place: numba takes .view for numpy's
        for sweep in range(len(record.trace.log_joint)):
            begin(state, data, prior, whole.given, scratch, streams.moves)
            sweep_whole(whole, view, data, streams.moves, record.tally)
            take(state, whole.totals)
            tally_others(view, data, record.tally)
            finish(sweep, state, data, prior, streams, record, scratch.plain)

    return run_block
