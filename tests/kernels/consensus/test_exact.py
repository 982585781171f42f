"""Consensus' steps against its definition: exact, on small problems, with no randomness."""

from dataclasses import replace

import pytest

from ladder.consensus import checks, stationarity
from ladder.consensus.cases import CASES, FREE_CASE, REPEATED_CASE, TWO, TWO_CASE, case, real
from reference.problem import TWO_CLASSES

pytestmark = pytest.mark.exact
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
ONE_AUXILIARY = case(TWO_CLASSES, TWO, auxiliaries=1)
FEW_POINTS = replace(FREE_CASE, prior=replace(FREE_CASE.prior, knowledge_points=2))
PIECES = [
    checks.check_items,
    checks.check_sources,
    checks.check_groups,
    checks.check_strength,
    checks.check_means,
    checks.check_knowledge,
    checks.check_swap,
]


@every_case
@pytest.mark.parametrize("check", PIECES, ids=lambda check: check.__name__)
def test_pieces_are_differences_of_the_joint(check, case):
    check(real(), case)


@pytest.mark.parametrize("case", [TWO_CASE, FREE_CASE], ids=["two", "free"])
def test_an_exchange_of_classes_exchanges_everything(case):
    checks.check_exchange(real(), case)


@every_case
def test_counts_are_a_recount_and_the_trace_is_the_joint(case):
    checks.check_bookkeeping(real(), case)


@pytest.mark.parametrize("case", [TWO_CASE, REPEATED_CASE], ids=["two", "repeated"])
def test_items_are_stationary(case):
    stationarity.check_items_are_stationary(real(), case)


@pytest.mark.parametrize("case", [TWO_CASE, ONE_AUXILIARY], ids=["two auxiliaries", "one"])
def test_groups_are_stationary(case):
    stationarity.check_reuse_is_stationary(real(), case)


@pytest.mark.parametrize("case", [TWO_CASE, FEW_POINTS], ids=["two", "three classes"])
def test_exchanges_are_stationary(case):
    stationarity.check_swap_is_stationary(real(), case)
