"""What a sampled model brings along: its kernels, which it must, and hooks, which it may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.modes import Evidence, Verdict, judge_modes
from coterie.inference.settled import Outcome, Settled, settled_labels
from coterie.inference.start import Start, start_apart
from coterie.kernels.gibbs.ended import Ended
from coterie.kernels.keep import Record, Streams
from coterie.kernels.layout import PLAIN, Layout
from coterie.kernels.matrices import Matrices
from coterie.kernels.mixing import AS_FOUND, Mixing
from coterie.posterior import ItemNumbers

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Kernels(Protocol):
    """What a model's kernel module offers: ``coterie.kernels.gibbs.ibcc, cbcc, hcbcc``.

    The packed prior and the state are NamedTuples of arrays of the kernel's own. The prior has
    ``class_weight``, shape (classes,); the state has ``truth``, shape (items,), and, if the model
    finds coteries, ``group``, shape (annotators,), -1 for annotators without labels, and ``size``,
    shape (slots,), how many annotators each group has.
    """

    def pack_prior(self, prior: Any) -> Any:
        """Give a resolved prior as a NamedTuple of arrays."""

    def initial_state(
        self, data: Codes, prior: Any, truth: Any, group: Any, rng: np.random.Generator
    ) -> Any:
        """Start from these classes and coteries."""

    def new_scratch(self, state: Any, data: Codes, prior: Any) -> Any:
        """Give room to sweep in, for all blocks of a chain; it may show the state's arrays."""

    def run_block(
        self, state: Any, data: Codes, prior: Any, streams: Streams, record: Record, scratch: Any
    ) -> None:
        """Do one sweep for each entry of the trace, and keep the draws that are due on the way.

        ``coterie.kernels.keep`` says when a draw is due and has what all models keep of it; of its
        own the kernel adds everybody's mean matrix and draws everybody's matrix.
        """


class Averages(NamedTuple):
    """What a run found about the items, averaged over sweeps and chains."""

    item_probability: FloatArray  # (items, classes)   the model's own
    per_item: Mapping[str, FloatArray]  # (items, columns)   by the names of the layout
    votes: IntArray  # (items, classes)   labels of each class


class Reported(NamedTuple):
    """What a model reports about the items."""

    item_probability: FloatArray  # (items, classes)
    item_numbers: Mapping[str, ItemNumbers]


def no_layout(data: Codes, prior: Any) -> Layout:
    """Record what every kernel records."""
    return PLAIN


def report_as_found(found: Averages, layout: Layout, data: Codes, prior: Any) -> Reported:
    """Report the model's own probabilities, and all that its layout has per item."""
    numbers = {
        one.name: ItemNumbers(one.columns, found.per_item[one.name]) for one in layout.per_item
    }
    return Reported(found.item_probability, numbers)


def matrices_as_found(
    matrices: Matrices, probability: FloatArray, data: Codes, streams: Streams
) -> None:
    """Keep the matrices that the kernel drew."""


def no_alignment(reference: FloatArray, found: FloatArray) -> FloatArray:
    """Take the columns per item of every chain as they are."""
    return found


def no_check(state: Any, data: Codes, prior: Any) -> None:
    """Take a state from a checkpoint as it is."""


@dataclass(frozen=True)
class Hooks:
    """Where a sampled model departs from the others; a model names only what it changes.

    Parameters
    ----------
    layout
        ``(data, prior) -> Layout``: what the kernel records beside what every kernel does.
    start
        ``(number, data, votes, rng) -> Start``: where chain ``number`` starts. The votes are the
        labels of each class of each item, shape (items, classes).
    judge
        ``(evidence) -> Verdict``: which chains are pooled, and why not the others.
    settled
        ``(outcome) -> Settled``: whether the result may be trusted, and what to warn of if not.
    report
        ``(averages, layout, data, prior) -> Reported``: the probabilities and numbers of the items
        that users see, from what was averaged.
    mixing
        How these probabilities come from the model's own, for labels that join later.
    matrices
        ``(matrices, probability, data, streams)``: turns what the kernel kept of matrices, in
        place, into what users see, given the reported probabilities.
    check
        ``(state, data, prior)``: raises ValueError if a state that was read from a checkpoint
        cannot be one. Its truth and groups are known to be in range, and nothing in it is NaN.
    align
        ``(reference, found) -> found``: brings the numbers per item of a chain, shape (items,
        columns), in the order that fits those of the first, where columns permute.
    carry
        ``(state, ended, data)``: takes over into a new state, in place, what an earlier chain ended
        with beside classes and coteries, so that ``update`` can go on with a short burn-in. None
        starts the rest anew, and drops a whole burn-in.
    coterie_densities
        The log joint holds a density of every coterie's parameters: such log joints are compared
        only between chains that had the same number of coteries at some time.
    apart
        Functions with the arguments of ``run_block`` that compile a part of it and run nothing:
        the command line calls them in a second process while the first compiles the rest.
    """

    layout: Callable[[Codes, Any], Layout] = no_layout
    start: Callable[[int, Codes, IntArray, np.random.Generator], Start] = start_apart
    judge: Callable[[Evidence], Verdict] = judge_modes
    settled: Callable[[Outcome], Settled] = settled_labels
    report: Callable[[Averages, Layout, Codes, Any], Reported] = report_as_found
    mixing: Mixing = AS_FOUND
    matrices: Callable[[Matrices, FloatArray, Codes, Streams], None] = matrices_as_found
    check: Callable[[Any, Codes, Any], None] = no_check
    align: Callable[[FloatArray, FloatArray], FloatArray] = no_alignment
    carry: Callable[[Any, Ended, Codes], None] | None = None
    coterie_densities: bool = False
    apart: tuple[Callable[..., None], ...] = ()


NO_HOOKS = Hooks()
"""As all others do."""
