"""Which tests need what, and which of many cases only ``make slow`` runs."""

import numba
import pytest

needs_compiler = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="long chains need the compiled kernels"
)


def rest_slow(values, *quick):
    """Give the values as parameters, all but the quick ones (by position) for ``make slow``."""
    return [
        value if k in quick else pytest.param(value, marks=pytest.mark.slow)
        for k, value in enumerate(values)
    ]
