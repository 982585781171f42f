"""A small run of hcBCC, and how tests make it, compare it and interrupt it."""

import math
import warnings

import coterie
from coterie.errors import ConvergenceWarning
from coterie.inference import chains as meeting_place

CROWD = coterie.simulate("mixed", items=60, annotators=10, random_state=0)
SETTINGS = {"sweeps": 400, "burn_in": 100, "chains": 3, "random_state": 4, "early_stop": False}


def fit(**changes):
    return coterie.HCBCC(**{**SETTINGS, **changes}).fit(CROWD.annotations).posterior_


def fit_quietly(**changes):
    """The same without a warning: a run so short has rarely converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(**changes)


def bits(posterior):
    """Everything that a run found, in one comparable heap."""
    draws = posterior.draws
    partition = () if draws.partition is None else (draws.partition, draws.n_coteries)
    arrays = [
        posterior.item_probability, posterior.confusion_mean, posterior.class_balance,
        draws.confusion, draws.class_balance, *partition, *draws.trace.values(),
    ]  # fmt: skip
    return [array.tobytes() for array in arrays]


def interrupt_after(monkeypatch, sweeps):
    """Press Ctrl-C when the first chain has done this many sweeps."""
    real = meeting_place.go_on

    def go_on(pool, chains, target, stop, bar):
        if chains[0].done >= sweeps:
            raise KeyboardInterrupt
        real(pool, chains, min(target, chains[0].done + 50), stop, bar)

    monkeypatch.setattr(meeting_place, "go_on", go_on)
    monkeypatch.setattr(meeting_place, "MEETING_SECONDS", math.inf)  # no other pauses
