"""Chains that ended elsewhere: mirrored or clearly poorer modes, found and named.

A chain is *poorer* when its log joint lies clearly below the best chain's: their difference is more
than ``CLEARLY`` standard deviations of the two chains' own wandering. It is *mirrored* when its
labels agree with the vote less than half as often as the best chain's do, although its log joint
is not clearly above. If a mirrored chain is the best one, nobody is a clear loser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.annotations import Codes
from coterie.kernels.majority import count_votes

CLEARLY = 4.0
MIRRORED = 0.5

FloatArray = NDArray[np.float64]


class Mode(NamedTuple):
    """Where a chain ended."""

    chain: int
    log_joint: float  # mean after burn-in
    spread: float  # standard deviation of it
    vote_agreement: float  # share of items whose label is that of the vote; NaN if no vote is clear


class Verdict(NamedTuple):
    """Which chains to pool, and why not the others."""

    modes: list[Mode]
    kept: list[int]
    left_out: dict[int, str]  # chain -> "poorer" or "mirrored"


def judge(log_joint: FloatArray, item_probability: Sequence[FloatArray], data: Codes) -> Verdict:
    """Compare where the chains ended.

    Parameters
    ----------
    log_joint
        After burn-in, shape (chains, sweeps).
    item_probability
        Of each chain, shape (items, classes).
    data
        The labels, whose vote is the yardstick.
    """
    # A chain may still have been on its way in the first half.
    late = log_joint[:, log_joint.shape[1] // 2 :]
    modes = [
        Mode(k, float(late[k].mean()), float(late[k].std()), vote_agreement(p, data))
        for k, p in enumerate(item_probability)
    ]
    best = max(modes, key=lambda mode: mode.log_joint)
    most = np.nanmax([0.0, *(mode.vote_agreement for mode in modes)])
    left_out: dict[int, str] = {}
    if not best.vote_agreement < MIRRORED * most:
        for mode in modes:
            if mode.vote_agreement < MIRRORED * most:
                left_out[mode.chain] = "mirrored"
            elif is_clearly_below(mode, best):
                left_out[mode.chain] = "poorer"
    kept = [mode.chain for mode in modes if mode.chain not in left_out]
    return Verdict(modes, kept, left_out)


def is_clearly_below(mode: Mode, best: Mode) -> bool:
    """Say whether one chain wanders clearly below another."""
    gap = best.log_joint - mode.log_joint
    return gap > CLEARLY * float(np.hypot(mode.spread, best.spread))


def vote_agreement(item_probability: FloatArray, data: Codes) -> float:
    """Give the share of items, among those with one clear winner of the vote, labelled so."""
    votes = count_votes(data)
    most = votes.max(axis=1, keepdims=True)
    clear = ((votes == most).sum(axis=1) == 1) & (data.gold < 0)
    if not clear.any():
        return float("nan")
    return float(np.mean(item_probability.argmax(axis=1)[clear] == votes.argmax(axis=1)[clear]))
