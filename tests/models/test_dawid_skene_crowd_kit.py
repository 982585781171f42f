"""Dawid-Skene as crowd-kit has it: its iterations, its initial errors."""

import numpy as np
import pandas as pd
import pytest

import coterie

# What crowd-kit 1.4.2 gives after 4 forced iterations (n_iter=4, tol=-1e9) on this crowd: the
# probability of a for q1 and q7, the prior of a, and how often w4 says a of an a and c of a c.
SAID = {"w1": "aabbccab", "w2": "aabcccba", "w3": "abbbacab", "w4": "cabbcbaa"}
CROWD = pd.DataFrame(
    [(f"q{i}", l, c) for l, answers in SAID.items() for i, c in enumerate(answers)],
    columns=["task", "worker", "label"],
)
HISTORY = pd.DataFrame(
    np.reshape([int(count) for count in "711281118613271226522362226433352325"], (12, 3)),
    index=pd.MultiIndex.from_product([list(SAID), list("abc")], names=["worker", "label"]),
    columns=list("abc"),
)
GOLD = pd.Series({"q0": "a", "q5": "b"})
ASSIGNED = [0.99994105, 0.57406859, 0.44675146, 0.7202018, 0.5]
ADDED = [0.99940806, 0.09296568, 0.38654673, 0.6766238, 0.5]
CROWD_KIT = {
    "plain": (None, None, None, [0.99976372, 0.15246814, 0.39402898, 0.68276445, 0.5]),
    "gold": (None, GOLD, None, [1.0, 0.99787516, 0.4997344, 0.74986713, 1.0]),
    "assign": ("assign", None, HISTORY / 10, ASSIGNED),
    "assign counts": ("assign", None, HISTORY, ASSIGNED),
    "addition": ("addition", None, HISTORY.loc[["w4"]], ADDED),
}


@pytest.mark.filterwarnings("ignore::coterie.ConvergenceWarning")
@pytest.mark.parametrize("case", CROWD_KIT)
def test_iterations_are_crowd_kit_s(case):
    strategy, *given, expected = CROWD_KIT[case]
    model = coterie.DawidSkene(4, -1e9, strategy)
    probas = model.fit_predict_proba(CROWD, *given)
    found = [
        probas.loc["q1", "a"],
        probas.loc["q7", "a"],
        model.priors_["a"],
        model.errors_.loc[("w4", "a"), "a"],
        model.errors_.loc[("w4", "c"), "c"],
    ]
    # It rounds to 1e-8 here, and clips at 1e-10.
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-9)
    pd.testing.assert_series_equal(model.fit_predict(CROWD, *given), model.labels_)


def test_an_assigned_zero_is_not_for_ever():
    perfect = HISTORY * 0 + np.tile(np.eye(3), (4, 1))
    model = coterie.DawidSkene(initial_error_strategy="assign").fit(CROWD, initial_error=perfect)
    assert np.isfinite(model.loss_history_).all()
    assert (np.diff(model.loss_history_) >= -1e-12).all()
    assert model.errors_.loc[("w4", "c"), "a"] > 0.1  # q0


@pytest.mark.parametrize(
    ("strategy", "initial_error", "message"),
    [
        (None, HISTORY, "got only the first"),
        ("addition", HISTORY.droplevel(0), "must be unique pairs"),
        ("addition", pd.concat([HISTORY, HISTORY]), "must be unique pairs"),
        ("addition", HISTORY.rename(columns={"c": "x"}), "columns .* among .*, got 'x'"),
        ("addition", HISTORY.rename(index={"c": "x"}, level=1), "given labels .*, got 'x'"),
        ("addition", -HISTORY, "not negative"),
        ("addition", HISTORY / 0, "finite"),
        ("assign", HISTORY.loc[["w1", "w2"]], "lacks 2 annotators, for example 'w3'"),
        ("assign", HISTORY / 20, "must sum to one"),
    ],
)
def test_a_wrong_initial_error_is_said(strategy, initial_error, message):
    model = coterie.DawidSkene(initial_error_strategy=strategy)
    with pytest.raises(coterie.DataError, match=message):
        model.fit(CROWD, initial_error=initial_error)


def test_history_of_strangers_is_left_out():
    strangers = pd.concat([HISTORY, HISTORY.rename(index={"w1": "w9"}, level=0).loc[["w9"]]])
    one, other = (
        coterie.DawidSkene(initial_error_strategy="assign").fit(CROWD, initial_error=frame)
        for frame in (HISTORY, strangers)
    )
    pd.testing.assert_frame_equal(one.errors_, other.errors_)
