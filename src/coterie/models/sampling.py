"""What the sampling models share: parameters, checks, and the way from kernels to a Posterior."""

from __future__ import annotations

import hashlib
import os
from typing import Any, ClassVar

import numpy as np

from coterie.abilities import Abilities, Method
from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError
from coterie.files.json_values import to_json
from coterie.inference import (
    NO_HOOKS,
    Hooks,
    Kernels,
    Options,
    Sampler,
    plan_for,
    sample,
)
from coterie.kernels.vote import clear_votes, count_votes
from coterie.models.base import Estimator
from coterie.posterior import Posterior
from coterie.priors import Prior

ELSEWHERE = ("prior", "n_jobs", "progress", "checkpoint", "duplicates")
"""Settings that a checkpoint need not share, or shares by what becomes of them."""


class SamplingEstimator(Estimator):
    """Base of the models that are sampled: a model names its prior and its kernels, and is done.

    It says so by ``prior_type`` and :meth:`kernels`, what it can do by ``abilities``, and where it
    departs from the others by :meth:`hooks`: docs/adding-a-model.md walks through it.

    Parameters
    ----------
    prior
        The name of a prior, such as ``"paper"``, or a prior object of the model.
    sweeps
        Sweeps of each chain at most, burn-in included.
    burn_in
        Sweeps dropped at the start of each chain.
    early_stop
        Stop before ``sweeps`` when the chains have converged: R-hat <= 1.01 and 400 effective
        draws of the log joint, the number of coteries, alpha and the class totals, looked at every
        500 sweeps after burn-in. False is the paper's run.
    chains
        Number of chains; they start far apart, so that their agreement means something.
    thin
        Sweeps between the draws that are kept; by default about 1,000 draws per chain are. Item
        probabilities are averaged over every sweep after burn-in whatever ``thin`` is.
    random_state
        Seed; the same seed gives the same bits.
    n_jobs
        Threads; None takes all cores. It changes the time only, never the result.
    progress
        Show a progress bar where somebody looks: on a terminal, in a notebook.
    checkpoint
        A file to keep the run in; a later fit with the same data and settings goes on from it.
    duplicates
        What an annotator's repeated labels of one item mean: "error", "first", "last", "keep".
    """

    method: ClassVar[Method] = "gibbs"
    abilities: ClassVar[Abilities] = Abilities(uncertainty=True)
    prior_type: ClassVar[type[Prior]]

    def __init__(
        self,
        *,
        prior: Prior | str = "paper",
        sweeps: int = 10_000,
        burn_in: int = 3_000,
        early_stop: bool = True,
        chains: int = 4,
        thin: int | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        progress: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        duplicates: str = "error",
    ) -> None:
        self.prior = prior
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.early_stop = early_stop
        self.chains = chains
        self.thin = thin
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.checkpoint = checkpoint
        self.duplicates = duplicates

    def kernels(self) -> Kernels:
        """Give the module of the kernels, imported here: nobody else waits for it."""
        raise NotImplementedError  # pragma: no cover

    def hooks(self) -> Hooks:
        """Say where the model departs from the others; most do nowhere."""
        return NO_HOOKS

    def pack_prior(self, annotations: Annotations) -> Any:
        """Give what the kernels know beside the labels, as a NamedTuple of arrays.

        That is the prior. Features, times or kinds of the items would join it here.
        """
        return self.kernels().pack_prior(self.resolve_prior(annotations))

    def _fit(self, annotations: Annotations) -> Posterior:
        self._check()
        sampler = self._sampler(annotations)
        prior, codes, layout = sampler.prior, sampler.data, sampler.layout
        found, converged, facts = sample(sampler, self._options(), self._identity(annotations))
        reported = sampler.hooks.report(found.averages, layout, codes, prior)
        own = found.averages.item_probability
        weights = prior.class_weight + found.class_total
        return Posterior(
            annotations,
            reported.item_probability,
            weights / weights.sum(),
            found.confusion_mean,
            draws=found.draws,
            raw_probability=None if reported.item_probability is own else own,
            item_numbers=reported.item_numbers,
            model=type(self).__name__,
            method=self.method,
            abilities=self.abilities,
            converged=converged,
            settings=self.get_params(),
            run=facts,
        )

    def _sampler(self, annotations: Annotations) -> Sampler:
        """Put together what is sampled."""
        kernels, hooks, codes = self.kernels(), self.hooks(), annotations.codes
        prior = self.pack_prior(annotations)
        layout = hooks.layout(codes, prior)
        cells = layout.n_draw_columns
        return Sampler(
            kernels=kernels,
            data=codes,
            prior=prior,
            plan=plan_for(codes, self.sweeps, self.burn_in, self.thin, more_cells=cells),
            vote=clear_votes(count_votes(codes), codes.gold),
            coteries=self.abilities.coteries,
            hooks=hooks,
            layout=layout,
        )

    def _options(self) -> Options:
        return Options(
            self.chains,
            self.random_state,
            self.early_stop,
            self.n_jobs,
            self.progress,
            self.checkpoint,
            type(self).__name__,
        )

    def _identity(self, annotations: Annotations) -> dict[str, Any]:
        """Say what a checkpoint must share with this fit, by the names users know."""
        if self.checkpoint is None:
            return {}
        params = self.get_params().items()
        settings = {name: to_json(value, or_text=True) for name, value in params}
        for name in ELSEWHERE:
            settings.pop(name, None)
        return {
            "data": checksum(annotations),
            "model": type(self).__name__,
            "prior": self.resolve_prior(annotations).checksum(),
            **settings,
        }

    def _check(self) -> None:
        """Check the lengths of the chains."""
        name = type(self).__name__
        for parameter, least in (("sweeps", 1), ("burn_in", 0), ("chains", 1)):
            _check_whole(getattr(self, parameter), f"{name}({parameter}=...)", least)
        if self.random_state is not None:
            _check_whole(self.random_state, f"{name}(random_state=...)", 0)
        if self.n_jobs is not None and self.n_jobs != -1:
            _check_whole(self.n_jobs, f"{name}(n_jobs=...)", 1)
        if self.burn_in >= self.sweeps:
            raise DataError(
                f"{name} drops {self.burn_in:,} of {self.sweeps:,} sweeps, which leaves nothing",
                remedy=["raise ", Argument("sweeps"), " or lower ", Argument("burn_in")],
            )
        if self.thin is not None:
            _check_whole(self.thin, f"{name}(thin=...)", 1)
            if self.thin > self.sweeps - self.burn_in:
                raise DataError(
                    f"{name} keeps every {self.thin:,}th of {self.sweeps - self.burn_in:,} sweeps"
                    " after burn-in, which leaves nothing",
                    remedy=["lower ", Argument("thin")],
                )

    def resolve_prior(self, annotations: Annotations) -> Prior:
        """Give the prior with every field written out for these data."""
        kind = self.prior_type
        named = kind.named()
        prior = named.get(self.prior) if isinstance(self.prior, str) else self.prior
        if not isinstance(prior, kind):
            names = " or ".join(f"prior={name!r}" for name in named)
            raise DataError(
                f"{type(self).__name__} takes {names} or a {kind.__name__}, got {self.prior!r}"
            )
        return prior.resolve(annotations.n_classes, annotations.n_answers)


def _check_whole(value: object, name: str, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise DataError(f"{name} must be a whole number of at least {least}, got {value!r}")


def checksum(annotations: Annotations) -> str:
    """Give a checksum of the labels, the gold and the words they stand for."""
    digest = hashlib.sha256()
    for array in annotations.codes[:7]:
        digest.update(np.ascontiguousarray(array).tobytes())
    for words in (annotations.items, annotations.annotators, annotations.answers):
        digest.update(repr(words.tolist()).encode())
    return digest.hexdigest()
