"""A consensus goes back to its platform, and is read back as it went."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import coterie
from builders.export_parts import lines, listed, written
from builders.export_platforms import (
    ARGILLA_1,
    ARGILLA_FLAT,
    ARGILLA_JSON,
    LABEL_STUDIO,
    PRODIGY,
    PRODIGY_CHOICE,
)
from coterie.cli.app import app
from coterie.io.exports import read_export
from coterie.io.reading import Reading


def fitted(path, content):
    path.write_bytes(content)
    return coterie.MajorityVote(duplicates="keep").fit(coterie.read(path)).posterior_


def consensus(posterior):
    table = posterior.labels()
    return dict(zip(table["item"], table["label"], strict=True))


def read_back(path, **options):
    frame = read_export(path, options=Reading(**options)).frame()
    return dict(zip(frame["item"], frame["label"], strict=True))


def test_label_studio_predictions(tmp_path):
    posterior = fitted(tmp_path / "in.json", listed(LABEL_STUDIO))
    out = tmp_path / "out.json"
    posterior.export("label-studio", out)
    assert read_back(out, annotators="predictions") == consensus(posterior)
    tasks = json.loads(out.read_text("utf-8"))
    assert tasks[0]["data"] == {"text": "text 1"}
    told = tasks[0]["predictions"][0]
    sure = posterior.labels().set_index("item")["probability"]
    assert told["score"] == pytest.approx(sure[tasks[0]["id"]])
    assert told["result"][0]["from_name"] == "spam"


def test_label_studio_ground_truth(tmp_path):
    posterior = fitted(tmp_path / "in.json", listed(LABEL_STUDIO))
    out = tmp_path / "out.json"
    posterior.export("label-studio", out, kind="truth")
    assert dict(read_export(out).known) == consensus(posterior)


def test_argilla(tmp_path):
    posterior = fitted(tmp_path / "in.json", listed(ARGILLA_JSON))
    out = tmp_path / "out.json"
    posterior.export("argilla", out)
    assert read_back(out, annotators="suggestions") == consensus(posterior)
    assert json.loads(out.read_text("utf-8"))[0]["fields"] == {"text": "t"}


@pytest.mark.parametrize("records", [PRODIGY, PRODIGY_CHOICE], ids=["binary", "choice"])
def test_prodigy(tmp_path, records):
    posterior = fitted(tmp_path / "in.jsonl", lines(records))
    out = tmp_path / "out.jsonl"
    posterior.export("prodigy", out)
    assert read_back(out) == consensus(posterior)


def test_a_table_of_gold_is_gold(tmp_path):
    source = tmp_path / "in.json"
    posterior = fitted(source, listed(LABEL_STUDIO))
    out = tmp_path / "gold.csv"
    posterior.export("csv-gold", out, least=0.8)
    table = pd.read_csv(out)
    assert (table["probability"] >= 0.8).all()
    assert 0 < len(table) < 6
    annotations = coterie.read(source, gold=str(out))
    assert annotations.gold == dict(zip(table["item"], table["label"], strict=True))


def test_the_command(tmp_path):
    source = written(tmp_path, "in.json", listed(LABEL_STUDIO))
    run = CliRunner().invoke
    out = tmp_path / "result"
    made = run(app, ["aggregate", str(source), "--model", "majority", "--out", str(out)])
    assert made.exit_code == 0, made.output
    found = run(app, ["export", str(out), "--to", "label-studio"])
    assert found.exit_code == 0, found.output
    back = read_back(out / "label-studio.json", annotators="predictions")
    labels = pd.read_csv(out / "labels.csv")
    assert back == dict(zip(labels["item"], labels["label"], strict=True))
    again = run(app, ["export", str(out), "--to", "label-studio"])
    assert again.exit_code == 1
    assert "--force" in again.output
    wrong = run(app, ["export", str(out), "--to", "excel"])
    assert (
        "--to excel is not one of 'label-studio', 'argilla', 'prodigy', 'csv-gold'" in wrong.output
    )


def test_items_without_their_data_go_by_their_id(tmp_path):
    source = tmp_path / "in.json"
    posterior = fitted(source, listed(LABEL_STUDIO))
    source.unlink()
    posterior.export("label-studio", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))[0]["data"] == {"item": 1}


def test_a_control_goes_back_as_it_came(tmp_path):
    tasks = json.loads(json.dumps(LABEL_STUDIO))
    for task in tasks:
        for place, annotation in enumerate(task["annotations"]):
            stars = {"rating": 1 + (task["id"] + place) % 3}
            annotation["result"] = [
                {"from_name": "stars", "to_name": "photo", "type": "rating", "value": stars}
            ]
    posterior = fitted(tmp_path / "in.json", listed(tasks))
    out = tmp_path / "out.json"
    posterior.export("label-studio", out)
    told = json.loads(out.read_text("utf-8"))[0]["predictions"][0]["result"][0]
    assert (told["to_name"], told["type"]) == ("photo", "rating")
    assert read_back(out, annotators="predictions") == consensus(posterior)


def test_an_option_goes_back_as_a_tick(tmp_path):
    tasks = json.loads(json.dumps(LABEL_STUDIO))
    for task in tasks:
        for place, annotation in enumerate(task["annotations"]):
            ticked = ["a", "b"] if (task["id"] + place) % 2 else []
            annotation["result"] = [
                {
                    "from_name": "tags",
                    "to_name": "t",
                    "type": "choices",
                    "value": {"choices": ticked},
                }
            ]
    source = written(tmp_path, "in.json", listed(tasks))
    crowd = coterie.read(source, option="a")
    posterior = coterie.MajorityVote().fit(crowd).posterior_
    posterior.export("label-studio", tmp_path / "out.json")
    back = json.loads((tmp_path / "out.json").read_text("utf-8"))
    values = {one["id"]: one["predictions"][0]["result"][0]["value"]["choices"] for one in back}
    assert values == {i: ["a"] if l == "yes" else [] for i, l in consensus(posterior).items()}


def test_who_answered_stays_behind(tmp_path):
    rows = [
        "HITId,AssignmentId,WorkerId,SubmitTime,AssignmentStatus,Input.text,Answer.spam",
        "h1,x1,ANN77,1,Approved,first,yes",
        "h1,x2,BOB77,2,Approved,first,yes",
        "h2,x3,ANN77,3,Approved,second,no",
    ]
    source = tmp_path / "batch.csv"
    source.write_text("\n".join(rows))
    crowd = coterie.read(source, anonymise=True)
    posterior = coterie.MajorityVote().fit(crowd).posterior_
    for to in ("label-studio", "argilla", "prodigy"):
        posterior.export(to, tmp_path / "out")
        written = (tmp_path / "out").read_text("utf-8")
        assert not [name for name in ("ANN77", "BOB77", "SubmitTime", "x3") if name in written]
        assert "second" in written


def test_texts_of_argilla_go_elsewhere(tmp_path):
    posterior = fitted(tmp_path / "in.json", listed(ARGILLA_JSON))
    posterior.export("label-studio", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))[0]["data"] == {"text": "t"}


def test_a_platform_that_is_not_known_is_said_first(tmp_path):
    posterior = fitted(tmp_path / "in.json", listed(LABEL_STUDIO))
    posterior.save(tmp_path / "run.coterie")
    (tmp_path / "gold.csv").write_text("mine")
    wrong = CliRunner().invoke(app, ["export", str(tmp_path), "--to", "excel"])
    assert "--to excel is not one of" in wrong.output


SUGGESTED = {"spam.suggestion": "yes", "spam.suggestion.score": 0.9, "spam.suggestion.agent": "m"}


@pytest.mark.parametrize(
    "records",
    [[one | SUGGESTED for one in ARGILLA_FLAT], ARGILLA_1],
    ids=["flat", "version 1"],
)
def test_flat_records_of_argilla_go_back_as_fields(tmp_path, records):
    posterior = fitted(tmp_path / "in.jsonl", lines(records))
    out = tmp_path / "out.json"
    posterior.export("argilla", out)
    back = json.loads(out.read_text("utf-8"))
    assert [one["fields"] for one in back] == [{"text": "t"}] * len(back)
    found = read_back(out, annotators="suggestions")
    assert found == {str(item): label for item, label in consensus(posterior).items()}


def test_a_field_of_a_flat_record_is_found_by_its_name(tmp_path):
    path = written(
        tmp_path, "in.jsonl", lines([one | {"doc": f"d{k}"} for k, one in enumerate(ARGILLA_FLAT)])
    )
    assert coterie.read(path, item="doc").items.tolist()[0] == "d0"


def test_items_with_names_come_back_from_prodigy(tmp_path):
    posterior = fitted(tmp_path / "in.json", listed(ARGILLA_JSON))
    out = tmp_path / "out.jsonl"
    posterior.export("prodigy", out)
    assert read_back(out) == consensus(posterior)
    assert read_export(out).facts.item == "meta.coterie_item"
    assert 0 in read_back(out, item="_input_hash")


@pytest.mark.parametrize("option", ["a", "sets"])
def test_an_option_goes_to_argilla_as_a_list(tmp_path, option):
    records = json.loads(json.dumps(ARGILLA_JSON))
    for record in records:
        for response in record["responses"]["spam"]:
            response["value"] = ["a", "b"] if response["value"] == "yes" else []
    source = written(tmp_path, "in.json", listed(records))
    posterior = coterie.MajorityVote().fit(coterie.read(source, option=option)).posterior_
    posterior.export("argilla", tmp_path / "out.json")
    back = json.loads((tmp_path / "out.json").read_text("utf-8"))
    ticked = {"yes": ["a"], "no": [], "a | b": ["a", "b"], "(none)": []}
    values = {one["id"]: one["suggestions"]["spam"]["value"] for one in back}
    assert values == {item: ticked[label] for item, label in consensus(posterior).items()}


@pytest.mark.parametrize("option", ["A", "sets"])
def test_an_option_goes_to_prodigy_as_a_tick(tmp_path, option):
    ticked = [["A", "B"], ["A"], []]
    records = [
        {"text": f"t{item}", "_input_hash": item, "_task_hash": item, "answer": "accept"}
        | {"options": [{"id": "A"}, {"id": "B"}], "config": {"choice_style": "multiple"}}
        | {"accept": ticked[item % 3], "_annotator_id": person}
        for item in range(6)
        for person in ("ann", "bob")
    ]
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(lines(records))
    posterior = coterie.MajorityVote().fit(coterie.read(path, option=option)).posterior_
    posterior.export("prodigy", out)
    assert read_back(out, option=option) == consensus(posterior)
    task = json.loads(out.read_text("utf-8").splitlines()[1])
    assert (task["accept"], task["config"]) == (["A"], {"choice_style": "multiple"})
    assert [one["id"] for one in task["options"]] == ["A", "B"]
    path.unlink()  # the options that were offered are not known any more
    posterior.export("prodigy", out)
    assert read_back(out, option=option) == consensus(posterior)


def test_nothing_that_is_probable_enough_is_an_error(tmp_path):
    rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no"), ("q2", "bob", "yes")]
    posterior = coterie.MajorityVote().fit(rows).posterior_
    with pytest.raises(coterie.DataError, match=r"least=0.9: nothing is written; the surest has 0"):
        posterior.export("csv-gold", tmp_path / "gold.csv", least=0.9)
    assert not (tmp_path / "gold.csv").exists()
