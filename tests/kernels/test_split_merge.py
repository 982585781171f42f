"""Splits and merges of groups: exact, on all states of small problems."""

import numpy as np
import pytest

from coterie.kernels.gibbs.split_merge import is_accepted
from ladder import split_merge, split_merge_checks
from ladder.caught import assert_caught, controls
from ladder.consensus import cases as consensus_cases
from ladder.sampler import planted, real
from ladder.split_merge_bugs import BUGS

pytestmark = pytest.mark.exact
SAMPLERS = {
    "cbcc": (real(split_merge.CBCC), split_merge.CBCC),
    "hcbcc": (real(split_merge.HCBCC), split_merge.HCBCC),
    "consensus": (consensus_cases.real(), split_merge.CONSENSUS),
}
every_model = pytest.mark.parametrize("model", SAMPLERS)


@every_model
def test_a_split_or_merge_is_stationary(model):
    split_merge_checks.check_split_is_stationary(*SAMPLERS[model])


@pytest.mark.parametrize("model", ["cbcc", "hcbcc"])
def test_ratios_are_differences_of_the_joint(model):
    split_merge_checks.check_split_ratio(*SAMPLERS[model])


@every_model
def test_others_go_where_they_are_more_probable(model):
    split_merge_checks.check_sides(*SAMPLERS[model])


@every_model
def test_pairs_are_chosen_as_is_said(model):
    split_merge_checks.check_pairs(*SAMPLERS[model])


def test_every_order_is_equally_probable():
    split_merge_checks.check_orders(*SAMPLERS["cbcc"])


def test_a_group_without_a_weight_is_like_none():
    """A -log nu too large for a float: the others merge all the same."""
    stage = split_merge.Stage(*SAMPLERS["hcbcc"])
    state, prior, room, run = stage.make(((0, 1, 2, 2), ()))
    room.said.decay[stage.people[0]] = np.inf
    seats = split_merge.seating(stage, state)
    for own, alike in enumerate(([0, 0.5, 0.5], [0, 0, 1], [0, 1, 0])):
        stage.pairs.gather_groups(seats, room)
        a = stage.piles.GROUPS + state.slot[own]
        stage.pairs.weigh_partners(a, -1, own, seats, prior.split, room)
        sizes = np.where(np.arange(3) == own, 0, [1, 1, 2])
        np.testing.assert_allclose(room.weights[:3], (alike + sizes / sizes.sum()) / 2)
    room.proposals[0] = 200
    with np.errstate(invalid="ignore"):  # what is no number is the point of it
        run(np.random.default_rng(1))
    assert np.all(state.group[stage.people[1:]] != state.group[stage.people[0]])


def test_what_has_no_ratio_is_never_accepted():
    assert not is_accepted(np.nan, 0.0)
    assert not is_accepted(-np.inf, 0.0)


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    assert_caught(BUGS[bug], planted, tmp_path)


@pytest.mark.parametrize(("case", "check"), controls(BUGS))
def test_without_a_bug_the_check_passes(case, check, tmp_path):
    check(planted(case, tmp_path), case)
