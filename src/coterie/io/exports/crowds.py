"""Crowds at work: CrowdFlower, Mechanical Turk, SageMaker Ground Truth, Toloka, Zooniverse."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.data.columns import elapsed
from coterie.errors import Argument, DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import (
    MISSING,
    ExportFormat,
    Other,
    Submission,
    Ticked,
    as_json,
    as_list,
    as_map,
    choice,
    is_true,
    maps_in,
    scalar,
    ticked,
    told_in,
)
from coterie.io.reading import Reading
from coterie.words.numbers import count
from coterie.words.values import join, written

Record = Mapping[str, Any]

# CrowdFlower, Figure Eight, Appen: the full report, one row per judgment, and the JSON report.
_GOLD = "_gold"
_OWN = ("worker_id", "created_at", "started_at", "golden", "tainted", "trust")
"""What the platform says of a judgment; the full report has it with an underscore."""


def _is_crowdflower(part: Part) -> bool:
    """Tell it by the columns of the unit and the worker; the aggregated report has no worker."""
    mark = {"_worker_id", "_unit_state", "_trusted_judgments"} & {*part.header}
    return _is_json_report(part) or ("_unit_id" in part.header and bool(mark))


def _is_json_report(part: Part) -> bool:
    return isinstance(as_map(part.first.get("results")).get("judgments"), list)


def _crowdflower(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give judgments; tainted ones count, since models weigh workers themselves."""
    for part in parts:
        if not _is_json_report(part) and "_worker_id" not in part.header:
            raise DataError(
                f"{part.name} is the aggregated report, which has no workers; download the full "
                "report"
            )
        rows = _judgments(part)
        known = options.question is not None and any(options.question in row for row in rows)
        names = [str(options.question)] if known else _answer_columns(part, rows)
        split = {name for name in names if any(_has_lines(row.get(name)) for row in rows)}
        for row in rows:
            tainted = is_true(row.get("_tainted")) and "trusted" in options.keep
            gold = names if is_true(row.get("_golden")) else []
            told = {name: row.get(f"{name}{_GOLD}") for name in gold}  # several are no single truth
            yield Submission(
                row.get("_unit_id"),
                row.get("_worker_id"),
                {name: _lines(row.get(name)) if name in split else row.get(name) for name in names},
                status="tainted" if tainted else "",
                known={
                    name: _lines(cell) if name in split or _has_lines(cell) else cell
                    for name, cell in told.items()
                    if cell is not None
                },
                time=row.get("_created_at"),
                seconds=elapsed(row.get("_started_at"), row.get("_created_at")),
                fields=row,
            )


def _judgments(part: Part) -> list[dict[str, Any]]:
    """Give judgments as the full report has them: those of a unit stand together in JSON."""
    if not _is_json_report(part):
        return list(part.records())
    rows = []
    for unit in part.records():
        given = {"_unit_id": str(unit.get("id")), **_as_cells(unit.get("data"))}
        for judgment in maps_in(as_map(unit.get("results")).get("judgments")):
            own = _as_cells({f"_{name}": judgment.get(name) for name in _OWN})
            rows.append({**given, **own, **_as_cells(judgment.get("data"))})
    return rows


def _as_cells(data: Any) -> dict[str, Any]:
    """Write values as cells of the full report have them: several answers are lines."""
    cells: dict[str, Any] = {}
    for name, value in as_map(data).items():
        found = "\n".join(map(str, ticked(value))) if isinstance(value, list) else scalar(value)
        cells[str(name)] = None if found in (None, "") else str(found)
    return cells


