"""Consensus: hcBCC with hard items and a learnt base; what is people's, and what is reported.

q ~ CRP(alpha), w ~ Dir, d[m] ~ Beta on points, beta[m] ~ Gamma(a, b), eta[m, t] ~ Dir(phi b[m, t])
with b[m, t, c] = d[m] 1[c = t] + (1 - d[m]) w[c], Psi[l, t] ~ Dir(beta[m] eta[m, t]) with m = q[l];
pi, rho, v ~ Dir, z[i] ~ pi, k[i] ~ rho, and a label y of item i comes from Psi[l, z] with
probability 1 - lam[k] (g = 1), else from v.

Counted in ``said`` are the labels with g = 1; the others are in ``guessed``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from coterie.data.codes import Codes
from coterie.kernels import people, regroup
from coterie.kernels.collapsed import draw_tables
from coterie.kernels.people import Crowd, SeatedPeople, Seats, SimilarPeople, Streams
from coterie.kernels.quick import tempered_skills
from coterie.kernels.space import classes_alone
from coterie.kernels.vote import Mixing, mix
from coterie.numeric import Array, BoolArray, FloatArray, IntArray, State
from coterie.numeric.dirichlet import log_dirichlet, log_gamma_draws, log_sequence, pick
from coterie.priors import ConsensusPrior

LEAST_SHAPE = 1e-30  # strength that is kept at least: single precision may not underflow


class ConsensusPeople(SimilarPeople):
    """The people of Consensus, of a resolved prior whose class weights are known.

    Classes that no gold item has, ``free_class``, may be exchanged. Kept are the model's own
    matrices, or else the shapes beta eta that reported ones are drawn from.
    """

    of_coteries: ClassVar[tuple[str, ...]] = ("log_strength", "log_mean", "known")

    def __init__(
        self, prior: ConsensusPrior, crowd: Crowd, free_class: Array, own_matrices: bool
    ) -> None:
        space = classes_alone(np.array(prior.class_weights, np.float64))
        SeatedPeople.__init__(self, crowd, space, prior.concentration)
        n = prior.knowledge_points
        self.point = (np.arange(n) + 0.5) / n
        log_share = (prior.knowledge.a - 1) * np.log(self.point)
        log_share += (prior.knowledge.b - 1) * np.log1p(-self.point)
        self.log_share = log_share - np.logaddexp.reduce(log_share)
        self.phi, self.guess_weight = float(prior.mean_strength), np.array(prior.guess_weights)
        self.shape = np.array([float(np.asarray(prior.strength.shape))])  # one beta for all classes
        self.rate = np.array([float(np.asarray(prior.strength.rate))])
        self.auxiliaries, self.free_class = prior.auxiliaries, np.asarray(free_class)
        self.own_matrices = own_matrices
        self.guessing = np.array(prior.guessing, np.float64)
        self.kind_weight = np.array(prior.kind_weights)
        self.hard_weight = np.array(prior.hard_guess_weights)
        self.work = self.work * len(self.guessing)
        self.right = np.eye(crowd.n_answers, self.space.n_classes, dtype=bool)

    def start(self, group: IntArray, rng: Generator) -> State:
        """Draw alpha, w, d, beta and eta from their priors; a sweep draws all but alpha anew."""
        state = SeatedPeople.start(self, group, rng)
        state["log_guess"] = log_dirichlet(self.guess_weight, rng, axis=0)
        return state | self.fresh(state, people.count_groups(state["group"]), rng)

    def fresh(self, state: State, n: int, rng: Generator) -> State:
        """Draw d, beta and eta of n coteries from the prior, given w."""
        known = pick(np.broadcast_to(self.log_share, (n, len(self.point))), rng)
        log_weight = self.log_base(state, known)
        log_g = log_gamma_draws(np.tile(self.shape, (n, 1)), rng)
        return {
            "known": known.astype(np.int32),
            "log_strength": log_g - np.log(self.rate),
            "log_mean": log_dirichlet(np.exp(log_weight), rng, 1, log_weight),
        }

    def log_base(self, state: State, known: Array) -> FloatArray:
        """Give log phi b[m, c, t], (len(known), C, T), which is finite where w underflows."""
        d, log_guess = self.point[known][:, None, None], state["log_guess"]
        log_guessed = np.log1p(-d) + log_guess[:, None]
        log_b = np.where(self.right, np.logaddexp(np.log(d), log_guessed), log_guessed)
        return np.asarray(math.log(self.phi) + log_b)

    def base_mean(self, state: State) -> FloatArray:
        d = float((self.point * np.exp(self.log_share)).sum())
        guess = np.exp(state["log_guess"])[:, None]
        return d * self.right + (1 - d) * guess

    def base(self, state: State) -> regroup.Base:
        return regroup.Base.learnt(
            self.shape, self.rate, self.phi, self.point, self.log_share, state["log_guess"],
            self.space.n_classes,
        )  # fmt: skip

    def draw(self, state: State, rng: Generator) -> FloatArray:
        self.draw_parameters(state, rng)
        self.exchange_classes(state, rng)
        return self.draw_matrices(state, rng)

    def draw_parameters(self, state: State, rng: Generator) -> None:
        """Draw nu and S, beta; U and K, d and w; eta.

        nu[l, t]   ~ Beta(beta[m], n[l, t])  where n[l, t] > 0
        S[m, t, c] = sum over members of Antoniak(n[l, t, c], beta[m] eta[m, t, c])
        beta[m]    ~ Gamma(a + S[m], b - sum over members and t of log nu[l, t])
        U[m, t, c] ~ Antoniak(S[m, t, c], phi b[m, t, c])
        K[m, t]    ~ Binomial(U[m, t, t], d[m] / b[m, t, t])
        d[m]       in proportion to p(d) d^K[m] (1 - d)^(U[m] - K[m]) on its points
        w          ~ Dir(weights + sum over m, t of U[m, t, c] - sum over m of K[m, c])
        eta[m, t]  ~ Dir(phi b[m, t] + S[m, t])
        """
        weight = np.exp(people.log_weight_of(state))
        tables = draw_tables(state["said"], state["group"], weight, rng)
        log_rate = np.logaddexp.reduce(  # b is in every class's: of all classes it is there once
            people.draw_log_rate(state, np.zeros(1), rng), axis=1, keepdims=True
        )
        log_rate = np.logaddexp(np.log(self.rate), log_rate)
        log_g = log_gamma_draws(self.shape + tables.sum(axis=(1, 2))[:, None], rng)
        state["log_strength"] = log_g - log_rate
        self.draw_base(state, tables, rng)
        log_weight = self.log_base(state, state["known"])
        logs = np.where(tables > 0, 0.0, log_weight)  # of what is counted nothing underflows
        state["log_mean"] = log_dirichlet(np.exp(log_weight) + tables, rng, 1, logs)

    def draw_base(self, state: State, tables: Array, rng: Generator) -> None:
        """Draw d of every coterie, and w, given the tables of their members."""
        weight, n_classes = np.exp(self.log_base(state, state["known"])), self.space.n_classes
        each = np.arange(len(tables), dtype=np.int32)
        draws = draw_tables(tables, each, weight, rng)
        own = np.diagonal(draws, axis1=1, axis2=2)  # (M, T)
        share = self.phi * self.point[state["known"]][:, None]
        right = np.diagonal(weight, axis1=1, axis2=2)
        knew = rng.binomial(own, np.minimum(share / right, 1.0))
        known, guessed = knew.sum(axis=1), draws.sum(axis=(1, 2)) - knew.sum(axis=1)
        logs = self.log_share + known[:, None] * np.log(self.point)
        logs = logs + guessed[:, None] * np.log1p(-self.point)
        state["known"] = pick(logs, rng).astype(np.int32)
        shape = self.guess_weight + draws.sum(axis=(0, 2))
        shape[:n_classes] -= knew.sum(axis=0)
        state["log_guess"] = log_dirichlet(shape, rng, axis=0)

    def exchange_classes(self, state: State, rng: Generator) -> None:
        """Propose to exchange a random pair of classes, two if there are more than one pair.

        Items of class a become b and b become a, with the rows of the counts and of eta: the labels
        are as probable as before. pi and the matrices are integrated out (they are drawn next), so
        what changes is p(z) and p(eta | w), d summed over its points; it is drawn afterwards.
        Mirrored modes are so one step away. Items need not be told: their cells are drawn next.
        """
        free, n = self.free_class, len(self.free_class)
        for _ in range(0 if n < 2 else 1 if self.space.n_classes == 2 else 2):
            first, second = int(rng.random() * n), int(rng.random() * (n - 1))
            pair = [free[first], free[second + (second >= first)]]
            base, log_mean, total = self.base(state), state["log_mean"], state["cell_total"]
            swapped = log_mean.copy()
            swapped[:, :, pair] = log_mean[:, :, pair[::-1]]
            weight = self.space.steps[0].weight[0]
            before, after = base.log_points(log_mean), base.log_points(swapped)
            ratio = gammaln(weight[pair] + total[pair[::-1]]).sum()
            ratio -= gammaln(weight[pair] + total[pair]).sum()
            logs = np.logaddexp.reduce(after, axis=1) - np.logaddexp.reduce(before, axis=1)
            ratio += logs.sum()
            if math.log1p(-rng.random()) < ratio:
                state["log_mean"], state["known"] = swapped, pick(after, rng).astype(np.int32)
                for name in ("said", "cell_total"):
                    state[name] = state[name].copy()
                    state[name][..., pair] = state[name][..., pair[::-1]]

    def draw_guesses(self, state: State, rng: Generator) -> tuple[FloatArray, FloatArray]:
        """Draw rho and v, what items of every kind are given."""
        kinds = log_dirichlet(self.kind_weight + state["kind_total"], rng, axis=0)
        hard = log_dirichlet(self.hard_weight + state["guessed"], rng, axis=0)
        return np.exp(kinds), np.exp(hard)

    def move(self, state: State, sweep: int, rng: Generator) -> float:
        """Move people as hcBCC does; guesses have a probability too."""
        return super().move(state, sweep, rng) + log_sequence(state["guessed"], self.hard_weight)

    def log_rest(self, state: State) -> float:
        """Give the log probability of everything but the labels and the items' classes."""
        a, b, log_beta = self.shape, self.rate, state["log_strength"]
        log_p = a * np.log(b) - gammaln(a) + (a - 1) * log_beta - b * np.exp(log_beta)
        log_w = self.log_base(state, state["known"])
        log_gamma = gammaln(np.exp(log_w) + 1) - log_w  # a weight may be too small for it
        of_mean = ((np.exp(log_w) - 1) * state["log_mean"] - log_gamma).sum(axis=(1, 2))
        of_mean += self.space.n_classes * math.lgamma(self.phi)
        found = log_p.sum() + of_mean.sum() + self.log_share[state["known"]].sum()
        weight = self.guess_weight
        found += ((weight - 1) * state["log_guess"] - gammaln(weight)).sum() + gammaln(weight.sum())
        found += log_sequence(state["kind_total"], self.kind_weight)
        source, lam = state["source"], self.guessing
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = source * np.log(np.stack([lam, 1 - lam], axis=1))
        found += logs[source > 0].sum()
        return SeatedPeople.log_rest(self, state) + float(found)

    def matrices(self, state: State, seats: Seats, streams: Streams) -> FloatArray:
        """Draw everybody's matrix, or give the shapes beta eta that it will be drawn from."""
        if self.own_matrices:
            return super().matrices(state, seats, streams)
        strength = np.maximum(np.exp(seats.log_strength), LEAST_SHAPE)[seats.seat]
        return np.asarray(strength[:, None] * np.exp(seats.log_mean)[seats.seat])

    def check(self, state: State) -> None:
        super().check(state)
        if not np.isin(state["known"], np.arange(len(self.point))).all():
            raise ValueError("known is out of range")
        if not np.isclose(np.exp(state["log_guess"]).sum(), 1):
            raise ValueError("log_guess is out of range")
        own, guesses = int(state["said"].sum()), int(state["guessed"].sum())
        if tuple(state["source"].sum(axis=0).tolist()) != (guesses, own):
            raise ValueError("source does not follow from the counts")


