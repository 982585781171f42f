"""Zooniverse classifications: one row per classification, its tasks as JSON in a cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.data.moments import elapsed
from coterie.errors import Argument, DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Other, Submission
from coterie.io.exports.values import MISSING, as_json, as_map, is_true, maps_in, scalar
from coterie.io.reading import Reading
from coterie.words.numbers import count
from coterie.words.values import join

_BLANK = (None, "", "NA")
_PLACES = frozenset({"x", "y", "tool", "frame", "points"})
"""Keys of what is drawn."""


def recognise(part: Part) -> bool:
    """Tell it by the ids and the cell of annotations."""
    return {"classification_id", "subject_ids", "annotations"} <= {*part.header}


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give classifications; an expert's answer is gold."""
    rows = [row for part in parts for row in part.records()]
    rows = _of_workflow(rows, options)
    wordings: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        gold = is_true(row.get("gold_standard"))
        tasks = list(_tasks(as_json(row.get("annotations"))))
        for task in tasks:
            if scalar(task.get("task_label")) is not None:
                version = str(row.get("workflow_version"))
                wordings[str(task.get("task"))][str(task["task_label"])] = version
        told = as_json(row.get("metadata"))
        metadata = as_map(None if told is MISSING else told)
        yield Submission(
            row.get("subject_ids"),
            row.get("user_name"),
            {str(task.get("task")): _answer(task.get("value")) for task in tasks},
            status="gold_standard" if gold else "",
            gold=gold,
            time=row.get("created_at"),
            seconds=elapsed(metadata.get("started_at"), metadata.get("finished_at")),
            fields=row,
            asks_all=False,
        )
    _refuse_wordings(wordings, options)


def _of_workflow(rows: list[dict[str, Any]], options: Reading) -> list[dict[str, Any]]:
    """Keep one workflow: T2 of another one is another question."""
    names = {str(row.get("workflow_id")): str(row.get("workflow_name")) for row in rows}
    if options.workflow is not None:
        asked = str(options.workflow)
        kept = [r for r in rows if asked in (str(r.get("workflow_id")), r.get("workflow_name"))]
        if kept:
            return kept
    if len(names) > 1 or options.workflow is not None:
        told = [f"{key} ({name})" for key, name in names.items()]
        raise DataError(
            f"the export holds {count(len(names), 'workflow')}, {join(told)}",
            argument="workflow",
            remedy=["pass ", Argument("workflow", next(iter(names), None))],
        )
    return rows


def _refuse_wordings(wordings: Mapping[str, Mapping[str, str]], options: Reading) -> None:
    """Refuse a task whose wording changed: the same key is then another question."""
    asked = options.question or (next(iter(wordings)) if len(wordings) == 1 else None)
    said = wordings.get(str(asked), {})
    if len(said) > 1:
        told = [f"{wording!r} (version {version})" for wording, version in said.items()]
        raise DataError(
            f"task {asked} was worded in {len(said)} ways, {join(told)}: these are several "
            "questions; keep the rows of one workflow_version"
        )


def _tasks(found: Any) -> Iterator[Mapping[str, Any]]:
    """Give the tasks of a cell, those inside a combination too."""
    for task in maps_in(found):
        inside = [one for one in maps_in(task.get("value")) if "task" in one and "value" in one]
        if inside:
            yield from _tasks(inside)
        else:
            yield task


def _answer(value: Any) -> Any:
    """Read a question's text, several texts, or the choices of a survey; drawings are no choice."""
    if isinstance(value, list):
        entries = list(maps_in(value))
        if entries and all("choice" in entry for entry in entries):
            return [
                one for one in (scalar(entry["choice"]) for entry in entries) if one is not None
            ]
        if entries:
            if any("value" not in entry or not _PLACES.isdisjoint(entry) for entry in entries):
                return Other.REGIONS
            chosen = (scalar(entry["value"]) for entry in entries)  # of drop-down menus
            return [one for one in chosen if one is not None]
        return [one for one in map(scalar, value) if one not in _BLANK]
    return Other.REGIONS if isinstance(value, Mapping) else scalar(value)


FORMAT = ExportFormat(
    "Zooniverse", recognise, read, item="subject_ids", annotator="user_name", stray=0.05
)
