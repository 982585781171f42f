"""Text and pictures of items on the page: which columns, of which table, and again."""

import json

import pytest

from builders.command import coterie
from builders.pagetree import parse

ROWS = """id,item,annotator,label,wording,photo
1,q1,ann,yes,Is this <b>one</b> it?,https://example.org/1.png
2,q1,bob,yes,,
3,q2,ann,no,,
4,q2,bob,yes,Second?,gone.png
5,q3,ann,no,,
6,q3,bob,no,,
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "labels.csv").write_text(ROWS, "utf-8")
    return tmp_path


def aggregate(folder, *more):
    return coterie("aggregate", "labels.csv", "-m", "ds", "-o", "out", *more, cwd=folder)


def texts(path):
    return {node.words for node in parse(path.read_text("utf-8")).with_class("text")}


def test_columns_of_the_labels_stand_beside_the_items_and_are_remembered(folder):
    done = aggregate(folder, "--text", "wording", "--image", "photo")
    assert done.returncode == 0, done.stderr
    expected = {"Is this <b>one</b> it?", "Second?", "https://example.org/1.png", "gone.png"}
    assert texts(folder / "out" / "report.html") == expected
    record = json.loads((folder / "out" / "run.json").read_text("utf-8"))
    assert record["shown"] == {"text": "wording", "image": "photo", "items": None}
    assert record["finished"].endswith("+00:00")
    assert coterie("report", "out", "-o", "again.html", cwd=folder).returncode == 0
    assert texts(folder / "again.html") == expected
    (folder / "labels.csv").unlink()
    done = coterie("report", "out", "-o", "third.html", cwd=folder)
    assert "Items without their text or pictures: there is no file" in done.stdout
    assert texts(folder / "third.html") == set()


def test_a_table_of_items_of_its_own(folder):
    (folder / "items.csv").write_text("item,words\nq3,third\nq9,ninth\n", "utf-8")
    assert aggregate(folder).returncode == 0
    done = coterie(
        "report", "out", "-o", "a.html", "--text", "words", "--items", "items.csv", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert texts(folder / "a.html") == {"third"}
