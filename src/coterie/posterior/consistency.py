"""Do the parts of a Posterior fit together, and are its numbers what they should be?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.posterior.draws import Draws
from coterie.posterior.posterior import Posterior

Shape = tuple[int, ...]
SLACK = 1e-3
"""By how much a sum of rounded probabilities may miss 1: some are kept in 32 bits."""


def check_parts(posterior: Posterior) -> None:
    """Check ids (distinct), arrays (their shapes), codes (in range), probabilities (sum to 1)."""
    a, draws = posterior.annotations, posterior.draws
    for name, values in (("items", a.items), ("annotators", a.annotators), ("answers", a.answers)):
        if len(set(values.tolist())) < len(values):
            raise DataError(f"{name} must be distinct")
    for name, array, shape in _shapes(posterior):
        if np.shape(array) != shape:
            raise DataError(f"{name} must have shape {shape}, got {np.shape(array)}")
    _check_range("label", posterior.label, a.n_classes)
    if posterior.groups is not None:
        _check_range("groups.group", posterior.groups.group + 1, a.n_annotators + 1)
        _check_probabilities("groups.membership", posterior.groups.membership)
    if draws is not None:
        _check_range("draws.partition", draws.partition, a.n_annotators)
        kinds = posterior.item_numbers.get("kind")
        split = kinds is not None and "kinds" in posterior.settings  # a coterie per person and kind
        most = a.n_annotators * (len(kinds.columns) if kinds is not None and split else 1)
        _check_range("draws.n_coteries", draws.n_coteries, most + 1)
        for name, values in draws.trace.items():
            if np.isnan(values).any():
                raise DataError(f"draws.trace[{name!r}] holds what is not a number")
        _check_last(draws, len(draws.confusion), a.n_items, (a.n_annotators, most))
        _check_sums("draws.confusion", draws.confusion)
        _check_sums("draws.class_balance", draws.class_balance)
    for name in ("item_probability", "class_balance", "confusion_mean", "raw_probability"):
        _check_sums(name, getattr(posterior, name))


def _check_last(draws: Draws, chains: int, n_items: int, n_seats: tuple[int, int]) -> None:
    """Check that there is a state of every chain, of these items and annotators."""
    if len(draws.last) not in (0, chains):
        raise DataError(f"draws.last must hold {chains} chains, got {len(draws.last)}")
    sizes = {"truth": [(n_items,)], "group": [(n,) for n in n_seats]}  # or one per kind
    for state in draws.last:
        for name, shapes in sizes.items():
            if name in state and state[name].shape not in shapes:
                found = state[name].shape
                raise DataError(f"draws.last: {name} must have shape {shapes[0]}, got {found}")


def _check_probabilities(name: str, array: NDArray[Any]) -> None:
    if not array.size:
        return
    if not -SLACK <= array.min() <= array.max() <= 1 + SLACK:  # false also for what is no number
        raise DataError(
            f"{name} must hold probabilities, between 0 and 1, got {array.min()} to {array.max()}"
        )


def _check_sums(name: str, array: NDArray[Any] | None) -> None:
    if array is None or not array.size:
        return
    _check_probabilities(name, array)
    sums = array.sum(axis=-1, dtype=np.float64)
    off = float(sums.flat[np.abs(sums - 1).argmax()])
    if abs(off - 1) > SLACK:
        raise DataError(f"{name} must hold probabilities that sum to 1, got a sum of {off:.6g}")


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
    if posterior.groups is not None:
        yield "groups.group", posterior.groups.group, (a.n_annotators,)
        yield "groups.membership", posterior.groups.membership, (a.n_annotators,)
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
