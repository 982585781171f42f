"""A model under check: labels to fit it to, chains that are short, a folder to write to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coterie.errors import CoterieError
from coterie.models import Estimator
from coterie.posterior import Posterior

QUICK = {
    "sweeps": 60,
    "burn_in": 20,
    "chains": 2,
    "restarts": 3,
    "random_state": 7,
    "progress": False,
}
"""Settings that make models quick; models without them do without them."""


@dataclass(frozen=True)
class Case:
    """A model, given by its class, and what it is checked with.

    Parameters
    ----------
    kind
        The class of the model.
    folder
        An empty folder.
    settings
        Parameters of the model beside those that make it quick.
    """

    kind: type[Estimator]
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.kind.__name__

    def model(self, **others: Any) -> Estimator:
        """Make the model."""
        model = self.kind()
        known = model.get_params()
        told = {name: value for name, value in QUICK.items() if name in known}
        return model.set_params(**{**told, **self.settings, **others})

    def fit(self, data: Any = None, **others: Any) -> Posterior:
        """Fit the model, to the labels of :func:`labels` unless told."""
        model = self.model().fit(labels() if data is None else data, **others)
        return model.posterior_


def labels() -> pd.DataFrame:
    """Make labels of three classes: 30 items, four labels each, six annotators.

    Examples
    --------
    >>> labels().head(2)
      task worker label
    0  q00     w2     c
    1  q00     w4     c
    """
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 30)
    rows = [
        (f"q{i:02}", f"w{l}", "abc"[truth[i] if rng.random() < 0.8 else rng.integers(0, 3)])
        for i in range(30)
        for l in rng.choice(6, 4, replace=False)
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def insist(holds: Any, otherwise: str) -> None:
    """Raise CoterieError, with what is the matter, unless it holds."""
    if not holds:
        raise CoterieError(otherwise)


def insist_on_same(one: Posterior, other: Posterior, when: str) -> None:
    """Raise CoterieError unless two results are the same to the last bit."""
    found: dict[str, tuple[Any, Any]] = {}
    found["item_probability"] = one.item_probability, other.item_probability
    found["confusion_mean"] = one.confusion_mean, other.confusion_mean
    found["class_balance"] = one.class_balance, other.class_balance
    if one.draws is not None and other.draws is not None:
        found["draws.confusion"] = one.draws.confusion, other.draws.confusion
    for name, (a, b) in found.items():
        insist(np.array_equal(a, b, equal_nan=True), f"{name} is not the same {when}")
