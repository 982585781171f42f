"""Pictures of a Posterior for papers (matplotlib, the extra ``plots``)."""

from coterie.plots.plots import Plots

__all__ = ["Plots"]
