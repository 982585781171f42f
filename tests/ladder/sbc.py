"""Simulation-based calibration: ranks of the truth among draws, and whether they are uniform."""

from dataclasses import replace

import numpy as np
from scipy import stats

from coterie.inference.verdicts import Settled

DRAWS, THIN, BINS = 31, 8, 8
SETTINGS = {"sweeps": 50 + DRAWS * THIN, "burn_in": 50, "thin": THIN, "chains": 1}
FALSE_ALARM = 1e-4


def unjudged(model):
    """The estimator, but nobody asks whether one short chain converged: half of a fit's time."""

    class Unjudged(type(model)):
        def after(self, people):
            return replace(super().after(people), settled=lambda outcome: Settled(True, None))

    return Unjudged(**model.get_params())


def rank(value, draws, rng):
    """Rank of a value among draws, ties broken at random."""
    tolerance = 1e-9 * (1 + abs(value))
    below = np.sum(draws < value - tolerance)
    equal = np.sum(np.abs(draws - value) <= tolerance)
    return below + rng.integers(0, equal + 1)


def assert_uniform(found, kind):
    """Ranks among ``DRAWS`` draws, by the name of the quantity, are uniform."""
    for name, of_one in found.items():
        counts = np.bincount(np.array(of_one) * BINS // (DRAWS + 1), minlength=BINS)
        p_value = stats.chisquare(counts).pvalue
        assert p_value > FALSE_ALARM, f"{kind}, {name}: p = {p_value:.2g}, {counts}"
