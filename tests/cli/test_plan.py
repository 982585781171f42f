"""coterie plan: what it says, what it writes, what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest

import coterie
from builders.command import coterie as command
from coterie.assign.belief import belief_of, inform_all, worth_of


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    crowd = coterie.simulate("mixed", items=40, annotators=8, labels_per_item=3, random_state=0)
    model = coterie.Consensus(random_state=0, progress=False, chains=2, sweeps=60, burn_in=20)
    with warnings.catch_warnings(action="ignore"):
        model.fit(crowd.annotations).posterior_.save(folder / "run.coterie")
    return folder


def test_it_writes_tasks_people_and_forecast(run, tmp_path):
    costs = tmp_path / "costs.csv"
    names = coterie.load(run / "run.coterie").annotations.annotators
    costs.write_text("annotator,cost\n" + "".join(f"{n},0.5\n" for n in names), "utf-8")
    out = tmp_path / "plan"
    done = command("plan", run, "--budget", "6", "--costs", costs, "--target", "0.9", "--out", out)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    assert "with 95 % probability" in lines[0].replace("\N{NO-BREAK SPACE}", " ")
    assert "12 labels for 6.00" in done.stdout
    tasks, people, curve = (pd.read_csv(out / f"{n}.csv") for n in ("tasks", "people", "forecast"))
    assert len(tasks) == 12
    assert tasks.columns.tolist() == [
        "item", "annotator", "information", "accuracy_gain", "cost", "why",
    ]  # fmt: skip
    assert {"annotator", "bits", "action", "probability", "saves", "why"} <= set(people.columns)
    assert set(curve["policy"]) == {"information", "random"}
    again = command("plan", run, "--budget", "6", "--out", out)
    assert again.returncode == 1
    assert "--force" in again.stderr


def test_those_who_have_a_cost_and_no_labels_are_newcomers(run, tmp_path):
    costs, out = tmp_path / "costs.csv", tmp_path / "plan"
    names = coterie.load(run / "run.coterie").annotations.annotators
    dear = "".join(f"{n},5\n" for n in names)
    costs.write_text(f"annotator,cost\n{dear}dora,0.5\ned,0.5\n", "utf-8")
    done = command("plan", run, "--budget", "6", "--costs", costs, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "New here, and expected to answer as people do on average: dora and ed." in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    assert sum(not line.startswith("  ") and "plan/" not in line for line in lines) <= 10
    tasks = pd.read_csv(out / "tasks.csv")
    assert {"dora", "ed"} == set(tasks["annotator"].head(4))  # their labels cost a tenth
    belief = belief_of(coterie.load(run / "run.coterie"))
    assert np.isclose(tasks["information"].max(), best_of_newcomer(belief))


def best_of_newcomer(belief):
    """The most that a label of somebody new tells about any item."""
    worth = belief.ease * worth_of(belief.n_labels, belief.overlap)
    return inform_all(belief.items, worth, belief.matrix[-1:])[0].max()


def test_a_budget_of_nothing_is_a_sentence(run):
    done = command("plan", run, "--budget", "0")
    assert done.returncode == 0, done.stderr
    assert "A budget of 0 buys no label." in done.stdout


def test_who_is_available_can_be_said(run, tmp_path):
    costs, out = tmp_path / "costs.csv", tmp_path / "plan"
    one = coterie.load(run / "run.coterie").annotations.annotators[0]
    costs.write_text(f"annotator,cost\n{one},0.5\ndora,0.5\n", "utf-8")
    given = ("plan", run, "--budget", "6", "--annotators", f"{one}, dora")
    done = command(*given, "--costs", costs, "--out", out)
    assert done.returncode == 0, done.stderr
    assert set(pd.read_csv(out / "tasks.csv")["annotator"]) <= {one, "dora"}
    assert "on average: dora." in done.stdout
    assert "saves_money" not in pd.read_csv(out / "people.csv")  # some have no cost


def test_nobody_available_is_a_sentence(run):
    done = command("plan", run, "--budget", "6", "--annotators", "")
    assert done.returncode == 0, done.stderr
    assert "Nobody is available" in done.stdout


def test_all_items_known_is_a_sentence(tmp_path):
    crowd = coterie.simulate("mixed", items=12, annotators=5, random_state=0)
    model = coterie.QuickConsensus().fit(crowd.annotations, crowd.truth)
    model.posterior_.save(tmp_path / "run.coterie")
    done = command("plan", tmp_path, "--budget", "6", "--out", tmp_path / "plan")
    assert done.returncode == 0, done.stderr
    assert "All items are settled: their labels are known." in done.stdout
    assert "No further label can be had" in done.stdout
