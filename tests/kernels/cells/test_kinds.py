"""Models with kinds of items, latent or known, against the reference and the models without."""

import itertools

import numpy as np
import pytest

from coterie.kernels.gibbs.kinds import cbcc, hcbcc, ibcc
from coterie.kernels.gibbs.kinds.shared import Kinds
from coterie.kernels.keep import Record, Streams, keep_nothing
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import CBCCPrior, IBCCPrior
from ladder.cases import CBCC_3, HCBCC_3, IBCC_3, MEAN_2, RATES_2
from ladder.cells import checks
from ladder.cells.checks import Modules
from ladder.cells.models import ModelCase, check_chain, check_geweke
from ladder.marks import needs_compiler
from ladder.montecarlo import assert_frequencies
from ladder.sampler import ours
from reference.cells import Cells
from reference.exact import all_partitions, log_p_given_size, normalise
from reference.problem import TWO_CLASSES, TWO_REPEATED, Problem

MEAN_3 = [[0.6, 0.25, 0.15], [0.2, 0.7, 0.1]]
LATENT = Kinds(2, np.zeros(0, np.int32), 1.4)


def with_kinds(problem, mean, known=None, rows=None):
    """iBCC with two kinds as it is written down; ``rows`` is the row map where pairs share rows."""
    prior = IBCCPrior(mean, **RATES_2).resolve(problem.n_classes, problem.n_answers)
    n_classes, n_pairs = problem.n_classes, problem.n_annotators * 2
    cells = [(k, t) for k in range(2) for t in range(n_classes)]
    classes = {(0, t): prior.class_weights[t] for t in range(n_classes)}
    if known is None:
        kinds = LATENT
        choices = [[(0, t) for _, t in cells], [(0, k) for k, _ in cells]]
        weights = [classes, {(0, k): kinds.weight / 2 for k in range(2)}]
    else:
        kinds = Kinds(2, np.array(known, np.int32), 1.0)
        choices, weights = [cells], [{(k, t): classes[0, t] for k, t in cells}]
    own = [[(2 * l + k) * n_classes + t for k, t in cells] for l in range(problem.n_annotators)]
    reference = Cells(
        problem=problem,
        class_of=[t for _, t in cells],
        kind_of=[k for k, _ in cells],
        choices=choices,
        weights=weights,
        row=np.array(own if rows is None else rows),
        shapes=np.tile(prior.strength[:, None] * prior.mean, (n_pairs, 1)),
        known={} if known is None else dict(enumerate(known)),
    )
    return ModelCase("kinds.ibcc", ibcc.pack_prior(prior, kinds), reference)


LATENT_CASE = with_kinds(TWO_REPEATED, MEAN_3)
KNOWN_CASE = with_kinds(TWO_REPEATED, MEAN_3, known=[0, 1, 0, 1])
PLAIN_CASE = with_kinds(TWO_CLASSES, MEAN_2)
both = pytest.mark.parametrize("case", [LATENT_CASE, KNOWN_CASE], ids=["latent", "known"])


@pytest.mark.exact
@both
def test_weights_are_differences_of_the_joint(case):
    checks.check_weights(Modules(), case)


@needs_compiler
@pytest.mark.slow
@both
def test_visited_cells_have_the_exact_probabilities(case):
    check_chain(case)


@needs_compiler
@pytest.mark.slow
def test_geweke():
    check_geweke(PLAIN_CASE)


@pytest.mark.exact
def test_known_kinds_do_not_see_each_other():
    """All items of a kind removed: the others are unchanged, in iBCC exactly."""
    modules, data = Modules(), KNOWN_CASE.problem.codes
    seen = {}
    for state in KNOWN_CASE.states:
        view = KNOWN_CASE.view(modules, state)
        work = checks.at_work(modules, KNOWN_CASE, view)
        for i in (0, 1, 2):
            kind = KNOWN_CASE.cells.known[i]
            alike = tuple(f for j, f in state.items() if KNOWN_CASE.cells.known[j] == kind)
            modules.tables.count_and_note(i, state[i], -1, view.rows, data, work)
            assert modules.items.weigh_together_all(i, view, data, work) > 0
            first = seen.setdefault((i, alike), work.weights.copy())
            np.testing.assert_allclose(work.weights, first, rtol=1e-13)
            modules.tables.count_and_note(i, state[i], 1, view.rows, data, work)


def sweep(module, state, data, prior, seed, layout=None):
    """Forty sweeps; the trace."""
    rng = np.random.default_rng(seed)
    shown = layout(data, prior) if layout else None
    more = (shown,) if layout else ()
    tally, trace = new_tally(data, *more), new_trace(40, data.n_classes, *more)
    record = Record(tally, trace, keep_nothing(data))
    scratch = module.new_scratch(state, data, prior)
    module.run_block(state, data, prior, Streams(rng, rng, rng), record, scratch)
    return tally, trace


