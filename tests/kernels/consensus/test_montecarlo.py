"""Whole chains of Consensus: against importance sampling, and Geweke's joint test."""

import numba
import pytest

from ladder.consensus.cases import REPEATED_CASE, THREE, THREE_CASE, TWO_CASE, case, real
from ladder.consensus.geweke import check_geweke
from ladder.consensus.montecarlo import check_posterior
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


@pytest.mark.parametrize(
    "case", [TWO_CASE, REPEATED_CASE, THREE_CASE], ids=["two", "repeated", "three"]
)
def test_averages_are_those_of_the_posterior(case):
    check_posterior(real(), case)


def test_prior_and_chain_agree():
    check_geweke(real(), case(CROWD, THREE))
