"""Monte Carlo against exact values: every tolerance comes from the Monte Carlo error."""

import numpy as np
from arviz_stats.base import array_stats
from scipy import stats

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
    return np.std(draws) / np.sqrt(effective_size(draws))


def assert_means(draws, exact):
    """Means of chains (names of arrays) agree with exact values (names of numbers)."""
    assert draws.keys() == exact.keys()
    for name, chain in draws.items():
        error, mean = standard_error(chain), np.mean(chain)
        assert abs(mean - exact[name]) <= limit(len(draws)) * error + 1e-12, (
            f"{name}: {mean:.5f} for an exact {exact[name]:.5f}, standard error {error:.5f}"
        )


def assert_counts_fit(counts, expected):
    """Counts by cell (dictionaries) fit what is expected: chi-square, cells under 8 pooled."""
    assert counts.keys() <= {cell for cell, n in expected.items() if n > 0}
    large = [cell for cell, n in expected.items() if n >= 8]
    seen, wanted = [counts.get(cell, 0) for cell in large], [expected[cell] for cell in large]
    rest = sum(expected.values()) - sum(wanted)
    if rest > 1e-9:
        seen, wanted = [*seen, sum(counts.values()) - sum(seen)], [*wanted, rest]
    p_value = stats.chisquare(seen, wanted).pvalue
    assert p_value > FALSE_ALARM, f"chi-square p-value {p_value:.2g} of {len(seen)} cells"
