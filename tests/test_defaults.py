"""One thing has one default, wherever it is asked for."""

import inspect

import pytest

import coterie
from coterie.cli import app
from coterie.data import annotations_from
from coterie.models import MODELS
from coterie.studies.league.fit import fit_job
from coterie.studies.league.lineup import line_up
from coterie.studies.replay import Settings


@pytest.mark.parametrize(
    "asked",
    [
        coterie.read,
        coterie.scan,
        annotations_from,
        line_up,
        fit_job,
        app.aggregate,
        app.compare,
        app.judges,
        app.replay,
        Settings,
        *MODELS.values(),
    ],
    ids=lambda asked: asked.__name__,
)
def test_repeated_labels_are_an_error_unless_told(asked):
    assert inspect.signature(asked).parameters["duplicates"].default == "error"
