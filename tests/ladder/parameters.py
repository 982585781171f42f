"""Checks of hcBCC's cluster parameters, beta and eta, given the auxiliary variables nu and s."""

import numpy as np
from scipy import stats

from ladder.checks import assert_equal_up_to_a_constant
from ladder.sampler import pack
from reference.joint import log_augmented

# Members of one cluster, their n[c] in one row; the last has no labels of that class.
MEMBERS = ((3, 1), (2, 2), (1, 0), (0, 0))
TABLES = ((2, 1), (1, 2), (1, 0), (0, 0))
NU = (0.7, 0.4, 0.55, 0.5)


def check_augmented_joint(sampler, case):
    """The draws of beta and eta have the densities that the augmented joint asks for."""
    parameters, prior = sampler.part("parameters"), pack(sampler, case).base
    for t in range(2):
        sums = parameters.new_sums(2, 2)
        sums.tables[:, t] = np.sum(TABLES, axis=0)
        decays = [-np.log(nu) for nu, n in zip(NU, MEMBERS, strict=True) if sum(n)]
        # Some summed as they are and some in logs, as if they were large.
        sums.decay[t], sums.log_decay[t] = decays[0], np.log(sum(decays[1:]))
        shape, log_rate = parameters.strength_posterior(t, sums, prior)
        betas, eta = [0.4, 2.0, 7.0], (0.35, 0.65)
        assert_equal_up_to_a_constant(
            stats.gamma.logpdf(betas, shape, scale=np.exp(-log_rate)),
            [log_augmented(MEMBERS, case.prior, t, beta, eta, NU, TABLES) for beta in betas],
        )
        shapes = [parameters.mean_posterior(c, t, sums, prior) for c in range(2)]
        etas = [(0.1, 0.9), (0.5, 0.5), (0.8, 0.2)]
        assert_equal_up_to_a_constant(
            [stats.dirichlet.logpdf(eta, shapes) for eta in etas],
            [log_augmented(MEMBERS, case.prior, t, 2.0, eta, NU, TABLES) for eta in etas],
        )
