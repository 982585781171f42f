"""Amazon Mechanical Turk batch results (and Turkle): one row per assignment."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission, Ticked
from coterie.io.exports.values import as_json, as_list, as_map, choice, maps_in, scalar, told_in
from coterie.io.reading import Reading

_ANSWER = "Answer."
_JSON = "taskAnswers"
_TURKLE = "Turkle.Username"
CHECK_BOXES = "check boxes"
"""The question that a group of ``Answer.*.on`` columns is."""


def recognise(part: Part) -> bool:
    """Tell it by the ids of the HIT and the worker, and columns of answers."""
    columns = {*part.header}
    answers = any(column.startswith(_ANSWER) for column in columns)
    return answers and {"HITId", "WorkerId"} <= columns


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give assignments; rejected ones, also those marked for rejection, do not count."""
    for part in parts:
        person = _TURKLE if _TURKLE in part.header else "WorkerId"
        rows = list(part.records())
        flags = _flags(rows)
        for row in rows:
            yield Submission(
                row.get("HITId"),
                row.get(person) or row.get("WorkerId"),
                _answers(row, flags),
                status=_status(row),
                time=row.get("SubmitTime") or row.get("AcceptTime"),
                seconds=row.get("WorkTimeInSeconds"),
                fields=row,
            )


def _status(row: Mapping[str, Any]) -> str:
    status = str(row.get("AssignmentStatus") or "").strip()
    if row.get("Reject") or status.lower() == "rejected":
        return "Rejected"
    return "" if status.lower() in ("", "approved", "submitted", "completed") else status


def _flags(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Find columns of one question: ``Answer.tone.good`` and ``Answer.tone.bad``, true or false."""
    said: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for column, cell in row.items():
            if cell is not None and column.startswith(_ANSWER) and column.count(".") > 1:
                said[column].add(str(cell).lower())
    found = [column for column, words in said.items() if words <= {"true", "false"}]
    size = Counter(column.rpartition(".")[0] for column in found)
    return {column for column in found if size[column.rpartition(".")[0]] > 1}


def _answers(row: Mapping[str, Any], flags: Collection[str]) -> dict[str, Any]:
    """Give the answers: form fields, crowd-classifiers, groups of check boxes, and JSON."""
    answers: dict[str, Any] = {}
    boxes: dict[str, Any] = {}
    for column, cell in row.items():
        if not column.startswith(_ANSWER):
            continue
        name = column.removeprefix(_ANSWER)
        if name == _JSON:
            answers |= _of_json(cell)
        elif column in flags:
            boxes[name] = cell
        elif name.endswith(".on"):
            boxes[name.removesuffix(".on")] = cell
        elif name.endswith(".labels"):
            answers[name.removesuffix(".labels")] = Ticked(as_list(told_in(cell)))
        else:
            declared = name.endswith(".label")
            answers[name.removesuffix(".label")] = choice(cell) if declared else _several(cell)
    for group, options in _groups(boxes).items():
        answers[group] = options
    return answers


def _several(cell: Any) -> Any:
    """Tell several options in a cell, which older forms join by ``|``, from one."""
    if isinstance(cell, str) and re.fullmatch(r"[^|]+(\|[^|]+)+", cell):
        return cell.split("|")
    return told_in(cell)


def _groups(boxes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Put check boxes together: ``animal.cat`` and ``animal.dog`` are options of animal."""
    groups: dict[str, dict[str, Any]] = {}
    for name, cell in boxes.items():
        group, _, option = name.rpartition(".")
        groups.setdefault(group or CHECK_BOXES, {})[option] = cell
    return groups


def _of_json(cell: Any) -> dict[str, Any]:
    """Read ``[{"animal": {"cat": true}, "quality": {"label": "good"}}]``."""
    found = as_json(cell)
    answers: dict[str, Any] = {}
    for task in maps_in(found if isinstance(found, list) else [found]):
        for name, said in task.items():
            answers[name] = _said(said)
    return answers


def _said(said: Any) -> Any:
    if not isinstance(said, Mapping):
        return scalar(said)
    if "label" in said or "labels" in said:
        labels = said.get("labels")
        return list(labels) if isinstance(labels, list) else choice(said.get("label"))
    boxes = {name: as_map(box).get("on", box) for name, box in said.items()}
    if not all(isinstance(on, bool) for on in boxes.values()):
        return None
    words = {name: "true" if on else "false" for name, on in boxes.items()}
    return words["on"] if set(words) == {"on"} else words  # {"on": true} is one box by itself


def _notes(parts: Sequence[Part], options: Reading) -> list[str]:
    amazon = any(_TURKLE not in part.header for part in parts)
    said = "worker ids lead to public profiles: anonymise before you pass results on"
    return [said] if amazon and not options.anonymise else []


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    return {"annotator": _TURKLE} if _TURKLE in parts[0].header else {}


FORMAT = ExportFormat(
    "Mechanical Turk",
    recognise,
    read,
    item="HITId",
    annotator="WorkerId",
    notes=_notes,
    taken=_taken,
)
