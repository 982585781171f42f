"""Which tests need what."""

import numba
import pytest

needs_compiler = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="long chains need the compiled kernels"
)
