"""For the doctests of compiled pieces, which run as Python there and give numpy's numbers."""

from collections.abc import Generator

import numpy as np
import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Show numpy's numbers as Python shows its own: the pieces' callers see no difference."""
    with np.printoptions(legacy="1.25" if item.name.startswith("coterie.numeric.") else False):
        return (yield)
