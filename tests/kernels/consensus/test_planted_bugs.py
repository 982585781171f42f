"""Tests of the tests: each bug planted in Consensus is caught by the check named for it."""

import pytest

from ladder.consensus.bugs import BUGS
from ladder.sampler import planted


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    case, check, edits = BUGS[bug]
    sampler = planted(case, tmp_path, edits)  # outside: an edit that fits nowhere is no catch
    with pytest.raises(AssertionError):
        check(sampler, case)


CHECKS = {(check.__name__, id(case)): (case, check) for case, check, _ in BUGS.values()}


@pytest.mark.parametrize("which", CHECKS, ids=lambda which: which[0])
def test_without_the_bug_the_check_passes(which, tmp_path):
    case, check = CHECKS[which]
    check(planted(case, tmp_path), case)
