"""iBCC: every annotator has a confusion matrix of their own."""

from __future__ import annotations

from typing import ClassVar

from coterie.inference import Kernels
from coterie.models.sampling import SamplingEstimator
from coterie.priors import IBCCPrior, Prior


class IBCC(SamplingEstimator):
    """iBCC: every annotator has a confusion matrix of their own.

    Psi[l, t] ~ Dir(strength[t] mean[t]) for every annotator l, tau ~ Dir(class_weights); both are
    integrated out, the truth z is sampled.

    The parameters are those of every sampling model: see :class:`coterie.models.SamplingEstimator`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> coterie.IBCC(burn_in=1_000, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of IBCC: 50 items, 12 annotators, 3 classes>
    """

    prior_type: ClassVar[type[Prior]] = IBCCPrior

    def kernels(self) -> Kernels:
        """Give the module of the kernels."""
        from coterie.kernels.gibbs import ibcc

        return ibcc
