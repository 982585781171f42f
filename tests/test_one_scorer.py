"""Whoever scores a fit gives the same numbers.

Terminal, run.json, page, plot, compare, paper, judges, a check by gold, replay, a scan.
"""

import json

import pytest
from matplotlib import pyplot
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.errors import DataError, DataWarning
from coterie.io.read import read_truth
from coterie.judges import look_at
from coterie.models import make_model
from coterie.report.facts import gather
from coterie.studies.fits import Source, fit_job, line_up
from coterie.studies.league import make_league, row_of
from coterie.studies.league_pages import About, make_record
from coterie.studies.pool import perform
from coterie.studies.replay import Settings, replay_job
from reproduction.work import scores as scores_for_the_paper

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


@pytest.mark.parametrize("how", [[], ["--scan"]], ids=["read", "scanned"])
def test_aggregate(folder, model, score, how):
    arguments = [str(folder / "labels.csv"), "--truth", str(folder / "truth.csv")]
    arguments += ["--model", model, "--out", str(folder / "out"), *how]
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
    page = (folder / "out" / "report.html").read_text("utf-8")
    assert f"{100 * score.accuracy:.1f}" in page.split('id="truth"')[1].split("</section>")[0]


def test_report(folder, posterior, score):
    facts = gather(posterior, truth=folder / "truth.csv").truth
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


def test_judges(folder, model, posterior, truth, score):
    panel = look_at(posterior, truth=truth)
    assert panel.score.numbers() == score.numbers()
    assert panel.kept.right_whole == pytest.approx(score.accuracy)
    vote = coterie.MajorityVote().fit(posterior.annotations).posterior_.score(truth)
    assert panel.vote.numbers() == vote.numbers()
    assert panel.judges["known"].tolist() == [5, 3, 3]  # q5, which nobody got right, counts
    assert panel.judges["known_right"].tolist() == pytest.approx([2 / 5, 2 / 3, 1 / 3])
    arguments = [str(folder / "labels.csv"), "--truth", str(folder / "truth.csv")]
    done = CliRunner().invoke(app, ["judges", *arguments, "--model", model])
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.replace("\N{NO-BREAK SPACE}", " ").split())
    assert "On 5 items with a truth that the fit has not seen: consensus " in said
    assert f"consensus {100 * score.accuracy:.1f} % right" in said
    assert "vote 50.0 %" in said


def test_a_check_by_gold_shares_ties_as_the_score_does(folder):
    known = {"q1": "y", "q2": "y", "q3": "y", "q4": "z"}
    annotations, vote = coterie.read(folder / "labels.csv"), coterie.MajorityVote()
    score = vote.fit(annotations).posterior_.score(known)
    check = coterie.check_gold(annotations, vote, gold=known)
    assert check.right == score.accuracy == 2.5 / 4
    assert check.table["right"].tolist() == score.right.tolist() == [0.5, 1.0, 0.0, 1.0]
    assert check.claimed == pytest.approx(score.confidence.mean())


@pytest.mark.parametrize("name", ["ds", "quick"])
def test_replay(folder, name, truth):
    annotations = coterie.read(folder / "labels.csv")
    score = make_model(name).fit(annotations).posterior_.score(truth)
    given = Source("tiny", folder / "labels.csv", folder / "truth.csv")
    done = perform(replay_job(given, "balanced", 0, Settings(batch=4, model=name)))
    assert done.status == "ok", done.reason
    last = done.result[-1]
    assert (last.labels, last.accuracy, last.log_loss) == (12, score.accuracy, score.log_loss)


DOORS = {
    "aggregate": ["aggregate", "labels.csv", "--model", "ds", "--out", "out"],
    "scan": ["aggregate", "labels.csv", "--model", "ds", "--out", "out", "--scan"],
    "report": ["report", "saved.coterie", "--out", "page.html"],
    "compare": ["compare", "labels.csv", "--models", "ds"],
    "judges": ["judges", "labels.csv", "--model", "ds", "--out", "out"],
    "replay": ["replay", "labels.csv", "--model", "ds", "--out", "out"],
}
WRONG = {
    "no label is a class": ("q1,Y\nq2,Y\n", "the true label 'Y' is not one of the classes "),
    "no item has a label": ("p1,y\np2,y\n", "no item has both a prediction and a truth: "),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("door", DOORS)
def test_a_truth_that_does_not_fit_is_the_same_error_at_every_door(
    folder, monkeypatch, door, wrong
):
    monkeypatch.chdir(folder)
    rows, sentence = WRONG[wrong]
    (folder / "truth.csv").write_text(f"item,label\n{rows}", "utf-8")
    coterie.DawidSkene().fit(coterie.read("labels.csv")).posterior_.save("saved.coterie")
    done = CliRunner().invoke(app, [*DOORS[door], "--truth", "truth.csv"])
    assert done.exit_code == 1
    (said,) = (line for line in done.stderr.splitlines() if line.startswith("Error: "))
    assert sentence in said
    assert not list(folder.glob("out/*"))


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("asked", ["score", "report", "look_at"])
def test_a_truth_that_does_not_fit_is_the_same_error_in_python(folder, posterior, asked, wrong):
    rows, sentence = WRONG[wrong]
    (folder / "truth.csv").write_text(f"item,label\n{rows}", "utf-8")
    truth = read_truth(folder / "truth.csv")
    ask = {
        "score": posterior.score,
        "report": lambda truth: gather(posterior, truth=truth),
        "look_at": lambda truth: look_at(posterior, truth=truth),
    }
    with pytest.raises(DataError, match=sentence):
        ask[asked](truth)


@pytest.mark.parametrize("how", [[], ["--scan"]], ids=["read", "scanned"])
def test_where_all_truths_are_gold_nothing_is_scored(folder, how):
    labels, known = str(folder / "labels.csv"), folder / "known.csv"
    known.write_text("item,label\nq1,y\nq2,y\n", "utf-8")
    arguments = [labels, "--truth", str(known), "--gold", str(known), "--out", str(folder / "out")]
    done = CliRunner().invoke(app, ["aggregate", *arguments, "--model", "ds", *how])
    assert done.exit_code == 0, done.output
    assert "is known (gold): nothing is left to score" in done.stdout
    assert "Against the truth" not in done.stdout
    record = json.loads((folder / "out" / "run.json").read_text("utf-8"))
    assert record["scores"] == {}
    assert record["gold"]["items"] == 2


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
        facts = gather(posterior, truth=truth).truth
    assert {name: facts[name] for name in score.numbers()} == score.numbers()
    with pytest.warns(DataWarning, match="1 of 4 scored items"):
        bins = posterior.plot.calibration(truth).texts[1:]
    assert sum(int(text.get_text()) for text in bins) == 4
