"""DawidSkene and QuickConsensus: models that are fitted by expectation-maximisation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import pandas as pd

from coterie.abilities import Abilities, Method, Takes
from coterie.arguments import check_number, check_one_of, check_whole
from coterie.data.annotations import Annotations
from coterie.data.codes import count_votes
from coterie.errors import ConvergenceWarning, DataError
from coterie.inference import ascent
from coterie.kernels import expected
from coterie.kernels.quick import quick_consensus
from coterie.kernels.vote import vote_shares
from coterie.models.base import Estimator, Labels, TrueLabels, certain_kinds, setting
from coterie.models.majority import items_of, known_of_all
from coterie.numeric import FloatArray
from coterie.posterior import ItemNumbers, Posterior
from coterie.posterior.items import HARDNESS, KIND, unknown_hardness
from coterie.posterior.sharded import FoundItems
from coterie.words.visible import quoted

Strategy = Literal["assign", "addition"]

# A cell of an assigned matrix that is zero would stay zero for ever; crowd-kit's bound.
LEAST_START = 1e-10


class DawidSkene(Estimator, kw_only=False):
    """Dawid and Skene's model: tau and each annotator's confusion matrix by maximum likelihood.

    Expectation-maximisation from the vote shares, until the log likelihood of the data (it never
    falls) rises by no more than ``tol`` a label. The class of an item without labels is as probable
    as the class is frequent; the row of a confusion matrix about which the labels say nothing has
    equal probabilities.

    Parameters
    ----------
    n_iter
        Most iterations; a :class:`coterie.ConvergenceWarning` says when they did not suffice.
    tol
        Smallest rise of the log likelihood, divided by the number of labels, worth going on for.
    initial_error_strategy
        What ``fit`` does with ``initial_error``: ``"assign"`` starts from it (probabilities or
        counts, for all annotators), ``"addition"`` adds it (counts, for any annotators) to the
        counts under the vote that start the first iteration. As in crowd-kit, it is a start only.
    smoothing
        Pseudo-counts added to every cell of every confusion matrix and to every class: the mode
        under Dirichlet(1 + smoothing) priors. What never falls is then the log posterior.
    duplicates
        What an annotator's repeated label of one item means, see :func:`coterie.read`.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations done.
    loss_history_ : list of float
        The log likelihood (log posterior up to a constant, with smoothing) divided by the number
        of labels, at the parameters each iteration started from.
    converged_ : bool
        Whether the last iteration rose it by no more than ``tol``.

    Examples
    --------
    >>> import coterie
    >>> rows = [(f"q{i}", f"a{l}", "no" if l == 3 else "yes") for i in range(3) for l in range(4)]
    >>> rows += [(f"p{i}", f"a{l}", "no") for i in range(3) for l in range(4)]
    >>> model = coterie.DawidSkene().fit(rows)
    >>> model.predict().to_dict()
    {'p0': 'no', 'p1': 'no', 'p2': 'no', 'q0': 'yes', 'q1': 'yes', 'q2': 'yes'}
    >>> model.posterior_.confusion(annotator="a3")
    answer   no  yes
    true
    no      1.0  0.0
    yes     1.0  0.0
    """

    method: ClassVar[Method] = "em"
    abilities: ClassVar[Abilities] = Abilities(likeliest=True)
    takes: ClassVar[Takes] = Takes(known_kinds=True)
    shards: ClassVar[bool] = True

    n_iter: int = setting(10_000, check_whole, 1)
    tol: float = 1e-9
    initial_error_strategy: Strategy | None = setting(
        None, check_one_of, (*get_args(Strategy), None), "'assign', 'addition' or None"
    )
    _: KW_ONLY
    smoothing: float = setting(
        0.0, check_number, "a number of at least 0", lambda s: 0 <= s < np.inf
    )
    duplicates: str = "error"

    def fit(
        self, data: Any, true_labels: TrueLabels = None, initial_error: pd.DataFrame | None = None,
        *, kinds: Any = None, **columns: Any,
    ) -> Self:  # fmt: skip
        """Fit the model.

        Parameters
        ----------
        data, true_labels, columns
            As for every model.
        initial_error
            What is known of the annotators beforehand, in crowd-kit's layout: index (annotator,
            given label), one column per true class. See ``initial_error_strategy``.
        kinds
            The known kind of every item: a Series or dict, item -> kind, or the name of a column of
            ``data``. Every annotator then has a matrix, and every kind class proportions, of its
            own; reported are an annotator's matrices in the shares of their labels.
        """
        told = {"initial_error": initial_error, "kinds": kinds}
        labels = self._read(data, true_labels, columns, **told)
        if kinds is not None and initial_error is not None:
            raise _wrong("initial_error is for annotators without kinds of items", "leave out one")
        self.posterior_ = self._fit(labels, initial_error)
        return self

    def fit_predict(
        self, data: Any, true_labels: TrueLabels = None, initial_error: pd.DataFrame | None = None
    ) -> pd.Series:
        """Fit, and give crowd-kit's Series: index ``task``, name ``agg_label``."""
        return self.fit(data, true_labels, initial_error).labels_

    def fit_predict_proba(
        self, data: Any, true_labels: TrueLabels = None, initial_error: pd.DataFrame | None = None
    ) -> pd.DataFrame:
        """Fit, and give crowd-kit's DataFrame: index ``task``, one column per label."""
        return self.fit(data, true_labels, initial_error).probas_

    def _fit(self, labels: Labels, initial_error: pd.DataFrame | None = None) -> Posterior:
        self._check()
        if (self.initial_error_strategy is None) != (initial_error is None):
            raise DataError(
                "initial_error (in fit) and initial_error_strategy go together: got "
                + ("only the second" if initial_error is None else "only the first"),
                argument="initial_error_strategy" if initial_error is None else "initial_error",
            )
        known, limits = self.known_kinds_, ascent.Limits(self.n_iter, self.tol)
        items = items_of(labels, *(() if known is None else (known.codes, len(known.names))))
        sums = items.count(vote_start(items, labels.n_items), labels.n_classes)
        start = expected.estimate(sums, self.smoothing)
        if initial_error is not None and isinstance(labels, Annotations):
            matrices = error_matrices(initial_error, labels)
            if self.initial_error_strategy == "addition":
                start = expected.estimate(sums, self.smoothing, matrices)
            else:
                check_complete(initial_error, labels)
                own = matrices.clip(LEAST_START)
                start = start._replace(confusion=own / own.sum(axis=1, keepdims=True))
        top = ascent.climb(
            ascent.maximise(items, start, self.smoothing), items.size.n_labels, limits
        )
        note_climb(self, top, limits, "log posterior" if self.smoothing > 0 else "log likelihood")
        sums = top.step.sums
        balance, confusion = expected.estimate(sums, self.smoothing)
        n_items, n_labels = sums.cells.sum(axis=1), sums.labels.sum(axis=(1, 2))
        matrices = confusion.swapaxes(1, 2).reshape(-1, len(balance), *confusion.shape[:0:-1])
        numbers = {} if known is None else {KIND: certain_kinds(known)}
        return self._posterior(
            labels,
            partial(found_by_weights, items.part, top.step.weights, numbers=numbers),
            class_balance=mixed_by(n_items[None], balance[None])[0],
            confusion_mean=mixed_by(n_labels.reshape(-1, len(balance)), matrices),
            converged=self.converged_,
            run={"iterations": self.n_iter_},
        )


