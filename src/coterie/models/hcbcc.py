"""hcBCC: annotators of a coterie are similar, not equal; the number of coteries is unknown."""

from __future__ import annotations

from typing import Any, ClassVar

from coterie.abilities import Abilities
from coterie.kernels.people import Crowd, People, SimilarPeople
from coterie.models.kinds import KindsEstimator
from coterie.priors import HCBCCPrior, Prior


class HCBCC(KindsEstimator):
    """hcBCC: annotators of a coterie are similar, not equal; the number of coteries is unknown.

    Coteries ~ CRP(concentration), Psi[l, t] ~ Dir(beta[m, t] eta[m, t]) for every annotator l of
    coterie m, with beta ~ strength and eta[m, t] ~ Dir(mean_strength[t] mean[t]); the matrices
    and tau are integrated out, all else is sampled.

    ``kinds=2`` looks for kinds of items, and ``fit(..., kinds=)`` is told of them: everybody then
    has a matrix per kind, and ``posterior.kinds()`` says which item is of which. The other
    parameters are those of every sampling model: see :class:`coterie.models.SamplingEstimator`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> coterie.HCBCC(burn_in=1_000, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of HCBCC: 50 items, 12 annotators, 3 classes>
    """

    abilities: ClassVar[Abilities] = Abilities(coteries=True, uncertainty=True)
    prior_type: ClassVar[type[Prior]] = HCBCCPrior
    plain: ClassVar[str] = "hcbcc"
    densities: ClassVar[bool] = True  # of beta and eta

    def plain_people(self, prior: Any, crowd: Crowd) -> People:
        """Give what the model believes of annotators."""
        return SimilarPeople(prior, crowd)
