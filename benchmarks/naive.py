"""The same samplers, and Dawid-Skene, as anybody would first write them: what ours are measured by.

Every update is there, with the formulas of the paper and nothing to make it fast: no tables, no
ratios kept, no trace. Plain floats, hence for crowds without known or unlabelled items, of tens of
labels per item. It is a yardstick: change it only if it is wrong, and then record the shares anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

from coterie.data.codes import Codes
from coterie.priors import CBCCPrior, HCBCCPrior, IBCCPrior

PRIORS = {"ibcc": IBCCPrior, "cbcc": CBCCPrior, "hcbcc": HCBCCPrior}
CONCENTRATION_UPDATES = 5  # as in the paper


def compiled(function: Callable) -> Callable:
    """By numba as it comes."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


class State(NamedTuple):
    """Where a chain is. A label of annotator l is counted in matrix[l], drawn around base[l]."""

    truth: np.ndarray  # (items,)         z
    class_total: np.ndarray  # (T,)             items of each class, and their pseudo-counts
    said: np.ndarray  # (matrices, T, C)
    matrix: np.ndarray  # (annotators,)
    base: np.ndarray  # (annotators,)
    shape: np.ndarray  # (bases, T, C)    beta eta
    group: np.ndarray  # (annotators,)    q
    size: np.ndarray  # (slots,)         annotators in a group
    spare: np.ndarray  # (h,)             slots of hcBCC's auxiliary groups
    alpha: np.ndarray  # (1,)


class Base(NamedTuple):
    """hcBCC's prior of a cluster: eta ~ Dir(weight), beta ~ Gamma(shape, rate)."""

    weight: np.ndarray  # (T, C)
    shape: np.ndarray  # (T,)
    rate: np.ndarray  # (T,)


@compiled
def pick(weights, rng):
    """Draw an index in proportion to the weights."""
    left = rng.random() * weights.sum()
    for k in range(len(weights)):
        left -= weights[k]
        if left < 0:
            return k
    return len(weights) - 1


@compiled
def count_item(i, sign, state, data):
    """Take an item and its labels out of the counts, or put them back."""
    t = state.truth[i]
    state.class_total[t] += sign
    for k in range(data.item_start[i], data.item_start[i + 1]):
        state.said[state.matrix[data.item_annotator[k]], t, data.item_answer[k]] += sign


@compiled
def sweep_truth(state, data, rng, tally):
    """p(z[i] = t | rest): each label is scored, then counted, because labels may share a matrix."""
    weights = np.empty(data.n_classes)
    for i in range(len(state.truth)):
        labels = range(data.item_start[i], data.item_start[i + 1])
        count_item(i, -1, state, data)
        for t in range(data.n_classes):
            weights[t] = state.class_total[t]
            for k in labels:
                l, c = data.item_annotator[k], data.item_answer[k]
                said, shape = state.said[state.matrix[l], t], state.shape[state.base[l], t]
                weights[t] *= (said[c] + shape[c]) / (said.sum() + shape.sum())
                said[c] += 1
            for k in labels:
                state.said[state.matrix[data.item_annotator[k]], t, data.item_answer[k]] -= 1
        tally[i] += weights / weights.sum()
        state.truth[i] = pick(weights, rng)
        count_item(i, 1, state, data)


@compiled
def log_marginal(n, shape):
    """log p of counts (T, C) under Dirichlet rows of this shape."""
    total = 0.0
    for t in range(n.shape[0]):
        total += math.lgamma(shape[t].sum()) - math.lgamma(shape[t].sum() + n[t].sum())
        for c in range(n.shape[1]):
            total += math.lgamma(shape[t, c] + n[t, c]) - math.lgamma(shape[t, c])
    return total


@compiled
def exponentials(logs):
    """Weights from logs, the largest one."""
    return np.exp(logs - logs.max())


@compiled
def update_alpha(state, shape, rate, rng):
    """Escobar and West."""
    n, groups = len(state.group), np.count_nonzero(state.size)
    for _ in range(CONCENTRATION_UPDATES):
        below = rate - math.log(rng.beta(state.alpha[0] + 1, n))
        odds = (shape + groups - 1) / (n * below)
        more = rng.random() < odds / (1 + odds)
        state.alpha[0] = rng.standard_gamma(shape + groups - 1 + more) / below


