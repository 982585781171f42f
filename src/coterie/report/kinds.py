"""What kind of annotator each is: good, weak, noise, against, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.posterior import Posterior

FEW_LABELS = 20
NO_INFORMATION = 0.05
"""A point estimate has no roles: this many labels and so little information make a spammer."""

SURELY = 3
"""Standard errors that a difference needs to be more than chance."""

WORSE_THAN_BLIND = 0.5
"""With enough labels, right less than half as often as blind answers of the same frequencies would
be, and by more than chance (3 s.e.), makes an adversary."""

KINDS = {
    "expert": "good",
    "good": "good",
    "spammer": "noise",
    "always says": "noise",
    "adversary": "against",
    "novice": "weak",
    "weak on": "weak",
    "biased": "weak",
    "confuses": "weak",
}
"""Roles, by how they begin, and what one does about them."""


def kind(role: str | None) -> str:
    """Tell roles apart by what one does about them: good, weak, noise, against or unknown.

    Examples
    --------
    >>> kind("expert"), kind("always says b"), kind("too few labels to say"), kind(None)
    ('good', 'noise', 'unknown', 'unknown')
    """
    found = (word for start, word in KINDS.items() if role is not None and role.startswith(start))
    return next(found, "unknown")


def blind_accuracy(posterior: Posterior) -> NDArray[np.float64]:
    """Give how often each annotator's answers would be right if shuffled, shape (annotators,).

    That is sum over t of tau[t] said[t], where said[c] = sum over t of tau[t] Psi[t,c].
    """
    balance = posterior.class_balance
    said = np.einsum("t,ltc->lc", balance, posterior.confusion_mean)
    return np.asarray(said[:, : len(balance)] @ balance, np.float64)


def kinds_of(
    table: pd.DataFrame, roles: Mapping[int, str], blind: NDArray[np.float64]
) -> pd.Series[Any]:
    """Give the kind of each annotator: by role, or, where that is open, by the coterie's role.

    Point estimates have neither, and go by plain limits; ``blind`` is what
    :func:`blind_accuracy` gives.
    """
    if "role" not in table:
        n = table["n_labels"].clip(lower=1)
        enough = table["n_labels"] >= FEW_LABELS
        noise = enough & (table["informativeness"] < NO_INFORMATION)
        by_chance = blind - SURELY * np.sqrt(blind * (1 - blind) / n)
        lowest = np.minimum(WORSE_THAN_BLIND * blind, by_chance)
        against = enough & (table["accuracy"] < lowest)
        return pd.Series("unknown", table.index).mask(noise, "noise").mask(against, "against")
    own, shared = kinds_by(table, roles)
    return own.where(own != "unknown", shared)


def kinds_by(
    table: pd.DataFrame, roles: Mapping[int, str]
) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Give the kind of each annotator by own role, and by the role of the coterie."""
    own = table["role"].map(kind)
    if "coterie" not in table:
        return own, own
    return own, table["coterie"].map(lambda m: kind(roles.get(m)), na_action=None)
