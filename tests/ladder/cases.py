"""A model, a small problem and an asymmetric prior: what the checks of the samplers run on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior
from reference import exact, joint
from reference.problem import THREE_CLASSES, TWO_CLASSES, TWO_REPEATED, Problem

MEAN_2 = [[0.6, 0.4], [0.25, 0.75]]
MEAN_2_OF_3 = [[0.5, 0.3, 0.2], [0.15, 0.6, 0.25]]
MEAN_3 = [[0.5, 0.2, 0.2, 0.1], [0.15, 0.55, 0.1, 0.2], [0.2, 0.1, 0.65, 0.05]]
RATES_2 = {"strength": [3.0, 2.0], "class_weights": [1.2, 0.7]}
RATES_3 = {"strength": [3.0, 2.0, 4.0], "class_weights": [1.2, 0.7, 0.9]}
ONE_ONE = Gamma(1.0, 1.0)


@dataclass(frozen=True)
class Case:
    """A model's name, its problem and its resolved prior."""

    model: str
    problem: Problem
    prior: Any

    @property
    def has_groups(self):
        return self.model != "ibcc"

    def posterior(self):
        """Exact p(z | Y) or p(z, q | Y)."""
        return getattr(exact, f"posterior_{self.model}")(self.problem, self.prior)

    def log_joint(self, z, q, alpha, beta, eta):
        """Log joint of everything that the model samples."""
        if self.model == "ibcc":
            return joint.log_joint_ibcc(self.problem, self.prior, z)
        if self.model == "cbcc":
            return joint.log_joint_cbcc(self.problem, self.prior, z, q, alpha)
        return joint.log_joint_hcbcc(self.problem, self.prior, z, q, alpha, beta, eta)


def hierarchical(mean, rates, **changes):
    """hcBCC's prior with the same numbers one level up."""
    settings = {
        "mean": mean,
        "mean_strength": rates["strength"],
        "strength": Gamma([5.0, 8.0, 6.0][: len(mean)], [1.0, 2.0, 2.5][: len(mean)]),
        "class_weights": rates["class_weights"],
        "concentration": ONE_ONE,
    }
    return HCBCCPrior(**settings | changes)


def case(model, problem, prior):
    return Case(model, problem, prior.resolve(problem.n_classes, problem.n_answers))


IBCC_2 = case("ibcc", TWO_CLASSES, IBCCPrior(MEAN_2, **RATES_2))
IBCC_3 = case("ibcc", THREE_CLASSES, IBCCPrior(MEAN_3, **RATES_3))
CBCC_2 = case("cbcc", TWO_CLASSES, CBCCPrior(MEAN_2, **RATES_2, concentration=ONE_ONE))
CBCC_3 = case("cbcc", THREE_CLASSES, CBCCPrior(MEAN_3, **RATES_3, concentration=ONE_ONE))
CBCC_FIXED = case("cbcc", TWO_CLASSES, CBCCPrior(MEAN_2, **RATES_2, concentration=0.6))
HCBCC_2 = case("hcbcc", TWO_CLASSES, hierarchical(MEAN_2, RATES_2))
HCBCC_3 = case("hcbcc", THREE_CLASSES, hierarchical(MEAN_3, RATES_3))
HCBCC_ONE_AUXILIARY = case("hcbcc", TWO_CLASSES, hierarchical(MEAN_2, RATES_2, auxiliaries=1))
IBCC_REPEATED = case("ibcc", TWO_REPEATED, IBCCPrior(MEAN_2_OF_3, **RATES_2))
HCBCC_REPEATED = case("hcbcc", TWO_REPEATED, hierarchical(MEAN_2_OF_3, RATES_2))

SMALL = (IBCC_2, CBCC_2, HCBCC_2)
REPEATED = (IBCC_REPEATED, HCBCC_REPEATED)
LARGER = (IBCC_3, CBCC_3, HCBCC_3)


def name(one):
    """Name of a case in a test's id."""
    return f"{one.model}-{one.problem.n_classes}classes"


def fixed_parameters(a_case):
    """Arbitrary cluster parameters: beta (clusters, T), eta (clusters, T, C)."""
    rng = np.random.default_rng(1)
    problem = a_case.problem
    n = problem.n_annotators + 3
    beta = rng.gamma(4.0, 1.0, (n, problem.n_classes))
    return beta, rng.dirichlet(np.full(problem.n_answers, 2.0), (n, problem.n_classes))
