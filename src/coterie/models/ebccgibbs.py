"""EBCCGibbs: EBCC by Gibbs sampling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from coterie.data.annotations import Annotations
from coterie.kernels.people import Crowd, OwnPeople, People, weight_of
from coterie.kernels.space import with_subtypes
from coterie.models.priors import resolved
from coterie.models.sampling import SamplingEstimator
from coterie.models.vb import class_weights_of
from coterie.priors import EBCCPrior, Prior


class EBCCGibbs(SamplingEstimator):
    """EBCC by Gibbs sampling: sub-types of classes carry the mistakes that annotators share.

    The model is that of :class:`coterie.EBCC`; everything is sampled, so that intervals are as wide
    as they should be. Chains may end with a sub-type in the wrong class: the verdict names those.

    The parameters are those of every sampling model: see :class:`coterie.models.SamplingEstimator`;
    ``prior`` is ``"paper"``, ``"li2019"`` or an ``EBCCPrior``, as in :class:`coterie.EBCC`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> prior = coterie.EBCCPrior(subtypes=2)
    >>> coterie.EBCCGibbs(prior=prior, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of EBCCGibbs: 50 items, 12 annotators, 3 classes>
    """

    prior_type: ClassVar[type[Prior]] = EBCCPrior

    def resolve_prior(self, annotations: Annotations) -> Prior:
        """Give the prior with every field written out for these data, votes as numbers."""
        prior: EBCCPrior = resolved(self, annotations, li2019=EBCCPrior.li2019)
        return replace(prior, class_weights=class_weights_of(prior, annotations))

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators: a row of their own for each sub-type."""
        weight = np.array(prior.class_weights, np.float64)
        space = with_subtypes(weight, prior.subtypes, prior.subtype_weight)
        return OwnPeople(crowd, space, weight_of(prior)[:, space.cell_class])
