"""The priors of the paper's three models: iBCC, cBCC, hcBCC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from coterie.priors.base import Gamma, PaperPrior, concentration, strength_prior
from coterie.priors.checks import Numbers, at_least_one, mean_matrix, per_class, pseudo_counts


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

    mean: Numbers = 0.7
    strength: Numbers = 3.0
    class_weights: Numbers = 1.0
    kind_weights: float = 1.0

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        name = type(self).__name__
        return type(self)(
            mean=mean_matrix(self.mean, f"{name}.mean", n_classes, n_answers),
            strength=per_class(self.strength, f"{name}.strength", n_classes),
            class_weights=per_class(self.class_weights, f"{name}.class_weights", n_classes),
            kind_weights=per_class(self.kind_weights, f"{name}.kind_weights", None),
        )

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
        mean, strength = pseudo_counts(n_classes, n_answers, own, other)
        return cls(mean=mean, strength=strength)


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

    mean: Numbers = 0.7
    strength: Numbers = 3.0
    class_weights: Numbers = 1.0
    concentration: float | Gamma = Gamma(1.0, 10.0)
    kind_weights: float = 1.0

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        name = type(self).__name__
        return type(self)(
            mean=mean_matrix(self.mean, f"{name}.mean", n_classes, n_answers),
            strength=per_class(self.strength, f"{name}.strength", n_classes),
            class_weights=per_class(self.class_weights, f"{name}.class_weights", n_classes),
            concentration=concentration(self.concentration, f"{name}.concentration"),
            kind_weights=per_class(self.kind_weights, f"{name}.kind_weights", None),
        )


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
    class_weights
        epsilon * mu: one number, or one per class, shape (T,).
    concentration
        alpha: a fixed number, or its Gamma prior.
    auxiliaries
        h: empty coteries that the Reuse algorithm keeps.
    kind_weights
        w, as in :class:`IBCCPrior`.

    Examples
    --------
    >>> HCBCCPrior().resolve(2, 2).strength
    Gamma(shape=array([20., 20.]), rate=array([2., 2.]))
    """

    mean: Numbers = 0.7
    mean_strength: Numbers = 3.0
    strength: Gamma = Gamma(20.0, 2.0)
    class_weights: Numbers = 1.0
    concentration: float | Gamma = Gamma(1.0, 10.0)
    auxiliaries: int = 10
    kind_weights: float = 1.0

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        name = type(self).__name__
        return type(self)(
            mean=mean_matrix(self.mean, f"{name}.mean", n_classes, n_answers),
            mean_strength=per_class(self.mean_strength, f"{name}.mean_strength", n_classes),
            strength=strength_prior(self.strength, f"{name}.strength", n_classes),
            class_weights=per_class(self.class_weights, f"{name}.class_weights", n_classes),
            concentration=concentration(self.concentration, f"{name}.concentration"),
            auxiliaries=at_least_one(self.auxiliaries, f"{name}.auxiliaries"),
            kind_weights=per_class(self.kind_weights, f"{name}.kind_weights", None),
        )
