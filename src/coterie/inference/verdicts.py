"""Which chains are pooled, how far they agree, and whether a run may be trusted.

One chain is *clearly below* another in some quantity when their means differ by more than
``CLEARLY`` standard deviations of the two chains' own wandering: then neither visits where the
other is. A chain is *mirrored* when its agreement with the vote is clearly below another chain's,
and less than half of it; it is *poorer* when its log joint is clearly below the best chain's, and
by ``LEAST_NATS`` at least, which matters where chains hardly wander. Chains are compared with
chains that are kept: who falls makes nobody else fall. If a mirrored chain has the best log joint,
nobody is a clear loser. Chains that wander through several modes are all kept.

The log joint of hcBCC holds the density of every coterie's parameters. Densities of so many and of
other numbers of parameters have no common measure: such chains are not compared by it.

What counts in the end is that chains give the items the same labels: numbers of coteries, and with
them R-hat, move long after that. Where there is one chain only, its traces have to do.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.diagnostics import LARGEST_R_HAT, LEAST_ESS, diagnose
from coterie.errors import ConvergenceWarning
from coterie.numeric import FloatArray, LongArray
from coterie.partition.cooccurrence import share_together
from coterie.posterior import Draws
from coterie.posterior.verdicts import LIKE_PAIRS, ONE_LABEL, say_labels
from coterie.words.numbers import typed_percent

Say = Callable[[Sequence[int]], FloatArray]
"""Gives the probabilities, shape (items, classes), that some chains report together."""

CLEARLY, MIRRORED, ROUNDING = 4.0, 0.5, 1e-9
LEAST_NATS = 5.0
"""A smaller difference of log joints leaves nobody out: odds of 150 to 1, which Kass and Raftery
(1995) call very strong."""
LEAST_DRAWS = 40  # fewer do not show what a chain wanders through, and nobody is judged
MOST_PEOPLE = 400  # annotators whose pairs are compared: so many, evenly spread, stand for all
MOST_NOTED = 1000  # items on which chains differ that are noted by their number
MOST_DECIDING = 20  # items that would decide between two readings that are noted
SURE = 2 / 3
"""Probability that both readings must give their own label of some item: else chains only waver."""
LOG_JOINT, AGREEMENT = attrgetter("log_joint"), attrgetter("vote_agreement")


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
    n_coteries: LongArray | None  # (chains, sweeps)   if each adds a density to the log joint
    n_classes: int
    n_labels: LongArray  # (annotators,)
    drawn: Mapping[str, FloatArray]  # means of draws, (chains, ...)
    kind: LongArray  # (chains, items)   the likeliest kind


def judge_modes(evidence: Evidence) -> Verdict:
    """Leave out chains in mirrored or clearly poorer modes."""
    return judge(evidence.log_joint, evidence.vote_agreement, evidence.n_coteries)


def judge(
    log_joint: FloatArray, vote_agreement: FloatArray, n_coteries: LongArray | None = None
) -> Verdict:
    """Compare where the chains ended; what is told is as in :class:`Evidence`."""
    modes = modes_of(log_joint, vote_agreement)
    kept = modes
    left_out: dict[int, str] = {}
    better: dict[int, Mode] = {}
    enough = min(log_joint.shape[1], vote_agreement.shape[1]) >= LEAST_DRAWS
    if enough and not is_mirrored(max(modes, key=LOG_JOINT), max(modes, key=AGREEMENT)):
        while falling := fall(kept, n_coteries):
            # Those whose better one falls too have to wait: they may have no other.
            now = {k: why for k, why in falling.items() if why[1].chain not in falling}
            if not now:
                break
            left_out |= {k: why for k, (why, _) in now.items()}
            better |= {k: rival for k, (_, rival) in now.items()}
            kept = [mode for mode in kept if mode.chain not in now]
    return Verdict(modes, [mode.chain for mode in kept], left_out, better)


def fall(modes: list[Mode], n_coteries: LongArray | None) -> dict[int, tuple[str, Mode]]:
    """Say which of these chains are mirrored or poorer beside the others: why, and beside whom."""
    closest, falling = max(modes, key=AGREEMENT), {}
    for mode in modes:
        alike = modes  # whose log joints measure the same
        if n_coteries is not None:
            late = n_coteries[:, n_coteries.shape[1] // 2 :]
            alike = [one for one in modes if np.isin(late[one.chain], late[mode.chain]).any()]
        rival = max(alike, key=LOG_JOINT)
        low, high, spread = mode.log_joint, rival.log_joint, (mode.log_joint_sd, rival.log_joint_sd)
        if is_mirrored(mode, closest):
            falling[mode.chain] = "mirrored", closest
        elif high - low > LEAST_NATS and clearly_below(low, high, spread):
            falling[mode.chain] = "poorer", rival
    return falling


def judge_by_vote(evidence: Evidence) -> Verdict:
    """Leave out chains that exchange classes against the vote; if all do, keep all and warn.

    With two classes those are the chains that agree with fewer than half of the clear votes. With
    more, a chain is left out only beside another that agrees with clearly more than twice as many:
    there, disagreeing with most votes need not be an exchange.
    """
    modes = modes_of(evidence.log_joint, evidence.vote_agreement)
    closest = max(modes, key=AGREEMENT)
    share = evidence.vote_agreement.mean(axis=1)
    if evidence.n_classes == 2:
        mirrored = [mode.chain for mode in modes if share[mode.chain] < MIRRORED]
    else:
        mirrored = [mode.chain for mode in modes if is_mirrored(mode, closest)]
    if len(mirrored) == len(modes):
        message = (
            "every chain disagrees with the vote on most items (agreement"
            f" {typed_percent(share.max())} at most); all are kept; look at whether the classes"
            " are what they are called, or add gold labels"
        )
        numbers = {"vote_agreement": float(share.max())}
        warnings.warn(ConvergenceWarning(message, numbers), stacklevel=2)
        mirrored = []
    kept = [mode.chain for mode in modes if mode.chain not in mirrored]
    left_out = dict.fromkeys(mirrored, "mirrored")
    return Verdict(modes, kept, left_out, dict.fromkeys(mirrored, closest))


def modes_of(log_joint: FloatArray, vote_agreement: FloatArray) -> list[Mode]:
    """Say where the chains ended; in the first half they may still have been on their way."""
    late = [values[:, values.shape[1] // 2 :] for values in (log_joint, vote_agreement)]
    numbers = [x for values in late for x in (values.mean(axis=1), values.std(axis=1))]
    return [Mode(k, *map(float, each)) for k, each in enumerate(zip(*numbers, strict=True))]


def is_mirrored(mode: Mode, other: Mode) -> bool:
    """Say whether a chain sees the classes exchanged, as another chain sees them."""
    low, high = mode.vote_agreement, other.vote_agreement
    spread = mode.vote_agreement_sd, other.vote_agreement_sd
    return low < MIRRORED * high and clearly_below(low, high, spread)


def clearly_below(low: float, high: float, spread: tuple[float, float]) -> bool:
    """Say whether one mean is below another by some standard deviations of both."""
    return high - low > CLEARLY * float(np.hypot(*spread)) + ROUNDING * (abs(low) + abs(high))


def note_labels(
    labels: LongArray, places: LongArray, sweeps: int, numbers: Sequence[int] = (),
    say: Say | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Note on how many items all chains give one label, and where they do not.

    ``labels`` are what each chain alone would say, (chains, items), of items at these places.
    Chains that hardly moved from where they started, in so many sweeps after burn-in, show nothing.
    Where chains differ too much two readings are noted, of chains called by their numbers.
    """
    same = (labels == labels[:1]).all(axis=0)
    share = float(same.mean()) if same.size else 1.0
    differ = places[~same]
    noted = {
        "settled": share >= ONE_LABEL and sweeps >= LEAST_DRAWS,
        "chains": len(labels),
        "sweeps": sweeps,
        "one_label": share,
        "n_differ": len(differ),
        "differ": differ[:MOST_NOTED].tolist(),
    }
    two = None if say is None or share >= ONE_LABEL else note_readings(labels, places, say)
    if two is not None:
        sides = [[numbers[k] for k in side] for side in two["chains"]]
        noted["readings"] = {**two, "chains": sides}
    return noted


