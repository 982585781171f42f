"""Before the tests: kernels of the sources as they are, and plain numbers in doctests."""

import os
from collections.abc import Generator

import numpy as np
import pytest

from benchmarks import cache

os.environ.setdefault("NUMBA_CACHE_DIR", str(cache.folder()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Show numpy's numbers as Python shows its own: compiled pieces run as Python there."""
    with np.printoptions(legacy="1.25" if item.name.startswith("coterie.numeric.") else False):
        return (yield)
