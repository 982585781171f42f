"""EasyHardBCC: easy items are answered alike by everybody, hard ones by everybody's own matrix."""

from __future__ import annotations

from typing import Any, ClassVar

from coterie.inference.sample import Afterwards, Averages, Reported
from coterie.kernels.kinds import HARD, EasyHardPeople
from coterie.kernels.people import Crowd, People
from coterie.models.label_switching import judge_easy
from coterie.models.sampling import SamplingEstimator
from coterie.posterior import ItemNumbers
from coterie.priors import EasyHardPrior, Prior


class EasyHardBCC(SamplingEstimator):
    """Easy and hard items: which are hard, and who is good at those?

    Every item is easy or hard. Everybody answers easy items from one matrix, which is nearly always
    right, and hard ones from a matrix of their own. After Kim and Ghahramani's "enhanced" model;
    their priors of the Dirichlets' parameters are left out, as in iBCC they are fixed.

    ``posterior.difficulty()`` says how likely each item is hard, ``draws.extra["hard_accuracy"]``
    how good everybody is at hard items; a confusion matrix is over easy and hard items together.

    The parameters are those of every sampling model: see :class:`coterie.models.SamplingEstimator`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> model = coterie.EasyHardBCC(burn_in=1_000, random_state=0)
    >>> posterior = model.fit(crowd.annotations).posterior_
    >>> posterior
    <Posterior of EasyHardBCC: 50 items, 12 annotators, 3 classes>
    >>> posterior.difficulty().columns.tolist()
    ['item', 'label', 'hardness', 'n_labels']
    """

    prior_type: ClassVar[type[Prior]] = EasyHardPrior

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators."""
        return EasyHardPeople(prior, crowd)

    def after(self, people: People) -> Afterwards:
        """Report how hard items are; look whether the two kinds have changed places."""
        return Afterwards(judge=judge_easy, report=report_hardness)


def report_hardness(found: Averages, data: Any) -> Reported:
    """Report how likely each item is hard."""
    hard = ItemNumbers(("hardness",), found.kinds[:, HARD:])
    return Reported(found.item_probability, {"hardness": hard})
