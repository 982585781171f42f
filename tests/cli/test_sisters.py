"""Every registered model from the command line: kinds, times, files, and all side by side."""

import json

import pandas as pd
import pytest

import coterie as package
from builders.command import coterie
from coterie.abilities import SAMPLED
from coterie.models.registry import MODELS
from coterie.simulation import simulate
from ladder.marks import rest_slow

SHORT = ("--sweeps", 40, "--burn-in", 10, "--chains", 2, "--seed", 0)
TELL_KINDS = ("ibcc", "cbcc", "hcbcc")


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    """A crowd whose items have a topic, and whose labels have times."""
    frame = simulate("drifting", items=16, annotators=4, classes=2, random_state=0)
    frame = frame.annotations.to_frame()
    path = tmp_path_factory.mktemp("crowd") / "labels.csv"
    topic = frame["item"].str[-1].map(lambda digit: "even" if int(digit) % 2 == 0 else "odd")
    frame.assign(topic=topic).to_csv(path, index=False)
    return path


def aggregate(labels, out, name, *more):
    """Run a model; give what it wrote, loaded again."""
    model = MODELS[name]
    words = [*more, *(SHORT if model.method in SAMPLED else ("--seed", 0))]
    words += ["--time", "time"] if "time" in model.needs else []
    done = coterie("aggregate", labels, "--model", name, "--out", out, *words)
    assert done.returncode == 0, done.stderr
    posterior = package.load(out / "run.coterie")
    written = pd.read_csv(out / "labels.csv")
    assert written["label"].tolist() == posterior.labels()["label"].tolist()
    assert (out / "report.html").stat().st_size > 10_000
    return posterior


@pytest.mark.parametrize("name", MODELS)
def test_every_model_aggregates_a_file(name, labels, tmp_path):
    posterior = aggregate(labels, tmp_path / "out", name)
    assert posterior.model == MODELS[name].__name__
    drift = tmp_path / "out" / "drift.csv"
    assert drift.exists() == ("time" in MODELS[name].needs)
    if drift.exists():
        assert pd.read_csv(drift)["annotator"].tolist() == posterior.drift()["annotator"].tolist()


@pytest.mark.parametrize("kinds", ["topic", "2"])
@pytest.mark.parametrize("name", rest_slow(TELL_KINDS, 0))
def test_kinds_are_a_column_or_a_number(name, kinds, labels, tmp_path):
    posterior = aggregate(labels, tmp_path / "out", name, "--kinds", kinds)
    table = pd.read_csv(tmp_path / "out" / "kinds.csv")
    assert table["item"].tolist() == posterior.kinds()["item"].tolist()
    if kinds == "topic":
        assert set(table["kind"]) == {"even", "odd"}


def test_dawid_skene_takes_known_kinds_only(labels, tmp_path):
    posterior = aggregate(labels, tmp_path / "out", "ds", "--kinds", "topic")
    assert set(posterior.kinds()["kind"]) == {"even", "odd"}
    done = coterie("aggregate", labels, "--model", "ds", "--kinds", 2)
    assert done.returncode == 1
    assert "--kinds" in done.stderr
    assert "hcbcc" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("scenario", ["drifting", "easy-hard", "kinds", "copycats"])
def test_simulated_crowds_can_be_read_with_all_that_they_know(scenario, tmp_path):
    sizes = ("--items", 16, "--annotators", 4, "--classes", 2)
    done = coterie("simulate", scenario, "--out", tmp_path / "crowd", *sizes)
    assert done.returncode == 0, done.stderr
    columns = pd.read_csv(tmp_path / "crowd" / "labels.csv").columns.tolist()
    more = {"drifting": ["time"], "easy-hard": ["kind"], "kinds": ["kind"], "copycats": []}
    assert columns == ["item", "annotator", "label", *more[scenario]]
    if scenario == "kinds":
        path = tmp_path / "crowd" / "labels.csv"
        posterior = aggregate(path, tmp_path / "out", "ibcc", "--kinds", "kind")
        assert set(posterior.kinds()["kind"]) == {"a", "b"}


def test_labels_with_times_are_compared_and_go_on(tmp_path):
    crowd = tmp_path / "crowd"
    asked = ("--items", 40, "--annotators", 6)
    assert coterie("simulate", "drifting", *asked, "--out", crowd).returncode == 0
    words = ("--truth", crowd / "truth.csv", "--models", "all", "--time", "time", "--sweeps", 20)
    done = coterie("compare", crowd / "labels.csv", *words, "--out", tmp_path / "league")
    assert done.returncode == 0, done.stderr
    league = json.loads((tmp_path / "league" / "compare.json").read_text())
    assert "--time time" in json.dumps(league)
    page = (tmp_path / "league" / "compare.md").read_text()
    assert "dynamic" in page
    assert "needs the time" not in page
    rows = pd.read_csv(crowd / "labels.csv")
    rows[:-20].to_csv(tmp_path / "first.csv", index=False)
    rows[-20:].to_csv(tmp_path / "then.csv", index=False)
    before = aggregate(tmp_path / "first.csv", tmp_path / "one", "dynamic")
    run = tmp_path / "one" / "run.coterie"
    told = ("--update", run, "--time", "time", "--out", tmp_path / "two")
    done = coterie("aggregate", tmp_path / "then.csv", *told)
    assert done.returncode == 0, done.stderr
    after = package.load(tmp_path / "two" / "run.coterie")
    assert after.annotations.n_labels == before.annotations.n_labels + 20
