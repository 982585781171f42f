"""The registry: the paper's four data sets are the paper's, to the last digit."""

import csv
import os
import re
from pathlib import Path

import numpy as np
import pytest

from coterie import datasets
from coterie.datasets.registry import bluebird, snow, valence
from coterie.errors import DataError

SHARED = Path(__file__).parents[3] / "shared" / "data"
RAW = Path(os.environ.get("COTERIE_DATA") or SHARED / "raw")

# Items, annotators, missing %, majority vote % with ties to the lowest class: the paper's tables.
PAPER = {
    "bluebird": (108, 39, "0.00", "75.93"),
    "rte": (800, 164, "93.90", "91.88"),
    "valence": (100, 38, "73.68", "80.00"),
    "temp": (462, 76, "86.84", "93.94"),
}


@pytest.fixture
def load(monkeypatch):
    if not RAW.is_dir():
        pytest.skip("the published files are not here: set COTERIE_DATA to their folder")
    monkeypatch.setenv("COTERIE_DATA", str(RAW))
    return datasets.load


def vote(annotations):
    """Count the answers of each item; a tie goes to the lowest class."""
    counts = np.zeros((annotations.n_items, annotations.n_answers), int)
    np.add.at(counts, (annotations.item_of_label, annotations.codes.item_answer), 1)
    return annotations.classes[counts.argmax(axis=1)]


def test_the_registry_has_the_papers_sets():
    assert list(datasets.REGISTRY) == list(PAPER)


@pytest.mark.parametrize("name", PAPER)
def test_sizes_sparsity_and_majority_vote_are_the_papers(name, load):
    data = load(name)
    items, annotators, missing, majority = PAPER[name]
    assert (data.annotations.n_items, data.annotations.n_annotators) == (items, annotators)
    assert f"{100 * data.annotations.sparsity:.2f}" == missing
    assert data.truth.index.tolist() == data.annotations.items.tolist()
    right = np.mean(vote(data.annotations) == data.truth.to_numpy())
    assert f"{100 * right:.2f}" == majority


@pytest.mark.parametrize("name", PAPER)
def test_loaded_data_are_as_described(name, load):
    data = load(name)
    row = datasets.describe().set_index("name").loc[name]
    found = data.annotations
    assert (found.n_items, found.n_annotators, found.n_labels, found.n_classes) == tuple(
        row[["items", "annotators", "labels", "classes"]]
    )
    assert found.classes.tolist() == list(datasets.REGISTRY[name].classes)
    assert (data.name, data.licence, data.citation) == (name, row["licence"], row["citation"])
    assert data.groups is None
    assert data.annotations.gold == {}
    assert (data.truth.index.name, data.truth.name) == ("item", "label")
    assert repr(data).startswith(f"<Dataset {name}: ")


@pytest.mark.parametrize("name", PAPER)
def test_annotators_are_numbered(name, load):
    annotators = load(name).annotations.annotators.tolist()
    assert annotators == [f"a{l:04d}" for l in range(len(annotators))]


def rows(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("name", PAPER)
def test_same_labels_and_truth_as_the_prepared_copy(name, load):
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip("the prepared copy is not here")
    data = load(name)
    ours = data.annotations.to_frame()[["item", "annotator", "label"]]
    theirs = [(row["item"], row["annotator"], row["label"]) for row in rows(folder / "labels.csv")]
    assert sorted(ours.itertuples(index=False, name=None)) == sorted(theirs)
    truth = {row["item"]: row["label"] for row in rows(folder / "truth.csv")}
    assert data.truth.to_dict() == truth


def test_addresses_and_checksums_are_the_recorded_ones():
    sources = RAW / "SOURCES.md"
    if not sources.is_file():
        pytest.skip("the record of the sources is not here")
    recorded = re.findall(
        r"^\| (\w+) \| (\S+) \| github (\S+) \| (\w{40}) \| (\S+) \| (\w{64}) \|$",
        sources.read_text("utf-8"),
        re.M,
    )
    assert {
        (name, file, f"https://raw.githubusercontent.com/{repository}/{commit}/{path}", sha256)
        for name, file, repository, commit, path, sha256 in recorded
    } == {
        (name, file.name, file.url, file.sha256)
        for name, entry in datasets.REGISTRY.items()
        for file in entry.files
    }


def test_unknown_name_lists_the_names():
    with pytest.raises(DataError, match="no data set 'rt'; there are bluebird, rte, valence, temp"):
        datasets.load("rt")


def test_describe_names_licence_and_citation():
    table = datasets.describe().set_index("name")
    assert table.loc["bluebird", "licence"] == "Clear BSD"
    assert "Welinder" in table.loc["bluebird", "citation"]
    assert all("Snow" in table.loc[name, "citation"] for name in ("rte", "valence", "temp"))
    assert all("none stated" in table.loc[name, "licence"] for name in ("rte", "valence", "temp"))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("7: {1: true,\n  2: maybe}\n", "line 2 of labels.yaml .* found '2: maybe}'"),
        ("7: {1: true}\n8: [1, 2]\n", r"line 2 of labels.yaml .* found '8: \[1, 2\]'"),
        ("7: {1: true}\nrubbish", "line 2 of labels.yaml .* found 'rubbish'"),
        ("7: {1: true, 2: false", "line 1 of labels.yaml .* found '7: {1: true, 2: false'"),
        ("7: {}", "line 1 of labels.yaml .* found '}'"),
    ],
)
def test_yaml_of_another_shape_is_refused(labels, message):
    with pytest.raises(DataError, match=message):
        bluebird({"labels.yaml": labels, "gt.yaml": "{1: true, 2: false}"})


def test_two_truths_of_an_item_are_refused():
    head = "!amt_worker_ids\torig_id\tresponse\tgold\n"
    with pytest.raises(DataError, match=r"x.tsv has two truths for item '5': '1', '0'"):
        snow({"x.tsv": head + "A\t5\t1\t1\nB\t5\t1\t0\n"})
    with pytest.raises(DataError, match=r"gt.yaml has two truths for item '1'"):
        bluebird({"labels.yaml": "7: {1: true}", "gt.yaml": "{1: true, 1: false}"})


def test_missing_column_and_short_row_are_refused():
    with pytest.raises(DataError, match=r"x.tsv should have the columns .*, it has \['orig_id'\]"):
        snow({"x.tsv": "orig_id\n5\n"})
    answers = "question,worker,answer\n601,A,3\n602,A\n"
    with pytest.raises(DataError, match=r"line 3 of answer.csv should have 3 fields"):
        valence({"answer.csv": answers, "truth.csv": "question,truth\n601,3\n"})


def test_zero_counts_as_positive_and_other_questions_are_left_out():
    answers = "question,worker,answer\n600,A,1\n601,A,0\n601,B,-1\n700,A,-0\n701,A,1\n"
    truth = "question,truth\n600,1\n601,-2\n700,0\n701,1\n"
    table = valence({"answer.csv": answers, "truth.csv": truth})
    assert table.labels == [("601", "A", "1"), ("601", "B", "0"), ("700", "A", "1")]
    assert table.truth == {"601": "0", "700": "1"}
