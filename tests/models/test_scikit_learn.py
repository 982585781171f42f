"""What of scikit-learn's contract holds, by its own checks; the page says why the rest cannot."""

import re
from pathlib import Path

import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import coterie

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "scikit-learn.md"
OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6)


class Checked(coterie.DawidSkene):
    """Says that it takes arrays: else scikit-learn checks next to nothing."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


@pytest.mark.skipif(OLD, reason="scikit-learn tells what failed from 1.6 on")
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_hold_is_on_the_page():
    results = check_estimator(Checked(), on_fail=None, on_skip=None)
    failed = {one["check_name"] for one in results if one["status"] == "failed"}
    passed = {one["check_name"] for one in results if one["status"] == "passed"} - failed
    listed = set(re.findall(r"`(check_\w+)`", PAGE.read_text("utf-8")))
    assert failed <= listed
    assert {
        "check_estimator_cloneable", "check_estimator_repr", "check_no_attributes_set_in_init",
        "check_get_params_invariance", "check_set_params", "check_valid_tag_types",
        "check_parameters_default_constructible", "check_do_not_raise_errors_in_init_or_set_params",
    } <= passed - listed  # fmt: skip


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("mixed", items=60, annotators=10, random_state=1)


def test_a_pipeline_cleans_and_aggregates(crowd):
    frame = crowd.annotations.to_frame()
    clean = FunctionTransformer(lambda table: table.assign(label=table["label"].str.strip()))
    shouted = frame.assign(label=frame["label"] + " ")
    found = make_pipeline(clean, coterie.DawidSkene()).fit_predict(shouted)
    assert found.equals(coterie.DawidSkene().fit_predict(frame))


def test_cross_validation_by_item(crowd):
    frame = crowd.annotations.to_frame()

    def accuracy(model, labels, y=None):
        found = model.predict(labels)
        return (found == crowd.truth[found.index]).mean()

    scores = cross_val_score(
        coterie.QuickConsensus(), frame, groups=frame["item"], cv=GroupKFold(3), scoring=accuracy
    )
    assert scores.min() > 0.5


def test_probabilities_of_labels_that_the_fit_has_not_seen(crowd):
    frame = crowd.annotations.to_frame()
    half = frame["item"] < "q30"
    model = coterie.DawidSkene().fit(frame[half])
    found = model.predict_proba(frame[~half])
    assert found.index.name == "item"
    assert found.columns.tolist() == ["a", "b", "c"]
    pd.testing.assert_series_equal(
        found.idxmax(axis=1), model.predict(frame[~half]), check_names=False
    )
