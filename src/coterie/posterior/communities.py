"""Communities of annotators by how alike their matrices are: of any result, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from coterie.errors import Argument, CoterieError, DataError
from coterie.partition.communities import find_communities
from coterie.partition.point import PointPartition, number_by_size

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

MOST_ANNOTATORS = 5_000
"""Beyond this, all pairs of annotators in every round take too long."""

MOST_RESTARTS = 100_000


def community_table(
    posterior: Posterior, least: int, restarts: int, random_state: int
) -> pd.DataFrame:
    """Give one row per annotator; see :meth:`coterie.posterior.Posterior.communities`."""
    a = posterior.annotations
    found = community_partition(posterior, least, restarts, random_state)
    community = pd.Series(pd.array(found.group + 1, dtype="Int64")).mask(found.group < 0)
    table = pd.DataFrame(
        {
            "annotator": a.annotators,
            "n_labels": a.labels_per_annotator,
            "community": community,
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
    a = posterior.annotations
    if not 1 <= restarts <= MOST_RESTARTS:
        raise DataError(
            f"communities takes at least 1 restart, {MOST_RESTARTS:,} at most, got {restarts!r}",
            argument="restarts",
        )
    enough = a.labels_per_annotator >= max(least, 1)
    n = int(np.count_nonzero(enough))
    if n > MOST_ANNOTATORS:
        raise CoterieError(
            f"{n:,} annotators have {count_words(least)}: their pairs are too many to compare",
            remedy=["raise ", Argument("least"), f" until {MOST_ANNOTATORS:,} are left at most"],
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


def count_words(least: int) -> str:
    """Say how many labels are asked for."""
    return "labels" if least <= 1 else f"{least:,} labels or more"
