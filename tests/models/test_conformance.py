"""What every estimator must do, run on every estimator there is (found by itself)."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import coterie
from builders import saved
from coterie.models import MODELS
from door.onecoin import OneCoin

# Chains as short as these have not converged, and say so.
pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")

# Parameters that make a sampler quick; models without them ignore them.
QUICK = {"sweeps": 60, "burn_in": 20, "chains": 2, "restarts": 3, "random_state": 7}


def quick(cls):
    model = cls()
    known = model.get_params()
    return model.set_params(**{name: value for name, value in QUICK.items() if name in known})


# Those that are registered, and one of somebody else's, made through the door.
# Who needs more than labels has tests of its own.
KINDS = {name: kind for name, kind in MODELS.items() if not kind.needs} | {"onecoin": OneCoin}


@pytest.fixture(params=sorted(KINDS), ids=str)
def model(request):
    return quick(KINDS[request.param])


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 30)
    rows = [
        (f"q{i:02}", f"w{l}", "abc"[truth[i] if rng.random() < 0.8 else rng.integers(0, 3)])
        for i in range(30)
        for l in rng.choice(6, 4, replace=False)
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


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


def test_fit_returns_self(model, frame):
    assert model.fit(frame) is model


def test_inputs_are_untouched(model, frame):
    before = frame.copy(deep=True)
    model.fit(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_init_only_stores(model):
    for name, value in model.get_params().items():
        assert vars(model)[name] is value
    assert set(vars(model)) == set(model.get_params())


def test_clone_and_repr_keep_the_parameters(model):
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert repr(copy) == repr(model)
    names = {kind.__name__: kind for kind in KINDS.values()}
    assert eval(repr(model), names).get_params() == model.get_params()


def test_set_params_refuses_what_it_does_not_know(model):
    with pytest.raises(coterie.DataError, match="has no parameter 'nonsense'"):
        model.set_params(nonsense=1)


def test_same_seed_same_bits(model, frame):
    first = model.fit(frame).posterior_
    second = clone(model).fit(frame).posterior_
    same_bits(first, second)


def test_n_jobs_changes_nothing(model, frame):
    if "n_jobs" not in model.get_params():
        pytest.skip("runs in one thread")
    first = model.set_params(n_jobs=1).fit(frame).posterior_
    second = clone(model).set_params(n_jobs=2).fit(frame).posterior_
    same_bits(first, second)
    np.testing.assert_array_equal(first.draws.confusion, second.draws.confusion)


def test_the_order_of_rows_changes_nothing(model, frame):
    first = model.fit(frame).posterior_
    second = clone(model).fit(frame.sample(frac=1, random_state=1)).posterior_
    same_bits(first, second)


def test_fitting_again_forgets_the_first_fit(model, frame):
    expected = clone(model).fit(frame).posterior_
    model.fit(frame.iloc[: len(frame) // 2])
    same_bits(model.fit(frame).posterior_, expected)


def test_pickle_round_trip(model, frame):
    model.fit(frame)
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == model.get_params()
    pd.testing.assert_frame_equal(again.predict_proba(), model.predict_proba())


def test_predict_agrees_with_predict_proba(model, frame):
    model.fit(frame)
    probabilities = model.predict_proba()
    labels = model.predict()
    assert labels.index.equals(probabilities.index)
    chosen = np.array([probabilities.loc[item, label] for item, label in labels.items()])
    np.testing.assert_array_equal(chosen, probabilities.max(axis=1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)


def test_results_before_fit_are_a_clear_error(model):
    for ask in (model.predict, model.predict_proba, lambda: model.labels_, lambda: model.probas_):
        with pytest.raises(coterie.CoterieError, match=r"not fitted yet; call fit first"):
            ask()


def test_gold_is_clamped(model, frame):
    gold = pd.Series({"q00": "c", "q01": "a"})
    probabilities = model.fit(frame, true_labels=gold).predict_proba()
    assert probabilities.loc["q00", "c"] == 1
    assert probabilities.loc["q01", "a"] == 1
    assert model.predict()["q00"] == "c"


def test_extra_answers_are_never_the_label(model, frame):
    said = frame.copy()
    said.loc[::5, "label"] = "unsure"
    annotations = coterie.read(said, classes=["a", "b", "c"], extra_answers=["unsure"])
    posterior = model.fit(annotations).posterior_
    assert list(posterior.probabilities().columns) == ["a", "b", "c"]
    assert list(posterior.confusion("w0").columns) == ["a", "b", "c", "unsure"]
    np.testing.assert_allclose(posterior.confusion_mean.sum(axis=2), 1, rtol=1e-6)


def test_repeated_labels_are_an_error_unless_asked_for(model, frame):
    twice = pd.concat([frame, frame.iloc[:3]])
    with pytest.raises(coterie.DataError, match="duplicates="):
        model.fit(twice)
    model.set_params(duplicates="keep").fit(twice)
    assert model.posterior_.annotations.n_labels == len(twice)


def test_fit_takes_what_reading_takes(model, frame):
    said = pd.concat([frame, frame.iloc[:3]]).reset_index(drop=True)
    said.loc[::5, "label"] = "unsure"
    told = {"classes": ["a", "b", "c"], "extra_answers": ["unsure"], "duplicates": "first"}
    expected = clone(model).fit(coterie.read(said, **told)).posterior_
    same_bits(clone(model).fit(said, **told).posterior_, expected)
    with pytest.raises(TypeError, match="unexpected keyword argument 'clases'"):
        model.fit(frame, clases=["a", "b", "c"])


def test_triples_and_annotations_are_taken_as_they_are(model, frame):
    expected = model.fit(frame).posterior_
    triples = list(frame.itertuples(index=False, name=None))
    same_bits(clone(model).fit(triples).posterior_, expected)
    same_bits(clone(model).fit(coterie.read(frame)).posterior_, expected)


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
    expected = model.fit(frame)
    numbers = frame.apply(lambda column: 5 * pd.factorize(column, sort=True)[0] - 5)
    found = clone(model).fit(numbers)
    same_bits(found.posterior_, expected.posterior_)
    assert found.labels_.dtype == found.labels_.index.dtype == np.int64
    np.testing.assert_array_equal(found.labels_, expected.labels_.map({"a": -5, "b": 0, "c": 5}))
    assert found.probas_.columns.tolist() == found.priors_.index.tolist() == [-5, 0, 5]
    np.testing.assert_array_equal(found.errors_.loc[(10, 0)], expected.errors_.loc[("w3", "b")])


def test_nothing_said_about_an_item_or_by_an_annotator(model, frame):
    wide = frame.pivot(index="task", columns="worker", values="label").reset_index()
    with_blanks = wide.assign(silent=None)
    with_blanks.loc[len(with_blanks)] = ["q99"] + [None] * (with_blanks.shape[1] - 1)
    workers = [name for name in with_blanks.columns if name != "task"]
    full = coterie.read(wide, item="task", annotator=workers[:-1])
    blank = coterie.read(with_blanks, item="task", annotator=workers)
    assert (blank.n_items, blank.n_annotators) == (full.n_items + 1, full.n_annotators + 1)
    expected = model.fit(full).posterior_
    posterior = clone(model).fit(blank).posterior_
    np.testing.assert_allclose(
        posterior.item_probability[:-1], expected.item_probability, rtol=1e-12
    )
    assert np.isfinite(posterior.item_probability).all()
    assert posterior.annotators().set_index("annotator").loc["silent", "n_labels"] == 0
    assert np.isfinite(posterior.confusion_mean).all()


def test_a_model_says_what_it_can_do_and_does_it(model, frame):
    posterior = model.fit(frame).posterior_
    can = posterior.abilities  # what it was asked for may say more than its class
    assert posterior.method == model.method
    assert can.coteries == model.abilities.coteries
    assert can.uncertainty == model.abilities.uncertainty == (posterior.draws is not None)
    table = posterior.annotators()
    assert can.uncertainty == ("role" in table)
    assert (can.uncertainty or can.share_right) == ("accuracy_low" in table)
    assert can.coteries == ("coterie" in table)
    assert isinstance(posterior.converged, bool)
    asked = {
        "coteries": [posterior.coteries, posterior.cooccurrence, lambda: posterior.n_coteries],
        "uncertainty": [lambda: posterior.confusion(quantile=0.5)],
        "chains": [posterior.diagnostics],
    }
    has = {**vars(can), "chains": posterior.method == "gibbs"}
    for ability, questions in asked.items():
        for ask in questions:
            if has[ability]:
                assert len(ask())
            else:
                with pytest.raises(coterie.CoterieError, match=f"^{posterior.model} "):
                    ask()


def test_save_and_load(model, frame, tmp_path):
    posterior = model.fit(frame).posterior_
    posterior.save(tmp_path / "run.coterie")
    again = coterie.load(tmp_path / "run.coterie")
    saved.same(again, posterior)
    pd.testing.assert_frame_equal(again.labels(), posterior.labels())
    pd.testing.assert_frame_equal(again.probabilities(raw=True), posterior.probabilities(raw=True))


def test_a_checkpoint_gives_the_same_bits(model, frame, tmp_path):
    if "checkpoint" not in model.get_params():
        pytest.skip("is done at once")
    expected = clone(model).fit(frame).posterior_
    for _ in range(2):  # the second goes on from the end of the first
        found = clone(model).set_params(checkpoint=tmp_path / "run").fit(frame).posterior_
        same_bits(found, expected)
        np.testing.assert_array_equal(found.draws.confusion, expected.draws.confusion)


def test_a_report_can_be_written(model, frame, tmp_path):
    posterior = model.fit(frame).posterior_
    posterior.report(tmp_path / "report.html", truth={"q00": "a"})
    page = (tmp_path / "report.html").read_text("utf-8")
    assert posterior.model in page
    assert ("Coteries" in page) == model.abilities.coteries


@pytest.mark.parametrize("model", [None, 5, ["ds"], {}, (1, 2), b"ds"])
def test_what_names_no_model_is_said(model):
    with pytest.raises(coterie.DataError, match=r"no model .*; choose one of"):
        coterie.aggregate([("q", "a", "x"), ("r", "a", "y"), ("q", "b", "x")], model=model)
