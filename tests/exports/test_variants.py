"""What other hands do to an export: reviews, workflows, zips in zips, damaged files."""

import io
import json
import zipfile

import pytest

import coterie
from builders.export_parts import (
    ITEMS,
    PAIRS,
    PEOPLE,
    lines,
    listed,
    says,
    shape,
    table,
    written,
)
from builders.export_platforms import LABEL_STUDIO, cvat
from coterie.io.exports import read_export
from coterie.io.reading import Reading


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def review(item, own, version):
    """A task of Prodigy's recipe review: one version per answer, with those who gave it."""
    said = sorted({says(item, who) for who in PEOPLE})
    versions = [
        {**version(word), "sessions": [who for who in PEOPLE if says(item, who) == word]}
        for word in said
    ]
    hashes = {"_input_hash": item, "_task_hash": item, "_view_id": "review"}
    return {**own, **hashes, "versions": versions, "_annotator_id": "chief"}


def test_prodigy_reviews_hold_what_everybody_said_and_the_decision_is_gold(tmp_path):
    records = [
        review(
            item,
            {"text": "t", "accept": ["yes"], "view_id": "choice", "answer": "accept"},
            lambda word: {"accept": [word], "answer": "accept", "default": True},
        )
        for item in ITEMS
    ]
    records[0]["answer"] = "ignore"
    rows = read_export(written(tmp_path, "reviewed.jsonl", lines(records)))
    assert shape(rows) == (6, 3, 18)
    assert set(rows.known.values()) == {"yes"}
    assert len(rows.known) == 5
    assert dict(rows.facts.left_out) == {"ignore": 1, "review": 5}
    assert rows.facts.annotator == "versions.sessions"
    posterior = coterie.MajorityVote().fit(tmp_path / "reviewed.jsonl").posterior_
    for to in ("label-studio", "argilla", "prodigy"):
        posterior.export(to, tmp_path / "out")
        said = (tmp_path / "out").read_text("utf-8")
        assert not [word for word in ("chief", "bob", "review", "versions") if word in said]


def test_prodigy_reviews_of_binary_tasks(tmp_path):
    own = {"text": "t", "label": "SPAM", "view_id": "classification", "answer": "reject"}
    buttons = {"yes": "accept", "no": "reject"}
    records = [
        review(item, own, lambda word: {"text": "t", "answer": buttons[word]}) for item in ITEMS
    ]
    rows = read_export(written(tmp_path, "reviewed.jsonl", lines(records)))
    assert shape(rows) == (6, 3, 18)
    assert rows.facts.question == "SPAM"
    assert set(rows.known.values()) == {"reject"}
    frame = rows.frame()
    for item, who, label in zip(frame["item"], frame["annotator"], frame["label"], strict=True):
        assert label == buttons[says(item, who)]


def labelbox(stages):
    def label(item, who):
        answer = {"name": "spam", "radio_answer": {"name": says(item, who)}}
        return {
            "id": f"{item}{who}",
            "label_details": {"created_by": who},
            "performance_details": {"skipped": False},
            "annotations": {"classifications": [answer]},
        }

    return lines(
        {
            "data_row": {"id": item},
            "projects": {
                "p": {
                    "labels": [label(item, who) for who in PEOPLE],
                    "project_details": {"workflow_status": stage},
                }
            },
        }
        for item, stage in zip(ITEMS, stages, strict=True)
    )


def test_labelbox_says_which_rows_a_reviewer_sent_back(tmp_path):
    stages = ["DONE", "IN_REWORK", "IN_REVIEW", "TO_LABEL", "DONE", None]
    path = written(tmp_path, "export.ndjson", labelbox(stages))
    rows = read_export(path)
    assert shape(rows) == (6, 3, 18)
    assert "labels of 1 row in rework counted, too" in rows.facts.notes[0]
    finished = read_export(path, options=Reading(keep=frozenset({"done"})))
    assert shape(finished) == (2, 3, 6)
    assert dict(finished.facts.left_out) == {"not done": 12}
    assert not finished.facts.notes


def test_labelbox_1_leaves_out_what_a_reviewer_turned_down(tmp_path):
    def record(item, who):
        answer = {"value": "spam", "answer": {"title": says(item, who)}}
        reviews = [
            {"score": -1, "createdAt": "2022-02-01"},
            {"score": 1, "createdAt": "2022-01-01"},
        ]
        return {
            "ID": f"{item}{who}",
            "DataRow ID": item,
            "Label": {"classifications": [answer]},
            "Created By": who,
            "Reviews": reviews if who == "ann" and item == 1 else [],
        }

    path = written(tmp_path, "v1.json", listed([record(*pair) for pair in PAIRS]))
    rows = read_export(path)
    assert dict(rows.facts.left_out) == {"rejected": 1}
    assert shape(read_export(path, options=Reading(keep=frozenset({"rejected"})))) == (6, 3, 18)


def test_turkle_names_are_said_and_lead_to_no_public_profile(tmp_path):
    header = ["HITId", "WorkerId", "Answer.spam", "Turkle.Username"]
    rows = [(f"H{item}", 7, says(item, who), who) for item, who in PAIRS]
    found = read_export(written(tmp_path, "t.csv", table(header, rows)))
    assert found.facts.annotator == "Turkle.Username"
    assert not found.facts.notes