def _answer_columns(part: Part, rows: Sequence[Record]) -> list[str]:
    """Find the columns that are answers: they have no mark, but vary within a unit."""
    seen: dict[str, dict[Any, set[Any]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        for name, cell in row.items():
            if not name.startswith("_") and not name.endswith((_GOLD, "_gold_reason")):
                seen[name][row.get("_unit_id")].add(cell)
    vary = [name for name, units in seen.items() if any(len(said) > 1 for said in units.values())]
    found = vary or [name for name in seen if rows and f"{name}{_GOLD}" in rows[0]]
    if rows and not found:
        raise DataError(
            f"{part.name} does not say which columns are answers, and nobody disagrees; its "
            f"columns are {written(seen)}",
            argument="question",
            remedy=["pass ", Argument("question"), " with one of them"],
        )
    return found


def _has_lines(cell: Any) -> bool:
    return isinstance(cell, str) and ("\n" in cell.strip() or cell.startswith("["))


def _lines(cell: Any) -> list[Any]:
    """Give the options of a cell: lines, or a JSON list."""
    if cell is None:
        return []
    found = as_json(cell) if cell.startswith("[") else MISSING
    lines = [line.strip() for line in cell.splitlines() if line.strip()]
    return ticked(found) if isinstance(found, list) else lines


def _notes_of_crowdflower(parts: Sequence[Part], options: Reading) -> list[str]:
    tainted = sum(is_true(row.get("_tainted")) for part in parts for row in _judgments(part))
    if not tainted or "trusted" in options.keep:
        return []
    return [f"{count(tainted, 'judgment')} of workers that were not trusted counted, too"]


# Amazon Mechanical Turk batch results (and Turkle): one row per assignment.
_ANSWER = "Answer."
_TURKLE = "Turkle.Username"


def _mturk(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give assignments; rejected ones, also those marked for rejection, do not count."""
    for part in parts:
        person = _TURKLE if _TURKLE in part.header else "WorkerId"
        rows = list(part.records())
        flags = _flags(rows)
        for row in rows:
            status = str(row.get("AssignmentStatus") or "").strip()
            counts = status.lower() in ("", "approved", "submitted", "completed")
            rejected = row.get("Reject") or status.lower() == "rejected"
            yield Submission(
                row.get("HITId"),
                row.get(person) or row.get("WorkerId"),
                _mturk_answers(row, flags),
                status="Rejected" if rejected else "" if counts else status,
                time=row.get("SubmitTime") or row.get("AcceptTime"),
                seconds=row.get("WorkTimeInSeconds"),
                fields=row,
            )


def _flags(rows: Sequence[Record]) -> set[str]:
    """Find columns of one question: ``Answer.tone.good`` and ``Answer.tone.bad``, true or false."""
    said: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for column, cell in row.items():
            if cell is not None and column.startswith(_ANSWER) and column.count(".") > 1:
                said[column].add(str(cell).lower())
    found = [column for column, words in said.items() if words <= {"true", "false"}]
    size = Counter(column.rpartition(".")[0] for column in found)
    return {column for column in found if size[column.rpartition(".")[0]] > 1}


def _mturk_answers(row: Record, flags: Collection[str]) -> dict[str, Any]:
    """Give the answers: form fields, crowd-classifiers, groups of check boxes, and JSON."""
    answers: dict[str, Any] = {}
    boxes: dict[str, dict[str, Any]] = {}  # animal.cat and animal.dog are options of animal
    for column, cell in row.items():
        if not column.startswith(_ANSWER):
            continue
        name = column.removeprefix(_ANSWER)
        if name == "taskAnswers":  # [{"animal": {"cat": true}, "quality": {"label": "good"}}]
            found = as_json(cell)
            for task in maps_in(found if isinstance(found, list) else [found]):
                answers |= {question: _of_element(said) for question, said in task.items()}
        elif column in flags or name.endswith(".on"):
            group, _, option = (name if column in flags else name[:-3]).rpartition(".")
            boxes.setdefault(group or "check boxes", {})[option] = cell
        elif name.endswith(".labels"):
            answers[name.removesuffix(".labels")] = Ticked(as_list(told_in(cell)))
        elif name.endswith(".label"):
            answers[name.removesuffix(".label")] = choice(cell)
        else:  # older forms join several options by |
            joined = isinstance(cell, str) and re.fullmatch(r"[^|]+(\|[^|]+)+", cell)
            answers[name] = str(cell).split("|") if joined else told_in(cell)
    return answers | boxes


def _of_element(said: Any) -> Any:
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


def _notes_of_mturk(parts: Sequence[Part], options: Reading) -> list[str]:
    amazon = any(_TURKLE not in part.header for part in parts)
    said = "worker ids lead to public profiles: anonymise before you pass results on"
    return [said] if amazon and not options.anonymise else []


# SageMaker Ground Truth: consolidation requests and worker responses.
_REGIONS = {"annotatedResult", "boundingBoxes", "polygons", "keypoints", "labeledImage", "entities"}


def _is_sagemaker(part: Part) -> bool:
    first = part.first
    response = any("answerContent" in answer for answer in maps_in(first.get("answers")))
    return {"datasetObjectId", "annotations"} <= {*first} or response or is_manifest(first)


def is_manifest(first: Record) -> bool:
    """Tell an output manifest, which holds the consensus, by its source and metadata."""
    source = "source" in first or "source-ref" in first
    return source and any(name.endswith("-metadata") for name in first)


def _sagemaker(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give workers' answers; a request repeats the responses that it consolidates."""
    given = [part for part in parts if not is_manifest(part.first)]
    responses = [part for part in given if "answers" in part.first]
    for part in responses or given or parts:
        if is_manifest(part.first):
            raise DataError(
                f"{part.name} is an output manifest: it holds the consensus and no annotators; "
                "name the folder annotations/worker-response, or the request to the consolidation"
            )
        for record in part.records():
            for answer in maps_in(record.get("answers")):  # one item, named by its folder
                yield Submission(
                    part.folders[-1] if part.folders else part.stem,
                    scalar(answer.get("workerId")),
                    _of_content(answer.get("answerContent")),
                    time=answer.get("submissionTime"),
                    seconds=answer.get("timeSpentInSeconds"),
                )
            for one in maps_in(record.get("annotations")) if "answers" not in record else ():
                yield Submission(
                    scalar(record.get("datasetObjectId")),
                    scalar(one.get("workerId")),
                    _of_content(as_map(one.get("annotationData")).get("content")),
                    fields=as_map(record.get("dataObject")),
                )


def manifest_labels(part: Part, items: Collection[Hashable] = ()) -> dict[Hashable, Hashable]:
    """Give the classes of an output manifest, by the source of the item.

    Items that are none of its sources are its lines, counted from 0: ``datasetObjectId``.
    """
    labels: dict[Hashable, Hashable] = {}
    by_line: dict[Hashable, Hashable] = {}
    for place, record in enumerate(part.records()):
        item = scalar(record.get("source", record.get("source-ref")))
        told = [as_map(told) for key, told in record.items() if key.endswith("-metadata")]
        said = ticked([one.get("class-name") for one in told])
        if item is not None and len(said) == 1:
            labels[item] = by_line[str(place)] = said[0]
    return by_line if items and labels.keys().isdisjoint(items) else labels


def _of_content(content: Any) -> dict[str, Any]:
    """Read the answers to all elements of a page, JSON inside a text."""
    return {name: _of_crowd_element(said) for name, said in as_map(as_json(content)).items()}


def _of_crowd_element(said: Any) -> Any:
    """Read one element's answer: a label, labels, or what is drawn."""
    if not isinstance(said, Mapping):
        return scalar(said)
    if not _REGIONS.isdisjoint(said):
        return Other.REGIONS
    if isinstance(said.get("labels"), list):
        return Ticked(ticked(said["labels"]))
    if "label" in said:
        return choice(said["label"])
    on = {name: "yes" if is_true(value) else "no" for name, value in said.items()}
    return on if on and all(isinstance(value, bool) for value in said.values()) else Other.REGIONS


# Toloka assignments: one row per task and worker, a row of tabs after each page.
def _toloka(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give answers to tasks; control tasks tell what is known of them."""
    for part in parts:
        for row in part.records():
            status = str(row.get("ASSIGNMENT:status") or "").strip().upper()
            counts = status in ("", "APPROVED", "ACCEPTED", "SUBMITTED")
            rejected = str(row.get("ACCEPT:verdict") or "").strip() == "-"
            given = " | ".join(str(cell or "") for cell in _columns(row, "INPUT:").values())
            golden = _columns(row, "GOLDEN:").items()
            yield Submission(
                str(row.get("ASSIGNMENT:task_id") or given),  # older exports have no ids
                row.get("ASSIGNMENT:worker_id"),
                {name: told_in(cell) for name, cell in _columns(row, "OUTPUT:").items()},
                status="REJECTED" if rejected else "" if counts else status,
                known={name: told_in(cell) for name, cell in golden if cell is not None},
                time=row.get("ASSIGNMENT:submitted") or row.get("ASSIGNMENT:started"),
                fields=row,
            )


def _columns(row: Record, start: str) -> dict[str, Any]:
    return {name.removeprefix(start): cell for name, cell in row.items() if name.startswith(start)}


# Zooniverse classifications: one row per classification, its tasks as JSON in a cell.
_DRAWN = frozenset({"x", "y", "tool", "frame", "points"})


def _zooniverse(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give classifications; an expert's answer is gold."""
    rows = _of_workflow([row for part in parts for row in part.records()], options)
    wordings: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        gold = is_true(row.get("gold_standard"))
        tasks = list(_tasks(as_json(row.get("annotations"))))
        for task in tasks:
            if scalar(task.get("task_label")) is not None:
                version = str(row.get("workflow_version"))
                wordings[str(task.get("task"))][str(task["task_label"])] = version
        metadata = as_map(as_json(row.get("metadata")))
        yield Submission(
            row.get("subject_ids"),
            row.get("user_name"),
            {str(task.get("task")): _of_task(task.get("value")) for task in tasks},
            status="gold_standard" if gold else "",
            gold=gold,
            time=row.get("created_at"),
            seconds=elapsed(metadata.get("started_at"), metadata.get("finished_at")),
            fields=row,
            asks_all=False,
        )
    # A task whose wording changed is another question, of the same key.
    asked = options.question or (next(iter(wordings)) if len(wordings) == 1 else None)
    said = wordings.get(str(asked), {})
    if len(said) > 1:
        told = [f"{wording!r} (version {version})" for wording, version in said.items()]
        raise DataError(
            f"task {asked} was worded in {len(said)} ways, {join(told)}: these are several "
            "questions; keep the rows of one workflow_version"
        )


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


def _tasks(found: Any) -> Iterator[Record]:
    """Give the tasks of a cell, those inside a combination too."""
    for task in maps_in(found):
        inside = [one for one in maps_in(task.get("value")) if "task" in one and "value" in one]
        if inside:
            yield from _tasks(inside)
        else:
            yield task


def _of_task(value: Any) -> Any:
    """Read a question's text, several texts, or the choices of a survey; drawings are no choice."""
    if not isinstance(value, list):
        return Other.REGIONS if isinstance(value, Mapping) else scalar(value)
    entries = list(maps_in(value))
    if entries and all("choice" in entry for entry in entries):
        return ticked([entry["choice"] for entry in entries])
    if any("value" not in entry or not _DRAWN.isdisjoint(entry) for entry in entries):
        return Other.REGIONS
    if entries:  # drop-down menus
        return ticked([entry["value"] for entry in entries])
    return [one for one in ticked(value) if one != "NA"]


CROWDFLOWER = ExportFormat(
    "CrowdFlower",
    _is_crowdflower,
    _crowdflower,
    item="_unit_id",
    annotator="_worker_id",
    notes=_notes_of_crowdflower,
)
MTURK = ExportFormat(
    "Mechanical Turk",
    lambda part: (
        {"HITId", "WorkerId"} <= {*part.header}
        and any(column.startswith(_ANSWER) for column in part.header)
    ),
    _mturk,
    item="HITId",
    annotator="WorkerId",
    notes=_notes_of_mturk,
    taken=lambda parts, _: {"annotator": _TURKLE} if _TURKLE in parts[0].header else {},
)
SAGEMAKER = ExportFormat(
    "SageMaker Ground Truth",
    _is_sagemaker,
    _sagemaker,
    item="datasetObjectId",
    annotator="workerId",
)
_TASK_ID = "ASSIGNMENT:task_id"
TOLOKA = ExportFormat(
    "Toloka",
    lambda part: "ASSIGNMENT:worker_id" in part.header,
    _toloka,
    item="INPUT:*",
    annotator="ASSIGNMENT:worker_id",
    taken=lambda parts, _: {"item": _TASK_ID} if _TASK_ID in parts[0].header else {},
)
ZOONIVERSE = ExportFormat(
    "Zooniverse",
    lambda part: {"classification_id", "subject_ids", "annotations"} <= {*part.header},
    _zooniverse,
    item="subject_ids",
    annotator="user_name",
    stray=0.05,
)
