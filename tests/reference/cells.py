"""Items in cells, any row map: the log joint written down with no increments."""

from dataclasses import dataclass, field
from math import lgamma

import numpy as np

from reference.problem import Problem


@dataclass(frozen=True)
class Cells:
    """Which cells there are, how an item comes to sit in one, from which row people answer."""

    problem: Problem
    class_of: list[int]
    kind_of: list[int]
    choices: list[list[tuple[int, int]]]  # per choice and cell: (block, option)
    weights: list[dict[tuple[int, int], float]]  # per choice: (block, option) -> weight
    row: np.ndarray  # (annotators, cells)
    shapes: np.ndarray  # (rows, answers)
    known: dict[int, int] = field(default_factory=dict)  # item -> kind

    @property
    def labelled(self):
        """Items that sit in a cell."""
        return sorted({i for i, _, _ in self.problem.labels})

    def allowed(self, i):
        """Cells that item i may sit in."""
        gold, kind = self.problem.gold.get(i), self.known.get(i)
        return [
            f
            for f, (t, k) in enumerate(zip(self.class_of, self.kind_of, strict=True))
            if gold in (None, t) and kind in (None, k)
        ]

    def log_joint(self, cell):
        """log p(cells, labels); ``cell`` is item -> cell, over the labelled items."""
        result = log_labels(self, cell)
        for g, (option, weight) in enumerate(zip(self.choices, self.weights, strict=True)):
            taken = [option[f] for f in cell.values()]
            if g == 0:  # gold without labels has a class, and nothing else
                others = self.problem.gold.keys() - cell.keys()
                taken += [option[self.allowed(i)[0]] for i in others]
            for block in {b for b, _ in weight}:
                options = [o for o in weight if o[0] == block]
                counts = [taken.count(o) for o in options]
                result += log_dirichlet_multinomial(counts, [weight[o] for o in options])
        return result


def log_labels(cells, cell):
    """log p(labels | cells), the rows integrated out."""
    counts = np.zeros(cells.shapes.shape)
    for i, l, c in cells.problem.labels:
        counts[cells.row[l, cell[i]], c] += 1
    return sum(log_dirichlet_multinomial(n, a) for n, a in zip(counts, cells.shapes, strict=True))


def log_dirichlet_multinomial(n, a):
    """log of the probability of a sequence with these counts under Dirichlet weights."""
    result = lgamma(sum(a)) - lgamma(sum(a) + sum(n))
    return result + sum(lgamma(x + k) - lgamma(x) for k, x in zip(n, a, strict=True))
