"""A model of somebody else's is a model like all others: by one file.

The suite of all models runs on it in tests/models/test_conformance.py.
"""

import ast
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.extend import (
    Abilities,
    Afterwards,
    ItemNumbers,
    People,
    Prior,
    Reported,
    SamplingEstimator,
    Space,
    Takes,
    judge_modes,
    register,
)
from coterie.files.values import to_json
from coterie.models import MODELS, make_model
from coterie.models.registry import name_of, names_where
from coterie.priors.base import BY_VALUE
from coterie.studies.fits import line_up
from difficulty import Difficulty, DifficultyPeople, DifficultyPrior

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")

FILE = Path(__file__).parent / "difficulty.py"
PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-model.md").read_text("utf-8")
QUICK = {"sweeps": 60, "burn_in": 20, "chains": 2, "random_state": 0, "progress": False}


@pytest.fixture
def labels():
    return coterie.simulate("mixed", items=40, annotators=10, random_state=1).annotations


@pytest.fixture
def posterior(labels):
    return Difficulty(**QUICK).fit(labels).posterior_


@pytest.fixture
def joined():
    register("difficulty")(Difficulty)
    yield
    MODELS.remove("difficulty")


def test_the_model_takes_nothing_of_coterie_but_what_the_door_gives():
    text = FILE.read_text("utf-8")
    assert len(text.splitlines()) < 80
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "coterie":
            assert (node.module, [alias.name for alias in node.names]) == ("coterie", ["extend"])


def test_the_page_shows_the_whole_model_as_it_is():
    shown = re.search(r"^`difficulty\.py`:\n\n```python\n(.*?)```", PAGE, re.DOTALL | re.M)
    assert shown[1] == FILE.read_text("utf-8")


