"""Tests of the tests: every planted bug is caught by the check that is named for it.

The planted samplers run in plain Python; the controls show that the checks pass on the same plain
Python without a bug.
"""

import pytest

from ladder.bugs import BUGS, HCBCC_ONE_AUXILIARY
from ladder.caught import assert_caught, controls
from ladder.montecarlo import check_enumeration
from ladder.sampler import planted


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    assert_caught(BUGS[bug], planted, tmp_path)


@pytest.mark.parametrize(("case", "check"), controls(BUGS))
def test_without_a_bug_the_check_passes(case, check, tmp_path):
    check(planted(case, tmp_path), case)


def test_an_edit_that_fits_nowhere_is_an_error(tmp_path):
    with pytest.raises(AssertionError, match="occurs 0 times"):
        planted(
            HCBCC_ONE_AUXILIARY, tmp_path, [("kernels/gibbs/hcbcc/model.py", "no such text", "")]
        )


@pytest.mark.slow
def test_enumeration_too_sees_that_the_order_is_wrong(tmp_path):
    case, _, edits = BUGS["displaced after weighing"]
    sampler = planted(case, tmp_path, edits)
    with pytest.raises(AssertionError, match="chi-square"):
        check_enumeration(sampler, case, n_draws=15_000)  # p = 1e-7; with 12,000 it passes
