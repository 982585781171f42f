"""What a question to a posterior needs of it, and the sentence if it is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import SAMPLED
from coterie.errors import CoterieError

if TYPE_CHECKING:
    from coterie.posterior.draws import Draws
    from coterie.posterior.posterior import Posterior
    from coterie.roles import Roles


class Requirements:
    """The methods of a posterior that give what a question needs, or say that it has none."""

    @property
    def _whole(self) -> Posterior:
        return cast("Posterior", self)

    def require_partitions(self) -> Draws:
        """Give the draws, which have partitions; an error if the model finds no coteries."""
        if self._whole.groups is not None:
            raise CoterieError(
                f"{self._whole.model} has one grouping of the annotators and no draws of it; fit a"
                " model that finds coteries, such as Consensus"
            )
        if not self._whole.abilities.coteries:
            raise CoterieError(
                f"{self._whole.model} finds no coteries; fit a model that does, such as Consensus"
            )
        return self.require_draws("coteries")

    def require_chains(self, what: str) -> Draws:
        """Give the draws, which have traces; an error if they are not those of a sampler."""
        draws = self.require_draws(what)
        if self._whole.method not in SAMPLED:
            raise CoterieError(
                f"{self._whole.model} has no chains, and so no {what}: its draws are those of an"
                " approximation; fit a model that is sampled, such as Consensus"
            )
        return draws

    def require_draws(self, what: str) -> Draws:
        """Give the draws; an error if a point estimate is asked for what needs them."""
        if not self._whole.abilities.uncertainty:
            raise CoterieError(
                f"{self._whole.model} gives a point estimate without {what}; fit a model with"
                " draws, such as Consensus"
            )
        return cast("Draws", self._whole.draws)

    def drawn(self, name: str) -> NDArray[np.float64] | None:
        """Give what the model draws of its own by this name; None where it draws no such thing.

        Shape (chains, draws, ...); ``draws.extra`` names the other axes.
        """
        if not self._whole.abilities.uncertainty:
            return None
        found = self.require_draws(name).extra.get(name)
        return None if found is None else found.values

    @property
    def chains_agree(self) -> bool:
        """Whether the chains that were kept agree; others may have been left out."""
        found = self._whole
        return found.converged or bool(
            found.run.get("left_out") and self.require_draws("chains").settled()
        )

    def require_roles(self, roles: Roles | None) -> Roles:
        """Give roles of coteries; an error if a point estimate, which has none, is asked."""
        if roles is None:
            self.require_draws("roles")
        assert roles is not None  # with draws there are roles
        return roles
