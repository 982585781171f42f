"""Exports of known platforms in other shapes: other versions, other files, other kinds of task."""

import json
import zipfile

import numpy as np
import pytest

import coterie
from builders.export_evaluations import INSPECT, LLMBAR, PROMPTFOO
from builders.export_parts import ITEMS, PAIRS, PEOPLE, lines, listed, says, shape, table, written
from builders.export_platforms import COMPLETIONS, cvat
from coterie.io.exports import read_export
from coterie.io.reading import Reading


def found(path, **options):
    return shape(read_export(path, options=Reading(**options)))


def zipped(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def doccano(folder, record):
    people = {f"{who}.jsonl": lines([record(item, who) for item in ITEMS]) for who in PEOPLE}
    return zipped(folder / "doccano.zip", people)


def test_doccano_calls_the_text_data_in_some_versions(tmp_path):
    path = doccano(tmp_path, lambda i, who: {"id": i, "data": "t", "label": [says(i, who)]})
    assert found(path) == (6, 3, 18)
    rows = [(item, f'"text, {item}"', says(item, "ann")) for item in ITEMS]
    written(tmp_path, "csv/ann.csv", table(["id", "data", "label"], rows))
    written(tmp_path, "csv/bob.csv", table(["id", "data", "label"], rows))
    assert found(tmp_path / "csv") == (6, 2, 12)


def test_doccano_categories_beside_entities_are_a_question(tmp_path):
    def record(item, who):
        return {"id": item, "text": "t", "cats": [says(item, who)], "entities": [[0, 1, "PER"]]}

    assert found(doccano(tmp_path, record)) == (6, 3, 18)


def test_doccano_texts_that_were_written_are_no_choice(tmp_path):
    def record(item, who):
        return {"id": item, "text": "t", "label": [f"what {who} makes of the sentence {item}"]}

    with pytest.raises(coterie.DataError, match="'label' takes free text"):
        coterie.read(doccano(tmp_path, record))
    fast = written(tmp_path, "ann.txt", b"__label__pos hello\n__label__neg bye\n")
    with pytest.raises(coterie.DataError, match="is fastText, which has no ids"):
        coterie.read(fast)


def mturk(folder, column, cell):
    rows = [(f"H{item}", who, "Approved", cell(item, who)) for item, who in PAIRS]
    header = ["HITId", "WorkerId", "AssignmentStatus", column]
    return written(folder, "batch.csv", table(header, rows, "\t"))


def test_mturk_multi_select_is_one_even_if_nobody_ticked_two(tmp_path):
    path = mturk(tmp_path, "Answer.tone.labels", lambda i, who: json.dumps([says(i, who)]))
    with pytest.raises(coterie.DataError, match=r"'tone' of batch.csv allows several answers"):
        coterie.read(path)
    assert found(path, option="yes") == (6, 3, 18)


def test_mturk_boxes_are_refused_and_no_classes(tmp_path):
    path = mturk(tmp_path, "Answer.boxes", lambda i, who: f'[{{"left": {i}; "label": "car"}}]')
    path.write_bytes(path.read_bytes().replace(b";", b","))
    with pytest.raises(coterie.DataError, match="'boxes' marks regions or places"):
        coterie.read(path)


def test_toloka_lists_are_options(tmp_path):
    header = ["INPUT:text", "OUTPUT:tone", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"]
    header.append("ASSIGNMENT:task_id")
    rows = [
        (f"t{item}", json.dumps([says(item, who), "calm"]), who, "APPROVED", f"task {item}")
        for item, who in PAIRS
    ]
    path = written(tmp_path, "assignments.tsv", table(header, rows, "\t"))
    assert found(path, option="yes") == (6, 3, 18)
    assert "item 'ASSIGNMENT:task_id'" in coterie.read(path, option="yes").origin


def test_the_json_report_of_crowdflower(tmp_path):
    units = [
        {
            "id": item,
            "data": {"text": f"text {item}", "spam_gold": "yes" if item == 1 else ""},
            "results": {
                "judgments": [
                    {"worker_id": place, "created_at": "2016-03-24T17:57:02+00:00"}
                    | {"golden": item == 1, "tainted": place == 2}
                    | {"data": {"spam": says(item, who)}}
                    for place, who in enumerate(PEOPLE)
                ]
            },
        }
        for item in ITEMS
    ]
    annotations = coterie.read(written(tmp_path, "job.json", lines(units)))
    assert (annotations.n_items, annotations.n_annotators, annotations.n_labels) == (6, 3, 18)
    assert annotations.gold == {"1": "yes"}
    assert "6 judgments of workers that were not trusted" in annotations.origin


def test_zooniverse_menus_are_choices_and_drawings_are_not(tmp_path):
    header = ["classification_id", "user_name", "subject_ids", "annotations"]

    def rows(value):
        cells = [json.dumps([{"task": "T1", "value": value(i, who)}]) for i, who in PAIRS]
        return [(n, who, i, cells[n]) for n, (i, who) in enumerate(PAIRS)]

    menu = rows(lambda i, who: [{"select_label": "Main", "value": says(i, who), "label": "L"}])
    assert found(written(tmp_path, "menu.csv", table(header, menu, "\t"))) == (6, 3, 18)
    drawn = rows(lambda i, who: [{"x": i, "y": 2, "tool": 0, "value": "a"}])
    with pytest.raises(coterie.DataError, match="'T1' marks regions or places"):
        coterie.read(written(tmp_path, "drawn.csv", table(header, drawn, "\t")))


def test_a_folder_of_zips_is_one_data_set(tmp_path):
    nameless = cvat("ann").replace(b"<username>ann</username>", b"")
    for task in ("task_1", "task_2"):
        zipped(tmp_path / "zips" / f"{task}.zip", {"annotations.xml": nameless})
        written(tmp_path, f"folders/{task}/annotations.xml", nameless)
    for folder in ("zips", "folders"):
        people = read_export(tmp_path / folder).frame()["annotator"]
        assert set(people) == {"task_1", "task_2"}


def test_cvat_shapes_alone_are_refused_as_such(tmp_path):
    xml = cvat("ann").replace(b"<tag", b"<box").replace(b"</tag>", b"</box>")
    with pytest.raises(coterie.DataError, match="'box' marks regions or places"):
        coterie.read(written(tmp_path, "job.xml", xml))


def test_labelbox_version_1_as_csv(tmp_path):
    def label(item, who):
        one = {"title": "spam", "value": "spam", "answer": {"title": says(item, who)}}
        return json.dumps({"objects": [], "classifications": [one]})

    header = ["ID", "DataRow ID", "Label", "Created By", "Skipped"]
    rows = [(f"{i}{who}", i, label(i, who), who, "false") for i, who in PAIRS]
    assert found(written(tmp_path, "export.csv", table(header, rows, "\t"))) == (6, 3, 18)


def test_promptfoo_a_rubric_of_every_test_is_one_question(tmp_path):
    whole = json.loads(json.dumps(PROMPTFOO))
    for result in whole["results"]["results"]:
        for component in result["gradingResult"]["componentResults"]:
            component["assertion"]["value"] = f"mentions fact {result['testIdx']}"
    assert found(written(tmp_path, "own.json", listed(whole))) == (6, 3, 18)
    results = PROMPTFOO["results"]["results"]
    failed = {**results[0], "testIdx": 99, "error": "timeout", "gradingResult": None}
    rows = read_export(written(tmp_path, "out.jsonl", lines([*results, failed])))
    assert len(rows.columns["label"]) == 18
    assert dict(rows.facts.left_out) == {"error": 1}


def test_promptfoo_two_metrics_of_one_grader_are_two_questions(tmp_path):
    whole = json.loads(json.dumps(PROMPTFOO))
    for result in whole["results"]["results"]:
        result["gradingResult"]["componentResults"] = [
            {"pass": True, "assertion": {"type": "llm-rubric", "value": name, "metric": name}}
            for name in ("polite", "short")
        ]
    with pytest.raises(coterie.DataError, match="holds 2 questions, 'polite'"):
        coterie.read(written(tmp_path, "two.json", listed(whole)))


def test_inspect_scores_between_grades_need_a_threshold(tmp_path):
    log = json.loads(json.dumps(INSPECT))
    for place, sample in enumerate(log["samples"]):
        for score in sample["scores"].values():
            score["value"] = 0.1 * place
    path = written(tmp_path, "log.json", listed(log))
    with pytest.raises(coterie.DataError, match=r"gives scores .* pass threshold="):
        coterie.read(path)
    assert found(path, threshold=0.25) == (6, 3, 18)


def test_inspect_answers_of_two_models_are_not_the_same_items(tmp_path):
    for model in ("a", "b"):
        log = {**INSPECT, "eval": {**INSPECT["eval"], "model": model}}
        failed = {"id": "late", "epoch": 1, "scores": {}, "error": {"message": "timeout"}}
        log["samples"] = [*INSPECT["samples"], failed]
        written(tmp_path, f"logs/{model}.json", listed(log))
    rows = read_export(tmp_path / "logs")
    assert len(set(rows.columns["item"])) == 12
    assert dict(rows.facts.left_out) == {"error": 2}


def test_llmbar_sets_count_their_own_pairs(tmp_path):
    for subset in ("Natural", "Neighbor"):
        written(tmp_path, f"{subset}/evaluators/GPT-4/Vanilla/result.json", listed(LLMBAR))
    items = set(read_export(tmp_path).columns["item"])
    assert {"Natural/2", "Neighbor/2"} <= items
    assert len(items) == 12


def test_sagemaker_requests_repeat_the_responses(tmp_path):
    for item in ITEMS:
        said = {who: {"crowd-classifier": {"label": says(item, who)}} for who in PEOPLE}
        answers = [{"workerId": who, "answerContent": one} for who, one in said.items()]
        written(tmp_path, f"worker-response/{item}/a.json", listed({"answers": answers}))
    asked = [
        {"workerId": who, "annotationData": {"content": json.dumps(one)}}
        for who, one in said.items()
    ]
    request = [{"datasetObjectId": str(ITEMS[-1]), "annotations": asked}]
    written(tmp_path, "consolidated/request.json", listed(request))
    assert found(tmp_path) == (6, 3, 18)
    assert found(tmp_path / "consolidated") == (1, 3, 3)


def test_completions_that_name_nobody_are_their_files(tmp_path):
    for who in PEOPLE:
        tasks = json.loads(json.dumps(COMPLETIONS))
        for task in tasks:
            task["completions"] = [one for one in task["completions"] if one["id"] == 0]
            task["completions"][0].pop("created_username")
        written(tmp_path, f"{who}.json", listed(tasks))
    rows = read_export(tmp_path)
    assert set(rows.columns["annotator"]) == set(PEOPLE)
    assert rows.facts.annotator == "file name"


def test_a_table_in_which_all_agree_does_not_tell_its_answers(tmp_path):
    flat = ["annotation_id", "annotator", "id", "lead_time", "spam", "text"]
    rows = [(n, who, i, 2, says(i, "ann"), f"t{i}") for n, (i, who) in enumerate(PAIRS)]
    full = ["_unit_id", "_worker_id", "spam", "text"]
    judged = [(i, who, says(i, "ann"), f"t{i}") for i, who in PAIRS]
    for name, content in [("ls.csv", table(flat, rows)), ("cf.csv", table(full, judged))]:
        path = written(tmp_path, name, content)
        with pytest.raises(coterie.DataError, match=r"nobody disagrees.*'spam'.*pass question="):
            coterie.read(path)
        assert found(path, question="spam") == (6, 3, 18)


def test_whole_numbers_as_floats_are_a_label_matrix(tmp_path):
    np.save(tmp_path / "L.npy", np.array([[0.0, 1.0], [-1.0, 0.0]]))
    assert found(tmp_path / "L.npy") == (2, 2, 3)


def test_json_lists_and_utf_16_are_read(tmp_path):
    rows = [{"item": item, "annotator": who, "label": says(item, who)} for item, who in PAIRS]
    assert coterie.read(written(tmp_path, "labels.json", listed(rows))).n_labels == 18
    text = json.dumps(PROMPTFOO).encode("utf-16")
    assert found(written(tmp_path, "windows.json", text)) == (6, 3, 18)
    for content, said in [(b"[]", "is an empty list"), (b"[1]", "entry 1 .* is not an object")]:
        with pytest.raises(coterie.DataError, match=said):
            coterie.read(written(tmp_path, "bad.json", content))


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ({"duplicates": "lst"}, "last"),
        ({"order": "ignor"}, "ignore"),
        ({"annotators": "prediction"}, "predictions"),
    ],
    ids=lambda one: str(one),
)
def test_what_was_perhaps_meant(tmp_path, asked, near):
    path = written(tmp_path, "results.json", listed(PROMPTFOO))
    with pytest.raises(coterie.DataError, match=f"did you mean '{near}'"):
        coterie.read(path, **asked)
