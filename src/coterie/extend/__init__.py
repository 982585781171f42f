"""The door: everything that a new model is made of, and checked by, in one place.

docs/adding-a-model.md walks through it: a prior, its people, a thin model.
"""

from coterie.abilities import Abilities, Method, Takes
from coterie.data.annotations import Annotations
from coterie.extend.conformance import check_model
from coterie.extend.exact import check_sampler, exact_probabilities
from coterie.inference.sample import Afterwards, Averages, Reported
from coterie.inference.verdicts import (
    Evidence,
    Mode,
    Outcome,
    Settled,
    Verdict,
    judge_by_vote,
    judge_modes,
    settled_labels,
    settled_traces,
)
from coterie.kernels.people import Crowd, OwnPeople, People, SeatedPeople, SimilarPeople, Streams
from coterie.kernels.space import Space, classes_alone, of_known_kind, with_kinds, with_subtypes
from coterie.kernels.vote import Mixing
from coterie.models import Estimator, SamplingEstimator, register
from coterie.numeric.dirichlet import log_dirichlet, pick
from coterie.posterior import DrawnArray, Draws, ItemNumbers, Posterior
from coterie.priors import Beta, Gamma, Prior
from coterie.priors.base import Numbers, concentration, mean_matrix, per_class

__all__ = [
    "Abilities", "Afterwards", "Annotations", "Averages", "Beta", "Crowd", "DrawnArray",
    "Draws", "Estimator", "Evidence", "Gamma", "ItemNumbers", "Method", "Mixing", "Mode",
    "Numbers", "Outcome", "OwnPeople", "People", "Posterior", "Prior", "Reported",
    "SamplingEstimator", "SeatedPeople", "Settled", "SimilarPeople", "Space", "Streams",
    "Takes", "Verdict", "check_model", "check_sampler", "classes_alone", "concentration",
    "exact_probabilities", "judge_by_vote", "judge_modes", "log_dirichlet", "mean_matrix",
    "of_known_kind", "per_class", "pick", "register", "settled_labels", "settled_traces",
    "with_kinds", "with_subtypes",
]  # fmt: skip
