"""Before the tests: kernels of the sources as they are, no clocks, plain numbers in doctests."""

import os
from collections.abc import Generator

import hypothesis
import numpy as np
import pytest

from benchmarks import cache

os.environ.setdefault("NUMBA_CACHE_DIR", str(cache.folder()))
# A busy machine is not a bug, and the first example of some tests compiles.
hypothesis.settings.register_profile(
    "coterie", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("coterie")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Show numpy's numbers as Python shows its own: compiled pieces run as Python there."""
    with np.printoptions(legacy="1.25" if item.name.startswith("coterie.numeric.") else False):
        return (yield)
