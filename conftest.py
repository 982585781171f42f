"""Before the tests: no clocks, plain numbers in doctests."""

import re
import signal
from collections.abc import Generator

import hypothesis
import numpy as np
import pytest

# Sphinx reads its settings itself; what tests install knows nothing of Sphinx.
# A test of the door follows the page on adding a model, commands and all.
collect_ignore = ["docs/conf.py", "docs/adding-a-model.md"]

# In the background of a shell Ctrl-C is ignored, by all that is started there too: tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

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


@pytest.fixture(autouse=True)
def _page_in_a_folder_of_its_own(request: pytest.FixtureRequest) -> None:
    """Run examples in a folder of their own: they may write files.

    A page finds the CSV that it shows there as labels.csv, pages on platforms small exports.
    """
    if not isinstance(request.node, pytest.DoctestItem):
        return
    folder = request.getfixturevalue("tmp_path")
    request.getfixturevalue("monkeypatch").chdir(folder)
    if request.node.path.suffix != ".md":
        return
    if request.node.path.parent.name == "platforms" or request.node.path.stem == "label-studio":
        from builders.exports import place_all

        place_all(folder)
    shown = re.search(r"^```csv\n(.*?)^```", request.node.path.read_text("utf-8"), re.M | re.S)
    if shown:
        (folder / "labels.csv").write_text(shown[1], "utf-8")
