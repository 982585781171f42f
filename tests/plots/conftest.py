"""What every test of pictures needs: a result, and no figures left open."""

import pytest
from matplotlib import pyplot

from builders.plotted import sampled


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="package")
def posterior():
    return sampled()
