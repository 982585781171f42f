"""Argilla 2 (flat: datasets, Parquet; records.json), Argilla 1 (datasets) and records before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Other, Submission, Ticked
from coterie.io.exports.values import (
    MISSING,
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

SUGGESTIONS = "suggestions"
_USERS, _STATUS, _V1 = ".responses.users", ".responses.status", "-suggestion-metadata"
_ASIDE = ("id", "external_id", "status", "_server_id", "inserted_at", "updated_at")
"""Columns of flat records that are no fields of the item."""


_BEFORE = frozenset({"annotation", "annotation_agent", "prediction", "prediction_agent", "status"})
"""Keys of a record of Rubrix, and of Argilla's text classification before feedback data sets."""


def recognise(part: Part) -> bool:
    """Tell the flat form by its columns of users, records.json and the others by their keys."""
    names = [*part.first, *part.header]
    if {*names} >= _BEFORE:
        return True
    flat = any(name.endswith((_USERS, _V1)) for name in names)
    flat = flat or any(map(_is_version_1, part.first.values()))
    return flat or {"fields", "responses", "suggestions"} <= set(part.first)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give one submission per response: a person may have submitted some questions only."""
    row = 0
    for part in parts:
        for record in part.records():
            if record.keys() >= _BEFORE:
                yield _of_record(record, row, options)
            elif options.annotators == SUGGESTIONS:
                yield from _suggestions(record, row, _fields(record))
            elif _is_json(record):
                yield from _of_json(record)
            elif not any(name.endswith(_USERS) for name in record):
                yield from _of_version_1(record, row)
            else:
                yield from _of_flat(record, row)
            row += 1


def _of_record(record: Mapping[str, Any], row: int, options: Reading) -> Submission:
    """Give the one annotation of a record, or what a model predicted for it."""
    who, said, word = "annotation", record["annotation"], str(record["status"] or "").lower()
    if options.annotators == SUGGESTIONS:
        scores = {
            scalar(one.get("label")): one.get("score") for one in maps_in(record["prediction"])
        }
        who, word = "prediction", ""
        said = max(scores, key=lambda label: scores[label] or 0.0, default=None)
    item = scalar(record.get("id"))
    return Submission(
        row if item is None else item,
        scalar(record[f"{who}_agent"]) or who,
        {"annotation": _annotated(said, is_true(record.get("multi_label")))},
        status="blank" if said is None else "" if word in ("", "validated") else word,
        time=record.get("event_timestamp"),
        fields=record,
    )


def _annotated(said: Any, multiple: bool) -> Any:
    """Tell labels from entities, ``["PER", 0, 4]``, and from texts."""
    if any(isinstance(one, (list, tuple, Mapping)) for one in as_list(said)):
        return Other.SPANS
    return Ticked(ticked(said)) if multiple else typed(said)


def _fields(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give a record with the item's own fields together, as records.json has them.

    Examples
    --------
    >>> _fields({"id": 1, "text": "t", "spam.responses": ["yes"], "spam.suggestion": "no"})
    {'fields': {'text': 't'}, 'id': 1, 'spam.responses': ['yes'], 'spam.suggestion': 'no'}
    """
    if "fields" in record:
        return record
    own = {name: value for name, value in record.items() if not _is_aside(name, record)}
    return {"fields": own, **{name: record[name] for name in record if name not in own}}


def _is_aside(name: str, record: Mapping[str, Any]) -> bool:
    """Tell what the platform adds to an item: ids, responses and suggestions, in both versions."""
    parts = name.split(".")
    added = name in _ASIDE or parts[0] in ("metadata", "vectors")
    flat = "responses" in parts[1:] or "suggestion" in parts[1:]
    older = name.endswith(("-suggestion", _V1)) or f"{name}-suggestion" in record
    return added or flat or older or _is_version_1(record[name])


def _suggestions(
    record: Mapping[str, Any], row: int, fields: Mapping[str, Any]
) -> Iterator[Submission]:
    """Give what models suggested, in any of the three forms."""
    told = {name: as_map(one) for name, one in as_map(record.get("suggestions")).items()}
    for name, value in record.items():
        if name.endswith(".suggestion"):
            question = name.removesuffix(".suggestion")
            told[question] = {"value": value, "agent": record.get(f"{name}.agent")}
        elif name.endswith(_V1):
            question = name.removesuffix(_V1)
            own = as_map(value).get("agent")
            told[question] = {"value": record.get(f"{question}-suggestion"), "agent": own}
    for question, one in told.items():
        if one.get("value") is not None:
            item = record.get("id", record.get("external_id"))
            agent = scalar(one.get("agent")) or "suggestion"
            yield _submission(
                row if item is None else item, agent, question, one["value"], None, fields
            )


