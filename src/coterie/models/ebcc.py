"""EBCC: classes have sub-types, which carry the mistakes that annotators share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.kernels.soft.engine import is_counted
from coterie.kernels.soft.variational import Model, own_rows
from coterie.models.priors import resolved
from coterie.models.variational import VariationalEstimator, vote_start
from coterie.priors import EBCCPrior, Prior

FloatArray = NDArray[np.float64]


class EBCC(VariationalEstimator):
    """After Li, Rubinstein and Cohn (2019): annotators find the same sub-types of a class hard.

    Every class has sub-types, and every annotator a row of answers for each. Given the class, the
    answers of two annotators are then dependent, so that mistakes which many share do not outvote
    those who know better. Fitted by variational Bayes as :class:`coterie.IBCCVB`, from vote shares
    that are cut into sub-types at random: a whole sub-type may end in the wrong class, so that
    several starts are needed. The best bound is kept; which starts reach it, and whether those
    agree, is in ``posterior.verdicts``.

    An annotator's matrix is over the sub-types, by their expected shares. Probabilities are
    overconfident and intervals too narrow.

    Parameters
    ----------
    prior
        ``"li2019"``, 4 pseudo-counts for a class's own answer and 1 for any other; ``"paper"``,
        with iBCC's rows; or an ``EBCCPrior``, which also has the number of sub-types: fits with
        other numbers are compared by ``bound_``, and one sub-type is :class:`coterie.IBCCVB`.
    n_iter, tol
        Most iterations of a start, and the smallest rise of the bound, divided by the number of
        labels, worth going on for.
    restarts
        Starts beside the first.
    random_state
        Seed of the starts and of the draws.
    duplicates
        What an annotator's repeated labels of one item mean: "error", "first", "last", "keep".

    Attributes
    ----------
    n_iter_, loss_history_, bound_, converged_
        Of the best start, as in :class:`coterie.IBCCVB`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> model = coterie.EBCC(prior=coterie.EBCCPrior(subtypes=2), restarts=5, random_state=0)
    >>> model.fit(crowd.annotations).posterior_
    <Posterior of EBCC: 50 items, 12 annotators, 3 classes>
    """

    prior_type: ClassVar[type[Prior]] = EBCCPrior

    prior: Prior | str = "li2019"
    restarts: int = 40

    def model(self, annotations: Annotations) -> Model:
        """Give iBCC's prior with sub-types, for these data."""
        prior = resolved(self, annotations, li2019=EBCCPrior.li2019)
        weights = class_weights_of(prior, annotations)
        shape = np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)
        even = np.full(prior.subtypes, prior.subtype_weight / prior.subtypes)
        return own_rows(shape, weights, even)

    def starts(self, annotations: Annotations) -> Iterator[FloatArray]:
        """Start from the vote shares, cut into sub-types at random."""
        n_subtypes = resolved(self, annotations, li2019=EBCCPrior.li2019).subtypes
        shares, counted = vote_start(annotations), is_counted(annotations.codes)
        n_starts = self.restarts + 1 if n_subtypes > 1 else 1  # without sub-types all are one
        for seed in np.random.SeedSequence(self.random_state).spawn(n_starts):
            rng = np.random.default_rng(seed)
            cells = np.zeros((*shares.shape, n_subtypes))
            # Items of which nothing is known draw nothing: they change nobody's bits.
            cut = rng.dirichlet(np.ones(n_subtypes), shares[counted].shape)
            cells[counted] = shares[counted][:, :, None] * cut
            yield cells.reshape(len(shares), -1)


def class_weights_of(prior: EBCCPrior, annotations: Annotations) -> FloatArray:
    """Give the class weights of a resolved prior as numbers, shape (classes,)."""
    if isinstance(prior.class_weights, str):
        shares = vote_start(annotations)[is_counted(annotations.codes)]
        return np.asarray(shares.sum(axis=0))
    return np.asarray(prior.class_weights, np.float64)
