"""Sets of drawn partitions of several kinds, and all partitions of a few annotators."""

import numpy as np
from scipy.special import gammaln, xlogy

from coterie.numeric.dirichlet import draw_crp


def draw_uniform(n, n_draws, rng):
    """Every set partition equally likely (Stam, 1983): nothing to agree on, many local optima."""
    boxes = np.arange(1, 60)
    log_weight = n * np.log(boxes) - gammaln(boxes + 1)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return np.array([rng.integers(rng.choice(boxes, p=weight), size=n) for _ in range(n_draws)])


def draw_restaurant(n, n_draws, rng):
    return np.array([draw_crp(n, rng.choice([0.3, 1.0, 3.0]), rng) for _ in range(n_draws)])


def stray(group, share, rng):
    """Send a share of the annotators to random seats."""
    n = len(group)
    return np.where(rng.random(n) < share, rng.integers(n, size=n), group)


def draw_noisy(n, n_draws, rng):
    group, share = draw_crp(n, 1.0, rng), rng.choice([0.1, 0.3, 0.5])
    return np.array([stray(group, share, rng) for _ in range(n_draws)])


def draw_two_modes(n, n_draws, rng):
    modes = [draw_crp(n, 1.0, rng), draw_crp(n, 2.0, rng)]
    return np.array([stray(modes[rng.integers(2)], 0.15, rng) for _ in range(n_draws)])


KINDS = {
    "uniform": draw_uniform,
    "restaurant": draw_restaurant,
    "noisy": draw_noisy,
    "two modes": draw_two_modes,
}


def all_partitions(n):
    """Every partition of n annotators, canonical, shape (Bell(n), n)."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*codes, m] for codes in found for m in range(max(codes) + 2)]
    return np.array(found, np.int32)


def all_losses(draws, groups, loss):
    """The expected loss of every partition, from tables of blocks by clusters."""
    n = draws.shape[1]
    block = (groups[:, :, None] == np.arange(n)).astype(float)
    total = np.zeros(len(groups))
    for draw in draws:
        _, codes = np.unique(draw, return_inverse=True)
        cluster = (codes[:, None] == np.arange(n)).astype(float)
        both = block.transpose(0, 2, 1) @ cluster
        total += sum(side * value(x, loss) for side, x in ((1, block.sum(1)), (-2, both)))
        total += value(cluster.sum(0), loss)
    scale = 1 / n if loss == "vi" else 2 / (n * (n - 1))
    return total * scale / len(draws)


def value(sizes, loss):
    worth = xlogy(sizes, sizes) if loss == "vi" else sizes * (sizes - 1) / 2
    return worth.reshape(*sizes.shape[:1], -1).sum(-1) if sizes.ndim > 1 else worth.sum()
