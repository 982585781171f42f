"""IBCCVB and EBCC: iBCC, and iBCC with sub-types of classes, by variational Bayes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method
from coterie.arguments import check_whole
from coterie.data.annotations import Annotations
from coterie.data.votes import count_votes
from coterie.errors import Argument, ConvergenceWarning, DataError
from coterie.inference.ascent import (
    Limits,
    Peak,
    Top,
    ascend,
    best_of,
    climb,
    facts_of,
    in_shards,
    warn_of_rise,
)
from coterie.inference.chain import DRAWS, MATRIX_BYTES, starting_truth
from coterie.io.scan.scanned import Scan
from coterie.kernels.expected import Model, Shapes, draw, is_counted, mean_confusion, shapes_of
from coterie.kernels.vote import clear_votes, even_shares
from coterie.models.base import Estimator
from coterie.models.priors import resolved
from coterie.models.sharded import found_by_weights, sharded
from coterie.posterior import Draws, Posterior
from coterie.posterior.verdicts import say_labels
from coterie.priors import EBCCPrior, IBCCPrior, Prior

FloatArray = NDArray[np.float64]

EVEN = 1e-9
"""Probabilities that differ by no more are even."""


class VariationalEstimator(Estimator):
    """Base of the models that are fitted by a variational bound.

    A model says what is believed before any label (:meth:`model`) and where to start
    (:meth:`starts`); the rest is here.
    """

    method: ClassVar[Method] = "variational"
    abilities: ClassVar[Abilities] = Abilities(uncertainty=True)
    n_iter_: int = field(init=False)
    loss_history_: list[float] = field(init=False)
    converged_: bool = field(init=False)
    bound_: float = field(init=False)

    prior: Prior | str = "paper"
    n_iter: int = 1_000
    tol: float = 1e-9
    restarts: int = 0
    random_state: int | None = None
    duplicates: str = "error"

    def model(self, annotations: Annotations) -> Model:
        """Give what is believed before any label, for these data."""
        raise NotImplementedError  # pragma: no cover

    def starts(self, annotations: Annotations) -> Iterator[FloatArray]:
        """Give probabilities of cells to start from, each of shape (items, cells)."""
        raise NotImplementedError  # pragma: no cover

    def _fit(self, annotations: Annotations) -> Posterior:
        self._check()
        codes, limits = annotations.codes, Limits(self.n_iter, self.tol)
        clear = clear_votes(annotations.votes, codes.gold)
        starts, model = self.starts(annotations), self.model(annotations)
        peak, facts = best_of(codes, model, starts, limits, clear)
        self._note(peak.top, limits)
        if "starts" not in facts:
            warn_of_saddle(peak, annotations)
        settled = "starts" not in facts or warn_of_starts(facts, annotations)
        return Posterior(
            annotations=annotations,
            item_probability=peak.probability,
            **self._found(peak.shapes, annotations, facts, settled=settled),
        )

    def _check(self) -> None:
        for parameter, least in (("n_iter", 1), ("restarts", 0), ("random_state", 0)):
            value = getattr(self, parameter)
            if value is not None or parameter != "random_state":
                check_whole(value, Argument(parameter, of=type(self).__name__), least)

    def _note(self, top: Top, limits: Limits) -> None:
        """Note how the climb went; warn if the bound still rose."""
        self.n_iter_, self.loss_history_ = len(top.history), top.history
        self.converged_, self.bound_ = top.converged, top.step.objective
        if not top.converged:
            warn_of_rise(top, limits, "bound")

    def _found(
        self, shapes: Shapes, data: Annotations | Scan, facts: dict[str, Any], *, settled: bool
    ) -> dict[str, Any]:
        """Give what a posterior says of everybody; draws are one chain without a trace."""
        cells = data.n_annotators * data.n_classes * data.n_answers
        n_draws = max(1, min(DRAWS, MATRIX_BYTES // (4 * max(cells, 1))))  # as a sampler keeps
        labelled = data.labels_per_annotator > 0
        balance, confusion = draw(shapes, labelled, n_draws, self.random_state)
        return {
            "class_balance": shapes.classes / shapes.classes.sum(),
            "confusion_mean": mean_confusion(shapes),
            "draws": Draws(confusion[None], balance[None]),
            "model": type(self).__name__,
            "method": self.method,
            "abilities": self.abilities,
            "converged": self.converged_ and settled,
            "settings": self.get_params(),
            "run": facts,
        }


def vote_start(annotations: Annotations) -> FloatArray:
    """Give the vote shares, even where nobody voted, shape (items, classes); gold is certain."""
    return even_shares(annotations.votes, annotations.codes.gold)


def warn_of_starts(facts: dict[str, Any], annotations: Annotations) -> bool:
    """Say whether the starts that reach the best bound settle the labels; warn if they do not."""
    noted = facts["verdicts"]["labels"]
    if not noted["settled"]:
        sentence = say_labels(noted, annotations.items).rstrip(".")
        numbers = {"starts": noted["starts"], "one_label": float(noted["one_label"])}
        warnings.warn(ConvergenceWarning(sentence, numbers), stacklevel=4)
    return bool(noted["settled"])


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
    warnings.warn(
        ConvergenceWarning(
            "the votes of all items tie, and the iteration has not left the even start, which may"
            " be a saddle: matrices are those of guesses; raise restarts, or add gold labels",
            {"items": float(len(start)), "bound": peak.bound},
        ),
        stacklevel=4,
    )


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
        self._check()
        if self.restarts:
            raise DataError(
                [
                    Argument("restarts", self.restarts, of="IBCCVB"),
                    " starts from noisy votes of all items at once, which a scan does not hold",
                ],
                remedy="leave restarts out, or coterie.read the labels if they fit in memory",
            )
        limits, model = Limits(self.n_iter, self.tol), self.model(scan)
        steps = ascend(in_shards(scan), model, lambda c: even_shares(count_votes(c), c.gold))
        top = climb(steps, scan.n_labels, limits)
        self._note(top, limits)
        shapes = shapes_of(model, top.step.sums)
        found = partial(found_by_weights, scan, top.step.weights, classes=shapes.classes)
        return sharded(scan, found, self._found(shapes, scan, facts_of(top), settled=True))

    def model(self, annotations: Annotations | Scan) -> Model:
        """Give iBCC's prior for these data."""
        prior = resolved(self, annotations, vb=IBCCPrior.pseudo_counts)
        shape = np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)
        return Model(np.asarray(prior.class_weights), np.ones(1), shape)

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
        return Model(weights, even, shape)

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
