"""QuickConsensus: calibrated labels without sampling, in seconds for a million labels."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import ClassVar

from coterie.abilities import Abilities, Method
from coterie.arguments import check_number, check_whole
from coterie.data.annotations import Annotations
from coterie.errors import Argument, ConvergenceWarning
from coterie.kernels.quick import quick_consensus
from coterie.models.base import Estimator
from coterie.posterior import Posterior
from coterie.posterior.kinds import HARDNESS, unknown_hardness


class QuickConsensus(Estimator):
    """The quick consensus: deterministic, calibrated, no coteries.

    Two models are fitted by expectation-maximisation, each item weighed by what all others say of
    its annotators: one skill per annotator, and one confusion matrix per annotator, drawn towards
    the crowd's. n labels of an item are worth fewer than n independent ones, by as much as labels
    of this crowd are alike; the two models, tempered so, are averaged, and drawn a little towards
    the vote. ``docs/models.md`` has the formulas, and what it wins and loses on real data.

    An annotator's accuracy is the share of their labels that are right, as far as the reported
    probabilities say; its interval allows for mistakes that everybody shares. Tables have the
    columns of :class:`coterie.Consensus`; ``hardness`` is missing in all rows, because matrices
    that were fitted without hard items have taken them in, and nothing is left to tell them by.

    Parameters
    ----------
    n_iter
        Most passes over the labels, for each of the two models.
    tol
        Stop when no probability moves by this much.
    duplicates
        What an annotator's repeated label of one item means, see :func:`coterie.read`.

    Attributes
    ----------
    n_iter_ : int
        Number of passes made by both models together.
    converged_ : bool
        Whether both models came to rest.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=100, annotators=20, random_state=0)
    >>> model = coterie.QuickConsensus().fit(crowd.annotations)
    >>> round(model.posterior_.score(crowd.truth).accuracy, 2)
    0.95
    """

    method: ClassVar[Method] = "em"
    abilities: ClassVar[Abilities] = Abilities(share_right=True)
    n_iter_: int = field(init=False)
    converged_: bool = field(init=False)

    n_iter: int = 100
    tol: float = 1e-3
    duplicates: str = "error"

    def _fit(self, annotations: Annotations) -> Posterior:
        name = type(self).__name__
        check_whole(self.n_iter, Argument("n_iter", of=name), 1)
        check_number(self.tol, Argument("tol", of=name), "above 0", lambda tol: tol > 0)
        found = quick_consensus(annotations.codes, annotations.votes, self.tol, self.n_iter)
        self.n_iter_, self.converged_ = sum(found.passes), found.converged
        if not found.converged:
            message = (
                f"QuickConsensus still moved after {self.n_iter} passes; raise n_iter, or tol: the "
                "labels hardly change any more"
            )
            warnings.warn(ConvergenceWarning(message, {"n_iter": self.n_iter}), stacklevel=3)
        return Posterior(
            annotations=annotations,
            item_probability=found.probability,
            class_balance=found.class_balance,
            confusion_mean=found.confusion,
            raw_probability=found.raw,
            item_numbers={HARDNESS: unknown_hardness(annotations.n_items)},
            mixing=found.mixing,
            model=type(self).__name__,
            method=self.method,
            abilities=self.abilities,
            converged=found.converged,
            settings=self.get_params(),
            run={"iterations": self.n_iter_, "correlation": found.correlation},
        )
