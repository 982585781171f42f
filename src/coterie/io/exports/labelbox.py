"""Labelbox: version 2 (NDJSON, one line per data row) and version 1 (JSON, one entry per label)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Other, Submission, Ticked
from coterie.io.exports.values import as_json, as_map, choice, is_true, maps_in, scalar
from coterie.io.reading import Reading
from coterie.words.numbers import count

DONE, REWORK = "done", "in rework"
"""Stages of a row in the workflow: reviewed, and sent back by a reviewer."""


def recognise(part: Part) -> bool:
    """Tell it by its keys."""
    first = {*part.first}
    return {"data_row", "projects"} <= first or {"DataRow ID", "Label"} <= {*first, *part.header}


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give labels; skipped ones do not count, the benchmark of a row is gold and counts, too."""
    for part in parts:
        for record in part.records():
            if "DataRow ID" in record:
                yield _of_version_1(record)
                continue
            for project in map(as_map, as_map(record.get("projects")).values()):
                stage = _stage(project)
                for label in maps_in(project.get("labels")):
                    one = _of_label(label, record)
                    strict = DONE in options.keep and stage != DONE and not one.status
                    yield one._replace(status=f"not {DONE}", gold=False) if strict else one


def _stage(project: Mapping[str, Any]) -> str:
    """Say where a row is in the workflow of a project: "in rework" if a reviewer sent it back."""
    told = as_map(project.get("project_details")).get("workflow_status")
    return str(told or "").lower().replace("_", " ")


def _of_label(label: Mapping[str, Any], record: Mapping[str, Any]) -> Submission:
    row, details = as_map(record.get("data_row")), as_map(label.get("label_details"))
    performance = as_map(label.get("performance_details"))
    annotations = as_map(label.get("annotations"))
    answers = _answers(annotations.get("classifications"))
    for thing in maps_in(annotations.get("objects")):
        answers.setdefault(str(thing.get("name")), Other.REGIONS)
    for frame in map(as_map, as_map(annotations.get("frames")).values()):  # of a video
        for name in _answers(frame.get("classifications")):
            answers.setdefault(name, Other.PER_REGION)
    reference = performance.get("benchmark_reference_label")
    benchmark = reference is not None and reference == label.get("id")
    skipped = is_true(performance.get("skipped"))
    blank = not answers and "skipped" not in performance  # nobody says whether it was submitted
    return Submission(
        scalar(row.get("id")),
        scalar(details.get("created_by")),
        answers,
        status="skipped" if skipped else "blank" if blank else "",
        gold=benchmark and not skipped,
        time=details.get("created_at"),
        seconds=performance.get("seconds_to_create"),
        fields=record,
    )


def _answers(classifications: Any, above: str = "") -> dict[str, Any]:
    """Give answers; a follow-up question is named by what it follows: ``sentiment > why``."""
    answers: dict[str, Any] = {}
    for one in maps_in(classifications):
        name = above + str(one.get("name") or one.get("value") or one.get("title"))
        chosen: list[Mapping[str, Any]] = []
        if "radio_answer" in one:
            chosen = [as_map(one["radio_answer"])]
            answers[name] = choice(chosen[0].get("name") or chosen[0].get("value"))
        elif "checklist_answers" in one:
            chosen = list(maps_in(one["checklist_answers"]))
            ticked = [scalar(option.get("name") or option.get("value")) for option in chosen]
            answers[name] = Ticked(option for option in ticked if option is not None)
        else:
            answers[name] = Other.TEXT
        for option in chosen:
            answers |= _answers(option.get("classifications"), f"{name} > ")
    return answers


def _of_version_1(record: Mapping[str, Any]) -> Submission:
    label = as_json(record.get("Label"))  # an object, as text in CSV
    found = as_map(label).get("classifications")
    answers: dict[str, Any] = {}
    for one in maps_in(found):
        name = str(one.get("value") or one.get("title"))
        if isinstance(one.get("answer"), Mapping):
            answers[name] = choice(one["answer"].get("title") or one["answer"].get("value"))
        elif isinstance(one.get("answers"), list):
            ticked = [scalar(x.get("title") or x.get("value")) for x in maps_in(one["answers"])]
            answers[name] = Ticked(option for option in ticked if option is not None)
        else:
            answers[name] = Other.TEXT
    for thing in maps_in(as_map(label).get("objects")):
        answers.setdefault(str(thing.get("title") or thing.get("value")), Other.REGIONS)
    skipped = is_true(record.get("Skipped"))
    # "Benchmark ID" is the label that this one is measured against: its own id on the benchmark.
    benchmark = record.get("Benchmark ID") not in (None, "") and record[
        "Benchmark ID"
    ] == record.get("ID")
    return Submission(
        scalar(record.get("DataRow ID")),
        scalar(record.get("Created By")),
        answers,
        status="skipped" if skipped else "rejected" if _rejected(record) else "",
        gold=benchmark and not skipped,
        time=record.get("Created At"),
        seconds=record.get("Seconds to Label"),
        fields=record,
    )


def _rejected(record: Mapping[str, Any]) -> bool:
    """Tell whether the last reviewer's thumb is down."""
    told = as_json(record.get("Reviews"))
    reviews = sorted(maps_in(told), key=lambda one: str(one.get("createdAt")))
    score = scalar(reviews[-1].get("score")) if reviews else None
    return isinstance(score, (int, float)) and score < 0


def _notes(parts: Sequence[Part], options: Reading) -> list[str]:
    marked = sum(one.gold for one in read(parts, options))
    what = count(marked, "benchmark label")
    notes = [f"{what} counted as gold, and as labels of their authors"] if marked else []
    sent_back = sum(
        _stage(project) == REWORK and bool(project.get("labels"))
        for part in parts
        for record in part.records()
        for project in map(as_map, as_map(record.get("projects")).values())
    )
    if sent_back and DONE not in options.keep:
        rows = count(sent_back, "row")
        notes.append(f"labels of {rows} {REWORK} counted, too (keep {DONE!r}: finished rows only)")
    return notes


FORMAT = ExportFormat(
    "Labelbox", recognise, read, item="data_row.id", annotator="created_by", notes=_notes
)
