"""A setting that a model cannot take is refused by a sentence that carries its name."""

import pandas as pd
import pytest

import coterie
from coterie.models.registry import MODELS, make_model

DATA = pd.DataFrame(
    [(f"q{i}", f"w{l}", "ab"[(i + l) % 3 == 0], i + l) for i in range(6) for l in range(3)],
    columns=["item", "annotator", "label", "time"],
)
SETTINGS = [(model, name) for model in MODELS for name in make_model(model).get_params()]
WORDS = {
    "prior", "sampler", "engine", "matrices", "clock", "ties", "probabilities", "duplicates",
    "initial_error_strategy",
}  # fmt: skip
LEAST = {
    "sweeps": 0, "burn_in": -1, "chains": 0, "thin": 0, "random_state": -1, "n_jobs": 0, "kinds": 0,
    "step_size": 0, "n_iter": 0, "restarts": -1, "design_effect": -0.5, "vote_share": 1.5,
    "skill_share": -0.5, "unit": 0, "smoothing": -1.0,
}  # fmt: skip


def refused(model, **settings):
    with pytest.raises(coterie.DataError) as caught:
        make_model(model, **settings).fit(DATA, time="time")
    return caught.value


@pytest.mark.parametrize(("model", "name"), SETTINGS)
def test_what_is_of_another_kind_is_refused_by_name(model, name):
    assert refused(model, **{name: {"of": "another kind"}}).argument == name


@pytest.mark.parametrize(("model", "name"), [each for each in SETTINGS if each[1] in WORDS])
def test_a_word_that_is_none_is_refused_by_name(model, name):
    error = refused(model, **{name: "no such thing"})
    assert error.argument == name
    assert "no such thing" in str(error)


@pytest.mark.parametrize(("model", "name"), [each for each in SETTINGS if each[1] in LEAST])
def test_a_number_out_of_bounds_is_refused_by_name(model, name):
    error = refused(model, **{name: LEAST[name]})
    assert error.argument == name
    assert str(error).startswith(f"{type(make_model(model)).__name__}({name}=...) must be ")
    assert error.written(lambda argument: f"--its {argument.name}").startswith(f"--its {name} must")
