"""iBCC: every annotator has a confusion matrix of their own."""

from __future__ import annotations

from typing import Any, ClassVar

from coterie.kernels.people import Crowd, OwnPeople, People
from coterie.models.kinds import KindsEstimator
from coterie.priors import IBCCPrior, Prior


class IBCC(KindsEstimator):
    """iBCC: every annotator has a confusion matrix of their own.

    Psi[l, t] ~ Dir(strength[t] mean[t]) for every annotator l, tau ~ Dir(class_weights); both are
    integrated out, the truth z is sampled.

    ``kinds=2`` looks for kinds of items, and ``fit(..., kinds=)`` is told of them: everybody then
    has a matrix per kind, and ``posterior.kinds()`` says which item is of which. The other
    parameters are those of every sampling model: see :class:`coterie.models.SamplingEstimator`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> coterie.IBCC(burn_in=1_000, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of IBCC: 50 items, 12 annotators, 3 classes>
    """

    prior_type: ClassVar[type[Prior]] = IBCCPrior
    plain: ClassVar[str] = "ibcc"

    def plain_people(self, prior: Any, crowd: Crowd) -> People:
        """Give what the model believes of annotators."""
        return OwnPeople.of(prior, crowd)
