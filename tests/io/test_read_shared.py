"""Real data sets, where they are there: every folder is read and has the sizes of the index."""

import os
import re
from pathlib import Path

import pytest

import coterie

DATA = Path(os.environ.get("COTERIE_SHARED") or Path(__file__).parents[3] / "shared" / "data")


def index():
    """Yield (name, items, annotators, labels, classes, gold items, repeated rows)."""
    path = DATA / "INDEX.md"
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:]]
        if len(cells) > 8 and cells[1].isdigit():
            yield cells[0], *(int(cells[column]) for column in (1, 2, 3, 4, 5, 8))


ROWS = list(index())


@pytest.mark.skipif(not ROWS, reason="the real data are not there: set COTERIE_SHARED")
def test_every_folder_is_in_the_index():
    assert {row[0] for row in ROWS} == {path.parent.name for path in DATA.glob("*/labels.csv")}


@pytest.mark.skipif(not ROWS, reason="the real data are not there: set COTERIE_SHARED")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
@pytest.mark.filterwarnings("ignore:items of labels.csv that differ only by blanks")
def test_the_sizes_are_those_of_the_index(row):
    name, items, annotators, labels, classes, gold, repeated = row
    folder = DATA / name
    annotations = coterie.read(
        folder / "labels.csv",
        gold=folder / "truth.csv" if gold else None,
        duplicates="keep" if repeated else "error",
    )
    assert annotations.n_items == items
    assert annotations.n_annotators == annotators
    assert annotations.n_labels == labels
    assert annotations.n_classes == classes
    assert annotations.n_repeated == repeated
    assert len(annotations.gold) == gold
    assert annotations.columns == ("item", "annotator", "label")
    assert annotations.nbytes / labels <= 24
    if name == "rte":
        assert annotations.with_gold_codes([-1] * items).describe() == (
            "800 items x 164 annotators, 8,000 labels, 2 classes, 93.9 % missing"
        )


@pytest.mark.parametrize("name", ["rte", "temp"])
def test_files_as_they_were_published(name):
    path = DATA / "raw" / name / f"{name}.standardized.tsv"
    if not path.exists():
        pytest.skip("the real data are not there: set COTERIE_SHARED")
    annotations = coterie.read(path, gold="gold")
    assert annotations.columns == ("orig_id", "!amt_worker_ids", "response")
    assert len(annotations.gold) == annotations.n_items
