"""Tests of the tests: each bug planted in Consensus is caught by the check named for it."""

import pytest

from ladder.caught import assert_caught, controls
from ladder.consensus.bugs import BUGS
from ladder.sampler import planted


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    assert_caught(BUGS[bug], planted, tmp_path)


@pytest.mark.parametrize(("case", "check"), controls(BUGS))
def test_without_a_bug_the_check_passes(case, check, tmp_path):
    check(planted(case, tmp_path), case)
