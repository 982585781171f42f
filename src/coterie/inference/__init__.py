"""Running the samplers: chains that can be trusted, interrupted and resumed."""

from coterie.inference.chain import Chain, Sampler
from coterie.inference.modes import Evidence, Mode, Verdict, judge_by_vote, judge_modes
from coterie.inference.plan import Plan, plan_for
from coterie.inference.protocol import (
    NO_HOOKS,
    Averages,
    Hooks,
    Kernels,
    Reported,
    matrices_as_found,
)
from coterie.inference.sample import Options, Sample, sample
from coterie.inference.settled import Outcome, Settled, settled_labels, settled_traces
from coterie.inference.start import Start, start_apart, start_at_vote

__all__ = [
    "NO_HOOKS",
    "Averages",
    "Chain",
    "Evidence",
    "Hooks",
    "Kernels",
    "Mode",
    "Options",
    "Outcome",
    "Plan",
    "Reported",
    "Sample",
    "Sampler",
    "Settled",
    "Start",
    "Verdict",
    "judge_by_vote",
    "judge_modes",
    "matrices_as_found",
    "plan_for",
    "sample",
    "settled_labels",
    "settled_traces",
    "start_apart",
    "start_at_vote",
]
