"""What the sampling models share: parameters, checks, and the way from kernels to a Posterior."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from coterie.annotations import Annotations
from coterie.errors import DataError
from coterie.models.base import Estimator
from coterie.posterior import Posterior
from coterie.priors import CBCCPrior, HCBCCPrior, IBCCPrior
from coterie.run import Kernels, Plan, Step, sample
from coterie.run.progress import progress_bar

DRAWS = 1000
"""Draws that a chain keeps unless ``thin`` says otherwise."""

AnyPrior = IBCCPrior | CBCCPrior | HCBCCPrior


class PriorKernels(Kernels, Protocol):
    """A kernel module also packs its prior for numba."""

    def pack_prior(self, prior: Any) -> Any:
        """Give the prior as a NamedTuple of arrays."""


class SamplingEstimator(Estimator):
    """Base of the models that are sampled: a model names its prior and its kernels.

    Parameters
    ----------
    prior
        ``"paper"``, or a prior object of the model.
    sweeps
        Sweeps of each chain in all, burn-in included.
    burn_in
        Sweeps dropped at the start of each chain.
    chains
        Number of chains; they start far apart, so that their agreement means something.
    thin
        Sweeps between the draws that are kept; by default about 1,000 draws a chain are. Item
        probabilities are averaged over every sweep after burn-in whatever ``thin`` is.
    random_state
        Seed; the same seed gives the same bits.
    progress
        Show a progress bar.
    duplicates
        What an annotator's repeated labels of one item mean: "error", "first", "last", "keep".
    """

    _prior_type: ClassVar[type[AnyPrior]]

    def __init__(
        self,
        *,
        prior: AnyPrior | Literal["paper"] = "paper",
        sweeps: int = 10_000,
        burn_in: int = 3_000,
        chains: int = 4,
        thin: int | None = None,
        random_state: int | None = None,
        progress: bool = False,
        duplicates: str = "error",
    ) -> None:
        self.prior = prior
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.chains = chains
        self.thin = thin
        self.random_state = random_state
        self.progress = progress
        self.duplicates = duplicates

    @classmethod
    def _kernels(cls) -> PriorKernels:
        raise NotImplementedError  # pragma: no cover

    def _fit(self, annotations: Annotations) -> Posterior:
        plan = self._plan()
        prior = self._resolve_prior(annotations)
        kernels = self._kernels()
        seeds = np.random.SeedSequence(self.random_state).spawn(self.chains)
        result = sample(
            kernels, annotations.codes, kernels.pack_prior(prior), plan, seeds, self._watch
        )
        weights = np.asarray(prior.class_weights) + result.class_total
        return Posterior(
            annotations,
            result.item_probability,
            weights / weights.sum(),
            result.confusion_mean,
            draws=result.draws,
            model=type(self).__name__,
            settings=self.get_params(),
        )

    def _watch(self, number: int, steps: Iterator[Step]) -> Iterator[Step]:
        if not self.progress:
            return steps
        name = f"{type(self).__name__} chain {number + 1} of {self.chains}"
        return progress_bar(steps, self.sweeps, name)

    def _plan(self) -> Plan:
        """Check the lengths and give the plan of a chain."""
        name = type(self).__name__
        for parameter, least in (("sweeps", 1), ("burn_in", 0), ("chains", 1)):
            _check_whole(getattr(self, parameter), f"{name}({parameter}=...)", least)
        if self.burn_in >= self.sweeps:
            raise DataError(
                f"{name} drops burn_in={self.burn_in:,} of sweeps={self.sweeps:,} sweeps, which"
                " leaves nothing; raise sweeps or lower burn_in"
            )
        kept = self.sweeps - self.burn_in
        if self.thin is None:
            return Plan(self.sweeps, self.burn_in, max(1, kept // DRAWS))
        _check_whole(self.thin, f"{name}(thin=...)", 1)
        if self.thin > kept:
            raise DataError(
                f"{name} keeps every {self.thin:,}th of {kept:,} sweeps after burn-in, which"
                " leaves nothing; lower thin"
            )
        return Plan(self.sweeps, self.burn_in, self.thin)

    def _resolve_prior(self, annotations: Annotations) -> AnyPrior:
        kind = self._prior_type
        sizes = annotations.n_classes, annotations.n_answers
        if isinstance(self.prior, kind):
            return self.prior.resolve(*sizes)
        if isinstance(self.prior, str) and self.prior == "paper":
            return kind.paper(*sizes)
        raise DataError(
            f"{type(self).__name__} takes prior='paper' or a {kind.__name__}, got {self.prior!r}"
        )


def _check_whole(value: object, name: str, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise DataError(f"{name} must be a whole number of at least {least}, got {value!r}")
