"""EBCC by Gibbs sampling: its map and nested prior against the reference; what it reduces to."""

import numpy as np
import pytest

import coterie
from coterie.kernels.cells import space
from coterie.kernels.gibbs import ebcc
from coterie.kernels.keep import Streams, keep_nothing, new_keep
from coterie.priors import EBCCPrior
from ladder.cases import MEAN_2, RATES_2
from ladder.cells import checks
from ladder.cells.checks import Modules
from ladder.cells.models import ModelCase, check_chain, check_geweke
from ladder.marks import needs_compiler
from reference.cells import Cells
from reference.problem import TWO_CLASSES, TWO_REPEATED

MEAN_3 = [[0.6, 0.25, 0.15], [0.2, 0.7, 0.1]]


def with_subtypes(problem, n_subtypes=2, weight=0.9, **settings):
    """The model as it is written down: cells s T + t, a row of one's own for each."""
    n_classes, n_answers = problem.n_classes, problem.n_answers
    prior = EBCCPrior(subtypes=n_subtypes, subtype_weight=weight, **settings)
    prior = prior.resolve(n_classes, n_answers)
    class_of = list(range(n_classes)) * n_subtypes
    kind_of = [s for s in range(n_subtypes) for _ in range(n_classes)]
    n_cells, each = len(class_of), weight / n_subtypes
    pairs = list(zip(class_of, kind_of, strict=True))
    cells = Cells(
        problem=problem,
        class_of=class_of,
        kind_of=kind_of,
        choices=[[(0, t) for t in class_of], pairs],
        weights=[
            {(0, t): prior.class_weights[t] for t in range(n_classes)},
            dict.fromkeys(pairs, each),
        ],
        row=np.arange(problem.n_annotators * n_cells).reshape(-1, n_cells),
        shapes=np.array(
            [
                prior.strength[t] * prior.mean[t]
                for _ in range(problem.n_annotators)
                for t in class_of
            ]
        ),
    )
    return ModelCase("ebcc", ebcc.pack_prior(prior), cells)


REPEATED = with_subtypes(TWO_REPEATED, mean=MEAN_3, **RATES_2)
PLAIN = with_subtypes(TWO_CLASSES, mean=MEAN_2, **RATES_2)


@pytest.mark.exact
def test_weights_are_differences_of_the_joint():
    checks.check_weights(Modules(), REPEATED)


@pytest.mark.exact
def test_forgetting_the_nested_factor_is_caught(monkeypatch):
    """A planted bug: sub-types weighed as if all were equally frequent in their class."""
    right = space.nested_space

    def forgetful(class_weight, n_subtypes, subtype_weight):
        nested = right(class_weight, n_subtypes, subtype_weight)
        return nested._replace(option=nested.option[:1])

    monkeypatch.setattr(ebcc, "nested_space", forgetful)
    with pytest.raises(AssertionError):
        checks.check_weights(Modules(), with_subtypes(TWO_REPEATED, mean=MEAN_3, **RATES_2))


@needs_compiler
@pytest.mark.slow
def test_visited_cells_have_the_exact_probabilities():
    check_chain(REPEATED)


@needs_compiler
@pytest.mark.slow
def test_geweke():
    check_geweke(PLAIN)


@needs_compiler
@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
def test_one_subtype_is_ibcc_with_the_same_stream():
    crowd = coterie.simulate("mixed", items=40, annotators=8, random_state=2)
    settings = {"sweeps": 60, "burn_in": 20, "chains": 2, "random_state": 5, "progress": False}
    prior = {"mean": 0.8, "strength": 4.0, "class_weights": [1.0, 2.0, 3.0]}
    one = coterie.EBCCGibbs(prior=coterie.EBCCPrior(**prior, subtypes=1), **settings)
    other = coterie.IBCC(prior=coterie.IBCCPrior(**prior), **settings)
    one, other = (model.fit(crowd.annotations).posterior_ for model in (one, other))
    np.testing.assert_allclose(one.item_probability, other.item_probability, atol=1e-12)
    np.testing.assert_allclose(one.confusion_mean, other.confusion_mean, atol=1e-12)
    trace, expected = (p.draws.trace["log_joint"] for p in (one, other))
    np.testing.assert_allclose(trace, expected, rtol=1e-10)


def test_draws_average_to_the_means():
    """A draw's matrices, over many draws of one state, have the mean that is added up."""
    data, state = REPEATED.problem.codes, REPEATED.state(REPEATED.states[5])
    rng = np.random.default_rng(3)
    streams = Streams(rng, rng, rng)
    scratch = ebcc.new_scratch(state, data, REPEATED.prior)
    drawn = [draw(state, data, streams, scratch) for _ in range(1_500)]
    means, matrices = drawn[0][0], np.array([d[1] for d in drawn])
    error = matrices.std(axis=0) / np.sqrt(len(matrices))
    assert (np.abs(matrices.mean(axis=0) - means) <= 4.5 * error + 1e-12).all()
    np.testing.assert_allclose(matrices.sum(axis=-1), 1, rtol=1e-9)


def draw(state, data, streams, scratch):
    keep = new_keep(data, keep_nothing(data).vote, draws=1, every=1)
    keep = keep._replace(confusion=keep.confusion.astype(np.float64))
    ebcc.keep_draw(state, data, REPEATED.prior, streams, keep, scratch)
    return keep.confusion_sum, keep.confusion[0]


def test_class_weights_by_votes_are_numbers_before_they_are_sampled_with():
    crowd = coterie.simulate("mixed", items=30, annotators=6, random_state=2)
    model = coterie.EBCCGibbs(prior=coterie.EBCCPrior(class_weights="votes"))
    weights = model.resolve_prior(crowd.annotations).class_weights
    np.testing.assert_allclose(weights.sum(), 30)
