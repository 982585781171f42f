"""Tables as people work with them in files: every class, who belongs where, matrices in rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.posterior.draws import INTERVAL
from coterie.posterior.people import matrices_of_coteries, mean_of_members

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

REVIEW = 0.8
"""Labels less probable than this are worth a second look."""


def label_sheet(posterior: Posterior) -> pd.DataFrame:
    """Give :meth:`coterie.Posterior.labels` with ``review`` and one column per class.

    ``review`` marks items whose label is less than 80 % certain, and those that nobody labelled;
    the columns of the classes are called ``p(class)``.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no"), ("q2", "bob", "no")]
    >>> label_sheet(coterie.MajorityVote().fit(rows).posterior_).columns.tolist()[-3:]
    ['review', 'p(no)', 'p(yes)']
    """
    table = posterior.labels()
    table["review"] = needs_review(posterior)
    shares = pd.DataFrame(
        posterior.item_probability,
        columns=[f"p({one})" for one in posterior.annotations.classes],
    )
    return pd.concat([table, shares], axis=1)


def needs_review(posterior: Posterior) -> NDArray[np.bool_]:
    """Mark labels that are less than 80 % certain, or of nobody; known ones never."""
    labels = posterior.labels()
    doubtful = (labels["probability"] < REVIEW) | (labels["n_labels"] == 0)
    marked: NDArray[np.bool_] = doubtful.to_numpy() & (posterior.annotations.codes.gold < 0)
    return marked


def coterie_sheet(posterior: Posterior) -> pd.DataFrame:
    """Give :meth:`coterie.Posterior.coteries` with the members' names, separated by semicolons."""
    group = posterior.partition().group
    names = posterior.annotations.annotators
    table = posterior.coteries()
    members = ["; ".join(map(str, names[group == m])) for m in range(len(table))]
    return table.assign(members=members)


def confusion_sheet(posterior: Posterior, counts: NDArray[np.int64] | None = None) -> pd.DataFrame:
    """Give the matrices, one row per cell: of every coterie, then of every annotator.

    Columns: of ("coterie" or "annotator"), name, true, answer, mean, low and high (95 %, where the
    model has draws), and count, the labels with this answer on items that have this label now,
    which is what :func:`label_counts` gives, or ``counts`` where items are in shards.

    Examples
    --------
    >>> import coterie
    >>> rows = [(1, "ann", "yes"), (1, "bob", "yes"), (2, "ann", "no"), (2, "bob", "no")]
    >>> table = confusion_sheet(coterie.DawidSkene().fit(rows).posterior_)
    >>> table.columns.tolist()
    ['of', 'name', 'true', 'answer', 'mean', 'count']
    >>> table["count"].tolist()
    [1, 0, 0, 1, 1, 0, 0, 1]
    """
    a = posterior.annotations
    counts = label_counts(posterior) if counts is None else counts
    matrices = [posterior.confusion_mean]
    if posterior.abilities.uncertainty:
        draws = posterior.require_draws("intervals")
        matrices += [draws.confusion_quantile(slice(None), q) for q in INTERVAL]
    found = [("annotator", a.annotators.tolist(), matrices, counts)]
    if posterior.abilities.coteries:
        partition = posterior.partition()
        drawn = matrices_of_coteries(posterior.require_partitions(), partition)
        mean = mean_of_members(posterior.confusion_mean[None], partition)[0]
        numbers = range(1, partition.n_coteries + 1)
        summed = np.array([counts[partition.group == m - 1].sum(axis=0) for m in numbers])
        found.insert(
            0, ("coterie", [*numbers], [mean, *np.quantile(drawn, INTERVAL, axis=0)], summed)
        )
    parts = []
    for kind, names, values, counted in found:
        index = pd.MultiIndex.from_product(
            [names, a.classes, a.answers], names=["name", "true", "answer"]
        )
        columns = dict(zip(("mean", "low", "high"), (x.ravel() for x in values), strict=False))
        part = pd.DataFrame({**columns, "count": counted.ravel()}, index=index).reset_index()
        part.insert(0, "of", kind)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def label_counts(posterior: Posterior) -> NDArray[np.int64]:
    """Count labels by annotator, present label of the item, and answer, shape (L, T, C)."""
    a = posterior.annotations
    counts = np.zeros((a.n_annotators, a.n_classes, a.n_answers), np.int64)
    where = (a.codes.item_annotator, posterior.label_code[a.item_of_label], a.codes.item_answer)
    np.add.at(counts, where, 1)
    return counts
