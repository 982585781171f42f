"""coterie.aggregate: one line, whose options are the model's and the reader's."""

import pytest

import coterie

ROWS = [(f"q{i}", f"w{l}", "yes" if l < i else "no") for i in range(4) for l in range(3)]


def test_settings_of_the_model_and_options_of_reading_reach_their_place():
    frame = [*ROWS, ROWS[0]]
    posterior = coterie.aggregate(
        frame, model="majority", probabilities="shares", duplicates="keep", classes=["no", "yes"]
    )
    assert posterior.settings["probabilities"] == "shares"
    assert posterior.settings["duplicates"] == "keep"
    assert posterior.annotations.n_labels == len(frame)
    assert posterior.probabilities()["yes"].round(2).tolist() == [0, 0.33, 0.67, 1]


def test_annotations_with_settings_are_not_read_again():
    annotations = coterie.read(ROWS)
    posterior = coterie.aggregate(annotations, model="ds", n_iter=70)
    assert posterior.annotations is annotations
    assert posterior.settings["n_iter"] == 70


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "majority", "chains": 8}, "takes no chains=...; settings of this model are"),
        (
            {"model": "majority", "probabilites": 1},
            "takes no .* \\(did you mean 'probabilities'\\?\\)",
        ),
        ({"items": "task"}, "takes no items=... \\(did you mean 'item'\\?\\)"),
        ({"model": "concensus"}, "no model 'concensus' \\(did you mean 'consensus'\\?\\)"),
        ({"model": "DawidSkene"}, "no model 'DawidSkene' \\(did you mean 'ds'\\?\\)"),
    ],
)
def test_an_option_that_nobody_takes_is_named(options, said):
    with pytest.raises(coterie.DataError, match=said):
        coterie.aggregate(ROWS, **options)


def test_quick_has_the_columns_of_the_default_and_does_not_guess_at_hardness():
    posterior = coterie.aggregate(ROWS, model="quick")
    default = coterie.aggregate(ROWS, chains=2, progress=False)
    assert posterior.labels().columns.tolist() == default.labels().columns.tolist()
    assert posterior.labels()["hardness"].isna().all()
    with pytest.raises(coterie.CoterieError, match="does not say how hard items are"):
        posterior.difficulty()


def test_an_estimator_is_taken_as_it_is():
    model = coterie.QuickConsensus(n_iter=55)
    assert coterie.aggregate(ROWS, model=model).settings["n_iter"] == 55
    assert not hasattr(model, "posterior_")
