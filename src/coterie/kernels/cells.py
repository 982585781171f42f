"""Items that are in cells, moved one after the other, confusion matrices integrated out.

A cell is chosen in steps, and the labels of an item in cell f are drawn from column place[l, f] of
the matrices, Dir(a) with the shapes of its base (:class:`coterie.kernels.people.Columns`). With all
other items counted, and the labels of this one before the one that is looked at,

    p(z[i] = f | rest)  ~  product over steps of  (n[option] + weight) / (n[block] + its weights)
                           times the product over labels of  (n[k, c] + a[k, c]) / (n[k] + a[k]).

What people are is drawn in between, by the same halves as where items are swept in parts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from coterie.data.codes import Codes
from coterie.kernels.collapsed import SAFE, items_of
from coterie.kernels.expected import is_counted
from coterie.kernels.people import People
from coterie.kernels.space import Space
from coterie.numeric import Array, IntArray, State
from coterie.numeric.compile import entry
from coterie.numeric.dirichlet import pick


@entry
def move_items(
    free: Array, once: Array, start: Array, annotator: Array, answer: Array, opened: Array,
    truth: Array, option: Array, block: Array, of_option: Array, of_block: Array, place: Array,
    base: Array, shared: bool, n: Array, logs: Array, safe: float, sums: Array, said: Array,
    cell_total: Array, rng: Generator,
) -> None:  # fmt: skip
    """Draw the cell of every free item, one after the other.

    ``opened`` says which cells an item may be in. ``of_option`` and ``of_block`` are counts and
    weights by step, ``option`` and ``block`` say which are a cell's. ``n`` (columns, answers + 1)
    counts labels, in all behind. Where no two labels of an item come from one column their ratios
    are looked up, and the item stays in the counts; else it is taken out, and counted label by
    label. What underflows is worked out in logs. Counts and truths are changed in place; without
    ``sums`` probabilities are not noted.
    """
    n_cells, total, shape = len(cell_total), n.shape[1] - 1, np.exp(logs)
    p, log_p, prior = np.zeros(n_cells), np.zeros(n_cells), np.zeros(n_cells)
    ratio = np.zeros((0 if shared else len(n), total))
    for k in range(len(ratio)):
        for c in range(total):
            ratio[k, c] = (n[k, c] + shape[base[k], c]) / (n[k, total] + shape[base[k], total])
    for i in free:
        t, lo, hi, sum_p = int(truth[i]), start[i], start[i + 1], 0.0
        for s in range(len(option)):
            of_option[s, option[s, t]] -= 1
            of_block[s, block[s, t]] -= 1
        for f in range(n_cells):
            prior[f] = 1.0 if opened[i, f] else 0.0
            for s in range(len(option)):
                prior[f] *= of_option[s, option[s, f]] / of_block[s, block[s, f]]
        if once[i] and not shared:
            for f in range(n_cells):
                product = prior[f]
                for j in range(lo, hi if product > 0 else lo):
                    k, c = place[annotator[j], f], answer[j]
                    if f != t:
                        product *= ratio[k, c]
                    else:
                        all_but_one = n[k, total] - 1 + shape[base[k], total]
                        product *= (n[k, c] - 1 + shape[base[k], c]) / all_but_one
                p[f] = product
            sum_p = p.sum()
        if not sum_p > safe:
            for j in range(lo, hi):
                k = place[annotator[j], t]
                n[k, answer[j]] -= 1
                n[k, total] -= 1
            for f in range(n_cells):
                product, log_product, last = prior[f], 0.0, hi if opened[i, f] else lo
                for j in range(lo, last):
                    k, c = place[annotator[j], f], answer[j]
                    above, below = n[k, c] + shape[base[k], c], n[k, total] + shape[base[k], total]
                    after = product * (above / below)
                    if above > safe and after > safe:
                        product = after
                    else:  # a logarithm for all before it; shapes may be zero as floats
                        log_product += math.log(product)
                        log_product += math.log(above) if n[k, c] > 0 else logs[base[k], c]
                        log_product -= math.log(below) if n[k, total] > 0 else logs[base[k], total]
                        product = 1.0
                    n[k, c] += 1
                    n[k, total] += 1
                for j in range(lo, last):
                    k = place[annotator[j], f]
                    n[k, answer[j]] -= 1
                    n[k, total] -= 1
                log_p[f] = log_product + (math.log(product) if product > 0 else -math.inf)
            for j in range(lo, hi):
                k = place[annotator[j], t]
                n[k, answer[j]] += 1
                n[k, total] += 1
            p[:] = np.exp(log_p - log_p.max())
            sum_p = p.sum()
        for f in range(n_cells if len(sums) > 0 else 0):
            sums[i, f] += p[f] / sum_p
        left, new = sum_p * rng.random(), 0
        while new < n_cells - 1 and left >= p[new]:
            left -= p[new]
            new += 1
        while p[new] == 0.0:  # rounding: the last may be closed
            new -= 1
        truth[i] = new
        for s in range(len(option)):
            of_option[s, option[s, new]] += 1
            of_block[s, block[s, new]] += 1
        for sign in (-1, 1):
            f = t if sign < 0 else new
            cell_total[f] += sign
            for j in range(lo, hi if t != new else lo):
                k, b = place[annotator[j], f], base[place[annotator[j], f]]
                n[k, answer[j]] += sign
                n[k, total] += sign
                said[annotator[j], answer[j], f] += sign
                for c in range(total if not shared else 0):
                    ratio[k, c] = (n[k, c] + shape[b, c]) / (n[k, total] + shape[b, total])


class Items:
    """The items of a chain: who said what of them, and in which cells they may be."""

    def __init__(self, data: Codes, space: Space, kinds: IntArray | None) -> None:
        _, self.once, self.first, self.annotator, self.answer = items_of(data)
        self.space = space
        self.opened = np.ascontiguousarray(space.open_cells()[space.row_of(data.gold, kinds)])
        self.counted = is_counted(data)
        self.free = np.flatnonzero(self.counted & (self.opened.sum(axis=1) > 1))
        n_options = max(step.weight.size for step in space.steps)
        self.option = np.stack([step.option for step in space.steps])
        self.block = np.stack([step.option // step.weight.shape[1] for step in space.steps])
        self.weight, self.whole = np.ones((2, len(space.steps), n_options))
        for s, step in enumerate(space.steps):
            self.weight[s, : step.weight.size] = step.weight.ravel()
            self.whole[s, : len(step.weight)] = step.weight.sum(axis=1)

    def start(self, truth: IntArray, rng: Generator) -> IntArray:
        """Give every counted item a cell of the class that it starts in, by their weights."""
        shares = np.log(self.space.shares(np.zeros(len(self.space.cell_class), np.int64)))
        own = self.opened & (self.space.cell_class == truth[:, None])
        cell = np.full(len(truth), -1, np.int32)
        cell[self.counted] = pick(np.where(own, shares, -np.inf)[self.counted], rng)
        return cell

    def sweep(self, state: State, people: People, sums: Array, rng: Generator) -> None:
        """Move every item once; ``sums`` (items, cells) gets probabilities, if it has a length."""
        columns, said = people.columns(state), state["said"]
        n = np.zeros((len(columns.base), said.shape[1] + 1), np.int64)
        np.add.at(n[:, :-1], columns.place, said.swapaxes(1, 2))
        n[:, -1] = n.sum(axis=1)
        counts = np.zeros((2, *self.weight.shape))
        for s in range(len(self.option)):
            np.add.at(counts[0, s], self.option[s], state["cell_total"])
            np.add.at(counts[1, s], self.block[s], state["cell_total"])
        move_items(
            self.free, self.once, self.first, self.annotator, self.answer, self.opened,
            state["truth"], self.option,
            self.block, counts[0] + self.weight, counts[1] + self.whole, columns.place,
            columns.base, columns.shared, n, np.ascontiguousarray(columns.logs), SAFE, sums, said,
            state["cell_total"], rng,
        )  # fmt: skip
