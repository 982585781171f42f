"""IBCCVB: iBCC by variational Bayes, in seconds where sampling takes minutes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError
from coterie.inference.climb import Limits, climb_shards, facts_of
from coterie.inference.soft_shards import SoftShards
from coterie.inference.start import starting_truth
from coterie.io.scan.scanned import Scan
from coterie.kernels.soft.variational import Model, own_rows
from coterie.models.priors import resolved
from coterie.models.sharded import even_votes, found_of_classes, sharded
from coterie.models.variational import VariationalEstimator, check_settings, vote_start
from coterie.posterior import Posterior
from coterie.priors import IBCCPrior, Prior

FloatArray = NDArray[np.float64]


class IBCCVB(VariationalEstimator):
    """iBCC by variational Bayes, after Simpson and others (2011): nearly the sampler's labels.

    The model is that of :class:`coterie.IBCC`. The posterior is replaced by the nearest product of
    independent parts (truths, class proportions, every annotator's rows), found from the vote
    shares by an iteration that raises a bound on the log evidence until it rises by no more than
    ``tol`` a label. The same data give the same labels every time.

    Probabilities are overconfident and intervals too narrow: the parts do not know of each other's
    uncertainty. Draws are 1,000 from the approximation, fewer for very large crowds.

    Parameters
    ----------
    prior
        ``"paper"``, as :class:`coterie.IBCC` has it; ``"vb"``, 4 pseudo-counts for a class's own
        answer and 1 for any other, as public implementations have it; or an ``IBCCPrior``.
    n_iter
        Most iterations; a :class:`coterie.ConvergenceWarning` says when they did not suffice.
    tol
        Smallest rise of the bound, divided by the number of labels, worth going on for.
    restarts
        Further starts, from noisy votes; the best bound is kept, and ``posterior.verdicts`` says
        how the others ended.
    random_state
        Seed of the restarts and of the draws.
    duplicates
        What an annotator's repeated labels of one item mean: "error", "first", "last", "keep".

    Attributes
    ----------
    n_iter_ : int
        Number of iterations done.
    loss_history_ : list of float
        The bound divided by the number of labels, after each iteration.
    bound_ : float
        The bound at the end, in nats: what restarts and priors are compared by.
    converged_ : bool
        Whether the last iteration rose it by no more than ``tol`` a label.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> model = coterie.IBCCVB(random_state=0).fit(crowd.annotations)
    >>> model.posterior_
    <Posterior of IBCCVB: 50 items, 12 annotators, 3 classes>
    >>> model.converged_
    True
    """

    prior_type: ClassVar[type[Prior]] = IBCCPrior

    def _fit_shards(self, scan: Scan) -> Posterior:
        check_settings(self)
        if self.restarts:
            raise DataError(
                [
                    Argument("restarts", self.restarts, of="IBCCVB"),
                    " starts from noisy votes of all items at once, which a scan does not hold",
                ],
                remedy="leave restarts out, or coterie.read the labels if they fit in memory",
            )
        limits = Limits(self.n_iter, self.tol)
        peak = climb_shards(SoftShards(scan), self.model(scan), even_votes, limits)
        self._note(peak)
        told = self._found(peak, scan, facts_of(peak), settled=True)
        found = partial(found_of_classes, scan, peak.weights, peak.shapes.classes)
        return sharded(scan, found, told)

    def model(self, annotations: Annotations | Scan) -> Model:
        """Give iBCC's prior for these data."""
        prior = resolved(self, annotations, vb=IBCCPrior.pseudo_counts)
        shape = np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)
        return own_rows(shape, np.asarray(prior.class_weights), np.ones(1))

    def starts(self, annotations: Annotations) -> Iterator[FloatArray]:
        """Start from the vote shares, then from noisy votes."""
        codes, votes = annotations.codes, annotations.votes
        shares = vote_start(annotations)
        yield shares
        voted = votes.any(axis=1) & (codes.gold < 0)
        for seed in np.random.SeedSequence(self.random_state).spawn(self.restarts):
            truth = starting_truth(1, codes, votes, np.random.default_rng(seed))
            noisy = shares.copy()
            noisy[voted] = np.eye(codes.n_classes)[truth[voted]]
            yield noisy
