"""What a newcomer meets first: the names, the citation, the pages and where they lead."""

import re
import tomllib
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

NAMES = """
Annotations Beta CBCC CBCCPrior Consensus ConsensusPrior ConvergenceWarning CoterieError Crowd
DataError DataWarning DawidSkene Gamma HCBCC HCBCCPrior IBCC IBCCPrior MajorityVote Posterior
QuickConsensus Score __version__ aggregate datasets load metrics read simulate
"""


def test_the_exported_names():
    assert sorted(coterie.__all__) == sorted(NAMES.split())
    for name in coterie.__all__:
        assert getattr(coterie, name) is not None
    assert set(coterie.__all__) == set(dir(coterie))


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {coterie.__version__}\n" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"\n  - name: {project['authors'][0]['name']}\n" in text
    assert f"\nlicense: {project['license']}\n" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if not target.startswith(("https://", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_every_page_can_be_found_from_the_index():
    listed = set(
        re.search(r"```\{toctree\}(.*?)```", (ROOT / "docs/index.md").read_text("utf-8"), re.S)[
            1
        ].split()
    )
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"} <= listed


def test_the_readme_opens_with_how_to_install_it():
    text = (ROOT / "README.md").read_text("utf-8")
    assert (
        text.index("pip install coterie") < text.index("```csv") < text.index(">>> import coterie")
    )
    assert {"make demo", "make test"} <= set(re.findall(r"`(make \w+)`", text))
