"""Items in cells, softly: what is expected of them, and the steps of those who climb.

An item sits in a cell f = t S + s, the sub-type s of class t; with S = 1 cells are the classes. Its
weight there is the prior's, prior[r, f], times rows[l, c, f] for every label c of annotator l. One
pass over the labels multiplies, normalises, and at once adds the item to the expected counts, so
that nothing is stored a label. Expectation-maximisation (Dawid and Skene, :func:`estimate`) and
variational Bayes (iBCC with sub-types, :func:`believe`) differ in how weights come from counts.

Where kinds of items are known, annotators are pairs of annotator and kind, and every kind has class
proportions of its own.

Sums are in fixed point: probabilities become whole numbers of ``1 / scale``, whose sums are exact.
In which order, and in how many parts, items are added changes no bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from coterie.data.codes import Codes, parts_of
from coterie.numeric import BoolArray, FloatArray, IntArray, LongArray
from coterie.numeric.compile import entry
from coterie.numeric.dirichlet import log_gamma_draws

Columns = NDArray[np.uint32]

# Weights only fall. An item whose weights sum to less is weighed again, in logarithms; where they
# sum to more, what has underflowed is less than 1e-158 of them.
SMALL = 1e-150
BITS = 62  # of the whole numbers that sums are made of: no sum is longer
FORMS = (2, 3, 4)  # numbers of cells that the compiler is told: half the time of any number
AT_ONCE, LARGE = 2**17, 1e30  # numbers drawn at once; shapes that have no single precision


class Part(NamedTuple):
    """Some items with all their labels, as a pass reads them."""

    codes: Codes
    row: IntArray  # (items,)   of the prior: kind (T + 1) + known class + 1; ~row if not counted
    column: Columns  # (labels,)   of rows: (annotator K + kind) C + answer


class Size(NamedTuple):
    """How much there is to sum, of all items together."""

    n_kinds: int
    n_rows: int  # annotators * kinds
    n_answers: int
    n_labels: int
    n_counted: int  # items, see is_counted


class Weights(NamedTuple):
    """What a pass multiplies; none of it need sum to one."""

    prior: FloatArray  # (kinds, cells)
    rows: FloatArray  # (annotators * kinds, answers, cells)
    n_subtypes: int  # cells of a class: a known class allows its own cells only


class Sums(NamedTuple):
    """What is expected, in whole numbers of 1 / scale; sums of all parts add up to those of all."""

    cell_total: LongArray  # (kinds, cells)                         items in cell f
    said: LongArray  # (annotators * kinds, answers, cells)   labels c of l for items in f
    log_weight: LongArray  # (3,)   whole nats, parts of 1 / log_scale, items that nothing explains
    scale: float
    log_scale: float

    @property
    def cells(self) -> FloatArray:
        return self.cell_total / self.scale

    @property
    def labels(self) -> FloatArray:
        return self.said / self.scale

    @property
    def log_likelihood(self) -> float:
        """Log of the sum of the weights, over counted items."""
        whole, broken, impossible = self.log_weight.tolist()
        return -np.inf if impossible else whole + broken / self.log_scale


def new_sums(size: Size, n_cells: int) -> Sums:
    """Make sums of nothing, with scales that no sum can overflow."""
    return Sums(
        np.zeros((size.n_kinds, n_cells), np.int64),
        np.zeros((size.n_rows, size.n_answers, n_cells), np.int64),
        np.zeros(3, np.int64),
        2.0 ** (BITS - max(size.n_counted, size.n_labels).bit_length()),
        2.0 ** (BITS - size.n_counted.bit_length()),
    )


def add_sums(sums: Sums, more: Sums) -> None:
    for array, other in zip(sums[:3], more[:3], strict=True):
        array += other


def is_counted(codes: Codes) -> BoolArray:
    """Say which items have a label or a known class; the others change nobody's estimate."""
    return (np.diff(codes.item_start) > 0) | (codes.gold >= 0)


def part_of(codes: Codes, kind: IntArray | None = None, n_kinds: int = 1) -> Part:
    """Show labels, which are read by item only, and the items' known kinds to a pass."""
    row = codes.gold + np.int32(1)
    column = codes.item_annotator.astype(np.uint32)
    column *= np.uint32(n_kinds * codes.n_answers)  # a table of 2^32 columns fits nowhere
    column += codes.item_answer.view(np.uint32)
    if kind is not None:
        row += kind * np.int32(codes.n_classes + 1)
        of_label = np.repeat(kind.astype(np.uint32), np.diff(codes.item_start))
        column += of_label * np.uint32(codes.n_answers)
    return Part(codes, np.where(is_counted(codes), row, ~row), column)


