"""coterie report: where the page goes, what it remembers of the run, what it leaves behind."""

import json

import pytest

from builders import command as command_line
from builders import reported
from builders.pagetree import parse

ROWS = """item,annotator,label,sure
q1,ann,yes,
q1,bob,yes,
q2,ann,no,no
q2,bob,yes,no
q3,ann,no,
q3,bob,no,
"""


@pytest.fixture(scope="module")
def posterior():
    return reported.crowd(unlabelled=1)


def coterie(*arguments, cwd):
    done = command_line.coterie(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*arguments, cwd):
    done = command_line.coterie(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def page(path):
    return parse(path.read_text("utf-8"))


def test_it_is_written_beside_the_run(posterior, tmp_path):
    posterior.save(tmp_path / "run.coterie")
    truth = tmp_path / "truth.csv"
    truth.write_text("item,label\nq000000,c0\nq000001,c2\n", "utf-8")
    said = coterie("report", tmp_path, "--truth", truth, "--title", "A & B", cwd=tmp_path)
    assert "report.html" in said
    tree = page(tmp_path / "report.html")
    assert tree.one("h1").text == "A & B"
    assert "Of 2 items with a known truth" in tree.words


def test_nothing_is_replaced_unasked(posterior, tmp_path):
    posterior.save(tmp_path / "run.coterie")
    there = tmp_path / "report.html"
    there.write_text("mine", "utf-8")
    assert "already holds report.html" in refused("report", "run.coterie", cwd=tmp_path)
    assert there.read_text("utf-8") == "mine"
    coterie("report", "run.coterie", "--out", "else/where.html", cwd=tmp_path)
    assert (tmp_path / "else" / "where.html").stat().st_size > 10_000
    coterie("report", "run.coterie", "--out", ".", "--force", cwd=tmp_path)
    assert there.read_text("utf-8").startswith("<!doctype html>")
    assert "nothing.coterie" in refused("report", "nothing.coterie", cwd=tmp_path)


def test_what_the_run_was_made_of_is_remembered(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "labels.csv").write_text(ROWS, "utf-8")
    truth = tmp_path / "truth.csv"
    truth.write_text("item,label\nq1,yes\nq2,no\nq3,yes\n", "utf-8")
    made = coterie(
        "aggregate", "in/labels.csv", "--gold", "sure", "--truth", "truth.csv", "--out", "out",
        cwd=tmp_path,
    )  # fmt: skip
    first = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "No section on the truth" not in made
    said = coterie("report", "out", "--force", cwd=tmp_path)
    assert "No section on the truth" not in said
    assert (tmp_path / "out" / "report.html").read_text("utf-8") == first
    tree = page(tmp_path / "out" / "report.html")
    assert "Of 2 items with a known truth, 50.0 % are right" in tree.words
    line = "coterie aggregate in/labels.csv --gold sure --truth truth.csv --out out"
    assert tree.one("pre", **{"aria-label": "Command"}).text == line
    code = tree.one("pre", **{"aria-label": "Python code"}).text
    assert "coterie.read('in/labels.csv', item='item'" in code
    assert "gold='sure')" in code
    scores = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))["scores"]
    assert (scores["items"], scores["accuracy"]) == (2, 0.5)  # q2 was given
    truth.write_text("item,label\nq1,no\n", "utf-8")
    said = coterie("report", "out", "--out", "again.html", cwd=tmp_path)
    assert said.startswith("No section on the truth: truth.csv, by which the run was scored, is ")
    assert "Give it with --truth." in said
    assert "truth" not in [
        node.attributes["id"] for node in page(tmp_path / "again.html").all("h2")
    ]


def test_a_truth_that_is_in_no_file(posterior, tmp_path):
    posterior.save(tmp_path / "run.coterie")
    (tmp_path / "run.json").write_text('{"scores": {"accuracy": 1.0}}', "utf-8")
    said = coterie("report", ".", cwd=tmp_path)
    assert "scored by a truth that is in no file. Give it with --truth." in said
