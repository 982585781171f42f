"""Small exports of our own: every format is told from its content and read."""

import gzip
import json
import zipfile

import pytest

import coterie
from builders.export_parts import lines, listed, written
from builders.export_platforms import (
    ARGILLA_JSON,
    COMPLETIONS,
    LABEL_STUDIO,
    LABEL_STUDIO_MIN,
    MTURK,
    cvat,
    quoted,
    result,
)
from builders.exports import SAMPLES
from coterie.data.provenance import Export
from coterie.io.exports import FORMATS, read_export
from coterie.io.exports.part import parts_of
from coterie.io.exports.registry import format_of
from coterie.io.reading import Reading

BY_FORMAT = {sample.format: sample.content for sample in reversed(SAMPLES)}
every = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.format}-{s.name}")


def placed(folder, sample, name=None):
    path = folder / (name or sample.name)
    path.write_bytes(sample.content)
    return path


@every
def test_a_format_is_told_from_the_content_whatever_the_name(tmp_path, sample):
    path = placed(tmp_path, sample, "download")
    assert {format_of(part) for part in parts_of(path)} == {sample.format}


@every
def test_a_sample_is_read(tmp_path, sample):
    rows = read_export(placed(tmp_path, sample), options=Reading(**sample.options))
    frame = rows.frame()
    found = frame["item"].nunique(), frame["annotator"].nunique(), len(frame)
    assert found == sample.found
    assert dict(rows.facts.left_out) == sample.left_out
    assert len(rows.known) == sample.known
    assert rows.facts.format == sample.format


@every
def test_compression_changes_nothing(tmp_path, sample):
    plain = read_export(placed(tmp_path, sample)).frame()
    packed = written(tmp_path, "packed", gzip.compress(sample.content))
    assert plain["label"].tolist() == read_export(packed).frame()["label"].tolist()


@every
def test_the_public_door(tmp_path, sample):
    kept = {"duplicates": "keep"}
    if sample.format == "cvat":
        pytest.skip("one file is one annotator")
    annotations = coterie.read(placed(tmp_path, sample), **kept)
    assert (annotations.n_items, annotations.n_annotators, annotations.n_labels) == sample.found
    assert isinstance(annotations.provenance.export, Export)
    assert FORMATS[sample.format].title in annotations.origin


def test_all_formats_have_a_sample():
    assert {sample.format for sample in SAMPLES} == set(FORMATS)


def test_what_is_left_out_can_be_kept(tmp_path):
    path = written(tmp_path, "a.json", listed(LABEL_STUDIO))
    assert coterie.read(path).n_labels == 16
    assert coterie.read(path, keep="skipped").n_labels == 17
    assert coterie.read(path, keep=["skipped", "ground_truth"]).n_labels == 18
    models = read_export(path, options=Reading(annotators="predictions")).frame()
    assert set(models["annotator"]) == {"m"}


def test_a_reference_is_gold_and_not_its_authors_label(tmp_path):
    path = written(tmp_path, "a.json", listed(LABEL_STUDIO))
    annotations = coterie.read(path)
    assert annotations.gold == {2: "no"}
    said = annotations.to_frame().query("item == 2")["annotator"].tolist()
    assert said == [1, 2]


def test_several_files_are_one_data_set(tmp_path):
    paths = []
    for person in ("ann", "bob", "cat"):
        paths.append(tmp_path / f"{person}.xml")
        paths[-1].write_bytes(cvat(person))
    one = coterie.read(paths)
    assert (one.n_items, one.n_annotators, one.n_labels) == (5, 3, 15)
    assert one.provenance.export.paths == tuple(map(str, paths))
    assert coterie.read(tmp_path).describe() == one.describe()


def test_gold_from_another_export(tmp_path):
    for person in ("ann", "bob", "cat"):
        (tmp_path / f"{person}.xml").write_bytes(cvat(person))
    people = [tmp_path / "ann.xml", tmp_path / "bob.xml"]
    annotations = coterie.read(people, gold=tmp_path / "cat.xml")
    assert len(annotations.gold) == 5


def test_files_of_two_platforms_are_refused(tmp_path):
    (tmp_path / "a.json").write_bytes(listed(COMPLETIONS))
    (tmp_path / "b.json").write_bytes(listed(ARGILLA_JSON))
    with pytest.raises(coterie.DataError, match=r"2 kinds, Label Studio \(a.json\) and Argilla"):
        coterie.read(tmp_path)


def test_several_questions_are_refused_with_their_names(tmp_path):
    tasks = json.loads(json.dumps(LABEL_STUDIO))
    for task in tasks:
        for annotation in task["annotations"]:
            for name, kind, value in [
                ("tone", "choices", {"choices": ["warm", "cold"]}),
                ("names", "labels", {"start": 0, "end": 4, "labels": ["PER"]}),
            ]:
                annotation["result"].append({"from_name": name, "type": kind, "value": value})
    path = written(tmp_path, "a.json", listed(tasks))
    with pytest.raises(coterie.DataError) as caught:
        coterie.read(path)
    assert str(caught.value) == (
        "a.json holds 2 questions, 'spam' (single choice) and 'tone' (multi-select); "
        "pass question='spam' or question='tone'"
    )
    with pytest.raises(coterie.DataError, match=r"marks spans in the text.*\('spam', 'tone'\)"):
        coterie.read(path, question="names")
    with pytest.raises(coterie.DataError, match="pass option='cold' to read one as yes or no"):
        coterie.read(path, question="tone")
    sets = read_export(path, options=Reading(question="tone", option="sets")).frame()
    assert set(sets["label"]) == {"cold | warm"}
    assert coterie.read(path, question="spam").n_labels == 16