def vote_start(items: ascent.Items, n_items: int) -> ascent.Start:
    """Give what gives the vote shares of some items; of one without votes the mean of all."""
    mean, _ = known_of_all(items, n_items)
    return lambda codes: vote_shares(count_votes(codes), codes.gold, mean)


def note_climb(model: Any, top: ascent.Top, limits: ascent.Limits, what: str) -> None:
    """Note how the climb went; warn if what was climbed still rose."""
    model.n_iter_, model.loss_history_ = len(top.history), top.history
    model.converged_ = top.converged
    if not top.converged:
        n, history = len(top.history), top.history
        rise = history[-1] - history[-2] if n > 1 else np.inf
        message = (
            f"after {n} iterations the {what} a label still rose by {rise:.2g}, "
            f"more than tol={limits.tol:g}; raise n_iter or tol"
        )
        numbers = {"n_iter": n, "rise": rise, "tol": limits.tol, "loss": history[-1]}
        warnings.warn(ConvergenceWarning(message, numbers), stacklevel=4)


def found_by_weights(
    part: Callable[[int], expected.Part], weights: expected.Weights, k: int, *,
    classes: FloatArray | None = None, numbers: Mapping[str, ItemNumbers] | None = None,
) -> FoundItems:  # fmt: skip
    """Weigh the items of a shard as the last pass of the fit did.

    Given the Dirichlet of the class proportions, (classes,), cells are summed to classes, as
    variational Bayes ends.
    """
    some = part(k)
    found = expected.weigh(some, weights)
    if classes is not None:
        found = expected.class_probability(some.codes, found, classes)
    return FoundItems(found, numbers=numbers or {})