def note_readings(labels: LongArray, places: LongArray, say: Say) -> dict[str, Any] | None:
    """Note two readings of the labels, where the chains split between two; else None.

    Chains have one reading if they give one label on nearly all items. What would decide is gold of
    items on which both readings are sure of different labels: those come first. Where there are
    none, the chains know too little to have readings.
    """
    sides: list[list[int]] = []  # chains that give one label on nearly all items
    for chain, said in enumerate(labels):
        for side in sides:
            if (said == labels[side]).all(axis=0).mean() >= ONE_LABEL:
                side.append(chain)
                break
        else:
            sides.append([chain])
    if len(sides) != 2:
        return None
    both = np.stack([say(chains) for chains in sides])  # (2, items, classes)
    chosen, sure = both.argmax(axis=2), both.max(axis=2)
    (differ,) = np.nonzero(chosen[0] != chosen[1])
    both_sure = sure[:, differ].min(axis=0)
    if not (both_sure >= SURE).any():
        return None
    order = differ[np.argsort(-both_sure, kind="stable")][:MOST_DECIDING]
    return {
        "chains": sides,
        "n_differ": len(differ),
        "items": places[order].tolist(),
        "labels": chosen[:, order].tolist(),
        "probability": sure[:, order].tolist(),
    }


def note_coteries(draws: Draws, labelled: NDArray[np.bool_]) -> dict[str, Any]:
    """Note how many coteries each chain has, and how far they differ on who belongs together."""
    assert draws.partition is not None  # the model finds coteries
    assert draws.n_coteries is not None
    (people,) = np.nonzero(labelled)
    if len(people) > MOST_PEOPLE:
        people = people[np.linspace(0, len(people) - 1, MOST_PEOPLE).astype(int)]
    together = [share_together(chain[:, people]) for chain in draws.partition]
    pairs = max(len(people) * (len(people) - 1), 1)  # nobody is a pair with themselves
    apart = [float(np.abs(a - b).sum()) / pairs for a, b in itertools.combinations(together, 2)]
    worst = max(apart, default=0.0)
    return {
        "settled": len(together) > 1 and worst <= LIKE_PAIRS,
        "n_coteries": [float(x) for x in draws.n_coteries.mean(axis=1)],
        "pairs_apart": worst,
    }


