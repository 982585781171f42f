"""What people do with an estimator in Python: a path, named columns, a notebook, scikit-learn.

What of scikit-learn's contract holds is told by its own checks; the page says why the rest cannot.
"""

import re
from pathlib import Path

import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

import coterie

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "scikit-learn.md"
OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6)
FRAME = pd.DataFrame(
    [(f"q{i}", f"w{w}", "yes" if (i + w) % 4 else "no") for i in range(8) for w in range(4)],
    columns=["question text", "who", "said"],
)
COLUMNS = {"item": "question text", "annotator": "who", "label": "said"}


@pytest.mark.parametrize("model", [coterie.MajorityVote(), coterie.DawidSkene()], ids=repr)
def test_a_file_and_named_columns_are_fitted_as_they_are(model, tmp_path):
    FRAME.to_csv(tmp_path / "labels.csv", index=False)
    of_frame = clone(model).fit(FRAME, **COLUMNS).predict_proba()
    of_file = clone(model).fit(tmp_path / "labels.csv", **COLUMNS).predict_proba()
    pd.testing.assert_frame_equal(of_frame, of_file)
    wide = FRAME.pivot(index="question text", columns="who", values="said").reset_index()
    of_wide = clone(model).fit(wide, item="question text", annotator=["w0", "w1", "w2", "w3"])
    pd.testing.assert_frame_equal(of_frame, of_wide.predict_proba())


def test_tags_say_what_scikit_learn_asks():
    assert get_tags(coterie.IBCC()).non_deterministic
    assert not get_tags(coterie.DawidSkene()).non_deterministic
    assert get_tags(coterie.DawidSkene()).no_validation


def test_a_notebook_shows_the_first_rows_and_escapes_every_name():
    bad = "<script>alert(1)</script>"
    rows = [(bad, f"w{w}", "yes" if w else bad) for w in range(4)] + [("q", "w0", "yes")]
    model = coterie.MajorityVote().fit(rows)
    for thing in (model, model.posterior_, model.posterior_.annotations):
        shown = thing._repr_html_()
        assert "<script" not in shown
        assert "&lt;script&gt;" in shown
    assert "and 27 more rows" in coterie.read(FRAME, **COLUMNS)._repr_html_()


class Fielded(coterie.MajorityVote):
    """Has a setting of its own, and another default of one that it inherits."""

    spread: float = 2.0
    ties: str = "split"


class Written(coterie.MajorityVote):
    """Writes its own ``__init__``."""

    spread: float

    def __init__(self, spread=2.0):
        super().__init__(ties="split")
        self.spread = spread


class Heir(Written):
    """Has the ``__init__`` of its base, made or written."""


@pytest.mark.parametrize("model", [Fielded, Written, Heir])
def test_settings_are_fields_unless_the_init_is_written(model):
    found = clone(model(spread=3.0))
    assert repr(found) == f"{model.__name__}(spread=3.0)"
    assert found.ties == "split"
    assert ("ties" in found.get_params()) == (model is Fielded)
    with pytest.raises(TypeError, match="spreat"):
        model(spreat=1.0)


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
    pipeline = make_pipeline(clean, coterie.DawidSkene())
    with pytest.raises(coterie.errors.NotFittedError):
        pipeline["dawidskene"].predict()
    assert pipeline.fit_predict(shouted).equals(coterie.DawidSkene().fit_predict(frame))
    check_is_fitted(pipeline["dawidskene"])


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
