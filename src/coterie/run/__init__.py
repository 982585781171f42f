"""Running the samplers: one chain, and several of them into draws."""

from coterie.run.chain import Kernels, Plan, Step, chain
from coterie.run.sample import Sample, sample

__all__ = ["Kernels", "Plan", "Sample", "Step", "chain", "sample"]
