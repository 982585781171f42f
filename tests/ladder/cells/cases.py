"""Random row maps on small problems: what the update of cells is tested on, once for all models."""

import itertools
from functools import cached_property

import numpy as np

from coterie.kernels.shapes import Shapes
from ladder.cells.counts import nothing_chosen
from reference.cells import Cells
from reference.exact import normalise
from reference.problem import Problem

CONCENTRATED = 1e-40  # shapes that leave the range of products

LABELS = (
    *((0, 0, 0), (0, 0, 0), (0, 1, 1), (0, 2, 0)),
    *((1, 0, 1), (1, 1, 1), (1, 2, 2)),
    *((2, 1, 0), (2, 1, 2), (2, 2, 0)),
    *((3, 0, 1), (3, 2, 1)),
)
GOLD = {3: 1, 4: 0}
PROBLEM = Problem(6, 4, 2, 3, LABELS, GOLD)  # item 4 is known, 5 is not; nobody asked annotator 3


class CellsCase:
    """A random map, as the reference and as the kernels have it."""

    def __init__(self, seed, n_rows, nested, known=(), tiny=False, own=False, row=None, stride=1):
        self.tiny, self.stride = tiny, stride
        rng = np.random.default_rng(seed)
        n_kinds, n_classes = 2, PROBLEM.n_classes
        class_of = [0, 1, 0, 1, 1]  # cells may repeat a class within a kind, and the kind is any
        kind_of = [0, 0, 1, 1, 1]
        n_cells = len(class_of)
        blocks = [(t if nested else 0, f) for f, t in enumerate(class_of)]
        first = [(0, t) for t in class_of]
        shapes = rng.gamma(1.5, size=(n_rows, PROBLEM.n_answers))
        if tiny:
            shapes[::2, 0] = CONCENTRATED
        self.cells = Cells(
            problem=PROBLEM,
            class_of=class_of,
            kind_of=kind_of,
            choices=[first, blocks],
            weights=[
                {(0, t): w for t, w in enumerate(rng.gamma(2.0, size=n_classes))},
                {b: rng.gamma(1.0) for b in blocks},
            ],
            row=random_rows(rng, n_rows, n_cells, own) if row is None else np.array(row),
            shapes=shapes,
            known=dict(known),
        )
        assert max(kind_of) < n_kinds

    @property
    def problem(self):
        return self.cells.problem

    @property
    def model(self):
        return "ibcc"  # a name that the planted copies want

    @cached_property
    def states(self):
        """Every assignment of labelled items to cells they may sit in."""
        items = self.cells.labelled
        each = itertools.product(*(self.cells.allowed(i) for i in items))
        return [dict(zip(items, cells, strict=True)) for cells in each]

    @cached_property
    def posterior(self):
        """Exact p(cells | labels), by tuples."""
        return normalise({tuple(s.values()): self.cells.log_joint(s) for s in self.states})

    def view(self, modules, cell):
        """The kernels' view of this state."""
        cells, data = self.cells, self.problem.codes
        space = self.space(modules)
        n_rows, n_answers = cells.shapes.shape
        truth = np.full(self.problem.n_items, -1, np.int32)
        sits, known = truth.copy(), truth.copy()
        truth[list(self.problem.gold)] = list(self.problem.gold.values())
        for i, f in cell.items():
            truth[i], sits[i] = cells.class_of[f], f
        for i, k in cells.known.items():
            known[i] = k
        strength = cells.shapes.sum(axis=1)
        log_mean = np.log(cells.shapes) - np.log(strength)[:, None]
        row, every = cells.row.astype(np.int32), np.arange(n_rows, dtype=np.int32)
        rows = modules.rows.Rows(
            row=row,
            place=self.place(row),
            stride=self.stride,
            said=np.zeros(n_rows * n_answers, np.int32),
            said_total=np.zeros(n_rows, np.int32),
            shape_row=every,
            shape_place=self.place(every),
            shapes=Shapes(self.flat(cells.shapes), strength, self.flat(log_mean), np.log(strength)),
        )
        chosen = nothing_chosen(modules, space)
        total = np.zeros(data.n_classes, np.int64)
        view = modules.items.View(truth, sits, known, total, chosen, space, rows)
        modules.items.count_items(view, data)
        return view

    def place(self, row):
        """Where a row's first answer is: ``stride`` rows lie answer by answer, then the next."""
        return (row - row % self.stride) * np.int32(self.problem.n_answers) + row % self.stride

    def flat(self, table):
        """A table of rows by answers as it lies."""
        return table.reshape(-1, self.stride, table.shape[1]).swapaxes(1, 2).ravel()

    def space(self, modules):
        """The choices as the kernels have them: options of all choices in a row."""
        cells, numbers, blocks, weight = self.cells, {}, {}, []
        for g, table in enumerate(cells.weights):
            for option, w in table.items():
                numbers[g, option] = len(numbers)
                blocks.setdefault((g, option[0]), len(blocks))
                weight.append(w)
        block = [blocks[g, option[0]] for g, option in numbers]
        return modules.space.Space(
            class_of=np.array(cells.class_of, np.int32),
            kind_of=np.array(cells.kind_of, np.int32),
            column=np.array(cells.kind_of, np.int32),
            option=np.array(
                [[numbers[g, o] for o in each] for g, each in enumerate(cells.choices)], np.int32
            ),
            weight=np.array(weight),
            block=np.array(block, np.int32),
            block_weight=np.bincount(block, weight),
        )


def random_rows(rng, n_rows, n_cells, own):
    """Any row for anybody in any cell; ``own``: annotators share none within a cell."""
    n = PROBLEM.n_annotators
    if not own:
        return rng.integers(0, n_rows, (n, n_cells))
    return np.stack([rng.permutation(n_rows)[:n] for _ in range(n_cells)], axis=1)


# Few rows: annotators share them, and so do an item's labels in different cells. Many: hardly so.
SHARED = CellsCase(1, n_rows=3, nested=False)
NESTED = CellsCase(2, n_rows=7, nested=True)
KNOWN = CellsCase(3, n_rows=4, nested=True, known={0: 1, 3: 0, 4: 1, 5: 0})
TINY = CellsCase(4, n_rows=3, nested=False, tiny=True)
OWN = CellsCase(5, n_rows=9, nested=True, own=True)
# Nobody shares a row, nor do cells; but in the last cell all four annotators answer from one.
ALONE = CellsCase(
    6, n_rows=17, nested=True, row=[[4 * l, 4 * l + 1, 4 * l + 2, 4 * l + 3, 16] for l in range(4)]
)
# Matrices of two rows that lie side by side. All share one in the first two cells, nobody later.
EASY = CellsCase(
    7,
    n_rows=18,
    nested=False,
    row=[[0, 1, 4 * l + 2, 4 * l + 3, 4 * l + 4] for l in range(4)],
    stride=2,
)
# Three matrices, any for anybody: cells, and annotators within a cell, share rows.
MATRICES = CellsCase(
    8,
    n_rows=6,
    nested=True,
    row=[[2, 3, 0, 1, 1], [0, 1, 2, 3, 5], [2, 3, 4, 5, 3], [4, 5, 0, 1, 1]],
    stride=2,
)
CASES = {
    "own": OWN,
    "shared": SHARED,
    "nested": NESTED,
    "known": KNOWN,
    "tiny": TINY,
    "alone": ALONE,
    "easy": EASY,
    "matrices": MATRICES,
}
