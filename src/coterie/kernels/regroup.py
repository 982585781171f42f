"""Split a coterie in two or merge two, in one Metropolis-Hastings step.

Which of the two is tossed up; then come annotators i and j, by whom it is done.

- *split*: any coterie m of two or more, and i and j, any two of its members. i stays, j opens a
  coterie, and each of the others goes with j with a probability that a *launch* finds: two sides
  that begin with i and j alone, and share the others by expectation and maximisation.
- *merge*: any coterie a, and another one b, mostly by how well what b said explains a typical
  member of a, at times by its size; i and j are any members of a and b. A launch knows who the
  others are, not where they are: on the way back they go where they were with its probabilities.

So a split of m into a and b has the ratio

    alpha (size[a] - 1)! (size[b] - 1)! / (size[m] - 1)!  W(a) W(b) / W(m)  /  p(they go so)
    p(i and j are chosen to merge, from a and b)  /  p(i and j are chosen to split, from m),

a merge its inverse. In cBCC, W is p(what the members said), their matrix integrated out. Where
coteries have parameters (hcBCC, Consensus), those of what is new are drawn around a *fit* to what
the members said, and W is p(log beta, log eta, what the members said) over the density that they
are drawn from, proposed or present: logs, because 1 / beta and 1 / eta may drown all else.

A fit costs more than all before it. So these models propose as cBCC does, for which n labels of a
row are n (1 + beta) / (n + beta), beta as in the prior, and cBCC's ratio R screens, by its root, as
it is too sure, in both directions: below e^-SLACK a proposal goes on with the probability
R^(1/2) e^SLACK, and is accepted by its own ratio over that; the way back goes on surely, and by its
own ratio times that (Christen and Fox, 2005).

Arrays over sides have who stays, who leaves, and both together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import expit, gammaln

from coterie.kernels.collapsed import log_risen, log_together, with_strength
from coterie.numeric import BoolArray, FloatArray, LongArray, State
from coterie.numeric.dirichlet import log_gamma_draws, pick

SIGN = np.array([1, 1, -1])  # of the sides: two coteries against one
ALIKE = 0.9  # how often a coterie to merge with is chosen by how alike it is, not by its size
ROUNDS, SLACK = 5, 50.0  # of a launch; of the screen
STEPS, ENOUGH = 6, 0.02  # of a fit at most; how short the last one is
FREEDOM = 5.0  # of Student's t, whose tails are wider than those of log beta
LOG_T = math.lgamma((FREEDOM + 1) / 2) - math.lgamma(FREEDOM / 2) - math.log(FREEDOM * math.pi) / 2
LEAST_PRECISION = 0.2  # of log beta, where labels say less
LONGEST = 64  # counts up to which labels are looked at one by one
BLOCK = LONGEST * 2.0 ** np.arange(30)  # where blocks of further labels begin, as long as that
NODE = np.append(np.arange(LONGEST), BLOCK / math.log(2))  # what stands for j, and for j of a block
TINY = 1e-290  # the least weight of eta: floats below have fewer digits
EARLY, MOST = 32, 8  # sweeps in which coteries form, and proposals are more; the most in a sweep
CALLS, PER_CELL = 180_000, 8  # a proposal's work: NumPy's calls, and each cell of each person


def work_of_a_proposal(people: int, cells: int) -> int:
    """Count a proposal's work in weights of a label; cells are answers by classes."""
    return CALLS + PER_CELL * people * cells


