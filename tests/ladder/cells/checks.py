"""The ladder for the update of cells. Each check takes the modules of the kernels and a case."""

import numpy as np

from coterie.kernels.layout import Layout, PerItem
from coterie.kernels.record import new_tally
from ladder.cells.counts import log_rows
from ladder.checks import assert_equal_up_to_a_constant
from ladder.montecarlo import assert_frequencies, assert_means
from ladder.sampler import Sampler
from ladder.stationarity import assert_stationary, middles

LAYOUT = Layout(per_item=(PerItem("kind", ("a", "b")),))


class Modules:
    """The files of the update, compiled to be called from here, or planted."""

    def __init__(self, package="coterie"):
        sampler = Sampler(package, "")
        self.space, self.rows, self.items, self.tables = (
            sampler.module(f"cells.{name}") for name in ("space", "rows", "items", "tables")
        )


def at_work(modules, case, view):
    work = modules.tables.new_work(view.rows, case.problem.codes)
    modules.tables.write_tables(view.rows, case.problem.codes, work)
    return work


def check_weights(modules, case):
    """Conditional = joint: log weights of an item's cells are differences of the log joint."""
    fast, present = 0, 0
    for state in case.states[:: max(len(case.states) // 40, 1)]:
        view = case.view(modules, state)
        work = at_work(modules, case, view)
        for i in state:
            want = [case.cells.log_joint(state | {i: f}) for f in case.cells.allowed(i)]
            before = [array.copy() for array in counts(view)]
            present += check_present(modules, case, view, work, i, want)
            fast += check_taken_out(modules, case, view, work, i, want)
            for got, kept in zip(counts(view), before, strict=True):
                np.testing.assert_array_equal(got, kept)
    assert fast > 0 or case.tiny
    assert (present > 0) == work.stays[list(state)].any()


def check_present(modules, case, view, work, i, want):
    """While the item's labels are counted; say whether that can be."""
    if not work.stays[i]:
        return False
    total = modules.items.weigh_cells(i, int(view.cell[i]), view, case.problem.codes, work)
    assert total > 0
    assert_weights(case, work, i, total, want)
    return True


def check_taken_out(modules, case, view, work, i, want):
    """While they are not: by the tables or without them, and in logs; say whether without logs."""
    data, allowed, fast = case.problem.codes, case.cells.allowed(i), False
    modules.tables.count_and_note(i, int(view.cell[i]), -1, view.rows, data, work)
    totals = {"without tables": lambda: modules.items.weigh_together_all(i, view, data, work)}
    if len(work.ratios.cell) == 0:
        totals["tables"] = lambda: modules.items.weigh_cells(i, -1, view, data, work)
    for weigh in totals.values():
        work.weights[:] = np.nan
        total = weigh()
        if total > 0:
            fast = True
            assert_weights(case, work, i, total, want)
    modules.items.weigh_in_logs(i, view, data, work)
    assert_equal_up_to_a_constant(work.weights[allowed], want)
    assert np.isneginf(np.delete(work.weights, allowed)).all()
    modules.tables.count_and_note(i, int(view.cell[i]), 1, view.rows, data, work)
    return fast


def assert_weights(case, work, i, total, want):
    allowed = case.cells.allowed(i)
    assert_equal_up_to_a_constant(np.log(work.weights[allowed]), want)
    assert (np.delete(work.weights, allowed) == 0).all()
    np.testing.assert_allclose(total, work.weights.sum())


def check_joint(modules, case):
    """The log joint that is traced is the reference's."""
    for state in case.states[::50]:
        view = case.view(modules, state)
        log_p = modules.space.log_choices(view.chosen, view.space)
        log_p += log_rows(view.rows, case.problem.n_answers)
        np.testing.assert_allclose(log_p, case.cells.log_joint(state), rtol=1e-10)


def check_bookkeeping(modules, case):
    """After every sweep the counts are a recount, and nobody sits where they may not."""
    data, rng = case.problem.codes, np.random.default_rng(1)
    view, tally = case.view(modules, case.states[0]), new_tally(case.problem.codes, LAYOUT)
    work = at_work(modules, case, view)
    for _ in range(20):
        modules.items.sweep_cells(view, data, work, rng, tally)
        after = at_work(modules, case, view)
        np.testing.assert_array_equal(work.above, after.above)
        np.testing.assert_array_equal(work.below, after.below)
        np.testing.assert_array_equal(work.ratios.ratio, after.ratios.ratio)
        check_priors(modules, view, work)
        state = {i: int(view.cell[i]) for i in case.cells.labelled}
        assert all(f in case.cells.allowed(i) for i, f in state.items())
        fresh = case.view(modules, state)
        for got, want in zip(counts(view), counts(fresh), strict=True):
            np.testing.assert_array_equal(got, want)
    assert tally.sweeps[0] == 20
    np.testing.assert_allclose(tally.probability.sum(axis=1), 20)
    np.testing.assert_allclose(tally.per_item.sum(axis=1), 20)
    for i, t in case.problem.gold.items():
        assert tally.probability[i, t] == 20


def check_priors(modules, view, work):
    """Rows of the table that claim to be up to date are."""
    for f in np.flatnonzero(work.priors.fresh):
        kept = work.priors.without[f].copy()
        modules.items.write_priors(int(f), int(f), view, work)
        np.testing.assert_array_equal(work.priors.without[f], kept)


def counts(view):
    return (
        view.truth,
        view.cell,
        view.class_total,
        *view.chosen,
        view.rows.said,
        view.rows.said_total,
    )


def check_stationary(modules, case):
    """pi P = pi for the update of every item: no randomness at all."""
    data, items = case.problem.codes, case.cells.labelled

    def update(state, i, u):
        view = case.view(modules, dict(zip(items, state, strict=True)))
        work = at_work(modules, case, view)
        modules.items.update_item(i, view, data, work, u)
        return tuple(int(view.cell[j]) for j in items), work.weights

    for i in items:

        def moves(state, i=i):
            _, probabilities = update(state, i, 0.5)
            for p, u in zip(probabilities, middles(probabilities), strict=True):
                if p > 0:
                    yield p, update(state, i, u)[0]

        assert_stationary(case.posterior, moves)


def check_enumeration(modules, case, n_draws=3_000):
    """The cells that a chain visits have the exact probabilities; so have the averages."""
    data, rng = case.problem.codes, np.random.default_rng(1)
    view, visited, batches = case.view(modules, case.states[0]), [], []
    tally, work = new_tally(data, LAYOUT), at_work(modules, case, view)
    for draw in range(n_draws):
        modules.items.sweep_cells(view, data, work, rng, tally)
        visited.append(tuple(int(view.cell[i]) for i in case.cells.labelled))
        if (draw + 1) % 40 == 0:
            batches.append(np.hstack([tally.probability, tally.per_item]) / 40)
            tally.probability[:], tally.per_item[:] = 0, 0
    log_p = [np.log(case.posterior[state]) for state in visited]
    assert_frequencies(visited, case.posterior, [log_p])
    got, want = np.array(batches), exact_averages(case)
    sites = [s for s in np.ndindex(want.shape) if 0 < want[s] < 1]
    assert_means({s: got[:, *s] for s in sites}, {s: want[s] for s in sites})


def exact_averages(case):
    """Probabilities of classes and kinds of every item, shape (items, classes + kinds)."""
    cells, n_classes = case.cells, case.problem.n_classes
    result = np.zeros((case.problem.n_items, n_classes + 2))
    for state, p in case.posterior.items():
        sits = dict(zip(cells.labelled, state, strict=True))
        for i in range(case.problem.n_items):
            for f, share in shares(cells, sits, i).items():
                result[i, cells.class_of[f]] += p * share
                result[i, n_classes + cells.kind_of[f]] += p * share
    return result


def shares(cells, sits, i):
    """Where item i sits given the state; without labels, the predictive."""
    if i in sits:
        return {sits[i]: 1.0}
    prior = {f: np.exp(log_predictive(cells, sits, i, f)) for f in cells.allowed(i)}
    return {f: p / sum(prior.values()) for f, p in prior.items()}


def log_predictive(cells, sits, i, f):
    """log of the chain of choices to cell f, after all others."""
    result = 0.0
    for g, (option, weight) in enumerate(zip(cells.choices, cells.weights, strict=True)):
        taken = [option[h] for h in sits.values()]
        if g == 0:
            others = cells.problem.gold.keys() - sits.keys() - {i}
            taken += [option[cells.allowed(j)[0]] for j in others]
        block = [o for o in weight if o[0] == option[f][0]]
        above = weight[option[f]] + taken.count(option[f])
        result += np.log(above / sum(weight[o] + taken.count(o) for o in block))
    return result
