"""Latent kinds: hcBCC against enumeration, and the limits in which they are simpler models."""

import itertools

import numpy as np
import pytest

from coterie.kernels.gibbs.groups import log_partition
from coterie.kernels.gibbs.kinds import cbcc, hcbcc, ibcc
from coterie.kernels.gibbs.kinds.shared import Kinds
from coterie.kernels.keep import Record, Streams, keep_nothing
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import CBCCPrior, IBCCPrior
from ladder.cases import CBCC_FIXED, IBCC_2, MEAN_2, RATES_2, hierarchical
from ladder.cells.checks import Modules
from ladder.cells.counts import log_rows, nothing_chosen
from ladder.cells.models import ModelCase
from ladder.marks import needs_compiler
from ladder.montecarlo import assert_frequencies
from reference.cells import Cells, log_dirichlet_multinomial
from reference.exact import RowMarginal, all_partitions, all_truths, log_p_partition_marginal
from reference.exact import normalise as normalised
from reference.joint import log_p_labels_hcbcc
from reference.problem import TWO_CLASSES, Problem

NO_KIND_KNOWN = np.zeros(0, np.int32)
LATENT = Kinds(2, NO_KIND_KNOWN, 1.4)
ONE_FOR_ALL = Kinds(2, NO_KIND_KNOWN, 1e-12)  # one kind has all items, either of the two
THREE = Problem(3, 2, 2, 2, ((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 0), (2, 1, 1)))


def exact_pairs(prior):
    """p(cells, partition of the four pairs | Y): beta, eta, alpha integrated out by quadrature."""
    row, log_p = RowMarginal(prior), {}
    for cells in itertools.product(range(4), repeat=3):
        kinds, classes = np.divmod(cells, 2)
        choices = log_dirichlet_multinomial(np.bincount(classes, minlength=2), prior.class_weights)
        choices += log_dirichlet_multinomial(np.bincount(kinds, minlength=2), [0.7, 0.7])
        n = np.zeros((4, 2, 2), int)
        for i, l, c in THREE.labels:
            n[2 * l + kinds[i], classes[i], c] += 1
        for q in all_partitions(list(range(4))):
            value = choices + log_p_partition_marginal(q, prior.concentration)
            for m in set(q.values()):
                members = [p for p in q if q[p] == m]
                value += sum(row(t, [tuple(n[p, t].tolist()) for p in members]) for t in range(2))
            log_p[cells, tuple(q.values())] = value
    return normalised(log_p)


@needs_compiler
@pytest.mark.slow
def test_hcbcc_with_two_kinds_visits_cells_and_coteries_with_the_exact_probabilities():
    """Every truth, kind and partition of the four pairs of two annotators, three items."""
    prior = hierarchical(MEAN_2, RATES_2).resolve(2, 2)
    exact = exact_pairs(prior)
    data, packed = THREE.codes, hcbcc.pack_prior(prior, LATENT)
    rng, group = np.random.default_rng(2), np.zeros(2, np.int32)
    state = hcbcc.initial_state(data, packed, np.zeros(3, np.int32), group, rng)
    scratch, layout = hcbcc.new_scratch(state, data, packed), hcbcc.layout_of(data, packed)
    tally, trace = new_tally(data, layout), new_trace(2, 2, layout)
    record = Record(tally, trace, keep_nothing(data))
    visited, log_joint, n_coteries = [], [], []
    for _ in range(10_000):
        hcbcc.run_block(state, data, packed, Streams(rng, rng, rng), record, scratch)
        numbers = {}
        q = tuple(numbers.setdefault(int(m), len(numbers)) for m in state.group)
        visited.append((tuple(state.cell.tolist()), q))
        log_joint.append(trace.log_joint[-1])
        n_coteries.append(len(numbers))
    hcbcc.check_state(state, data, packed)
    log_p = [np.log(exact[one]) for one in visited]
    assert_frequencies(visited, exact, [log_joint, log_p, n_coteries])


def kernel_joint(module, state, packed):
    """The log joint of cells and labels, as the update of cells has it."""
    modules, view = Modules(), module.view_of(state, packed)
    return modules.space.log_choices(view.chosen, view.space) + log_rows(view.rows, 2)


def state_of(module, packed, cells, group=None):
    data, rng = TWO_CLASSES.codes, np.random.default_rng(0)
    nothing, alone = np.zeros(3, np.int32), np.zeros(3, np.int32)
    state = module.initial_state(data, packed, nothing, alone, rng)
    if group is not None:
        state.group[:], state.size[:] = group, np.bincount(group, minlength=len(state.size))
    for i, f in cells.items():
        state.cell[i], state.truth[i] = f, f % 2
    ModelCase(f"kinds.{module.__name__.rpartition('.')[2]}", packed, None).recount(state, data)
    return state


