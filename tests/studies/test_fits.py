"""The parts of a comparison: which data sets, models by name, scores, intervals."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from coterie.errors import DataError
from coterie.models import MODELS
from coterie.studies.fits import Source, find_sources, fit_job, line_up
from coterie.studies.league import RESAMPLES, mean_interval, row_of
from coterie.studies.pool import perform

# ---- which data sets


@pytest.fixture
def folder(tmp_path):
    for name, has_truth in (("b", True), ("a", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "labels.csv").write_text("item,annotator,label\n1,x,y\n", "utf-8")
        if has_truth:
            (tmp_path / name / "truth.csv").write_text("item,label\n1,y\n", "utf-8")
    (tmp_path / "raw").mkdir()
    (tmp_path / "INDEX.md").write_text("", "utf-8")
    return tmp_path


def test_a_folder_of_data_sets(folder):
    found, passed_over = find_sources(folder)
    assert found == [
        Source("a", folder / "a" / "labels.csv", None),
        Source("b", folder / "b" / "labels.csv", folder / "b" / "truth.csv"),
    ]
    assert passed_over == ["raw"]
    assert find_sources(folder, only=["b"])[0] == found[1:]
    assert find_sources(folder / "b")[0] == found[1:]


def test_one_file_and_its_truth(folder):
    labels, truth = folder / "b" / "labels.csv", folder / "b" / "truth.csv"
    assert find_sources(labels, truth)[0] == [Source("labels", labels, truth)]


@pytest.mark.parametrize(
    ("path", "truth", "only", "sentence"),
    [
        ("b/labels.csv", None, None, "nothing to be scored against"),
        ("b/labels.csv", "no.csv", None, "there is no file .*no.csv"),
        ("none", None, None, "no file or folder"),
        (".", "b/truth.csv", None, "bring their own truth.csv"),
        ("raw", None, None, "holds no data set"),
        (".", None, ["a", "c"], "no data set 'c'; there are a, b"),
    ],
)
def test_what_cannot_be_found_is_a_sentence(folder, path, truth, only, sentence):
    with pytest.raises(DataError, match=sentence):
        find_sources(folder / path, truth and folder / truth, only)


# ---- models by name


def test_every_registered_model_joins_by_its_name_alone():
    assert list(line_up()) == [name for name, kind in MODELS.items() if not kind.needs]
    assert all(isinstance(model, MODELS[name]) for name, model in line_up().items())


def test_the_vote_always_runs_once():
    assert list(line_up(["ds", "ds"])) == ["majority", "ds"]
    assert list(line_up(["ds", "majority"])) == ["ds", "majority"]


def test_settings_reach_the_models_that_have_them():
    name = "builders.models:Records"
    models = line_up([name], seed=5, duplicates="last", sweeps=8)
    assert models[name].get_params() == {
        "sweeps": 8, "burn_in": 2, "random_state": 5, "n_jobs": 1, "duplicates": "last",
    }  # fmt: skip
    assert models["majority"].duplicates == "last"
    left = line_up([name])[name]
    assert (left.sweeps, left.burn_in) == (9, 9)


def test_no_chain_becomes_longer_than_its_model_makes_it():
    models = line_up(["consensus", "ibcc"], sweeps=3_000)
    lengths = {name: (m.sweeps, m.burn_in) for name, m in models.items() if name != "majority"}
    assert lengths == {"consensus": (300, 100), "ibcc": (3_000, 900)}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("mystery", "no model 'mystery'; choose one of consensus, quick, majority, ds"),
        ("no_such_module:Model", "No module named 'no_such_module'; expected module:name"),
        ("builders.models:Nobody", "no attribute 'Nobody'"),
        ("builders.models:Lambda", "cannot be sent to a process of its own"),
    ],
)
def test_a_wrong_name_is_a_sentence(name, sentence):
    with pytest.raises(DataError, match=sentence):
        line_up([name])


def test_a_chain_needs_a_sweep():
    with pytest.raises(DataError, match="sweeps must be at least 1, got 0"):
        line_up(["ds"], sweeps=0)


# ---- scores


def attempt(source):
    job = fit_job(source, "majority", line_up(["majority"])["majority"])
    return row_of(source.name, "majority", perform(job))


ROWS = [("q1", "a", "x"), ("q1", "b", "y"), ("q2", "a", "y"), ("q3", "a", "x"), ("q4", "a", "x")]


def test_a_truth_that_nobody_gave_is_wrong_and_noted(tmp_path):
    rows = "".join(f"{','.join(row)}\n" for row in ROWS)
    (tmp_path / "labels.csv").write_text("item,annotator,label\n" + rows, "utf-8")
    (tmp_path / "truth.csv").write_text("item,label\nq2,y\nq3,z\n", "utf-8")
    source = Source("tiny", tmp_path / "labels.csv", tmp_path / "truth.csv")
    outcome = attempt(source)
    assert outcome.status == "ok"
    assert outcome.score.right.to_dict() == {"q2": 1, "q3": 0}
    assert outcome.score.n_not_a_class == 1
    assert outcome.notes == (
        "1 of 2 scored items have a true label that is not among the classes, such as 'z'; they "
        "count as wrong",
    )


GOOD = "item,annotator,label\nq1,a,x\nq2,a,y\n"


@pytest.mark.parametrize(
    ("labels", "truth", "status", "sentence"),
    [
        (GOOD + "q3,a\n", "item,label\nq1,x\n", "error", "row 4 of labels"),
        ("", "item,label\nq1,x\n", "error", "labels.csv is empty"),
        (GOOD, "item,label\n", "no truth", "no true label"),
        (GOOD, None, "no truth", "no true label"),
        (GOOD, "item,label\nz1,x\n", "error", "no item has both"),
        (GOOD, "item,label\nq1,X\n", "error", "'X' is not one of"),
        (GOOD, "nonsense", "error", "truth.csv has a single column"),
    ],
)
def test_bad_data_is_an_outcome(tmp_path, labels, truth, status, sentence):
    (tmp_path / "labels.csv").write_text(labels, "utf-8")
    if truth is not None:
        (tmp_path / "truth.csv").write_text(truth, "utf-8")
    ((source,), _) = find_sources(tmp_path)
    outcome = attempt(source)
    assert (outcome.status, outcome.score) == (status, None)
    assert sentence in outcome.reason


@pytest.mark.parametrize(("duplicates", "hit"), [("keep", 1.0), ("first", 0.5), ("error", None)])
def test_repeated_labels_mean_what_was_said(tmp_path, duplicates, hit):
    rows = "item,annotator,label\nq1,a,x\nq1,b,y\nq1,b,y\n"
    (tmp_path / "labels.csv").write_text(rows, "utf-8")
    (tmp_path / "truth.csv").write_text("item,label\nq1,y\n", "utf-8")
    ((source,), _) = find_sources(tmp_path)
    model = line_up(["majority"], duplicates=duplicates)["majority"]
    job = fit_job(source, "majority", model, duplicates)
    found = row_of(source.name, "majority", perform(job)).score
    assert (found and found.accuracy) == hit


# ---- intervals


@pytest.mark.parametrize(("ones", "n"), [(1, 5), (30, 100), (2, 1000)])
def test_the_bootstrap_of_zeros_and_ones_is_binomial(ones, n):
    found = mean_interval(np.repeat([1.0, 0.0], [ones, n - ones]))
    assert found.mean == pytest.approx(ones / n)
    # The exact quantile, or the next whole number where the sampled share falls beside it.
    wide = 4 * math.sqrt(0.025 * 0.975 / RESAMPLES)
    for end, level in ((found.low, 0.025), (found.high, 0.975)):
        lowest, highest = binom.ppf([level - wide, level + wide], n, ones / n)
        assert lowest <= round(end * n, 6) <= highest


def test_differences_are_paired_signed_and_seeded():
    differences = np.array([-1.0] * 30 + [0.0] * 60 + [0.5] * 10)
    found = mean_interval(differences)
    error = differences.std() / math.sqrt(len(differences))
    assert found.mean == pytest.approx(-0.25)
    # The normal limits; percentiles of 10,000 draws of a lattice of step 0.005.
    tolerance = 4 * error * 2.67 / math.sqrt(RESAMPLES) + 2 * 0.005
    assert found.low == pytest.approx(-0.25 - 1.96 * error, abs=tolerance)
    assert found.high == pytest.approx(-0.25 + 1.96 * error, abs=tolerance)
    shuffled = np.random.default_rng(1).permutation(differences)
    assert mean_interval(shuffled) == found
    assert mean_interval(-differences).high == pytest.approx(-found.low, abs=tolerance)


def test_intervals_without_spread_or_values():
    assert mean_interval([0.25] * 7) == (0.25, 0.25, 0.25)
    assert mean_interval([1, 2, 3, 4]) == (2.5, None, None)
