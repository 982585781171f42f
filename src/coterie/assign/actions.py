"""What to do about people: keep, reward, train, watch, stop assigning; nothing with too few labels.

Decisions follow roles (docs/roles.md), which are given only with a probability of 0.8 or more and
only where they hold with mistakes that everybody may share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coterie.arguments import checked
from coterie.assign.belief import belief_of, usual_information
from coterie.assign.people import Costs, costs_of
from coterie.data.codes import Codes
from coterie.numeric import FloatArray, LongArray
from coterie.posterior import Posterior
from coterie.roles import Kind, Pattern, Role
from coterie.words.numbers import count, decimal, percent
from coterie.words.visible import visible

KEEP, REWARD, TRAIN, WATCH, STOP, WAIT = (
    "keep", "reward", "train", "watch", "stop assigning", "wait",
)  # fmt: skip
FEWEST = 10
"""Labels below which nothing is decided about anybody."""
OF = 100
"""Labels that what an action saves is counted for."""


@dataclass(frozen=True)
class Case:
    """One annotator."""

    role: Role
    n_labels: int
    bits: float  # that a label of theirs tells
    usual: float  # that a newcomer's does
    mended: float  # that theirs would if the pair were no longer confused
    pair: tuple[Any, Any] | None  # the class that is most often taken for another, and which
    alone: bool = False  # hardly any of their items is known, or has a label of somebody else


@checked
def actions(posterior: Posterior, *, cost: Costs = None) -> pd.DataFrame:
    """Say what to do about each annotator, with the probability behind it and what it saves.

    Parameters
    ----------
    posterior
        The result of a sampled model: roles need draws.
    cost
        Of one label, to count savings in money: one number, or a number for each annotator.

    Returns
    -------
    DataFrame
        annotator, n_labels, role, action, about (what to train), probability (of the role),
        bits_per_label (what a label of theirs tells of an item of which nothing is known), saves
        (labels of newcomers that the action is expected to save for every hundred of this
        annotator's; of "train", if the training works), why; with ``cost`` also saves_money.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=80, annotators=10, random_state=0)
    >>> posterior = coterie.Consensus(random_state=0).fit(crowd.annotations).posterior_
    >>> table = coterie.assign.actions(posterior)
    >>> set(table["action"]) <= {"keep", "reward", "train", "watch", "stop assigning", "wait"}
    True
    """
    belief, roles = belief_of(posterior), posterior.roles()
    a, balance = posterior.annotations, posterior.class_balance
    bits = usual_information(balance, belief.matrix)
    mended, pairs, names = belief.matrix[:-1].copy(), [], [visible(name) for name in a.classes]
    for matrix in mended:
        pair = _confused(matrix, balance)
        if pair is not None:
            t, c = pair
            matrix[t, t] += matrix[t, c]
            matrix[t, c] = 0.0
        pairs.append(None if pair is None else (names[pair[0]], names[pair[1]]))
    columns = (
        a.labels_per_annotator.tolist(), bits[:-1].tolist(),
        usual_information(balance, mended).tolist(), pairs,
        (compared(a.codes) < FEWEST).tolist(),
    )  # fmt: skip
    cases = [
        Case(role, n, own, float(bits[-1]), better, pair, alone)
        for role, n, own, better, pair, alone in zip(roles.role, *columns, strict=True)
    ]
    decided = [decide(case) for case in cases]
    table = pd.DataFrame(
        {
            "annotator": a.annotators,
            "n_labels": a.labels_per_annotator,
            "role": roles.words,
            "action": [action for action, _, _ in decided],
            "about": [
                "/".join(case.pair) if action == TRAIN and case.pair else ""
                for case, (action, _, _) in zip(cases, decided, strict=True)
            ],
            "probability": roles.probability,
            "bits_per_label": bits[:-1],
            "saves": [saves for _, saves, _ in decided],
            "why": [why for _, _, why in decided],
        }
    )
    if cost is not None:
        table["saves_money"] = table["saves"] * costs_of(cost, a.annotators.tolist())
    return table


def decide(case: Case) -> tuple[str, float, str]:
    """Decide about one annotator: the action, what it saves per hundred labels, and why.

    Examples
    --------
    >>> decide(Case(Role(Pattern.SPAMMER), 50, 0.01, 0.5, 0.2, None))[:2]
    ('stop assigning', 98.0)
    """
    role, worth = case.role, case.bits / max(case.usual, 1e-12)
    told = f"a label tells {decimal(case.bits)} bits, a newcomer's {decimal(case.usual)}"
    if case.n_labels < FEWEST or role.pattern is Pattern.TOO_FEW:
        return WAIT, 0.0, f"{count(case.n_labels, 'label')}: too few to decide anything"
    if case.alone:
        return WAIT, 0.0, "hardly any of their items has a label of somebody else, or is known"
    if role.pattern is Pattern.UNCLEAR:
        return WATCH, 0.0, "the answers support a role only if nobody shares mistakes: add gold"
    if role.kind is Kind.NOISE:
        return STOP, OF * (1 - worth), f"{role}: {told}"
    if role.kind is Kind.AGAINST:
        return WATCH, 0.0, (
            f"answers against the truth, and so stays informative: {told}, once turned round, as"
            " the model does; find out why, the task may be misread"
        )  # fmt: skip
    if role.kind is Kind.WEAK and case.pair is not None and case.mended > case.bits:
        gain = OF * (case.mended - case.bits) / max(case.usual, 1e-12)
        better = percent(case.mended / case.bits - 1) if case.bits > 0 else "much"
        return TRAIN, gain, f"{role}: takes {case.pair[0]} for {case.pair[1]}; {told}, and" \
            f" {better} more without that mistake"  # fmt: skip
    if role.kind is Kind.WEAK:
        return WATCH, 0.0, f"{role}: {told}"
    action = REWARD if role.pattern is Pattern.EXPERT else KEEP
    return action, OF * max(worth - 1, 0.0), f"{role}: {told}"


def compared(codes: Codes) -> LongArray:
    """Count the labels of each annotator that can be compared: others label the item, or gold does.

    Examples
    --------
    >>> from coterie.io.read import read
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")]
    >>> compared(read(rows).codes).tolist()
    [1, 1]
    """
    n_annotators = len(codes.annotator_start) - 1
    item = codes.annotator_item.astype(np.int64)
    l = np.repeat(np.arange(n_annotators), np.diff(codes.annotator_start))
    pairs = np.unique(item * n_annotators + l) // max(n_annotators, 1)
    people = np.bincount(pairs, minlength=len(codes.gold))
    fair = (people > 1) | (codes.gold >= 0)
    return np.bincount(l, fair[item], n_annotators).astype(np.int64)


def _confused(matrix: FloatArray, balance: FloatArray) -> tuple[int, int] | None:
    """Give the class that most items are mistaken in, and what for; None with one class."""
    n_classes = matrix.shape[0]
    if n_classes < 2:
        return None
    mistakes = balance[:, None] * matrix[:, :n_classes]
    np.fill_diagonal(mistakes, 0.0)
    t, c = divmod(int(mistakes.argmax()), n_classes)
    return (t, c) if mistakes[t, c] > 0 else None