def count(part: Part, probability: FloatArray, sums: Sums) -> None:
    """Add what is expected under given probabilities, (items, cells); nothing is compiled."""
    said = sums.said.reshape(-1, probability.shape[1])
    kind = part.row // (part.codes.n_classes + 1)  # negative where not counted
    for items, labels, item in parts_of(part.codes):
        share = (probability[items] * sums.scale + 0.5).astype(np.int64)
        for k, total in enumerate(sums.cell_total):
            total += share[kind[items] == k].sum(axis=0)
        column = part.column[labels].astype(np.intp)
        for f in range(share.shape[1]):  # one by one: numpy is ten times faster so
            np.add.at(said[:, f], column, share[item, f])


def weigh(part: Part, weights: Weights) -> FloatArray:
    """Give the probabilities of cells, (items, cells); where nothing is known, the prior."""
    n_cells = weights.prior.shape[1]
    found = np.empty((len(part.row), n_cells))
    sweep(part, weights, new_sums(Size(len(weights.prior), 0, 0, 0, 0), n_cells), found)
    return found


def sweep(part: Part, weights: Weights, sums: Sums, found: FloatArray | None = None) -> None:
    """Weigh items, and add what is expected to the sums in one pass, or write what is found."""
    n_cells, n_classes = weights.prior.shape[1], part.codes.n_classes
    known = np.repeat(np.eye(1 + n_classes, n_classes, -1), weights.n_subtypes, axis=1)
    known[0] = 1  # nothing is known: all cells are open
    prior = weights.prior[:, None] * known
    nothing = np.where(prior.any(axis=2, keepdims=True), prior, known)
    rows, total = np.ascontiguousarray(weights.rows), np.zeros(prior.shape, np.int64)
    flat = (array.reshape(-1, n_cells) for array in (prior, nothing, rows, total, sums.said))
    start = np.asarray(part.codes.item_start).view()
    start.setflags(write=False)  # whatever it is: the loop is compiled once
    pass_of(n_cells if n_cells in FORMS else 0)(
        *(start, part.row, part.column, *flat, sums.log_weight, sums.scale, sums.log_scale),
        np.empty((0, n_cells)) if found is None else found,
    )
    sums.cell_total[:] += total.sum(axis=1)


@functools.cache
def pass_of(fixed: int) -> Callable[..., None]:
    """Give the pass for so many cells, a constant to the compiler; zero: for any number."""

    def add_pass(
        start: LongArray, row: IntArray, column: Columns, prior: FloatArray,
        nothing: FloatArray, rows: FloatArray, cell_total: LongArray, said: LongArray,
        log_weight: LongArray, scale: float, log_scale: float, probability: FloatArray,
    ) -> None:  # fmt: skip
        """Weigh every item, and add it to the counts; arrays are (rows or columns, cells).

        What no cell explains (only by rows that were not estimated from it) has ``nothing``.
        """
        n_cells = fixed if fixed > 0 else prior.shape[1]
        cells, share = np.empty(n_cells), np.empty(n_cells, np.int64)
        whole, broken, impossible = 0, 0, 0
        for i in range(len(row)):
            first, last = start[i], start[i + 1]
            r = row[i] if row[i] >= 0 else ~row[i]
            for f in range(n_cells):
                cells[f] = prior[r, f]
            for k in range(first, last):
                weight = rows[column[k]]
                for f in range(n_cells):
                    cells[f] *= weight[f]
            total = 0.0
            for f in range(n_cells):
                total += cells[f]
            peak = 0.0
            if total < SMALL:
                peak = -np.inf
                for f in range(n_cells):
                    x = np.log(prior[r, f]) if prior[r, f] > 0 else -np.inf
                    for k in range(first, last):
                        p = rows[column[k], f]
                        x += np.log(p) if p > 0 else -np.inf
                    cells[f] = x
                    peak = max(peak, x)
                total = 0.0
                for f in range(n_cells):  # the largest is one, or nothing explains the item
                    cells[f] = np.exp(cells[f] - peak) if peak > -np.inf else nothing[r, f]
                    total += cells[f]
            for f in range(n_cells if len(probability) > 0 else 0):
                probability[i, f] = cells[f] / total
            if row[i] < 0 or len(probability) > 0:
                continue
            if peak == -np.inf:
                impossible += 1
            else:
                x = peak + np.log(total)
                floor = np.floor(x)
                whole += int(floor)
                broken += int((x - floor) * log_scale)
            for f in range(n_cells):
                share[f] = int(cells[f] / total * scale + 0.5)
                cell_total[r, f] += share[f]
            for k in range(first, last):
                into = said[column[k]]
                for f in range(n_cells):
                    into[f] += share[f]
        log_weight[0] += whole
        log_weight[1] += broken
        log_weight[2] += impossible

    add_pass.__qualname__ = f"add_pass_{fixed}"
    return entry(add_pass)


