"""Tables in other libraries on request: one mechanism for every method that gives one."""

import inspect
import subprocess
import sys

import polars
import pyarrow
import pytest

import coterie
from coterie.data import frames
from coterie.errors import CoterieError

NAMES = ["ann", "bob", "cy"]
ROWS = [
    (i, name, "no" if (i + (name == "cy" and i % 2)) % 3 else "yes")
    for i in range(9)
    for name in NAMES
]
TABLES = {
    "labels": {}, "probabilities": {}, "annotators": {}, "confusion": {}, "predict": {"more": ROWS},
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    frame = polars.DataFrame(ROWS, ["item", "annotator", "label"], orient="row")
    return coterie.DawidSkene().fit(frame)


@pytest.mark.parametrize("name", TABLES)
def test_polars_holds_what_pandas_holds(model, name):
    method = getattr(model.posterior_, name)
    ours, theirs = method(**TABLES[name]), method(**TABLES[name], to="polars")
    assert isinstance(theirs, polars.DataFrame)
    flat = ours if name in ("labels", "annotators", "predict") else ours.reset_index()
    assert theirs.columns == list(map(str, flat.columns))
    assert theirs.rows() == [tuple(row) for row in flat.itertuples(index=False)]
    assert inspect.signature(method).parameters["to"].default == "pandas"


def test_estimators_and_annotations_give_them_too(model):
    assert model.predict(to="polars").columns == ["item", "label"]
    assert model.predict_proba(to="polars").columns == ["item", "no", "yes"]
    assert model.posterior_.annotations.to_frame(to="polars").height == 27
    assert isinstance(model.posterior_.labels(to="pyarrow"), pyarrow.Table)
    assert model.posterior_.readings(to="polars") is None


def test_what_is_not_known_or_not_there(model, monkeypatch):
    with pytest.raises(CoterieError, match=r"to='polar' is not one .*did you mean 'polars'\?"):
        model.posterior_.labels(to="polar")
    monkeypatch.setattr(frames.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CoterieError, match="to='polars' needs polars: pip install polars"):
        model.posterior_.labels(to="polars")


def test_import_loads_no_library_of_frames():
    code = "import coterie.data.frames, sys; print(sorted({'polars', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.stdout == "[]\n"
