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
from coterie.inference.protocol import Hooks, matrices_as_found
from coterie.models import HCBCC, MODELS, MajorityVote, SamplingEstimator
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
            kind = type(model)
            place = f"{kind.__module__}:{kind.__qualname__}"
            command = [sys.executable, "-m", __name__, place]
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


def turn_matrices(posterior: Posterior, hooks: Hooks) -> None:
    """Turn matrices into what users see, as the model does at its end."""
    from coterie.kernels.keep import Streams
    from coterie.kernels.matrices import Matrices

    draws = posterior.draws
    assert draws is not None
    streams = Streams(*(np.random.default_rng(k) for k in range(len(Streams._fields))))
    matrices = Matrices(draws.confusion.copy(), posterior.confusion_mean.copy())
    probability = posterior.probabilities().to_numpy()
    hooks.matrices(matrices, probability, posterior.annotations.codes, streams)


def compile_apart(posterior: Posterior, model: SamplingEstimator) -> None:
    """Compile what a model has compiled beside its sampler, which waits for it."""
    from coterie.inference.chain import Chain

    sampler = model.set_params(sweeps=2, burn_in=1)._sampler(posterior.annotations)
    for compiles in sampler.hooks.apart:
        kernels: Any = SimpleNamespace(**vars(sampler.kernels))
        kernels.run_block = compiles
        chain = Chain(dataclasses.replace(sampler, kernels=kernels), 0, np.random.SeedSequence(0))
        next(chain.steps(1))


def main(place: str) -> None:
    """Ask for what a model and the command line need beside the sampler and after it.

    What is needed last comes first: when the sampler is compiled, the process of the command
    begins at the other end.

    Parameters
    ----------
    place
        Where the class of the model is, ``"module:Class"``.
    """
    posterior, model = example(), MODELS.find(place)()
    hooks = model.hooks() if isinstance(model, SamplingEstimator) else Hooks()
    if isinstance(model, SamplingEstimator):
        compile_apart(posterior, model)
    posterior.coteries()
    posterior.annotators()
    if hooks.matrices is not matrices_as_found:
        turn_matrices(posterior, hooks)
    posterior.cooccurrence()


if __name__ == "__main__":
    main(sys.argv[1])
