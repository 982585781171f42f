"""Blocked samplers on the ladder: exact at given matrices, and against enumeration and Geweke."""

import numpy as np
import pytest

from kernels.test_geweke import CASES
from ladder import checks
from ladder.blocked import (
    blocked,
    check_block,
    check_given,
    check_stationary,
    check_weights,
    planted_blocked,
)
from ladder.cases import CBCC_2, CBCC_3, HCBCC_3, IBCC_2, IBCC_3, LARGER, REPEATED, SMALL
from ladder.cases import name as name_of
from ladder.caught import assert_caught, controls
from ladder.geweke import check_geweke
from ladder.marks import needs_compiler
from ladder.montecarlo import Chain, assert_means, check_enumeration
from reference.exact import item_probabilities, predictive

every_case = pytest.mark.parametrize("case", SMALL + REPEATED + LARGER, ids=name_of)


@pytest.mark.exact
@every_case
def test_weights_are_differences_of_the_joint_at_given_matrices(case):
    check_weights(blocked(case), case)


@pytest.mark.exact
@every_case
def test_truths_are_stationary_at_given_matrices(case):
    check_stationary(blocked(case), case)


@pytest.mark.exact
@every_case
def test_counts_are_a_recount_after_every_sweep(case, tmp_path):
    checks.check_bookkeeping(planted_blocked(case, tmp_path), case)


@pytest.mark.exact
@pytest.mark.slow  # nobody else needs them compiled
@every_case
def test_counts_of_compiled_sweeps_are_a_recount(case):
    checks.check_bookkeeping(blocked(case), case)


@pytest.mark.slow
@pytest.mark.parametrize("case", [IBCC_3, CBCC_3, HCBCC_3], ids=name_of)
def test_matrices_are_drawn_from_their_counts(case):
    check_given(blocked(case), case, n_draws=500)


@needs_compiler
@pytest.mark.slow
@every_case
def test_visited_states_have_the_exact_probabilities(case):
    check_enumeration(blocked(case), case, n_draws=6_000)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("model", CASES)
def test_prior_and_chain_agree(model):
    check_geweke(blocked(CASES[model]), CASES[model], n_draws=8_000)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("case", [IBCC_3, CBCC_3, HCBCC_3], ids=name_of)
def test_item_probabilities_are_averaged_conditionals(case):
    posterior, problem = case.posterior(), case.problem
    exact = item_probabilities(problem, posterior)
    unlabelled = np.setdiff1d(np.arange(problem.n_items), problem.counted)
    exact[unlabelled] = predictive(problem, posterior, case.prior.class_weights)
    chain = Chain(blocked(case), case, 2)
    batches = np.array([chain.sweep(200)[0].probability / 200 for _ in range(150)])
    sites = [(i, t) for i in range(problem.n_items) for t in range(1, problem.n_classes)]
    assert_means({s: batches[:, *s] for s in sites}, {s: exact[s] for s in sites})


def check_enumeration_briefly(sampler, case):
    check_enumeration(sampler, case, n_draws=3_000, thin=1)


def check_given_briefly(sampler, case):
    check_given(sampler, case, n_draws=300)


ITEMS, GIVEN, WHOLE = (f"kernels/gibbs/blocked/{part}.py" for part in ("items", "given", "whole"))
BUGS = {
    "class balance forgotten": (
        IBCC_3, check_weights,
        [(ITEMS, "a, b, c = given.balance[0], given.balance[1], given.balance[2]",
          "a, b, c = 1.0, 1.0, 1.0")],
    ),
    "matrix transposed": (
        IBCC_2, check_weights,
        [(ITEMS, "weights[0], weights[1] = a, b\n", "weights[0], weights[1] = b, a\n")],
    ),
    "last label skipped": (
        IBCC_3, check_stationary,
        [(ITEMS, "np.uintp(items.item_start[i + 1])):\n"
          "        place = np.uintp(items.item_cell[label]) * np.uintp(3)",
          "np.uintp(items.item_start[i + 1]) - np.uintp(1)):\n"
          "        place = np.uintp(items.item_cell[label]) * np.uintp(3)")],
    ),
    "one number for all items": (
        CBCC_2, check_enumeration_briefly,
        [(ITEMS, "u, _ = uniforms(stream, items.key[i], 0)",
          "u, _ = uniforms(stream, items.key[0], 0)")],
    ),
    "the same numbers in every sweep": (
        CBCC_2, check_enumeration_briefly,
        [(WHOLE, "Stream(int(rng.random() * WORDS), int(rng.random() * WORDS), 0)",
          "Stream(1, 2, 0)")],
    ),
    "counts are not forgotten": (
        IBCC_2, check_block,
        [(WHOLE, "    clear_totals(whole.totals)\n", "")],
    ),
    "matrices know nothing of the labels": (
        IBCC_3, check_given_briefly,
        [(GIVEN, "draw_log_gamma(shapes.weight[base, c, t] + said[c, t], rng)",
          "draw_log_gamma(shapes.weight[base, c, t], rng)")],
    ),
    "balance knows nothing of the items": (
        IBCC_3, check_given_briefly,
        [(GIVEN, "class_weight[t] + class_total[t]", "class_weight[t]")],
    ),
    "known items drawn": (
        IBCC_3, checks.check_bookkeeping,
        [(ITEMS, "if truth < 0 and items", "if items")],
    ),
    "members do not share the matrix": (
        CBCC_3, check_given_briefly,
        [("kernels/gibbs/blocked/cbcc.py", "if m >= 0 and first[m] < 0:", "if m >= 0:")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    assert_caught(BUGS[bug], planted_blocked, tmp_path)


@pytest.mark.parametrize(("case", "check"), controls(BUGS))
def test_without_a_bug_the_check_passes(case, check, tmp_path):
    check(planted_blocked(case, tmp_path), case)