@needs_compiler
@pytest.mark.parametrize(
    ("case", "module"),
    [
        (IBCC_3, ibcc),
        pytest.param(CBCC_3, cbcc, marks=pytest.mark.slow),
        pytest.param(HCBCC_3, hcbcc, marks=pytest.mark.slow),
    ],
    ids=["i", "c", "hc"],
)
@pytest.mark.parametrize("known", [False, True], ids=["latent", "known"])
def test_one_kind_is_the_model_without(case, module, known):
    """The same stream takes the same steps."""
    plain, data = ours(case.model).model.module, case.problem.codes
    truth = np.zeros(case.problem.n_items, np.int32)
    group = np.zeros(case.problem.n_annotators, np.int32)
    codes = np.zeros(case.problem.n_items if known else 0, np.int32)
    results = []
    for one, prior, layout in (
        (plain, plain.pack_prior(case.prior), None),
        (module, module.pack_prior(case.prior, Kinds(1, codes, 1.0)), module.layout_of),
    ):
        state = one.initial_state(data, prior, truth, group, np.random.default_rng(3))
        results.append((state, *sweep(one, state, data, prior, 5, layout)))
    (state, tally, trace), (other, tally_2, trace_2) = results
    np.testing.assert_array_equal(state.truth, other.truth)
    np.testing.assert_allclose(tally.probability, tally_2.probability, rtol=1e-9)
    for name in ("log_likelihood", "log_joint", "concentration", "class_total"):
        np.testing.assert_allclose(getattr(trace, name), getattr(trace_2, name), rtol=1e-9)
    if case.has_groups:
        np.testing.assert_array_equal(state.group, other.group)
        np.testing.assert_array_equal(trace.n_coteries, trace_2.n_coteries)


THREE = Problem(3, 2, 2, 2, ((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 0), (2, 1, 1)))


@needs_compiler
@pytest.mark.slow
def test_cbcc_with_two_kinds_visits_cells_and_coteries_with_the_exact_probabilities():
    """Every truth, kind and partition of the four pairs of two annotators, three items."""
    settings = {**RATES_2, "concentration": 0.9}
    prior = CBCCPrior(MEAN_2, **settings).resolve(2, 2)
    exact = normalise(
        {
            (tuple(cells), tuple(q.values())): log_joint_pairs(cells, q, prior)
            for cells in itertools.product(range(4), repeat=3)
            for q in all_partitions(list(range(4)))
        }
    )
    data, packed = THREE.codes, cbcc.pack_prior(prior, LATENT)
    rng = np.random.default_rng(2)
    group = np.zeros(2, np.int32)
    state = cbcc.initial_state(data, packed, np.zeros(3, np.int32), group, rng)
    scratch, visited, log_joint = cbcc.new_scratch(state, data, packed), [], []
    layout = cbcc.layout_of(data, packed)
    tally, trace = new_tally(data, layout), new_trace(2, 2, layout)
    record = Record(tally, trace, keep_nothing(data))
    for _ in range(8_000):
        cbcc.run_block(state, data, packed, Streams(rng, rng, rng), record, scratch)
        numbers = {}
        q = tuple(numbers.setdefault(int(m), len(numbers)) for m in state.group)
        visited.append((tuple(state.cell.tolist()), q))
        log_joint.append(trace.log_joint[-1])
        cbcc.check_state(state, data, packed)
    assert_frequencies(visited, exact, [log_joint])


def log_joint_pairs(cells, q, prior):
    """The joint as it is written down: kinds, classes, seats of pairs, labels."""
    rows = [[q[2 * l + k] * 2 + t for k in range(2) for t in range(2)] for l in range(2)]
    case = with_kinds(THREE, MEAN_2, rows=rows)
    log_p = case.cells.log_joint(dict(enumerate(cells)))
    sizes = [list(q.values()).count(m) for m in set(q.values())]
    log_p += sum(np.log(np.arange(1, size)).sum() for size in sizes)
    return log_p + log_p_given_size(len(sizes), 4, float(prior.concentration))


@pytest.mark.exact
def test_hcbcc_with_two_kinds_weighs_by_the_coterie_of_the_pair():
    """Conditional = joint: rows of pairs, with the shapes of whom the pair sits with."""
    prior = hcbcc.pack_prior(HCBCC_3.prior, LATENT)
    problem, rng = HCBCC_3.problem, np.random.default_rng(4)
    data = problem.codes
    nothing = np.zeros(problem.n_items, np.int32)
    group = np.array([0, 1, 0, 2], np.int32)
    state = hcbcc.initial_state(data, prior, nothing, group, rng)
    n_pairs = 2 * problem.n_annotators
    weight = state.weight.swapaxes(1, 2)
    shapes = [weight[m] if m >= 0 else np.ones_like(weight[0]) for m in state.group]
    cells = [(k, t) for k in range(2) for t in range(3)]
    reference = Cells(
        problem=problem,
        class_of=[t for _, t in cells],
        kind_of=[k for k, _ in cells],
        choices=[[(0, t) for _, t in cells], [(0, k) for k, _ in cells]],
        weights=[
            {(0, t): w for t, w in enumerate(HCBCC_3.prior.class_weights)},
            {(0, k): 0.7 for k in range(2)},
        ],
        row=np.array([[(2 * l + k) * 3 + t for k, t in cells] for l in range(4)]),
        shapes=np.concatenate(shapes),
    )
    assert len(reference.shapes) == 3 * n_pairs

    class Case(ModelCase):
        def view(self, modules, cell):
            for i, f in cell.items():
                state.cell[i], state.truth[i] = f, self.cells.class_of[f]
            self.recount(state, data)
            return self.module.view_of(state, self.prior)

    checks.check_weights(Modules(), Case("kinds.hcbcc", prior, reference))
