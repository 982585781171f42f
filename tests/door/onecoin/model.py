"""OneCoin: everybody is right with a chance of their own, whatever the class."""

from __future__ import annotations

from coterie.extend import Abilities, Hooks, SamplingEstimator
from onecoin.prior import OneCoinPrior


class OneCoin(SamplingEstimator):
    """One-coin model: every annotator is right with a chance of their own."""

    abilities = Abilities(uncertainty=True)
    prior_type = OneCoinPrior

    def kernels(self):
        """Give the module of the kernels, imported here: nobody else waits for it."""
        from onecoin import kernel

        return kernel

    def hooks(self):
        """Say where the model departs from the others: it records more."""
        from onecoin import kernel

        return Hooks(layout=kernel.layout)
