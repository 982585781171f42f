"""Replay: labels are revealed once each, policies differ in order only, and the study says so."""

import json

import numpy as np
import pandas as pd
import pytest

import coterie
from builders.command import coterie as command
from coterie.studies.fits import Source
from coterie.studies.policies import POLICIES, hide
from coterie.studies.replay import Point, Settings, fit, replay, run_study, standings


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("mixed", items=30, annotators=8, labels_per_item=6, random_state=0)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_asks_for_labels_that_wait_and_for_each_once(crowd, name):
    rng = np.random.default_rng(0)
    hidden = hide(crowd.annotations, 1, rng)
    assert (hidden.n_known() == 1).all()
    while len(hidden.waiting):
        posterior = fit(hidden.seen(), "quick", 0)
        places = POLICIES[name](hidden, posterior, 40, rng)
        assert len(places) == len(set(places.tolist())) == min(40, len(hidden.waiting))
        assert not hidden.known[places].any()
        hidden = hidden.revealed(places)
    assert hidden.seen().to_frame().equals(crowd.annotations.to_frame())


def test_balanced_keeps_items_level(crowd):
    rng = np.random.default_rng(0)
    hidden = hide(crowd.annotations, 1, rng)
    posterior = fit(hidden.seen(), "quick", 0)
    after = hidden.revealed(POLICIES["balanced"](hidden, posterior, 45, rng)).n_known()
    assert set(after.tolist()) <= {2, 3}


def test_a_replay_ends_with_all_labels_whatever_the_policy(crowd):
    settings = Settings(batch=50)
    runs = [replay(crowd.annotations, crowd.truth, name, 0, settings) for name in POLICIES]
    assert {run[0] for run in runs} == {runs[0][0]}  # the same labels at the start
    assert {run[-1] for run in runs} == {runs[0][-1]}  # and all of them at the end
    assert [point.labels for point in runs[0]] == [30, 80, 130, 180]


@pytest.fixture
def repeated(crowd, tmp_path):
    rows = crowd.annotations.to_frame()
    again = rows.iloc[:3].assign(label=rows["label"].iloc[3])
    pd.concat([rows, again]).to_csv(tmp_path / "labels.csv", index=False)
    crowd.truth.rename_axis("item").rename("label").to_frame().to_csv(tmp_path / "truth.csv")
    return tmp_path


def test_repeated_labels_are_refused_unless_told_what_they_mean(repeated):
    told = ("replay", "labels.csv", "--truth", "truth.csv", "--seeds", "1", "--batch", "90")
    done = command(*told, cwd=repeated)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: labels: rows 182, 183 and 184 of labels.csv")
    assert "--duplicates first" in done.stderr
    for duplicates, n in (("first", 180), ("last", 180), ("keep", 183)):
        done = command(*told, "--duplicates", duplicates, "--out", duplicates, cwd=repeated)
        assert done.returncode == 0, done.stderr
        record = json.loads((repeated / duplicates / "replay.json").read_text("utf-8"))
        assert {one["labels"] for one in record["standings"]} == {n}
        assert f"--duplicates {duplicates}" in record["command"]


@pytest.mark.parametrize("name", POLICIES)
def test_repeated_labels_that_are_kept_are_asked_for_one_by_one(repeated, crowd, name):
    annotations = coterie.read(repeated / "labels.csv", duplicates="keep")
    assert replay(annotations, crowd.truth, name, 0, Settings(batch=60))[-1].labels == 183


def test_names_with_slashes_come_back_whole(repeated):
    given = Source("a/b/0", repeated / "labels.csv", repeated / "truth.csv")
    settings = Settings(batch=90, duplicates="first")
    curves = run_study([given], ["balanced", "random"], 2, settings)
    assert set(curves["data"]) == {"a/b/0"}
    assert set(curves["policy"]) == {"balanced", "random"}
    assert set(curves["seed"]) == {0, 1}


def test_what_a_study_says():
    def rows(policy, accuracies):
        return [("d", policy, 0, *Point(k * 10, a, 0.5, 0.2, 0.6, 3 - k))
                for k, a in enumerate(accuracies, 1)]  # fmt: skip

    curves = pd.DataFrame(
        rows("balanced", [0.5, 0.6, 0.8]) + rows("information", [0.5, 0.8, 0.8]),
        columns=["data", "policy", "seed", *Point._fields],
    )
    found = {one.policy: one for one in standings(curves)}
    assert found["balanced"].needed == 1.0
    assert found["information"].needed == pytest.approx(2 / 3)
    assert found["information"].stopped == 1.0
    assert found["information"].holds == 1.0


def test_the_command_writes_a_page_and_the_numbers(crowd, tmp_path):
    labels, truth, out = tmp_path / "labels.csv", tmp_path / "truth.csv", tmp_path / "out"
    crowd.annotations.to_frame().to_csv(labels, index=False)
    crowd.truth.rename_axis("item").rename("label").to_frame().to_csv(truth)
    options = ("--policies", "balanced,information", "--seeds", "2", "--batch", "50")
    done = command("replay", labels, "--truth", truth, *options, "--out", out)
    assert done.returncode == 0, done.stderr
    record = json.loads((out / "replay.json").read_text("utf-8"))
    assert [one["policy"] for one in record["standings"]] == ["balanced", "information"]
    assert "<svg" in (out / "replay.html").read_text("utf-8")
    assert "| labels | information |" in (out / "replay.md").read_text("utf-8")
    refused = command("replay", labels, "--truth", truth, "--policies", "best")
    assert refused.returncode == 1
    assert "there are random, balanced" in refused.stderr