def class_weights(votes: IntArray, gold: IntArray, prior: ConsensusPrior) -> FloatArray:
    """Give ``class_base + class_pull * N * f[t]``, f from the votes and fixed before sampling.

    f[t] is proportional to ``class_smoothing`` plus the items that t wins: an item with a label
    among the classes counts for those with most of its votes, in equal parts, gold for its class.
    N is the number of such items; others, with extra answers only or with nothing, count nowhere.
    """
    wins = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    known = np.flatnonzero(gold >= 0)
    wins[known] = False
    wins[known, gold[known]] = True
    n_modal, n_classes = wins.sum(axis=1), votes.shape[1]
    # How many items t wins, by the number of classes that share them: whole numbers sum alike in
    # any order.
    shared = np.stack(
        [np.bincount(n_modal[wins[:, t]], minlength=n_classes + 1) for t in range(n_classes)]
    )
    won = prior.class_smoothing + (shared[:, 1:] / np.arange(1, n_classes + 1)).sum(axis=1)
    n_items = np.count_nonzero(n_modal)
    return np.asarray(prior.class_base + prior.class_pull * n_items * won / won.sum())


def mix_members(
    probability: FloatArray, votes: IntArray, data: Codes, mixing: Mixing
) -> FloatArray:
    """Mix probabilities, (items, classes), with the votes and a skill model of the data.

    Gold and items without labels stay.
    """
    skill = tempered_skills(data, votes) if mixing.skill_share > 0 else None
    mixed = mix(probability, votes, mixing, skill)
    as_is = (data.gold >= 0) | (np.diff(data.item_start) == 0)
    return np.where(as_is[:, None], probability, mixed)


Counted = Callable[[int, int], Iterable[IntArray]]
"""Gives the counts of labels (annotators, C, T) under so many draws of all classes, from one on."""


def draw_given_reported(
    draws: Array, mean: FloatArray, heard: BoolArray, counted: Counted,
    streams: Streams,
) -> None:  # fmt: skip
    """Turn Dirichlet shapes beta eta into draws of matrices, in place, and write their mean.

    In every draw z[i] ~ the reported probabilities, Psi[l, t] ~ Dir(beta eta[m, t] + n[l, t]) with
    beta and eta of the annotator's coterie in that draw, n counting labels by that z: what is said
    of people follows what is reported, and does not feed back into labels.

    Draws are (draws, annotators, T, C); those who are not ``heard`` keep their mean, and have a
    stream of their own.
    """
    mean[heard] = 0.0
    for place, said in enumerate(counted(0, len(draws))):
        shape = draws[place].astype(np.float64)
        shape[heard] += said[heard].swapaxes(1, 2)
        mean[heard] += (shape / shape.sum(axis=2, keepdims=True))[heard] / len(draws)
        for some, rng in ((heard, streams.draws), (~heard, streams.spare)):
            draws[place][some] = np.exp(log_dirichlet(shape[some], rng, 2))
