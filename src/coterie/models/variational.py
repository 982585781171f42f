"""What the models that raise a variational bound share: from starts to a Posterior with draws."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method
from coterie.arguments import check_whole
from coterie.data.annotations import Annotations
from coterie.errors import Argument, ConvergenceWarning
from coterie.inference.climb import Limits, Peak, best_of
from coterie.inference.plan import DRAWS, MATRIX_BYTES
from coterie.io.scan.scanned import Scan
from coterie.kernels.soft.draws import draw, mean_confusion
from coterie.kernels.soft.variational import Model
from coterie.kernels.vote import clear_votes, even_shares
from coterie.models.base import Estimator
from coterie.posterior import Draws, Posterior
from coterie.posterior.verdicts import say_labels
from coterie.priors import Prior

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
        check_settings(self)
        codes = annotations.codes
        clear = clear_votes(annotations.votes, codes.gold)
        limits = Limits(self.n_iter, self.tol)
        peak, facts = best_of(
            codes, self.model(annotations), self.starts(annotations), limits, clear
        )
        self._note(peak)
        if "starts" not in facts:
            warn_of_saddle(peak, annotations)
        settled = "starts" not in facts or warn_of_starts(facts, annotations)
        return Posterior(
            annotations=annotations,
            item_probability=peak.probability,
            **self._found(peak, annotations, facts, settled=settled),
        )

    def _note(self, peak: Peak) -> None:
        """Note how the ascent went; warn if the bound still rose."""
        self.n_iter_, self.loss_history_ = len(peak.history), peak.history
        self.converged_, self.bound_ = peak.converged, peak.bound
        if not peak.converged:
            warn_of_rise(self)

    def _found(
        self, peak: Peak, data: Annotations | Scan, facts: dict[str, Any], *, settled: bool
    ) -> dict[str, Any]:
        """Give what a posterior says of everybody."""
        classes = peak.shapes.classes
        return {
            "class_balance": classes / classes.sum(),
            "confusion_mean": mean_confusion(peak.shapes),
            "draws": draws_from(peak, data, self.random_state),
            "model": type(self).__name__,
            "method": self.method,
            "abilities": self.abilities,
            "converged": peak.converged and settled,
            "settings": self.get_params(),
            "run": facts,
        }


def draws_from(peak: Peak, data: Annotations | Scan, seed: int | None) -> Draws:
    """Draw from q, one chain without a trace, as many as a sampler would keep."""
    a = data
    cells = a.n_annotators * a.n_classes * a.n_answers
    n_draws = max(1, min(DRAWS, MATRIX_BYTES // (4 * max(cells, 1))))
    drawn = draw(peak.shapes, a.labels_per_annotator > 0, n_draws, seed)
    return Draws(drawn.confusion[None], drawn.class_balance[None])


def vote_start(annotations: Annotations) -> FloatArray:
    """Give the vote shares, even where nobody voted, shape (items, classes); gold is certain."""
    return even_shares(annotations.votes, annotations.codes.gold)


def check_settings(model: Any) -> None:
    """Check the numbers that every such model takes."""
    name = type(model).__name__
    for parameter, least in (("n_iter", 1), ("restarts", 0), ("random_state", 0)):
        value = getattr(model, parameter)
        if value is None and parameter == "random_state":
            continue
        check_whole(value, Argument(parameter, of=name), least)


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


def warn_of_rise(model: Any, what: str = "bound") -> None:
    """Say that a bound, or what else is climbed, still rose when the rounds were used up."""
    history = model.loss_history_
    rise = history[-1] - history[-2] if len(history) > 1 else np.inf
    warnings.warn(
        ConvergenceWarning(
            f"after {model.n_iter_} iterations the {what} a label still rose by {rise:.2g}, "
            f"more than tol={model.tol:g}; raise n_iter or tol",
            {"n_iter": model.n_iter_, "rise": rise, "tol": model.tol, "loss": history[-1]},
        ),
        stacklevel=5,
    )
