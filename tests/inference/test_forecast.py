"""A large run says before it starts how long it will take, and is the same run."""

import re

import numpy as np
import pytest

import coterie
from coterie.inference import chains

CROWD = coterie.simulate("mixed", items=30, annotators=6, random_state=0).annotations
SETTINGS = {"random_state": 0, "sweeps": 80, "burn_in": 20, "progress": True}


def fit(**changes):
    return coterie.Consensus(**SETTINGS | changes).fit(CROWD).posterior_


def test_a_large_run_says_how_long_and_what_there_is_at_once(monkeypatch, capsys):
    expected = fit()
    assert "will take" not in capsys.readouterr().err
    monkeypatch.setattr(chains, "MUCH", 1)
    monkeypatch.setattr(chains, "WORTH_A_WORD", 0.0)
    found = fit()
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(r"4 chains of 80 sweeps will take about .* s", said)
    assert "--model quick" in said
    np.testing.assert_array_equal(found.draws.confusion, expected.draws.confusion)
    np.testing.assert_array_equal(found.item_probability, expected.item_probability)


@pytest.mark.parametrize("changes", [{"progress": False}, {"burn_in": 3}])
def test_nobody_is_told_who_does_not_look_or_where_nothing_can_be_timed(
    monkeypatch, capsys, changes
):
    monkeypatch.setattr(chains, "MUCH", 1)
    monkeypatch.setattr(chains, "WORTH_A_WORD", 0.0)
    fit(**changes)
    assert "will take" not in capsys.readouterr().err


def test_what_may_stop_early_takes_at_most_that(monkeypatch, capsys):
    monkeypatch.setattr(chains, "MUCH", 1)
    monkeypatch.setattr(chains, "WORTH_A_WORD", 0.0)
    fit(early_stop=True)
    assert "will take at most about" in " ".join(capsys.readouterr().err.split())


def test_a_run_of_seconds_is_not_announced(monkeypatch, capsys):
    monkeypatch.setattr(chains, "MUCH", 1)
    monkeypatch.setattr(chains, "WORTH_A_WORD", 1e9)
    fit()
    assert "will take" not in capsys.readouterr().err