class Parameters(NamedTuple):
    """What Dawid and Skene's model does not know beside the truths."""

    class_balance: FloatArray  # (kinds, classes)   tau[t]
    confusion: FloatArray  # (annotators * kinds, answers, classes)   Psi[l,t,c]


def estimate(sums: Sums, smoothing: float = 0.0, more: FloatArray | float = 0.0) -> Parameters:
    """M-step: the parameters that make the expected counts, and perhaps more labels, most probable.

    With ``smoothing`` s > 0, the mode under Dirichlet(1 + s) priors on tau and every Psi[l,t].
    """
    return Parameters(
        shares(sums.cells + smoothing, axis=1), shares(sums.labels + more + smoothing, axis=1)
    )


def shares(counts: FloatArray, axis: int) -> FloatArray:
    """Divide counts by their sum; where all are zero, nothing speaks against even shares."""
    total = counts.sum(axis=axis, keepdims=True)
    silent = total == 0
    if silent.any():
        counts, total = np.where(silent, 1, counts), np.where(silent, counts.shape[axis], total)
    return np.asarray(counts / total)


def log_prior(parameters: Parameters, smoothing: float) -> float:
    """Log density of the parameters under the priors that smooth, up to a constant."""
    if smoothing == 0:
        return 0.0  # and not 0 * log 0
    return smoothing * float(sum(np.log(array).sum() for array in parameters))


class Model(NamedTuple):
    """iBCC with sub-types: what is believed before any label.

    Item i has truth t ~ tau ~ Dir(class_weight), and sub-type s ~ pi[t] ~ Dir(subtype_weight).
    Annotator l answers from a row of their own for each cell, ~ Dir(shape[t]).
    """

    class_weight: FloatArray  # (classes,)             eps mu
    subtype_weight: FloatArray  # (sub-types,)           a / S each
    shape: FloatArray  # (classes, answers)     beta eta

    @property
    def rows(self) -> FloatArray:
        return np.repeat(self.shape, len(self.subtype_weight), axis=0).T[None]


class Shapes(NamedTuple):
    """The Dirichlets of q = product of q(cell of i), q(tau), q(pi), q(Psi)."""

    classes: FloatArray  # (classes,)   nu
    subtypes: FloatArray  # (classes, sub-types)
    rows: FloatArray  # (annotators, answers, cells)


def counts_of(model: Model, sums: Sums) -> Shapes:
    cells = sums.cells.reshape(len(model.class_weight), len(model.subtype_weight))
    return Shapes(cells.sum(axis=1), cells, sums.labels)


def shapes_of(model: Model, sums: Sums) -> Shapes:
    classes, subtypes, rows = counts_of(model, sums)
    return Shapes(model.class_weight + classes, model.subtype_weight + subtypes, model.rows + rows)


def believe(model: Model, sums: Sums) -> tuple[Weights, float]:
    """M-step of variational Bayes: exp of expected logs, and how far q is from the prior.

    After the E-step with these weights the bound on the log evidence, which never falls, is

        sum over items of log sum over cells of the weights - KL(q(tau), q(pi), q(Psi) || prior).
    """
    counts, n_subtypes = counts_of(model, sums), len(model.subtype_weight)
    prior, far = dirichlet(model.class_weight[None, :, None], counts.classes[None, :, None])
    if n_subtypes > 1:
        mean, farther = dirichlet(model.subtype_weight[None, :, None], counts.subtypes[:, :, None])
        prior, far = prior[0] * mean[:, :, 0], far + farther
    rows, farthest = dirichlet(model.rows, counts.rows)
    return Weights(prior.reshape(1, -1), rows, n_subtypes), far + farthest


