"""coterie judges: one screen, one page."""

import json

import pytest
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app


@pytest.fixture
def labels(tmp_path):
    crowd = coterie.simulate("copycats", items=60, annotators=5, classes=2, random_state=0)
    crowd.annotations.to_frame().to_csv(tmp_path / "panel.csv", index=False)
    crowd.truth.reset_index().to_csv(tmp_path / "truth.csv", index=False)
    crowd.truth.reset_index().assign(length=range(60))[["item", "length"]].to_csv(
        tmp_path / "items.csv", index=False
    )
    return tmp_path / "panel.csv"


def run(*words):
    return CliRunner().invoke(app, ["judges", *map(str, words)])


def test_screen_page_and_tables(labels, tmp_path):
    out = tmp_path / "out"
    done = run(
        labels, "--model", "quick", "--truth", tmp_path / "truth.csv", "--out", out,
        "--columns", tmp_path / "items.csv", "--prices", "a1=3,a2=0.5",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "5 judges are worth" in done.output
    assert "Who errs together" in done.output
    assert "length" in done.output
    assert {path.name for path in out.iterdir()} >= {"judges.html", "labels.csv", "judges.csv"}
    assert f"open {out / 'judges.html'}; " in done.output.splitlines()[-1]
    assert coterie.load(out).annotations.n_annotators == 5
    again = run(labels, "--model", "quick", "--out", out)
    assert again.exit_code != 0


def test_columns_can_be_named(labels, tmp_path):
    renamed = labels.read_text().replace("item,annotator,label", "pair,by,said", 1)
    (tmp_path / "renamed.csv").write_text(renamed)
    named = ("--item", "pair", "--annotator", "by", "--label", "said")
    done = run(tmp_path / "renamed.csv", "--model", "quick", *named)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1].startswith("Next: add --out result/ for a page; ")


def test_columns_of_few_items_are_said(labels, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("".join((tmp_path / "items.csv").read_text().splitlines(True)[:6]))
    done = run(labels, "--model", "quick", "--columns", few)
    said = " ".join(done.output.split())
    assert "few.csv: numbers of 5 of 60 items" in said
    assert "Columns: no judge has 10 verdicts" in said


def test_options_of_a_multi_select_and_of_privacy(tmp_path):
    def record(item, who):
        ticked = ["a"] if (item + len(who)) % 3 else []
        own = {"text": "t", "_input_hash": item, "_task_hash": item, "answer": "accept"}
        style = {"choice_style": "multiple"}
        return {**own, "_session_id": who, "accept": ticked, "config": style}

    path = tmp_path / "p.jsonl"
    judges = ("gpt", "claude", "llama-3")
    records = [json.dumps(record(item, who)) for item in range(20) for who in judges]
    path.write_text("\n".join(records))
    refused = run(path, "--model", "quick")
    assert "pass --option a to read one as yes or no" in " ".join(refused.output.split())
    done = run(path, "--model", "quick", "--option", "a", "--anonymise", "--keep", "ignore")
    assert done.exit_code == 0, done.output
    assert "claude" not in done.output
