"""Models that climb: rounds over items in memory or in shards, from one start or several.

Items stay where they are. A round asks for a pass over all of them, in threads, and only sums come
back: whole numbers, so that neither the number of shards nor that of threads changes a bit. Only
the shards that threads are at are in memory, and nothing is kept of an item between passes.

Of several starts the best is kept. Its bound takes the place of a chain's log joint: a start that
ends clearly below the best is *poorer*, one that agrees with less than half as many votes as
another is *mirrored*, by the rules of :mod:`coterie.inference.modes`. Nothing is pooled.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.data.shards import Shards, codes_of
from coterie.errors import ConvergenceWarning
from coterie.inference.cores import cores
from coterie.inference.modes import LEAST_DRAWS, LEAST_NATS, judge
from coterie.inference.verdicts import note_labels, note_readings
from coterie.kernels import expected
from coterie.kernels.expected import Model, Parameters, Part, Shapes, Size, Sums, Weights
from coterie.kernels.vote import ClearVotes
from coterie.posterior.verdicts import ONE_LABEL

FloatArray = NDArray[np.float64]
Start = FloatArray | Callable[[Codes], FloatArray]
"""Probabilities of cells, shape (items, cells); or what gives those of some of the items."""
T = TypeVar("T")


class Items:
    """Items in parts that are weighed where they are: see :func:`in_memory`, :func:`in_shards`."""

    def __init__(
        self, part: Callable[[int], Part], n_parts: int, n_rows: int, n_kinds: int, n_jobs: int
    ) -> None:
        self.part, self.n_parts, self.n_jobs = part, n_parts, max(1, min(n_jobs, n_parts))

        def sizes(codes: Codes) -> tuple[int, int, int]:
            return codes.n_answers, len(codes.item_answer), int(expected.is_counted(codes).sum())

        answers, labels, counted = zip(*self.map(sizes), strict=True)
        self.size = Size(n_kinds, n_rows, max(answers), sum(labels), sum(counted))

    def map(self, work: Callable[[Codes], T]) -> list[T]:
        """Give what work makes of every part, in their order."""
        return self._in_threads(lambda _, part: work(part.codes))

    def count(self, start: Start, n_cells: int) -> Sums:
        """Sum what is expected under given probabilities."""

        def add(part: Part, sums: Sums) -> None:
            expected.count(part, start(part.codes) if callable(start) else start, sums)

        return self._summed(n_cells, add)

    def sweep(self, weights: Weights) -> Sums:
        """Weigh all items, and sum what is expected."""
        n_cells = weights.prior.shape[1]
        return self._summed(n_cells, lambda part, sums: expected.sweep(part, weights, sums))

    def _summed(self, n_cells: int, add: Callable[[Part, Sums], None]) -> Sums:
        sums = [expected.new_sums(self.size, n_cells) for _ in range(self.n_jobs)]
        self._in_threads(lambda thread, part: add(part, sums[thread]))
        for more in sums[1:]:
            expected.add_sums(sums[0], more)
        return sums[0]

    def _in_threads(self, work: Callable[[int, Part], T]) -> list[T]:
        """Call work with the thread's number and every part; what goes wrong ends it for all."""
        found: dict[int, T] = {}
        stopped = threading.Event()

        def some(thread: int) -> None:
            for k in range(thread, self.n_parts, self.n_jobs):
                if not stopped.is_set():
                    found[k] = work(thread, self.part(k))

        if self.n_jobs == 1:
            some(0)
            return list(found.values())
        with ThreadPoolExecutor(self.n_jobs) as pool:
            jobs = [pool.submit(some, thread) for thread in range(self.n_jobs)]
            try:
                for job in jobs:
                    job.result()
            except BaseException:  # Ctrl-C too: the others end at their next part
                stopped.set()
                raise
        return [found[k] for k in range(self.n_parts)]


def in_memory(codes: Codes, kind: NDArray[np.int32] | None = None, n_kinds: int = 1) -> Items:
    """Hold all items, perhaps of known kinds, as one part."""
    part, n_annotators = expected.part_of(codes, kind, n_kinds), len(codes.annotator_start) - 1
    return Items(lambda _: part, 1, n_annotators * n_kinds, n_kinds, n_jobs=1)


def in_shards(shards: Shards, n_jobs: int | None = None) -> Items:
    """Open shards when they are needed, in as many threads as there are cores for us."""
    part = partial(part_of_shard, shards)
    return Items(part, len(shards), shards.n_annotators, 1, n_jobs or cores())


def part_of_shard(shards: Shards, k: int) -> Part:
    """Open the k-th shard."""
    return expected.part_of(codes_of(shards.open(k), shards.n_classes, shards.n_answers))


class Step(NamedTuple):
    """One round of what climbs."""

    objective: float  # log likelihood (log posterior up to a constant), or the bound
    weights: Weights  # of the E-step
    sums: Sums  # expected under it


