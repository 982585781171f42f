"""What a coterie is like: its matrix in every draw, its tables, how much its members differ."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.errors import Argument, CoterieError
from coterie.kernels.right import SHIFT, share_right_of_coteries, unknown_of_coteries
from coterie.metrics import informativeness
from coterie.partition import PointPartition, point_partition
from coterie.posterior.draws import INTERVAL, Draws, accuracy_of
from coterie.posterior.people import Accuracy, codes_of
from coterie.roles import Roles, roles_of

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

FloatArray = NDArray[np.float64]
Loss = Literal["vi", "binder"]

MOST_ANNOTATORS = 20_000
"""Beyond this, a table of all pairs (3 GB here) must be asked for by name."""

BLOCK = 64
"""Draws that are averaged at once: a copy of all of them in double precision may not fit."""


def partition_of(posterior: Posterior, k: int | None, loss: Loss) -> PointPartition:
    """Find the one partition that stands for the draws; those without labels are in no coterie."""
    if posterior.groups is not None:
        if k is not None:
            raise CoterieError(
                "this result has one grouping", remedy=["leave out ", Argument("k", k)]
            )
        return posterior.groups
    labelled = posterior.annotations.labels_per_annotator > 0
    draws = posterior.require_partitions()
    assert draws.partition is not None  # the model finds coteries
    pooled = draws.partition.reshape(-1, draws.partition.shape[-1])
    found = point_partition(pooled[:, labelled], loss=loss, k=k)
    group, membership = np.full(len(labelled), -1, np.int32), np.full(len(labelled), np.nan)
    group[labelled], membership[labelled] = found.group, found.membership
    return replace(found, group=group, membership=membership)


def coterie_table(
    posterior: Posterior, partition: PointPartition
) -> tuple[pd.DataFrame, Roles | None]:
    """Give one row per coterie, largest first, and their roles; a point estimate has none.

    See :meth:`coterie.posterior.Posterior.coteries`.
    """
    a = posterior.annotations
    group, n = partition.group, partition.n_coteries
    member = group >= 0
    size = np.bincount(group[member], minlength=n)
    labels = np.bincount(group[member], a.labels_per_annotator[member], minlength=n)
    mean = mean_of_members(posterior.confusion_mean[None], partition)[0]
    said, roles = said_of_coteries(posterior, partition, mean)
    table = pd.DataFrame(
        {
            "coterie": np.arange(1, n + 1),
            "size": size,
            "share": size / size.sum(),
            "label_share": labels / labels.sum(),
            **said,
            "informativeness": informativeness(mean),
            "spread": spread(posterior.confusion_mean, mean, partition),
        }
    )
    table.attrs = {"loss": partition.loss, "expected_loss": partition.expected_loss}
    return table, roles


def said_of_coteries(
    posterior: Posterior, partition: PointPartition, mean: FloatArray
) -> tuple[dict[str, Any], Roles | None]:
    """Give roles and accuracies by column, with intervals where there are draws, and the roles.

    Parameters
    ----------
    posterior, partition
        The result, and its coteries.
    mean
        Their mean matrices, shape (coteries, classes, answers).
    """
    if not posterior.abilities.uncertainty:
        return {"accuracy": accuracy_of(mean[None], posterior.class_balance[None])[0]}, None
    a, draws = posterior.annotations, posterior.require_draws("intervals")
    matrices = matrices_of_coteries(draws, partition)
    balance = draws.class_balance.reshape(-1, a.n_classes)
    accuracy = coterie_accuracy(posterior, partition, accuracy_of(matrices, balance))
    shift: float | FloatArray = 0.0
    if posterior.abilities.share_right:
        found = partition.group, partition.n_coteries
        shift = SHIFT * unknown_of_coteries(posterior.right_labels(), *found)
    roles = roles_of(matrices, balance, a.classes, a.answers, shift=shift)
    said = {
        "role": roles.words,
        "role_probability": roles.probability,
        "accuracy": accuracy.mean,
        "accuracy_low": accuracy.low,
        "accuracy_high": accuracy.high,
    }
    return said, roles


def coterie_accuracy(
    posterior: Posterior, partition: PointPartition, drawn: FloatArray
) -> Accuracy:
    """Give the coteries' accuracies, the way the model declares.

    Parameters
    ----------
    posterior, partition
        The result, and its coteries.
    drawn
        Those of the coteries' matrices, shape (draws, coteries).
    """
    if not posterior.abilities.share_right:
        return Accuracy(drawn.mean(axis=0), *np.quantile(drawn, INTERVAL, axis=0))
    right = posterior.right_labels()
    return Accuracy(*share_right_of_coteries(right, partition.group, partition.n_coteries))


def cooccurrence_table(posterior: Posterior, annotators: Sequence[Hashable] | None) -> pd.DataFrame:
    """Give the share of draws in which two annotators sit together.

    See :meth:`coterie.posterior.Posterior.cooccurrence`.
    """
    draws, everybody = posterior.require_partitions(), posterior.annotations.annotators
    n = len(everybody)
    if annotators is None and n > MOST_ANNOTATORS:
        raise CoterieError(
            f"all pairs of {n:,} annotators are a table of {8 * n * n / 1e9:,.0f} GB",
            argument="annotators",
            remedy="ask for some of them: cooccurrence(annotators=[...])",
        )
    codes = np.arange(n) if annotators is None else codes_of(annotators, everybody)
    index = pd.Index(everybody[codes], name="annotator")
    return pd.DataFrame(draws.cooccurrence(codes), index=index, columns=index)


def matrices_of_coteries(draws: Draws, partition: PointPartition) -> FloatArray:
    """Give each coterie's matrix in each draw: the mean of its members' matrices.

    Who is in it is fixed, so numbers of the draws' own coteries do not matter.

    Returns
    -------
    Array of shape (chains * draws, coteries, classes, answers).
    """
    pooled = draws.confusion.reshape(-1, *draws.confusion.shape[2:])
    means = np.empty((len(pooled), partition.n_coteries, *pooled.shape[2:]))
    for start in range(0, len(pooled), BLOCK):
        block = pooled[start : start + BLOCK].astype(np.float64)
        means[start : start + BLOCK] = mean_of_members(block, partition)
    return means


def mean_of_members(matrices: FloatArray, partition: PointPartition) -> FloatArray:
    """Average over the members of each coterie, (draws, L, T, C) to (draws, M, T, C)."""
    by_coterie = np.argsort(partition.group, kind="stable")
    by_coterie = by_coterie[partition.group[by_coterie] >= 0]
    size = np.bincount(partition.group[by_coterie])
    start = np.cumsum(size) - size
    total = np.add.reduceat(matrices[:, by_coterie], start, axis=1)
    return np.asarray(total / size[None, :, None, None], np.float64)


def spread(confusion_mean: FloatArray, mean: FloatArray, partition: PointPartition) -> FloatArray:
    """Measure how much the members of each coterie differ from each other, 0 to 1, shape (M,).

    The total variation distance of a member's row from the coterie's, averaged over rows and
    members: 0 if all members have the same matrix.
    """
    member = partition.group >= 0
    group = partition.group[member]
    distance = np.abs(confusion_mean[member] - mean[group]).sum(axis=2).mean(axis=1) / 2
    total = np.bincount(group, distance, minlength=partition.n_coteries)
    return total / np.bincount(group, minlength=partition.n_coteries)
