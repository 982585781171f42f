"""Annotators: whose codes are wanted; how much they said, how well, with whom, in which role."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.kernels.right import SHIFT
from coterie.metrics import informativeness
from coterie.partition import PointPartition
from coterie.posterior.draws import INTERVAL
from coterie.roles import Roles, roles_of
from coterie.words.values import did_you_mean
from coterie.words.visible import quoted

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

FloatArray = NDArray[np.float64]


def annotator_table(posterior: Posterior, partition: PointPartition | None) -> pd.DataFrame:
    """Give one row per annotator; see :meth:`coterie.posterior.Posterior.annotators`.

    Parameters
    ----------
    posterior
        The result.
    partition
        The coteries, if the model finds any.
    """
    a = posterior.annotations
    table = pd.DataFrame({"annotator": a.annotators, "n_labels": a.labels_per_annotator})
    accuracy = annotator_accuracy(posterior)
    table["accuracy"] = accuracy.mean
    if accuracy.low is not None:
        table["accuracy_low"], table["accuracy_high"] = accuracy.low, accuracy.high
    table["informativeness"] = informativeness(posterior.confusion_mean)
    if partition is not None:
        coterie = pd.array(partition.group + 1, dtype="Int64")
        table["coterie"] = pd.Series(coterie).mask(partition.group < 0)
        table["membership"] = partition.membership
    if posterior.abilities.uncertainty:
        roles = posterior.roles()
        table["role"], table["role_probability"] = roles.words, roles.probability
    return table


class Accuracy(NamedTuple):
    """Accuracies and their 95 % intervals, each of shape (annotators,) or (coteries,)."""

    mean: FloatArray
    low: FloatArray | None
    high: FloatArray | None


def annotator_accuracy(posterior: Posterior) -> Accuracy:
    """Give everybody's accuracy, the way the model declares: share of right labels, or matrices.

    Nobody can be right without labels: such annotators get what their matrices say.
    """
    of_matrices = matrix_accuracy(posterior)
    if not posterior.abilities.share_right:
        return of_matrices
    found = posterior.right_labels().shares
    idle = posterior.annotations.labels_per_annotator == 0
    if of_matrices.low is None or of_matrices.high is None:
        return Accuracy(np.where(idle, of_matrices.mean, found.mean), found.low, found.high)
    return Accuracy(
        np.where(idle, of_matrices.mean, found.mean),
        np.where(idle, of_matrices.low, found.low),
        np.where(idle, of_matrices.high, found.high),
    )


def matrix_accuracy(posterior: Posterior) -> Accuracy:
    """Give the accuracies that the matrices have, sum over t of tau[t] Psi[t, t]."""
    if not posterior.abilities.uncertainty:
        diagonal = np.diagonal(posterior.confusion_mean, axis1=1, axis2=2)
        return Accuracy(diagonal @ posterior.class_balance, None, None)
    accuracy = posterior.require_draws("intervals").accuracy()
    return Accuracy(accuracy.mean(axis=0), *np.quantile(accuracy, INTERVAL, axis=0))


def annotator_roles(posterior: Posterior) -> Roles:
    """Give the role of each annotator; see :meth:`coterie.posterior.Posterior.roles`."""
    a, draws = posterior.annotations, posterior.require_draws("roles")
    pooled = draws.confusion.reshape(-1, *draws.confusion.shape[2:])
    balance = draws.class_balance.reshape(len(pooled), -1)
    labelled = a.labels_per_annotator > 0
    shift = SHIFT * posterior.right_labels().unknown if posterior.abilities.share_right else 0.0
    return roles_of(pooled, balance, a.classes, a.answers, labelled=labelled, shift=shift)


def codes_of(wanted: Sequence[Hashable], annotators: NDArray[Any]) -> NDArray[np.int64]:
    """Give the codes of annotators by their names; a name that nobody has is a DataError."""
    place = {name: l for l, name in enumerate(annotators)}
    for name in wanted:
        if name not in place:
            hint = did_you_mean(name, annotators)
            raise DataError(
                f"no annotator {quoted(name)} among the {len(annotators):,} of this data{hint}",
                argument="annotator",
            )
    return np.array([place[name] for name in wanted], np.int64)
