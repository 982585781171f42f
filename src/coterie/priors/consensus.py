"""The prior of Consensus, the default model: hcBCC with hard items and a learnt base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from coterie.errors import DataError
from coterie.priors.base import Beta, Gamma, Prior, concentration, strength_prior
from coterie.priors.checks import (
    FloatArray,
    Numbers,
    as_numbers,
    at_least_one,
    per_class,
)
from coterie.words.visible import quoted


@dataclass(frozen=True, eq=False)
class ConsensusPrior(Prior):
    """Coteries know some answers and guess the rest; some items are hard for everybody.

    A coterie m answers an item of class t with t itself with probability d[m], and else by a guess
    w that all coteries share: b[m, t, c] = d[m] 1[c = t] + (1 - d[m]) w[c]. Around that lie the
    coterie's mean matrix, eta[m, t] ~ Dir(mean_strength b[m, t]), and around it everybody's own,
    Psi[l, t] ~ Dir(beta[m] eta[m, t]). An item of kind k is answered by guesses v, whoever answers
    and whatever is true, with probability guessing[k].

    Where numbers come from: *the paper* is the prior of hcBCC there; *chosen* were others, on 24
    real data sets with gold, and checked on 35 that nobody had looked at; *flat* means that nothing
    near by does better or worse beyond chance; a *convention* says nothing either way.

    Parameters
    ----------
    class_weights
        Pseudo-counts of the classes: one number, or one per class, shape (T,). None computes them
        in ``fit`` from the votes, ``class_base + class_pull * N * f[t]``: N is the number of items
        with a vote or gold, f[t] the share of them that t wins, so that no class drifts away from
        how often it is voted for. Chosen: the paper's single pseudo-count lets classes drift.
    class_base, class_pull, class_smoothing
        The constants of ``class_weights=None``; f[t] is proportional to ``class_smoothing`` plus
        the items that t wins (of ties, its part). The base is the paper's 1; the pull of three
        votes per item was chosen; half an item of smoothing is a convention (Jeffreys').
    knowledge
        Beta(a, b), the prior of d. Its mean is the diagonal of the paper's prior, 0.7; its ten
        pseudo-counts were chosen, and keep classes from being exchanged: Beta(2.1, 0.9) does not.
    knowledge_points
        d lives on the midpoints of so many equal parts of (0, 1), with the Beta density as
        weights: sums over it are exact. A convention: steps of a hundredth.
    guess_weights
        Pseudo-counts of w, the guesses: one number, or one per answer, shape (C,). A convention:
        all shares are as probable as each other.
    mean_strength
        phi: how many labels b is worth for a coterie's mean matrix. Flat from 10 to 100, also if
        it is learnt.
    strength
        Gamma(shape, rate), the prior of beta, one per coterie: how alike its members are. The mean
        is the paper's a / b, 10; ten times the shape was chosen, because with the paper's
        Gamma(20, 2) it sinks to 2 or 3 and coteries merge.
    guessing
        The share of guesses on items of each kind, shape (kinds,); the first kind is the plain one.
        Chosen: none, half, and nearly all.
    kind_weights
        Pseudo-counts of the kinds: one number, or one per kind, shape (kinds,). Chosen, weak: four
        items in all, of which the plain kind has as many as both others.
    hard_guess_weights
        Pseudo-counts of v, the guesses on hard items: one number, or one per answer, shape (C,). A
        convention, as for ``guess_weights``.
    concentration
        alpha: a fixed number, or its Gamma prior; the paper's.
    auxiliaries
        h: empty coteries that the Reuse algorithm keeps; the paper's. It changes how fast the
        chain moves, not where it goes.

    Examples
    --------
    >>> prior = ConsensusPrior(class_weights=[3, 1]).resolve(n_classes=2, n_answers=3)
    >>> prior.guess_weights, prior.class_weights
    (array([1., 1., 1.]), array([3., 1.]))
    """

    class_weights: Numbers | None = None
    class_base: float = 1.0
    class_pull: float = 3.0
    class_smoothing: float = 0.5
    knowledge: Beta = Beta(7.0, 3.0)
    knowledge_points: int = 99
    guess_weights: Numbers = 1.0
    mean_strength: float = 30.0
    strength: Gamma = Gamma(200.0, 20.0)
    guessing: Numbers = (0.0, 0.5, 0.9)
    kind_weights: Numbers = (2.0, 1.0, 1.0)
    hard_guess_weights: Numbers = 1.0
    concentration: float | Gamma = Gamma(1.0, 10.0)
    auxiliaries: int = 10

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError.

        Class weights that are None stay so: they wait for data.
        """
        name = type(self).__name__
        guessing = _shares(self.guessing, f"{name}.guessing")
        weights = self.class_weights
        if weights is not None:
            weights = per_class(weights, f"{name}.class_weights", n_classes)
        if not isinstance(self.knowledge, Beta):
            raise DataError(
                f"{name}.knowledge must be a Beta, got {quoted(self.knowledge)}; give Beta(7, 3)"
            )
        return type(self)(
            class_weights=weights,
            class_base=per_class(self.class_base, f"{name}.class_base", None),
            class_pull=per_class(self.class_pull, f"{name}.class_pull", None),
            class_smoothing=per_class(self.class_smoothing, f"{name}.class_smoothing", None),
            knowledge=self.knowledge.resolve(f"{name}.knowledge"),
            knowledge_points=at_least_one(self.knowledge_points, f"{name}.knowledge_points"),
            guess_weights=per_class(
                self.guess_weights, f"{name}.guess_weights", n_answers, "answer"
            ),
            mean_strength=per_class(self.mean_strength, f"{name}.mean_strength", None),
            strength=strength_prior(self.strength, f"{name}.strength"),
            guessing=guessing,
            kind_weights=per_class(
                self.kind_weights, f"{name}.kind_weights", len(guessing), "kind of items"
            ),
            hard_guess_weights=per_class(
                self.hard_guess_weights, f"{name}.hard_guess_weights", n_answers, "answer"
            ),
            concentration=concentration(self.concentration, f"{name}.concentration"),
            auxiliaries=at_least_one(self.auxiliaries, f"{name}.auxiliaries"),
        )

    @classmethod
    def named(cls) -> dict[str, Self]:
        """Give the priors that the model takes by name."""
        return {"default": cls()}


def _shares(value: Numbers, name: str) -> FloatArray:
    """Give numbers in [0, 1), one per kind of items; the first kind is plain, and has the least."""
    shares = as_numbers(value, name)
    if shares.ndim != 1 or len(shares) == 0:
        raise DataError(f"{name} has shape {shares.shape}; give one number per kind of items")
    bad = ~((shares >= 0) & (shares < 1))
    if bad.any():
        raise DataError(f"{name} holds {shares[bad][0]:g}; give numbers from 0 up to, not with, 1")
    if shares.argmin() != 0:
        raise DataError(
            f"{name} is {shares.tolist()}; put the plain kind, which has the least, first"
        )
    return shares