@pytest.mark.exact
@pytest.mark.parametrize("kind", [0, 1])
def test_a_point_mass_of_kinds_is_ibcc(kind):
    prior = IBCCPrior(MEAN_2, **RATES_2).resolve(2, 2)
    packed = ibcc.pack_prior(prior, ONE_FOR_ALL)
    found = {}
    for cells in itertools.product(range(4), repeat=3):
        state = state_of(ibcc, packed, dict(enumerate(cells)))
        found[cells] = kernel_joint(ibcc, state, packed)
    differences = [
        found[tuple(2 * kind + z[i] for i in range(3))] - IBCC_2.log_joint(z, None, 1.0, None, None)
        for z in all_truths(TWO_CLASSES)
    ]
    assert len(differences) == 8
    assert np.ptp(differences) < 1e-9
    mixed = sum(p for s, p in normalised(found).items() if len({f // 2 for f in s}) > 1)
    assert mixed < 1e-9


@pytest.mark.exact
@pytest.mark.parametrize("kind", [0, 1])
def test_a_point_mass_of_kinds_is_cbcc(kind):
    """Pairs of the kind without items sit anywhere: summed over, they leave no trace."""
    prior = CBCCPrior(MEAN_2, **RATES_2, concentration=0.6).resolve(2, 2)
    packed = cbcc.pack_prior(prior, ONE_FOR_ALL)
    alpha, differences = np.log(0.6), []
    for z in all_truths(TWO_CLASSES):
        by_people = {}
        for q in all_partitions(list(range(6))):
            group = np.array(list(q.values()), np.int32)
            state = state_of(cbcc, packed, {i: 2 * kind + t for i, t in z.items()}, group)
            log_p = kernel_joint(cbcc, state, packed)
            log_p += log_partition(state.size, alpha, packed.concentration)
            numbers = {}
            people = tuple(numbers.setdefault(m, len(numbers)) for m in group[kind::2].tolist())
            by_people.setdefault(people, []).append(log_p)
        for people, parts in by_people.items():
            base = CBCC_FIXED.log_joint(z, dict(enumerate(people)), 0.6, None, None)
            differences.append(np.logaddexp.reduce(parts) - base)
    assert len(differences) == 8 * 5
    assert np.ptp(differences) < 1e-9


@pytest.mark.exact
@pytest.mark.parametrize("kind", [0, 1])
def test_a_point_mass_of_kinds_is_hcbcc(kind):
    """Given who sits where, and beta and eta of the coteries; pairs are seated as in cBCC."""
    prior, rng = hierarchical(MEAN_2, RATES_2).resolve(2, 2), np.random.default_rng(6)
    packed = hcbcc.pack_prior(prior, ONE_FOR_ALL)
    for q in all_partitions([0, 1, 2]):
        group, differences = np.repeat(list(q.values()), 2), []
        for z in all_truths(TWO_CLASSES):
            state = state_of(hcbcc, packed, {i: 2 * kind + t for i, t in z.items()}, group)
            if not differences:
                beta = rng.gamma(2.0, size=state.strength.shape)
                eta = rng.dirichlet([1.0, 2.0], size=(len(beta), 2))
            state.strength[:], state.log_strength[:] = beta, np.log(beta)
            state.weight[:] = (beta[..., None] * eta).swapaxes(1, 2)
            state.log_mean[:] = np.log(eta).swapaxes(1, 2)
            base = log_p_labels_hcbcc(TWO_CLASSES, z, q, beta, eta)
            counts = np.bincount(list(z.values()), minlength=2)
            base += log_dirichlet_multinomial(counts, prior.class_weights)
            differences.append(kernel_joint(hcbcc, state, packed) - base)
        assert len(differences) == 8
        assert np.ptp(differences) < 1e-9


@pytest.mark.exact
def test_subtypes_differ_from_latent_kinds_only_in_the_prior_of_cells():
    """EBCC and iBCC with as many kinds: the labels have the same probability in every state."""
    from coterie.kernels.gibbs import ebcc
    from coterie.priors import EBCCPrior

    prior = IBCCPrior(MEAN_2, **RATES_2).resolve(2, 2)
    nested = EBCCPrior(MEAN_2, **RATES_2, subtypes=2).resolve(2, 2)
    one, other = ibcc.pack_prior(prior, LATENT), ebcc.pack_prior(nested)
    choices = Modules().space
    apart = set()
    for cells in itertools.product(range(4), repeat=3):
        seen = dict(enumerate(cells))
        views = []
        for module, packed in ((ibcc, one), (ebcc, other)):
            name = "kinds.ibcc" if module is ibcc else "ebcc"
            reference = Cells(TWO_CLASSES, [0, 1, 0, 1], [0, 0, 1, 1], [], [], None, None)
            views.append(ModelCase(name, packed, reference).view(None, seen))
        np.testing.assert_allclose(
            log_rows(views[0].rows, 2), log_rows(views[1].rows, 2), rtol=1e-12
        )
        apart.add(round(np.subtract(*(choices.log_choices(v.chosen, v.space) for v in views)), 9))
    assert len(apart) > 3


@pytest.mark.exact
def test_class_weights_of_a_are_one_flat_dirichlet_over_cells():
    """EBCC by Gibbs: eps mu[t] = a for all t, with sub-types of a / S each."""
    modules, a, n_subtypes = Modules(), 0.7, 3
    space = modules.space.nested_space(np.full(2, a), n_subtypes, a)
    for cells in ([], [0], [0, 0, 1], [5, 2, 2, 0], [1, 1, 1, 4, 3]):
        chosen = nothing_chosen(modules, space)
        for f in cells:
            modules.space.choose(f, 1, False, chosen, space)
        flat = log_dirichlet_multinomial(np.bincount(cells, minlength=6), [a / n_subtypes] * 6)
        np.testing.assert_allclose(modules.space.log_choices(chosen, space), flat, atol=1e-12)
        for f in range(6):
            prior = (cells.count(f) + a / n_subtypes) / (len(cells) + 2 * a)
            np.testing.assert_allclose(modules.space.cell_prior(f, chosen, space), prior)
