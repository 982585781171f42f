"""The one result object, and what is read off it."""

from coterie.posterior.draws import DrawnArray, Draws, ItemNumbers
from coterie.posterior.posterior import Posterior
from coterie.posterior.store import load

__all__ = ["DrawnArray", "Draws", "ItemNumbers", "Posterior", "load"]
