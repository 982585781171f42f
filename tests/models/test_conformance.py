"""What every estimator must do, run on every estimator there is (found by itself).

Most of it is what ``coterie.extend.check_model`` asks of models from outside.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import coterie
from builders import saved
from coterie.extend.conformance import CHECKS, Case, labels, run_check
from coterie.models import MODELS
from difficulty import Difficulty

# Chains as short as these have not converged, and say so.
pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")

# Those that are registered, and one of somebody else's, made through the door.
# Who needs more than labels has tests of its own.
KINDS = {name: kind for name, kind in MODELS.items() if not kind.needs} | {"difficulty": Difficulty}


@pytest.fixture(params=sorted(KINDS), ids=str)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def model(kind, tmp_path):
    return Case(kind, tmp_path).model()


@pytest.fixture
def frame():
    return labels()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_is_checked_of_models_from_outside_too(kind, check):
    run_check(check, kind)


def same_bits(one, other):
    np.testing.assert_array_equal(one.item_probability, other.item_probability)
    np.testing.assert_array_equal(one.confusion_mean, other.confusion_mean)
    np.testing.assert_array_equal(one.class_balance, other.class_balance)


def test_every_exported_model_is_in_the_registry():
    exported = {
        value
        for value in (getattr(coterie, name) for name in coterie.__all__)
        if isinstance(value, type) and issubclass(value, coterie.models.Estimator)
    }
    assert exported == set(MODELS.values())


def test_clone_and_repr_keep_the_parameters(model):
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert repr(copy) == repr(model)
    names = {kind.__name__: kind for kind in KINDS.values()}
    assert eval(repr(model), names).get_params() == model.get_params()


def test_crowd_kit_s_shapes(model, frame):
    labels = model.fit_predict(frame)
    assert (labels.name, labels.index.name) == ("agg_label", "task")
    pd.testing.assert_series_equal(labels, model.labels_)
    probabilities = clone(model).fit_predict_proba(frame)
    assert (probabilities.index.name, probabilities.columns.name) == ("task", "label")
    pd.testing.assert_frame_equal(probabilities, model.probas_)
    priors = model.priors_
    assert (priors.name, priors.index.name) == ("prior", "label")
    np.testing.assert_array_equal(
        priors[["c", "a", "b"]], model.posterior_.class_balance[[2, 0, 1]]
    )
    errors = model.errors_
    assert errors.index.names == ["worker", "label"]
    assert (errors.columns.tolist(), errors.columns.name) == (["a", "b", "c"], None)
    np.testing.assert_allclose(errors.groupby("worker").sum(), 1, rtol=1e-6)
    np.testing.assert_allclose(
        errors.loc["w3"].to_numpy().T, model.posterior_.confusion("w3"), rtol=1e-12
    )


def test_crowd_kit_s_frames_are_taken_in_any_form(model, frame):
    expected = model.fit_predict(frame)
    wider = frame.assign(seconds=1.5, task_id=0)[["task_id", "label", "worker", "seconds", "task"]]
    for same in (wider, frame.astype("category"), frame.astype(object)):
        pd.testing.assert_series_equal(clone(model).fit_predict(same), expected)


def test_integers_in_integers_out(model, frame):
    numbers = frame.apply(lambda column: 5 * pd.factorize(column, sort=True)[0] - 5)
    # Items' random numbers are theirs by their ids.
    expected = model.fit(frame.assign(task=numbers["task"]))
    found = clone(model).fit(numbers)
    same_bits(found.posterior_, expected.posterior_)
    assert found.labels_.dtype == found.labels_.index.dtype == np.int64
    np.testing.assert_array_equal(found.labels_, expected.labels_.map({"a": -5, "b": 0, "c": 5}))
    assert found.probas_.columns.tolist() == found.priors_.index.tolist() == [-5, 0, 5]
    np.testing.assert_array_equal(found.errors_.loc[(10, 0)], expected.errors_.loc[("w3", "b")])


def test_save_and_load(model, frame, tmp_path):
    posterior = model.fit(frame).posterior_
    posterior.save(tmp_path / "run.coterie")
    again = coterie.load(tmp_path / "run.coterie")
    saved.same(again, posterior)
    pd.testing.assert_frame_equal(again.labels(), posterior.labels())
    pd.testing.assert_frame_equal(again.probabilities(raw=True), posterior.probabilities(raw=True))


@pytest.mark.parametrize("model", [None, 5, ["ds"], {}, (1, 2), b"ds"])
def test_what_names_no_model_is_said(model):
    with pytest.raises(coterie.DataError, match=r"no model .*; choose one of"):
        coterie.aggregate([("q", "a", "x"), ("r", "a", "y"), ("q", "b", "x")], model=model)
