"""What kind of annotator each is: good, weak, noise, against, or unknown."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.kernels.right import NORMAL_95, SHIFT
from coterie.metrics import informativeness
from coterie.posterior import Posterior
from coterie.roles import Kind, Pattern
from coterie.roles.role import shift_matrices

FEW_LABELS = 20
NO_INFORMATION = 0.05
"""A point estimate has no roles: this many labels and so little information make a spammer."""

SURELY = 3
"""Standard errors that a difference needs to be more than chance."""

WORSE_THAN_BLIND = 0.5
"""With enough labels, right less than half as often as blind answers of the same frequencies would
be, and by more than chance (3 s.e.), makes an adversary."""


def blind_accuracy(posterior: Posterior) -> NDArray[np.float64]:
    """Give how often each annotator's answers would be right if shuffled, shape (annotators,).

    That is sum over t of tau[t] said[t], where said[c] = sum over t of tau[t] Psi[t,c].
    """
    balance = posterior.class_balance
    said = np.einsum("t,ltc->lc", balance, posterior.confusion_mean)
    return np.asarray(said[:, : len(balance)] @ balance, np.float64)


def kinds_of(posterior: Posterior, table: pd.DataFrame) -> list[Kind]:
    """Give the kind of each annotator: by role, or, of too few labels, by the coterie's role.

    Point estimates have neither, and go by plain limits.

    Parameters
    ----------
    posterior
        The result.
    table
        ``posterior.annotators()``.
    """
    if not posterior.abilities.uncertainty:
        return kinds_by_limits(at_best(posterior, table), blind_accuracy(posterior))
    few = [role.pattern is Pattern.TOO_FEW for role in posterior.roles().role]
    own, shared = kinds_by_role(posterior)
    return [b if few[l] else a for l, (a, b) in enumerate(zip(own, shared, strict=True))]


def at_best(posterior: Posterior, table: pd.DataFrame) -> pd.DataFrame:
    """Give the table as it is if mistakes that all share are in everybody's favour.

    Only where the model allows for such mistakes: nobody is accused of what they would overturn.
    """
    if not posterior.abilities.share_right:
        return table
    shift = NORMAL_95 * SHIFT * posterior.right_labels().unknown[:, None]
    shifted = shift_matrices(posterior.confusion_mean[:, None], shift)[:, 0]
    return table.assign(accuracy=table["accuracy_high"], informativeness=informativeness(shifted))


def kinds_by_role(posterior: Posterior) -> tuple[list[Kind], list[Kind]]:
    """Give the kind of each annotator by own role, and by the role of the coterie."""
    own = [role.kind for role in posterior.roles().role]
    if not posterior.abilities.coteries:
        return own, own
    by_coterie = [role.kind for role in posterior.coterie_roles().role]
    groups = posterior.partition().group.tolist()  # -1 without labels
    return own, [Kind.UNKNOWN if m < 0 else by_coterie[m] for m in groups]


def kinds_by_limits(table: pd.DataFrame, blind: NDArray[np.float64]) -> list[Kind]:
    """Give the kind of each annotator of a point estimate: noise, against, or unknown.

    Parameters
    ----------
    table
        ``posterior.annotators()``.
    blind
        What :func:`blind_accuracy` gives, shape (annotators,).
    """
    n = table["n_labels"].clip(lower=1)
    enough = table["n_labels"] >= FEW_LABELS
    noise = enough & (table["informativeness"] < NO_INFORMATION)
    by_chance = blind - SURELY * np.sqrt(blind * (1 - blind) / n)
    lowest = np.minimum(WORSE_THAN_BLIND * blind, by_chance)
    against = enough & (table["accuracy"] < lowest)
    kinds = np.select([against, noise], [Kind.AGAINST, Kind.NOISE], Kind.UNKNOWN)
    return [Kind(kind) for kind in kinds.tolist()]