def mturk(folder, cell):
    rows = [
        (f"H{item}", who, '"' + json.dumps(cell(item, who)).replace('"', '""') + '"')
        for item, who in PAIRS
    ]
    return written(folder, "b.csv", table(["HITId", "WorkerId", "Answer.taskAnswers"], rows))


def test_radio_buttons_are_a_single_choice_and_check_boxes_are_not(tmp_path):
    def boxes(item, who):
        return [{"spam": {word: says(item, who) == word for word in ("yes", "no")}}]

    path = mturk(tmp_path, boxes)
    rows = read_export(path)
    frame = rows.frame()
    assert rows.facts.kind == "single choice"
    assert [*frame["label"]] == [
        says(int(item[1:]), who)
        for item, who in zip(frame["item"], frame["annotator"], strict=True)
    ]
    asked = read_export(path, options=Reading(option="yes"))
    assert set(asked.frame()["label"]) == {"true", "false"}
    path = mturk(
        tmp_path, lambda i, who: boxes(i, who) if i > 1 else [{"spam": {"yes": True, "no": True}}]
    )
    with pytest.raises(coterie.DataError, match="allows several answers"):
        coterie.read(path)


def test_sagemaker_multi_select_is_one_even_if_nobody_ticked_two(tmp_path):
    for item in ITEMS:
        answers = [
            {
                "workerId": who,
                "answerContent": {"many": {"labels": ["cat"] if says(item, who) == "yes" else []}},
            }
            for who in PEOPLE
        ]
        name = f"job/iteration-1/{item}/x.json"
        written(tmp_path, name, json.dumps({"answers": answers}).encode())
    rows = read_export(tmp_path / "job", options=Reading(option="cat"))
    assert shape(rows) == (6, 3, 18)
    assert set(rows.frame()["label"]) == {"yes", "no"}


def before(item, who, **other):
    return {
        "text": "t",
        "prediction": [{"label": "no", "score": 0.2}, {"label": "yes", "score": 0.8}],
        "prediction_agent": "model",
        "annotation": says(item, who),
        "annotation_agent": who,
        "id": item,
        "multi_label": False,
        "status": "Validated",
        **other,
    }


def test_argilla_records_before_feedback_data_sets(tmp_path):
    records = [before(item, who) for item, who in PAIRS]
    records[0] |= {"status": "Discarded"}
    records[1] |= {"status": "Default", "annotation": None}
    path = written(tmp_path, "records.jsonl", lines(records))
    rows = read_export(path)
    assert shape(rows) == (6, 3, 16)
    assert dict(rows.facts.left_out) == {"blank": 1, "discarded": 1}
    guessed = read_export(path, options=Reading(annotators="suggestions")).frame()
    assert set(guessed["label"]) == {"yes"}
    assert set(guessed["annotator"]) == {"model"}


def test_zips_in_a_zip_are_opened_and_each_file_names_its_annotator(tmp_path):
    named = {who: cvat(who).replace(f"<username>{who}".encode(), b"<username>") for who in PEOPLE}
    inner = {f"{who}.zip": zipped({"annotations.xml": said}) for who, said in named.items()}
    inner["__MACOSX/._ann.zip"] = b"junk"
    rows = read_export(written(tmp_path, "all.zip", zipped(inner)))
    assert set(rows.frame()["annotator"]) == {*PEOPLE}
    assert shape(rows) == (5, 3, 15)
    assert rows.facts.annotator == "file name"
    assert rows.source.name == "all.zip"


def test_zips_without_end_are_refused(tmp_path):
    content = listed(LABEL_STUDIO)
    for depth in range(5):
        content = zipped({f"{depth}.zip" if depth else "tasks.json": content})
    with pytest.raises(coterie.DataError, match="zip in a zip in a zip; unpack it"):
        coterie.read(written(tmp_path, "deep.zip", content))


def test_utf_16_in_a_zip(tmp_path):
    content = listed(LABEL_STUDIO).decode().encode("utf-16")
    plain = read_export(written(tmp_path, "tasks.json", content))
    assert shape(read_export(written(tmp_path, "t.zip", zipped({"t.json": content})))) == shape(
        plain
    )


def test_files_that_are_not_read_are_named_and_damaged_ones_refused(tmp_path):
    written(tmp_path, "job/tasks.json", listed(LABEL_STUDIO))
    written(tmp_path, "job/notes.txt", b"read me")
    written(tmp_path, "job/empty.json", b"[]")
    rows = read_export(tmp_path / "job")
    told = "of no known format, and not read: 'empty.json', 'notes.txt'"
    assert told in rows.facts.notes
    hidden = read_export(tmp_path / "job", options=Reading(anonymise=True)).facts.notes
    assert "of no known format, and not read: 2 files" in hidden
    written(tmp_path, "job/more.json", listed(LABEL_STUDIO)[:200])
    with pytest.raises(coterie.DataError, match=r"more.json is not JSON: .*; export it again"):
        coterie.read(tmp_path / "job")


