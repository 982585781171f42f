"""Draws: what a sampler keeps of its chains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.diagnostics import WATCHED, has_converged
from coterie.errors import CoterieError
from coterie.partition.cooccurrence import share_together

INTERVAL = (0.025, 0.975)
"""Every interval in coterie is 95 %, equal-tailed."""


@dataclass(frozen=True, eq=False)
class DrawnArray:
    """An array of a model's own at every draw that has matrices.

    Parameters
    ----------
    dims
        Names of the axes after chains and draws; ``item``, ``annotator``, ``true`` and ``answer``
        are those of the data.
    values
        Shape (chains, draws, ...).
    """

    dims: tuple[str, ...]
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Draws:
    """What a sampler keeps: chains first, then draws.

    Parameters
    ----------
    confusion
        Each annotator's matrix, shape (chains, draws, annotators, classes, answers).
    class_balance
        The class proportions, shape (chains, draws, classes).
    partition
        The coterie of each annotator, shape (chains, draws, annotators); None where the model
        finds none. Labels mean nothing across draws.
    n_coteries
        Number of coteries with at least one labelled annotator, shape (chains, draws).
    trace
        Quantities by name at every kept sweep, of shape (chains, sweeps), or (chains, sweeps, k)
        for several numbers, such as the class totals.
    watched
        Names of those that must converge.
    extra
        What the model draws beside all this, by name.
    last
        Where each chain ended: the arrays of its state, by the names of its model (``said``,
        ``group`` and more), so that a later run can go on from there.
    """

    confusion: NDArray[np.float32]
    class_balance: NDArray[np.float64]
    partition: NDArray[np.int32] | None = None
    n_coteries: NDArray[np.int64] | None = None
    trace: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    watched: tuple[str, ...] = WATCHED
    extra: Mapping[str, DrawnArray] = field(default_factory=dict)
    last: tuple[Mapping[str, NDArray[Any]], ...] = ()

    def settled(self) -> bool:
        """Say whether every watched quantity has converged (:func:`has_converged`)."""
        return has_converged(self.trace, watched=self.watched)

    def confusion_quantile(self, l: int | slice, quantile: float) -> NDArray[np.float64]:
        """Quantile over all draws of the matrices of annotators ``l``."""
        draws = self.confusion[:, :, l]
        pooled = draws.reshape(-1, *draws.shape[2:])
        return np.asarray(np.quantile(pooled, quantile, axis=0), np.float64)

    def accuracy(self) -> NDArray[np.float64]:
        """Accuracy of each annotator in each draw: sum over t of tau[t] Psi[l,t,t].

        Returns
        -------
        Array of shape (chains * draws, annotators).
        """
        pooled = self.confusion.reshape(-1, *self.confusion.shape[2:])
        return accuracy_of(pooled, self.class_balance.reshape(len(pooled), -1))

    def cooccurrence(self, annotators: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of draws in which two annotators sit in one coterie, for the given codes.

        Returns
        -------
        Symmetric array of shape (len(annotators), len(annotators)).
        """
        if self.partition is None:
            raise CoterieError("this model finds no coteries; fit one that does, such as Consensus")
        pooled = self.partition.reshape(-1, self.partition.shape[-1])
        return share_together(pooled[:, annotators])


def accuracy_of(
    confusion: NDArray[np.floating], class_balance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give sum over t of tau[t] Psi[t,t] in each draw.

    Parameters
    ----------
    confusion
        Matrices, shape (draws, matrices, classes, answers).
    class_balance
        Class proportions, shape (draws, classes).

    Returns
    -------
    Array of shape (draws, matrices).
    """
    diagonal = np.diagonal(confusion, axis1=2, axis2=3)
    return np.asarray(np.einsum("dt,dlt->dl", class_balance, diagonal), np.float64)
