"""Running the samplers: chains that can be trusted, interrupted and resumed."""

from coterie.run.chain import Chain, Kernels, Sampler
from coterie.run.plan import Plan, plan_for
from coterie.run.sample import Options, Sample, sample
from coterie.run.start import clear_votes

__all__ = [
    "Chain",
    "Kernels",
    "Options",
    "Plan",
    "Sample",
    "Sampler",
    "clear_votes",
    "plan_for",
    "sample",
]
