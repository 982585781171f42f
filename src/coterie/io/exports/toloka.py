"""Toloka assignments: one row per task and worker, a row of tabs after each page."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import told_in
from coterie.io.reading import Reading

_COUNTS = {"", "APPROVED", "ACCEPTED", "SUBMITTED"}


def recognise(part: Part) -> bool:
    """Tell it by the column of the worker."""
    return "ASSIGNMENT:worker_id" in part.header


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give answers to tasks; control tasks tell what is known of them."""
    for part in parts:
        for row in part.records():
            status = str(row.get("ASSIGNMENT:status") or "").strip().upper()
            rejected = str(row.get("ACCEPT:verdict") or "").strip() == "-"
            yield Submission(
                _task(row),
                row.get("ASSIGNMENT:worker_id"),
                {name: told_in(cell) for name, cell in _columns(row, "OUTPUT:").items()},
                status="REJECTED" if rejected else "" if status in _COUNTS else status,
                known={
                    name: told_in(cell)
                    for name, cell in _columns(row, "GOLDEN:").items()
                    if cell is not None
                },
                time=row.get("ASSIGNMENT:submitted") or row.get("ASSIGNMENT:started"),
                fields=row,
            )


def _columns(row: Mapping[str, Any], start: str) -> dict[str, Any]:
    return {name.removeprefix(start): cell for name, cell in row.items() if name.startswith(start)}


def _task(row: Mapping[str, Any]) -> Hashable:
    """Name the task by its id, which newer exports have, else by all that went in."""
    if row.get("ASSIGNMENT:task_id"):
        return str(row["ASSIGNMENT:task_id"])
    return " | ".join(str(cell or "") for cell in _columns(row, "INPUT:").values())


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    told = "ASSIGNMENT:task_id" in parts[0].header
    return {"item": "ASSIGNMENT:task_id"} if told else {}


FORMAT = ExportFormat(
    "Toloka", recognise, read, item="INPUT:*", annotator="ASSIGNMENT:worker_id", taken=_taken
)
