"""The command line reads exports, says what it read and left out, and writes it down."""

import json

import pytest
from typer.testing import CliRunner

from coterie.cli.app import app

PRODIGY = [
    {"_input_hash": item, "_task_hash": 10 + item, "_annotator_id": f"set-{who}"}
    | {"text": f"text {item}", "label": "SPAM", "answer": answer, "_timestamp": 100 + item}
    for item, answers in enumerate(["aar", "rra", "aai", "rrr"])
    for who, answer in zip(
        ("ann", "bob", "cat"),
        ({"a": "accept", "r": "reject", "i": "ignore"}[letter] for letter in answers),
        strict=True,
    )
]


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "db-out"
    path.write_text("\n".join(map(json.dumps, PRODIGY)), "utf-8")
    return path


def run(*words):
    return CliRunner().invoke(app, ["aggregate", *map(str, words), "--model", "majority"])


def test_what_was_read_and_left_out_is_said_and_written(export, tmp_path):
    out = tmp_path / "out"
    result = run(export, "--out", out)
    assert result.exit_code == 0, result.output
    said = "db-out: Prodigy export, question 'SPAM' (single choice), item '_input_hash', annotator"
    assert said in result.output
    assert "left out: ignore 1" in result.output
    record = json.loads((out / "run.json").read_text("utf-8"))["input"]
    assert record["export"]["format"] == "prodigy"
    assert record["export"]["left_out"] == {"ignore": 1}
    page = (out / "report.html").read_text("utf-8")
    assert "ignore 1" in page
    assert "format=&#39;prodigy&#39;, question=&#39;SPAM&#39;" in page


def test_options_are_named_as_options(export):
    result = run(export, "--question", "HAM")
    assert result.exit_code == 1
    assert "has no --question HAM; its questions are 'SPAM' (single choice)" in result.output


def test_anonymous_annotators_are_nowhere_by_name(export, tmp_path):
    out = tmp_path / "out"
    assert run(export, "--anonymise", "--out", out).exit_code == 0
    for path in out.iterdir():
        assert b"set-ann" not in path.read_bytes(), path.name


def test_a_folder_of_files_is_one_data_set(tmp_path):
    folder = tmp_path / "users"
    folder.mkdir()
    for who in ("ann", "bob"):
        lines = [{"id": n, "text": "t", "label": ["yes" if n % 2 else "no"]} for n in range(4)]
        (folder / f"{who}.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    result = run(folder, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "4 items x 2 annotators, 8 labels" in result.output
    record = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))["input"]
    assert record["files"] == 2


def test_the_format_can_be_named(export):
    wrong = run(export, "--from", "nonsense").output
    assert "no export format 'nonsense'" in wrong
    assert "peerannot, table, or" in " ".join(wrong.split())
    other = run(export, "--from", "toloka")
    assert "db-out is no Toloka export; leave out --from" in other.output
    assert run(export, "--from", "Prodigy").exit_code == 0


def test_a_word_to_keep_that_nothing_goes_by_is_said(export):
    result = run(export, "--keep", "ignore,ignored")
    assert "nothing to keep is called 'ignored'" in result.output


def test_whose_labels_are_wanted_is_checked(export):
    result = run(export, "--annotators", "models")
    words = "'predictions', 'suggestions', 'scorers', 'all'"
    assert f"--annotators models is not one of {words}" in " ".join(result.output.split())


def test_gold_of_an_export_goes_by_its_file(export, tmp_path):
    known = tmp_path / "known"
    known.write_text(json.dumps(PRODIGY[0] | {"_annotator_id": "me"}), "utf-8")
    result = run(export, "--gold", known, "--out", tmp_path / "out")
    assert "gold from known" in result.output
    record = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))["gold"]
    assert (record["path"], record["items"]) == (str(known), 1)


def test_a_manifest_is_a_truth_by_its_lines(tmp_path):
    said = {"content": json.dumps({"crowd-classifier": {"label": "yes"}})}
    no = {"content": json.dumps({"crowd-classifier": {"label": "no"}})}
    request = [
        {
            "datasetObjectId": str(place),
            "dataObject": {"s3Uri": f"s3://b/{place}"},
            "annotations": [{"workerId": "w", "annotationData": one}],
        }
        for place, one in enumerate([said, no])
    ]
    (tmp_path / "request.json").write_text(json.dumps(request))
    lines = [
        {"source": f"text {name}", "kind": 0, "kind-metadata": {"class-name": name}}
        for name in ("yes", "no")
    ]
    (tmp_path / "output.manifest").write_text("\n".join(map(json.dumps, lines)))
    result = run(tmp_path / "request.json", "--truth", tmp_path / "output.manifest")
    assert "Against the truth of 2 items" in result.output
