"""All models but Consensus, blocked or not: from whose rows people answer, and what is above them.

A state names coteries and their parameters as the package does: group, by pair of an annotator and
a kind, log_concentration, log_strength (coteries, T) and log_mean (coteries, C, T).
"""

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from coterie.numeric.dirichlet import draw_crp
from coterie.priors import Gamma
from reference.cells import Cells, Space, log_choices
from reference.exact import RowMarginal, all_partitions, log_p_partition_marginal, normalise
from reference.joint import log_p_concentration, log_p_parameters, log_p_partition
from reference.problem import Problem


@dataclass(frozen=True)
class Rows:
    """A model on a problem."""

    problem: Problem
    prior: Any  # resolved
    space: Space
    rows: str  # whose they are: own, easy, shared, similar
    known: tuple[int, ...] = ()  # kinds of the items
    n_kinds: int = 1  # of pairs

    @property
    def seated(self):
        return self.rows in ("shared", "similar")

    def row_shapes(self, strength, mean):
        """Shapes of the cells of one annotator, (cells, answers)."""
        return np.array([strength[t] * mean[t] for t in self.space.class_of])

    def cells(self, group=None, beta=None, eta=None):
        """The rows, given the coterie of every pair, and parameters of coteries."""
        p, space = self.prior, self.space
        n_people, n_cells = self.problem.n_annotators, len(space.class_of)
        row = np.arange(n_people * n_cells).reshape(n_people, n_cells)
        if self.rows == "own":
            shapes = np.tile(self.row_shapes(p.strength, p.mean), (n_people, 1))
        if self.rows == "easy":
            hard = np.array(space.kind_of) == 1
            row = np.where(hard, row, np.arange(n_cells))
            easy = self.row_shapes(p.easy_strength, p.easy_mean)
            shapes = np.where(hard[:, None], self.row_shapes(p.strength, p.mean), easy)
            shapes = np.tile(shapes, (n_people, 1))
        if self.seated:
            kind = np.array(space.kind_of) if self.n_kinds > 1 else np.zeros(n_cells, int)
            seat = np.reshape(group, (n_people, -1))[:, kind]  # (annotators, cells)
        if self.rows == "shared":
            row = seat * self.problem.n_classes + np.array(space.class_of)
            shapes = np.tile(p.strength[:, None] * p.mean, (max(group) + 1, 1))
        if self.rows == "similar":
            t = np.array(space.class_of)
            shapes = (beta[seat, t][..., None] * eta[seat, t]).reshape(row.size, -1)
        return Cells(self.problem, space, row, shapes, dict(enumerate(self.known)))

    def cells_of(self, state):
        """The same of a live state."""
        return self.cells(state.get("group"), *parameters_of(state))

    def log_joint(self, state, cells):
        """log p(everything that is sampled, labels)"""
        result = self.cells_of(state).log_joint(cells)
        if self.seated:
            q = {p: int(m) for p, m in enumerate(state["group"]) if m >= 0}
            alpha = float(np.exp(state["log_concentration"][0]))
            result += log_p_partition(q, alpha)
            result += log_p_concentration(alpha, self.prior.concentration)
            for some in zip(*parameters_of(state), strict=True) if self.rows == "similar" else ():
                result += log_p_parameters(self.prior, *some)
        return result

    @cached_property
    def pairs(self):
        """Those who are seated."""
        k = self.n_kinds
        return [l * k + j for l in self.problem.active for j in range(k)] if self.seated else []

    @cached_property
    def exact(self):
        """p(cells of the counted items, partition | Y), all else integrated out."""
        return normalise(self.joint())

    def joint(self):
        """log p(cells, partition, Y), all else integrated out."""
        row, log_p = RowMarginal(self.prior) if self.rows == "similar" else None, {}
        for q in all_partitions(self.pairs):
            group = np.zeros(self.problem.n_annotators * self.n_kinds, int)
            group[list(q)] = list(q.values())
            seats = log_p_partition_marginal(q, self.prior.concentration) if q else 0.0
            one = self.cells(group) if row is None else self.cells(
                group, np.ones((len(q), self.problem.n_classes)),
                np.ones((len(q), self.problem.n_classes, self.problem.n_answers)),
            )  # fmt: skip
            for cell in one.states():
                value = one.log_joint(cell) if row is None else self.marginal(q, cell, row)
                log_p[tuple(cell.values()), tuple(q.values())] = seats + value
        return log_p

    def marginal(self, q, cell, row):
        """log p(cells, Y | q) of hcBCC, beta and eta integrated out."""
        space, value = self.space, log_choices(self.space, cell)
        n = np.zeros((self.problem.n_annotators * self.n_kinds, self.problem.n_classes,
                      self.problem.n_answers), int)  # fmt: skip
        for i, l, c in self.problem.labels:
            pair = l * self.n_kinds + (space.kind_of[cell[i]] if self.n_kinds > 1 else 0)
            n[pair, space.class_of[cell[i]], c] += 1
        for m, t in itertools.product(set(q.values()), range(self.problem.n_classes)):
            value += row(t, [tuple(n[p, t].tolist()) for p in q if q[p] == m])
        return value

    def draw_prior(self, rng):
        """Cells of the items, and a state, from the prior."""
        space, cells, problem = self.space, {}, self.problem
        log_share = np.zeros(len(space.class_of))
        for option, weight in zip(space.choices, space.weights, strict=True):
            for block in sorted({b for b, _ in weight}):
                options = [o for o in weight if o[0] == block]
                p = dict(zip(options, rng.dirichlet([weight[o] for o in options]), strict=True))
                log_share += [np.log(p[o]) if o in p else 0.0 for o in option]
        known = dict(enumerate(self.known))
        for i in problem.counted:
            p = np.exp(log_share) * [known.get(i, k) == k for k in space.kind_of]
            cells[i] = int(rng.choice(len(p), p=p / p.sum()))
        state = {}
        if self.seated:
            alpha = self.prior.concentration
            alpha = rng.gamma(alpha.shape, 1 / alpha.rate) if isinstance(alpha, Gamma) else alpha
            group = draw_crp(problem.n_annotators * self.n_kinds, alpha, rng)
            state = {"group": group, "log_concentration": np.log([alpha])}
        if self.rows == "similar":
            prior, n = self.prior, group.max() + 1
            beta = rng.gamma(prior.strength.shape, 1 / prior.strength.rate, (n, problem.n_classes))
            weight = prior.mean_strength[:, None] * prior.mean
            eta = np.array([[rng.dirichlet(w) for w in weight] for _ in range(n)])
            state |= {"log_strength": np.log(beta), "log_mean": np.log(eta).swapaxes(1, 2)}
        return cells, state

    def draw_answers(self, cells, state, rng):
        """Answers of all labels, in the order of the items' labels, the rows drawn anew."""
        known = self.cells_of(state)
        gammas = rng.standard_gamma(known.shapes)
        below, labels = np.cumsum(gammas, axis=1), sorted(self.problem.labels)
        rows = below[[known.row[l, cells[i]] for i, l, _ in labels]]
        return (rng.random(len(labels))[:, None] * rows[:, -1:] > rows).sum(axis=1)


def parameters_of(state):
    """beta (coteries, T) and eta (coteries, T, C), if there are any."""
    if "log_strength" not in state:
        return ()
    return np.exp(state["log_strength"]), np.exp(state["log_mean"].swapaxes(1, 2))
