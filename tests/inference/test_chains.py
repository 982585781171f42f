"""Chains: what they keep, that threads and blocks change nothing, when they stop."""

import warnings

import numpy as np
import pytest

import coterie
from builders.runs import CROWD, bits, fit, fit_quietly, interrupt_after
from coterie.errors import ConvergenceWarning, DataError
from coterie.inference import chain as one_chain
from coterie.inference.chain import make_plan
from coterie.kernels.people import Crowd, People
from coterie.kernels.space import classes_alone


@pytest.fixture(scope="module")
def uninterrupted():
    return fit_quietly()


def people(n, n_classes=3):
    """So many people, and matrices of so many rows and columns."""
    return People(Crowd(np.ones(n), n_classes, n_classes), classes_alone(np.ones(n_classes)))


def test_draws_are_thinned_to_a_budget():
    assert make_plan(10_000, 3_000, None, people(100)).thin == 7
    assert make_plan(500, 100, None, people(100)).thin == 1
    assert make_plan(10_000, 3_000, 50, people(100)).draws == 140
    large = make_plan(10_000, 3_000, None, people(1_000_000))
    assert large.draws * 1_000_000 * 4 <= 256 * 2**20
    matrices = make_plan(10_000, 3_000, None, people(10_000))
    assert matrices.draws // matrices.matrix_thin * 90_000 * 4 <= 64 * 2**20


def test_chains_are_looked_at_after_burn_in_every_500_sweeps_and_at_the_end():
    plan = make_plan(10_000, 3_000, None, people(10))
    looks = [plan.next_look(done) for done in (0, 3_001, 3_497, 9_999)]
    assert looks == [3_000, 3_497, 3_497, 10_000]


def test_the_trace_has_every_sweep_and_the_draws_are_thinned(uninterrupted):
    draws = uninterrupted.draws
    assert uninterrupted.run.keys() == {
        "stopped", "sweeps", "burn_in", "chains", "left_out", "modes", "resumed", "verdicts",
    }  # fmt: skip
    assert draws.trace["log_joint"].shape == (3, 300)
    assert draws.partition.shape == (3, 300, 10)
    sparse = fit_quietly(thin=7)
    assert sparse.draws.partition.shape == (3, 42, 10)
    assert sparse.draws.trace["log_joint"].shape == (3, 294)
    # What is kept does not change where the chains go.
    np.testing.assert_array_equal(sparse.draws.partition, draws.partition[:, 6::7])
    np.testing.assert_array_equal(
        sparse.draws.trace["log_joint"], draws.trace["log_joint"][:, :294]
    )


def test_the_number_of_coteries_is_that_of_the_partition(uninterrupted):
    draws = uninterrupted.draws
    count = [[len(set(q)) for q in chain] for chain in draws.partition.tolist()]
    np.testing.assert_array_equal(draws.n_coteries, count)


@pytest.mark.parametrize(("n_jobs", "seconds"), [(1, None), (2, None), (-1, None), (3, 0.0)])
def test_the_same_seed_gives_the_same_bits_whatever_the_threads_and_blocks(
    uninterrupted, n_jobs, seconds, monkeypatch
):
    if seconds is not None:
        monkeypatch.setattr(one_chain, "BLOCK_SECONDS", seconds)  # a sweep a block
    assert bits(fit_quietly(n_jobs=n_jobs)) == bits(uninterrupted)


def test_other_seeds_give_other_draws(uninterrupted):
    assert bits(fit_quietly(random_state=5)) != bits(uninterrupted)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"burn_in": 400},
            "HCBCC drops 400 of 400 sweeps, which leaves nothing; raise sweeps= or lower burn_in=",
        ),
        (
            {"thin": 301},
            "HCBCC keeps every 301th of 300 sweeps after burn-in, which leaves nothing; "
            "lower thin=",
        ),
        (
            {"prior": coterie.IBCCPrior()},
            "HCBCC takes prior='paper' or a HCBCCPrior, got"
            " IBCCPrior(mean=0.7, strength=3.0, class_weights=1.0, kind_weights=1.0)",
        ),
    ],
)
def test_settings_that_leave_nothing_get_one_sentence(changes, sentence):
    with pytest.raises(DataError) as error:
        fit(**changes)
    assert str(error.value) == sentence


def test_converged_chains_stop_at_a_fixed_sweep_number():
    posterior = coterie.IBCC(random_state=0, burn_in=200).fit(CROWD.annotations).posterior_
    assert posterior.run["stopped"] == "converged"
    assert posterior.converged
    sweeps = posterior.run["sweeps"]
    assert sweeps < 10_000
    plan = make_plan(10_000, 200, None, people(10))
    assert (sweeps - 200) % plan.check == 0
    longer = coterie.IBCC(random_state=0, burn_in=200, sweeps=10_000, early_stop=False, n_jobs=1)
    whole = longer.fit(CROWD.annotations).posterior_
    assert (whole.run["stopped"], whole.run["sweeps"]) == ("sweeps", 9_992)
    kept = sweeps - 200
    for name, trace in posterior.draws.trace.items():
        np.testing.assert_array_equal(trace, whole.draws.trace[name][:, :kept])


@pytest.mark.parametrize("kept", [1, 2, 3])
@pytest.mark.parametrize("kind", ["IBCC", "HCBCC"])
def test_next_to_no_draws_are_a_warning_not_a_crash(kind, kept):
    model = getattr(coterie, kind)(sweeps=20 + kept, burn_in=20, chains=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Labels not settled: 2 chains"):
        posterior = model.fit(CROWD.annotations).posterior_
    assert posterior.draws.class_balance.shape[1] == kept
    assert not posterior.converged


def test_many_annotators_do_not_all_start_alone():
    codes = coterie.data.codes.encode(
        np.zeros(3_000, int), np.arange(3_000), np.zeros(3_000, int), sizes=(1, 3_000, 2, 2)
    )
    group = one_chain.starting_group(1, codes, np.random.default_rng(0))
    assert len(set(group.tolist())) == one_chain.MOST_GROUPS


def test_a_lone_chain_is_judged_by_its_traces():
    with pytest.warns(ConvergenceWarning, match=r"have not converged after 120 sweeps: R-hat") as w:
        posterior = fit(sweeps=120, burn_in=20, early_stop=True, chains=1)
    assert not posterior.converged
    numbers = w[0].message.numbers
    assert numbers["r_hat"] > 1.01 or numbers["ess_bulk"] < 400


def test_chains_that_give_one_label_have_converged_whatever_r_hat_says():
    posterior = fit(sweeps=120, burn_in=20)
    assert posterior.converged
    assert posterior.verdicts.labels.settled
    assert not posterior.draws.settled()


def test_ctrl_c_keeps_the_draws_and_gives_a_result(monkeypatch, uninterrupted):
    interrupt_after(monkeypatch, 250)
    with pytest.warns(ConvergenceWarning, match="interrupted after 250 of 400 sweeps"):
        posterior = fit_warning()
    assert posterior.run["stopped"] == "interrupted"
    np.testing.assert_array_equal(posterior.draws.partition, uninterrupted.draws.partition[:, :150])
    np.testing.assert_allclose(posterior.item_probability.sum(axis=1), 1)


def fit_warning(**changes):
    """Fit, letting only the warning of an interruption through."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*have not converged.*")
        return fit(**changes)


def test_ctrl_c_in_burn_in_has_nothing_to_give(monkeypatch):
    interrupt_after(monkeypatch, 50)
    with pytest.raises(KeyboardInterrupt):
        fit()
