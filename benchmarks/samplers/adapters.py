"""The kernels of ``coterie`` that the benchmarks call, all in one place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie.data.codes import Codes
from coterie.data.votes import count_votes
from coterie.kernels.gibbs import cbcc, hcbcc, ibcc
from coterie.kernels.keep import Record, Streams, keep_nothing
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import CBCCPrior, HCBCCPrior, IBCCPrior

KERNELS = {"ibcc": ibcc, "cbcc": cbcc, "hcbcc": hcbcc}
PRIORS = {"ibcc": IBCCPrior, "cbcc": CBCCPrior, "hcbcc": HCBCCPrior}
NAMES = {"ibcc": "iBCC", "cbcc": "cBCC", "hcbcc": "hcBCC"}


class Dirichlets(NamedTuple):
    """iBCC's prior as plain arrays, for those who are not coterie."""

    class_weight: np.ndarray  # (T,)     eps mu
    weight: np.ndarray  # (T, C)   beta eta
    strength: np.ndarray  # (T,)     beta


def ibcc_prior(data: Codes) -> Dirichlets:
    prior = IBCCPrior.paper(data.n_classes, data.n_answers)
    weight = np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)
    return Dirichlets(np.array(prior.class_weights), weight, weight.sum(axis=1))


def count(truth: np.ndarray, data: Codes) -> np.ndarray:
    """Labels by annotator, true class and answer, shape (L, T, C)."""
    item = np.repeat(np.arange(len(truth)), np.diff(data.item_start))
    said = np.zeros((len(data.annotator_start) - 1, data.n_classes, data.n_answers), np.int32)
    np.add.at(said, (data.item_annotator, truth[item], data.item_answer), 1)
    return said


def vote(data: Codes) -> np.ndarray:
    return count_votes(data).argmax(axis=1).astype(np.int32)


class Sampler:
    """A model on data, at rest between blocks of sweeps."""

    def __init__(
        self, model: str, data: Codes, start: tuple[np.ndarray, np.ndarray], seed: int = 0
    ) -> None:
        self.model, self.data, self.kernels = model, data, KERNELS[model]
        self.rng = np.random.default_rng(seed)
        self.prior = self.kernels.pack_prior(PRIORS[model].paper(data.n_classes, data.n_answers))
        self.state = self.kernels.initial_state(data, self.prior, *start, self.rng)
        self.tally, self.streams = new_tally(data), Streams(self.rng, self.rng, self.rng)
        self.scratch = self.kernels.new_scratch(self.state, data, self.prior)
        self.clusters: list[float] = []

    def run(self, sweeps: int) -> Any:
        """Make sweeps, as a chain does; give the trace."""
        trace = new_trace(sweeps, self.data.n_classes)
        record = Record(self.tally, trace, keep_nothing(self.data))
        self.kernels.run_block(
            self.state, self.data, self.prior, self.streams, record, self.scratch
        )
        self.clusters += trace.n_coteries.tolist()
        return trace

    def where(self) -> tuple[np.ndarray, np.ndarray]:
        """The truth and the grouping, from which another sampler can start."""
        nobody = np.zeros(len(self.data.annotator_start) - 1, np.int32)
        return self.state.truth.copy(), getattr(self.state, "group", nobody).copy()


def one_group(data: Codes) -> tuple[np.ndarray, np.ndarray]:
    """Where the first chain starts: the vote, everybody together."""
    return vote(data), np.zeros(len(data.annotator_start) - 1, np.int32)


def truth_conditional(sampler: Sampler, i: int) -> np.ndarray:
    """p(z[i] | all else), shape (T,): the tally of a sweep in which all other items are gold."""
    truth = sampler.state.truth
    gold = truth.copy()
    gold[i] = -1
    gold.setflags(write=False)
    data = sampler.data._replace(gold=gold)
    lone = Sampler(sampler.model, data, sampler.where())
    lone.run(1)
    return lone.tally.probability[i]