@compiled
def sweep_shared(state, data, rng):
    """cBCC's annotators: the marginal likelihood of a group with them over that without them."""
    own = np.zeros(state.said.shape[1:], np.int64)
    slots = np.empty(len(state.group) + 1, np.int64)
    logs = np.empty(len(slots))
    for l in range(len(state.group)):
        own[:] = 0
        for k in range(data.annotator_start[l], data.annotator_start[l + 1]):
            own[state.truth[data.annotator_item[k]], data.annotator_answer[k]] += 1
        state.said[state.group[l]] -= own
        state.size[state.group[l]] -= 1
        n, empty = 0, -1
        for m in range(len(state.size)):
            if state.size[m] == 0:
                empty = m
                continue
            together = log_marginal(state.said[m] + own, state.shape[0])
            logs[n] = math.log(state.size[m]) + together
            logs[n] -= log_marginal(state.said[m], state.shape[0])
            slots[n] = m
            n += 1
        logs[n] = math.log(state.alpha[0]) + log_marginal(own, state.shape[0])
        slots[n] = empty
        state.group[l] = slots[pick(exponentials(logs[: n + 1]), rng)]
        state.said[state.group[l]] += own
        state.size[state.group[l]] += 1


@compiled
def draw_base(m, tables, decay, base, state, rng):
    """Draw beta eta of a cluster given its tables (T, C) and decay (T,); none: from the prior."""
    for t in range(len(decay)):
        row = state.shape[m, t]
        for c in range(len(row)):
            row[c] = rng.standard_gamma(base.weight[t, c] + tables[t, c])
        beta = rng.standard_gamma(base.shape[t] + tables[t].sum()) / (base.rate[t] + decay[t])
        row *= beta / row.sum()


@compiled
def sweep_alike(state, base, rng):
    """hcBCC's annotators: Reuse, with the auxiliary groups in ``spare``."""
    h, nothing = len(state.spare), np.zeros_like(base.weight)
    slots = np.empty(len(state.size), np.int64)
    logs = np.empty(len(slots))
    for l in range(len(state.group)):
        m = state.group[l]
        state.size[m] -= 1
        if state.size[m] == 0:
            state.spare[int(rng.random() * h)] = m
        n = 0
        for m in range(len(state.size)):
            if state.size[m] > 0:
                slots[n], logs[n] = m, math.log(state.size[m])
                n += 1
        slots[n : n + h], logs[n : n + h] = state.spare, math.log(state.alpha[0] / h)
        for k in range(n + h):
            logs[k] += log_marginal(state.said[l], state.shape[slots[k]])
        chosen = pick(exponentials(logs[: n + h]), rng)
        state.group[l] = slots[chosen]
        state.size[state.group[l]] += 1
        if chosen >= n:
            free = 0
            while state.size[free] > 0 or (state.spare == free).any():
                free += 1
            state.spare[chosen - n] = free
            draw_base(free, nothing, nothing[:, 0], base, state, rng)


@compiled
def sweep_bases(state, base, rng):
    """hcBCC's clusters: tables and decay of every member, then beta and eta; auxiliaries anew."""
    n_classes, n_answers = base.weight.shape
    tables, decay = np.zeros((n_classes, n_answers)), np.zeros(n_classes)
    for m in range(len(state.size)):
        tables[:], decay[:] = 0, 0
        for l in range(len(state.group)):
            if state.group[l] != m:
                continue
            for t in range(n_classes):
                n, beta = state.said[l, t].sum(), state.shape[m, t].sum()
                if n > 0:
                    decay[t] -= math.log(rng.beta(beta, n))
                for c in range(n_answers):
                    weight = state.shape[m, t, c]
                    for j in range(state.said[l, t, c]):
                        tables[t, c] += rng.random() * (weight + j) < weight
        if state.size[m] > 0 or (state.spare == m).any():
            draw_base(m, tables, decay, base, state, rng)