def test_sheets_that_are_not_read_are_named(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "labels"
    for row in [("item", "annotator", "label"), *((i, who, says(i, who)) for i, who in PAIRS)]:
        book.active.append(row)
    book.create_sheet("blank")
    book.save(tmp_path / "one.xlsx")
    coterie.read(tmp_path / "one.xlsx")  # a blank sheet is not worth a word
    book.create_sheet("more").append(["item"])
    book.save(tmp_path / "two.xlsx")
    with pytest.warns(coterie.DataWarning, match="sheet 'labels' is read, and not 'more'"):
        coterie.read(tmp_path / "two.xlsx")


def test_cvat_tasks_of_a_project_are_those_of_their_assignees(tmp_path):
    tasks = "".join(
        f"<task><id>{place}</id><assignee><username>{who}</username></assignee></task>"
        for place, who in enumerate(["ann", "bob", ""])
    )
    images = "".join(
        f'<image id="{item}" name="{item}.jpg" task_id="{place}">'
        f'<tag label="{says(item, who)}"></tag></image>'
        for item, who in PAIRS
        for place in [PEOPLE.index(who)]
    )
    content = (
        "<annotations><version>1.1</version><meta><project><assignee><username>boss</username>"
        f"</assignee><tasks>{tasks}</tasks></project></meta>{images}</annotations>"
    )
    frame = read_export(written(tmp_path, "project.xml", content.encode())).frame()
    assert set(frame["annotator"]) == {"ann", "bob", "task 2"}
    assert len(frame) == 18


def test_mturk_columns_of_one_question_are_its_options(tmp_path):
    header = ["HITId", "WorkerId", "Answer.tone.yes", "Answer.tone.no", "Answer.sure.on"]
    rows = [
        (f"H{item}", who, *(str(says(item, who) == word).lower() for word in ("yes", "no")), "true")
        for item, who in PAIRS
    ]
    path = written(tmp_path, "b.csv", table(header, rows))
    rows = read_export(path, options=Reading(question="tone"))
    assert (rows.facts.kind, shape(rows)) == ("single choice", (6, 3, 18))
    assert set(rows.frame()["label"]) == {"yes", "no"}


def flat(item, who):
    word, number = says(item, who), 1 + (item + len(who)) % 3
    return {
        "id": item,
        "annotator": who,
        "annotation_id": f"{item}{who}",
        "lead_time": 1.5,
        "tone": word,
        "stars": [{"rating": number}],
        "better": [{"selected": "left" if word == "yes" else "right"}],
        "size": [{"number": 10 * item + number}],
        "kind": [{"taxonomy": [["A"], ["A", word]] if word == "yes" else [["B"]]}],
        "remark": f"{who} on {item}",
    }


@pytest.mark.parametrize("csv", [False, True])
def test_flat_label_studio_has_ratings_pairs_and_paths_in_lists(tmp_path, csv):
    records = [flat(*pair) for pair in PAIRS]
    rows = [
        ['"' + (x if isinstance(x, str) else json.dumps(x)).replace('"', '""') + '"' for x in row]
        for row in (record.values() for record in records)
    ]
    content = table(list(records[0]), rows) if csv else listed(records)
    path = written(tmp_path, "export", content)

    def words(question, **options):
        return set(
            read_export(path, options=Reading(question=question, **options)).frame()["label"]
        )

    assert words("tone") == {"yes", "no"}
    assert words("stars") == {1, 2, 3}
    assert words("better") == {"left", "right"}
    assert words("kind", option="sets") == {"A | A > yes", "B"}
    with pytest.raises(coterie.DataError, match="'size' takes a number on a scale"):
        words("size")
    with pytest.raises(coterie.DataError, match="'remark' takes free text"):
        words("remark")


ANSWER = {"name": "spam", "radio_answer": {"name": "yes"}}
VIDEO = {"id": "l", "annotations": {"frames": {"1": {"classifications": [ANSWER]}}}}
SPANS = {"text": "t", "spans": [], "view_id": "ner_manual", "answer": "accept"}
CHOSEN = {"from_name": "q", "type": "choices", "value": {"choices": ["yes"]}}
MODELS = [{"model_version": "m", "result": [CHOSEN]}]


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([review(item, SPANS, lambda _: SPANS) for item in ITEMS], "'ner_manual' marks spans"),
        ([before(*pair, annotation=[["PER", 0, 4]]) for pair in PAIRS], "'annotation' marks spans"),
        (
            [{"data_row": {"id": 1}, "projects": {"p": {"labels": [VIDEO]}}}],
            "'spam' answers for a region",
        ),
        (
            [{"id": 1, "data": {}, "annotations": [], "predictions": MODELS}],
            "pass annotators='predictions' to read the models",
        ),
    ],
    ids=["prodigy", "argilla", "labelbox", "label studio"],
)
def test_what_is_no_choice_is_refused(tmp_path, records, why):
    with pytest.raises(coterie.DataError, match=why):
        coterie.read(written(tmp_path, "export.jsonl", lines(records)))
