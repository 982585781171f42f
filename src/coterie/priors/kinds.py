"""The priors of models with kinds of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from coterie.priors.base import PaperPrior
from coterie.priors.checks import Numbers, mean_matrix, per_class


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

    mean: Numbers = 0.7
    strength: Numbers = 3.0
    easy_mean: Numbers = 0.95
    easy_strength: Numbers = 20.0
    kind_weights: Numbers = 1.0
    class_weights: Numbers = 1.0

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        name = type(self).__name__
        means, rates = ("mean", "easy_mean"), ("strength", "easy_strength", "class_weights")
        written = {
            **{
                each: mean_matrix(getattr(self, each), f"{name}.{each}", n_classes, n_answers)
                for each in means
            },
            **{each: per_class(getattr(self, each), f"{name}.{each}", n_classes) for each in rates},
        }
        weights = per_class(self.kind_weights, f"{name}.kind_weights", 2, "kind")
        return type(self)(**written, kind_weights=weights)
