"""What stands out: whether answers can be checked at all, and who answers how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coterie.data.annotations import Annotations
from coterie.kernels.right import NORMAL_95, SHIFT
from coterie.metrics import informativeness
from coterie.numeric import FloatArray
from coterie.posterior import Posterior
from coterie.roles import Kind, Pattern
from coterie.roles.role import shift_matrices
from coterie.words.names import isolated

THIN = 1.5
"""Labels an item, on average, below which most labels are one person's word."""
HARDLY = 0.05
"""Share of the items with a second label, or known, below which nothing can be checked."""
FEW_LABELS = 20
NO_INFORMATION = 0.05
"""A point estimate has no roles: this many labels and so little information make a spammer."""
SURELY = 3
"""Standard errors that a difference needs to be more than chance."""
WORSE_THAN_BLIND = 0.5
"""With enough labels, right less than half as often as blind answers of the same frequencies would
be, and by more than chance (3 s.e.), makes an adversary."""


@dataclass(frozen=True)
class Caveat:
    """That answers cannot be compared, or hardly: said before anything else."""

    nothing: bool  # can be checked: certainties and accuracies mean nothing
    alone: bool  # there is one annotator
    again: int  # items with a second label
    unchecked: int  # items without, that are not known either
    share: float  # of all items with labels


def caveat_of(a: Annotations) -> Caveat | None:
    """Say that the answers cannot be compared, or hardly; None where they can.

    Known labels check those who answered them, as a second answer does.

    Examples
    --------
    >>> import coterie
    >>> caveat_of(coterie.read([("q1", "ann", "yes"), ("q2", "bob", "no")])).nothing
    True
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")]
    >>> caveat_of(coterie.read(rows)) is None
    True
    """
    labelled = a.labels_per_item > 0
    n, alone = int(labelled.sum()), bool(np.count_nonzero(a.labels_per_annotator) == 1)
    if not n:
        return None
    again = (a.labels_per_item[labelled] > 1) & (not alone)
    checked = again | (a.codes.gold[labelled] >= 0)
    share = float(checked.mean())
    if share >= HARDLY and not (a.n_labels / n < THIN and share < 0.5):
        return None
    return Caveat(share < HARDLY, alone, int(again.sum()), n - int(checked.sum()), 1 - share)


def troubles(posterior: Posterior, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Give who answers at random and who against the truth; who is weak if nobody does.

    Agreement with the vote itself accuses nobody. ``table`` is that of ``posterior.annotators()``.
    """
    if not posterior.abilities.accuracies:
        return []
    kinds, found = kinds_of(posterior, table), []
    worst = [kind for kind in (Kind.NOISE, Kind.AGAINST) if kind in kinds]
    for kind in worst or {*kinds} & {Kind.WEAK}:
        some = table[[one is kind for one in kinds]]
        some = some.sort_values("n_labels", ascending=False, kind="stable")
        share = some["n_labels"].sum() / max(table["n_labels"].sum(), 1)
        names = [isolated(l) for l in some["annotator"].tolist()]
        found.append({"kind": kind.value, "names": names, "share": float(share)})
    return found


def kinds_of(posterior: Posterior, table: pd.DataFrame) -> list[Kind]:
    """Give the kind of each annotator: by role, or, of too few labels, by the coterie's role.

    Point estimates have neither, and go by plain limits. Where the model allows for mistakes that
    all share, nobody is accused of what these would overturn: they are in everybody's favour.
    """
    if posterior.abilities.uncertainty:
        roles = posterior.roles().role
        if not posterior.abilities.coteries:
            return [role.kind for role in roles]
        shared = [role.kind for role in posterior.coterie_roles().role]
        shared.append(Kind.UNKNOWN)  # of those without labels, whose group is -1
        return [
            shared[m] if role.pattern is Pattern.TOO_FEW else role.kind
            for role, m in zip(roles, posterior.partition().group.tolist(), strict=True)
        ]
    if posterior.abilities.share_right:
        shift = NORMAL_95 * SHIFT * posterior.right_labels().unknown[:, None]
        shifted = shift_matrices(posterior.confusion_mean[:, None], shift)[:, 0]
        told = informativeness(shifted)
        table = table.assign(accuracy=table["accuracy_high"], informativeness=told)
    return kinds_by_limits(table, blind_accuracy(posterior))


def blind_accuracy(posterior: Posterior) -> FloatArray:
    """Give how often each annotator's answers would be right if shuffled, shape (annotators,).

    That is sum over t of tau[t] said[t], where said[c] = sum over t of tau[t] Psi[t,c].
    """
    balance = posterior.class_balance
    said = np.einsum("t,ltc->lc", balance, posterior.confusion_mean)
    return np.asarray(said[:, : len(balance)] @ balance, np.float64)


def kinds_by_limits(table: pd.DataFrame, blind: FloatArray) -> list[Kind]:
    """Give the kind of each annotator of a point estimate: noise, against, or unknown.

    ``blind`` is what :func:`blind_accuracy` gives.
    """
    n = table["n_labels"].clip(lower=1)
    enough = table["n_labels"] >= FEW_LABELS
    noise = enough & (table["informativeness"] < NO_INFORMATION)
    by_chance = blind - SURELY * np.sqrt(blind * (1 - blind) / n)
    lowest = np.minimum(WORSE_THAN_BLIND * blind, by_chance)
    against = enough & (table["accuracy"] < lowest)
    kinds = np.select([against, noise], [Kind.AGAINST, Kind.NOISE], Kind.UNKNOWN)
    return [Kind(kind) for kind in kinds.tolist()]
