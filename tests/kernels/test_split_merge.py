"""Splits and merges of cBCC's groups: exact, on all states of small problems."""

import numpy as np
import pytest

from coterie.kernels.gibbs.split_merge import is_accepted
from ladder import split_merge, split_merge_checks
from ladder.caught import assert_caught, controls
from ladder.sampler import planted, real
from ladder.split_merge_bugs import BUGS

pytestmark = pytest.mark.exact
CASE = split_merge.CBCC


def test_a_split_or_merge_is_stationary():
    split_merge_checks.check_split_is_stationary(real(CASE), CASE)


def test_ratios_are_differences_of_the_joint():
    split_merge_checks.check_split_ratio(real(CASE), CASE)


def test_others_go_where_they_are_more_probable():
    split_merge_checks.check_sides(real(CASE), CASE)


def test_pairs_are_chosen_as_is_said():
    split_merge_checks.check_pairs(real(CASE), CASE)


def test_every_order_is_equally_probable():
    split_merge_checks.check_orders(real(CASE), CASE)


def test_what_has_no_ratio_is_never_accepted():
    assert not is_accepted(np.nan, 0.0)
    assert not is_accepted(-np.inf, 0.0)


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    assert_caught(BUGS[bug], planted, tmp_path)


@pytest.mark.parametrize(("case", "check"), controls(BUGS))
def test_without_a_bug_the_check_passes(case, check, tmp_path):
    check(planted(case, tmp_path), case)
