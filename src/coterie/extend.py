"""The door: everything that a new sampled model is made of, in one place.

docs/adding-a-model.md walks through it: a prior, a kernel, a thin model file.
"""

from coterie.abilities import Abilities, Method
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes
from coterie.inference import (
    Averages,
    Evidence,
    Hooks,
    Kernels,
    Mode,
    Outcome,
    Reported,
    Settled,
    Start,
    Verdict,
    judge_by_vote,
    judge_modes,
    settled_labels,
    settled_traces,
    start_apart,
    start_at_vote,
)
from coterie.kernels.gibbs.confusion import add_mean, draw_matrix
from coterie.kernels.gibbs.seats import Seats, new_seats, seat_everybody, write_partition
from coterie.kernels.keep import (
    Keep,
    Record,
    Streams,
    draw_is_due,
    finish_draw,
    keep_class_balance,
    keep_state,
    matrices_are_due,
)
from coterie.kernels.layout import Layout, PerDraw, PerItem, PerSweep
from coterie.kernels.record import Tally, Trace, note_classes
from coterie.kernels.truth.counts import starting_truth
from coterie.models import Estimator, SamplingEstimator, register
from coterie.numeric.choice import normalise, pick
from coterie.numeric.jit import kernel, part, piece
from coterie.posterior import DrawnArray, Draws, ItemNumbers, Posterior
from coterie.priors import Beta, Gamma, Prior
from coterie.priors.checks import Numbers, mean_matrix, per_class

__all__ = [
    "Abilities",
    "Annotations",
    "Averages",
    "Beta",
    "Codes",
    "DrawnArray",
    "Draws",
    "Estimator",
    "Evidence",
    "Gamma",
    "Hooks",
    "ItemNumbers",
    "Keep",
    "Kernels",
    "Layout",
    "Method",
    "Mode",
    "Numbers",
    "Outcome",
    "PerDraw",
    "PerItem",
    "PerSweep",
    "Posterior",
    "Prior",
    "Record",
    "Reported",
    "SamplingEstimator",
    "Seats",
    "Settled",
    "Start",
    "Streams",
    "Tally",
    "Trace",
    "Verdict",
    "add_mean",
    "draw_is_due",
    "draw_matrix",
    "finish_draw",
    "judge_by_vote",
    "judge_modes",
    "keep_class_balance",
    "keep_state",
    "kernel",
    "matrices_are_due",
    "mean_matrix",
    "new_seats",
    "normalise",
    "note_classes",
    "part",
    "per_class",
    "pick",
    "piece",
    "register",
    "seat_everybody",
    "settled_labels",
    "settled_traces",
    "start_apart",
    "start_at_vote",
    "starting_truth",
    "write_partition",
]
