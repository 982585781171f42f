"""Geweke's joint test of the three samplers."""

import pytest

from coterie.priors import CBCCPrior, IBCCPrior
from ladder.cases import MEAN_3, ONE_ONE, RATES_3, case, hierarchical
from ladder.geweke import CROWD, check_geweke
from ladder.marks import needs_compiler
from ladder.sampler import real

pytestmark = [needs_compiler, pytest.mark.slow]

CASES = {
    "ibcc": case("ibcc", CROWD, IBCCPrior(MEAN_3, **RATES_3)),
    "cbcc": case("cbcc", CROWD, CBCCPrior(MEAN_3, **RATES_3, concentration=ONE_ONE)),
    "hcbcc": case("hcbcc", CROWD, hierarchical(MEAN_3, RATES_3, auxiliaries=3)),
}


@pytest.mark.parametrize("model", CASES)
def test_prior_and_chain_agree(model):
    check_geweke(real(CASES[model]), CASES[model])
