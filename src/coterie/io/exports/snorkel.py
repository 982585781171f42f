"""Snorkel label matrices: items x labelling functions, -1 abstains; a vector beside it is gold."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.io.exports.part import NUMPY, Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.reading import Reading

ABSTAIN = -1


def recognise(part: Part) -> bool:
    """Tell it by the first bytes of an array."""
    return part.head.startswith(NUMPY)


def _array(part: Part) -> NDArray[Any]:
    with part.file.open() as handle:
        try:
            array: NDArray[Any] = np.load(io.BytesIO(handle.read()), allow_pickle=False)
        except (ValueError, EOFError, OSError, SyntaxError, TokenError, MemoryError) as error:
            raise DataError(f"{part.name} is a damaged array: {error}") from None
    if array.dtype.kind == "f" and np.array_equal(array, np.round(array)):
        array = array.astype(np.int64)
    if array.ndim not in (1, 2) or array.dtype.kind not in "iu":
        raise DataError(
            f"{part.name} is an array of {array.dtype}, shape {array.shape}; expected whole "
            "numbers, one row per item and one column per labelling function"
        )
    return array


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give one label per entry that is no abstention."""
    arrays = {part.name: _array(part) for part in parts}
    matrices = {name: array for name, array in arrays.items() if array.ndim == 2}
    if len(matrices) != 1:
        raise DataError(
            f"{len(matrices)} of the arrays have one row per item; expected one label matrix"
        )
    ((name, matrix),) = matrices.items()
    vectors = [array for array in arrays.values() if array.ndim == 1]
    if vectors and len(vectors[0]) != len(matrix):
        raise DataError(f"the gold labels are {len(vectors[0])}, the items of {name} {len(matrix)}")
    for item, row in enumerate(matrix.tolist()):
        known = {"label": int(vectors[0][item])} if vectors and vectors[0][item] != ABSTAIN else {}
        for annotator, label in enumerate(row):
            if label != ABSTAIN:
                yield Submission(item, annotator, {"label": [label]}, known=known)


FORMAT = ExportFormat("Snorkel", recognise, read, item="row", annotator="column")
