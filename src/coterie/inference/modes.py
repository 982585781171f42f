"""Chains that ended elsewhere: mirrored or clearly poorer modes, found and named.

One chain is *clearly below* another in some quantity when their means differ by more than
``CLEARLY`` standard deviations of the two chains' own wandering: then neither visits where the
other is. A chain is *mirrored* when its agreement with the vote is clearly below another chain's,
and less than half of it; it is *poorer* when its log joint is clearly below the best chain's, and
by ``LEAST_NATS`` at least, which matters where chains hardly wander. Chains are compared with
chains that are kept: who falls makes nobody else fall.
If a mirrored chain has the best log joint, nobody is a clear loser. Chains that wander through
several modes are not clearly below each other, and are all kept.

The log joint of hcBCC holds the density of every coterie's parameters. Densities of so many and of
other numbers of parameters have no common measure: such chains are not compared by it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import ConvergenceWarning
from coterie.words.numbers import typed_percent

CLEARLY = 4.0
LEAST_NATS = 5.0
"""A smaller difference of log joints leaves nobody out: odds of 150 to 1, which Kass and Raftery
(1995) call very strong."""
MIRRORED = 0.5
ROUNDING = 1e-9
LEAST_DRAWS = 40
"""Fewer draws do not show what a chain wanders through, and nobody is judged."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Mode(NamedTuple):
    """Where a chain ended: means and standard deviations over its second half."""

    chain: int
    log_joint: float
    log_joint_sd: float
    vote_agreement: float  # share of the items with a clear vote whose truth it is
    vote_agreement_sd: float


class Verdict(NamedTuple):
    """Which chains to pool, and why not the others."""

    modes: list[Mode]
    kept: list[int]
    left_out: dict[int, str]  # chain -> "poorer" or "mirrored"
    better: dict[int, Mode]  # chain left out -> that of the chain that it was compared with


class Evidence(NamedTuple):
    """What is known of the chains after burn-in when it is decided which to pool."""

    log_joint: FloatArray  # (chains, sweeps)
    vote_agreement: FloatArray  # (chains, draws)   share of the clear votes that are its truth
    n_coteries: IntArray | None  # (chains, sweeps)   if each adds a density to the log joint
    n_classes: int
    n_labels: IntArray  # (annotators,)
    drawn: Mapping[str, FloatArray]  # means of draws, (chains, ...)
    kind: IntArray  # (chains, items)   the likeliest kind


def judge_modes(evidence: Evidence) -> Verdict:
    """Leave out chains in mirrored or clearly poorer modes."""
    return judge(evidence.log_joint, evidence.vote_agreement, evidence.n_coteries)


def judge(
    log_joint: FloatArray, vote_agreement: FloatArray, n_coteries: IntArray | None = None
) -> Verdict:
    """Compare where the chains ended.

    Parameters
    ----------
    log_joint
        After burn-in, shape (chains, sweeps).
    vote_agreement
        Share of the items with a clear vote whose truth it is, shape (chains, draws).
    n_coteries
        Numbers of coteries, shape (chains, sweeps), if each of them adds a density to the log
        joint: only chains that had the same number at some time are then compared by it.
    """
    modes = modes_of(log_joint, vote_agreement)
    kept = modes
    left_out: dict[int, str] = {}
    better: dict[int, Mode] = {}
    enough = min(log_joint.shape[1], vote_agreement.shape[1]) >= LEAST_DRAWS
    if enough and not is_mirrored(max(modes, key=_log_joint), max(modes, key=_agreement)):
        while falling := fall(kept, n_coteries):
            # Those whose better one falls too have to wait: they may have no other.
            now = {k: why for k, why in falling.items() if why[1].chain not in falling}
            if not now:
                break
            left_out |= {k: why for k, (why, _) in now.items()}
            better |= {k: rival for k, (_, rival) in now.items()}
            kept = [mode for mode in kept if mode.chain not in now]
    return Verdict(modes, [mode.chain for mode in kept], left_out, better)


