"""The first run on a machine compiles for a while: a second process helps.

``python -m coterie.cli.compile_early`` compiles it and leaves it in numba's cache.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from coterie.inference.cores import cores
from coterie.models import HCBCC, Consensus, MajorityVote
from coterie.models.base import Estimator
from coterie.numeric.jit import Compiling, is_kept, telling_of_compilation
from coterie.posterior import Draws, Posterior
from coterie.simulation import simulate

PATIENCE = 60.0
"""Seconds to wait at most for the other process; then we compile ourselves."""


@contextmanager
def compiling_ahead(model: Estimator) -> Iterator[Compiling]:
    """If its sampler must be compiled here, compile the rest in another process."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        if model.abilities.coteries and cores() > 1 and is_kept():
            command = [sys.executable, "-m", __name__, type(model).__name__]
            quiet = subprocess.DEVNULL
            started.append(subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet))

    with telling_of_compilation(start) as compiling:
        yield compiling
    for process in started:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()


def example() -> Posterior:
    """Make a result such as a sampler with coteries gives, without one."""
    annotations = simulate("mixed", annotators=12, items=30, random_state=0).annotations
    point = MajorityVote().fit(annotations).posterior_
    rng = np.random.default_rng(0)
    partition = rng.integers(0, 3, (2, 20, annotations.n_annotators), np.int32)
    shape = (2, 20, annotations.n_annotators, annotations.n_classes)
    draws = Draws(
        confusion=rng.dirichlet(np.ones(annotations.n_answers), shape).astype(np.float32),
        class_balance=rng.dirichlet(np.ones(annotations.n_classes), shape[:2]),
        partition=partition,
        n_coteries=np.full(shape[:2], 3),
    )
    return dataclasses.replace(point, draws=draws, method="gibbs", abilities=HCBCC.abilities)


def draw_matrices(posterior: Posterior) -> None:
    """Draw matrices as Consensus does at its end."""
    from coterie.kernels.keep import Streams
    from coterie.kernels.matrices import Matrices, draw_given_reported

    draws = posterior.draws
    assert draws is not None
    streams = Streams(*(np.random.default_rng(k) for k in range(len(Streams._fields))))
    matrices = Matrices(draws.confusion.copy(), posterior.confusion_mean.copy())
    probability = posterior.probabilities().to_numpy()
    draw_given_reported(matrices, probability, posterior.annotations.codes, streams)


def end_sweeps(posterior: Posterior) -> None:
    """Compile what ends the sweeps of Consensus, beside its sampler, which waits for it."""
    from coterie.inference.chain import Chain

    sampler = Consensus(sweeps=2, burn_in=1)._sampler(posterior.annotations)
    kernels: Any = SimpleNamespace(**vars(sampler.kernels))
    kernels.run_block = kernels.find_ending
    chain = Chain(dataclasses.replace(sampler, kernels=kernels), 0, np.random.SeedSequence(0))
    next(chain.steps(1))


def main(model: str) -> None:
    """Ask for what a model and the command line need beside the sampler and after it.

    What is needed last comes first: when the sampler is compiled, the process of the command
    begins at the other end.
    """
    posterior = example()
    if model == Consensus.__name__:
        end_sweeps(posterior)
    posterior.coteries()
    posterior.annotators()
    if model == Consensus.__name__:
        draw_matrices(posterior)
    posterior.cooccurrence()


if __name__ == "__main__":
    main(sys.argv[1])
