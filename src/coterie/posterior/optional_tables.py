"""Tables that only some models have."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from coterie.data.frames import table
from coterie.errors import CoterieError
from coterie.kernels.right import Right, right_labels
from coterie.posterior.computed_once import once

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior


class MoreTables:
    """The methods of a posterior that not every model can answer: the others say who can."""

    _computed: dict[tuple[Any, ...], Any]

    @property
    def _found(self) -> Posterior:
        return cast("Posterior", self)

    @property
    def item_names(self) -> Any:
        """What items are called, by their place among those of the run."""
        return self._found.annotations.items

    @once
    def right_labels(self) -> Right:
        """Give how many of everybody's labels are right under what is reported of their items."""
        codes, probability = self._found.annotations.codes, self._found.item_probability
        return right_labels(lambda: [(codes, probability)], np.diff(codes.annotator_start))

    @table
    def difficulty(self) -> pd.DataFrame:
        """One row per item, the hardest first: item, label, hardness, n_labels.

        Hardness is the probability that the item is hard: of EasyHardBCC, that everybody answers
        it in a way of their own; of Consensus, that some answers are guesses whoever answers.
        """
        from coterie.posterior.kinds import difficulty_table

        return difficulty_table(self._found)

    @table
    def kinds(self) -> pd.DataFrame:
        """One row per item: item, its most probable kind, the probability, and those of all kinds.

        Known kinds have their names and are certain. Latent ones are numbered, the largest first;
        a kind means the same for all items of this run, not of another.
        """
        from coterie.posterior.kinds import kind_table

        return kind_table(self._found)

    def by_community(
        self, *, least: int = 1, restarts: int = 10, random_state: int = 0
    ) -> Posterior:
        """Give the same result with :meth:`communities` in the place of coteries.

        ``coteries()``, ``confusion(coterie=1)``, ``annotators()`` and the report are then of the
        communities. For results whose model finds no coteries; the parameters are those of
        :meth:`communities`.

        Examples
        --------
        >>> import coterie
        >>> crowd = coterie.simulate("mixed", items=40, annotators=6, random_state=1)
        >>> posterior = coterie.DawidSkene().fit(crowd.annotations).posterior_
        >>> posterior.by_community().coteries()["size"].sum()
        np.int64(6)
        """
        from coterie.posterior.communities import community_partition

        found = self._found
        if found.abilities.coteries:
            raise CoterieError(
                f"{found.model} finds coteries while it fits; ask for coteries(), or for"
                " communities() to compare with"
            )
        return replace(found, groups=community_partition(found, least, restarts, random_state))

    @table
    def drift(self, *, margin: float = 0.1) -> pd.DataFrame:
        """One row per annotator, likeliest to have changed first (DynamicIBCC).

        Columns: annotator, n_labels; ``changed``, the probability that between some two of their
        labels their accuracy moved by more than ``margin``; ``static``, the probability that their
        walk has no steps at all, which stays near its prior where steps would be too small to see;
        ``after`` and ``when``, how many labels they had given when they changed, and the time of
        the next, if that is likely; their accuracy at the first and at the last label with 95 %
        intervals.
        """
        from coterie.posterior.drift import drift_table

        return drift_table(self._found, margin)

    @table
    def trajectory(self, annotator: Hashable) -> pd.DataFrame:
        """One row per moment of an annotator: time, accuracy, its 95 % interval (DynamicIBCC)."""
        from coterie.posterior.drift import trajectory_table

        return trajectory_table(self._found, annotator)
