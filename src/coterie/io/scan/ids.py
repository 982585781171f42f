"""Ids of items as columns of pyarrow: text, whole numbers, fractions, or values one by one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import key_of
from coterie.data.table import (
    Coded,
    as_float,
    code_objects,
    is_number,
    is_text,
    sort_order,
    value_array,
)
from coterie.errors import DataError
from coterie.files.values import Unkept, from_json, to_json

Array = NDArray[Any]
Keys = NDArray[np.uint64]
LongArray = NDArray[np.int64]

TEXT, WHOLE, FRACTION, VALUES = range(4)
"""How ids are kept; values of other or mixed types as JSON, each with its type."""


class Ids(NamedTuple):
    """Ids, in one of the forms."""

    form: int
    cells: Any  # a pyarrow array: of text (also for VALUES), int64 or float64


def text_of(cells: Any) -> tuple[LongArray, NDArray[np.uint8]]:
    """Give the lengths in bytes of a pyarrow array of large strings, and all their UTF-8."""
    if not len(cells):
        return np.zeros(0, np.int64), np.zeros(0, np.uint8)
    _, offsets, text = cells.buffers()
    start = np.frombuffer(offsets, np.int64)[cells.offset :][: len(cells) + 1]
    content = np.zeros(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    return np.diff(start), content[start[0] : start[-1]]


class Named(NamedTuple):
    """The different items of some rows."""

    item: Array  # (rows,)     which of them each row is about; -1 where that is missing
    ids: Ids
    key: Keys  # (items,)

    def forms(self) -> set[int]:
        """Give the form, and of values one by one also those of the numbers among them."""
        kinds = {self.ids.form}
        if self.ids.form == VALUES:
            numbers = [value for value in unpacked(self.ids).tolist() if is_number(value)]
            kinds |= {WHOLE if isinstance(number, int) else FRACTION for number in numbers}
        return kinds


def named(coded: Coded) -> Named:
    """Give a column's items with their keys."""
    return Named(coded.codes, packed(coded.values), key_of(coded.values))


def packed(values: Array, *, one_by_one: bool = False) -> Ids:
    """Put ids into a column: in the form of their type, or one by one."""
    import pyarrow as pa

    if one_by_one:
        return _one_by_one(values)
    if values.dtype.kind in "iu" and (values.dtype != np.uint64 or values.max(initial=0) < 2**63):
        return Ids(WHOLE, pa.array(values.astype(np.int64)))
    if values.dtype.kind == "f":
        return Ids(FRACTION, pa.array(values.astype(np.float64)))
    if is_text(values):
        return Ids(TEXT, pa.array(values, pa.large_string()))
    return _one_by_one(values)


def _one_by_one(values: Array) -> Ids:
    import pyarrow as pa

    try:
        written = [json.dumps(to_json(value)) for value in values.tolist()]
    except Unkept as error:
        raise DataError(
            f"{error}, which a shard cannot keep: use text, numbers, dates or tuples of them for"
            " items"
        ) from None
    return Ids(VALUES, pa.array(written, pa.large_string()))


def unpacked(ids: Ids) -> Array:
    """Give ids as :class:`coterie.Annotations` has them: numbers, or objects.

    Examples
    --------
    >>> unpacked(packed(value_array(["q1", 7]))).tolist()
    ['q1', 7]
    """
    if ids.form in (WHOLE, FRACTION):
        return np.asarray(ids.cells.to_numpy(zero_copy_only=False))
    cells = ids.cells.to_pylist()
    if ids.form == VALUES:
        return value_array(from_json(json.loads(cell)) for cell in cells)
    objects = np.empty(len(cells), object)
    objects[:] = cells
    return objects


def merged(pieces: Sequence[Ids], forms: frozenset[int]) -> tuple[LongArray, Ids]:
    """Give the place of each id of the pieces among the different ones, and those.

    Parameters
    ----------
    pieces
        Ids that may come again in others.
    forms
        The forms that the whole column has, here or elsewhere: whole numbers are fractions if any
        is one, as if the column had been read at once.
    """
    import pyarrow as pa

    if len(forms) > 1 and forms != {WHOLE, FRACTION}:
        values = [value for piece in pieces for value in unpacked(piece).tolist()]
        if {WHOLE, FRACTION} <= forms:
            values = [as_float(value) if is_number(value) else value for value in values]
        coded = code_objects(values)
        return coded.codes.astype(np.int64), packed(coded.values, one_by_one=True)
    form = max(forms, default=TEXT)
    kind = {WHOLE: pa.int64(), FRACTION: pa.float64()}.get(form, pa.large_string())
    cells = [piece.cells.cast(kind, safe=False) for piece in pieces] or [pa.array([], kind)]
    coded_cells = pa.concat_arrays(cells).dictionary_encode()
    codes = coded_cells.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, Ids(form, coded_cells.dictionary)


def by_key(ids: Ids, key: Keys) -> LongArray:
    """Give the order of items by key; of one key, which no one has seen, in that of their ids."""
    order = np.argsort(key, kind="stable").astype(np.int64)
    sorted_key = key[order]
    alike = np.flatnonzero(sorted_key[1:] == sorted_key[:-1])
    for shared in np.unique(sorted_key[alike]):
        (places,) = np.nonzero(sorted_key == shared)
        own = unpacked(Ids(ids.form, ids.cells.take(order[places])))
        order[places] = order[places][sort_order(own)]
    return order