@pytest.mark.slow
def test_the_page_can_be_followed_word_for_word_in_an_empty_folder(tmp_path):
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", PAGE, re.DOTALL | re.M)
    (_, model), *rest = blocks
    (tmp_path / "difficulty.py").write_text(model, "utf-8")
    told = ""
    for language, text in rest:
        if language == "sh":
            for line in text.splitlines():
                done = subprocess.run(
                    [sys.executable, *line.split()[1:]], cwd=tmp_path, capture_output=True
                )
                assert done.returncode == 0, done.stderr.decode()
            continue
        told += text  # each block goes on where the one before ended
        (tmp_path / "page.txt").write_text(told, "utf-8")
        command = "import doctest, sys, warnings; sys.path.insert(0, '.');"
        command += "warnings.simplefilter('ignore');"
        command += "sys.exit(doctest.testfile('page.txt', module_relative=False, optionflags="
        command += "doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).failed)"
        done = subprocess.run(
            [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_names_all_that_is_declared():
    fields_of = [field.name for one in (Abilities, Takes, Afterwards) for field in fields(one)]
    for name in (*fields_of, "start", "draw", "move", "means", "matrices", "extra", "check"):
        assert re.search(rf"`{name}\b", PAGE), name


def test_the_page_names_only_what_the_door_gives():
    named = set(re.findall(r"`([a-z_]+_[a-z_]+|[A-Z]\w+)(?:\([^`]*\))?`", PAGE))
    ours = {*coterie.extend.__all__, *vars(SamplingEstimator), *vars(People), *vars(Space)}
    ours |= {field.name for one in (Abilities, Takes, Afterwards) for field in fields(one)}
    ours |= {"Difficulty", "cell_total"}
    assert named - ours == set()


def test_what_it_records_travels_by_name(posterior, labels, tmp_path):
    posterior.save(tmp_path / "run.coterie")
    for one in (posterior, coterie.load(tmp_path / "run.coterie")):
        assert {"log_joint", "class_total[0]"} <= set(one.diagnostics()["quantity"])
        skill = one.draws.extra["skill"]
        assert skill.dims == ("annotator",)
        assert skill.values.shape == (*one.draws.confusion.shape[:2], labels.n_annotators)
        found = one.labels()["hardness"]
        assert found.between(0, 1).all()
        np.testing.assert_array_equal(one.item_table("hardness")["hardness"], found)
        assert one.to_arviz()["posterior"]["skill"].dims == ("chain", "draw", "annotator")
    with pytest.raises(coterie.CoterieError, match=r"has no numbers 'kind' of items; it has 'har"):
        posterior.item_table("kind")


class Watching(DifficultyPeople):
    """Notes two numbers more, of which one must converge."""

    watched = ("right",)

    def trace(self, state, log_labels):
        right = np.diagonal(state["said"][:, :3, :3], axis1=1, axis2=2).sum()
        return {**super().trace(state, log_labels), "right": right, "moved": 0.0}


class Watched(Difficulty):
    def people(self, prior, crowd, data):
        return Watching(prior, crowd)


def test_what_it_watches_counts_for_convergence(labels):
    draws = Watched(**QUICK).fit(labels).posterior_.draws
    assert draws.watched[-1] == "right"
    rng = np.random.default_rng(0)
    calm = {name: rng.normal(size=(2, 2_000)) for name in ("log_joint", "right", "moved")}
    drift = calm["log_joint"] + [[0.0], [1.0]]

    def settled(**changed):
        return coterie.extend.Draws(
            draws.confusion, draws.class_balance, trace={**calm, **changed}, watched=draws.watched
        ).settled()

    assert settled()
    assert settled(moved=drift)
    assert not settled(right=drift)


def test_the_command_line_lists_it_and_runs_it(joined, labels, tmp_path):
    for command in ("aggregate", "compare", "demo"):
        shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
        assert re.search(r"majority, ds, ibcc, .*difficulty", shown)
    labels.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    for name in ("difficulty", "difficulty:Difficulty"):
        out = tmp_path / name.replace(":", "_")
        short = ["--sweeps", "60", "--burn-in", "20", "--chains", "2"]
        words = ["aggregate", str(tmp_path / "labels.csv"), "--model", name, "--out", str(out)]
        done = CliRunner().invoke(app, [*words, *short])
        assert done.exit_code == 0, done.output
        names = {path.name for path in out.iterdir()}
        assert {"labels.csv", "annotators.csv", "diagnostics.csv", "report.html"} <= names
        assert "hardness" in pd.read_csv(out / "labels.csv")
        assert "Difficulty is not part of coterie" in (out / "report.html").read_text("utf-8")
    assert "difficulty" in line_up()


def test_names_are_given_once(joined):
    register("difficulty")(Difficulty)  # the same again, as in a notebook
    assert isinstance(make_model("difficulty", tol=1), Difficulty)
    for name, why in (("ds", "there is a model 'ds' already"), ("one coin", "is no short name")):
        with pytest.raises(coterie.DataError, match=why):
            register(name)(Difficulty)
    with pytest.raises(coterie.DataError, match="no model 'difficulty:Nothing'"):
        make_model("difficulty:Nothing")


def test_a_second_prior_of_one_name_is_refused():
    with pytest.raises(coterie.CoterieError, match=r"difficulty defines a DifficultyPrior al"):
        type("DifficultyPrior", (Prior,), {"__module__": "elsewhere"})
    assert BY_VALUE["DifficultyPrior"] is DifficultyPrior


def test_a_file_with_a_prior_that_nobody_imported(posterior, tmp_path, monkeypatch):
    path = tmp_path / "run.coterie"
    Difficulty(prior=DifficultyPrior(class_weights=2.0), **QUICK).fit(
        posterior.annotations
    ).posterior_.save(path)
    assert coterie.load(path).settings["prior"] == DifficultyPrior(class_weights=2.0)
    monkeypatch.delitem(BY_VALUE, "DifficultyPrior")
    with pytest.raises(coterie.DataError, match=r"a prior 'DifficultyPrior' that nothing im"):
        coterie.load(path)


def test_a_prior_by_name_or_as_an_object(labels):
    with pytest.raises(coterie.DataError, match=r"prior='paper' or a DifficultyPrior, got 'no"):
        Difficulty(prior="none", **QUICK).fit(labels)

    @dataclass(frozen=True, eq=False)
    class StrictPrior(DifficultyPrior):
        @classmethod
        def named(cls):
            return {"strict": cls(class_weights=5.0)}

    class Strict(Difficulty):
        prior_type = StrictPrior

    strict = Strict(prior="strict", **QUICK)
    assert strict.resolve_prior(labels).class_weights.tolist() == [5.0] * labels.n_classes
    assert to_json(StrictPrior())["$prior"][0] == "StrictPrior"


class Calibrated(Difficulty):
    """Departs from the others wherever it can."""

    at_vote = True

    def after(self, people):
        def report(found, data):
            half = found.item_probability / 2 + 0.5 / data.n_classes
            kinds = ItemNumbers(("easy", "medium", "hard"), found.kinds)
            hardness = ItemNumbers(("hardness",), found.kinds[:, 2:])
            return Reported(half, {"kind": kinds, "hardness": hardness})

        def judge(evidence):
            verdict = judge_modes(evidence)
            first = verdict.modes[0]
            return verdict._replace(kept=[1], left_out={0: "first"}, better={0: first})

        return Afterwards(report=report, judge=judge)


def test_a_model_may_report_judge_and_start_otherwise(labels, tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        posterior = Calibrated(**QUICK).fit(labels).posterior_
    assert any("chain 1 is first" in str(warning.message) for warning in caught)
    assert posterior.run["left_out"] == {"1": "first"}
    assert not posterior.converged
    assert len(posterior.draws.confusion) == 1
    posterior.save(tmp_path / "run.coterie")
    again = coterie.load(tmp_path / "run.coterie")
    for one in (posterior, again):
        raw = one.probabilities(raw=True)
        np.testing.assert_array_equal(one.probabilities(), raw / 2 + 0.5 / labels.n_classes)
        assert "hardness" in one.labels()
        assert "kind" not in one.labels()
        assert list(one.item_table("kind")) == ["easy", "medium", "hard"]


@pytest.fixture
def saved_run(labels, tmp_path):
    frame = labels.to_frame()
    late = frame["item"].isin(frame["item"].unique()[-5:])
    frame[late].to_csv(tmp_path / "more.csv", index=False)
    early = coterie.read(frame[~late], classes=labels.classes.tolist())
    prior = DifficultyPrior(class_weights=2.0)
    Difficulty(prior=prior, **QUICK).fit(early).posterior_.save(tmp_path / "run.coterie")
    return ["aggregate", str(tmp_path / "more.csv"), "--update", str(tmp_path / "run.coterie")]


def test_the_command_line_updates_it(saved_run, labels, tmp_path):
    where = ["--model", "difficulty:Difficulty", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*saved_run, *where])
    assert done.exit_code == 0, done.output
    posterior = coterie.load(tmp_path / "out" / "run.coterie")
    assert posterior.annotations.n_labels == labels.n_labels
    assert posterior.settings["prior"] == DifficultyPrior(class_weights=2.0)


def test_the_command_line_says_how_to_name_it(saved_run):
    done = CliRunner().invoke(app, saved_run)
    assert done.exit_code == 1
    said = "is of the model Difficulty, which has no short name here; say where it is by --model"
    assert said in _plain(done)


class Kinds(Difficulty):
    """Declares what it does not have: only what is declared is asked."""

    takes = Takes(known_kinds=True, latent_kinds=True, engine=True)


def test_sentences_list_whatever_model_declares_it(labels, tmp_path):
    labels.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    for kind, listed in ((Difficulty, False), (Kinds, True)):
        register("mine")(kind)
        try:
            assert ("mine" in names_where(lambda model: model.takes.known_kinds)) == listed
            words = ["aggregate", str(tmp_path / "labels.csv"), "--model", "ds", "--kinds", "2"]
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 1
            found = "for the models ibcc, cbcc, hcbcc and mine; choose" in _plain(done)
            assert found == listed
        finally:
            MODELS.remove("mine")


def test_models_that_cannot_be_imported_are_left_out_of_sentences(monkeypatch):
    monkeypatch.setitem(MODELS._place, "broken", "no_such_package:Model")
    assert names_where(lambda model: model.takes.engine) == "consensus, ibcc, cbcc and hcbcc"
    assert names_where(lambda model: model.takes.known_kinds) == "ds, ibcc, cbcc and hcbcc"
    assert (name_of("DawidSkene"), name_of("Mystery")) == ("ds", None)


def _plain(done):
    return " ".join(done.output.split())
