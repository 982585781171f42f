"""IBCCVB and EBCC: iBCC, and iBCC with sub-types of classes, by variational Bayes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from coterie.abilities import Abilities, Method
from coterie.arguments import check_whole
from coterie.data.annotations import Annotations
from coterie.data.codes import count_votes
from coterie.errors import Argument, ConvergenceWarning, DataError
from coterie.inference.ascent import Limits, Peak, ascend, best_of, climb, facts_of
from coterie.inference.chain import DRAWS, MATRIX_BYTES, starting_truth
from coterie.io.scan.scanned import Scan
from coterie.kernels.expected import Model, draw, is_counted, mean_confusion, shapes_of
from coterie.kernels.vote import clear_votes, even_shares
from coterie.models.base import Estimator, Labels, resolved, setting
from coterie.models.em import found_by_weights, note_climb
from coterie.models.majority import items_of
from coterie.numeric import FloatArray
from coterie.posterior import Draws, Posterior
from coterie.posterior.sharded import Found, FoundItems
from coterie.posterior.verdicts import say_labels
from coterie.priors import EBCCPrior, IBCCPrior, Prior

EVEN = 1e-9
"""Probabilities that differ by no more are even."""


def vote_start(annotations: Annotations) -> FloatArray:
    """Give the vote shares, even where nobody voted, shape (items, classes); gold is certain."""
    return even_shares(annotations.votes, annotations.codes.gold)


def warn_of_saddle(peak: Peak, annotations: Annotations) -> None:
    """Warn if all classes of all items are as probable as at an even start.

    Where all votes tie and nothing else tells classes apart, the even start is a saddle: the
    iteration does not move, and calls that converged.
    """
    a = annotations
    open_ = (a.labels_per_item > 0) & (a.codes.gold < 0)
    start, found = vote_start(a)[open_], peak.probability[open_]
    if len(start) < 2 or a.n_classes < 2 or np.ptp(start) > EVEN or np.ptp(found) > EVEN:
        return
    message = (
        "the votes of all items tie, and the iteration has not left the even start, which may"
        " be a saddle: matrices are those of guesses; raise restarts, or add gold labels"
    )
    numbers = {"items": float(len(start)), "bound": peak.bound}
    warnings.warn(ConvergenceWarning(message, numbers), stacklevel=4)


class IBCCVB(Estimator):
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
    n_iter, tol, duplicates
        As in :class:`coterie.DawidSkene`; what rises is the bound.
    restarts
        Further starts, from noisy votes; the best bound is kept, and ``posterior.verdicts`` says
        how the others ended.
    random_state
        Seed of the restarts and of the draws.

    Attributes
    ----------
    n_iter_, loss_history_, converged_
        As of :class:`coterie.DawidSkene`; what rises is the bound.
    bound_ : float
        The bound at the end, in nats: what restarts and priors are compared by.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> coterie.IBCCVB(random_state=0).fit(crowd.annotations).posterior_
    <Posterior of IBCCVB: 50 items, 12 annotators, 3 classes>
    """

    method: ClassVar[Method] = "variational"
    abilities: ClassVar[Abilities] = Abilities(uncertainty=True)
    prior_type: ClassVar[type[Prior]] = IBCCPrior
    shards: ClassVar[bool] = True
    bound_: float = field(init=False)

    prior: Prior | str = "paper"
    n_iter: int = setting(1_000, check_whole, 1)
    tol: float = 1e-9
    restarts: int = setting(0, check_whole, 0)
    random_state: int | None = setting(None, check_whole, 0)
    duplicates: str = "error"

    def _fit(self, labels: Labels) -> Posterior:
        self._check()
        if isinstance(labels, Scan) and self.restarts:
            asked = Argument("restarts", self.restarts, of=type(self).__name__)
            why = " starts from noisy votes of all items at once, which a scan does not hold"
            remedy = "leave restarts out, or coterie.read the labels if they fit in memory"
            raise DataError([asked, why], remedy=remedy)
        limits, model, settled = Limits(self.n_iter, self.tol), self.model(labels), True
        found: Found | FoundItems
        if isinstance(labels, Scan):
            items = items_of(labels)
            steps = ascend(items, model, lambda c: even_shares(count_votes(c), c.gold))
            top = climb(steps, labels.n_labels, limits)
            shapes, facts = shapes_of(model, top.step.sums), facts_of(top)
            found = partial(found_by_weights, items.part, top.step.weights, classes=shapes.classes)
            note_climb(self, top, limits, "bound")
        else:
            clear = clear_votes(labels.votes, labels.codes.gold)
            peak, facts = best_of(labels.codes, model, self.starts(labels), limits, clear)
            top, shapes = peak.top, peak.shapes
            found = FoundItems(peak.probability)
            note_climb(self, top, limits, "bound")
            if "starts" not in facts:
                warn_of_saddle(peak, labels)
            elif not (noted := facts["verdicts"]["labels"])["settled"]:
                settled = False
                sentence = say_labels(noted, labels.items).rstrip(".")
                numbers = {"starts": noted["starts"], "one_label": float(noted["one_label"])}
                warnings.warn(ConvergenceWarning(sentence, numbers), stacklevel=3)
        self.bound_ = top.step.objective
        cells = labels.n_annotators * labels.n_classes * labels.n_answers
        n_draws = max(1, min(DRAWS, MATRIX_BYTES // (4 * max(cells, 1))))  # as a sampler keeps
        heard = labels.labels_per_annotator > 0
        balance, confusion = draw(shapes, heard, n_draws, self.random_state)
        return self._posterior(
            labels,
            found,
            class_balance=shapes.classes / shapes.classes.sum(),
            confusion_mean=mean_confusion(shapes),
            draws=Draws(confusion[None], balance[None]),  # one chain without a trace
            converged=self.converged_ and settled,
            run=facts,
        )

    def model(self, labels: Any) -> Model:
        """Give what is believed before any label, for these data."""
        prior = resolved(self, labels, vb=IBCCPrior.pseudo_counts)
        shape = np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)
        return Model(np.asarray(prior.class_weights), np.ones(1), shape)

    def starts(self, annotations: Annotations) -> Iterator[FloatArray]:
        """Give probabilities of cells, (items, cells): the vote shares, then noisy votes."""
        codes, votes = annotations.codes, annotations.votes
        shares = vote_start(annotations)
        yield shares
        voted = votes.any(axis=1) & (codes.gold < 0)
        for seed in np.random.SeedSequence(self.random_state).spawn(self.restarts):
            truth = starting_truth(1, codes, votes, np.random.default_rng(seed))
            noisy = shares.copy()
            noisy[voted] = np.eye(codes.n_classes)[truth[voted]]
            yield noisy


class EBCC(IBCCVB):
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
    restarts
        Starts beside the first.
    n_iter, tol, random_state, duplicates
        As in :class:`coterie.IBCCVB`, and so are the attributes, which are of the best start.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> model = coterie.EBCC(prior=coterie.EBCCPrior(subtypes=2), restarts=5, random_state=0)
    >>> model.fit(crowd.annotations).posterior_
    <Posterior of EBCC: 50 items, 12 annotators, 3 classes>
    """

    prior_type: ClassVar[type[Prior]] = EBCCPrior
    shards: ClassVar[bool] = False

    prior: Prior | str = "li2019"
    restarts: int = setting(40, check_whole, 0)

    def model(self, labels: Any) -> Model:
        """Give what is believed before any label, for these data."""
        prior = resolved_by_votes(self, labels)
        shape = np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)
        even = np.full(prior.subtypes, prior.subtype_weight / prior.subtypes)
        return Model(np.asarray(prior.class_weights, np.float64), even, shape)

    def starts(self, annotations: Annotations) -> Iterator[FloatArray]:
        """Give probabilities of cells: the vote shares, cut into sub-types at random."""
        n_subtypes = resolved_by_votes(self, annotations).subtypes
        shares, counted = vote_start(annotations), is_counted(annotations.codes)
        n_starts = self.restarts + 1 if n_subtypes > 1 else 1  # without sub-types all are one
        for seed in np.random.SeedSequence(self.random_state).spawn(n_starts):
            rng = np.random.default_rng(seed)
            cells = np.zeros((*shares.shape, n_subtypes))
            # Items of which nothing is known draw nothing: they change nobody's bits.
            cut = rng.dirichlet(np.ones(n_subtypes), shares[counted].shape)
            cells[counted] = shares[counted][:, :, None] * cut
            yield cells.reshape(len(shares), -1)


def resolved_by_votes(model: Any, annotations: Annotations) -> EBCCPrior:
    """Give the prior of a model with sub-types, class weights that are votes as numbers."""
    prior: EBCCPrior = resolved(model, annotations, li2019=EBCCPrior.li2019)
    if not isinstance(prior.class_weights, str):
        return prior
    shares = vote_start(annotations)[is_counted(annotations.codes)]
    return replace(prior, class_weights=shares.sum(axis=0))
