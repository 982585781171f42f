"""Where chains ended: which of them are pooled, and why not the others."""

import numpy as np

from coterie.inference.modes import judge


def wander(*levels, sd=1.0):
    rng = np.random.default_rng(0)
    return np.array([[level] for level in levels]) + sd * rng.normal(size=(len(levels), 200))


def test_chains_in_one_mode_are_all_kept():
    verdict = judge(wander(-50, -50.2, -49.9), wander(0.9, 0.9, 0.9, sd=0.01))
    assert verdict.left_out == {}
    assert verdict.kept == [0, 1, 2]


def test_a_mirrored_chain_is_left_out_even_if_its_log_joint_is_close():
    verdict = judge(wander(-50, -51, -50), wander(0.9, 0.1, 0.9, sd=0.02))
    assert verdict.left_out == {1: "mirrored"}
    assert verdict.kept == [0, 2]


def test_chains_that_visit_both_modes_are_not_mirrored():
    verdict = judge(wander(-50, -50, -50), wander(0.6, 0.25, 0.55, sd=0.4))
    assert verdict.left_out == {}


def test_a_clearly_poorer_chain_is_left_out():
    verdict = judge(wander(-50, -80, -50), wander(0.9, 0.8, 0.9, sd=0.01))
    assert verdict.left_out == {1: "poorer"}


def test_nobody_is_left_out_if_the_mirrored_chain_is_the_best():
    verdict = judge(wander(-80, -50), wander(0.9, 0.1, sd=0.01))
    assert verdict.left_out == {}


def test_constant_chains_that_agree_up_to_rounding_are_kept():
    level = np.repeat([[-50.0], [-50.0 + 1e-12]], 50, axis=1)
    assert judge(level, np.ones((2, 50))).left_out == {}


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
