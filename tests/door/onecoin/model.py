"""OneCoin: everybody is right with a chance of their own, whatever the class."""

from __future__ import annotations

from coterie.extend import Abilities, Hooks, SamplingEstimator
from door.onecoin.prior import OneCoinPrior


class OneCoin(SamplingEstimator):
    """One-coin model: every annotator is right with a chance of their own."""

    abilities = Abilities(uncertainty=True)
    prior_type = OneCoinPrior

    def kernels(self):
        from door.onecoin import kernel

        return kernel

    def hooks(self):
        from door.onecoin import kernel

        return Hooks(layout=kernel.layout)
