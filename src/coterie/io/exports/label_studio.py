"""Label Studio: JSON (tasks with annotations), before 1.0 (completions), JSON-MIN and CSV."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import Argument, DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import (
    MISSING,
    ExportFormat,
    Other,
    Submission,
    as_json,
    as_list,
    as_map,
    is_true,
    maps_in,
    scalar,
    ticked,
    typed,
)
from coterie.io.reading import Reading
from coterie.words.values import written

Record = Mapping[str, Any]
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
_OWN = {"annotation_id", "annotator", "lead_time"}
"""Columns that the platform adds to a flat file: one record per annotation."""
_PLATFORM = _OWN | {"id", "created_at", "updated_at", "agreement"}


def _recognise(part: Part) -> bool:
    """Tell tasks by their annotations (or completions), flat files by their columns."""
    first = part.first
    task = isinstance(first.get("data"), Mapping) and isinstance(first.get("annotations"), list)
    stored = isinstance(first.get("result"), list) and isinstance(first.get("task"), Mapping)
    return task or stored or isinstance(first.get("completions"), list) or _is_flat(part)


def _is_flat(part: Part) -> bool:
    return {*part.first} >= _OWN or {*part.header} >= _OWN


def _read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give annotations, and drafts and predictions as what does not count."""
    for part in parts:
        if _is_flat(part):
            yield from _of_flat(part, options.question)
            continue
        for record in part.records():
            task = {**record["task"], "annotations": [record]} if "task" in record else record
            yield from _of_task(part, task, options)


def _of_task(part: Part, task: Record, options: Reading) -> Iterator[Submission]:
    given = task.get("annotations", task.get("completions"))
    if not isinstance(given, list):
        raise DataError(f"task {task.get('id')!r} of {part.name} has no list of annotations")
    item, models = scalar(task.get("id")), options.annotators == PREDICTIONS
    entries = [one for each in maps_in(given) for one in maps_in(each.get("result"))]
    fields = {
        "data": as_map(task.get("data")),
        "meta": as_map(task.get("meta")),
        "file": part.stem,
        CONTROLS: {  # what each is about, and its type: what goes back must say so, too
            str(one.get("from_name")): (str(one.get("to_name", "text")), str(one.get("type")))
            for one in entries
        },
    }
    for annotation in () if models else maps_in(given):
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
    for draft in map(as_map, as_list(task.get("drafts"))):
        answers = _answers(draft.get("result"))
        yield Submission(item, scalar(draft.get("user")), answers, "drafts", fields=fields)
    for prediction in maps_in(task.get(PREDICTIONS)):
        yield Submission(
            item,
            scalar(prediction.get("model_version")) or "no version",
            _answers(prediction.get("result")),
            status="" if models else PREDICTIONS,
            time=prediction.get("created_at"),
            fields=fields,
        )


def _status(annotation: Record, options: Reading) -> str:
    """Say why an annotation does not count: it was skipped, or a reviewer's last word is no."""
    if is_true(annotation.get("was_cancelled")) or is_true(annotation.get("skipped")):
        return "skipped"
    reviews = sorted(maps_in(annotation.get("reviews")), key=lambda one: str(one.get("created_at")))
    if reviews and reviews[-1].get("accepted") is False:
        return "rejected"
    accepted = bool(reviews) and is_true(reviews[-1].get("accepted"))
    return "not accepted" if "accepted" in options.keep and not accepted else ""


def _person(annotation: Record, file: str | None) -> Any:
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
        answer, before = _answer(entry, regions), answers.get(name)
        both = isinstance(before, list) and isinstance(answer, list)
        answers[name] = [*as_list(before), *answer] if both else answer
    return answers


def _is_region(entry: Record) -> bool:
    return str(entry.get("type")).endswith("labels")


def _answer(entry: Record, regions: Collection[Any]) -> Any:
    kind, value = str(entry.get("type")), as_map(entry.get("value"))
    if kind in _OTHER or _is_region(entry):
        return _OTHER.get(kind, Other.REGIONS)
    if kind in ("choices", "taxonomy"):
        if scalar(entry.get("id")) in regions or not _PLACES.isdisjoint(value):
            return Other.PER_REGION
        return _paths(value.get("taxonomy")) if kind == "taxonomy" else ticked(value.get("choices"))
    named = {"rating": "rating", "pairwise": "selected"}.get(kind)
    return Other.REGIONS if named is None else scalar(value.get(named))