def fall(modes: list[Mode], n_coteries: IntArray | None) -> dict[int, tuple[str, Mode]]:
    """Say which of these chains are mirrored or poorer beside the others: why, and beside whom."""
    closest = max(modes, key=_agreement)
    falling: dict[int, tuple[str, Mode]] = {}
    for mode in modes:
        rival = max(comparable(mode, modes, n_coteries), key=_log_joint)
        if is_mirrored(mode, closest):
            falling[mode.chain] = "mirrored", closest
        elif is_poorer(mode, rival):
            falling[mode.chain] = "poorer", rival
    return falling


def judge_by_vote(evidence: Evidence) -> Verdict:
    """Leave out chains that exchange classes against the vote; if all do, keep all and warn.

    With two classes those are the chains that agree with fewer than half of the clear votes. With
    more, a chain is left out only beside another that agrees with clearly more than twice as many:
    there, disagreeing with most votes need not be an exchange.
    """
    modes = modes_of(evidence.log_joint, evidence.vote_agreement)
    closest = max(modes, key=lambda mode: mode.vote_agreement)
    share = evidence.vote_agreement.mean(axis=1)
    if evidence.n_classes == 2:
        mirrored = [mode.chain for mode in modes if share[mode.chain] < MIRRORED]
    else:
        mirrored = [mode.chain for mode in modes if is_mirrored(mode, closest)]
    if len(mirrored) == len(modes):
        warnings.warn(_all_mirrored(share), stacklevel=2)
        mirrored = []
    kept = [mode.chain for mode in modes if mode.chain not in mirrored]
    left_out = dict.fromkeys(mirrored, "mirrored")
    return Verdict(modes, kept, left_out, dict.fromkeys(mirrored, closest))


def _all_mirrored(share: FloatArray) -> ConvergenceWarning:
    most = typed_percent(share.max())
    return ConvergenceWarning(
        f"every chain disagrees with the vote on most items (agreement {most} at most); all are"
        " kept; look at whether the classes are what they are called, or add gold labels",
        {"vote_agreement": float(share.max())},
    )


def modes_of(log_joint: FloatArray, vote_agreement: FloatArray) -> list[Mode]:
    """Say where the chains ended; the shapes are those of :class:`Evidence`."""
    return [
        Mode(k, *_second_half(a), *_second_half(b))
        for k, (a, b) in enumerate(zip(log_joint, vote_agreement, strict=True))
    ]


def is_mirrored(mode: Mode, other: Mode) -> bool:
    """Say whether a chain sees the classes exchanged, as another chain sees them."""
    far = mode.vote_agreement < MIRRORED * other.vote_agreement
    return far and _below(
        mode.vote_agreement,
        mode.vote_agreement_sd,
        other.vote_agreement,
        other.vote_agreement_sd,
    )


def is_poorer(mode: Mode, other: Mode) -> bool:
    """Say whether a chain's log joint is clearly below that of another chain."""
    far = other.log_joint - mode.log_joint > LEAST_NATS
    return far and _below(mode.log_joint, mode.log_joint_sd, other.log_joint, other.log_joint_sd)


def comparable(mode: Mode, modes: list[Mode], n_coteries: IntArray | None) -> list[Mode]:
    """Give the chains, this one among them, whose log joints measure the same."""
    if n_coteries is None:
        return modes
    late = n_coteries[:, n_coteries.shape[1] // 2 :]
    return [other for other in modes if np.isin(late[other.chain], late[mode.chain]).any()]


def _log_joint(mode: Mode) -> float:
    return mode.log_joint


def _agreement(mode: Mode) -> float:
    return mode.vote_agreement


def _second_half(values: FloatArray) -> tuple[float, float]:
    # A chain may still have been on its way in the first half.
    late = values[len(values) // 2 :]
    return float(late.mean()), float(late.std())


def _below(mean: float, sd: float, other: float, other_sd: float) -> bool:
    rounding = ROUNDING * (abs(mean) + abs(other))
    return other - mean > CLEARLY * float(np.hypot(sd, other_sd)) + rounding
