"""What a checkpoint says is input: could a chain of this run have come to be there?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.data.annotations import Array
from coterie.inference.chain import Chain
from coterie.inference.plan import Plan
from coterie.inference.protocol import matrices_as_found

SLACK = 1e-5
"""Of sums of probabilities, relative: they are added up one by one, and some have 32 bits."""


def check_progress(facts: Mapping[str, Any], used: Array, plan: Plan, n_seats: int) -> None:
    """Check how far a chain is, and that it has kept as much as it must have by then."""
    done, n_coteries = facts["done"], facts["n_coteries"]
    if type(done) is not int or not 0 <= done <= plan.end:
        raise ValueError(f"done {done!r}")
    if type(n_coteries) is not int or not 0 <= n_coteries <= n_seats:
        raise ValueError(f"n_coteries {n_coteries!r}")
    sweeps = max(0, done - plan.burn_in)
    draws = sweeps // plan.thin
    if used.tolist() != [sweeps, draws, draws // plan.matrix_thin]:
        raise ValueError(f"kept {used.tolist()} of {done} sweeps")


def check_values(chain: Chain) -> None:
    """Check every number of a chain that has been restored; raise ValueError."""
    state, sampler = chain.state, chain.sampler
    data = chain.data
    n_items, n_annotators = len(sampler.data.gold), len(data.annotator_start) - 1
    for name, array in state._asdict().items():
        _require(not np.isnan(array).any(), name)
    labelled = np.diff(data.item_start) > 0
    truth = state.truth
    _require(_within(truth, -1, data.n_classes), "truth")
    _require((truth[labelled] >= 0).all(), "truth")
    _require((truth[data.gold >= 0] == data.gold[data.gold >= 0]).all(), "truth of gold items")
    if sampler.coteries:
        _require(_within(state.group, -1, len(state.size)), "group")
        seated = state.group.reshape(n_annotators, -1) >= 0  # one seat each, or one per kind
        _require(seated == (np.diff(data.annotator_start) > 0)[:, None], "group")
    sampler.hooks.check(state, data, sampler.prior)
    _check_tally(chain)
    kept = chain.kept
    sweeps, draws, matrices = map(int, kept.used)
    for name, array in kept.trace._asdict().items():
        _require(not np.isnan(array[:sweeps]).any(), f"trace of {name}")
    seats = chain.n_seats
    _require(_within(kept.trace.n_coteries[:sweeps], 0, seats + 1), "trace of n_coteries")
    _require(_within(kept.trace.class_total[:sweeps], 0, n_items + 1), "trace of class_total")
    _require(_within(kept.partition[:draws], 0, max(n_annotators, 1)), "partition")
    _require(_within(kept.n_coteries[:draws], 0, seats + 1), "n_coteries")
    _require(_between(kept.vote_agreement[:draws], 1), "vote_agreement")
    if sampler.hooks.matrices is matrices_as_found:
        _require(_sum_to(kept.confusion[:matrices], 1), "confusion")
    else:  # the model keeps here what its matrices are drawn from
        _require(_is_weight(kept.confusion[:matrices]), "confusion")
    _require(_sum_to(kept.class_balance[:matrices], 1), "class_balance")
    _require(_sum_to(kept.confusion_sum, draws), "confusion_sum")
    _require(np.isfinite(kept.per_draw[:matrices]), "per_draw")


def _check_tally(chain: Chain) -> None:
    tally, sweeps = chain.tally, float(chain.kept.used[0])
    _require(tally.sweeps == sweeps, "tally of sweeps")
    _require(_sum_to(tally.probability, sweeps), "probability")
    _require(np.isfinite(tally.per_item), "per_item")


def _within(codes: Array, least: int, end: int) -> bool:
    return bool(((codes >= least) & (codes < end)).all())


def _between(numbers: Array, most: float) -> bool:
    return bool(((numbers >= 0) & (numbers <= most)).all())  # false also for what is no number


def _sum_to(numbers: Array, total: float) -> bool:
    """Say whether these are probabilities, as many times as ``total`` added up."""
    slack = max(total, 1) * SLACK
    if not _between(numbers, total + slack):
        return False
    return bool((np.abs(numbers.sum(axis=-1, dtype=np.float64) - total) <= slack).all())


def _is_weight(numbers: Array) -> bool:
    return bool((np.isfinite(numbers) & (numbers >= 0)).all())


def _require(condition: Any, name: str) -> None:
    if not np.all(condition):
        raise ValueError(f"{name} is not what a chain can have")
