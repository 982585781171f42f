"""A model of somebody else's is a model like all others: by a prior, a kernel, a thin model file.

The suite of all models runs on it in tests/models/test_conformance.py.
"""

import ast
import re
import warnings
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import coterie
from coterie.cli import compile_early
from coterie.cli.app import app
from coterie.extend import (
    Abilities,
    Codes,
    Hooks,
    ItemNumbers,
    Layout,
    Prior,
    Reported,
    SamplingEstimator,
    Start,
    Takes,
    judge_modes,
    register,
)
from coterie.files.json_values import to_json
from coterie.models import MODELS, make_model
from coterie.models.registry import name_of, names_where
from coterie.priors.base import BY_VALUE
from coterie.studies.league import line_up
from onecoin import OneCoin, OneCoinPrior, kernel

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")

FOLDER = Path(__file__).parent / "onecoin"
PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-model.md").read_text("utf-8")
QUICK = {"sweeps": 60, "burn_in": 20, "chains": 2, "random_state": 0, "progress": False}


@pytest.fixture
def labels():
    return coterie.simulate("mixed", items=40, annotators=10, random_state=1).annotations


@pytest.fixture
def posterior(labels):
    return OneCoin(**QUICK).fit(labels).posterior_


@pytest.fixture
def joined():
    register("onecoin")(OneCoin)
    yield
    MODELS.remove("onecoin")


def test_the_model_takes_nothing_of_coterie_but_what_the_door_gives():
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.partition(".")[0] != "coterie" or name == "coterie.extend"


