"""Where tests find the paper's data: COTERIE_DATA, or a folder beside the project."""

import os
from pathlib import Path

import pytest

from coterie import datasets

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
BESIDE = SHARED / "data" / "raw"


def load(name):
    """Load one of the paper's sets without the network, or skip with a word."""
    folder = Path(os.environ.get("COTERIE_DATA") or BESIDE)
    if not folder.is_dir():
        pytest.skip(
            "the paper's data are not there: set COTERIE_DATA to the folder that holds them"
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COTERIE_DATA", str(folder))
        return datasets.load(name)
