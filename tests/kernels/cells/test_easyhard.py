"""EasyHardBCC's row map and prior against the reference; the models that it reduces to."""

import numpy as np
import pytest

import coterie
from coterie.kernels.gibbs import easyhard
from coterie.kernels.keep import Streams, keep_nothing, new_keep
from coterie.priors import EasyHardPrior
from coterie.report.kinds import kind_facts
from ladder.cases import CBCC_2, IBCC_2, MEAN_2, RATES_2
from ladder.cells import checks
from ladder.cells.checks import Modules
from ladder.cells.counts import log_rows
from ladder.cells.models import ModelCase, check_chain, check_geweke
from ladder.marks import needs_compiler
from ladder.sampler import all_states
from reference.cells import Cells
from reference.problem import TWO_CLASSES, TWO_REPEATED

MEAN_3 = [[0.6, 0.25, 0.15], [0.2, 0.7, 0.1]]
EASY_3 = [[0.9, 0.06, 0.04], [0.08, 0.85, 0.07]]


def easy_hard(problem, **settings):
    """The model as it is written down: cells k T + t, easy rows first, then everybody's own."""
    n_classes, n_answers = problem.n_classes, problem.n_answers
    prior = EasyHardPrior(**settings).resolve(n_classes, n_answers)
    classes = list(range(n_classes))
    own = [[n_classes * (l + 1) + t for t in classes] for l in range(problem.n_annotators)]
    easy = [prior.easy_strength[t] * prior.easy_mean[t] for t in classes]
    hard = [prior.strength[t] * prior.mean[t] for t in classes]
    cells = Cells(
        problem=problem,
        class_of=classes * 2,
        kind_of=[0] * n_classes + [1] * n_classes,
        choices=[[(0, t) for t in classes * 2], [(0, k) for k in (0, 1) for _ in classes]],
        weights=[
            {(0, t): prior.class_weights[t] for t in classes},
            {(0, k): prior.kind_weights[k] for k in (0, 1)},
        ],
        row=np.array([classes + rows for rows in own]),
        shapes=np.array(easy + hard * problem.n_annotators),
    )
    return ModelCase("easyhard", easyhard.pack_prior(prior), cells)


REPEATED = easy_hard(
    TWO_REPEATED, mean=MEAN_3, easy_mean=EASY_3, easy_strength=[9.0, 6.0], kind_weights=[1.5, 0.8],
    **RATES_2,
)  # fmt: skip
PLAIN = easy_hard(TWO_CLASSES, mean=MEAN_2, kind_weights=[1.5, 0.8], easy_strength=8.0, **RATES_2)


@pytest.mark.exact
def test_weights_are_differences_of_the_joint():
    checks.check_weights(Modules(), REPEATED)


@needs_compiler
@pytest.mark.slow
def test_visited_cells_have_the_exact_probabilities():
    check_chain(REPEATED)


@needs_compiler
@pytest.mark.slow
def test_geweke():
    check_geweke(PLAIN)


@pytest.mark.exact
@pytest.mark.parametrize(("kept", "base"), [(1, IBCC_2), (0, CBCC_2)], ids=["ibcc", "one cluster"])
def test_reduces_to(kept, base):
    """w_easy -> 0 is iBCC, w_hard -> 0 is cBCC with one cluster: log joints differ by a constant.

    With a weight of 1e-12 the other kind costs 27 nats an item; with all in one, it is the limit.
    """
    weights = [1e-12, 1e-12]
    weights[kept] = 1.0
    rates = dict(RATES_2) | {"easy_strength": RATES_2["strength"]}
    case = easy_hard(TWO_CLASSES, mean=MEAN_2, easy_mean=MEAN_2, kind_weights=weights, **rates)
    modules, differences = Modules(), []
    together = [q for q in all_states(base) if q[1] is None or len(set(q[1].values())) == 1]
    for z, q in together:
        cell = {i: 2 * kept + t for i, t in z.items()}
        view = case.view(modules, cell)
        got = modules.space.log_choices(view.chosen, view.space)
        got += log_rows(view.rows, 2)
        differences.append(got - base.log_joint(z, q, 1.0, None, None))
    assert len(together) == 8
    assert np.ptp(differences) < 1e-9
    others = case.posterior
    assert sum(p for s, p in others.items() if {f // 2 for f in s} == {kept}) > 1 - 1e-9


@needs_compiler
@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
def test_hard_items_are_found_and_who_is_good_at_them():
    crowd = coterie.simulate("easy-hard", items=300, annotators=12, random_state=1)
    model = coterie.EasyHardBCC(sweeps=400, burn_in=200, chains=2, random_state=0)
    posterior = model.fit(crowd.annotations).posterior_
    table = posterior.difficulty()
    assert table.columns.tolist() == ["item", "label", "hardness", "n_labels"]
    assert table["hardness"].is_monotonic_decreasing
    hard = (crowd.kinds == "hard").reindex(table["item"])
    assert table["hardness"][hard.to_numpy()].mean() > table["hardness"][~hard.to_numpy()].mean()
    extra = posterior.draws.extra
    assert extra["hard_accuracy"].values.shape[-1] == 12
    np.testing.assert_allclose(posterior.labels()["hardness"].sum(), table["hardness"].sum())
    best = kind_facts(posterior)["hard"]["people"]
    assert [row["accuracy"] for row in best] == sorted((r["accuracy"] for r in best), reverse=True)
    assert all(row["low"] <= row["accuracy"] <= row["high"] for row in best)
    experts = crowd.groups.index[crowd.groups == "expert"]
    assert best[0]["annotator"] in set(experts)
    with pytest.raises(coterie.CoterieError, match="fit EasyHardBCC or Consensus"):
        coterie.MajorityVote().fit(crowd.annotations).posterior_.difficulty()


def test_draws_average_to_the_means():
    """A draw's matrices, over many draws of one state, have the mean that is added up."""
    case = REPEATED
    data, state = case.problem.codes, case.state(case.states[5])
    rng = np.random.default_rng(3)
    streams = Streams(rng, rng, rng)
    scratch = easyhard.new_scratch(state, data, case.prior)
    drawn = [draw(case, state, data, streams, scratch) for _ in range(2_000)]
    means, matrices = drawn[0][0], np.array([d[1] for d in drawn])
    error = matrices.std(axis=0) / np.sqrt(len(matrices))
    assert (np.abs(matrices.mean(axis=0) - means) <= 4.5 * error + 1e-12).all()
    np.testing.assert_allclose(matrices.sum(axis=-1), 1, rtol=1e-9)


def draw(case, state, data, streams, scratch):
    layout = easyhard.layout_of(data, case.prior)
    keep = new_keep(data, keep_nothing(data).vote, draws=1, every=1, layout=layout)
    keep = keep._replace(confusion=keep.confusion.astype(np.float64))
    easyhard.keep_draw(state, data, case.prior, streams, keep, scratch)
    return keep.confusion_sum, keep.confusion[0]