def maximise(items: Items, start: Parameters, smoothing: float = 0.0) -> Iterator[Step]:
    """Iterate expectation-maximisation for ever: an E-step, then an M-step.

    The objective is the log likelihood of the parameters that the E-step used; with smoothing plus
    their log prior, the log posterior up to a constant. It never falls.

    Examples
    --------
    >>> from itertools import islice
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0], sizes=(2, 3, 2, 2))
    >>> items = in_memory(codes)
    >>> start = expected.estimate(items.count(np.array([[1 / 3, 2 / 3], [1, 0]]), 2))
    >>> for step in islice(maximise(items, start), 3):
    ...     print(round(step.objective, 3))
    -1.962
    -1.597
    -1.411
    """
    parameters = start
    while True:
        weights = Weights(*parameters, n_subtypes=1)
        sums = items.sweep(weights)
        yield Step(sums.log_likelihood + expected.log_prior(parameters, smoothing), weights, sums)
        parameters = expected.estimate(sums, smoothing)


def ascend(items: Items, model: Model, start: Start) -> Iterator[Step]:
    """Iterate variational Bayes for ever: an M-step, then an E-step; the bound never falls.

    Examples
    --------
    >>> from itertools import islice
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0], sizes=(2, 3, 2, 2))
    >>> model = Model(np.ones(2), np.ones(1), np.array([[4.0, 1.0], [1.0, 4.0]]))
    >>> start = np.array([[1 / 3, 2 / 3], [1, 0]])
    >>> for step in islice(ascend(in_memory(codes), model, start), 3):
    ...     print(round(step.objective, 4))
    -4.3444
    -4.2477
    -4.2318
    """
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


def warn_of_rise(top: Top, limits: Limits, what: str) -> None:
    """Say to whoever called fit that what was climbed still rose when the rounds were used up."""
    n, history = len(top.history), top.history
    rise = history[-1] - history[-2] if n > 1 else np.inf
    warnings.warn(
        ConvergenceWarning(
            f"after {n} iterations the {what} a label still rose by {rise:.2g}, "
            f"more than tol={limits.tol:g}; raise n_iter or tol",
            {"n_iter": n, "rise": rise, "tol": limits.tol, "loss": history[-1]},
        ),
        stacklevel=5,
    )


class Peak(NamedTuple):
    """Where one start ended, and what it says of items in memory."""

    top: Top
    shapes: Shapes
    probability: FloatArray  # (items, classes)
    label: NDArray[np.int64]  # (items,)

    @property
    def bound(self) -> float:
        """The bound, in nats."""
        return self.top.step.objective


def rise(items: Items, model: Model, start: Start, limits: Limits) -> Peak:
    """Go up from one start, with all items in memory."""
    top, part = climb(ascend(items, model, start), items.size.n_labels, limits), items.part(0)
    shapes, cells = expected.shapes_of(model, top.step.sums), expected.weigh(part, top.step.weights)
    found = expected.class_probability(part.codes, cells, shapes.classes)
    return Peak(top, shapes, found, found.argmax(axis=1))


def facts_of(top: Top) -> dict[str, Any]:
    """Say how a climb ended."""
    history = top.history
    return {"iterations": len(history), "rested": top.converged, "bound": top.step.objective}


def best_of(
    codes: Codes, model: Model, starts: Iterable[FloatArray], limits: Limits, clear: ClearVotes
) -> tuple[Peak, dict[str, Any]]:
    """Go up from every start; give the best peak, and the facts of all.

    Parameters
    ----------
    codes, model
        The labels, and what is believed before.
    starts
        Probabilities of cells, each of shape (items, cells).
    limits
        When a climb ends.
    clear
        The items with a clear vote.
    """
    items = in_memory(codes)
    peaks: list[Peak] = []
    for start in starts:
        peaks.append(rise(items, model, start, limits))
        best = max(peak.bound for peak in peaks)
        # What no verdict will need makes room.
        peaks = [peak if best - peak.bound <= LEAST_NATS else _bare(peak) for peak in peaks]
    top = max(range(len(peaks)), key=lambda k: peaks[k].bound)
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
    noted = note_labels(label[verdict.kept][:, places], places, LEAST_DRAWS)
    noted["starts"] = len(peaks)
    noted["settled"] = bool(noted["settled"]) and len(verdict.kept) > 1
    if noted["one_label"] < ONE_LABEL and all(peaks[k].probability.size for k in verdict.kept):
        noted["readings"] = _readings(peaks, verdict.kept, places)
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


def _readings(
    peaks: list[Peak], kept: list[int], places: NDArray[np.int64]
) -> dict[str, Any] | None:
    found = np.stack([peaks[k].probability[places] for k in kept])
    two = note_readings(found.argmax(axis=2), places, lambda some: found[list(some)].mean(axis=0))
    if two is not None:
        two["chains"] = [[kept[k] + 1 for k in side] for side in two["chains"]]
    return two


def _bare(peak: Peak) -> Peak:
    return peak._replace(probability=peak.probability[:0])
