"""The priors of all models: the paper's iBCC, cBCC and hcBCC, iBCC's relatives, Consensus."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from coterie.errors import DataError
from coterie.numeric import FloatArray
from coterie.priors import base
from coterie.priors.base import Beta, Gamma, Numbers, PaperPrior, Prior, as_numbers, per_class
from coterie.words.visible import quoted

VOTES = "votes"


@dataclass(frozen=True, eq=False)
class IBCCPrior(PaperPrior):
    """Psi[l, t] ~ Dir(strength[t] * mean[t]) for every annotator l; tau ~ Dir(class_weights).

    Parameters
    ----------
    mean
        eta: the probability of a class's own answer, the rest shared evenly by the other C - 1
        answers; or the whole matrix, shape (T, C), rows summing to one.
    strength
        beta: one number, or one per class, shape (T,).
    class_weights
        epsilon * mu: one number, or one per class, shape (T,).
    kind_weights
        w: of latent kinds of items, shared evenly by them; of no matter without any.

    Examples
    --------
    >>> IBCCPrior(mean=0.8).resolve(n_classes=2, n_answers=3).mean
    array([[0.8, 0.1, 0.1],
           [0.1, 0.8, 0.1]])
    """

    mean: Numbers = field(default=0.7, metadata=base.ROWS)
    strength: Numbers = field(default=3.0, metadata=base.PER_CLASS)
    class_weights: Numbers = field(default=1.0, metadata=base.PER_CLASS)
    kind_weights: float = field(default=1.0, metadata=base.NUMBER)

    @classmethod
    def pseudo_counts(
        cls, n_classes: int, n_answers: int, own: float = 4.0, other: float = 1.0
    ) -> Self:
        """Give the prior with so many pseudo-counts for a class's own answer, and for any other.

        Examples
        --------
        >>> prior = IBCCPrior.pseudo_counts(2, 3)
        >>> (prior.strength[0] * prior.mean[0]).round(9).tolist()
        [4.0, 1.0, 1.0]
        """
        counts = np.full((n_classes, n_answers), float(other))
        np.fill_diagonal(counts, own)
        strength = counts.sum(axis=1)
        return cls(mean=counts / strength[:, None], strength=strength)


@dataclass(frozen=True, eq=False)
class CBCCPrior(PaperPrior):
    """Coteries ~ CRP(concentration); Psi[m, t] ~ Dir(strength[t] * mean[t]) for every coterie m.

    Parameters
    ----------
    mean, strength, class_weights
        eta, beta, epsilon * mu, as in :class:`IBCCPrior`.
    concentration
        alpha: a fixed number, or its Gamma prior.
    kind_weights
        w, as in :class:`IBCCPrior`.

    Examples
    --------
    >>> CBCCPrior(concentration=0.5).resolve(2, 2).strength
    array([3., 3.])
    """

    mean: Numbers = field(default=0.7, metadata=base.ROWS)
    strength: Numbers = field(default=3.0, metadata=base.PER_CLASS)
    class_weights: Numbers = field(default=1.0, metadata=base.PER_CLASS)
    concentration: float | Gamma = field(default=Gamma(1.0, 10.0), metadata=base.CONCENTRATION)
    kind_weights: float = field(default=1.0, metadata=base.NUMBER)


@dataclass(frozen=True, eq=False)
class HCBCCPrior(PaperPrior):
    """Coteries ~ CRP(concentration); each has its own mean matrix and spread around it.

    Psi[l, t] ~ Dir(beta[m, t] * eta[m, t]) for every annotator l of coterie m, where
    beta[m, t] ~ ``strength`` and eta[m, t] ~ Dir(mean_strength[t] * mean[t]).

    Parameters
    ----------
    mean
        gamma: as ``mean`` in :class:`IBCCPrior`.
    mean_strength
        phi: one number, or one per class, shape (T,).
    strength
        Gamma(a, b), the prior of beta; a and b one number, or one per class, shape (T,).
    auxiliaries
        h: empty coteries that the Reuse algorithm keeps.
    class_weights, concentration, kind_weights
        epsilon * mu, alpha, w, as in :class:`CBCCPrior`.

    Examples
    --------
    >>> HCBCCPrior().resolve(2, 2).strength
    Gamma(shape=array([20., 20.]), rate=array([2., 2.]))
    """

    mean: Numbers = field(default=0.7, metadata=base.ROWS)
    mean_strength: Numbers = field(default=3.0, metadata=base.PER_CLASS)
    strength: Gamma = field(
        default=Gamma(20.0, 2.0),
        metadata={"write": lambda value, name, t, _: base.strength_prior(value, name, t)},
    )
    class_weights: Numbers = field(default=1.0, metadata=base.PER_CLASS)
    concentration: float | Gamma = field(default=Gamma(1.0, 10.0), metadata=base.CONCENTRATION)
    auxiliaries: int = field(default=10, metadata=base.WHOLE)
    kind_weights: float = field(default=1.0, metadata=base.NUMBER)


def _weights_or_votes(value: Any, name: str, n_classes: int, _: int) -> Any:
    """Class weights by votes stay so: they wait for data."""
    if not isinstance(value, str):
        return per_class(value, name, n_classes)
    if value != VOTES:
        raise DataError(f"{name} is {quoted(value)}; give numbers, or {quoted(VOTES)}")
    return value


@dataclass(frozen=True, eq=False)
class EBCCPrior(Prior):
    """Classes have sub-types, and a row of everybody's matrix for each.

    An item of class t ~ tau ~ Dir(class_weights) has sub-type s ~ pi[t] ~ Dir(a/S, ..., a/S);
    annotator l answers it by Psi[l, t, s] ~ Dir(strength[t] * mean[t]).

    Parameters
    ----------
    mean, strength
        eta, beta, as in :class:`IBCCPrior`; the same for all sub-types.
    class_weights
        epsilon * mu: one number, or one per class, shape (T,). ``"votes"``: as many as items that
        the class wins, by vote shares; that uses the data twice, and is there to reproduce public
        results only.
    subtypes
        S: sub-types of every class, at most; the data need not use them all.
    subtype_weight
        a: pseudo-counts of the sub-types of a class together. Small numbers leave most empty.

    Examples
    --------
    >>> EBCCPrior(subtypes=4).resolve(n_classes=2, n_answers=2).strength
    array([3., 3.])
    """

    mean: Numbers = field(default=0.7, metadata=base.ROWS)
    strength: Numbers = field(default=3.0, metadata=base.PER_CLASS)
    class_weights: Numbers | Literal["votes"] = field(
        default=1.0, metadata={"write": _weights_or_votes}
    )
    subtypes: int = field(default=10, metadata=base.WHOLE)
    subtype_weight: float = field(default=0.1, metadata=base.NUMBER)

    @classmethod
    def li2019(
        cls, n_classes: int, n_answers: int, class_weights: Numbers | Literal["votes"] = 1.0,
        subtypes: int = 10,
    ) -> Self:  # fmt: skip
        """Give the rows of Li, Rubinstein and Cohn (2019): 4 on the diagonal, 1 off it."""
        rows = IBCCPrior.pseudo_counts(n_classes, n_answers)
        return cls(rows.mean, rows.strength, class_weights, subtypes)


@dataclass(frozen=True, eq=False)
class EasyHardPrior(PaperPrior):
    """Psi0[t] ~ Dir(easy_strength * easy_mean[t]) of easy items, Psi[l, t] as in iBCC of hard ones.

    Parameters
    ----------
    mean, strength, class_weights
        Of everybody's own matrix, on hard items, and of the classes: as in :class:`IBCCPrior`.
    easy_mean, easy_strength
        Of the one matrix of easy items. That they are easy is what this prior says: with a weak
        one, easy and hard may change places.
    kind_weights
        w: of easy and of hard items, one number, or one each, shape (2,).

    Examples
    --------
    >>> EasyHardPrior().resolve(2, 2).easy_mean
    array([[0.95, 0.05],
           [0.05, 0.95]])
    """

    mean: Numbers = field(default=0.7, metadata=base.ROWS)
    strength: Numbers = field(default=3.0, metadata=base.PER_CLASS)
    easy_mean: Numbers = field(default=0.95, metadata=base.ROWS)
    easy_strength: Numbers = field(default=20.0, metadata=base.PER_CLASS)
    kind_weights: Numbers = field(
        default=1.0, metadata={"write": lambda value, name, *_: per_class(value, name, 2, "kind")}
    )
    class_weights: Numbers = field(default=1.0, metadata=base.PER_CLASS)


def _variances(value: Any, name: str, *_: int) -> FloatArray:
    drift = as_numbers(value, name)
    rising = drift.ndim == 1 and len(drift) > 0 and bool((np.diff(drift) > 0).all())
    if not rising or drift[0] != 0 or not np.isfinite(drift).all():
        raise DataError(f"{name} is {quoted(value)}; give rising numbers, the first 0")
    return drift


@dataclass(frozen=True, eq=False)
class DynamicPrior(PaperPrior):
    """Rows as in iBCC at an annotator's first label; from then on their sticks walk at random.

    Parameters
    ----------
    mean, strength, class_weights
        Of the first state, matched to the Dirichlet of :class:`IBCCPrior`, and of the classes.
    drift
        The variances per step that an annotator's walk may have, rising from 0: who has 0 does not
        change.
    static_weight
        Probability of 0; the others share the rest evenly.

    Examples
    --------
    >>> DynamicPrior().resolve(2, 2).drift
    array([0.    , 0.0001, 0.001 , 0.01  , 0.1   ])
    """

    mean: Numbers = field(default=0.7, metadata=base.ROWS)
    strength: Numbers = field(default=3.0, metadata=base.PER_CLASS)
    class_weights: Numbers = field(default=1.0, metadata=base.PER_CLASS)
    drift: Any = field(default=(0.0, 1e-4, 1e-3, 1e-2, 1e-1), metadata={"write": _variances})
    static_weight: float = 0.5

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        full, name = super().resolve(n_classes, n_answers), type(self).__name__
        if len(full.drift) == 1:
            return replace(full, static_weight=1.0)
        static = per_class(self.static_weight, f"{name}.static", None)
        if not static < 1:
            raise DataError(f"{name}.static_weight is {static:g}; give a probability below 1")
        return replace(full, static_weight=static)


def _beta(value: Any, name: str, *_: int) -> Beta:
    if not isinstance(value, Beta):
        raise DataError(f"{name} must be a Beta, got {quoted(value)}; give Beta(7, 3)")
    return value._written(name, None, None)


def _shares(value: Any, name: str, *_: int) -> FloatArray:
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

    class_weights: Numbers | None = field(  # None waits for data
        default=None,
        metadata={"write": lambda x, name, n, _: None if x is None else per_class(x, name, n)},
    )
    class_base: float = field(default=1.0, metadata=base.NUMBER)
    class_pull: float = field(default=3.0, metadata=base.NUMBER)
    class_smoothing: float = field(default=0.5, metadata=base.NUMBER)
    knowledge: Beta = field(default=Beta(7.0, 3.0), metadata={"write": _beta})
    knowledge_points: int = field(default=99, metadata=base.WHOLE)
    guess_weights: Numbers = field(default=1.0, metadata=base.PER_ANSWER)
    mean_strength: float = field(default=30.0, metadata=base.NUMBER)
    strength: Gamma = field(
        default=Gamma(200.0, 20.0),
        metadata={"write": lambda value, name, *_: base.strength_prior(value, name)},
    )
    guessing: Numbers = field(default=(0.0, 0.5, 0.9), metadata={"write": _shares})
    kind_weights: Numbers = (2.0, 1.0, 1.0)
    hard_guess_weights: Numbers = field(default=1.0, metadata=base.PER_ANSWER)
    concentration: float | Gamma = field(default=Gamma(1.0, 10.0), metadata=base.CONCENTRATION)
    auxiliaries: int = field(default=10, metadata=base.WHOLE)

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        full, name = super().resolve(n_classes, n_answers), f"{type(self).__name__}.kind_weights"
        assert isinstance(full.guessing, np.ndarray)
        weights = per_class(self.kind_weights, name, len(full.guessing), "kind of items")
        return replace(full, kind_weights=weights)

    @classmethod
    def named(cls) -> dict[str, Self]:
        """Give the priors that the model takes by name."""
        return {"default": cls()}
