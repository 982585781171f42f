"""From draws of confusion matrices to the role that they support, and how well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.roles.role import LEVELS, UNCERTAIN, UNCLEAR, Pattern, Role, roles_by_code
from coterie.roles.rule import (
    ADVERSARY,
    EXPERT,
    GOOD,
    N_LEVELS,
    NEARLY_ALWAYS,
    NOVICE,
    SPAMMER,
    Codes,
    count_roles,
    find_codes,
)
from coterie.roles.shift import shift_matrices, shifts_of

FloatArray = NDArray[np.float64]

SUPPORT = 0.8
"""A role is given if at least this share of the draws has it; docs/roles.md says why."""

BETWEEN = 0.95
"""Two neighbouring levels are named together if this share of the draws has one of them."""

Pairs = tuple[tuple[int, int], ...]
NEIGHBOURS: Pairs = ((GOOD, NOVICE), (NOVICE, SPAMMER), (SPAMMER, ADVERSARY))
"""Levels that are named together."""
AS_SHIFTED: Pairs = ((GOOD, NOVICE), (SPAMMER, ADVERSARY))
"""The same under a common shift: between a novice and a spammer lies whether somebody knows
anything, and half an accusation is one."""

CHUNK = 4_000_000
"""Numbers of the matrices, and of the counts, that are worked on at once."""


class Roles(NamedTuple):
    """Roles and their posterior probabilities; NaN where there is no role."""

    role: tuple[Role, ...]  # (groups,)
    probability: NDArray[np.float64]  # (groups,)

    @property
    def words(self) -> list[str]:
        """The roles in plain words, as tables show them."""
        return [str(role) for role in self.role]


def roles_of(
    confusion: NDArray[Any],
    class_balance: ArrayLike,
    classes: Sequence[Any] | NDArray[Any],
    answers: Sequence[Any] | NDArray[Any],
    labelled: ArrayLike | None = None,
    shift: float | FloatArray = 0.0,
) -> Roles:
    """Say what each annotator, or each coterie, is.

    Every draw of a matrix has exactly one role, by the rule in docs/roles.md. A role's probability
    is the share of the draws that have it, and a role is given only if that is at least 0.8: the
    most specific one of which this holds. If there is none, but one of two neighbouring levels is
    nearly sure (0.95), both are named: "novice or spammer".

    Parameters
    ----------
    confusion
        Draws of confusion matrices, shape (draws, groups, classes, answers).
    class_balance
        Draws of the class proportions, shape (draws, classes).
    classes, answers
        The labels; the answers are the classes, followed by those that are never true.
    labelled
        Who has labels, shape (groups,); by default everybody. The others get no role.
    shift
        Standard deviation of the log odds of being right that all annotators share: mistakes that
        everybody makes, which no label shows; one number, or one per group, less where gold shows
        them. A role must hold under it too; where it does not, there is too little gold to say.

    Examples
    --------
    >>> expert = [[0.9, 0.1], [0.1, 0.9]]
    >>> spammer = [[0.05, 0.95], [0.05, 0.95]]
    >>> draws = np.array([[expert, spammer]] * 10)  # ten draws that agree: no doubt is left
    >>> roles = roles_of(draws, np.full((10, 2), 0.5), ["no", "yes"], ["no", "yes"])
    >>> roles.words, roles.probability.tolist()
    (['expert', 'always says yes'], [1.0, 1.0])
    """
    n_draws, n_groups, n_classes, n_answers = confusion.shape
    balance = np.ascontiguousarray(class_balance, np.float64)
    codes = find_codes(n_classes, n_answers)
    every = roles_by_code(classes, answers)
    role = [UNCERTAIN] * n_groups
    probability = np.full(n_groups, np.nan)
    known = np.ones(n_groups, bool) if labelled is None else np.asarray(labelled) > 0
    wide = np.broadcast_to(np.asarray(shift, np.float64), n_groups)
    step = max(CHUNK // max(n_draws * n_classes * n_answers, len(every)), 1)
    for start in range(0, n_groups if n_draws else 0, step):
        block = np.moveaxis(confusion[:, start : start + step], 0, 1)
        shares = _shares(block, balance)
        off = wide[start : start + step, None] * shifts_of(n_draws, 1.0)
        moved = _shares(shift_matrices(block, off), balance) if off.any() else None
        plain = _find(shares, every, codes)
        shifted = None if moved is None else _find(moved, every, codes, AS_SHIFTED)
        for m in np.flatnonzero(known[start : start + step]).tolist():
            found = plain[m] or (UNCERTAIN, np.nan)
            if shifted is not None and wide[start + m] > 0 and found[0] is not UNCERTAIN:
                found = shifted[m] or (UNCLEAR, np.nan)
            role[start + m], probability[start + m] = _worded(found[0], block[m], balance), found[1]
    return Roles(tuple(role), probability)


def _worded(role: Role, draws: NDArray[Any], balance: FloatArray) -> Role:
    """Give the role, "always" only if that is nearly so, on average over draws."""
    if role.pattern is not Pattern.ALWAYS:
        return role
    said = np.einsum("dt,dtc->c", balance, draws) / len(draws)
    return role if said.max() >= NEARLY_ALWAYS else Role(Pattern.MOSTLY, role.about)


class Shares(NamedTuple):
    """The shares of draws that have each role, and each level."""

    role: FloatArray  # (groups, roles)
    level: FloatArray  # (groups, levels)


def _shares(block: NDArray[Any], balance: FloatArray) -> Shares:
    """Count roles and levels of matrices, shape (groups, draws, classes, answers)."""
    roles, levels = count_roles(block, balance)
    return Shares(roles / len(balance), levels / len(balance))


def _find(
    shares: Shares, every: list[Role], codes: Codes, pairs: Pairs = NEIGHBOURS
) -> list[tuple[Role, float] | None]:
    """Give each group's role, or two levels that are named together, with its share."""
    code, share = _choose(shares, codes)
    return [
        (every[c], s) if c >= 0 else _between(shares.level[m], pairs)
        for m, (c, s) in enumerate(zip(code.tolist(), share.tolist(), strict=True))
    ]


