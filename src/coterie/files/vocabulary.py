"""Ids and labels in a file: each comes back as the type it was."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.files.json_values import Unkept, from_json, to_json

ARRAY, TEXT, VALUES = "array", "text", "values"
Arrays = dict[str, NDArray[Any]]


def pack_vocabulary(name: str, values: NDArray[Any], arrays: Arrays) -> Any:
    """Put a vocabulary among the arrays of a file; give what its header says of it.

    Arrays of one type go as they are, text as one run of UTF-8 with the length of each, and
    anything else value by value.

    Examples
    --------
    >>> arrays = {}
    >>> pack_vocabulary("items", np.array(["q1", "ü"], object), arrays)
    {'as': 'text'}
    >>> unpack_vocabulary("items", {"as": "text"}, arrays)
    array(['q1', 'ü'], dtype=object)
    """
    if values.dtype != object:
        arrays[name] = values
        return {"as": ARRAY}
    if set(map(type, values)) <= {str}:
        texts = [text.encode("utf-8", "surrogatepass") for text in values]
        arrays[f"{name}.utf8"] = np.frombuffer(b"".join(texts), np.uint8)
        arrays[f"{name}.length"] = narrow(np.fromiter(map(len, texts), np.int64, len(texts)))
        return {"as": TEXT}
    try:
        return {"as": VALUES, "values": [to_json(value) for value in values]}
    except Unkept as error:
        raise DataError(
            f"{error}, which a file cannot keep: use text, numbers, dates or tuples of them "
            f"for {name}"
        ) from None


def unpack_vocabulary(name: str, header: Any, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Give the vocabulary back; ValueError or the like if what was found is none."""
    if header["as"] == ARRAY:
        values = arrays[name]
    elif header["as"] == TEXT:
        values = _objects(_texts(arrays[f"{name}.utf8"], arrays[f"{name}.length"]))
    elif header["as"] == VALUES:
        values = _objects([from_json(value) for value in header["values"]])
    else:
        raise ValueError(f"unknown form of {name}")
    if values.ndim != 1:
        raise ValueError(f"{name} must be a list")
    return values


def _texts(utf8: NDArray[Any], length: NDArray[Any]) -> list[str]:
    plain = utf8.dtype == np.uint8 and utf8.ndim == length.ndim == 1
    if not plain or length.dtype not in (np.uint8, np.uint16, np.uint32):
        raise ValueError("text is not stored as it should be")
    end = np.cumsum(length, dtype=np.int64)
    if len(utf8) != (end[-1] if len(end) else 0):
        raise ValueError("text is not as long as it should be")
    content = utf8.tobytes()
    places = pairwise([0, *end.tolist()])
    return [content[a:b].decode("utf-8", "surrogatepass") for a, b in places]


def _objects(values: list[Any]) -> NDArray[Any]:
    objects = np.empty(len(values), object)
    for place, value in enumerate(values):  # slice assignment would unpack tuples
        objects[place] = value
    return objects


def narrow(codes: NDArray[Any]) -> NDArray[Any]:
    """Give the same whole numbers in as few bytes as will do.

    Examples
    --------
    >>> narrow(np.array([0, 300])).dtype, narrow(np.array([-1, 200])).dtype
    (dtype('uint16'), dtype('int16'))
    """
    low, high = codes.min(initial=0), codes.max(initial=0)
    return codes.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


def narrow_floats(numbers: NDArray[Any]) -> NDArray[Any]:
    """Give the same numbers in half precision, if that loses nothing.

    Examples
    --------
    >>> narrow_floats(np.array([0.5, 0.25])).dtype, narrow_floats(np.array([0.1])).dtype
    (dtype('float16'), dtype('float64'))
    """
    with np.errstate(over="ignore"):
        half = numbers.astype(np.float16)
    return half if np.array_equal(half, numbers) else numbers
