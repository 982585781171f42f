"""DawidSkene: a confusion matrix for each annotator, by expectation-maximisation."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method, Takes
from coterie.arguments import check_number, check_one_of, check_whole
from coterie.data.annotations import Annotations
from coterie.data.kinds import KnownKinds
from coterie.errors import Argument, DataError
from coterie.inference.ascent import (
    Items,
    Limits,
    Top,
    climb,
    in_memory,
    in_shards,
    maximise,
    warn_of_rise,
)
from coterie.io.scan.scanned import Scan
from coterie.kernels.expected import Parameters, Sums, estimate, shares, weigh
from coterie.kernels.vote import vote_shares
from coterie.models.base import Estimator, TrueLabels, as_scanned
from coterie.models.known_kinds import certain_kinds, check_not_told, find_kinds
from coterie.models.sharded import found_by_weights, sharded, vote_start
from coterie.posterior import Posterior
from coterie.posterior.kinds import KIND
from coterie.words.visible import quoted

FloatArray = NDArray[np.float64]
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
    >>> model.converged_
    True
    """

    method: ClassVar[Method] = "em"
    abilities: ClassVar[Abilities] = Abilities(likeliest=True)
    takes: ClassVar[Takes] = Takes(known_kinds=True)
    n_iter_: int = field(init=False)
    loss_history_: list[float] = field(init=False)
    converged_: bool = field(init=False)

    n_iter: int = 10_000
    tol: float = 1e-9
    initial_error_strategy: Strategy | None = None
    _: KW_ONLY
    smoothing: float = 0.0
    duplicates: str = "error"

    def fit(
        self,
        data: Any,
        true_labels: TrueLabels = None,
        initial_error: pd.DataFrame | None = None,
        *,
        kinds: Any = None,
        **columns: Any,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        data
            :class:`coterie.Annotations`, or whatever :func:`coterie.read` takes: a file, a
            dataframe, (item, annotator, label) triples.
        true_labels
            Known labels, item -> class: clamped in the fit.
        initial_error
            What is known of the annotators beforehand, in crowd-kit's layout: index (annotator,
            given label), one column per true class. See ``initial_error_strategy``.
        kinds
            The known kind of every item: a Series or dict, item -> kind, or the name of a column of
            ``data``. Every annotator then has a matrix, and every kind class proportions, of its
            own; reported are an annotator's matrices in the shares of their labels.
        columns
            ``item=``, ``annotator=`` and ``label=``: the names of the columns; other options of
            :func:`coterie.read`.
        """
        if isinstance(data, Scan):
            told = {"initial_error": initial_error, "kinds": kinds, **columns}
            self.posterior_ = self._fit_shards(as_scanned(data, true_labels, told))
            return self
        annotations = self._read(data, true_labels, **columns)
        if kinds is not None and initial_error is not None:
            raise DataError(
                "initial_error is for annotators without kinds of items",
                argument="initial_error",
                remedy="leave out one",
            )
        known = None if kinds is None else find_kinds(kinds, data, annotations)
        self.posterior_ = self._fit(annotations, initial_error, known)
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

    def _fit(
        self,
        annotations: Annotations,
        initial_error: pd.DataFrame | None = None,
        known: KnownKinds | None = None,
    ) -> Posterior:
        self._check(initial_error)
        kinds = () if known is None else (known.codes, len(known.names))
        items = in_memory(annotations.codes, *kinds)
        voted = vote_shares(annotations.votes, annotations.codes.gold)
        sums = items.count(voted, annotations.n_classes)
        top = self._climbed(items, self._start(sums, annotations, initial_error))
        return Posterior(
            annotations=annotations,
            item_probability=weigh(items.part(0), top.step.weights),
            item_numbers={} if known is None else {KIND: certain_kinds(known)},
            **self._found(top),
        )

    def _go_on(self, annotations: Annotations, before: Posterior) -> Posterior:
        check_not_told(self, KIND in before.item_numbers)
        return super()._go_on(annotations, before)

    def _fit_shards(self, scan: Scan) -> Posterior:
        self._check(None)
        items = in_shards(scan)
        sums = items.count(vote_start(items, scan.n_items), scan.n_classes)
        top = self._climbed(items, estimate(sums, self.smoothing))
        return sharded(scan, partial(found_by_weights, scan, top.step.weights), self._found(top))

    def _climbed(self, items: Items, start: Parameters) -> Top:
        """Iterate until the objective rises no more; note how it went."""
        limits = Limits(self.n_iter, self.tol)
        top = climb(maximise(items, start, self.smoothing), items.size.n_labels, limits)
        self.n_iter_, self.loss_history_ = len(top.history), top.history
        self.converged_ = top.converged
        if not top.converged:
            warn_of_rise(top, limits, "log posterior" if self.smoothing > 0 else "log likelihood")
        return top

    def _found(self, top: Top) -> dict[str, Any]:
        """Give what a posterior says of everybody: kinds mixed by their items, or labels."""
        sums = top.step.sums
        balance, confusion = estimate(sums, self.smoothing)
        n_items, n_labels = sums.cells.sum(axis=1), sums.labels.sum(axis=(1, 2))
        matrices = confusion.swapaxes(1, 2).reshape(-1, len(balance), *confusion.shape[:0:-1])
        return {
            "class_balance": mixed_by(n_items[None], balance[None])[0],
            "confusion_mean": mixed_by(n_labels.reshape(-1, len(balance)), matrices),
            "model": type(self).__name__,
            "method": self.method,
            "abilities": self.abilities,
            "converged": self.converged_,
            "settings": self.get_params(),
            "run": {"iterations": self.n_iter_},
        }

    def _check(self, initial_error: pd.DataFrame | None) -> None:
        argument, strategy = partial(Argument, of=type(self).__name__), self.initial_error_strategy
        check_whole(self.n_iter, argument("n_iter"), 1)
        smoothing = argument("smoothing")
        check_number(self.smoothing, smoothing, "a number of at least 0", lambda s: 0 <= s < np.inf)
        known, expected = (*get_args(Strategy), None), "'assign', 'addition' or None"
        check_one_of(strategy, argument("initial_error_strategy"), known, expected)
        if (strategy is None) != (initial_error is None):
            raise DataError(
                "initial_error (in fit) and initial_error_strategy go together: got "
                + ("only the second" if initial_error is None else "only the first"),
                argument="initial_error_strategy" if initial_error is None else "initial_error",
            )

    def _start(
        self, sums: Sums, annotations: Annotations, initial_error: pd.DataFrame | None
    ) -> Parameters:
        """First M-step: from what the vote expects, and from ``initial_error``."""
        if initial_error is None:
            return estimate(sums, self.smoothing)
        matrices = error_matrices(initial_error, annotations)
        if self.initial_error_strategy == "addition":
            return estimate(sums, self.smoothing, matrices)
        check_complete(initial_error, annotations)
        confusion = matrices.clip(LEAST_START)
        confusion /= confusion.sum(axis=1, keepdims=True)
        return estimate(sums, self.smoothing)._replace(confusion=confusion)


def mixed_by(n: FloatArray, matrices: FloatArray) -> FloatArray:
    """Mix everybody's matrices, shape (L, K, ...), in the shares of their labels, n (L, K).

    Examples
    --------
    >>> mixed_by(np.array([[3.0, 1], [0, 0]]), np.array([[[1.0], [0]], [[0.5], [0.5]]])).tolist()
    [[0.75], [0.5]]
    """
    share = shares(np.rint(n), axis=1)  # of whole numbers: labels were counted in parts
    return np.asarray(np.einsum("lk,lk...->l...", share, matrices))


def error_matrices(frame: pd.DataFrame, annotations: Annotations) -> FloatArray:
    """Read crowd-kit's error frame: index (annotator, answer), one column a true class.

    Annotators who are not in the data are left out, cells that are not given are zero.

    Returns
    -------
    Array of shape (annotators, answers, classes).
    """
    a = annotations
    if frame.index.nlevels != 2 or not frame.index.is_unique:
        raise DataError(
            "the index of initial_error must be unique pairs (annotator, given label)",
            argument="initial_error",
        )
    for what, given, known in (
        ("columns", frame.columns, a.classes),
        ("given labels", frame.index.get_level_values(1).unique(), a.answers),
    ):
        unknown = sorted(map(repr, set(given.tolist()) - set(known.tolist())))
        if unknown:
            raise DataError(
                f"{what} of initial_error must be among {known.tolist()}, got {', '.join(unknown)}",
                argument="initial_error",
            )
    numbers = frame.to_numpy(np.float64)
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise DataError(
            "initial_error must hold finite numbers that are not negative", argument="initial_error"
        )
    rows = pd.MultiIndex.from_product([a.annotators, a.answers])
    full = frame.reindex(index=rows, columns=a.classes).fillna(0.0).to_numpy(np.float64)
    return full.reshape(a.n_annotators, a.n_answers, a.n_classes)


def check_complete(frame: pd.DataFrame, annotations: Annotations) -> None:
    """Check that every annotator with labels has a matrix, and that probabilities sum to one."""
    busy = annotations.annotators[annotations.labels_per_annotator > 0]
    missing = set(busy.tolist()) - set(frame.index.get_level_values(0).tolist())
    if missing:
        example = min(map(str, missing))
        raise DataError(
            f"initial_error lacks {len(missing):,} annotators, for example {quoted(example)}",
            argument="initial_error",
            remedy="give all of them, or use initial_error_strategy='addition'",
        )
    sums = frame.groupby(level=0, sort=False).sum()
    if (frame <= 1).all(axis=None) and not np.allclose(sums, 1):
        raise DataError(
            "the columns of each annotator's initial_error must sum to one (index: given label, "
            "columns: true class)",
            argument="initial_error",
            remedy="transpose the matrices, or give counts",
        )
