"""What people do with an estimator in Python: a path, named columns, a notebook, scikit-learn."""

import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import coterie

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


def test_a_pipeline_ends_in_a_model():
    rename = {name: role for role, name in COLUMNS.items()}
    steps = [("names", FunctionTransformer(lambda frame: frame.rename(columns=rename)))]
    pipeline = Pipeline([*steps, ("model", coterie.DawidSkene())])
    with pytest.raises(coterie.errors.NotFittedError):
        pipeline["model"].predict()
    labels = pipeline.fit(FRAME)["model"].predict()
    check_is_fitted(pipeline["model"])
    assert labels.index.tolist() == [f"q{i}" for i in range(8)]


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
