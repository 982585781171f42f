"""Splits and merges of groups: exact, on all states of small problems."""

import numpy as np
import pytest

from coterie.kernels.gibbs.split_merge import is_accepted
from ladder import split_merge
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
    split_merge.check_split_is_stationary(*SAMPLERS[model])


@pytest.mark.parametrize("model", ["cbcc", "hcbcc"])
def test_ratios_are_differences_of_the_joint(model):
    split_merge.check_split_ratio(*SAMPLERS[model])


def test_every_pair_and_every_order_is_equally_probable():
    split_merge.check_pairs_and_orders(*SAMPLERS["cbcc"])


def test_what_has_no_ratio_is_never_accepted():
    assert not is_accepted(np.nan, 0.0)
    assert not is_accepted(-np.inf, 0.0)


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    case, check, edits = BUGS[bug]
    sampler = planted(case, tmp_path, edits)  # outside: an edit that fits nowhere is no catch
    with pytest.raises(AssertionError):
        check(sampler, case)


CONTROLS = {(id(case), check): (case, check) for case, check, _ in BUGS.values()}


@pytest.mark.parametrize("which", CONTROLS.values(), ids=lambda which: which[1].__name__)
def test_without_the_bug_the_check_passes(which, tmp_path):
    case, check = which
    check(planted(case, tmp_path), case)
