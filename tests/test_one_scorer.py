"""Whoever scores a fit gives the same numbers: terminal, run.json, page, plot, compare, paper."""

import json

import pytest
from matplotlib import pyplot
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.errors import DataWarning
from coterie.io import read_truth
from coterie.report.facts import gather
from coterie.studies.job import perform
from coterie.studies.league import Source, fit_job, make_league, row_of
from coterie.studies.league.lineup import line_up
from coterie.studies.league.record import About, make_record
from coterie.studies.paper.work import _scores as scores_for_the_paper

# q1 ties, and truth is its higher class; q3 was called impossible; nobody gave the truth of q5;
# q6 has no truth, and q9 no label.
LABELS = """item,annotator,label
q1,a,x
q1,b,y
q2,a,y
q2,b,y
q2,c,x
q3,a,x
q3,b,x
q4,a,z
q4,c,z
q5,a,x
q5,c,y
q6,b,x
"""
TRUTH = "item,label\nq1,y\nq2,y\nq3,y\nq4,z\nq5,other\nq9,x\n"
MODELS = {"majority": coterie.MajorityVote, "ds": coterie.DawidSkene}

pytestmark = pytest.mark.filterwarnings("ignore:1 of 5 scored items")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "labels.csv").write_text(LABELS, "utf-8")
    (tmp_path / "truth.csv").write_text(TRUTH, "utf-8")
    return tmp_path


@pytest.fixture(params=sorted(MODELS))
def model(request):
    return request.param


@pytest.fixture
def posterior(folder, model):
    return MODELS[model]().fit(coterie.read(folder / "labels.csv")).posterior_


@pytest.fixture
def truth(folder):
    return read_truth(folder / "truth.csv")


@pytest.fixture
def score(posterior, truth):
    return posterior.score(truth)


def test_the_example_has_everything_that_doors_disagreed_on(folder, truth):
    model = coterie.MajorityVote(probabilities="shares")
    vote = model.fit(coterie.read(folder / "labels.csv")).posterior_
    found = vote.score(truth)
    assert (found.items, found.n_not_a_class, found.n_floored) == (5, 1, 2)
    assert found.accuracy == pytest.approx(2.5 / 5)
    assert vote.score(truth, ties="lowest").accuracy == pytest.approx(2 / 5)


def test_aggregate(folder, model, score):
    arguments = [str(folder / "labels.csv"), "--truth", str(folder / "truth.csv")]
    arguments += ["--model", model, "--out", str(folder / "out")]
    done = CliRunner().invoke(app, ["aggregate", *arguments])
    assert done.exit_code == 0, done.output
    record = json.loads((folder / "out" / "run.json").read_text("utf-8"))
    assert record["scores"] == score.numbers()
    (line,) = (line for line in done.stdout.splitlines() if line.startswith(record["model"] + "  "))
    shown = (score.accuracy, score.balanced_accuracy, score.log_loss, score.calibration_error)
    assert line.split() == [record["model"], *(f"{number:.3f}" for number in shown)]
    assert "Against the truth of 5 items" in done.stdout
    assert "Ties are shared; the log loss counts probabilities below 0.0001 as that." in done.stdout
    warning = "1 of 5 scored items have a true label that is not among the classes, such as 'other'"
    assert done.stderr.count(warning) == 1


def test_report(folder, posterior, score):
    facts = gather(posterior, truth=folder / "truth.csv")["truth"]
    assert {name: facts[name] for name in score.numbers()} == score.numbers()


def test_plot(posterior, truth, score):
    assert posterior.plot.calibration(truth).get_title() == f"ECE {score.calibration_error:.3f}"


def test_compare(folder, model, score):
    source = Source("tiny", folder / "labels.csv", folder / "truth.csv")
    rows = [
        row_of("tiny", name, perform(fit_job(source, name, model)))
        for name, model in line_up(list(MODELS)).items()
    ]
    league = make_league(["tiny"], list(MODELS), rows)
    rows = {row["model"]: row for row in make_record(league, About("", {}))["rows"]}
    assert {name: rows[model][name] for name in score.numbers()} == score.numbers()
    standing = next(s for s in league.standings if s.model == model)
    assert (standing.accuracy, standing.log_loss) == (score.accuracy, score.log_loss)


def test_the_paper_gives_ties_to_the_lowest_class(posterior, truth, score):
    found = scores_for_the_paper(posterior, truth)
    lowest = posterior.score(truth, ties="lowest")
    labels = posterior.labels().set_index("item")["label"]
    assert found == {
        "items": 5,
        "right": round(5 * lowest.accuracy),
        "accuracy": lowest.accuracy,
        "accuracy_ties_shared": score.accuracy,
    }
    assert lowest.accuracy == coterie.metrics.accuracy(labels, truth)


def test_gold_is_scored_nowhere(folder, truth):
    (folder / "known.csv").write_text("item,label\nq1,y\nq6,x\n", "utf-8")
    arguments = [str(folder / "labels.csv"), "--truth", str(folder / "truth.csv")]
    arguments += ["--gold", str(folder / "known.csv"), "--out", str(folder / "out")]
    done = CliRunner().invoke(app, ["aggregate", *arguments, "--model", "majority"])
    assert done.exit_code == 0, done.output
    annotations = coterie.read(folder / "labels.csv", gold=folder / "known.csv")
    posterior = coterie.MajorityVote().fit(annotations).posterior_
    with pytest.warns(DataWarning, match="1 of 4 scored items"):
        score = posterior.score(truth)
    assert (score.items, score.n_gold) == (4, 1)
    assert json.loads((folder / "out" / "run.json").read_text("utf-8"))["scores"] == score.numbers()
    with pytest.warns(DataWarning, match="1 of 4 scored items"):
        facts = gather(posterior, truth=truth)["truth"]
    assert {name: facts[name] for name in score.numbers()} == score.numbers()
    with pytest.warns(DataWarning, match="1 of 4 scored items"):
        bins = posterior.plot.calibration(truth).texts[1:]
    assert sum(int(text.get_text()) for text in bins) == 4
