"""coterie aggregate --update: more labels join a saved run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from coterie.cli import show
from coterie.cli.report import recorded, saved_at
from coterie.errors import CoterieError
from coterie.files.paths import is_there
from coterie.io.reading import Reading
from coterie.io.tables import table_of_file
from coterie.models import MODELS, Estimator, make_model
from coterie.models.registry import DEFAULT, name_of
from coterie.posterior import Posterior, load
from coterie.words.numbers import seconds as written

OF_THE_MACHINE = ("n_jobs", "progress")
"""Settings that come from the command, as ``duplicates`` does if told; all others are those of
the saved run."""


def earlier_model(path: Path, asked: str, settings: Mapping[str, Any]) -> Estimator:
    """Give the model of a saved run, fitted as it was; another that is asked for is refused."""
    kind = None if asked == DEFAULT else MODELS.find(asked)  # it may bring the prior that is saved
    posterior = load(saved_at(path))
    if kind is not None and kind.__name__ != posterior.model:
        raise CoterieError(
            f"{path} is of the model {posterior.model}, and goes on with it; leave out --model"
            f" {asked}, or aggregate all labels with it"
        )
    name = asked if kind is not None else name_of(posterior.model)
    if name is None:
        raise CoterieError(
            f"{path} is of the model {posterior.model}, which has no short name here; say where it"
            f" is by --model module:{posterior.model}"
        )
    here = {key: settings[key] for key in OF_THE_MACHINE if key in settings}
    if settings.get("duplicates", "error") != "error":
        here["duplicates"] = settings["duplicates"]
    model = make_model(name, **{**posterior.settings, **here, "checkpoint": None})
    model.posterior_ = posterior
    return model


def read_as(posterior: Posterior, reading: Reading) -> Reading:
    """Read new labels with the possible truths and answers of the saved run, if none are told."""
    a = posterior.annotations
    words = {"classes": a.classes.tolist(), "extra_answers": a.extra_answers.tolist() or None}
    return replace(reading, **{k: v for k, v in words.items() if getattr(reading, k) is None})


def gold_apart(reading: Reading) -> tuple[Reading, Any]:
    """Set a file of known labels apart: these may be of items of the saved run, too."""
    gold = reading.gold
    if gold is None or gold == "-" or not is_there(gold):
        return reading, None
    return replace(reading, gold=None), table_of_file(gold)


def say_time(path: Path, took: float) -> None:
    """Say how long the update took, beside the fit before; neither counts compiling."""
    before = recorded(saved_at(path)).get("seconds")
    beside = f", where the fit before it took {written(before)} s" if before else ""
    beside += " (compiling not counted)"
    show.line(f"Updated {path} in {written(took)} s{beside}")
