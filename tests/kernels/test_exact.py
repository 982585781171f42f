"""The samplers' site updates against the paper's joint: exact, on all states of small problems."""

import pytest

from ladder import checks, stationarity
from ladder.cases import (
    CBCC_2,
    CBCC_3,
    HCBCC_2,
    HCBCC_3,
    HCBCC_ONE_AUXILIARY,
    LARGER,
    MEAN_2,
    RATES_2,
    REPEATED,
    SMALL,
    case,
    hierarchical,
    name,
)
from ladder.sampler import real
from reference.problem import TWO_CLASSES

pytestmark = pytest.mark.exact
every_case = pytest.mark.parametrize("case", SMALL + REPEATED + LARGER, ids=name)
HCBCC_TWO_AUXILIARIES = case("hcbcc", TWO_CLASSES, hierarchical(MEAN_2, RATES_2, auxiliaries=2))


@every_case
def test_truth_weights_are_differences_of_the_joint(case):
    checks.check_truth_weights(real(case), case)


@pytest.mark.parametrize("case", [CBCC_2, CBCC_3, HCBCC_2, HCBCC_3], ids=name)
def test_group_weights_are_differences_of_the_joint(case):
    checks.check_group_weights(real(case), case)


@every_case
def test_counts_are_a_recount_after_every_sweep(case):
    checks.check_bookkeeping(real(case), case)


@every_case
def test_moving_items_back_undoes_moving_them_in_any_order(case):
    checks.check_moving_back_undoes_moving(real(case), case)


@pytest.mark.parametrize("case", [CBCC_2, CBCC_3, HCBCC_2, HCBCC_3], ids=name)
def test_put_back_undoes_take_out_in_any_order(case):
    checks.check_put_back_undoes_take_out(real(case), case)


@every_case
def test_every_site_has_a_uniform_number_of_its_own(case):
    checks.check_one_uniform_a_site(real(case), case)


@every_case
def test_truth_updates_are_stationary(case):
    stationarity.check_truth_is_stationary(real(case), case)


@pytest.mark.parametrize("case", [CBCC_2, CBCC_3], ids=name)
def test_group_updates_are_stationary(case):
    stationarity.check_groups_are_stationary(real(case), case)


@pytest.mark.parametrize(
    "case", [HCBCC_ONE_AUXILIARY, HCBCC_TWO_AUXILIARIES], ids=["one", "two auxiliaries"]
)
def test_reuse_updates_are_stationary(case):
    stationarity.check_reuse_is_stationary(real(case), case)
