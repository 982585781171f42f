"""Monte Carlo against exact values: every tolerance comes from the Monte Carlo error."""

from collections import Counter

import numpy as np
from arviz_stats.base import array_stats
from scipy import stats

from coterie.kernels.record import new_tally, new_trace
from ladder.sampler import all_states, canonical, pack, read, run_block, start
from reference.exact import key

FALSE_ALARM = 1e-4  # a correct sampler fails a test this often, had the seed been free


def limit(n_comparisons):
    """Standard errors allowed: four, or more if there are many comparisons."""
    return max(4.0, float(stats.norm.isf(FALSE_ALARM / (2 * n_comparisons))))


def effective_size(draws):
    """Effective sample size of the mean of one chain; a constant counts in full."""
    draws = np.asarray(draws, float)
    if np.ptp(draws) == 0:
        return float(len(draws))
    return float(array_stats.ess(draws[None], chain_axis=0, draw_axis=1, method="mean"))


def standard_error(draws):
    """Monte Carlo standard error of the mean of one chain."""
    return np.std(draws) / np.sqrt(effective_size(draws))


def assert_means(draws, exact):
    """Means of chains (names of arrays) agree with exact values (names of numbers)."""
    assert draws.keys() == exact.keys()
    for name, chain in draws.items():
        error = standard_error(chain)
        off = abs(np.mean(chain) - exact[name])
        assert off <= limit(len(draws)) * error + 1e-12, (
            f"{name}: {np.mean(chain):.5f} for an exact {exact[name]:.5f}, {off / error:.1f} "
            "standard errors away"
        )


def assert_frequencies(visited, probabilities, log_p):
    """States visited, thinned to independence, have these exact probabilities (chi-square).

    ``log_p`` are series along the chain whose effective size says how far to thin.
    """
    thin = max(int(np.ceil(len(series) / effective_size(series))) for series in log_p)
    kept = visited[::thin]
    counts = Counter(kept)
    assert counts.keys() <= probabilities.keys()
    expected = {state: p * len(kept) for state, p in probabilities.items()}
    large = [state for state, n in expected.items() if n >= 8]
    assert len(large) >= min(10, len(probabilities)), "run longer: most cells are too small to test"
    seen = [counts[state] for state in large]
    wanted = [expected[state] for state in large]
    rest = len(kept) - sum(wanted)
    if rest > 1e-9:
        seen.append(len(kept) - sum(seen))
        wanted.append(rest)
    p_value = stats.chisquare(seen, wanted).pvalue
    assert p_value > FALSE_ALARM, f"chi-square p-value {p_value:.2g} from {len(kept)} draws"


class Chain:
    """A chain on a small problem, with what it visited."""

    def __init__(self, sampler, case, seed):
        self.sampler, self.case = sampler, case
        self.prior = pack(sampler, case)
        self.rng = np.random.default_rng(seed)
        self.state = start(sampler, case, *all_states(case)[0])
        self.scratch = sampler.model.new_scratch(self.state, case.problem.codes, self.prior)
        self.sweep(100, 0.0)

    def sweep(self, n, weight=1.0):
        """Make n sweeps; give their trace and tally."""
        data = self.case.problem.codes
        tally, trace = new_tally(data)._replace(weight=weight), new_trace(n, data.n_classes)
        model, state = self.sampler.model, self.state
        run_block(model, state, data, self.prior, self.rng, tally, trace, self.scratch)
        return tally, trace

    def visit(self, n_draws, thin):
        """Give the states after every ``thin`` sweeps, and the series that say how they mix."""
        visited, n_coteries, log_joint = [], [], []
        for _ in range(n_draws):
            _, trace = self.sweep(thin)
            z, q, *_ = read(self.case, self.state)
            visited.append(key(self.case.problem, z, q and canonical(q)))
            n_coteries.append(trace.n_coteries[-1])
            log_joint.append(trace.log_joint[-1])
        return visited, n_coteries, log_joint


def check_enumeration(sampler, case, n_draws=10_000, thin=2, seed=1):
    """The states that a chain visits have the exact posterior probabilities."""
    posterior = case.posterior()
    visited, n_coteries, log_joint = Chain(sampler, case, seed).visit(n_draws, thin)
    log_p = [np.log(posterior[state]) for state in visited]
    assert_frequencies(visited, posterior, [log_p, n_coteries, log_joint])
