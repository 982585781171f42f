"""Tables without a header, and matrices: Active Crowd Toolkit, MACE, peerannot, Snorkel."""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from itertools import islice
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.io.exports.part import NUMPY, Part
from coterie.io.exports.port import ExportFormat, Submission, as_map, choice, scalar
from coterie.io.reading import Reading

_WIDTHS = (4, 5)  # of the Active Crowd Toolkit
_FEWEST = 3  # annotators of MACE
_ABSTAIN = -1  # Snorkel


def _rows(part: Part, most: int | None = None) -> Iterator[list[str]]:
    encoding = "utf-16" if part.head[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
    with part.file.open() as handle, io.TextIOWrapper(handle, encoding, newline="") as text:
        delimiter = "\t" if b"\t" in part.head.split(b"\n", 1)[0] else ","
        try:
            for row in islice(csv.reader(text, delimiter=delimiter), most):
                if row:
                    yield [cell.strip() for cell in row]
        except (UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"{part.name} cannot be read as a table: {error}") from error


def _is_act(part: Part) -> bool:
    """Tell it by four or five columns, and numbers from the third on, in the first row too."""
    width = len(part.header)
    if width not in _WIDTHS or not all(map(_is_number, part.header[2:])):
        return False
    return all(len(row) == width and all(map(_is_number, row[2:])) for row in _rows(part, 20))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _act(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    for part in parts:
        for number, row in enumerate(_rows(part), 1):
            if len(row) not in _WIDTHS:
                raise DataError(
                    f"row {number} of {part.name} (the first is row 1) has {len(row)} fields; "
                    "expected annotator, item, label, gold and perhaps seconds"
                )
            annotator, item, label, gold, *seconds = row
            known = {"label": gold} if gold.strip() else {}
            time = next(iter(seconds), None)
            yield Submission(item, annotator, {"label": choice(label)}, known=known, seconds=time)


def _is_mace(part: Part) -> bool:
    """Tell it by a first row that is no header: its words come back, and it repeats or skips some.

    A header names every column, and none twice.
    """
    header = part.header
    first = [cell for cell in header if cell]
    if len(header) < _FEWEST or not first or len(set(first)) == len(header):
        return False
    words = {cell for row in list(_rows(part, 200))[1:] for cell in row if cell}
    return set(first) <= words and len(words) < len(header) + _FEWEST


def _mace(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    for part in parts:
        width = len(part.header)
        for item, row in enumerate(_rows(part)):
            if len(row) != width:
                raise DataError(
                    f"row {item + 1} of {part.name} (the first is row 1) has {len(row)} fields, "
                    f"the first row has {width}; there must be one per annotator"
                )
            for annotator, cell in enumerate(row):
                if cell:
                    yield Submission(item, annotator, {"label": [cell]})


def _is_peerannot(part: Part) -> bool:
    """Tell it by an object of objects of scalars; its truth by its name and numbers alone."""
    if part.mark != b"{":
        return part.stem == "truth" and _numbers(part) is not None
    values = list(part.first.values())[:100]
    return len(part.lines) < 2 and any(values) and all(map(_are_labels, values))


def _are_labels(said: Any) -> bool:
    return isinstance(said, dict) and all(scalar(label) is not None for label in said.values())


def _numbers(part: Part) -> list[str] | None:
    """Give the lines of a truth: whole numbers, or None if there is something else."""
    with part.file.open() as handle:
        lines = [line.strip().decode("ascii", "replace") for line in handle]
    numbers = [line for line in lines if line]
    return numbers if numbers and all(line.lstrip("-").isdigit() for line in numbers) else None


def _peerannot(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give labels; line n of the truth is the truth of item n, from 0."""
    truth = next((_numbers(part) for part in parts if part.mark != b"{"), None) or []
    known = {str(item): {"label": int(told)} for item, told in enumerate(truth) if told != "-1"}
    for part in parts:
        for item, said in as_map(part.content).items() if part.mark == b"{" else ():
            for annotator, label in as_map(said).items():
                told = known.get(item, {})
                yield Submission(item, annotator, {"label": choice(label)}, known=told)


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


def _snorkel(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give one label per entry that is no abstention; a vector beside the matrix is gold."""
    arrays = {part.name: _array(part) for part in parts}
    matrices = {name: array for name, array in arrays.items() if array.ndim == 2}
    if len(matrices) != 1:
        raise DataError(
            f"{len(matrices)} of the arrays have one row per item; expected one label matrix"
        )
    ((name, matrix),) = matrices.items()
    gold = next((array for array in arrays.values() if array.ndim == 1), None)
    if gold is not None and len(gold) != len(matrix):
        raise DataError(f"the gold labels are {len(gold)}, the items of {name} {len(matrix)}")
    for item, row in enumerate(matrix.tolist()):
        known = {} if gold is None or gold[item] == _ABSTAIN else {"label": int(gold[item])}
        for annotator, label in enumerate(row):
            if label != _ABSTAIN:
                yield Submission(item, annotator, {"label": [label]}, known=known)


ACT = ExportFormat(
    "Active Crowd Toolkit", _is_act, _act, item="second column", annotator="first column"
)
MACE = ExportFormat("MACE", _is_mace, _mace, item="row", annotator="column")
PEERANNOT = ExportFormat("peerannot", _is_peerannot, _peerannot, item="key", annotator="key below")
SNORKEL = ExportFormat(
    "Snorkel",
    lambda part: part.head.startswith(NUMPY),
    _snorkel,
    item="row",
    annotator="column",
)
