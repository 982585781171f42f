"""LLMBar results: one file per judge and prompt, both orders, with the true winner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import as_map, maps_in, scalar
from coterie.io.reading import Reading

_ORDERS = (("swap = False", False), ("swap = True", True))


def recognise(part: Part) -> bool:
    """Tell it by the results of both orders."""
    return any(key in result for result in maps_in(part.first.get("results")) for key, _ in _ORDERS)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give winners, which are turned back already: 1 is output 1 in both orders."""
    several = len({_subset(part) for part in parts}) > 1
    for part in parts:
        judge = _judge(part)
        for number, record in enumerate(part.records(), 1):
            place = f"{_subset(part)}/{number}" if several else number
            label = scalar(record.get("label"))
            known = {} if label is None else {"winner": str(label)}
            for result in list(maps_in(record.get("results")))[:1]:
                for key, swapped in _ORDERS:
                    if key in result:
                        winner = scalar(as_map(result[key]).get("winner"))
                        unparsed = winner in (None, "None")
                        yield Submission(
                            place,
                            options.judge(judge, swapped),
                            {"winner": None if unparsed else str(winner)},
                            status="unparsed" if unparsed else "",
                            known=known,
                            fields=record,
                        )


def _judge(part: Part) -> str:
    """Name the judge by the folders of the file: model and prompt."""
    return " / ".join(part.folders[-2:]) or part.stem


def _subset(part: Part) -> str:
    """Name the set of pairs by the folder above the evaluators; each counts its own from 1."""
    folders = list(part.folders[:-2])
    above = folders[: folders.index("evaluators")] if "evaluators" in folders else []
    return above[-1] if above else ""


FORMAT = ExportFormat(
    "LLMBar", recognise, read, item="place in the list", annotator="folder and order"
)
