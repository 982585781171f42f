"""Splits and merges of coteries that have parameters: exact, on all states of small problems."""

import numpy as np
import pytest

from coterie.kernels.gibbs.consensus.parameters import (
    draw_mean,
    note_tables,
    set_strength,
    strength_posterior,
)
from coterie.kernels.gibbs.consensus.split import know_means, split_and_merge
from coterie.kernels.gibbs.consensus.state import crowd_of
from coterie.kernels.gibbs.consensus.state import new_room as new_consensus_room
from coterie.kernels.gibbs.consensus.swap import redraw_known
from coterie.kernels.gibbs.hcbcc.members import draw_auxiliaries, sum_members, sweep_parameters
from coterie.numeric.draws import draw_log_gamma
from coterie.numeric.jit import int64, kernel
from ladder import regroup, regroup_checks
from ladder.caught import assert_caught, controls
from ladder.consensus import cases as consensus_cases
from ladder.marks import needs_compiler
from ladder.montecarlo import assert_means
from ladder.regroup_bugs import BUGS
from ladder.regroup_evidence import partition_probabilities
from ladder.sampler import canonical, planted, real

pytestmark = pytest.mark.exact
SAMPLERS = {
    "hcbcc": (real(regroup.HCBCC), regroup.HCBCC),
    "consensus": (consensus_cases.real(), regroup.CONSENSUS),
}
every_model = pytest.mark.parametrize("model", SAMPLERS)


@every_model
def test_the_density_is_the_joint(model):
    regroup_checks.check_density(*SAMPLERS[model])


@every_model
def test_the_density_of_what_is_drawn(model):
    regroup_checks.check_drawn_density(*SAMPLERS[model])


@every_model
def test_nothing_is_lost_where_shapes_are_tiny(model):
    regroup_checks.check_tiny_shapes(*SAMPLERS[model])


@every_model
def test_draws_have_that_density(model):
    regroup_checks.check_draws(*SAMPLERS[model])


@every_model
def test_pairs_are_chosen_as_is_said(model):
    regroup_checks.check_pairs(*SAMPLERS[model])


@every_model
def test_a_launch_knows_nothing_of_the_sides(model):
    regroup_checks.check_launch(*SAMPLERS[model])


@every_model
def test_there_and_back_are_in_balance(model):
    regroup_checks.check_balance(*SAMPLERS[model])


@every_model
def test_long_counts_are_weighed_the_same(model):
    regroup_checks.check_long_counts(*SAMPLERS[model])


@every_model
def test_the_fit_is_at_the_top(model):
    regroup_checks.check_fit(*SAMPLERS[model])


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    assert_caught(BUGS[bug], planted, tmp_path)


@pytest.mark.parametrize(("case", "check"), controls(BUGS))
def test_without_a_bug_the_check_passes(case, check, tmp_path):
    check(planted(case, tmp_path), case)


@kernel
def regroup_hcbcc(state, prior, room, rng, visited):
    """Update beta, eta and the groups again and again; the truth stays."""
    for draw in range(len(visited)):
        sweep_parameters(state, prior, room, rng)
        visited[draw] = state.group


@kernel
def regroup_consensus(state, crowd, prior, room, rng, visited):
    """The same, with d; w stays too."""
    for draw in range(len(visited)):
        draw_auxiliaries(crowd, room.crowd, rng)
        for k in range(state.n_coteries[0]):
            m = int64(state.slot[k])
            sum_members(m, room.crowd)
            note_tables(m, room)
            shape, log_rate = strength_posterior(room.crowd.sums, prior)
            set_strength(m, draw_log_gamma(shape, rng) - log_rate, state)
            draw_mean(m, room.tables, m, state, prior, rng)
            redraw_known(m, state, prior, room, rng.random())
        split_and_merge(state, crowd, prior, room, rng)
        visited[draw] = state.group


@needs_compiler
@every_model
def test_groups_are_visited_as_often_as_they_are_probable(model):
    """Nobody moves alone: with beta and eta integrated out, by splits and merges only."""
    stage, rng = regroup.Stage(*SAMPLERS[model]), np.random.default_rng(4)
    visited = np.zeros((30_000, len(stage.n)), np.int32)
    state, prior, room, _ = stage.made
    if model == "hcbcc":
        room.split.proposals[0] = 2
        regroup_hcbcc(state, prior, room, rng, visited)
    else:
        room = new_consensus_room(state, stage.case.problem.codes, prior)
        room.crowd.split.proposals[0] = 2
        know_means(state, prior, room)
        regroup_consensus(state, crowd_of(state), prior, room, rng, visited)
    rows, which = np.unique(visited[500:, list(stage.people)], axis=0, return_inverse=True)
    names = [tuple(canonical(dict(enumerate(row))).values()) for row in rows.tolist()]
    exact = partition_probabilities(stage)
    draws = {
        groups: np.array([name == groups for name in names], float)[which.ravel()]
        for groups in exact
    }
    assert_means(draws, exact)
