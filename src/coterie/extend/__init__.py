"""The door: everything that a new model is made of, and checked by, in one place.

docs/adding-a-model.md walks through it: a prior, a kernel, a thin model file.
"""

from coterie.abilities import Abilities, Method, Takes
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes
from coterie.extend.conformance import check_model
from coterie.extend.exact import check_sampler, exact_probabilities
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
from coterie.kernels.gibbs.ended import Ended, carry_groups, carry_nothing
from coterie.kernels.gibbs.groups import (
    Concentration,
    close_group,
    log_partition,
    pack_concentration,
    starting_concentration,
    starting_groups,
    update_concentration,
)
from coterie.kernels.gibbs.seats import (
    Seats,
    add_newcomers,
    count_people,
    new_seats,
    seat_everybody,
    share_of_new,
    write_partition,
)
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
from coterie.kernels.matrices import Matrices
from coterie.kernels.mixing import Mixing
from coterie.kernels.record import Tally, Trace, note_classes
from coterie.kernels.shapes import Shapes, shapes_of
from coterie.kernels.truth.counts import count_answers, starting_truth
from coterie.models import Estimator, SamplingEstimator, register
from coterie.numeric.choice import normalise, pick
from coterie.numeric.draws import draw_dirichlet
from coterie.numeric.jit import kernel, part, piece
from coterie.posterior import DrawnArray, Draws, ItemNumbers, Posterior
from coterie.priors import Beta, Gamma, Prior
from coterie.priors.base import concentration
from coterie.priors.checks import Numbers, mean_matrix, per_class

__all__ = [
    "Abilities",
    "Annotations",
    "Averages",
    "Beta",
    "Codes",
    "Concentration",
    "DrawnArray",
    "Draws",
    "Ended",
    "Estimator",
    "Evidence",
    "Gamma",
    "Hooks",
    "ItemNumbers",
    "Keep",
    "Kernels",
    "Layout",
    "Matrices",
    "Method",
    "Mixing",
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
    "Shapes",
    "Start",
    "Streams",
    "Takes",
    "Tally",
    "Trace",
    "Verdict",
    "add_mean",
    "add_newcomers",
    "carry_groups",
    "carry_nothing",
    "check_model",
    "check_sampler",
    "close_group",
    "concentration",
    "count_answers",
    "count_people",
    "draw_dirichlet",
    "draw_is_due",
    "draw_matrix",
    "exact_probabilities",
    "finish_draw",
    "judge_by_vote",
    "judge_modes",
    "keep_class_balance",
    "keep_state",
    "kernel",
    "log_partition",
    "matrices_are_due",
    "mean_matrix",
    "new_seats",
    "normalise",
    "note_classes",
    "pack_concentration",
    "part",
    "per_class",
    "pick",
    "piece",
    "register",
    "seat_everybody",
    "settled_labels",
    "settled_traces",
    "shapes_of",
    "share_of_new",
    "start_apart",
    "start_at_vote",
    "starting_concentration",
    "starting_groups",
    "starting_truth",
    "update_concentration",
    "write_partition",
]