@compiled
def maximise(data, probability, tau, psi):
    """One iteration of Dawid-Skene; psi has shape (annotators, T, C)."""
    tau[:], psi[:] = 0, 0
    for i in range(len(probability)):
        tau += probability[i]
        for k in range(data.item_start[i], data.item_start[i + 1]):
            psi[data.item_annotator[k], :, data.item_answer[k]] += probability[i]
    tau /= tau.sum()
    for l in range(len(psi)):
        for t in range(len(tau)):
            psi[l, t] /= psi[l, t].sum()
    log_likelihood = 0.0
    for i in range(len(probability)):
        for t in range(len(tau)):
            probability[i, t] = tau[t]
            for k in range(data.item_start[i], data.item_start[i + 1]):
                probability[i, t] *= psi[data.item_annotator[k], t, data.item_answer[k]]
        total = probability[i].sum()
        log_likelihood += math.log(total)
        probability[i] /= total
    return log_likelihood


class Sampler:
    """A model on data, at rest between sweeps; it starts from a truth and a grouping."""

    def __init__(
        self, model: str, data: Codes, start: tuple[np.ndarray, np.ndarray], seed: int = 0
    ) -> None:
        self.model, self.data, self.rng = model, data, np.random.default_rng(seed)
        self.prior = PRIORS[model].paper(data.n_classes, data.n_answers)
        self.tally = np.zeros((len(start[0]), data.n_classes))
        self.clusters: list[int] = []
        truth, group = (np.array(codes, np.int64) for codes in start)
        n, everybody = len(group), np.arange(len(group))
        spare = self.prior.auxiliaries if model == "hcbcc" else 0
        matrix = group if model == "cbcc" else everybody
        said = np.zeros((n, data.n_classes, data.n_answers), np.int64)
        item = np.repeat(np.arange(len(truth)), np.diff(data.item_start))
        np.add.at(said, (matrix[data.item_annotator], truth[item], data.item_answer), 1)
        self.state = State(
            truth=truth,
            class_total=np.bincount(truth, minlength=data.n_classes) + self.prior.class_weights,
            said=said,
            matrix=matrix,
            base=group if model == "hcbcc" else np.zeros(n, np.int64),
            shape=self._shapes(n + spare),
            group=group,
            size=np.bincount(group, minlength=n + spare),
            spare=np.arange(n, n + spare),
            alpha=np.ones(1),
        )

    def _shapes(self, slots: int) -> np.ndarray:
        """Every slot's mean shape, or the one of all."""
        prior = self.prior
        if self.model != "hcbcc":
            return (np.asarray(prior.strength)[:, None] * prior.mean)[None].copy()
        beta = np.asarray(prior.strength.shape) / prior.strength.rate
        return np.repeat((beta[:, None] * prior.mean)[None], slots, axis=0)

    def run(self, sweeps: int) -> None:
        state, data, prior, rng = self.state, self.data, self.prior, self.rng
        if self.model == "hcbcc":
            weight = np.asarray(prior.mean_strength)[:, None] * prior.mean
            base = Base(weight, np.array(prior.strength.shape), np.array(prior.strength.rate))
        for _ in range(sweeps):
            sweep_truth(state, data, rng, self.tally)
            if self.model == "cbcc":
                sweep_shared(state, data, rng)
            if self.model == "hcbcc":
                sweep_alike(state, base, rng)
                sweep_bases(state, base, rng)
            if self.model != "ibcc":
                alpha = prior.concentration
                update_alpha(state, float(alpha.shape), float(alpha.rate), rng)
            self.clusters.append(int(np.count_nonzero(state.size)))

    def where(self) -> tuple[np.ndarray, np.ndarray]:
        """The truth and the grouping, from which another sampler can start."""
        return self.state.truth.copy(), self.state.group.copy()


def dawid_skene(data: Codes, probability: np.ndarray) -> Callable[[int], None]:
    """Iterations of Dawid-Skene from these probabilities, as a function of how many."""
    n_annotators = len(data.annotator_start) - 1
    tau = np.empty(data.n_classes)
    psi = np.empty((n_annotators, data.n_classes, data.n_answers))
    probability = probability.copy()

    def run(iterations: int) -> None:
        for _ in range(iterations):
            maximise(data, probability, tau, psi)

    return run
