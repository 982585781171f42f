"""The prior that a model was given, by name or as it is, written out for the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError, alternatives
from coterie.io.scan.scanned import Scan
from coterie.words.visible import quoted

ByCounts = Callable[[int, int], Any]
"""Gives a prior for numbers of classes and of answers."""


def resolved(model: Any, annotations: Annotations | Scan, **more: ByCounts) -> Any:
    """Give the model's prior with every field written out for these data.

    Parameters
    ----------
    model
        A model with ``prior`` and ``prior_type``.
    annotations
        The data.
    more
        Further priors by name, that depend on the numbers of classes and of answers.
    """
    kind, given = model.prior_type, model.prior
    named = kind.named()
    sizes = annotations.n_classes, annotations.n_answers
    if isinstance(given, str):
        given = more[given](*sizes) if given in more else named.get(given)
    if not isinstance(given, kind):
        names = [Argument("prior", name) for name in [*named, *more]]
        raise DataError(
            [
                f"{type(model).__name__} takes ",
                *alternatives(names),
                f" or a {kind.__name__}, got {quoted(model.prior)}",
            ]
        )
    return given.resolve(*sizes)
