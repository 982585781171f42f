"""Posterior: the one result object. Everything downstream reads only this."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.annotations import Annotations
from coterie.diagnostics import diagnose, has_converged
from coterie.errors import CoterieError, DataError
from coterie.metrics import informativeness
from coterie.posterior.draws import INTERVAL, Draws

FloatArray = NDArray[np.float64]

MOST_ANNOTATORS = 20_000
"""Beyond this, a table of all pairs (3 GB here) must be asked for by name."""


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """What a model knows after seeing the annotations.

    Parameters
    ----------
    annotations
        The data the model was fitted to.
    item_probability
        Probability of each class for each item, shape (items, classes).
    class_balance
        Proportion of each class, shape (classes,).
    confusion_mean
        Each annotator's confusion matrix, rows the true class, columns the given answer, rows
        summing to one, shape (annotators, classes, answers).
    label
        The chosen class of each item, shape (items,); by default the most probable one, the
        lowest if several are.
    draws
        What a sampler kept; None for a point estimate, which has no intervals.
    model, settings
        The name and the parameters of the model.
    run
        Facts of the run: how it stopped, whether an iteration converged.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "yes"), ("q1", "cat", "no")]
    >>> rows += [("q2", "ann", "no")]
    >>> posterior = coterie.MajorityVote().fit(rows).posterior_
    >>> posterior
    <Posterior of MajorityVote: 2 items, 3 annotators, 2 classes>
    >>> posterior.labels()
      item label  probability   entropy
    0   q1   yes     0.666667  0.636514
    1   q2    no     1.000000  0.000000
    """

    annotations: Annotations
    item_probability: FloatArray
    class_balance: FloatArray
    confusion_mean: FloatArray
    label: NDArray[np.int64] | None = None
    draws: Draws | None = None
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        a = self.annotations
        sizes = f"{a.n_items:,} items, {a.n_annotators:,} annotators, {a.n_classes} classes"
        return f"<Posterior of {self.model}: {sizes}>"

    @property
    def label_code(self) -> NDArray[np.int64]:
        """The chosen class of each item as a code, shape (items,)."""
        return self.item_probability.argmax(axis=1) if self.label is None else self.label

    def labels(self) -> pd.DataFrame:
        """One row an item: item, label, its probability, and the entropy (in nats)."""
        p = self.item_probability
        chosen = self.label_code
        entropy = -np.sum(p * np.log(p, where=p > 0, out=np.zeros_like(p)), axis=1)
        return pd.DataFrame(
            {
                "item": self.annotations.items,
                "label": self.annotations.classes[chosen],
                "probability": p[np.arange(len(p)), chosen],
                "entropy": np.abs(entropy),  # no minus zero
            }
        )

    def probabilities(self) -> pd.DataFrame:
        """Probability of each class: index item, one column a class."""
        a = self.annotations
        return pd.DataFrame(
            self.item_probability,
            index=pd.Index(a.items, name="item"),
            columns=pd.Index(a.classes, name="label"),
        )

    def annotators(self) -> pd.DataFrame:
        """One row an annotator: annotator, n_labels, accuracy, informativeness.

        Accuracy is sum over t of tau[t] Psi[t,t]: the chance of answering the truth on this
        crowd's items. A sampler adds its 95 % interval, accuracy_low and accuracy_high.
        """
        a = self.annotations
        table = pd.DataFrame({"annotator": a.annotators, "n_labels": a.labels_per_annotator})
        if self.draws is None:
            diagonal = np.diagonal(self.confusion_mean, axis1=1, axis2=2)
            table["accuracy"] = diagonal @ self.class_balance
        else:
            draws = self.draws.accuracy()
            table["accuracy"] = draws.mean(axis=0)
            table["accuracy_low"], table["accuracy_high"] = np.quantile(draws, INTERVAL, axis=0)
        table["informativeness"] = informativeness(self.confusion_mean)
        return table

    def confusion(
        self, annotator: Hashable | None = None, *, quantile: float | None = None
    ) -> pd.DataFrame:
        """Confusion matrix: true class (rows, summing to one) by given answer (columns).

        Parameters
        ----------
        annotator
            Whose matrix; by default everybody's, with the annotator as first index level.
        quantile
            A quantile of the posterior, cell by cell, instead of its mean: 0.025 and 0.975 bound
            the 95 % interval. Samplers only.
        """
        a = self.annotations
        l = slice(None) if annotator is None else int(self._annotator_codes([annotator])[0])
        if quantile is None:
            matrix = self.confusion_mean[l]
        else:
            matrix = self._sampled("intervals").confusion_quantile(l, quantile)
        rows = pd.Index(a.classes, name="true")
        columns = pd.Index(a.answers, name="answer")
        if annotator is not None:
            return pd.DataFrame(matrix, index=rows, columns=columns)
        index = pd.MultiIndex.from_product([pd.Index(a.annotators, name="annotator"), rows])
        return pd.DataFrame(matrix.reshape(-1, a.n_answers), index=index, columns=columns)

    def cooccurrence(self, annotators: Sequence[Hashable] | None = None) -> pd.DataFrame:
        """Probability that two annotators share a coterie, counted over the kept partitions.

        Parameters
        ----------
        annotators
            Whom to compare; by default everybody, up to 20,000.
        """
        if self.draws is None:
            raise CoterieError(f"{self.model} finds no coteries; fit CBCC or HCBCC")
        everybody = self.annotations.annotators
        n = len(everybody)
        if annotators is None and n > MOST_ANNOTATORS:
            raise CoterieError(
                f"all pairs of {n:,} annotators are a table of {8 * n * n / 1e9:,.0f} GB; "
                "ask for some of them: cooccurrence(annotators=[...])"
            )
        codes = np.arange(n) if annotators is None else self._annotator_codes(annotators)
        index = pd.Index(everybody[codes], name="annotator")
        return pd.DataFrame(self.draws.cooccurrence(codes), index=index, columns=index)

    @property
    def n_coteries(self) -> NDArray[np.int64]:
        """Number of coteries in each draw, shape (chains, draws)."""
        if self.draws is None or self.draws.n_coteries is None:
            raise CoterieError(f"{self.model} finds no coteries; fit CBCC or HCBCC")
        return self.draws.n_coteries

    def diagnostics(self) -> pd.DataFrame:
        """One row a watched quantity: quantity, mean, sd, mcse, ess_bulk, ess_tail, r_hat.

        R-hat is NaN for a quantity that never moves and is the same in all chains, which counts as
        converged, and infinite if it never moves and differs. With one chain it compares the
        chain's halves: that chains from different starts agree is then not tested.
        """
        return diagnose(self._sampled("diagnostics").trace)

    @property
    def converged(self) -> bool:
        """Whether the result may be trusted to be where it would be after more sweeps.

        A sampler's: R-hat at most 1.01 and bulk effective sample size at least 400 of the log
        joint, the number of clusters, the concentration and the class totals, and no chain that
        ended in another mode and had to be left out. An iteration's (EM):
        whether it reached its tolerance. A closed form, such as the vote, always has converged.
        """
        if self.draws is None:
            return bool(self.run.get("converged", True))
        return has_converged(self.draws.trace) and not self.run.get("left_out")

    def to_arviz(self) -> Any:
        """Give the draws as an ArviZ DataTree (needs arviz-base, the extra ``arviz``).

        Group ``posterior`` holds confusion, class_balance, partition, n_coteries and concentration
        at the kept draws, with dimensions chain, draw, annotator, true and answer; group
        ``sample_stats`` the watched quantities at every sweep after burn-in.
        """
        from coterie.posterior.arviz import datatree

        return datatree(self, self._sampled("draws"))

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one file, which :func:`coterie.load` reads.

        A file of that name is replaced, and only once the new one is whole. Ids keep their types.
        Settings that a file cannot keep (a generator, a callback) come back as text.
        """
        from coterie.posterior.store import save

        save(self, path)

    def _sampled(self, what: str) -> Draws:
        if self.draws is None:
            raise CoterieError(
                f"{self.model} gives a point estimate without {what}; fit IBCC, CBCC or HCBCC"
            )
        return self.draws

    def _annotator_codes(self, annotators: Sequence[Hashable]) -> NDArray[np.int64]:
        place = {name: l for l, name in enumerate(self.annotations.annotators)}
        unknown = [name for name in annotators if name not in place]
        if unknown:
            raise self._no_annotator(unknown[0])
        return np.array([place[name] for name in annotators], np.int64)

    def _no_annotator(self, annotator: Hashable) -> DataError:
        names = [str(name) for name in self.annotations.annotators]
        near = difflib.get_close_matches(str(annotator), names, n=3)
        hint = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
        return DataError(f"no annotator {annotator!r} among the {len(names):,} of this data{hint}")
