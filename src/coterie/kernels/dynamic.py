"""The people of DynamicIBCC: everybody's matrix walks at random from moment to moment.

A row is an annotator at a moment. For class t it breaks a stick, first for answer t, then for the
others in their order o: with s the logistic function,

    Psi[r, o[j], t] = s(v[r, j, t])  product over i < j of  1 - s(v[r, i, t]).

At an annotator's first moment v is normal, matched to the Dirichlet of iBCC; from one moment to the
next v grows by N(0, q[l] step[r]). The drift q[l] is on a grid, 0 (who does not change) with a
probability of its own. A label that comes to stick j and ends there, or goes on, is a factor
s(v) or s(-v); given omega ~ PG(1, v) for each of them (Polson, Scott and Windle, 2013) it is
Gaussian in v, exp(kappa v - omega v^2 / 2) with kappa = 1/2 or -1/2, and walks can be filtered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, polygamma

from coterie.data.codes import Times, annotator_of, item_order
from coterie.kernels.people import Crowd, Kept, People, Streams
from coterie.kernels.space import classes_alone
from coterie.numeric import Array, FloatArray, IntArray, LongArray, State
from coterie.numeric.compile import entry
from coterie.numeric.dirichlet import pick
from coterie.priors import DynamicPrior

CUT = 0.64  # where the halves of the proposal for Polya-Gamma numbers meet
LEFT = 2 * math.sqrt(2 * CUT / math.pi) * math.exp(-0.5 / CUT)  # its size below, hardly tilted


@dataclass(frozen=True, eq=False)
class Course:
    """When annotators labelled what: their moments, which lie in a row."""

    moment: IntArray  # (labels,)   of the labels by annotator and time
    moment_of_label: IntArray  # (labels,)   of the labels by item
    moment_start: LongArray  # (annotators + 1,)   moments of annotator l
    step: FloatArray  # (moments,)   since the one before; 0 for the first
    n_labels: FloatArray  # (moments,)


def course_of(times: Times, clock: str, unit: float, step_size: int) -> Course:
    """Give the course of everybody's labels; ``step_size`` of them, or equal times, are a moment.

    Steps count labels if that is the clock, else time in units.
    """
    who = annotator_of(times)
    rank = np.arange(len(who)) - times.annotator_start[who]
    first = rank == 0
    new = first | (np.append(-np.inf, times.time[:-1]) != times.time)
    number = np.cumsum(new) - 1  # moments by equal times
    starts = np.flatnonzero(new)
    if step_size > 1:  # and so many of them together
        position = number - number[times.annotator_start[who]]
        new = first | (new & (position % step_size == 0))
        number, starts = np.cumsum(new) - 1, np.flatnonzero(new)
    n_labels = np.bincount(number, minlength=len(starts)).astype(np.float64)
    if clock == "labels":
        step = np.append(0.0, n_labels[:-1])
    else:
        step = np.append(0.0, np.diff(times.time[starts])) / unit
    step[np.flatnonzero(first[starts])] = 0.0
    of_label = number[item_order(times)].astype(np.int32)
    counts = np.bincount(who[starts], minlength=len(times.annotator_start) - 1)
    moment_start = np.concatenate([[0], np.cumsum(counts)])
    return Course(number.astype(np.int32), of_label, moment_start, step, n_labels)


class DynamicPeople(People):
    """The people half of a sweep: given what they said, omega, drifts, walks and so matrices."""

    watched: ClassVar[tuple[str, ...]] = ("n_static",)
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "static": ("annotator",),
        "accuracy_at": ("moment",),
    }

    def __init__(self, prior: DynamicPrior, crowd: Crowd, course: Course) -> None:
        super().__init__(crowd, classes_alone(np.array(prior.class_weights)))
        first, n_drifts = course.moment_start, len(prior.drift)
        others = (1 - prior.static_weight) / max(n_drifts - 1, 1)
        self.n_rows, self.rows = len(course.step), course.moment_of_label
        self.n_extra = len(first) - 1 + self.n_rows
        self.course, self.drift = course, np.array(prior.drift)
        self.log_drift = np.log([prior.static_weight, *[others] * (n_drifts - 1)])
        self.order = stick_order(crowd.n_classes, crowd.n_answers)
        shape = (np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)).T
        self.mean, self.variance = match_sticks(look_up(shape[None], self.order)[0])
        self.heard = np.flatnonzero(np.diff(first))  # who has labels
        self.first = first[self.heard]
        labels = np.add.reduceat(course.n_labels, self.first) if len(self.first) else np.zeros(0)
        self.share = course.n_labels / np.repeat(labels, np.diff(first)[self.heard])

    def start(self, group: IntArray, rng: Generator) -> State:
        walk = np.broadcast_to(self.mean, (self.n_rows, *self.mean.shape)).copy()
        drift = np.zeros(len(self.course.moment_start) - 1, np.int32)
        return {"drift": drift, "walk": walk, "log_chance": log_matrices(walk, self.order)}

    def draw(self, state: State, rng: Generator) -> FloatArray:
        came, ended = count_sticks(state["said"], self.order)
        omega = draw_omega(came, state["walk"], rng)
        kappa = ended - came / 2
        state["drift"] = self.draw_drift(omega, kappa, rng)
        state["walk"] = self.draw_walk(state["drift"], omega, kappa, rng)
        state["log_chance"] = log_matrices(state["walk"], self.order)
        return state["log_chance"]

    def move(self, state: State, sweep: int, rng: Generator) -> float:
        """Nobody belongs with anybody; log p(labels) is given the matrices."""
        return float((state["said"] * state["log_chance"]).sum())

    def log_rest(self, state: State) -> float:
        """Give log p(q); there is no density of the walks."""
        return float(self.log_drift[state["drift"][self.heard]].sum())

    def weigh_drifts(self, omega: FloatArray, kappa: FloatArray) -> FloatArray:
        """Give log p(q, Y | omega), walks integrated out, shape (annotators, drifts)."""
        every = np.tile(self.drift, (len(self.course.moment_start) - 1, 1))
        return np.asarray(self.log_drift + self.filter(every, omega, kappa)[2])

    def draw_drift(self, omega: FloatArray, kappa: FloatArray, rng: Generator) -> IntArray:
        """Draw q as its place on the grid; who has no labels stays where everybody starts."""
        drift = np.zeros(len(self.course.moment_start) - 1, np.int32)
        drift[self.heard] = pick(self.weigh_drifts(omega, kappa)[self.heard], rng)
        return drift

    def draw_walk(
        self, drift: IntArray, omega: FloatArray, kappa: FloatArray, rng: Generator
    ) -> FloatArray:
        q, normal = self.drift[drift], rng.standard_normal(omega.shape)
        mean, variance, _ = self.filter(q[:, None], omega, kappa)
        sample_walks(self.course.moment_start, self.course.step, q, mean, variance, normal)
        return normal

    def filter(
        self, q: FloatArray, omega: FloatArray, kappa: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Filter everybody's walks; give means and variances, of the last q, and log evidence."""
        mean, variance, evidence = np.empty_like(omega), np.empty_like(omega), np.zeros(q.shape)
        filter_walks(
            self.course.moment_start, self.course.step, q, self.mean, self.variance, omega, kappa,
            mean, variance, evidence,
        )  # fmt: skip
        return mean, variance, evidence

    def trace(self, state: State, log_labels: float) -> dict[str, Any]:
        static = float(np.count_nonzero(state["drift"][self.heard] == 0))
        return {**super().trace(state, log_labels), "n_static": static}

    def seat_everybody(self, state: State, spare: Generator) -> FloatArray:
        """Give everybody's matrix: given a draw they are known, and the mean is the matrix.

        At moments of many labels it weighs more. Who has no labels gets one from the prior, by a
        stream of their own, so that they change nobody's bits.
        """
        n_annotators, (_, *cells) = len(self.course.moment_start) - 1, state["log_chance"].shape
        normal = spare.standard_normal((n_annotators - len(self.heard), *self.mean.shape))
        found, others = np.empty((n_annotators, *cells)), np.ones(n_annotators, np.bool_)
        others[self.heard] = False
        walk = self.mean + np.sqrt(self.variance) * normal
        found[others] = np.exp(log_matrices(walk, self.order))
        if len(self.heard):
            parts = np.exp(state["log_chance"]) * self.share[:, None, None]
            found[self.heard] = np.add.reduceat(parts, self.first, axis=0)
        return found

    def means(self, state: State, seats: FloatArray) -> FloatArray:
        return seats

    def matrices(self, state: State, seats: FloatArray, streams: Streams) -> FloatArray:
        return seats

    def extra(self, state: State, drawn: Array, shares: Array, balance: Array) -> Kept:
        """Give who does not change, and how good everybody is at every moment."""
        right = np.exp(np.diagonal(state["log_chance"], axis1=1, axis2=2))  # (rows, classes)
        static = (state["drift"] == 0).astype(np.float64)
        return {"static": static, "accuracy_at": (right * balance).sum(axis=1)}

    def check(self, state: State) -> None:
        if not ((state["drift"] >= 0) & (state["drift"] < len(self.drift))).all():
            raise ValueError("drift is out of range")
        if not np.isfinite(state["walk"]).all():
            raise ValueError("walk is not finite")


