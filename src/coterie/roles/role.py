"""Roles: what somebody's answers are like, in words and by kind, as far as draws support it.

Mistakes that all annotators share are a shift of everybody's log odds of being right. No label
shows it, so that it comes from outside: N(0, 0.4^2), one number per draw for everybody.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

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

FloatArray = NDArray[np.float64]
Labels = Sequence[Any] | NDArray[Any]
Pairs = tuple[tuple[int, int], ...]

SUPPORT = 0.8
"""A role is given if at least this share of the draws has it; docs/roles.md says why."""
BETWEEN = 0.95
"""Two neighbouring levels are named together if this share of the draws has one of them."""
NEIGHBOURS: Pairs = ((GOOD, NOVICE), (NOVICE, SPAMMER), (SPAMMER, ADVERSARY))
"""Levels that are named together."""
AS_SHIFTED: Pairs = ((GOOD, NOVICE), (SPAMMER, ADVERSARY))
"""The same under a common shift: between a novice and a spammer lies whether somebody knows
anything, and half an accusation is one."""
CHUNK = 4_000_000
"""Numbers of the matrices, and of the counts, that are worked on at once."""
GOLDEN = 0.6180339887498949
"""Multiples of it, whole parts dropped, fill (0, 1) evenly in any order of the draws."""


class Kind(StrEnum):
    """What one does about annotators of a role."""

    GOOD = "good"
    WEAK = "weak"
    NOISE = "noise"
    AGAINST = "against"
    UNKNOWN = "unknown"


class Pattern(Enum):
    """How somebody answers: in words, with a place for each label that it concerns, and its kind.

    What makes a matrix have one is in :mod:`coterie.roles.rule`.
    """

    EXPERT = "expert", Kind.GOOD
    GOOD = "good", Kind.GOOD
    NOVICE = "novice", Kind.WEAK
    SPAMMER = "spammer", Kind.NOISE
    ADVERSARY = "adversary", Kind.AGAINST
    ALWAYS = "always says {}", Kind.NOISE
    MOSTLY = "mostly says {}", Kind.NOISE
    BIASED = "biased towards {}", Kind.WEAK
    WEAK = "weak on {}", Kind.WEAK
    CONFUSES = "confuses {} with {}", Kind.WEAK
    TOO_FEW = "too few labels to say", Kind.UNKNOWN
    UNCLEAR = "too little gold to say", Kind.UNKNOWN

    def __init__(self, words: str, kind: Kind) -> None:
        self.words = words
        self.kind = kind


LEVELS = [Pattern.SPAMMER, Pattern.ADVERSARY, Pattern.NOVICE, Pattern.GOOD, Pattern.EXPERT]
"""The levels of :mod:`coterie.roles.rule` as patterns."""


@dataclass(frozen=True)
class Role:
    """What an annotator or a coterie is; its text is what tables show.

    Parameters
    ----------
    pattern
        How it answers.
    about
        The labels that the pattern concerns, as many as its words have places for.
    or_else
        The neighbouring level that it may be instead: "novice or spammer".

    Examples
    --------
    >>> role = Role(Pattern.BIASED, ("yes",))
    >>> str(role), role.kind.value
    ('biased towards yes', 'weak')
    >>> str(Role(Pattern.NOVICE, or_else=Pattern.SPAMMER))
    'novice or spammer'
    """

    pattern: Pattern
    about: tuple[Hashable, ...] = ()
    or_else: Pattern | None = None

    @property
    def kind(self) -> Kind:
        """What one does about it; of two neighbouring levels, the better one's."""
        return self.pattern.kind

    def __str__(self) -> str:
        words = self.pattern.words.format(*self.about)
        return words if self.or_else is None else f"{words} or {self.or_else.words}"


UNCERTAIN = Role(Pattern.TOO_FEW)
"""That of somebody whose answers support no role."""

UNCLEAR = Role(Pattern.UNCLEAR)
"""That of somebody whose answers would support one if annotators shared no mistakes."""


