"""Models that climb: rounds over items in memory or in shards, from one start or several.

Items stay where they are. A round asks for a pass over all of them, in threads, and only sums come
back: whole numbers, so that neither the number of shards nor that of threads changes a bit. Only
the shards that threads are at are in memory, and nothing is kept of an item between passes.

Of several starts the best is kept. Its bound takes the place of a chain's log joint: a start that
ends clearly below the best is *poorer*, one that agrees with less than half as many votes as
another is *mirrored*, by the rules of :mod:`coterie.inference.verdicts`. Nothing is pooled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes, Shards, codes_of
from coterie.inference.shards import cores
from coterie.inference.verdicts import LEAST_DRAWS, LEAST_NATS, judge, note_labels
from coterie.kernels import expected
from coterie.kernels.expected import Model, Parameters, Part, Shapes, Size, Sums, Weights
from coterie.kernels.vote import ClearVotes
from coterie.numeric import FloatArray

Start = FloatArray | Callable[[Codes], FloatArray]
"""Probabilities of cells, shape (items, cells); or what gives those of some of the items."""
T = TypeVar("T")
ROUNDING = 1e-9  # of a bound, by its size


class Items:
    """Items in parts that are weighed where they are: see :func:`in_memory`, :func:`in_shards`."""

    def __init__(
        self, part: Callable[[int], Part], n_parts: int, n_rows: int, n_kinds: int, n_jobs: int
    ) -> None:
        self.part, self.n_parts, self.n_jobs = part, n_parts, max(1, min(n_jobs, n_parts))
        told = self.map(lambda c: (c.n_answers, len(c.item_answer), expected.is_counted(c).sum()))
        answers, labels, counted = zip(*told, strict=True)
        self.size = Size(n_kinds, n_rows, max(answers), sum(labels), int(sum(counted)))

    def map(self, work: Callable[[Codes], T]) -> list[T]:
        return self._in_threads(lambda part: work(part.codes))

    def count(self, start: Start, n_cells: int) -> Sums:
        """Sum what is expected under given probabilities."""

        def add(part: Part, sums: Sums) -> None:
            expected.count(part, start(part.codes) if callable(start) else start, sums)

        return self._summed(n_cells, add)

    def sweep(self, weights: Weights) -> Sums:
        n_cells = weights.prior.shape[1]
        return self._summed(n_cells, lambda part, sums: expected.sweep(part, weights, sums))

    def _summed(self, n_cells: int, add: Callable[[Part, Sums], None]) -> Sums:
        first, *others = (expected.new_sums(self.size, n_cells) for _ in range(self.n_jobs))
        free: SimpleQueue[Sums] = SimpleQueue()  # sums that no thread is adding to
        for sums in (first, *others):
            free.put(sums)

        def work(part: Part) -> None:
            sums = free.get()
            try:
                add(part, sums)
            finally:
                free.put(sums)

        self._in_threads(work)
        for more in others:
            expected.add_sums(first, more)
        return first

    def _in_threads(self, work: Callable[[Part], T]) -> list[T]:
        """Call work with every part; what goes wrong, and Ctrl-C, ends it after those begun."""
        if self.n_jobs == 1:
            return [work(self.part(k)) for k in range(self.n_parts)]
        with ThreadPoolExecutor(self.n_jobs) as pool:
            return list(pool.map(lambda k: work(self.part(k)), range(self.n_parts)))


def in_memory(codes: Codes, kind: NDArray[np.int32] | None = None, n_kinds: int = 1) -> Items:
    part, n_annotators = expected.part_of(codes, kind, n_kinds), len(codes.annotator_start) - 1
    return Items(lambda _: part, 1, n_annotators * n_kinds, n_kinds, n_jobs=1)


def in_shards(shards: Shards, n_jobs: int | None = None) -> Items:
    """Open shards when they are needed, in as many threads as there are cores for us."""

    def part(k: int) -> Part:
        return expected.part_of(codes_of(shards.open(k), shards.n_classes, shards.n_answers))

    return Items(part, len(shards), shards.n_annotators, 1, cores(n_jobs))


class Step(NamedTuple):
    """One round of what climbs."""

    objective: float  # log likelihood (log posterior up to a constant), or the bound
    weights: Weights  # of the E-step
    sums: Sums  # expected under it


def maximise(items: Items, start: Parameters, smoothing: float = 0.0) -> Iterator[Step]:
    """Iterate expectation-maximisation for ever: an E-step, then an M-step.

    The objective is the log likelihood of the parameters that the E-step used; with smoothing plus
    their log prior, the log posterior up to a constant. It never falls.
    """
    parameters = start
    while True:
        weights = Weights(*parameters, n_subtypes=1)
        sums = items.sweep(weights)
        yield Step(sums.log_likelihood + expected.log_prior(parameters, smoothing), weights, sums)
        parameters = expected.estimate(sums, smoothing)


def ascend(items: Items, model: Model, start: Start) -> Iterator[Step]:
    """Iterate variational Bayes for ever: an M-step, then an E-step; the bound never falls."""
    sums = items.count(start, model.rows.shape[2])
    while True:
        weights, distance = expected.believe(model, sums)
        sums = items.sweep(weights)
        yield Step(sums.log_likelihood - distance, weights, sums)


class Limits(NamedTuple):
    """When a climb ends."""

    n_iter: int  # most rounds
    tol: float  # rise of the objective, divided by the number of labels, not worth going on for


class Top(NamedTuple):
    """Where a climb ended."""

    step: Step
    history: list[float]  # the objective divided by the number of labels, after every round
    converged: bool


def climb(steps: Iterable[Step], n_labels: int, limits: Limits) -> Top:
    """Go up until the objective stands, or for as long as is allowed."""
    history: list[float] = []
    converged = False
    for step in steps:
        history.append(step.objective / max(n_labels, 1))
        converged = len(history) > 1 and history[-1] - history[-2] <= limits.tol
        if converged or len(history) == limits.n_iter:
            break
    return Top(step, history, converged)


class Peak(NamedTuple):
    """Where one start ended, and what it says of items in memory."""

    top: Top
    shapes: Shapes
    probability: FloatArray  # (items, classes)
    label: NDArray[np.int64]  # (items,)

    @property
    def bound(self) -> float:
        return self.top.step.objective


def rise(items: Items, model: Model, start: Start, limits: Limits) -> Peak:
    """Go up from one start, with all items in memory."""
    top, part = climb(ascend(items, model, start), items.size.n_labels, limits), items.part(0)
    shapes, cells = expected.shapes_of(model, top.step.sums), expected.weigh(part, top.step.weights)
    found = expected.class_probability(part.codes, cells, shapes.classes)
    return Peak(top, shapes, found, found.argmax(axis=1))


def facts_of(top: Top) -> dict[str, Any]:
    history = top.history
    return {"iterations": len(history), "rested": top.converged, "bound": top.step.objective}


def best_of(
    codes: Codes, model: Model, starts: Iterable[FloatArray], limits: Limits, clear: ClearVotes
) -> tuple[Peak, dict[str, Any]]:
    """Go up from every start, (items, cells); give the best peak, and the facts of all."""
    items = in_memory(codes)
    peaks: list[Peak] = []
    for start in starts:
        peaks.append(rise(items, model, start, limits))
        best = max(peak.bound for peak in peaks)
        for k, peak in enumerate(peaks):
            if best - peak.bound > LEAST_NATS:  # what no verdict will need makes room
                peaks[k] = peak._replace(probability=peak.probability[:0].copy())
    best = max(peak.bound for peak in peaks)
    # The first of those that rounding tells apart: sub-types that have changed places.
    top = next(k for k, p in enumerate(peaks) if best - p.bound <= ROUNDING * (1 + abs(best)))
    facts = facts_of(peaks[top].top)
    return peaks[top], facts | compared(peaks, top, codes, clear) if len(peaks) > 1 else facts


def compared(peaks: list[Peak], top: int, codes: Codes, clear: ClearVotes) -> dict[str, Any]:
    """Say where the starts ended: in which modes, and whether those kept give one label."""
    bound = np.array([peak.bound for peak in peaks])
    label = np.stack([peak.label for peak in peaks])
    same = label[:, clear.item] == clear.winner
    agreement = same.mean(axis=1) if len(clear.item) else np.ones(len(peaks))
    # A start does not wander: it is a chain that stays where it ended.
    verdict = judge(*(np.repeat(x[:, None], LEAST_DRAWS, axis=1) for x in (bound, agreement)))
    (places,) = np.nonzero((np.diff(codes.item_start) > 0) & (codes.gold < 0))
    kept, numbers = [peaks[k] for k in verdict.kept], [k + 1 for k in verdict.kept]

    def say(some: Sequence[int]) -> FloatArray:
        found = np.stack([kept[k].probability[places] for k in some])
        return np.asarray(found.mean(axis=0))

    asked = say if all(peak.probability.size for peak in kept) else None
    noted = note_labels(label[verdict.kept][:, places], places, LEAST_DRAWS, numbers, asked)
    noted["starts"] = len(peaks)
    noted["settled"] = bool(noted["settled"]) and len(kept) > 1
    return {
        "starts": len(peaks),
        "best_start": top + 1,
        "left_out": {str(k + 1): why for k, why in verdict.left_out.items()},
        "modes": [
            {"start": k + 1, "bound": float(bound[k]), "vote_agreement": float(agreement[k])}
            for k in range(len(peaks))
        ],
        "verdicts": {"labels": noted},
    }
