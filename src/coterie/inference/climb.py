"""Several starts of an iteration that raises a bound: the best is kept, and how the others ended.

The bound takes the place of a chain's log joint: a start that ends clearly below the best is
*poorer*, one that agrees with less than half as many votes as another is *mirrored*, by the rules
of :mod:`coterie.inference.modes`. Nothing is pooled: what is reported is the best bound's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.modes import LEAST_DRAWS, LEAST_NATS, judge
from coterie.inference.soft_shards import SoftShards
from coterie.inference.verdicts import note_labels, note_readings
from coterie.kernels.soft.items import Start
from coterie.kernels.soft.parts import Weights
from coterie.kernels.soft.variational import (
    Model,
    Shapes,
    Step,
    ascend,
    class_probability,
    shapes_of,
)
from coterie.kernels.vote import ClearVotes
from coterie.posterior.verdicts import ONE_LABEL

FloatArray = NDArray[np.float64]


class Limits(NamedTuple):
    """When an ascent ends."""

    n_iter: int  # most rounds
    tol: float  # rise of the bound, divided by the number of labels, that is not worth going on


class Peak(NamedTuple):
    """Where one start ended."""

    bound: float
    history: list[float]  # the bound divided by the number of labels, after every round
    converged: bool
    probability: FloatArray  # (items, classes)
    label: NDArray[np.int64]  # (items,)
    shapes: Shapes
    weights: Weights  # of the last E-step


def climb(codes: Codes, model: Model, start: FloatArray, limits: Limits) -> Peak:
    """Go up from one start until the bound stands, or for as long as is allowed."""
    step, history, converged = _risen(ascend(codes, model, start), len(codes.item_answer), limits)
    shapes = shapes_of(model, step.sums)
    found = class_probability(codes, step.probability, shapes.classes)
    label = found.argmax(axis=1)
    return Peak(step.bound, history, converged, found, label, shapes, step.weights)


def climb_shards(items: SoftShards, model: Model, start: Start, limits: Limits) -> Peak:
    """Go up as :func:`climb` does, with items in shards: of those the peak holds nothing."""
    steps = ascend(items, model, start)
    step, history, converged = _risen(steps, items.shards.n_labels, limits)
    none, shapes = np.zeros(0, np.int64), shapes_of(model, step.sums)
    return Peak(step.bound, history, converged, step.probability, none, shapes, step.weights)


def _risen(steps: Iterable[Step], n_labels: int, limits: Limits) -> tuple[Step, list[float], bool]:
    """Go up until the bound stands; give the last step, and how it went."""
    history: list[float] = []
    converged = False
    for step in steps:
        history.append(step.bound / max(n_labels, 1))
        converged = len(history) > 1 and history[-1] - history[-2] <= limits.tol
        if converged or len(history) == limits.n_iter:
            break
    return step, history, converged


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
        When an ascent ends.
    clear
        The items with a clear vote.
    """
    peaks: list[Peak] = []
    best = -np.inf
    for start in starts:
        peaks.append(climb(codes, model, start, limits))
        best = max(best, peaks[-1].bound)
        # What no verdict will need makes room.
        peaks = [peak if best - peak.bound <= LEAST_NATS else _bare(peak) for peak in peaks]
    top = max(range(len(peaks)), key=lambda k: peaks[k].bound)
    facts = facts_of(peaks[top])
    if len(peaks) > 1:
        facts |= compared(peaks, top, codes, clear)
    return peaks[top], facts


def facts_of(peak: Peak) -> dict[str, Any]:
    """Say how an ascent ended."""
    return {"iterations": len(peak.history), "rested": peak.converged, "bound": peak.bound}


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