def roles_by_code(classes: Labels, answers: Labels) -> list[Role]:
    """Give every role, in the order of the codes of :func:`coterie.roles.rule.find_codes`."""
    classes, answers = list(classes), list(answers)
    return [
        *map(Role, LEVELS),
        *(Role(Pattern.ALWAYS, (answer,)) for answer in answers),
        *(Role(Pattern.BIASED, (answer,)) for answer in answers),
        *(Role(Pattern.WEAK, (label,)) for label in classes),
        *(Role(Pattern.CONFUSES, (label, other)) for label in classes for other in classes),
    ]


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
    codes, every = find_codes(n_classes, n_answers), roles_by_code(classes, answers)
    role, probability = [UNCERTAIN] * n_groups, np.full(n_groups, np.nan)
    known = np.ones(n_groups, bool) if labelled is None else np.asarray(labelled) > 0
    wide = np.broadcast_to(np.asarray(shift, np.float64), n_groups)
    step = max(CHUNK // max(n_draws * n_classes * n_answers, len(every)), 1)
    for start in range(0, n_groups if n_draws else 0, step):
        block = np.moveaxis(confusion[:, start : start + step], 0, 1)
        off = wide[start : start + step, None] * shifts_of(n_draws, 1.0)
        plain = _find(block, balance, every, codes, NEIGHBOURS)
        moved = shift_matrices(block, off) if off.any() else None
        shifted = plain if moved is None else _find(moved, balance, every, codes, AS_SHIFTED)
        for m in np.flatnonzero(known[start : start + step]).tolist():
            found, share = plain[m] or (UNCERTAIN, np.nan)
            if wide[start + m] > 0 and found is not UNCERTAIN:
                found, share = shifted[m] or (UNCLEAR, np.nan)
            if found.pattern is Pattern.ALWAYS:  # only if that is nearly so, on average over draws
                said = np.einsum("dt,dtc->c", balance, block[m]) / n_draws
                if said.max() < NEARLY_ALWAYS:
                    found = Role(Pattern.MOSTLY, found.about)
            role[start + m], probability[start + m] = found, share
    return Roles(tuple(role), probability)


def _find(
    block: NDArray[Any], balance: FloatArray, every: list[Role], codes: Codes, pairs: Pairs
) -> list[tuple[Role, float] | None]:
    """Give each group's role, or two levels that are named together, with its share of the draws.

    Matrices have shape (groups, draws, classes, answers). The role is the most specific one with
    enough support.
    """
    role, level = (count / len(balance) for count in count_roles(block, balance))
    n, n_classes = len(role), codes.confuses - codes.weak
    code, share = np.full(n, -1), np.full(n, np.nan)
    swaps = role[:, codes.confuses :].reshape(n, n_classes, n_classes)
    either = np.triu(swaps + swaps.swapaxes(1, 2)).reshape(n, -1)
    pair = either.argmax(axis=1)  # sure of the two classes, not of which is taken for which
    pattern = N_LEVELS + role[:, N_LEVELS:].argmax(axis=1)
    for known, support in (  # what comes later is more specific
        *((one, level[:, one]) for one in (NOVICE, ADVERSARY, SPAMMER)),
        (GOOD, level[:, GOOD] + level[:, EXPERT]),  # experts are good
        (EXPERT, level[:, EXPERT]),
        (codes.confuses + pair, either[np.arange(n), pair]),
        (pattern, role[np.arange(n), pattern]),
    ):
        enough = support >= SUPPORT
        code, share = np.where(enough, known, code), np.where(enough, support, share)
    return [
        (every[c], s) if c >= 0 else _between(level[m], pairs)
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


def shifts_of(n_draws: int, deviation: float) -> FloatArray:
    """Give one shift per draw, spread as N(0, deviation^2): the same ones every time.

    Examples
    --------
    >>> shifts = shifts_of(1000, 0.4)
    >>> round(float(shifts.mean()), 3), round(float(shifts.std()), 2)
    (0.0, 0.4)
    """
    return np.asarray(deviation * ndtri((np.arange(n_draws) + 0.5) * GOLDEN % 1.0), np.float64)


def shift_matrices(confusion: NDArray[Any], shift: FloatArray) -> FloatArray:
    """Shift the log odds of every right answer: Psi[t, t] times e^shift, and the row to sum one.

    Parameters
    ----------
    confusion
        Matrices, shape (groups, draws, classes, answers).
    shift
        Shape (draws,), or (groups, draws).

    Examples
    --------
    >>> coin = np.full((1, 1, 2, 2), 0.5)
    >>> shift_matrices(coin, np.log([3.0]))[0, 0].round(2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    shifted = np.array(confusion, np.float64)
    for t in range(shifted.shape[2]):
        shifted[:, :, t, t] *= np.exp(shift)
    shifted /= shifted.sum(axis=3, keepdims=True)
    return shifted
