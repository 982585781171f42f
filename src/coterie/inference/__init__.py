"""Running the samplers: chains that can be trusted, interrupted and resumed."""

from coterie.inference.chain import Chain, Sampler
from coterie.inference.modes import Evidence, Mode, Verdict, judge_modes
from coterie.inference.plan import Plan, plan_for
from coterie.inference.protocol import NO_HOOKS, Averages, Hooks, Kernels, Reported
from coterie.inference.sample import Options, Sample, sample
from coterie.inference.start import Start, clear_votes, start_apart

__all__ = [
    "NO_HOOKS",
    "Averages",
    "Chain",
    "Evidence",
    "Hooks",
    "Kernels",
    "Mode",
    "Options",
    "Plan",
    "Reported",
    "Sample",
    "Sampler",
    "Start",
    "Verdict",
    "clear_votes",
    "judge_modes",
    "plan_for",
    "sample",
    "start_apart",
]
