"""Places that classes and kinds trade: chains to leave out beside others, and what to warn of.

None of this is seen by chains that agree: they may all have ended there.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.errors import ConvergenceWarning
from coterie.inference.verdicts import (
    LEAST_DRAWS,
    MIRRORED,
    Evidence,
    Verdict,
    is_mirrored,
    judge_modes,
    modes_of,
)
from coterie.kernels.vote import clear_votes
from coterie.words.numbers import percent

if TYPE_CHECKING:
    from coterie.kernels.dynamic import Course

FloatArray = NDArray[np.float64]

CUTS = 9
"""So many cuts of time, evenly spread over the labels, are looked at."""
FEW = 0.05
"""Share of the items below which a kind of items is too small to say how it is answered."""
SWALLOWED, LEAST_ITEMS = 0.8, 10
"""A kind has so much of a class and so little of the others, of so many items at least."""


class Span(NamedTuple):
    """Every moment of labels, those of an annotator together."""

    annotator: NDArray[Any]  # (moments,)
    time: FloatArray  # (moments,)
    n_labels: FloatArray  # (moments,)


def span_of(course: Course, time: FloatArray) -> Span:
    """Give the moments of a course, from the time of every label."""
    n = np.diff(course.moment_start)
    first = np.searchsorted(course.moment, np.arange(n.sum()))
    return Span(np.repeat(np.arange(len(n)), n), time[first], course.n_labels)


def judge_in_time(span: Span, evidence: Evidence) -> Verdict:
    """Leave out mirrored chains, for all time or from some time on; if all are, keep all and warn.

    The log joint of DynamicIBCC holds no density of the walks, and so not what tells mirrored
    classes apart: nobody is poorer by it, and the vote decides. A chain that turns half-way agrees
    with half of it, but everybody in it turns at once.
    """
    modes = modes_of(evidence.log_joint, evidence.vote_agreement)
    turns = [turn(course, span) for course in evidence.drawn["accuracy_at"]]
    turned = {k for k, sides in enumerate(turns) if is_turned(*sides)}
    closest = max(modes, key=lambda mode: mode.vote_agreement)
    odd = turned | {mode.chain for mode in modes if is_mirrored(mode, closest)}
    if evidence.vote_agreement.shape[1] < LEAST_DRAWS or len(odd) == len(modes):
        odd = set()
    kept = [mode.chain for mode in modes if mode.chain not in odd]
    rival = modes[max(kept, key=lambda k: modes[k].vote_agreement)]
    if both := [turns[k] for k in kept if k in turned]:
        before, after = np.mean(both, axis=0)
        warnings.warn(
            ConvergenceWarning(
                f"at some time annotators all turn at once, from {percent(before)} right to "
                f"{percent(after)}: more likely than that, the classes change places there; add "
                "gold labels, early and late, or run more chains",
                {"before": float(before), "after": float(after)},
            ),
            stacklevel=2,
        )
    return Verdict(modes, kept, dict.fromkeys(sorted(odd), "mirrored"), dict.fromkeys(odd, rival))


def is_turned(before: float, after: float) -> bool:
    """Say whether the accuracy of all crosses 1/2 and more than halves, or doubles."""
    low, high = sorted((before, after))
    return low < 1 / 2 < high and low < MIRRORED * high


def turn(accuracy: FloatArray, span: Span) -> tuple[float, float]:
    """Give the mean accuracy before and after the time at which it differs most.

    Over those who have labels before it and after it, if these are half of all at least: others
    would change the mean by coming and going.

    Examples
    --------
    >>> span = Span(np.repeat([0, 1], 4), np.tile(np.arange(4.0), 2), np.ones(8))
    >>> turn(np.array([0.75, 0.75, 0.25, 0.25, 1.0, 1.0, 0.5, 0.5]), span)
    (0.875, 0.375)
    """
    best = (0.0, 0.0)
    n = int(span.annotator.max(initial=-1)) + 1
    least = max(2.0, len(np.unique(span.annotator)) / 2)
    for at in np.unique(np.quantile(span.time, np.arange(1, CUTS + 1) / (CUTS + 1))):
        late = 2 * span.annotator + (span.time >= at)
        labels = np.bincount(late, span.n_labels, 2 * n).reshape(n, 2)
        right = np.bincount(late, span.n_labels * accuracy, 2 * n).reshape(n, 2)
        both = (labels > 0).all(axis=1)
        if both.sum() >= least:
            before, after = (right[both] / labels[both]).mean(axis=0).tolist()
            best = max(best, (before, after), key=lambda sides: abs(sides[0] - sides[1]))
    return best


def judge_easy(evidence: Evidence) -> Verdict:
    """Judge modes as ever; warn of chains whose easy items are answered worse than their hard ones.

    Which kind is easy is said by its prior alone: where that is weak, kinds change places.
    """
    verdict, drawn = judge_modes(evidence), evidence.drawn
    right = np.diagonal(drawn["easy_confusion"], axis1=1, axis2=2)  # (chains, classes)
    easy = (right * drawn["class_balance"]).sum(axis=1)
    heard = evidence.n_labels > 0
    hard = drawn["hard_accuracy"][:, heard].mean(axis=1) if heard.any() else easy
    share = drawn["hard_share"]
    swapped = (easy < hard) & (share > FEW) & (share < 1 - FEW)
    if kept := [k for k in verdict.kept if swapped[k]]:
        numbers = {"easy": float(easy[kept].mean()), "hard": float(hard[kept].mean())}
        warnings.warn(
            ConvergenceWarning(
                f"in {len(kept)} of {len(verdict.kept)} chains items called easy are answered right"
                f" less often ({percent(numbers['easy'])}) than those called hard"
                f" ({percent(numbers['hard'])}): the two kinds have changed places, and hardness"
                " cannot be trusted; raise easy_strength of EasyHardPrior",
                numbers,
            ),
            stacklevel=2,
        )
    return verdict


def judge_kinds(a: Annotations, evidence: Evidence) -> Verdict:
    """Judge modes as ever; warn if a latent kind has nearly all items of a class and no other.

    Classes are those known or voted for: where a kind takes the place of a class, the truth does
    not follow the vote any more, and kinds look independent of it.
    """
    verdict, gold = judge_modes(evidence), a.codes.gold
    clear = clear_votes(a.votes, gold)
    voted = np.where((gold >= 0) & (a.labels_per_item > 0), gold, -1)
    voted[clear.item] = clear.winner
    found = [swallowed(evidence.kind[k], voted) for k in verdict.kept]
    if chains := [one for one in found if one is not None]:
        t, own, others = max(chains, key=lambda one: one[1] - one[2])
        warnings.warn(
            ConvergenceWarning(
                f"in {len(chains)} of {len(found)} chains a kind has taken the place of a class: it"
                f" has {percent(own)} of the items voted {a.classes[t]!r}, and {percent(others)} of"
                " the others; take fewer kinds or a prior that expects more of annotators, or add"
                " gold labels",
                {"chains": float(len(chains)), "own": own, "others": others},
            ),
            stacklevel=2,
        )
    return verdict


def swallowed(kind: NDArray[Any], voted: NDArray[Any]) -> tuple[int, float, float] | None:
    """Give the class that a kind has swallowed, and which share of it and of the others it has.

    Parameters
    ----------
    kind, voted
        Of every item, shape (items,); -1 where no class is known.

    Examples
    --------
    >>> voted = np.repeat([0, 1], 20)
    >>> swallowed(voted, voted), swallowed(np.tile([0, 1], 20), voted)
    ((0, 1.0, 0.0), None)
    """
    known = voted >= 0
    kind, voted = kind[known], voted[known]
    for t in np.unique(voted):
        own, others = kind[voted == t], kind[voted != t]
        if min(len(own), len(others)) < LEAST_ITEMS:
            continue
        for k in np.unique(own):
            share, rest = float(np.mean(own == k)), float(np.mean(others == k))
            if share >= SWALLOWED and rest <= 1 - SWALLOWED:
                return int(t), share, rest
    return None
