"""cBCC: annotators of a coterie share one confusion matrix; their number is unknown."""

from __future__ import annotations

from typing import Any, ClassVar

from coterie.abilities import Abilities
from coterie.kernels.people import Crowd, People, SharedPeople
from coterie.models.kinds import KindsEstimator
from coterie.priors import CBCCPrior, Prior


class CBCC(KindsEstimator):
    """cBCC: annotators of a coterie share one confusion matrix; their number is unknown.

    Coteries ~ CRP(concentration), Psi[m, t] ~ Dir(strength[t] mean[t]) for every coterie m; the
    matrices and tau are integrated out, the truth z, the coteries q and alpha are sampled.

    ``kinds=2`` looks for kinds of items, and ``fit(..., kinds=)`` is told of them: everybody then
    has a matrix per kind, and ``posterior.kinds()`` says which item is of which. The other
    parameters are those of every sampling model: see :class:`coterie.models.SamplingEstimator`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> coterie.CBCC(burn_in=1_000, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of CBCC: 50 items, 12 annotators, 3 classes>
    """

    abilities: ClassVar[Abilities] = Abilities(coteries=True, uncertainty=True)
    prior_type: ClassVar[type[Prior]] = CBCCPrior
    plain: ClassVar[str] = "cbcc"

    def plain_people(self, prior: Any, crowd: Crowd) -> People:
        """Give what the model believes of annotators."""
        return SharedPeople(prior, crowd)
