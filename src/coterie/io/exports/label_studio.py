"""Label Studio: JSON (tasks with annotations), before 1.0 (completions), JSON-MIN and CSV."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.io.exports.label_studio_flat import is_flat, read_flat
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Other, Submission
from coterie.io.exports.values import as_list, as_map, is_true, maps_in, scalar, ticked
from coterie.io.reading import Reading

_OTHER = {
    "textarea": Other.TEXT,
    "number": Other.NUMBER,
    "datetime": Other.TEXT,
    "ranker": Other.RANKING,
    "relation": Other.RELATIONS,
    "labels": Other.SPANS,
    "hypertextlabels": Other.SPANS,
    "paragraphlabels": Other.SPANS,
    "timeserieslabels": Other.SPANS,
}
CONTROLS = "controls"
PREDICTIONS = "predictions"
"""The key of what models say, the word that asks for it, and why it does not count otherwise."""
_PLACES = {"start", "x", "y", "points", "rle", "globalOffsets"}
"""Keys of a value that is tied to a region."""


def recognise(part: Part) -> bool:
    """Tell tasks by their annotations (or completions), flat files by their columns."""
    first = part.first
    task = isinstance(first.get("data"), Mapping) and isinstance(first.get("annotations"), list)
    stored = isinstance(first.get("result"), list) and isinstance(first.get("task"), Mapping)
    return task or stored or isinstance(first.get("completions"), list) or is_flat(part)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give annotations, and drafts and predictions as what does not count."""
    for part in parts:
        if is_flat(part):
            yield from read_flat(part, options.question)
            continue
        for record in part.records():
            task = {**record["task"], "annotations": [record]} if "task" in record else record
            yield from _of_task(part, task, options)


def _of_task(part: Part, task: Mapping[str, Any], options: Reading) -> Iterator[Submission]:
    given = task.get("annotations", task.get("completions"))
    if not isinstance(given, list):
        raise DataError(f"task {task.get('id')!r} of {part.name} has no list of annotations")
    item = scalar(task.get("id"))
    fields = {"data": as_map(task.get("data")), "meta": as_map(task.get("meta")), "file": part.stem}
    fields[CONTROLS] = _controls(given)
    if options.annotators != PREDICTIONS:
        for annotation in maps_in(given):
            gold = is_true(annotation.get("ground_truth")) or is_true(annotation.get("honeypot"))
            status = _status(annotation, options)
            yield Submission(
                item,
                _person(annotation, None if "annotations" in task else part.stem),
                _answers(annotation.get("result")),
                status=status or ("ground_truth" if gold else ""),
                gold=gold and not status,
                time=annotation.get("created_at", annotation.get("created_ago")),
                seconds=annotation.get("lead_time"),
                fields=fields,
            )
    for draft in as_list(task.get("drafts")):
        told = as_map(draft)
        answers = _answers(told.get("result"))
        yield Submission(item, scalar(told.get("user")), answers, "drafts", fields=fields)
    yield from _predictions(task, item, fields, options)


def _controls(annotations: Sequence[Any]) -> dict[str, tuple[str, str]]:
    """Give what each control is about, and its type: what goes back must say so, too."""
    entries = [one for each in maps_in(annotations) for one in maps_in(each.get("result"))]
    return {
        str(one.get("from_name")): (str(one.get("to_name", "text")), str(one.get("type")))
        for one in entries
    }


def _predictions(
    task: Mapping[str, Any], item: Hashable, fields: Mapping[str, Any], options: Reading
) -> Iterator[Submission]:
    """Give predictions: a panel of models if it is asked for."""
    asked = options.annotators == PREDICTIONS
    for prediction in maps_in(task.get(PREDICTIONS)):
        yield Submission(
            item,
            scalar(prediction.get("model_version")) or "no version",
            _answers(prediction.get("result")),
            status="" if asked else PREDICTIONS,
            time=prediction.get("created_at"),
            fields=fields,
        )


def _status(annotation: Mapping[str, Any], options: Reading) -> str:
    """Say why an annotation does not count: it was skipped, or a reviewer's last word is no."""
    if is_true(annotation.get("was_cancelled")) or is_true(annotation.get("skipped")):
        return "skipped"
    reviews = sorted(maps_in(annotation.get("reviews")), key=lambda one: str(one.get("created_at")))
    if reviews and reviews[-1].get("accepted") is False:
        return "rejected"
    accepted = bool(reviews) and is_true(reviews[-1].get("accepted"))
    return "not accepted" if "accepted" in options.keep and not accepted else ""


def _person(annotation: Mapping[str, Any], file: str | None) -> Any:
    """Name who made an annotation, by number where there is one: an e-mail says more.

    Before 1.0 there was one person per server, and completions may name nobody: then the file does.
    """
    person = annotation.get("completed_by", annotation.get("created_username"))
    if isinstance(person, Mapping):
        person = person.get("id", person.get("email"))
    return file if person is None else scalar(person)


def _answers(result: Any) -> dict[str, Any]:
    """Give the answer to each control; the regions and answers of all are mixed in one list."""
    entries = list(maps_in(result))
    regions = {scalar(entry.get("id")) for entry in entries if _is_region(entry)} - {None}
    answers: dict[str, Any] = {}
    for entry in entries:
        name = str(entry.get("from_name") or entry.get("type") or "answer")
        answer = _answer(entry, regions)
        before = answers.get(name)
        both = isinstance(before, list) and isinstance(answer, list)
        answers[name] = [*before, *answer] if both else answer  # type: ignore[misc]
    return answers


def _is_region(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("type")).endswith("labels")


def _answer(entry: Mapping[str, Any], regions: Iterable[Any]) -> Any:
    kind, value = str(entry.get("type")), as_map(entry.get("value"))
    if kind in _OTHER or _is_region(entry):
        return _OTHER.get(kind, Other.REGIONS)
    if kind == "choices" or kind == "taxonomy":
        if scalar(entry.get("id")) in regions or not _PLACES.isdisjoint(value):
            return Other.PER_REGION
        return _paths(value.get("taxonomy")) if kind == "taxonomy" else ticked(value.get("choices"))
    if kind == "rating":
        return scalar(value.get("rating"))
    if kind == "pairwise":
        return scalar(value.get("selected"))
    return Other.REGIONS


def _paths(taxonomy: Any) -> list[Hashable]:
    """Write a path through a taxonomy as a text: ``Killed > Feloniously Killed``."""
    return [
        " > ".join(map(str, path if isinstance(path, list) else [path]))
        for path in as_list(taxonomy)
    ]


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    if is_flat(parts[0]):
        return {"annotator": "annotator"}
    if options.annotators == PREDICTIONS:
        return {"annotator": "model_version"}
    first = next(maps_in(parts[0].first.get("completions")), {})
    if not first or "completed_by" in first:
        return {}
    return {"annotator": "created_username" if "created_username" in first else "file name"}


FORMAT = ExportFormat(
    "Label Studio", recognise, read, item="id", annotator="completed_by", taken=_taken
)
