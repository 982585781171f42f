"""Do the parts of a Posterior fit together?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.posterior.draws import Draws
from coterie.posterior.posterior import Posterior

Shape = tuple[int, ...]


def check_parts(posterior: Posterior) -> None:
    """Check that ids are distinct, every array has its shape, and codes are in range."""
    a, draws = posterior.annotations, posterior.draws
    for name, values in (("items", a.items), ("annotators", a.annotators), ("answers", a.answers)):
        if len(set(values.tolist())) < len(values):
            raise DataError(f"{name} must be distinct")
    for name, array, shape in _shapes(posterior):
        if np.shape(array) != shape:
            raise DataError(f"{name} must have shape {shape}, got {np.shape(array)}")
    _check_range("label", posterior.label, a.n_classes)
    if draws is not None:
        _check_range("draws.partition", draws.partition, a.n_annotators)
        _check_range("draws.n_coteries", draws.n_coteries, a.n_annotators + 1)


def _check_range(name: str, codes: NDArray[Any] | None, size: int) -> None:
    if codes is not None and codes.size and not 0 <= codes.min() <= codes.max() < size:
        raise DataError(f"{name} must lie in 0..{size - 1}, got {codes.min()}..{codes.max()}")


def _shapes(posterior: Posterior) -> Iterator[tuple[str, Any, Shape]]:
    """Give name, array and the shape it should have."""
    a = posterior.annotations
    yield "item_probability", posterior.item_probability, (a.n_items, a.n_classes)
    yield "class_balance", posterior.class_balance, (a.n_classes,)
    matrices = (a.n_annotators, a.n_classes, a.n_answers)
    yield "confusion_mean", posterior.confusion_mean, matrices
    if posterior.raw_probability is not None:
        yield "raw_probability", posterior.raw_probability, (a.n_items, a.n_classes)
    for name, numbers in posterior.item_numbers.items():
        yield f"item_numbers[{name!r}]", numbers.values, (a.n_items, len(numbers.columns))
    if posterior.label is not None:
        yield "label", posterior.label, (a.n_items,)
    if posterior.draws is not None:
        yield from _shapes_of_draws(posterior.draws, matrices)


def _shapes_of_draws(draws: Draws, matrices: Shape) -> Iterator[tuple[str, Any, Shape]]:
    n_annotators, n_classes, _ = matrices
    kept = np.shape(draws.confusion)[:2]
    yield "draws.confusion", draws.confusion, (*kept, *matrices)
    yield "draws.class_balance", draws.class_balance, (*kept, n_classes)
    chains = kept[:1]
    if draws.partition is not None:
        seated = np.shape(draws.partition)[1:2]
        yield "draws.partition", draws.partition, (*chains, *seated, n_annotators)
    if draws.n_coteries is not None:
        alike = draws.n_coteries if draws.partition is None else draws.partition
        yield "draws.n_coteries", draws.n_coteries, (*chains, *np.shape(alike)[1:2])
    for name, one in draws.extra.items():
        like = np.shape(one.values)[2 : 2 + len(one.dims)]
        yield f"draws.extra[{name!r}]", one.values, (*kept, *like)
    sweeps = {np.shape(values)[1:2] for values in draws.trace.values()}
    for name, values in draws.trace.items():
        each = (n_classes,) if name == "class_total" else np.shape(values)[2:3]
        yield f"draws.trace[{name!r}]", values, (*chains, *min(sweeps), *each)
