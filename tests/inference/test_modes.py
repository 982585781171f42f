"""Where chains ended: which of them are pooled, and why not the others."""

import numpy as np
import pytest

import coterie
from builders import realdata
from coterie.errors import ConvergenceWarning
from coterie.inference import chain as one_chain
from coterie.inference.verdicts import judge


def wander(*levels, sd=1.0):
    rng = np.random.default_rng(0)
    return np.array([[level] for level in levels]) + sd * rng.normal(size=(len(levels), 200))


ONE = (0.9, 0.9, 0.9)


@pytest.mark.parametrize(
    ("log_joint", "agreement", "sd", "left_out"),
    [
        ((-50, -50.2, -49.9), ONE, 0.01, {}),
        ((-50, -51, -50), (0.9, 0.1, 0.9), 0.02, {1: "mirrored"}),  # however close its log joint
        ((-50, -50, -50), (0.6, 0.25, 0.55), 0.4, {}),  # they visit both modes
        ((-50, -80, -50), (0.9, 0.8, 0.9), 0.01, {1: "poorer"}),
        ((-80, -50), (0.9, 0.1), 0.01, {}),  # the mirrored one is the best
    ],
)
def test_chains_are_left_out_where_they_are_mirrored_or_clearly_poorer(
    log_joint, agreement, sd, left_out
):
    verdict = judge(wander(*log_joint), wander(*agreement, sd=sd))
    assert verdict.left_out == left_out
    assert verdict.kept == [k for k in range(len(log_joint)) if k not in left_out]


@pytest.mark.parametrize(("apart", "left_out"), [(1e-12, {}), (4.9, {}), (5.1, {1: "poorer"})])
def test_constant_chains_differ_by_some_nats_before_one_is_poorer(apart, left_out):
    level = np.repeat([[-50.0], [-50.0 - apart]], 50, axis=1)
    assert judge(level, np.ones((2, 50))).left_out == left_out


def test_a_chain_is_not_left_out_for_one_that_falls_itself():
    # The closest to the vote is far poorer; beside the best, the other is not mirrored.
    log_joint, agreement = wander(-50, -50.1, -90), wander(0.5, 0.4, 0.95, sd=0.01)
    verdict = judge(log_joint, agreement)
    assert verdict.left_out == {2: "poorer"}
    assert verdict.better[2].chain == 0
    # Nor for one that is mirrored: with the same number of coteries at some time there is no other.
    log_joint, agreement = wander(-80, -50, -20), wander(0.9, 0.1, 0.95, sd=0.01)
    n_coteries = np.repeat([[1], [1], [3]], 200, axis=1)
    verdict = judge(log_joint, agreement, n_coteries)
    assert verdict.left_out == {1: "mirrored"}
    assert verdict.kept == [0, 2]
    assert all(mode.chain in verdict.kept for mode in verdict.better.values())


def test_densities_of_different_dimensions_are_not_compared():
    log_joint, agreement = wander(-50, -80, 600), wander(0.9, 0.9, 0.9, sd=0.01)
    n_coteries = np.ones(log_joint.shape, int)
    assert judge(log_joint, agreement, n_coteries).left_out == {0: "poorer", 1: "poorer"}
    n_coteries[2] = 2
    verdict = judge(log_joint, agreement, n_coteries)
    assert verdict.left_out == {1: "poorer"}
    assert verdict.better[1].chain == 0  # and not the one with the highest density
    n_coteries[1, -1] = 2  # once is enough: they can be compared
    n_coteries[0] = 3
    assert judge(log_joint, agreement, n_coteries).left_out == {1: "poorer"}
    n_coteries[1] = 1
    assert judge(log_joint, agreement, n_coteries).left_out == {}


def test_too_few_draws_judge_nobody():
    assert judge(wander(-50, -80)[:, :39], wander(0.9, 0.8)[:, :39]).left_out == {}
    assert judge(wander(-50, -80)[:, :40], wander(0.9, 0.8)[:, :40]).left_out == {1: "poorer"}


def test_a_chain_started_in_the_mirrored_mode_is_found_reported_and_left_out(monkeypatch):
    crowd = coterie.simulate(
        "experts", items=150, annotators=12, classes=2, labels_per_item=8, random_state=1
    )
    honest = one_chain.starting_truth

    def turned(number, data, votes, rng):
        truth = honest(number, data, votes, rng)
        return (1 - truth).astype(np.int32) if number == 2 else truth

    monkeypatch.setattr("coterie.inference.chain.starting_truth", turned)
    model = coterie.IBCC(random_state=0, sweeps=3_000, burn_in=500)
    with pytest.warns(ConvergenceWarning, match="chain 3 is mirrored") as caught:
        posterior = model.fit(crowd.annotations).posterior_
    assert posterior.run["left_out"] == {"3": "mirrored"}
    assert posterior.converged  # those that are kept agree
    assert caught[0].message.numbers["vote_agreement[3]"] < 0.1
    assert posterior.draws.class_balance.shape[0] == 3
    assert coterie.metrics.accuracy(posterior.probabilities(), crowd.truth) > 0.95


def quiz(name):
    folder = realdata.SHARED / "data" / name
    if not folder.is_dir():
        pytest.skip("the quizzes are not there: they lie beside the project in shared/data")
    return coterie.read(folder / "labels.csv")


@pytest.mark.slow
def test_on_a_hard_quiz_a_chain_in_a_poorer_mode_is_left_out():
    model = coterie.IBCC(random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        posterior = model.fit(quiz("quiz_english")).posterior_
    assert posterior.run["left_out"] == {"2": "poorer"}
    assert "chain 2 is poorer" in str(caught[0].message)
    assert posterior.draws.class_balance.shape[0] == 3


@pytest.mark.slow
def test_equally_good_modes_are_kept_and_said_to_disagree():
    model = coterie.IBCC(random_state=3)  # whose chains start on either side
    with pytest.warns(ConvergenceWarning, match="Labels not settled: 4 chains") as caught:
        posterior = model.fit(quiz("quiz_science")).posterior_
    assert posterior.run["left_out"] == {}
    assert caught[0].message.numbers["one_label"] < 0.95
    assert posterior.diagnostics()["r_hat"].max() > 2
    assert not posterior.converged
