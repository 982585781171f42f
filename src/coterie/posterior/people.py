"""The tables of people: annotators, coteries, communities, their matrices, who sits with whom."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.frames import table
from coterie.errors import Argument, CoterieError, DataError
from coterie.kernels.right import SHIFT, share_right_of_coteries, unknown_of_coteries
from coterie.metrics import informativeness
from coterie.partition import PointPartition, point_partition
from coterie.partition.communities import find_communities
from coterie.partition.point import number_by_size
from coterie.posterior.draws import INTERVAL, Draws, accuracy_of, once
from coterie.roles import Roles, roles_of
from coterie.words.values import did_you_mean
from coterie.words.visible import quoted

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

FloatArray = NDArray[np.float64]
Loss = Literal["vi", "binder"]

MOST_IN_TABLE = 20_000
"""Annotators beyond whom a table of all pairs (3 GB here) must be asked for by name."""
MOST_IN_COMMUNITIES, MOST_RESTARTS = 5_000, 100_000
"""Annotators beyond whom all pairs in every round of a factorisation take too long."""
BLOCK = 64
"""Draws that are averaged at once: a copy of all of them in double precision may not fit."""


class Accuracy(NamedTuple):
    """Accuracies and their 95 % intervals, each of shape (annotators,) or (coteries,)."""

    mean: FloatArray
    low: FloatArray | None
    high: FloatArray | None

    def columns(self) -> dict[str, FloatArray]:
        """Give what is known, as columns of a table."""
        names = ("accuracy", "accuracy_low", "accuracy_high")
        return {name: x for name, x in zip(names, self, strict=True) if x is not None}


@table
@once
def annotators(self: Posterior, k: int | None = None, *, loss: Loss = "vi") -> pd.DataFrame:
    """One row per annotator: annotator, n_labels, accuracy, informativeness, and more.

    Accuracy is sum over t of tau[t] Psi[t,t]: the chance of answering the truth on this
    crowd's items. A sampler adds its 95 % interval, accuracy_low and accuracy_high, and last
    the role with its probability (docs/roles.md). Models with coteries add coterie and
    membership: with what probability in a draw the annotator sits with another of its
    coterie. An annotator without labels has neither.

    Parameters
    ----------
    k, loss
        Which coteries, as for :meth:`coteries`.
    """
    a = self.annotations
    columns = {"annotator": a.annotators, "n_labels": a.labels_per_annotator}
    columns |= annotator_accuracy(self).columns()
    columns["informativeness"] = informativeness(self.confusion_mean)
    table = pd.DataFrame(columns)
    if self.abilities.coteries or self.groups is not None:
        partition = self.partition(k, loss=loss)
        table["coterie"] = _numbered(partition.group)
        table["membership"] = partition.membership
    if self.abilities.uncertainty:
        roles = self.roles()
        table["role"], table["role_probability"] = roles.words, roles.probability
    return table


def _numbered(group: NDArray[Any]) -> pd.Series:
    """Give the numbers of groups, from one; missing for who is in none."""
    return pd.Series(pd.array(group + 1, dtype="Int64")).mask(group < 0)


def annotator_accuracy(posterior: Posterior) -> Accuracy:
    """Give everybody's accuracy, the way the model declares: share of right labels, or matrices.

    Matrices have sum over t of tau[t] Psi[t, t]. Nobody can be right without labels: such
    annotators get what their matrices say.
    """
    if posterior.abilities.uncertainty:
        drawn = posterior.require_draws("intervals").accuracy()
        found = Accuracy(drawn.mean(axis=0), *np.quantile(drawn, INTERVAL, axis=0))
    else:
        diagonal = np.diagonal(posterior.confusion_mean, axis1=1, axis2=2)
        found = Accuracy(diagonal @ posterior.class_balance, None, None)
    if not posterior.abilities.share_right:
        return found
    idle = posterior.annotations.labels_per_annotator == 0
    shares = posterior.right_labels().shares
    each = zip(found, shares, strict=True)
    return Accuracy(*(b if a is None else np.where(idle, a, b) for a, b in each))


@once
def roles(self: Posterior) -> Roles:
    """Give the role of each annotator, as data: what :meth:`annotators` says in words.

    Each has a ``pattern``, the labels that it is ``about``, and a ``kind``: good, weak, noise,
    against or unknown (docs/roles.md).
    """
    a, draws = self.annotations, self.require_draws("roles")
    labelled = a.labels_per_annotator > 0
    shift = SHIFT * self.right_labels().unknown if self.abilities.share_right else 0.0
    return roles_of(
        draws.matrices, draws.balances, a.classes, a.answers, labelled=labelled, shift=shift
    )


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


@once
def partition(self: Posterior, k: int | None = None, *, loss: Loss = "vi") -> PointPartition:
    """One partition of the annotators from many draws, as arrays: see :meth:`coteries`."""
    if self.groups is not None:
        if k is not None:
            raise CoterieError(
                "this result has one grouping", remedy=["leave out ", Argument("k", k)]
            )
        return self.groups
    labelled = self.annotations.labels_per_annotator > 0
    draws = self.require_partitions()
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
    a, group, n = posterior.annotations, partition.group, partition.n_coteries
    member = group >= 0
    size = np.bincount(group[member], minlength=n)
    labels = np.bincount(group[member], a.labels_per_annotator[member], minlength=n)
    mean = mean_of_members(posterior.confusion_mean[None], partition)[0]
    said, roles = _said_of_coteries(posterior, partition, mean)
    # The total variation distance of a member's row from the coterie's.
    apart = np.abs(posterior.confusion_mean[member] - mean[group[member]]).sum(axis=2).mean(axis=1)
    table = pd.DataFrame(
        {
            "coterie": np.arange(1, n + 1),
            "size": size,
            "share": size / size.sum(),
            "label_share": labels / labels.sum(),
            **said,
            "informativeness": informativeness(mean),
            "spread": np.bincount(group[member], apart / 2, minlength=n) / size,
        }
    )
    table.attrs = {"loss": partition.loss, "expected_loss": partition.expected_loss}
    return table, roles


def _said_of_coteries(
    posterior: Posterior, partition: PointPartition, mean: FloatArray
) -> tuple[dict[str, Any], Roles | None]:
    """Give roles and accuracies by column, with intervals where there are draws, and the roles.

    ``mean`` are the coteries' mean matrices, shape (coteries, classes, answers).
    """
    if not posterior.abilities.uncertainty:
        return {"accuracy": accuracy_of(mean[None], posterior.class_balance[None])[0]}, None
    a, draws = posterior.annotations, posterior.require_draws("intervals")
    matrices = matrices_of_coteries(draws, partition)
    shift: float | FloatArray = 0.0
    if posterior.abilities.share_right:
        right, found = posterior.right_labels(), (partition.group, partition.n_coteries)
        accuracy = Accuracy(*share_right_of_coteries(right, *found))
        shift = SHIFT * unknown_of_coteries(right, *found)
    else:
        drawn = accuracy_of(matrices, draws.balances)
        accuracy = Accuracy(drawn.mean(axis=0), *np.quantile(drawn, INTERVAL, axis=0))
    roles = roles_of(matrices, draws.balances, a.classes, a.answers, shift=shift)
    said = {"role": roles.words, "role_probability": roles.probability, **accuracy.columns()}
    return said, roles


def matrices_of_coteries(draws: Draws, partition: PointPartition) -> FloatArray:
    """Give each coterie's matrix in each draw: the mean of its members' matrices.

    Who is in it is fixed, so numbers of the draws' own coteries do not matter.

    Returns
    -------
    Array of shape (chains * draws, coteries, classes, answers).
    """
    pooled = draws.matrices
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


@table
def confusion(
    self: Posterior,
    annotator: Hashable | None = None,
    *,
    coterie: int | None = None,
    k: int | None = None,
    loss: Loss = "vi",
    quantile: float | None = None,
) -> pd.DataFrame:
    """Confusion matrix: true class (rows, summing to one) by given answer (columns).

    Parameters
    ----------
    annotator
        Whose matrix; by default everybody's, with the annotator as first index level.
    coterie
        Or the matrix of this coterie (1 is the largest): the mean of its members'.
    k, loss
        Of which coteries, as for :meth:`coteries`.
    quantile
        A quantile of the posterior, cell by cell, instead of its mean: 0.025 and 0.975 bound
        the 95 % interval. Samplers only.
    """
    if quantile is not None and not 0 <= quantile <= 1:
        raise CoterieError(
            [Argument("quantile", quantile), " is not between 0 and 1"], remedy="0.975 is one"
        )
    a = self.annotations
    if coterie is not None:
        if annotator is not None:
            raise CoterieError(
                "confusion takes an annotator or a coterie, not both", argument="coterie"
            )
        partition = self.partition(k, loss=loss)
        n = partition.n_coteries
        if coterie not in range(1, n + 1):
            raise DataError(
                f"no coterie {coterie!r}: they are numbered from 1 to {n}", argument="coterie"
            )
        if quantile is None:
            matrix = mean_of_members(self.confusion_mean[None], partition)[0, coterie - 1]
        else:
            drawn = matrices_of_coteries(self.require_draws("intervals"), partition)
            matrix = np.quantile(drawn[:, coterie - 1], quantile, axis=0)
    else:
        l = slice(None) if annotator is None else int(codes_of([annotator], a.annotators)[0])
        if quantile is None:
            matrix = self.confusion_mean[l]
        else:
            matrix = self.require_draws("intervals").confusion_quantile(l, quantile)
    index = rows = pd.Index(a.classes, name="true")
    if matrix.ndim == 3:
        index = pd.MultiIndex.from_product([pd.Index(a.annotators, name="annotator"), rows])
    matrix = np.asarray(matrix, np.float64).reshape(-1, a.n_answers)
    return pd.DataFrame(matrix, index=index, columns=pd.Index(a.answers, name="answer"))


@table
def cooccurrence(self: Posterior, annotators: Sequence[Hashable] | None = None) -> pd.DataFrame:
    """Probability that two annotators share a coterie, counted over the kept partitions.

    Parameters
    ----------
    annotators
        Whom to compare; by default everybody, up to 20,000.
    """
    draws, everybody = self.require_partitions(), self.annotations.annotators
    n = len(everybody)
    if annotators is None and n > MOST_IN_TABLE:
        raise CoterieError(
            f"all pairs of {n:,} annotators are a table of {8 * n * n / 1e9:,.0f} GB",
            argument="annotators",
            remedy="ask for some of them: cooccurrence(annotators=[...])",
        )
    codes = np.arange(n) if annotators is None else codes_of(annotators, everybody)
    index = pd.Index(everybody[codes], name="annotator")
    return pd.DataFrame(draws.cooccurrence(codes), index=index, columns=index)


@table
def communities(
    self: Posterior, *, least: int = 1, restarts: int = 10, random_state: int = 0
) -> pd.DataFrame:
    """Group annotators after the fact by how alike their matrices are: any result has these.

    One row per annotator: annotator, n_labels, community (1 is the largest) and membership,
    the share that the annotator has in it. The Hellinger distances of the mean matrices' rows
    become similarities, and those are factorised (after Simpson and others, 2011): communities
    that are not needed empty themselves. It knows nothing of how sure the matrices are, so
    that annotators with few labels look like the prior and each other, and it never changes a
    label; coteries, found while fitting, do. It may well find one community where
    :meth:`coteries` finds several. ``.attrs["objective"]`` is what restarts are compared by.

    Parameters
    ----------
    least
        Annotators with fewer labels get no community.
    restarts
        Random starts, each of up to 2,000 rounds over all pairs; the best objective is kept.
    random_state
        Seed of the starts.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=40, annotators=6, random_state=1)
    >>> found = coterie.DawidSkene().fit(crowd.annotations).posterior_.communities()
    >>> list(found.columns)
    ['annotator', 'n_labels', 'community', 'membership']
    """
    a = self.annotations
    found = community_partition(self, least, restarts, random_state)
    table = pd.DataFrame(
        {
            "annotator": a.annotators,
            "n_labels": a.labels_per_annotator,
            "community": _numbered(found.group),
            "membership": found.membership,
        }
    )
    table.attrs = {"objective": found.expected_loss, "n_communities": found.n_coteries}
    return table


def community_partition(
    posterior: Posterior, least: int, restarts: int, random_state: int
) -> PointPartition:
    """Give the communities as one partition; those with too few labels are in none, -1.

    Its loss is called "communities", and is what the factorisation minimises.
    """
    if not 1 <= restarts <= MOST_RESTARTS:
        raise DataError(
            f"communities takes at least 1 restart, {MOST_RESTARTS:,} at most, got {restarts!r}",
            argument="restarts",
        )
    enough = posterior.annotations.labels_per_annotator >= max(least, 1)
    n = int(np.count_nonzero(enough))
    if n > MOST_IN_COMMUNITIES:
        said = "labels" if least <= 1 else f"{least:,} labels or more"
        few = f" until {MOST_IN_COMMUNITIES:,} are left at most"
        raise CoterieError(
            f"{n:,} annotators have {said}: their pairs are too many to compare",
            remedy=["raise ", Argument("least"), few],
        )
    group, membership = np.full(len(enough), -1, np.int32), np.full(len(enough), np.nan)
    objective = np.nan
    if n:
        rng = np.random.default_rng(random_state)
        share, objective = find_communities(posterior.confusion_mean[enough], restarts, rng)
        group[enough] = number_by_size(share.argmax(axis=1).astype(np.int32))
        membership[enough] = share.max(axis=1)
    n_communities = int(group.max(initial=-1)) + 1
    return PointPartition(group, membership, float(objective), "communities", n_communities)
