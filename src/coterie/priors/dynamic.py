"""The prior of DynamicIBCC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from coterie.errors import DataError
from coterie.priors.base import PaperPrior
from coterie.priors.checks import Numbers, as_numbers, mean_matrix, per_class
from coterie.words.visible import quoted


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

    mean: Numbers = 0.7
    strength: Numbers = 3.0
    class_weights: Numbers = 1.0
    drift: Any = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
    static_weight: float = 0.5

    def resolve(self, n_classes: int, n_answers: int) -> Self:
        """Give the same prior with every field as a full array, or raise DataError."""
        name = type(self).__name__
        drift = as_numbers(self.drift, f"{name}.drift")
        rising = drift.ndim == 1 and len(drift) > 0 and bool((np.diff(drift) > 0).all())
        if not rising or drift[0] != 0 or not np.isfinite(drift).all():
            raise DataError(
                f"{name}.drift is {quoted(self.drift)}; give rising numbers, the first 0"
            )
        static = 1.0 if len(drift) == 1 else per_class(self.static_weight, f"{name}.static", None)
        if len(drift) > 1 and not static < 1:
            raise DataError(f"{name}.static_weight is {static:g}; give a probability below 1")
        return type(self)(
            mean=mean_matrix(self.mean, f"{name}.mean", n_classes, n_answers),
            strength=per_class(self.strength, f"{name}.strength", n_classes),
            class_weights=per_class(self.class_weights, f"{name}.class_weights", n_classes),
            drift=drift,
            static_weight=float(static),
        )