def _between(level: FloatArray, pairs: Pairs) -> tuple[Role, float] | None:
    """Name two neighbouring levels of which one nearly surely holds; None if none does."""
    share = [float(level[a] + level[b] + level[EXPERT] * (a == GOOD)) for a, b in pairs]
    best = int(np.argmax(share))
    if share[best] < BETWEEN:
        return None
    one, other = pairs[best]
    return Role(LEVELS[one], or_else=LEVELS[other]), share[best]


def _choose(shares: Shares, codes: Codes) -> tuple[NDArray[np.int64], FloatArray]:
    """Choose the most specific role with enough support: its code (-1 if none) and share."""
    role, level = shares
    n, n_classes = len(role), codes.confuses - codes.weak
    code, share = np.full(n, -1), np.full(n, np.nan)

    def take(codes: NDArray[np.int64] | int, shares: FloatArray) -> None:
        enough = shares >= SUPPORT
        code[enough] = np.broadcast_to(codes, n)[enough]
        share[enough] = shares[enough]

    for one in (NOVICE, ADVERSARY, SPAMMER, GOOD, EXPERT):  # what comes later is more specific
        take(one, level[:, one] + (level[:, EXPERT] if one == GOOD else 0.0))  # experts are good
    pairs = role[:, codes.confuses :].reshape(n, n_classes, n_classes)
    either = np.triu(pairs + pairs.swapaxes(1, 2)).reshape(n, -1)
    pair = either.argmax(axis=1)  # sure of the two classes, not of which is taken for which
    take(codes.confuses + pair, either[np.arange(n), pair])
    pattern = N_LEVELS + role[:, N_LEVELS:].argmax(axis=1)
    take(pattern, role[np.arange(n), pattern])
    return code, share