def test_anonymous_ids_are_the_same_within_a_call_only(tmp_path):
    path = written(tmp_path, "a.json", listed(COMPLETIONS))
    first, second = (coterie.read(path, anonymise=True) for _ in range(2))
    assert first.n_annotators == 3
    assert not set(first.annotators) & set(second.annotators)
    assert not {"ann", "bob", "cat"} & set(first.annotators)
    assert sorted(first.labels_per_annotator) == sorted(coterie.read(path).labels_per_annotator)
    assert first.votes.tolist() == coterie.read(path).votes.tolist()


def test_a_field_of_the_data_can_be_the_item(tmp_path):
    path = written(tmp_path, "a.json", listed(COMPLETIONS))
    assert coterie.read(path, item="data.text").items.tolist()[0] == "text 1"
    with pytest.raises(coterie.DataError, match=r"no field 'data.nothing'.*'data.text'"):
        coterie.read(path, item="data.nothing")


def test_repeats_are_ordered_by_time_and_not_by_the_file(tmp_path):
    tasks = json.loads(json.dumps(LABEL_STUDIO[3:5]))
    late = json.loads(json.dumps(tasks[0]["annotations"][0]))
    late["created_at"] = "2025-01-01T00:00:00Z"
    late["result"][0]["value"]["choices"] = ["late"]
    tasks[0]["annotations"].insert(0, late)
    path = written(tmp_path, "a.json", listed(tasks))
    first, last = (coterie.read(path, duplicates=one).to_frame() for one in ("first", "last"))
    assert "late" not in first["label"].tolist()
    assert "late" in last["label"].tolist()


def test_a_plain_table_is_still_a_plain_table(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,annotator,label\n1,a,x\n2,b,y\n", "utf-8")
    assert coterie.read(path).provenance.export is None
    with pytest.raises(coterie.DataError, match="no export that coterie knows; pass format="):
        coterie.read(path, question="label")


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("item", "annotator", "label"), ("q1", "ann", "yes"), ("q2", "bob", "no")]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert coterie.read(tmp_path / "a.xlsx").n_labels == 2


def test_plain_tables_with_the_same_columns_are_one(tmp_path):
    (tmp_path / "a.csv").write_text("item,annotator,label\n1,ann,x\n2,ann,y\n", "utf-8")
    (tmp_path / "b.csv").write_text("annotator,item,label\nbob,1,x\nbob,2,x\n", "utf-8")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert coterie.read(paths).n_annotators == coterie.read(tmp_path).n_annotators == 2
    (tmp_path / "c.csv").write_text("annotator,item,answer\nbob,1,x\n", "utf-8")
    with pytest.raises(coterie.DataError, match="files that are one data set have the same"):
        coterie.read(tmp_path)


def test_a_flat_file_that_does_not_tell_its_answers_is_told(tmp_path):
    path = written(tmp_path, "flat.json", listed(LABEL_STUDIO_MIN[::3]))
    with pytest.raises(coterie.DataError, match="does not say which columns are answers"):
        coterie.read(path)
    rows = read_export(path, options=Reading(question="spam"))
    assert len(rows.columns["item"]) == 6


def test_two_orders_are_two_annotators_unless_ignored(tmp_path):
    path = written(
        tmp_path,
        "pairs.jsonl",
        BY_FORMAT["mtbench"],
    )
    assert "ann / swapped" in coterie.read(path).annotators.tolist()
    assert coterie.read(path, order="ignore", duplicates="keep").n_annotators == 3
    with pytest.raises(coterie.DataError, match="order='both' is not one of"):
        coterie.read(path, order="both")


def test_a_second_decision_of_judgebench_is_turned_back(tmp_path):
    path = written(
        tmp_path,
        "j.jsonl",
        BY_FORMAT["judgebench"],
    )
    frame = read_export(path).frame()
    assert set(frame[frame["annotator"] == "j / swapped"]["label"]) == {"A>B"}


def test_time_and_duration_are_kept(tmp_path):
    path = written(tmp_path, "a.json", listed(LABEL_STUDIO))
    frame = read_export(path).frame()
    assert frame["time"].is_monotonic_increasing
    assert frame["seconds"].tolist() == [3.5] * len(frame)


def test_a_small_zip_of_endless_zeros_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.io.exports.part.LARGEST", 1000)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", "0" * 5000)
    with pytest.raises(coterie.DataError, match="unpacks to 5,000 bytes, more than 1,000"):
        coterie.read(path)


