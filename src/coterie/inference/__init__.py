"""Running the samplers: chains that can be trusted, interrupted and resumed."""

from coterie.inference.chain import Chain, Kernels, Sampler
from coterie.inference.plan import Plan, plan_for
from coterie.inference.sample import Options, Sample, sample
from coterie.inference.start import clear_votes

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
