"""When to stop: which items are settled, which are not worth a label, which need an expert."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.arguments import checked
from coterie.assign.belief import belief_of
from coterie.assign.checks import at_least_zero, is_number
from coterie.assign.lookahead import gain_per_label, price_at
from coterie.assign.people import usual_information
from coterie.assign.risk import SHARED, own_spread, wrong_quantile
from coterie.errors import DataError
from coterie.posterior import Posterior
from coterie.words.numbers import be, count, tenths

FloatArray = NDArray[np.float64]

SETTLED, ASK, LEAVE, EXPERT = "settled", "ask", "leave", "expert"
DECISIONS = (SETTLED, ASK, LEAVE, EXPERT)
EXPERT_COST = 5.0
"""Labels that an expert's answer costs, unless the user says what it costs."""
KNOWN = 1e-6
"""A smaller share of wrong labels is that of known ones."""
SURE = 0.95
"""Probability of the risk statement."""


@dataclass(frozen=True, eq=False)
class Stop:
    """What is done, what is not, and how wrong the whole may be.

    Parameters
    ----------
    items
        One row per item: item, label, probability, gain_per_label (expected, of the next labels of
        the best of these people), decision. "settled": the label is sure enough. "ask": another
        label is expected to gain more than it costs. "leave": it is not, and neither is an expert.
        "expert": it is not, but an expert's answer is worth its price.
    expected_wrong
        Share of the labels that is expected to be wrong.
    at_most_wrong
        Share that is not exceeded with probability 0.95, if annotators share no more mistakes than
        in other data: no label shows one that most of them make.
    shared_mistakes
        The deviation of what they may share, as it was given.
    price
        What a label costs in errors: those that it must be expected to prevent.
    """

    items: pd.DataFrame
    expected_wrong: float
    at_most_wrong: float
    shared_mistakes: float = SHARED
    price: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """Items of each decision."""
        found = self.items["decision"].value_counts()
        return {name: int(found.get(name, 0)) for name in DECISIONS}

    @property
    def sentence(self) -> str:
        """What it says, for a person."""
        if len(self.items) == 0:
            return "There are no items."
        n = self.counts
        done = (
            "All items are settled"
            if n[SETTLED] == len(self.items)
            else f"{n[SETTLED]:,} of {count(len(self.items), 'item')} {be(n[SETTLED])} settled,"
            f" {n[ASK]:,} {be(n[ASK])} worth another label, {n[LEAVE]:,} {be(n[LEAVE])} not,"
            f" {n[EXPERT]:,} should go to an expert"
        )
        unless = ", unless most annotators make the same mistake, which only true labels show"
        return (
            f"{done}; as they stand, {tenths(self.expected_wrong)} of the labels are expected to be"
            f" wrong, and at most {tenths(self.at_most_wrong)} with 95 % probability"
            f"{unless if self.shared_mistakes > 0 and self.at_most_wrong > KNOWN else ''}."
        )

    def __str__(self) -> str:
        return self.sentence


@checked
def stop(
    posterior: Posterior,
    target: float = 0.95,
    cost_of_error: float | None = None,
    cost_of_label: float | None = None,
    *,
    cost_of_expert: float | None = None,
    shared_mistakes: float = SHARED,
) -> Stop:
    """Say which items are settled, which are not worth another label, which need an expert.

    Parameters
    ----------
    posterior
        The result so far.
    target
        An item whose label has this probability is settled.
    cost_of_error, cost_of_label
        What a wrong label costs, and what asking for one costs. By default a label costs as much
        as one can at most be expected to gain for an item at the target: who calls that settled
        does not pay so much, and pays anything less.
    cost_of_expert
        What an answer costs that can be relied on; by default as much as five labels.
    shared_mistakes
        Standard deviation of the log odds by which all labels may be off together; 0 if annotators
        are known to share no mistakes.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=40, annotators=8, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> found = coterie.assign.stop(posterior, target=0.9)
    >>> sum(found.counts.values()), found.expected_wrong < found.at_most_wrong
    (40, True)
    """
    _check(target, cost_of_error=cost_of_error, cost_of_label=cost_of_label,
           cost_of_expert=cost_of_expert, shared_mistakes=shared_mistakes)  # fmt: skip
    belief = belief_of(posterior)
    a, code = posterior.annotations, posterior.label_code
    known = a.codes.gold >= 0
    p = belief.items[np.arange(a.n_items), code] if a.n_classes else np.ones(a.n_items)
    labelled = a.labels_per_annotator > 0
    able = belief.matrix[:-1][labelled] if labelled.any() else belief.matrix[-1:]
    best = able[int(usual_information(posterior.class_balance, able).argmax())]
    gain = gain_per_label(belief, best)
    price = price_at(float(target), belief, best)
    label, error, expert = _costs(price, cost_of_error, cost_of_label, cost_of_expert)
    decision = np.select(
        [known | (p >= target), gain * error > label, (1 - p) * error > expert],
        [SETTLED, ASK, EXPERT],
        LEAVE,
    )
    table = pd.DataFrame(
        {
            "item": a.items,
            "label": a.classes[code] if a.n_classes else np.full(a.n_items, None),
            "probability": p,
            "gain_per_label": gain,
            "decision": decision,
        }
    )
    expected = float((1 - p).mean()) if len(p) else 0.0
    spread = math.hypot(shared_mistakes, own_spread(posterior))
    at_most = wrong_quantile(p, SURE, spread)
    return Stop(table, expected, at_most, float(shared_mistakes), label / max(error, 1e-300))


def _check(target: Any, **costs: float | None) -> None:
    """Refuse what cannot be."""
    if not is_number(target) or not 0 < target <= 1:
        raise DataError(f"target must be above 0 and at most 1, got {target!r}", argument="target")
    for name, value in costs.items():
        if value is not None:
            at_least_zero(name, value)


def _costs(
    price: float, error: float | None, label: float | None, expert: float | None
) -> tuple[float, float, float]:
    """Give what a label, an error and an expert's answer cost; what is not said from the rest.

    ``price`` is what a label may cost, in errors.
    """
    if error is None:
        error = 1.0 if label is None else label / max(price, 1e-12)
    if label is None:
        label = error * price
    return float(label), float(error), EXPERT_COST * label if expert is None else float(expert)