def mixed_by(n: FloatArray, matrices: FloatArray) -> FloatArray:
    """Mix everybody's matrices, shape (L, K, ...), in the shares of their labels, n (L, K)."""
    share = expected.shares(np.rint(n), axis=1)  # of whole numbers: labels were counted in parts
    return np.asarray(np.einsum("lk,lk...->l...", share, matrices))


def error_matrices(frame: pd.DataFrame, annotations: Annotations) -> FloatArray:
    """Read crowd-kit's error frame: index (annotator, answer), one column a true class.

    Annotators who are not in the data are left out, cells that are not given are zero. The shape
    is (annotators, answers, classes).
    """
    a = annotations
    if frame.index.nlevels != 2 or not frame.index.is_unique:
        raise _wrong("the index of initial_error must be unique pairs (annotator, given label)")
    for what, given, known in (
        ("columns", frame.columns, a.classes),
        ("given labels", frame.index.get_level_values(1).unique(), a.answers),
    ):
        if unknown := sorted(map(repr, set(given.tolist()) - set(known.tolist()))):
            must = f"{what} of initial_error must be among {known.tolist()}"
            raise _wrong(f"{must}, got {', '.join(unknown)}")
    numbers = frame.to_numpy(np.float64)
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise _wrong("initial_error must hold finite numbers that are not negative")
    rows = pd.MultiIndex.from_product([a.annotators, a.answers])
    full = frame.reindex(index=rows, columns=a.classes).fillna(0.0).to_numpy(np.float64)
    return full.reshape(a.n_annotators, a.n_answers, a.n_classes)


def check_complete(frame: pd.DataFrame, annotations: Annotations) -> None:
    """Check that every annotator with labels has a matrix, and that probabilities sum to one."""
    busy = annotations.annotators[annotations.labels_per_annotator > 0]
    missing = set(busy.tolist()) - set(frame.index.get_level_values(0).tolist())
    if missing:
        example = quoted(min(map(str, missing)))
        raise _wrong(
            f"initial_error lacks {len(missing):,} annotators, for example {example}",
            "give all of them, or use initial_error_strategy='addition'",
        )
    sums = frame.groupby(level=0, sort=False).sum()
    if (frame <= 1).all(axis=None) and not np.allclose(sums, 1):
        raise _wrong(
            "the columns of each annotator's initial_error must sum to one (index: given label, "
            "columns: true class)",
            "transpose the matrices, or give counts",
        )


def _wrong(why: str, remedy: str = "") -> DataError:
    return DataError(why, argument="initial_error", remedy=remedy)


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

    n_iter: int = setting(100, check_whole, 1)
    tol: float = setting(1e-3, check_number, "above 0", lambda tol: tol > 0)
    duplicates: str = "error"

    def _fit(self, annotations: Annotations) -> Posterior:
        self._check()
        found = quick_consensus(annotations.codes, annotations.votes, self.tol, self.n_iter)
        self.n_iter_, self.converged_ = sum(found.passes), found.converged
        if not found.converged:
            message = (
                f"QuickConsensus still moved after {self.n_iter} passes; raise n_iter, or tol: the "
                "labels hardly change any more"
            )
            warnings.warn(ConvergenceWarning(message, {"n_iter": self.n_iter}), stacklevel=3)
        hardness = unknown_hardness(annotations.n_items)
        return self._posterior(
            annotations,
            FoundItems(found.probability, raw=found.raw, numbers={HARDNESS: hardness}),
            class_balance=found.class_balance,
            confusion_mean=found.confusion,
            mixing=found.mixing,
            converged=found.converged,
            run={"iterations": self.n_iter_, "correlation": found.correlation},
        )