def test_the_page_shows_the_whole_model_as_it_is():
    shown = re.findall(r"^`onecoin/(\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.DOTALL | re.M)
    files = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.py")}
    assert dict(shown) == files
    assert len(shown) == len(files)


def test_the_page_names_all_hooks_and_what_is_declared():
    hooks = PAGE.split("All hooks are optional:")[1].split("Further parameters")[0]
    named = re.findall(r"^\| `(\w+)", hooks, re.M)
    assert named == [field.name for field in fields(Hooks)]
    for declared in (Abilities, Takes):
        for field in fields(declared):
            assert f"`{field.name}`" in PAGE


def test_the_page_names_only_what_the_door_gives():
    named = set(re.findall(r"`([a-z_]+_[a-z_]+|[A-Z]\w+)(?:\([^`]*\))?`", PAGE))
    ours = {*coterie.extend.__all__, *vars(SamplingEstimator), *(f.name for f in fields(Hooks))}
    ours |= {"OneCoin", *vars(kernel), *Codes._fields, *(f.name for f in fields(Takes))}
    ours |= {f.name for f in fields(Abilities)} | {f.name for f in fields(Layout)}
    ours |= {*kernel.State._fields, *kernel.Packed._fields, "sample_stats"}
    assert named - ours == set()


def test_what_it_records_travels_by_name(posterior, labels, tmp_path):
    posterior.save(tmp_path / "run.coterie")
    for one in (posterior, coterie.load(tmp_path / "run.coterie")):
        table = one.diagnostics().set_index("quantity")
        assert {"log_joint", "right", "moved", "class_total[0]"} <= set(table.index)
        assert "right" in one.draws.watched
        assert "moved" not in one.draws.watched
        skill = one.draws.extra["skill"]
        assert skill.dims == ("annotator",)
        assert skill.values.shape == (*one.draws.confusion.shape[:2], labels.n_annotators)
        found = one.labels()["expected_right"]
        assert found.between(0, 1).all()
        np.testing.assert_array_equal(one.item_table("expected_right")["expected_right"], found)
        tree = one.to_arviz()
        assert tree["posterior"]["skill"].dims == ("chain", "draw", "annotator")
        assert tree["sample_stats"]["moved"].dims == ("chain", "draw")
    with pytest.raises(coterie.CoterieError, match=r"has no numbers 'kind' of items; it has 'exp"):
        posterior.item_table("kind")


def test_what_it_watches_counts_for_convergence(posterior):
    draws = posterior.draws
    rng = np.random.default_rng(0)
    calm = {name: rng.normal(size=(2, 2_000)) for name in ("log_joint", "right", "moved")}
    drift = calm["log_joint"] + [[0.0], [1.0]]

    def settled(**changed):
        return coterie.extend.Draws(
            draws.confusion,
            draws.class_balance,
            trace={**calm, **changed},
            watched=draws.watched,
        ).settled()

    assert settled()
    assert settled(moved=drift)
    assert not settled(right=drift)


def test_the_command_line_lists_it_and_runs_it(joined, labels, tmp_path):
    for command in ("aggregate", "compare", "demo"):
        shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
        assert re.search(r"majority, ds, ibcc, .*onecoin", shown)
    labels.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    for name in ("onecoin", "onecoin:OneCoin"):
        out = tmp_path / name.replace(":", "_")
        short = ["--sweeps", "60", "--burn-in", "20", "--chains", "2"]
        words = ["aggregate", str(tmp_path / "labels.csv"), "--model", name, "--out", str(out)]
        done = CliRunner().invoke(app, [*words, *short])
        assert done.exit_code == 0, done.output
        names = {path.name for path in out.iterdir()}
        assert {"labels.csv", "annotators.csv", "diagnostics.csv", "report.html"} <= names
        assert "expected_right" in pd.read_csv(out / "labels.csv")
        assert "OneCoin is not part of coterie" in (out / "report.html").read_text("utf-8")
    assert "onecoin" in line_up()


def test_names_are_given_once(joined):
    register("onecoin")(OneCoin)  # the same again, as in a notebook
    assert isinstance(make_model("onecoin", tol=1), OneCoin)
    for name, why in (("ds", "there is a model 'ds' already"), ("one coin", "is no short name")):
        with pytest.raises(coterie.DataError, match=why):
            register(name)(OneCoin)
    with pytest.raises(coterie.DataError, match="no model 'onecoin:Nothing'"):
        make_model("onecoin:Nothing")


def test_a_second_prior_of_one_name_is_refused():
    with pytest.raises(coterie.CoterieError, match=r"onecoin.prior defines a OneCoinPrior al"):
        type("OneCoinPrior", (Prior,), {"__module__": "elsewhere"})
    assert BY_VALUE["OneCoinPrior"] is OneCoinPrior


def test_a_file_with_a_prior_that_nobody_imported(posterior, tmp_path, monkeypatch):
    path = tmp_path / "run.coterie"
    OneCoin(prior=OneCoinPrior(class_weights=2.0), **QUICK).fit(
        posterior.annotations
    ).posterior_.save(path)
    assert coterie.load(path).settings["prior"] == OneCoinPrior(class_weights=2.0)
    monkeypatch.delitem(BY_VALUE, "OneCoinPrior")
    with pytest.raises(coterie.DataError, match=r"holds a prior 'OneCoinPrior' that nothing impo"):
        coterie.load(path)


def test_a_prior_by_name_or_as_an_object(labels):
    with pytest.raises(coterie.DataError, match=r"takes prior='paper' or a OneCoinPrior, got 'no"):
        OneCoin(prior="none", **QUICK).fit(labels)

    @dataclass(frozen=True, eq=False)
    class StrictPrior(OneCoinPrior):
        @classmethod
        def named(cls):
            return {"strict": cls(class_weights=5.0)}

    class Strict(OneCoin):
        prior_type = StrictPrior

    strict = Strict(prior="strict", **QUICK)
    assert strict.resolve_prior(labels).class_weights.tolist() == [5.0] * labels.n_classes
    assert to_json(StrictPrior())["$prior"][0] == "StrictPrior"


class Calibrated(OneCoin):
    """Departs from the others wherever it can."""

    def hooks(self):
        plain = super().hooks()

        def report(found, layout, data, prior):
            half = found.item_probability / 2 + 0.5 / data.n_classes
            doubt = 1 - found.per_item["expected_right"]
            kinds = np.hstack([doubt, 1 - doubt])
            numbers = {"kind": ItemNumbers(("hard", "easy"), kinds)}
            return Reported(half, {**numbers, "hardness": ItemNumbers(("hardness",), doubt)})

        def judge(evidence):
            verdict = judge_modes(evidence)
            first = verdict.modes[0]
            return verdict._replace(kept=[1], left_out={0: "first"}, better={0: first})

        def start(number, data, votes, rng):
            n_annotators = len(data.annotator_start) - 1
            return Start(np.zeros(len(data.gold), np.int32), np.zeros(n_annotators, np.int32))

        return Hooks(
            layout=plain.layout,
            report=report,
            judge=judge,
            start=start,
        )


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
        assert list(one.item_table("kind")) == ["hard", "easy"]


@pytest.fixture
def saved_run(labels, tmp_path):
    frame = labels.to_frame()
    late = frame["item"].isin(frame["item"].unique()[-5:])
    frame[late].to_csv(tmp_path / "more.csv", index=False)
    early = coterie.read(frame[~late], classes=labels.classes.tolist())
    prior = OneCoinPrior(class_weights=2.0)
    OneCoin(prior=prior, **QUICK).fit(early).posterior_.save(tmp_path / "run.coterie")
    return ["aggregate", str(tmp_path / "more.csv"), "--update", str(tmp_path / "run.coterie")]


def test_the_command_line_updates_it(saved_run, labels, tmp_path):
    where = ["--model", "onecoin:OneCoin", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*saved_run, *where])
    assert done.exit_code == 0, done.output
    posterior = coterie.load(tmp_path / "out" / "run.coterie")
    assert posterior.annotations.n_labels == labels.n_labels
    assert posterior.settings["prior"] == OneCoinPrior(class_weights=2.0)


def test_the_command_line_says_how_to_name_it(saved_run):
    done = CliRunner().invoke(app, saved_run)
    assert done.exit_code == 1
    said = "is of the model OneCoin, which has no short name here; say where it is by --model"
    assert said in _plain(done)


class Kinds(OneCoin):
    """Declares what it does not have: only what is declared is asked."""

    takes = Takes(known_kinds=True, latent_kinds=True, engine=True)


def test_sentences_list_whatever_model_declares_it(labels, tmp_path):
    labels.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    for kind, listed in ((OneCoin, False), (Kinds, True)):
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
    assert name_of("Mystery") is None


def test_another_process_compiles_for_it_too(monkeypatch, joined):
    called = []

    class Apart(OneCoin):
        def hooks(self):
            plain = super().hooks()
            return replace(plain, matrices=lambda *_: called.append("matrices"), apart=(compiles,))

    def compiles(state, data, prior, streams, record, scratch):
        called.append("apart")

    monkeypatch.setitem(MODELS._thing, "onecoin", Apart)
    compile_early.main("onecoin")
    assert called == ["apart", "matrices"]


def _plain(done):
    return " ".join(done.output.split())