def _paths(taxonomy: Any) -> list[Hashable]:
    """Write paths through a taxonomy as texts: ``Killed > Feloniously Killed``."""
    return [" > ".join(map(str, as_list(path) or [path])) for path in as_list(taxonomy)]


def _of_flat(part: Part, asked: str | None) -> Iterator[Submission]:
    """Give annotations; those that were skipped are not in such a file, nor is what is gold."""
    records = list(part.records())
    known = asked is not None and any(asked in record for record in records)
    names = [str(asked)] if known else _answer_columns(part, records)
    several = {
        name for name in names if any(_choices(one.get(name)) is not None for one in records)
    }
    for record in records:
        answers = {}
        for name in names:  # where nobody has several, texts may be written ones
            cell, told = record.get(name), _of_cell(record.get(name))
            answers[name] = cell if told == [cell] and name not in several else told
        yield Submission(
            scalar(record.get("id")),
            scalar(record.get("annotator")),
            answers,
            time=record.get("created_at"),
            seconds=record.get("lead_time"),
            fields={"data": {k: v for k, v in record.items() if k not in names}, "file": part.stem},
        )


def _answer_columns(part: Part, records: Sequence[Record]) -> list[str]:
    """Find the columns that are answers: nothing says which, but task data never vary in a task."""
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    structured: set[str] = set()
    columns = list(dict.fromkeys(name for record in records for name in record))
    for record in records:
        for name in columns:
            cell = record.get(name)
            seen[name][str(record.get("id"))].add(str(cell))
            structured |= {name} if _choices(cell) is not None else set()
    names = [
        name
        for name in columns
        if name not in _PLATFORM
        and (name in structured or any(len(said) > 1 for said in seen[name].values()))
    ]
    if not names:
        times = Counter(str(record.get("id")) for record in records)
        once = max(times.values(), default=0) < 2
        why = "no task was annotated twice" if once else "nobody disagrees"
        raise DataError(
            f"{part.name} does not say which columns are answers, and {why}; its columns are "
            f"{written(columns)}",
            argument="question",
            remedy=["export it as JSON, or pass ", Argument("question"), " with one of them"],
        )
    words = {name: set().union(*seen[name].values()) - {"None", ""} for name in names}
    return [name for name in names if len(words[name]) > 1] or names


def _choices(cell: Any) -> list[Any] | None:
    """Give the options of a cell that holds several; None if it does not."""
    found = _unfolded(cell)
    if isinstance(found, Mapping) and isinstance(found.get("choices"), list):
        return ticked(found["choices"])
    if isinstance(found, list) and "taxonomy" not in str(cell)[:12]:
        return None if any(isinstance(one, (dict, list)) for one in found) else ticked(found)
    return None


def _unfolded(cell: Any) -> Any:
    return as_json(cell) if isinstance(cell, str) and cell[:1] in "{[" else cell


def _of_cell(cell: Any) -> Any:
    """Give an answer: plain text is one option, which a multi-select may have, too."""
    several = _choices(cell)
    if several is not None:
        return several
    found = _unfolded(cell)
    paths, control = as_list(found), _control(found)
    if paths and all(isinstance(path, list) for path in paths):
        return _paths(paths)
    if control is not None:
        return control
    if found is not cell:
        return Other.REGIONS if found is not MISSING and not isinstance(found, str) else cell
    answer = typed(cell)
    return [] if answer is None else answer if isinstance(answer, (Other, list)) else [answer]


def _control(found: Any) -> Any:
    """Read what controls other than choices leave: ``[{"rating": 4}]``; None if it is none."""
    told = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(told, Mapping) or len(told) != 1:
        return None
    if "taxonomy" in told:
        return _paths(told["taxonomy"])
    if "number" in told or "datetime" in told:
        return Other.NUMBER if "number" in told else Other.TEXT
    return scalar(told.get("rating", told.get("selected")))


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    if _is_flat(parts[0]):
        return {"annotator": "annotator"}
    if options.annotators == PREDICTIONS:
        return {"annotator": "model_version"}
    first = next(maps_in(parts[0].first.get("completions")), {})
    if not first or "completed_by" in first:
        return {}
    return {"annotator": "created_username" if "created_username" in first else "file name"}


LABEL_STUDIO = ExportFormat(
    "Label Studio", _recognise, _read, item="id", annotator="completed_by", taken=_taken
)
