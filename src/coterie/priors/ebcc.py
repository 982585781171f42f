"""The prior of EBCC: iBCC's, and what is believed of the sub-types of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from coterie.errors import DataError
from coterie.priors.base import Prior
from coterie.priors.checks import Numbers, at_least_one, mean_matrix, per_class, pseudo_counts
from coterie.words.visible import quoted

VOTES = "votes"


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

    mean: Numbers = 0.7
    strength: Numbers = 3.0
    class_weights: Numbers | Literal["votes"] = 1.0
    subtypes: int = 10
    subtype_weight: float = 0.1

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError.

        Class weights by votes stay so: they wait for data.
        """
        name = type(self).__name__
        weights = self.class_weights
        if isinstance(weights, str):
            if weights != VOTES:
                raise DataError(
                    f"{name}.class_weights is {quoted(weights)}; give numbers, or {quoted(VOTES)}"
                )
        else:
            weights = per_class(weights, f"{name}.class_weights", n_classes)
        return type(self)(
            mean=mean_matrix(self.mean, f"{name}.mean", n_classes, n_answers),
            strength=per_class(self.strength, f"{name}.strength", n_classes),
            class_weights=weights,
            subtypes=at_least_one(self.subtypes, f"{name}.subtypes"),
            subtype_weight=per_class(self.subtype_weight, f"{name}.subtype_weight", None),
        )

    @classmethod
    def li2019(
        cls,
        n_classes: int,
        n_answers: int,
        class_weights: Numbers | Literal["votes"] = 1.0,
        subtypes: int = 10,
    ) -> Self:
        """Give the rows of Li, Rubinstein and Cohn (2019): 4 on the diagonal, 1 off it."""
        mean, strength = pseudo_counts(n_classes, n_answers)
        return cls(mean, strength, class_weights, subtypes)
