"""peerannot: a JSON object, item -> annotator -> label; truth.txt has one label per line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import as_map, choice, scalar
from coterie.io.reading import Reading

_LOOKED_AT = 100


def recognise(part: Part) -> bool:
    """Tell it by an object of objects of scalars; its truth by its name and numbers alone."""
    if part.mark == b"{":
        first = part.first
        return bool(first) and len(part.lines) < 2 and _is_answers(first)
    return part.stem == "truth" and _labels(part) is not None


def _is_answers(first: Mapping[str, Any]) -> bool:
    values = list(first.values())[:_LOOKED_AT]
    return any(values) and all(
        isinstance(said, dict) and all(scalar(label) is not None for label in said.values())
        for said in values
    )


def _labels(part: Part) -> list[str] | None:
    """Give the lines of a truth: whole numbers, or None if there is something else."""
    with part.file.open() as handle:
        lines = [line.strip().decode("ascii", "replace") for line in handle]
    numbers = [line for line in lines if line]
    return numbers if numbers and all(line.lstrip("-").isdigit() for line in numbers) else None


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give labels; line n of the truth is the truth of item n, from 0."""
    truth = next((_labels(part) for part in parts if part.mark != b"{"), None) or []
    known = {str(item): label for item, label in enumerate(truth) if label != "-1"}
    for part in parts:
        if part.mark != b"{":
            continue
        for item, said in as_map(part.content).items():
            told = {"label": _number(known[item])} if item in known else {}
            for annotator, label in as_map(said).items():
                yield Submission(item, annotator, {"label": choice(label)}, known=told)


def _number(label: str) -> int:
    return int(label)


FORMAT = ExportFormat("peerannot", recognise, read, item="key", annotator="key below")