class Outcome(NamedTuple):
    """What the chains that are pooled came to."""

    draws: Draws
    sweeps: int
    n_left_out: int  # chains that are not pooled
    noted: Mapping[str, Any]  # of the labels: see coterie.inference.verdicts.note_labels
    items: NDArray[Any]  # (items,)   what they are called
    traces_settled: bool = False  # the run stopped because of it; else nobody has looked


class Settled(NamedTuple):
    """A verdict, and the warning if there is reason for one."""

    converged: bool
    warning: ConvergenceWarning | None


def settled_labels(outcome: Outcome) -> Settled:
    """Ask that all chains that are kept give one label on nearly all items."""
    noted = outcome.noted
    if noted["chains"] == 1:
        return settled_traces(outcome)
    if noted["settled"]:
        return Settled(True, None)
    sentence = say_labels(noted, outcome.items)
    warning = ConvergenceWarning(sentence.rstrip("."), {"one_label": float(noted["one_label"])})
    return Settled(False, warning)


def settled_traces(outcome: Outcome) -> Settled:
    """Ask for R-hat and effective draws of all that is watched, and that no chain was left out."""
    looked = outcome.traces_settled and outcome.n_left_out == 0  # at the traces of all chains
    if looked or outcome.draws.settled():
        return Settled(outcome.n_left_out == 0, None)
    draws = outcome.draws
    trace = {name: values for name, values in draws.trace.items() if name in draws.watched}
    # NaN: the R-hat of what is constant, and the effective draws of next to none.
    table = diagnose(trace, ["r_hat", "ess_bulk"]).fillna({"r_hat": 1.0, "ess_bulk": 0.0})
    worst = table.iloc[int(table["r_hat"].argmax())]
    least = table.iloc[int(table["ess_bulk"].argmin())]
    numbers = {"r_hat": float(worst["r_hat"]), "ess_bulk": float(least["ess_bulk"])}
    warning = ConvergenceWarning(
        f"the chains have not converged after {outcome.sweeps:,} sweeps: R-hat {worst['r_hat']:.3f}"
        f" ({worst['quantity']}; {LARGEST_R_HAT:g} is fine), effective draws"
        f" {least['ess_bulk']:,.0f} ({least['quantity']}; {LEAST_ESS} are enough);"
        " raise sweeps, and look at where chains differ",
        numbers,
    )
    return Settled(False, warning)
