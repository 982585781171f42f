"""For the doctests of compiled pieces, which run as Python there and give numpy's numbers."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def plain_numbers(request):
    """Show numpy's numbers as Python shows its own: the pieces' callers see no difference."""
    if request.node.name.startswith("coterie.numeric."):
        with np.printoptions(legacy="1.25"):
            yield
    else:
        yield
