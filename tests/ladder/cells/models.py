"""Models whose items sit in cells: their row map and their prior, as the reference has them."""

from importlib import import_module

import numpy as np

from coterie.kernels.cells.check import COUNTED
from coterie.kernels.cells.items import count_items
from coterie.kernels.keep import Record, Streams, keep_nothing
from coterie.kernels.record import new_tally, new_trace
from ladder.cells.cases import CellsCase
from ladder.montecarlo import assert_frequencies, limit, standard_error


class ModelCase(CellsCase):
    """A model's kernels, its packed prior, and what the reference says they mean."""

    def __init__(self, kernels, prior, cells):
        self.kernels, self.prior, self.cells, self.tiny = kernels, prior, cells, False

    @property
    def module(self):
        return import_module(f"coterie.kernels.gibbs.{self.kernels}")

    def state(self, cell, data=None):
        """The kernels' state with these cells, item -> cell."""
        data = self.problem.codes if data is None else data
        nothing = np.zeros(self.problem.n_items, np.int32)
        group = np.zeros(self.problem.n_annotators, np.int32)
        rng = np.random.default_rng(0)
        state = self.module.initial_state(data, self.prior, nothing, group, rng)
        for i, f in cell.items():
            state.cell[i], state.truth[i] = f, self.cells.class_of[f]
        self.recount(state, data)
        return state

    def recount(self, state, data):
        """Count everything afresh."""
        for name in COUNTED:
            getattr(state, name)[...] = 0
        count_items(self.module.view_of(state, self.prior), data)

    def view(self, modules, cell):
        return self.module.view_of(self.state(cell), self.prior)

    def run(self, state, n, rng, data=None, scratch=None):
        """Make n sweeps; give tally and trace."""
        data = self.problem.codes if data is None else data
        layout = self.module.layout_of(data, self.prior)
        tally, trace = new_tally(data, layout), new_trace(n, data.n_classes, layout)
        scratch = scratch or self.module.new_scratch(state, data, self.prior)
        record = Record(tally, trace, keep_nothing(data))
        streams = Streams(rng, rng, rng)
        self.module.run_block(state, data, self.prior, streams, record, scratch)
        return tally, trace


def check_chain(case, n_draws=3_000, thin=2):
    """The cells that a chain visits have the exact probabilities, and its log joint is exact."""
    rng, data = np.random.default_rng(1), case.problem.codes
    state, visited, log_joint = case.state(case.states[0]), [], []
    scratch = case.module.new_scratch(state, data, case.prior)
    for _ in range(n_draws):
        _, trace = case.run(state, thin, rng, scratch=scratch)
        visited.append(tuple(int(state.cell[i]) for i in case.cells.labelled))
        log_joint.append(trace.log_joint[-1])
    for key, got in list(zip(visited, log_joint, strict=True))[:20]:
        want = case.cells.log_joint(dict(zip(case.cells.labelled, key, strict=True)))
        np.testing.assert_allclose(got, want, rtol=1e-10)
    assert_frequencies(visited, case.posterior, [log_joint])


def check_geweke(case, n_draws=5_000, seed=1):
    """Prior-then-data draws against a chain that alternates a sweep and new answers."""
    rng = np.random.default_rng(seed)
    prior = [statistics(case, *draw_all(case, rng)) for _ in range(n_draws)]
    chain = list(geweke_chain(case, n_draws, np.random.default_rng(seed + 1)))
    for name in prior[0]:
        one, other = (np.array([row[name] for row in rows], float) for rows in (prior, chain))
        error = np.hypot(np.std(one) / np.sqrt(n_draws), standard_error(other))
        off = abs(one.mean() - other.mean())
        assert off <= limit(len(prior[0])) * error, f"{name}: {off / error:.1f} standard errors"


def draw_all(case, rng):
    """Draw cells and answers from the prior."""
    cells = case.cells
    sits, options = {}, [[], []]
    for i in cells.labelled:
        weights = []
        for f in range(len(cells.class_of)):
            weight = 1.0
            for g, (option, table) in enumerate(zip(cells.choices, cells.weights, strict=True)):
                block = [o for o in table if o[0] == option[f][0]]
                above = table[option[f]] + options[g].count(option[f])
                weight *= above / sum(table[o] + options[g].count(o) for o in block)
            weights.append(weight)
        sits[i] = int(rng.choice(len(weights), p=np.array(weights) / sum(weights)))
        for g, option in enumerate(cells.choices):
            options[g].append(option[sits[i]])
    return sits, draw_answers(case, sits, rng)


def draw_answers(case, sits, rng):
    rows = [rng.dirichlet(a) for a in case.cells.shapes]
    return [
        int(rng.choice(len(rows[0]), p=rows[case.cells.row[l, sits[i]]]))
        for i, l, _ in case.problem.labels
    ]


def geweke_chain(case, n_draws, rng):
    from coterie.data.codes import encode

    problem = case.problem
    assert not problem.gold
    item, annotator, _ = np.array(problem.labels).T
    by_item = np.lexsort((annotator, item))
    by_annotator = np.lexsort((item, annotator))
    sits, answers = draw_all(case, rng)
    sizes = (problem.n_items, problem.n_annotators, problem.n_classes, problem.n_answers)
    data = encode(item, annotator, answers, sizes=sizes)
    state = case.state(sits, data)
    for _ in range(n_draws):
        scratch = case.module.new_scratch(state, data, case.prior)  # it knows the answers
        case.run(state, 1, rng, data, scratch)
        sits = {i: int(state.cell[i]) for i in case.cells.labelled}
        answers = np.array(draw_answers(case, sits, rng))
        for array, order in ((data.item_answer, by_item), (data.annotator_answer, by_annotator)):
            array.setflags(write=True)
            array[:] = answers[order]
            array.setflags(write=False)
        case.recount(state, data)
        yield statistics(case, sits, answers)


def statistics(case, sits, answers):
    """What is compared: classes, kinds, who is right, and their products."""
    cells = case.cells
    truth = {i: cells.class_of[f] for i, f in sits.items()}
    kind = {i: cells.kind_of[f] for i, f in sits.items()}
    labels = case.problem.labels
    right = [c == truth[i] for (i, _, _), c in zip(labels, answers, strict=True)]
    of_kind = [r and kind[i] == 0 for (i, _, _), r in zip(labels, right, strict=True)]
    n_first = sum(t == 0 for t in truth.values())
    n_kind = sum(k == 0 for k in kind.values())
    return {
        "class 0": n_first,
        "class 0 squared": n_first**2,
        "kind 0": n_kind,
        "kind 0 squared": n_kind**2,
        "right": sum(right),
        "right in kind 0": sum(of_kind),
        "class 0 and kind 0": n_first * n_kind,
    }
