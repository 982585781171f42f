"""AlpacaEval annotations: one file per judge, which of two outputs is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import scalar
from coterie.io.reading import Reading

TIE = 1.5


def recognise(part: Part) -> bool:
    """Tell it by the preference between two generators."""
    return {"preference", "generator_1", "generator_2"} <= set(part.first)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give preferences; those between 1 and 2 are weighted and cut in the middle."""
    for part in parts:
        for record in part.records():
            preference = _label(record.get("preference"), options)
            yield Submission(
                _pair(record),
                scalar(record.get("annotator")) or part.stem,
                {"preference": preference},
                status="failed" if preference is None else "",
                seconds=record.get("time_per_example"),
                fields=record,
            )


def _label(preference: Any, options: Reading) -> str | None:
    """Give 1, 2 or tie: 1.5, and 0 in older files.

    Examples
    --------
    >>> [_label(number, Reading()) for number in (1.0003, 1.97, 1.5, 0, None)]
    ['1', '2', 'tie', 'tie', None]
    """
    if isinstance(preference, bool) or not isinstance(preference, (int, float)):
        return None
    if preference != preference:
        return None
    cut = TIE if options.threshold is None else options.threshold
    return "tie" if preference in (0, cut) else "2" if preference > cut else "1"


def _pair(record: Mapping[str, Any]) -> str:
    return " | ".join(str(record.get(key)) for key in ("instruction", "generator_1", "generator_2"))


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    unnamed = scalar(parts[0].first.get("annotator")) is None
    return {"annotator": "file name"} if unnamed else {}


FORMAT = ExportFormat(
    "AlpacaEval",
    recognise,
    read,
    item="instruction and generators",
    annotator="annotator",
    taken=_taken,
)
