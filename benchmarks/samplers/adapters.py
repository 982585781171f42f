"""What the benchmarks call of ``coterie``'s samplers, all in one place."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from benchmarks.samplers import problems
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes, count_votes
from coterie.inference.chain import count_truth, make_chain
from coterie.inference.sample import split_columns
from coterie.inference.shards import Threads
from coterie.models import make_model
from coterie.priors import IBCCPrior

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
    return np.ascontiguousarray(count_truth(truth, data, data.n_classes)["said"].swapaxes(1, 2))


def vote(data: Codes) -> np.ndarray:
    return count_votes(data).argmax(axis=1).astype(np.int32)


class Sampler:
    """A chain as fits run it, at rest between blocks of sweeps; its result is never asked for.

    Parameters
    ----------
    model
        Its name, or an estimator.
    data
        The labels.
    start
        Classes and groups; None: where the chain of this number starts.
    seed, number
        Of the chain.
    """

    def __init__(
        self, model: Any, data: Codes | Annotations,
        start: tuple[np.ndarray, np.ndarray] | None = None, seed: int = 0, number: int = 0,
    ) -> None:  # fmt: skip
        annotations = data if isinstance(data, Annotations) else problems.annotations(data)
        self.model, self.data = model, annotations.codes
        made = make_model(model) if isinstance(model, str) else copy(model)
        if isinstance(model, str) and made.get_params().get("sampler") == "auto":
            made.set_params(sampler="collapsed")  # however many labels there are
        sampler = made.set_params(burn_in=0)._sampler(annotations)
        items = sampler.blocks and Threads(0).open(sampler.blocks, sampler.sizes)
        self.chain = make_chain(sampler, number, np.random.SeedSequence(seed), items)
        self.clusters: list[int] = []
        if start is not None:
            truth, group = (np.array(codes, np.int32) for codes in start)
            found = {"truth": truth, **count_truth(truth, self.data, self.data.n_classes)}
            found |= self.chain.people.start(group, self.chain.streams.moves)
            state = self.chain.state
            state |= {name: found[name] for name in state if name in found}

    def run(self, sweeps: int) -> dict[str, np.ndarray]:
        """Make sweeps; give what is noted of each."""
        parts, end = [], self.chain.done + sweeps
        while self.chain.done < end:
            parts.append(self.chain._advance(end - self.chain.done))
            self.chain.done += len(parts[-1]["log_joint"])
        noted = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        self.clusters += noted.get("n_coteries", np.zeros(0)).tolist()
        return noted

    def sums(self) -> np.ndarray:
        """The probabilities of the classes, summed over sweeps, shape (items, T)."""
        self.chain.rest()
        return split_columns(self.chain.sums, self.chain.sampler)[0].copy()

    def where(self) -> tuple[np.ndarray, np.ndarray]:
        """The truth and the grouping, from which another sampler can start."""
        state, nobody = self.chain.state, np.zeros(len(self.data.annotator_start) - 1, np.int32)
        return state["truth"].copy(), state.get("group", nobody).copy()


def one_group(data: Codes) -> tuple[np.ndarray, np.ndarray]:
    """Where the first chain starts: the vote, everybody together."""
    return vote(data), np.zeros(len(data.annotator_start) - 1, np.int32)


def truth_conditional(sampler: Sampler, i: int) -> np.ndarray:
    """p(z[i] | all else), shape (T,): the tally of a sweep in which all other items are gold."""
    truth, group = sampler.where()
    gold = truth.copy()
    gold[i] = -1
    gold.setflags(write=False)
    lone = Sampler(sampler.model, sampler.data._replace(gold=gold), (truth, group))
    lone.run(1)
    return lone.sums()[i]