def dirichlet(prior: FloatArray, counts: FloatArray) -> tuple[FloatArray, float]:
    """Give exp E log p under Dir(prior + counts), and the sum of KL(Dir(prior + counts) || prior).

    Numbers along the middle of three axes belong together.
    """
    heard = np.flatnonzero(counts > 0)  # of the others, often most, all is known from the prior
    before, said = prior.sum(axis=1, keepdims=True), np.einsum("lcf->lf", counts)[:, None]
    shape, total = (prior + counts).reshape(-1)[heard], before + said
    logs, log_gamma = np.empty((2, *counts.shape))
    logs[:], log_gamma[:] = digamma(prior), gammaln(prior)
    logs.reshape(-1)[heard] = digamma(shape)
    logs -= digamma(total)
    gained = (gammaln(shape) - log_gamma.reshape(-1)[heard]).sum()
    gained -= (gammaln(total) - gammaln(before)).sum()
    return np.exp(logs), float((counts * logs).sum() - gained)


def class_probability(codes: Codes, probability: FloatArray, classes: FloatArray) -> FloatArray:
    """Sum cells to classes; where nothing is known of an item, the mean of tau ~ Dir(classes)."""
    per_class = probability.shape[1] // len(classes)
    by_class = probability.reshape(len(probability), len(classes), per_class)
    found = np.asarray(by_class.sum(axis=2))
    found[~is_counted(codes)] = classes / classes.sum()
    return found


def mean_confusion(shapes: Shapes) -> FloatArray:
    """Give E Psi[l, t], sub-types by their expected shares, (annotators, classes, answers)."""
    rows = shapes.rows / shapes.rows.sum(axis=1, keepdims=True)
    share = shapes.subtypes / shapes.subtypes.sum(axis=1, keepdims=True)
    by_class = rows.reshape(*rows.shape[:2], *share.shape)
    return np.ascontiguousarray(np.einsum("lcts,ts->ltc", by_class, share))


def draw(
    shapes: Shapes, labelled: BoolArray, n_draws: int, seed: int | None
) -> tuple[FloatArray, NDArray[np.float32]]:
    """Draw tau, (draws, classes), and everybody's matrix, (draws, annotators, classes, answers).

    Rows of sub-types are mixed by drawn shares. Annotators without labels have a source of
    randomness of their own: they change nobody's draws.
    """
    balance, *people = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))
    class_balance = shares(gamma_draws(shapes.classes, n_draws, -1, balance), axis=-1)
    share = shares(gamma_draws(shapes.subtypes, n_draws, -1, balance), axis=-1)
    confusion = np.empty((n_draws, len(labelled), share.shape[1], shapes.rows.shape[1]), np.float32)
    for rng, who in zip(people, (labelled, ~labelled), strict=True):
        rows = np.ascontiguousarray(shapes.rows[who].swapaxes(0, 1))  # (answers, annotators, cells)
        rows = rows.astype(np.float32) if rows.max(initial=0) < LARGE else rows
        step = max(1, AT_ONCE // max(rows.size, 1))
        for d in range(0, n_draws if rows.size else 0, step):
            some = share[d : d + step]
            drawn = gamma_draws(rows, len(some), 1, rng)
            drawn = drawn.reshape(*drawn.shape[:3], *some.shape[1:])
            weight = some[:, None] / drawn.sum(axis=1)
            confusion[d : d + step, who] = np.einsum("dclts,dlts->dltc", drawn, weight)
    return class_balance, confusion


def gamma_draws(shape: FloatArray, n: int, axis: int, rng: Generator) -> FloatArray:
    """Draw Gamma numbers, (n, *shape), of which those along an axis will be divided by their sum.

    Where all of them may be too small for a float their logs are drawn, and the largest is one.
    """
    if (shape.max(axis=axis if axis < 0 else axis - 1, initial=0) >= 1).all():
        return rng.standard_gamma(shape, (n, *shape.shape), dtype=shape.dtype)
    logs = log_gamma_draws(np.broadcast_to(shape, (n, *shape.shape)), rng)
    return np.asarray(np.exp(logs - logs.max(axis=axis, keepdims=True), dtype=shape.dtype))
