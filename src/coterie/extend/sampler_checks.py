"""What every sampled model promises of its chains: threads, checkpoints, stops in the middle."""

from __future__ import annotations

import numpy as np

from coterie.extend.case import Case, insist, insist_on_same, labels
from coterie.inference.chain import Chain
from coterie.inference.checkpoint import Checkpoint
from coterie.io import read
from coterie.models import SamplingEstimator


def check_threads(case: Case) -> None:
    """Insist that n_jobs changes nothing."""
    if "n_jobs" in case.model().get_params():
        one, two = (case.model(n_jobs=n).fit(labels()).posterior_ for n in (1, 2))
        insist_on_same(one, two, "in one thread as in two")


def check_checkpoint(case: Case) -> None:
    """Insist that a checkpoint changes nothing, and that a fit can go on from its end."""
    if "checkpoint" not in case.model().get_params():
        return
    expected = case.fit()
    for when in ("with a checkpoint", "going on from a checkpoint"):
        model = case.model(checkpoint=case.folder / "checkpoint")
        insist_on_same(model.fit(labels()).posterior_, expected, when)


def check_middle(case: Case) -> None:
    """Insist that a chain which is stopped, stored and restored goes on as if nothing had been."""
    model = case.model()
    if not isinstance(model, SamplingEstimator):
        return
    sampler = model._sampler(read(labels()))
    plan, path = sampler.plan, case.folder / "middle"
    straight, stopped, restored = (
        Chain(sampler, 0, np.random.SeedSequence(7)) for _ in range(3)
    )  # of one seed
    _run(straight, plan.end)
    _run(stopped, plan.burn_in + 5)
    Checkpoint(path, {}).write([stopped], 7)
    stored = Checkpoint(path, {}).read()
    insist(stored is not None, "the checkpoint was not written")
    assert stored is not None
    Checkpoint(path, {}).restore(stored, [restored])
    _run(restored, plan.end)
    where = "the state of a chain, not in scratch"
    found = {
        "truth": (straight.state.truth, restored.state.truth),
        "tally": (straight.tally.probability, restored.tally.probability),
        "confusion": (straight.kept.confusion, restored.kept.confusion),
    }
    for name, (one, other) in found.items():
        same = np.array_equal(one, other, equal_nan=True)
        insist(same, f"its {name} differs then; what a sweep needs of the one before belongs in"
               f" {where}")  # fmt: skip


def _run(chain: Chain, until: int) -> None:
    for _ in chain.steps(until):
        pass


CHECKS = (check_threads, check_checkpoint, check_middle)
