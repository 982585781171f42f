"""Items in cells, any row map: the log joint written down with no increments."""

import itertools
from dataclasses import dataclass, field
from math import lgamma
from typing import Any, NamedTuple

import numpy as np

from reference.problem import Problem


class Space(NamedTuple):
    """Which cells there are, and how an item comes to sit in one: choices, each by a Dirichlet."""

    class_of: list[int]
    kind_of: list[int]
    choices: list[list[tuple[int, int]]]  # per choice and cell: (block, option)
    weights: list[dict[tuple[int, int], float]]  # per choice: (block, option) -> weight


def classes_alone(weights):
    """t ~ tau"""
    classes = list(range(len(weights)))
    option = [(0, t) for t in classes]
    return Space(classes, [0] * len(classes), [option], [dict(zip(option, weights, strict=True))])


def subtypes(weights, n, weight):
    """t ~ tau, s ~ pi[t]; cells t n + s"""
    pairs = list(itertools.product(range(len(weights)), range(n)))
    classes = {(0, t): w for t, w in enumerate(weights)}
    choices = [[(0, t) for t, _ in pairs], pairs]
    tables = [classes, dict.fromkeys(pairs, weight / n)]
    return Space([t for t, _ in pairs], [s for _, s in pairs], choices, tables)


def latent_kinds(weights, kind_weights):
    """t ~ tau, k ~ rho; cells k T + t"""
    pairs = list(itertools.product(range(len(kind_weights)), range(len(weights))))
    choices = [[(0, t) for _, t in pairs], [(0, k) for k, _ in pairs]]
    tables = [{(0, n): w for n, w in enumerate(some)} for some in (weights, kind_weights)]
    return Space([t for _, t in pairs], [k for k, _ in pairs], choices, tables)


def known_kinds(weights, n):
    """t ~ tau[k], k known; cells k T + t"""
    pairs = list(itertools.product(range(n), range(len(weights))))
    tables = [{(k, t): weights[t] for k, t in pairs}]
    return Space([t for _, t in pairs], [k for k, _ in pairs], [pairs], tables)


@dataclass(frozen=True)
class Cells:
    """A space, and from which row people answer in a cell."""

    problem: Problem
    space: Space
    row: Any  # (annotators, cells)
    shapes: Any  # (rows, answers)
    known: dict[int, int] = field(default_factory=dict)  # item -> kind

    def allowed(self, i):
        """Cells that item i may sit in."""
        gold, kind = self.problem.gold.get(i), self.known.get(i)
        places = enumerate(zip(self.space.class_of, self.space.kind_of, strict=True))
        return [f for f, (t, k) in places if gold in (None, t) and kind in (None, k)]

    def states(self):
        """Every assignment of the counted items to cells they may sit in."""
        items = self.problem.counted
        for cells in itertools.product(*(self.allowed(i) for i in items)):
            yield dict(zip(items, cells, strict=True))

    def log_joint(self, cell):
        """log p(cells, labels); ``cell`` is item -> cell, over the counted items."""
        return log_choices(self.space, cell) + log_labels(self, cell)


def log_choices(space, cell):
    """log p(cells), the shares integrated out."""
    result = 0.0
    for option, weight in zip(space.choices, space.weights, strict=True):
        taken = [option[f] for f in cell.values()]
        for block in {b for b, _ in weight}:
            options = [o for o in weight if o[0] == block]
            counts = [taken.count(o) for o in options]
            result += log_dirichlet_multinomial(counts, [weight[o] for o in options])
    return result


def log_labels(cells, cell):
    """log p(labels | cells), the rows integrated out."""
    counts = np.zeros(np.shape(cells.shapes))
    for i, l, c in cells.problem.labels:
        counts[cells.row[l, cell[i]], c] += 1
    used = np.flatnonzero(counts.sum(axis=1))
    return sum(log_dirichlet_multinomial(counts[r], cells.shapes[r]) for r in used)


def log_dirichlet_multinomial(n, a):
    """log of the probability of a sequence with these counts under Dirichlet weights."""
    result = lgamma(sum(a)) - lgamma(sum(a) + sum(n))
    return result + sum(lgamma(x + k) - lgamma(x) for k, x in zip(n, a, strict=True))
