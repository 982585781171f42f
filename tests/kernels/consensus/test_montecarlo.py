"""Whole chains of Consensus: against importance sampling, and Geweke's joint test."""

import pytest

from ladder.consensus.cases import REPEATED_CASE, THREE, THREE_CASE, TWO_CASE, case, real
from ladder.consensus.geweke import check_geweke
from ladder.consensus.montecarlo import check_posterior
from ladder.geweke import CROWD
from ladder.marks import needs_compiler

pytestmark = [needs_compiler, pytest.mark.slow]


@pytest.mark.parametrize(
    "case", [TWO_CASE, REPEATED_CASE, THREE_CASE], ids=["two", "repeated", "three"]
)
def test_averages_are_those_of_the_posterior(case):
    check_posterior(real(), case)


def test_prior_and_chain_agree():
    check_geweke(real(), case(CROWD, THREE))
