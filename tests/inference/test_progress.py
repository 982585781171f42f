"""Progress: lines in a pipe, by a clock that is handed in; what a large run says beforehand."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import coterie
from coterie.inference import chains as meeting_place
from coterie.inference.chains import Bar, Lines, progress_bar


def chains(*done, coteries=(2, 3)):
    return [SimpleNamespace(done=d, n_coteries=m) for d, m in zip(done, coteries, strict=True)]


def test_a_pipe_gets_a_line_every_ten_seconds(capsys):
    times = iter([-50.0, -20.0, -19.0, 0.0, 0.0, 5.0, 10.0, 19.0, 30.0, 41.0])
    lines = Lines("Consensus", 4_000, lambda: next(times))
    for done in [(0, 0), (0, 0), (10, 20), (500, 500), (900, 900), (1_500, 1_500)]:
        lines.update(chains(*done))
    lines.update(chains(2_000, 1_999, coteries=(0, 0)))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "Consensus: 1,000 of 4,000 sweeps, 30 s left at most, 2-3 coteries",
        "Consensus: 3,000 of 4,000 sweeps, 10 s left at most, 2-3 coteries",
        "Consensus: 3,999 of 4,000 sweeps, 0 s left at most",
    ]


def test_who_wants_no_progress_gets_none(capsys):
    with progress_bar("IBCC", 10, shown=False) as bar:
        assert type(bar) is Bar
        bar.update(chains(1, 2))
    with progress_bar("IBCC", 10, shown=True) as bar:
        assert isinstance(bar, Lines)  # tests run in a pipe
    assert capsys.readouterr().err == ""


CROWD = coterie.simulate("mixed", items=30, annotators=6, random_state=0).annotations
SETTINGS = {"random_state": 0, "sweeps": 80, "burn_in": 20}


@pytest.mark.parametrize(
    ("changes", "much", "worth", "said"),
    [
        ({}, None, 0.0, None),
        ({}, 1, 1e9, None),  # a run of seconds
        ({"progress": False}, 1, 0.0, None),  # nobody looks
        ({"burn_in": 3}, 1, 0.0, None),  # nothing can be timed
        ({}, 1, 0.0, "4 chains of 80 sweeps will take about .* s"),
        ({"early_stop": True}, 1, 0.0, "will take at most about"),
    ],
)
def test_a_large_run_says_how_long_it_takes_and_is_the_same_run(
    monkeypatch, capsys, changes, much, worth, said
):
    def fit(**more):
        return coterie.Consensus(**SETTINGS | changes | more).fit(CROWD).posterior_

    expected = fit(progress=False)
    assert capsys.readouterr().err == ""
    if much:
        monkeypatch.setattr(meeting_place, "MUCH", much)
    monkeypatch.setattr(meeting_place, "WORTH_A_WORD", worth)
    found = fit(**{"progress": True} | changes)
    heard = " ".join(capsys.readouterr().err.split())
    assert re.search(said, heard) if said else "will take" not in heard
    assert ("--model quick" in heard) == (said is not None)
    np.testing.assert_array_equal(found.draws.confusion, expected.draws.confusion)
    np.testing.assert_array_equal(found.item_probability, expected.item_probability)