def proposals(sweep: int, work_of_a_sweep: int, work_of_a_proposal: int) -> int:
    """Give how many splits or merges are proposed after a sweep, by its number.

    They are worth a sweep's work in the first EARLY sweeps, while coteries form, and a tenth of it
    from then on, but MOST in a sweep. Work is counted by the crowd's sizes alone: a number that
    went by how many coteries there are would change where the chain goes.
    """
    each, cost = min(work_of_a_sweep, MOST * work_of_a_proposal), 10 * work_of_a_proposal
    before, after = (each * (n + 9 * min(n, EARLY)) // cost for n in (sweep, sweep + 1))
    return after - before


def regroup_shared(state: State, weight: FloatArray, rng: Generator, n: int) -> None:
    """Propose n splits or merges of cBCC's coteries; ``weight`` (C, T) is the matrices' prior."""
    seated = np.flatnonzero(state["group"] >= 0)
    said = state["said"][seated].astype(np.float64)
    for _ in range(n if len(seated) > 1 else 0):
        way = propose(state, seated, said, weight, rng)
        if math.log1p(-rng.random()) < way.log_ratio:  # of 1 - u: it may not be zero
            seat(state, seated, way)


def regroup_own(state: State, base: Base, rng: Generator, n: int) -> None:
    """Propose n splits or merges of coteries of hcBCC or Consensus, with their parameters."""
    seated = np.flatnonzero(state["group"] >= 0)
    said = state["said"][seated].astype(np.int64)
    total, beta = said.sum(axis=1, keepdims=True), base.shape / base.rate
    labels, typical = np.append(said, total, axis=1), said * ((1 + beta) / (total + beta))
    for _ in range(n if len(seated) > 1 else 0):
        way = propose(state, seated, typical, base.mean_weight(base.log_share), rng)
        screen = math.copysign(max(abs(way.log_ratio) / 2 - SLACK, 0), way.log_ratio)
        if not math.log1p(-rng.random()) < screen:
            continue
        log_weight, found = weigh(way, state, labels, typical, base, rng)
        change = (SIGN * (log_weight - way.log_weight)).sum()
        log_ratio = way.log_ratio + (change if way.splits else -change)
        if math.log1p(-rng.random()) < log_ratio - screen:  # what is no number is not accepted
            seat(state, seated, way)
            if "known" in state:
                found["known"] = pick(base.log_points(found["log_mean"]), rng)
            for name, sides in found.items():
                state[name] = replaced(state[name], sides, way)


@dataclass(frozen=True)
class Way:
    """A split, or a merge."""

    splits: bool
    members: LongArray  # i, j and the others
    leaves: BoolArray  # (members,)   who is with j
    apart: LongArray  # (people,)   everybody's coterie when there are two
    pair: LongArray  # (2,)   those of i and j
    log_weight: FloatArray  # (sides,)   log W of cBCC
    log_ratio: float  # of cBCC


def propose(
    state: State, seated: LongArray, typical: FloatArray, weight: FloatArray,
    rng: Generator,
) -> Way:  # fmt: skip
    """Propose a split or merge as in cBCC; ``typical`` (people, C, T) is what everybody says."""
    group = state["group"][seated].astype(np.int64)
    splits, i, j = choose(group, typical, weight, rng)
    together = (group == group[i]) | (group == group[j])
    together[[i, j]] = False
    members = np.append([i, j], np.flatnonzero(together))
    odds = launch(typical[members], weight)
    leaves, apart = group[members] == group[j], group.copy()
    if splits:
        leaves = np.append([False, True], rng.random(len(odds)) < expit(odds))
        apart[members[leaves]] = group.max() + 1
    log_weight = log_together(on_sides(leaves, typical[members]), weight)
    log_ratio = (SIGN * (log_weight + gammaln(on_sides(leaves, np.ones(len(leaves)))))).sum()
    log_ratio += state["log_concentration"][0]
    log_ratio += np.logaddexp(0, np.where(leaves[2:], -odds, odds)).sum()  # 1 / p(they go so)
    log_ratio += log_choices(apart[i], apart[j], apart, typical, weight)
    log_ratio = float(log_ratio if splits else -log_ratio)
    return Way(splits, members, leaves, apart, apart[[i, j]], log_weight, log_ratio)


def seat(state: State, seated: LongArray, way: Way) -> None:
    """Write the groups: two apart, or j's in i's."""
    group, (a, b) = way.apart, way.pair
    if not way.splits:
        group = np.where(group == b, a, group)
        group -= group > b
    state["group"] = state["group"].copy()
    state["group"][seated] = group


def replaced(array: Any, sides: Any, way: Way) -> Any:
    """Write numbers of sides in place of those of coteries: two for one, or one for two."""
    a, b = way.pair
    array = np.append(array, array[:1], axis=0) if way.splits else array.copy()
    array[a], array[b] = sides[0 if way.splits else 2], sides[1]
    return array if way.splits else np.delete(array, b, axis=0)


def chance_to_split(size: LongArray) -> float:
    """Give the probability that a split is proposed: half, unless only one of the two can be."""
    return 1.0 if len(size) == 1 else 0.5 * float(size.max() > 1)


def choose(
    group: LongArray, typical: FloatArray, weight: FloatArray, rng: Generator
) -> tuple[bool, int, int]:
    """Choose whether to split, and i and j: then both of one coterie, else of two."""
    size = np.bincount(group)
    splits = rng.random() < chance_to_split(size)
    able = np.flatnonzero(size > splits)
    a = able[int(rng.random() * len(able))]
    members = np.flatnonzero(group == a)
    i = members[int(rng.random() * len(members))]
    if splits:
        others = members[members != i]
    else:
        ladder = np.cumsum(partners(a, group, typical, weight))
        b = np.searchsorted(ladder, rng.random() * ladder[-1], side="right")
        others = np.flatnonzero(group == b)
    return splits, int(i), int(others[int(rng.random() * len(others))])


def partners(a: int, group: LongArray, typical: FloatArray, weight: FloatArray) -> FloatArray:
    """Give the probabilities of coteries to merge coterie a with."""
    size, order = np.bincount(group), np.argsort(group, kind="stable")
    sums = np.add.reduceat(typical[order], np.cumsum(size) - size)
    log_p = (sums[a] / size[a] * log_matrix(sums + weight)).sum(axis=(1, 2))
    log_p[a], size[a] = -np.inf, 0
    alike = np.exp(log_p - log_p.max())
    return np.asarray(ALIKE * alike / alike.sum() + (1 - ALIKE) * size / size.sum())


def log_choices(a: int, b: int, apart: LongArray, typical: FloatArray, weight: FloatArray) -> float:
    """Give log p(i and j are chosen to merge a and b) / p(they are chosen to split both)."""
    size = np.bincount(apart)
    together = np.append(np.delete(size, [a, b]), size[a] + size[b])
    n, able = int(together[-1]), np.count_nonzero(together > 1)
    merge = (1 - chance_to_split(size)) / len(size) / int(size[a] * size[b])
    split = chance_to_split(together) / able / (n * (n - 1))
    return math.log(merge / split) + math.log(partners(a, apart, typical, weight)[b])


def launch(typical: FloatArray, weight: FloatArray) -> FloatArray:
    """Share people between two sides, which begin with the first and the second of them.

    Given are the log odds of the others to leave.
    """
    pair, others = typical[:2], typical[2:]
    total, sums, size = others.sum(axis=0), pair, np.ones(2)
    for _ in range(ROUNDS):
        log_mean = log_matrix(sums + weight)
        odds = (others * (log_mean[1] - log_mean[0])).sum(axis=(1, 2)) + math.log(size[1] / size[0])
        leaves = expit(odds)
        gone = (leaves[:, None, None] * others).sum(axis=0)
        sums = pair + np.stack([total - gone, gone])
        size = 1 + np.array([(1 - leaves).sum(), leaves.sum()])
    return np.asarray(odds)


def on_sides(leaves: BoolArray, numbers: FloatArray) -> FloatArray:
    """Sum numbers of people, (people, ...), by side."""
    gone, both = numbers[leaves].sum(axis=0), numbers.sum(axis=0)
    return np.stack([numbers[~leaves].sum(axis=0), gone, both])


def log_gamma(log_x: FloatArray) -> FloatArray:
    """Give log Gamma(x) by log x: x may be too small for a float."""
    return np.asarray(gammaln(np.exp(log_x) + 1) - log_x)


def log_matrix(weight: FloatArray) -> FloatArray:
    """Give the logs of matrices in proportion to weights (..., C, T)."""
    return np.asarray(np.log(weight / weight.sum(axis=-2, keepdims=True)))


@dataclass(frozen=True)
class Base:
    """The prior: beta ~ Gamma(shape, rate), eta[t] ~ Dir(d known[t] + (1 - d) guess[t])."""

    shape: FloatArray  # (classes,), or (1,): one beta for all classes
    rate: FloatArray
    known: FloatArray  # (answers, classes)   weights of eta where d is one, and where it is zero
    guess: FloatArray
    point: FloatArray  # (points,)
    log_share: FloatArray  # (points,)   log p(d)
    log_norm: FloatArray  # (points,)   of the density of log eta given d

    @classmethod
    def of(cls, shape: FloatArray, rate: FloatArray, weight: FloatArray) -> Base:
        """Give that of hcBCC, whose weights (answers, classes) are known."""
        log_norm = gammaln(weight.sum(axis=0)).sum() - gammaln(weight).sum()
        one = np.ones(1)
        return cls(shape, rate, weight, weight, one / 2, 0 * one, log_norm * one)

    @classmethod
    def learnt(
        cls, shape: FloatArray, rate: FloatArray, phi: float, point: FloatArray,
        log_share: FloatArray, log_guess: FloatArray, n_classes: int,
    ) -> Base:  # fmt: skip
        """Give that of Consensus, given w: the weights are phi (d 1[c = t] + (1 - d) w[c])."""
        guessed = math.log(phi) + np.log1p(-point)[:, None] + log_guess  # (points, answers)
        right = np.logaddexp(guessed[:, :n_classes], math.log(phi) + np.log(point)[:, None])
        wrong = n_classes - (np.arange(len(log_guess)) < n_classes)  # rows in which c is wrong
        log_norm = n_classes * math.lgamma(phi) - (wrong * log_gamma(guessed)).sum(axis=1)
        log_norm -= log_gamma(right).sum(axis=1)
        known = phi * np.eye(len(log_guess), n_classes)
        guess = np.repeat(np.maximum(phi * np.exp(log_guess), TINY)[:, None], n_classes, axis=1)
        return cls(shape, rate, known, guess, point, log_share, log_norm)

    def mean_weight(self, log_points: FloatArray) -> FloatArray:
        """Give the weights of eta, d averaged by log weights (..., points)."""
        share = np.exp(log_points - log_points.max(axis=-1, keepdims=True))
        d = ((share * self.point).sum(axis=-1) / share.sum(axis=-1))[..., None, None]
        return np.asarray(d * self.known + (1 - d) * self.guess)

    def log_points(self, log_mean: FloatArray) -> FloatArray:
        """Give log p(d, log eta), (sides, points)."""
        known = (self.known * log_mean).sum(axis=(1, 2))[:, None]
        guess = (self.guess * log_mean).sum(axis=(1, 2))[:, None]
        found = self.log_share + self.log_norm + self.point * known + (1 - self.point) * guess
        return np.asarray(found)

    def log_prior(self, log_strength: FloatArray, log_mean: FloatArray) -> FloatArray:
        """Give log p(log beta, log eta), d summed, (sides,)."""
        a, b = self.shape, self.rate
        log_p = a * (np.log(b) + log_strength) - b * np.exp(log_strength) - gammaln(a)
        log_eta = np.logaddexp.reduce(self.log_points(log_mean), axis=1)
        return np.asarray(log_p.sum(axis=1) + log_eta)


def weigh(
    way: Way, state: State, labels: LongArray, typical: FloatArray, base: Base,
    rng: Generator,
) -> tuple[FloatArray, dict[str, Any]]:  # fmt: skip
    """Give log W of the sides, and their parameters, drawn or present."""
    labels, leaves, typical = labels[way.members], way.leaves, typical[way.members]
    over = count_over(labels, leaves)
    mean = log_matrix(on_sides(leaves, typical) + base.mean_weight(base.log_share))
    fit = fit_sides(over, mean, base)
    log_strength, log_mean = draw(fit, rng)
    there, at = (slice(2, 3), way.pair[:1]) if way.splits else (slice(2), way.pair)
    log_strength[there] = state["log_strength"][at, : log_strength.shape[1]]
    log_mean[there] = state["log_mean"][at]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_w = log_said(labels, leaves, over, with_strength(log_strength, log_mean))
        log_w += base.log_prior(log_strength, log_mean) - log_drawn(log_strength, log_mean, fit)
    return log_w, {"log_strength": log_strength, "log_mean": log_mean}


def count_over(labels: LongArray, leaves: BoolArray) -> FloatArray:
    """Count on every side people with more than j labels in a cell, (sides, C + 1, T, nodes)."""
    longest, cells = int(np.clip(labels.max(), 1, LONGEST)), np.arange(labels[0].size)
    counts, beyond = labels.reshape(len(labels), -1), BLOCK[labels.max() > BLOCK]
    place = np.minimum(counts, longest) + cells * (longest + 1)
    over = []
    for side in (~leaves, leaves):
        exactly = np.bincount(place[side].ravel(), minlength=len(cells) * (longest + 1))
        exceed = np.cumsum(exactly.reshape(len(cells), -1)[:, :0:-1], axis=1)[:, ::-1]
        long = np.clip(counts[side, :, None] - beyond, 0, beyond).sum(axis=0)
        over.append(np.append(exceed, long, axis=1).reshape(*labels.shape[1:], -1))
    return np.stack([*over, over[0] + over[1]])


def log_said(
    labels: LongArray, leaves: BoolArray, over: FloatArray, log_x: FloatArray
) -> FloatArray:
    """Give log p(what people said), by log shapes of sides, matrices integrated out, (sides,)."""
    j = np.arange(min(over.shape[3], LONGEST))
    logs = np.log(np.exp(log_x)[..., None] + j)
    logs[..., 0] = log_x  # x may have underflowed
    sign = np.ones(labels.shape[1:])
    sign[-1] = -1
    log_p = ((over[..., : len(j)] * logs).sum(axis=3) * sign).sum(axis=(1, 2))
    who, c, t = np.nonzero(labels > LONGEST)
    long = log_risen(np.exp(log_x[:, c, t]) + LONGEST, labels[who, c, t] - LONGEST) * sign[c, t]
    on = np.stack([~leaves, leaves, np.ones_like(leaves)])
    return np.asarray(log_p + (long * on[:, who]).sum(axis=1))


@dataclass(frozen=True)
class Fit:
    """Where log beta and log eta of sides are, and how precisely."""

    log_strength: FloatArray  # (sides, strengths)
    log_mean: FloatArray  # (sides, answers, classes)
    strength_precision: FloatArray
    mean_precision: FloatArray


def fit_sides(over: FloatArray, log_mean: FloatArray, base: Base) -> Fit:
    """Go from log_mean to the top of the density of log beta and log eta.

    With x[c, t] = beta eta[c, t], S = sum over j of over[j] x / (x + j) are expected tables of a
    cell, V = sum over j of over[j] x j / (x + j)^2 their variance, S' and V' those of totals; w are
    the weights of eta. eta[t] goes to w + S over its sum, w + S - V being the precision of its log;
    log beta makes Newton's step: the slope of its density is a - b beta + sum over t of (sum over c
    of S - S'), its precision b beta + sum over t of (V' - sum over c of V).
    """
    log_strength = np.repeat(np.log(base.shape / base.rate)[None], 3, axis=0)
    for _ in range(STEPS):
        x = np.exp(np.maximum(with_strength(log_strength, log_mean), math.log(TINY)))[..., None]
        p = x / (x + NODE[: over.shape[3]])
        s, v = (over * p).sum(axis=3), (over * p * (1 - p)).sum(axis=3)
        weight = base.mean_weight(base.log_points(log_mean)) + s[:, :-1]
        by_strength = np.stack([s[:, :-1].sum(axis=1) - s[:, -1], v[:, -1] - v[:, :-1].sum(axis=1)])
        slope, curve = np.add.reduceat(by_strength, np.arange(len(base.shape)), axis=2)
        beta = base.rate * np.exp(log_strength)
        precision = np.maximum(beta + curve, LEAST_PRECISION)
        step = np.clip((base.shape - beta + slope) / precision, -1, 1)
        log_strength, before, log_mean = log_strength + step, log_mean, log_matrix(weight)
        if max(np.abs(step).max(), np.abs(log_mean - before).max()) < ENOUGH:
            break
    return Fit(log_strength, log_mean, precision, weight - v[:, :-1])


def draw(fit: Fit, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Draw log beta, from Student's t, and log eta: a Dirichlet, scaled to have its top there."""
    away = rng.standard_t(FREEDOM, fit.log_strength.shape) / np.sqrt(fit.strength_precision)
    log_mean = log_gamma_draws(fit.mean_precision, rng) - np.log(fit.mean_precision) + fit.log_mean
    return fit.log_strength + away, log_mean - np.logaddexp.reduce(log_mean, axis=1, keepdims=True)


def log_drawn(log_strength: FloatArray, log_mean: FloatArray, fit: Fit) -> FloatArray:
    """Give the log density of log beta and log eta as they are drawn, (sides,)."""
    z = (log_strength - fit.log_strength) ** 2 * fit.strength_precision
    log_t = LOG_T + np.log(fit.strength_precision) / 2 - (FREEDOM + 1) / 2 * np.log1p(z / FREEDOM)
    p, total = fit.mean_precision, fit.mean_precision.sum(axis=1)
    log_r = np.log(p) - fit.log_mean + log_mean
    # Gamma(p) = Gamma(p + 1) / p: p may be too small for gammaln
    log_p = (p * log_r - gammaln(p + 1) + np.log(p)).sum(axis=1)
    log_p += gammaln(total) - total * np.logaddexp.reduce(log_r, axis=1)
    return np.asarray(log_t.sum(axis=1) + log_p.sum(axis=1))
