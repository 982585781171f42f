"""A file of labels for the commands."""

import pytest

from builders.command import ROWS


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(ROWS, "utf-8")
    return path
