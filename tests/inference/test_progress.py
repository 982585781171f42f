"""Progress: lines in a pipe, one per ten seconds, by a clock that is handed in."""

from types import SimpleNamespace

import pytest

import coterie
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


def test_progress_changes_no_bit():
    crowd = coterie.simulate("mixed", items=10, annotators=5, random_state=0)
    settings = {"sweeps": 40, "burn_in": 20, "chains": 2, "random_state": 1, "early_stop": False}
    fits = []
    for shown in (True, False):
        with pytest.warns(coterie.ConvergenceWarning, match="too few"):
            fits.append(coterie.IBCC(progress=shown, **settings)._fit(crowd.annotations))
    assert (fits[0].item_probability == fits[1].item_probability).all()
