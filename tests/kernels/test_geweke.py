"""Geweke's joint test of the three samplers."""

import numba
import pytest

from coterie.priors import CBCCPrior, IBCCPrior
from ladder.cases import MEAN_3, ONE_ONE, RATES_3, case, hierarchical
from ladder.geweke import check_geweke
from ladder.sampler import real
from reference.problem import Problem

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="long chains need the compiled kernels"
)

# Four annotators, five items, three classes and an answer that is never true; two who repeat.
CROWD = Problem(
    n_items=5,
    n_annotators=4,
    n_classes=3,
    n_answers=4,
    labels=(
        *((i, l, 0) for i in range(5) for l in range(4) if (i + 2 * l) % 5 < 3),
        *((0, 0, 0), (2, 1, 0)),
    ),
)
CASES = {
    "ibcc": case("ibcc", CROWD, IBCCPrior(MEAN_3, **RATES_3)),
    "cbcc": case("cbcc", CROWD, CBCCPrior(MEAN_3, **RATES_3, concentration=ONE_ONE)),
    "hcbcc": case("hcbcc", CROWD, hierarchical(MEAN_3, RATES_3, auxiliaries=3)),
}


@pytest.mark.parametrize("model", CASES)
def test_prior_and_chain_agree(model):
    check_geweke(real(CASES[model]), CASES[model])
