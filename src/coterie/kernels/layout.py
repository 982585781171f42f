"""What a kernel records beside what every kernel does: declared by name, written by column.

A kernel's compiled code writes to the columns of plain arrays (``trace.per_sweep[sweep, k]``,
``tally.per_item[i, k]``, ``keep.per_draw[draw, k]``); a :class:`Layout` says what those columns
are. They travel by name from there: pooled over chains, diagnosed, saved, shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class PerSweep:
    """A quantity with one value per sweep, or ``size`` values, one column each.

    Watched quantities must converge for the run to have converged. Never watch what may switch
    labels, such as the size of the third group.
    """

    name: str
    size: int | None = None
    watched: bool = True

    @property
    def n_columns(self) -> int:
        """Number of columns of ``trace.per_sweep`` that it takes."""
        return 1 if self.size is None else self.size


@dataclass(frozen=True)
class PerItem:
    """Numbers per item, one column each, summed over sweeps as the item probabilities are."""

    name: str
    columns: tuple[str, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns of ``tally.per_item`` that it takes."""
        return len(self.columns)


@dataclass(frozen=True)
class PerDraw:
    """An array per draw that is kept, of fixed shape.

    ``dims`` name its axes for ArviZ; ``item``, ``annotator``, ``true`` and ``answer`` are those of
    the data.
    """

    name: str
    shape: tuple[int, ...] = ()
    dims: tuple[str, ...] = ()

    @property
    def n_columns(self) -> int:
        """Number of columns of ``keep.per_draw`` that it takes."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Layout:
    """What a kernel records beside what every kernel does, in the order of its columns.

    Examples
    --------
    >>> layout = Layout(
    ...     per_sweep=(PerSweep("kind_total", 3), PerSweep("swaps", watched=False)),
    ...     per_item=(PerItem("kind", ("plain", "hard", "very hard")),),
    ... )
    >>> layout.n_sweep_columns, layout.n_item_columns
    (4, 3)
    >>> layout.split_items(np.arange(6.0).reshape(2, 3))
    {'kind': array([[0., 1., 2.],
           [3., 4., 5.]])}
    """

    per_sweep: tuple[PerSweep, ...] = ()
    per_item: tuple[PerItem, ...] = ()
    per_draw: tuple[PerDraw, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            names = [one.name for one in getattr(self, field.name)]
            for name in names:
                if not name.isidentifier() or names.count(name) > 1:
                    raise DataError(
                        f"Layout.{field.name} has the name {name!r}; give every quantity a name of"
                        " its own, of letters, digits and underscores"
                    )
        for one in self.per_draw:
            if len(one.dims) != len(one.shape):
                raise DataError(
                    f"PerDraw({one.name!r}) has shape {one.shape} and dims {one.dims}; name every"
                    " axis once"
                )

    @property
    def n_sweep_columns(self) -> int:
        """Columns of ``trace.per_sweep``."""
        return sum(one.n_columns for one in self.per_sweep)

    @property
    def n_item_columns(self) -> int:
        """Columns of ``tally.per_item``."""
        return sum(one.n_columns for one in self.per_item)

    @property
    def n_draw_columns(self) -> int:
        """Columns of ``keep.per_draw``."""
        return sum(one.n_columns for one in self.per_draw)

    @property
    def watched(self) -> tuple[str, ...]:
        """Names of the quantities per sweep that must converge."""
        return tuple(one.name for one in self.per_sweep if one.watched)

    def split_sweeps(self, per_sweep: FloatArray) -> dict[str, FloatArray]:
        """Give each quantity's values, shape (..., size), or (...) where it has no size."""
        parts = dict(_split(self.per_sweep, per_sweep))
        scalar = {one.name for one in self.per_sweep if one.size is None}
        return {name: part[..., 0] if name in scalar else part for name, part in parts.items()}

    def split_items(self, per_item: FloatArray) -> dict[str, FloatArray]:
        """Give each quantity's columns, shape (items, columns)."""
        return dict(_split(self.per_item, per_item))

    def split_draws(self, per_draw: FloatArray) -> dict[str, FloatArray]:
        """Give each array, shape (..., *shape)."""
        shape = {one.name: one.shape for one in self.per_draw}
        return {
            name: part.reshape(*part.shape[:-1], *shape[name])
            for name, part in _split(self.per_draw, per_draw)
        }


def _split(
    quantities: Sequence[PerSweep | PerItem | PerDraw], array: FloatArray
) -> Iterator[tuple[str, FloatArray]]:
    start = 0
    for one in quantities:
        yield one.name, array[..., start : start + one.n_columns]
        start += one.n_columns


PLAIN = Layout()
"""Nothing beside what every kernel records."""
