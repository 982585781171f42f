"""Models by their names, all alike: settings that a model does not know are left out."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from coterie.data.build import DUPLICATES
from coterie.errors import Argument, DataError
from coterie.models import MODELS, make_model
from coterie.models.base import Estimator
from coterie.words.values import not_one_of

REFERENCE = "majority"
"""The vote: what every model is measured against. It always runs."""


def line_up(
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    duplicates: str = "error",
    sweeps: int | None = None,
    timed: bool = False,
) -> dict[str, Estimator]:
    """Make the models, by name, the vote first if nobody named it.

    Parameters
    ----------
    names
        Short names of the registry, ``"all"`` that need nothing but labels (the default), or
        ``module:Class`` of an estimator elsewhere.
    seed
        ``random_state`` of the models that have one.
    duplicates
        What an annotator's repeated labels of one item mean.
    sweeps
        Length of the chains of sampling models, of which 30 % are burn-in; those whose own chains
        are shorter keep them. None leaves all be.
    timed
        Labels have times: ``"all"`` then has models that need those.

    Examples
    --------
    >>> list(line_up(["ds"]))
    ['majority', 'ds']
    >>> set(MODELS) - set(line_up(["all"]))
    {'dynamic'}
    >>> line_up(["vote"])
    Traceback (most recent call last):
    coterie.errors.DataError: no model 'vote'; choose one of consensus, ...
    """
    if duplicates not in DUPLICATES:
        raise DataError([Argument("duplicates", duplicates), not_one_of(duplicates, DUPLICATES)])
    there = {"time"} if timed else set()
    plain = [name for name, kind in MODELS.items() if there.issuperset(kind.needs)]
    chosen = (plain if name == "all" else [name] for name in names or ["all"])
    wanted = list(dict.fromkeys(name for some in chosen for name in some))
    if REFERENCE not in wanted:
        wanted.insert(0, REFERENCE)
    # One thread per fit: the fits themselves run side by side.
    settings = {"random_state": seed, "duplicates": duplicates, "n_jobs": 1, "progress": False}
    if sweeps is not None and sweeps < 1:
        raise DataError(f"sweeps must be at least 1, got {sweeps}")
    return {name: _make(name, settings, sweeps) for name in wanted}


def set_known(model: Estimator, settings: dict[str, Any]) -> Estimator:
    """Set those parameters that the model has."""
    known = model.get_params()
    return model.set_params(**{key: value for key, value in settings.items() if key in known})


def _make(name: str, settings: dict[str, Any], sweeps: int | None) -> Estimator:
    model = make_model(name, **settings)
    if sweeps is not None and model.get_params().get("sweeps", 0) > sweeps:
        set_known(model, {"sweeps": sweeps, "burn_in": 3 * sweeps // 10})
    try:
        pickle.dumps(model)
    except Exception as error:  # whatever the model's own parts raise when they are pickled
        raise DataError(
            f"the model {name!r} cannot be sent to a process of its own: {error}; "
            "define its class at the top of its module"
        ) from error
    return model
