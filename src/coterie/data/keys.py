"""A key of 64 bits for every id: the same in every process, on every machine, in every version.

Random numbers are drawn by it and items are dealt to shards by it, so that neither depends on how
many items there are, in which order they came, or who holds them.

Equal ids have equal keys: text by its UTF-8 bytes, whole numbers by their value whatever their type
(7 and 7.0 are one id), other numbers by their bits, anything else by how it is written. Text and
numbers differ: '7' is not 7. Two of a billion ids share a key with a chance of three in a hundred:
they stay two items, in the order of their ids, and only draw alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.words.visible import text_of

Array = NDArray[Any]
Keys = NDArray[np.uint64]

AT_ONCE = 2**14
"""Ids that are packed at once: what is made on the way stays small."""
TEXT, WHOLE, FRACTION, OTHER = (np.uint64(number) for number in (1, 2, 3, 4))
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
WIDEST = 2**63


def key_of(ids: Array | Iterable[Any]) -> Keys:
    """Give the key of every id, shape (ids,).

    Parameters
    ----------
    ids
        An array of numbers or of objects, as ``Annotations.items`` is, or any list of them.

    Examples
    --------
    >>> import numpy as np
    >>> [hex(key) for key in key_of(["q1", "q2"])]
    ['0x902ecf6d10aac4d7', '0xca937aa90cc6760f']
    >>> bool((key_of([7, 7.0, np.int16(7)]) == key_of(np.array([7]))).all())
    True
    """
    cells = ids if isinstance(ids, np.ndarray) else list(ids)
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        return _keys_of_numbers(cells)
    out = np.empty(len(cells), np.uint64)
    for first in range(0, len(cells), AT_ONCE):
        out[first : first + AT_ONCE] = _keys_of_some(list(cells[first : first + AT_ONCE]))
    return out


def _keys_of_some(cells: list[Any]) -> Keys:
    if all(type(cell) is str for cell in cells):
        return _keys_of_bytes(_utf8(cells), TEXT)
    return np.array([_key_of_one(cell) for cell in cells], np.uint64)


def _key_of_one(cell: Any) -> np.uint64:
    if isinstance(cell, str):
        return np.uint64(_keys_of_bytes(_utf8([str(cell)]), TEXT)[0])
    kind = type(cell).__name__.rstrip("_")  # numpy's booleans are called bool_ before 2.0
    if isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool):
        if isinstance(cell, np.generic):
            cell = cell.item()
        whole = -WIDEST <= cell < WIDEST and cell == int(cell)
        number: Array = np.array([int(cell)], np.int64) if whole else _as_double(cell)
        if len(number):
            return np.uint64(_keys_of_numbers(number)[0])
        kind = "int"  # too wide for either
    return np.uint64(_keys_of_bytes(_utf8([f"{kind} {text_of(cell)}"]), OTHER)[0])


def _as_double(cell: Any) -> Array:
    """Give a number that is no int64 as a double, where it is one exactly."""
    try:
        double = float(cell)
    except OverflowError:
        return np.zeros(0)
    return np.array([double]) if double == cell or double != double else np.zeros(0)


def _keys_of_numbers(numbers: Array) -> Keys:
    if numbers.dtype.kind == "i":
        return _mix(_mix(numbers.astype(np.int64).view(np.uint64) ^ GOLDEN) + WHOLE)
    if numbers.dtype.kind == "u" and numbers.dtype.itemsize < 8:
        return _keys_of_numbers(numbers.astype(np.int64))
    if numbers.dtype.kind == "u":
        return np.array([_key_of_one(cell) for cell in numbers.tolist()], np.uint64)
    doubles = numbers.astype(np.float64)
    whole = (doubles >= -WIDEST) & (doubles < WIDEST) & (doubles == np.trunc(doubles))
    out: Keys = _mix(_mix(doubles.view(np.uint64) ^ GOLDEN) + FRACTION)
    out[whole] = _keys_of_numbers(doubles[whole].astype(np.int64))
    return out


def _utf8(texts: list[str]) -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") for text in texts]


def _keys_of_bytes(cells: list[bytes], kind: np.uint64) -> Keys:
    """Mix in eight bytes at a time, then the length, which tells what was filled up."""
    length = np.fromiter(map(len, cells), np.int64, len(cells))
    out = np.empty(len(cells), np.uint64)
    order = np.argsort(length, kind="stable")  # so that one long id widens few others
    for some in np.array_split(order, max(1, len(cells) // 1024)):
        if len(some):
            out[some] = _keys_of_rows([cells[k] for k in some], length[some], kind)
    return out


def _keys_of_rows(cells: list[bytes], length: NDArray[np.int64], kind: np.uint64) -> Keys:
    n_words = (length + 7) // 8
    width = max(1, int(n_words.max()))
    words = np.array(cells, f"S{8 * width}").view("<u8").reshape(len(cells), width)
    key = np.full(len(cells), kind, np.uint64)
    for k in range(width):
        key = np.where(k < n_words, _mix(key ^ words[:, k]) + GOLDEN, key)
    return _mix(key ^ length.view(np.uint64))


def _mix(words: Keys) -> Keys:
    """Scatter 64 bits so that each of them moves all: the finish of splitmix64, one to one."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
