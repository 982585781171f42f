"""Posterior: the one result object. Everything downstream reads only this."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.annotations import Annotations
from coterie.errors import CoterieError, DataError
from coterie.metrics import informativeness
from coterie.posterior.draws import INTERVAL, Draws

FloatArray = NDArray[np.float64]


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

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "yes"), ("q1", "cat", "no"), ("q2", "ann", "no")]
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
        l = slice(None) if annotator is None else self._annotator_code(annotator)
        if quantile is None:
            matrix = self.confusion_mean[l]
        elif self.draws is None:
            raise CoterieError(
                f"{self.model} gives a point estimate without intervals; fit IBCC, CBCC or HCBCC"
            )
        else:
            matrix = self.draws.confusion_quantile(l, quantile)
        rows = pd.Index(a.classes, name="true")
        columns = pd.Index(a.answers, name="answer")
        if annotator is not None:
            return pd.DataFrame(matrix, index=rows, columns=columns)
        index = pd.MultiIndex.from_product([pd.Index(a.annotators, name="annotator"), rows])
        return pd.DataFrame(matrix.reshape(-1, a.n_answers), index=index, columns=columns)

    def cooccurrence(self, annotators: Sequence[Hashable] | None = None) -> pd.DataFrame:
        """Probability that two annotators share a coterie, for all or for the given annotators."""
        if self.draws is None:
            raise CoterieError(f"{self.model} finds no coteries; fit CBCC or HCBCC")
        everybody = self.annotations.annotators
        if annotators is None:
            codes = np.arange(len(everybody))
        else:
            codes = np.array([self._annotator_code(name) for name in annotators], np.int64)
        index = pd.Index(everybody[codes], name="annotator")
        return pd.DataFrame(self.draws.cooccurrence(codes), index=index, columns=index)

    @property
    def n_coteries(self) -> NDArray[np.int64]:
        """Number of coteries in each draw, shape (chains, draws)."""
        if self.draws is None or self.draws.n_coteries is None:
            raise CoterieError(f"{self.model} finds no coteries; fit CBCC or HCBCC")
        return self.draws.n_coteries

    def _annotator_code(self, annotator: Hashable) -> int:
        (found,) = np.nonzero(self.annotations.annotators == annotator)
        if len(found) == 1:
            return int(found[0])
        names = [str(name) for name in self.annotations.annotators]
        near = difflib.get_close_matches(str(annotator), names, n=3)
        hint = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
        raise DataError(f"no annotator {annotator!r} among the {len(names):,} of this data{hint}")
