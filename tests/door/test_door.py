"""A model of somebody else's is a model like all others: by a prior, a kernel, a thin model file.

The suite of all models runs on it in tests/models/test_conformance.py.
"""

import ast
import itertools
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import betaln, gammaln
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.extend import Hooks, ItemNumbers, Prior, Reported, Start, judge_modes, register
from coterie.files.json_values import to_json
from coterie.models import MODELS, make_model
from coterie.priors.base import BY_VALUE
from coterie.studies.league import line_up
from door.onecoin import OneCoin, OneCoinPrior

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")

FOLDER = Path(__file__).parent / "onecoin"
PAGE = Path(__file__).parents[2] / "docs" / "adding-a-model.md"
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


def test_the_page_shows_the_model_as_it_is():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    files = "".join(path.read_text("utf-8") for path in sorted(FOLDER.glob("*.py")))
    pieces = [piece.strip("\n") for block in blocks for piece in block.split("    ...\n")]
    assert len(pieces) > 5
    for piece in pieces:
        assert piece in files


def test_it_samples_what_it_says():
    # Small enough to sum over all truths; skills and class balance integrated out.
    said = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0], [2, 1, 1]])  # items by annotators
    rows = [(i, l, int(said[i, l])) for i in range(4) for l in range(3)]
    a, b, weight = 4.0, 2.0, np.array([1.0, 1.0, 1.0])

    def log_joint(truth):
        right = (said == truth[:, None]).sum(axis=0)
        total = np.bincount(truth, minlength=3)
        labels = betaln(a + right, b + 4 - right) - betaln(a, b) - (4 - right) * np.log(2)
        classes = gammaln(weight + total) - gammaln(weight)
        return labels.sum() + classes.sum()

    truths = np.array(list(itertools.product(range(3), repeat=4)))
    weights = np.exp([log_joint(truth) for truth in truths])
    weights /= weights.sum()
    exact = np.array([[weights[truths[:, i] == t].sum() for t in range(3)] for i in range(4)])
    model = OneCoin(sweeps=21_000, burn_in=1_000, early_stop=False, random_state=3, progress=False)
    posterior = model.fit(rows).posterior_
    assert posterior.converged
    chains = len(posterior.draws.confusion)
    # Four standard errors of a probability from the effective draws of the slowest quantity.
    effective = posterior.diagnostics()["ess_bulk"].min()
    error = np.sqrt(exact * (1 - exact) / min(effective, 20_000 * chains))
    assert (np.abs(posterior.item_probability - exact) <= 4 * error).all()


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
    for name in ("onecoin", "door.onecoin:OneCoin"):
        out = tmp_path / name.partition(":")[0]
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
    with pytest.raises(coterie.DataError, match="no model 'door:Nothing'"):
        make_model("door:Nothing")


def test_a_second_prior_of_one_name_is_refused():
    with pytest.raises(coterie.CoterieError, match=r"door.onecoin.prior defines a OneCoinPrior al"):
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
