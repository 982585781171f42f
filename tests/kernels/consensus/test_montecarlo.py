"""Whole chains of Consensus: against importance sampling, and Geweke's joint test."""

import pytest

from ladder.consensus.cases import REPEATED_CASE, THREE, THREE_CASE, TWO_CASE, case, real
from ladder.consensus.geweke import check_geweke
from ladder.consensus.montecarlo import check_posterior
from ladder.geweke import CROWD
from ladder.marks import needs_compiler, rest_slow

pytestmark = needs_compiler


@pytest.mark.parametrize(
    "case", rest_slow([TWO_CASE, REPEATED_CASE, THREE_CASE], 0), ids=["two", "repeated", "three"]
)
def test_averages_are_those_of_the_posterior(case):
    check_posterior(real(), case)


@pytest.mark.slow
def test_prior_and_chain_agree():
    check_geweke(real(), case(CROWD, THREE))