def _is_json(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("responses"), Mapping) and "fields" in record


def _submission(
    item: Any, user: Any, question: str, value: Any, status: Any, fields: Mapping[str, Any]
) -> Submission:
    """Make a submission of one response; what is not said to be submitted does not count."""
    word = str(status or "").lower().rsplit(".", 1)[-1]  # "ResponseStatus.draft" in some versions
    return Submission(
        scalar(item),
        scalar(user),
        {question: typed(value)},
        status="" if word in ("", "submitted") else word,
        fields=fields,
        asks_all=False,
    )


def _of_flat(record: Mapping[str, Any], row: int) -> Iterator[Submission]:
    item, fields = record.get("id", row), _fields(record)
    for column in record:
        if not column.endswith(_USERS):
            continue
        question = column.removesuffix(_USERS)
        users = as_list(record[column])
        values = as_list(record.get(f"{question}.responses"))
        statuses = as_list(record.get(f"{question}{_STATUS}"))
        for place, user in enumerate(users):
            value = values[place] if place < len(values) else None
            status = statuses[place] if place < len(statuses) else None
            status = status or "unknown"
            yield _submission(item, user, question, value, status, fields)


def _of_json(record: Mapping[str, Any]) -> Iterator[Submission]:
    fields = {**{k: record.get(k) for k in ("fields", "metadata")}, "id": record.get("id")}
    for question, responses in as_map(record["responses"]).items():
        for response in maps_in(responses):
            status = response.get("status")
            yield _submission(
                record.get("id"),
                response.get("user_id"),
                question,
                response.get("value"),
                status,
                fields,
            )


def _of_version_1(record: Mapping[str, Any], row: int) -> Iterator[Submission]:
    item = record.get("external_id")
    metadata = as_json(record.get("metadata"))
    fields = {**_fields(record), "metadata": {} if metadata is MISSING else metadata}
    questions = [name for name, value in record.items() if _is_version_1(value)]
    for question in questions:
        for response in _responses(record.get(question)):
            yield _submission(
                row if item is None else item,
                response.get("user_id"),
                question,
                response.get("value"),
                response.get("status") or "unknown",
                fields,
            )


def _is_version_1(value: Any) -> bool:
    """Tell the responses to one question of version 1: a list of objects, or an object of lists."""
    if isinstance(value, Mapping):
        return {"user_id", "value", "status"} <= set(value)
    entries = list(maps_in(value))
    return bool(entries) and all({"user_id", "value", "status"} <= set(one) for one in entries)


def _responses(found: Any) -> Iterator[Mapping[str, Any]]:
    """Give the responses of a list of objects, or of an object of lists, as Parquet may have it."""
    if isinstance(found, Mapping):
        columns = {name: as_list(values) for name, values in found.items()}
        for place in range(max(map(len, columns.values()), default=0)):
            yield {k: v[place] if place < len(v) else None for k, v in columns.items()}
    else:
        yield from maps_in(found)


def _notes(parts: Sequence[Part], options: Reading) -> list[str]:
    first = parts[0].first
    if not _is_json(first) or any(
        "status" in one for said in first["responses"].values() for one in maps_in(said)
    ):
        return []
    return [
        f"{parts[0].name} does not say which responses were submitted; export with to_datasets() "
        "to leave drafts out"
    ]


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    first = parts[0].first
    names = [*first, *parts[0].header]
    taken = {"annotator": "agent"} if options.annotators == SUGGESTIONS else {}
    if {*names} >= _BEFORE:
        person = "prediction_agent" if taken else "annotation_agent"
        return {"annotator": person, "item": "id" if first.get("id") is not None else "row"}
    if "id" not in names:
        taken["item"] = "external_id" if first.get("external_id") is not None else "row"
    return taken


FORMAT = ExportFormat(
    "Argilla", recognise, read, item="id", annotator="user_id", notes=_notes, taken=_taken
)