def stick_order(n_classes: int, n_answers: int) -> LongArray:
    """Give the answers in the order of the sticks, shape (C, T): a class's own first."""
    own = [[t, *(c for c in range(n_answers) if c != t)] for t in range(n_classes)]
    return np.array(own, np.int64).reshape(n_classes, n_answers).T


def match_sticks(shape: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give mean and variance of the logits of the sticks, shape (C - 1, T), of Dirichlet rows."""
    own, later = shape[:-1], np.cumsum(shape[::-1], axis=0)[::-1][1:]
    return digamma(own) - digamma(later), polygamma(1, own) + polygamma(1, later)


def look_up(array: Array, place: LongArray) -> Array:
    """Give array[r, place[c, t], t] of every row, answer or stick, and class, (rows, C, T)."""
    flat = (place * place.shape[1] + np.arange(place.shape[1])).ravel()
    # "clip" is the mode that does not go through a buffer: no place is out of range.
    cells: Array = array.reshape(len(array), place.size).take(flat, axis=1, mode="clip")
    return cells.reshape(array.shape)


def count_sticks(said: IntArray, order: LongArray) -> tuple[IntArray, IntArray]:
    """Count the labels that came to each stick, and that ended there, shape (rows, C - 1, T)."""
    ended = look_up(said, order)
    came = ended.copy()
    for j in range(len(order) - 2, -1, -1):
        came[:, j] += came[:, j + 1]
    return came[:, :-1], ended[:, :-1]


def log_matrices(walk: FloatArray, order: LongArray) -> FloatArray:
    """Give log Psi by answer, shape (rows, C, T), from v, shape (rows, C - 1, T)."""
    here = np.minimum(walk, 0) - np.log1p(np.exp(-np.abs(walk)))  # log s(v)
    by_place, left = np.empty((len(walk), *order.shape)), np.zeros((len(walk), order.shape[1]))
    for j in range(len(order) - 1):
        by_place[:, j] = left + here[:, j]
        left += here[:, j] - walk[:, j]  # log s(-v) = log s(v) - v
    by_place[:, -1] = left
    return look_up(by_place, np.argsort(order, axis=0))


def draw_omega(came: IntArray, walk: FloatArray, rng: Generator) -> FloatArray:
    """Draw omega | v, summed over the labels that came to a stick; zero where none did."""
    return draw_polya_gamma(came.ravel(), walk.ravel(), rng).reshape(walk.shape)


@entry
def draw_polya_gamma(count: IntArray, tilt: FloatArray, rng: Generator) -> FloatArray:
    """Draw PG(count, tilt), exactly, as sums of PG(1, tilt): Devroye's series.

    4 PG(1, 2 z) has a density in proportion to a[0](x) exp(-z^2 x / 2) times an alternating series,
    1 - 3 p + 5 p^3 - 7 p^6 + ..., of which the terms left out are below 1e-26. The proposal is what
    stands before the series, in halves: above the cut an exponential, below it the inverse of a
    squared normal number, or an inverse Gaussian where z is large.
    """
    out = np.zeros(len(count))
    for k in range(len(count)):
        todo = count[k]
        if todo == 0:
            continue
        z = 0.5 * abs(tilt[k])
        rate = math.pi**2 / 8 + 0.5 * z * z
        right, left = 0.5 * math.pi / rate * math.exp(-rate * CUT), 2 * math.exp(-z)
        tilted = left < LEFT
        left = min(left, LEFT)
        while todo > 0:
            wait = -math.log1p(-rng.random())
            if rng.random() * (left + right) < right:
                x = CUT + wait / rate
            elif tilted:
                y = 2 * wait * math.cos(2 * math.pi * rng.random()) ** 2 / z  # N(0, 1)^2 / z
                x = (1 + 0.5 * y - math.sqrt(y + 0.25 * y * y)) / z
                if rng.random() * (1 + z * x) > 1:
                    x = 1 / (z * z * x)
                if x > CUT:
                    continue
            else:
                x = CUT / (1 + CUT * wait) ** 2
                if -math.log1p(-rng.random()) < 0.5 * (CUT * wait * wait + z * z * x):
                    continue
            p = math.exp(-4 / x) if x <= CUT else math.exp(-math.pi * math.pi * x)
            if rng.random() < 1 - 3 * p + 5 * p**3 - 7 * p**6:
                out[k] += 0.25 * x
                todo -= 1
    return out


@entry
def filter_walks(
    first: LongArray, step: FloatArray, q: FloatArray, start_mean: FloatArray,
    start_variance: FloatArray, omega: FloatArray, kappa: FloatArray, mean: FloatArray,
    variance: FloatArray, evidence: FloatArray,
) -> None:  # fmt: skip
    """Filter walks forward: v[r] given all that is seen up to r is N(mean[r], variance[r]).

    Seen is exp(kappa v - omega v^2 / 2), both zero where nothing is; its expectation over v before
    it is seen, N(m, p), makes the log evidence by annotator and drift. Means and variances are
    left of the last of the drifts q, shape (annotators, drifts).
    """
    for l in range(len(first) - 1):
        for g in range(q.shape[1]):
            for r in range(first[l], first[l + 1]):
                for j in range(mean.shape[1]):
                    for t in range(mean.shape[2]):
                        if r == first[l]:
                            m, p = start_mean[j, t], start_variance[j, t]
                        else:
                            m, p = mean[r - 1, j, t], variance[r - 1, j, t] + q[l, g] * step[r]
                        w, u = omega[r, j, t], kappa[r, j, t]
                        if w > 0:
                            shrink = 1 / (1 + p * w)
                            gain = (u * (2 * m + p * u) - w * m * m) * shrink
                            evidence[l, g] += 0.5 * (gain + math.log(shrink))
                            m, p = (m + p * u) * shrink, p * shrink
                        mean[r, j, t], variance[r, j, t] = m, p


@entry
def sample_walks(
    first: LongArray, step: FloatArray, q: FloatArray, mean: FloatArray, variance: FloatArray,
    normal: FloatArray,
) -> None:  # fmt: skip
    """Turn standard normal numbers into walks, backwards from the last moment, given the filter.

    Without drift all moments are one, to the last bit.
    """
    for l in range(len(first) - 1):
        for r in range(first[l + 1] - 1, first[l] - 1, -1):
            grown = q[l] * step[r + 1] if r + 1 < first[l + 1] else math.inf
            for j in range(mean.shape[1]):
                for t in range(mean.shape[2]):
                    m, p = mean[r, j, t], variance[r, j, t]
                    if grown == math.inf:
                        normal[r, j, t] = m + math.sqrt(p) * normal[r, j, t]
                    elif grown == 0:
                        normal[r, j, t] = normal[r + 1, j, t]
                    else:
                        share = p / (p + grown)
                        m += share * (normal[r + 1, j, t] - m)
                        normal[r, j, t] = m + math.sqrt(share * grown) * normal[r, j, t]
