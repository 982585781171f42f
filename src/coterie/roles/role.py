"""What a role is: its pattern, the labels that it concerns, its words, and its kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any

from numpy.typing import NDArray

from coterie.roles.rule import ADVERSARY, EXPERT, GOOD, N_LEVELS, NOVICE, SPAMMER

Labels = Sequence[Any] | NDArray[Any]


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


LEVELS = {
    SPAMMER: Pattern.SPAMMER,
    ADVERSARY: Pattern.ADVERSARY,
    NOVICE: Pattern.NOVICE,
    GOOD: Pattern.GOOD,
    EXPERT: Pattern.EXPERT,
}
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
        *(Role(LEVELS[code]) for code in range(N_LEVELS)),
        *(Role(Pattern.ALWAYS, (answer,)) for answer in answers),
        *(Role(Pattern.BIASED, (answer,)) for answer in answers),
        *(Role(Pattern.WEAK, (label,)) for label in classes),
        *(Role(Pattern.CONFUSES, (label, other)) for label in classes for other in classes),
    ]