def test_results_of_deepeval_that_python_wrote(tmp_path):
    cases = [
        {
            "name": f"case {number}",
            "metrics_data": [
                {"name": "Good", "score": score, "threshold": 0.5, "evaluation_model": "m"}
            ],
        }
        for number, score in enumerate((0.9, 0.1, None))
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"test_results": cases}), "utf-8")
    rows = read_export(path)
    assert rows.columns["label"] == ["True", "False"]
    assert dict(rows.facts.left_out) == {"error": 1}


def test_older_logs_of_inspect_name_judges_in_their_results(tmp_path):
    log = {
        "version": 2,
        "status": "success",
        "eval": {"created": "2024-10-15T12:53:13-04:00"},
        "results": {
            "scores": [
                {"name": name, "scorer": "model_graded_qa", "params": {"model": model}}
                for name, model in (("model_graded_qa", "a"), ("model_graded_qa1", "b"))
            ]
        },
        "samples": [
            {
                "id": number,
                "epoch": 1,
                "target": " Yes",
                "scores": {"model_graded_qa": {"value": "C"}, "model_graded_qa1": {"value": "I"}},
            }
            for number in (1, 2)
        ],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log), "utf-8")
    assert coterie.read(path).annotators.tolist() == ["a", "b"]


def test_each_server_has_a_first_annotator(tmp_path):
    for name in ("x", "y"):
        tasks = [
            {"id": n, "data": {"image": f"{n}.jpg"}, "annotations": [{"completed_by": 1}]}
            for n in range(3)
        ]
        for task in tasks:
            task["annotations"][0]["result"] = result(task["id"], "ann")
        (tmp_path / f"{name}.json").write_bytes(listed(tasks))
    options = Reading(item="data.image", annotator="file")
    frame = read_export(tmp_path, options=options).frame()
    assert set(frame["annotator"]) == {"x", "y"}
    assert set(frame["item"]) == {"0.jpg", "1.jpg", "2.jpg"}


def test_the_last_review_counts(tmp_path):
    tasks = json.loads(json.dumps(LABEL_STUDIO[4:]))
    first, second = (task["annotations"][0] for task in tasks)
    first["reviews"] = [
        {"accepted": False, "created_at": "2024-02-02T00:00:00Z"},
        {"accepted": True, "created_at": "2024-02-01T00:00:00Z"},
    ]
    second["reviews"] = [{"accepted": True, "created_at": "2024-02-01T00:00:00Z"}]
    path = written(tmp_path, "a.json", listed(tasks))
    assert dict(read_export(path).facts.left_out)["rejected"] == 1
    accepted = read_export(path, options=Reading(keep=frozenset({"accepted"})))
    assert len(accepted.columns["item"]) == 1


def zooniverse(tmp_path, workflow=lambda n: 7, wording=lambda n: "Spam?"):
    rows = ["classification_id,user_name,workflow_id,workflow_name,workflow_version,annotations,"]
    rows[0] += "subject_ids"
    for n in range(8):
        value = {"task": "T0", "task_label": wording(n), "value": "yes" if n % 3 else "no"}
        cell = quoted(json.dumps([value]))
        rows.append(f"{n},u{n % 2},{workflow(n)},w{workflow(n)},{n}.1,{cell},{n // 2}")
    path = tmp_path / "c.csv"
    path.write_text("\n".join(rows), "utf-8")
    return path


def test_one_workflow_at_a_time(tmp_path):
    path = zooniverse(tmp_path, workflow=lambda n: 7 + n // 4)
    with pytest.raises(coterie.DataError, match=r"2 workflows, 7 \(w7\) and 8 \(w8\); pass workf"):
        coterie.read(path)
    assert coterie.read(path, workflow=7).n_items == 2


def test_a_task_with_two_wordings_is_two_questions(tmp_path):
    path = zooniverse(tmp_path, wording=lambda n: "Spam?" if n < 4 else "Ham?")
    with pytest.raises(
        coterie.DataError, match=r"task T0 was worded in 2 ways, 'Spam\?' \(version"
    ):
        coterie.read(path)


def test_an_export_saved_from_a_spreadsheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in MTURK.decode().splitlines():
        book.active.append(line.split(","))
    book.save(tmp_path / "batch.xlsx")
    found = coterie.read(tmp_path / "batch.xlsx")
    assert found.n_labels == 16
    assert dict(found.provenance.export.left_out) == {"Rejected": 2}


def test_no_name_of_a_member_is_said_where_names_are_hidden(tmp_path):
    path = written(tmp_path, "project.zip", BY_FORMAT["doccano"])
    hidden = coterie.read(path, anonymise=True)
    assert not any(name in hidden.origin for name in ("ann.", "bob", "cat", "admin"))
    assert hidden.origin.startswith("project.zip: doccano export")


def test_slips_are_named(tmp_path):
    records = [{"id": n, "text": "t", "label": ["yes" if n % 2 else "no"]} for n in range(150)]
    records[7]["label"] = ["yes", "no"]
    path = written(tmp_path, "ann.jsonl", lines(records))
    facts = read_export(path).facts
    assert dict(facts.left_out) == {"several": 1}
    assert facts.notes == ("several options where one was meant: item 7",)
