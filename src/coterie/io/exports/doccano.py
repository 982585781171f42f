"""doccano: a file per user since 1.3 (JSONL, JSON, CSV, FastText is not read), one file before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.data.columns import NAMES, plain
from coterie.errors import Argument, DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Other, Submission
from coterie.io.exports.questions import is_free_text
from coterie.io.exports.values import as_list, maps_in, scalar, typed
from coterie.io.reading import Reading

_ANNOTATORS = {
    stem + end for name in NAMES["annotator"] for stem in name.split() for end in ("", "id")
}
_TEXTS = ("text", "data", "filename")  # data: the text in 1.3 and 1.4
_LABELS = ("label", "labels", "cats")  # cats: of the whole text, beside entities
_FAST_TEXT = b"__label__"
SHARED = "all"
"""The one file of a project whose members share their annotations."""


def recognise(part: Part) -> bool:
    """Tell it by ``annotations`` of users, or by text and a list of labels."""
    first = part.first
    old = list(maps_in(first.get("annotations")))
    if old or "annotation_approver" in first:
        return all("user" in entry for entry in old) and "id" in first
    if "id" in first and any(isinstance(first.get(name), str) for name in _TEXTS):
        return any(isinstance(first.get(name), list) for name in (*_LABELS, "entities"))
    if part.head.startswith(_FAST_TEXT):
        return True
    columns = {*part.header}
    if {"annotation_approver", "user"} <= columns:
        return True
    named = any(plain(column) in _ANNOTATORS for column in columns)
    return {"id", "label"} <= columns and not columns.isdisjoint(_TEXTS[:2]) and not named


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the labels of every user's file; members who labelled nothing are no annotators."""
    users = [part for part in parts if part.stem != SHARED]
    if not users and options.annotators != SHARED and not _names_users(parts[0]):
        raise DataError(
            f"{parts[0].name} holds labels that all members share: nobody's own",
            argument="annotators",
            remedy=[
                "export with a file per user, or pass ",
                Argument("annotators", SHARED),
                " to read it as one annotator",
            ],
        )
    files = {part: _records(part) for part in users or parts}
    words = [word for records in files.values() for record in records for word in _label(record)]
    written = is_free_text([word for word in words if isinstance(word, str)])
    for part, records in files.items():
        labelled = [bool(as_list(_label(record))) for record in records]
        named = ("annotations", "user", "entities")
        if any(labelled) or any(name in record for record in records for name in named):
            for record in records:
                yield from _of_record(record, part.stem, written)


def _records(part: Part) -> list[dict[str, Any]]:
    if part.head.startswith(_FAST_TEXT):
        raise DataError(
            f"{part.name} is fastText, which has no ids of documents; export it as JSONL"
        )
    return list(part.records())


def _names_users(part: Part) -> bool:
    return "annotations" in part.first or "user" in part.header


def _label(record: Mapping[str, Any]) -> Any:
    """Give the labels of a record: a list, or text joined by ``#`` in CSV."""
    found = next((record[name] for name in _LABELS if name in record), None)
    if isinstance(found, str):
        return [word for word in found.split("#") if word.strip()]
    return found if isinstance(found, list) else [] if found is None else [found]


def _of_record(record: Mapping[str, Any], user: str, written: bool) -> Iterator[Submission]:
    """Give what a record holds; labels that were written, and not chosen, are free text."""
    item = scalar(record.get("id"))
    if "annotations" in record:
        for entry in maps_in(record["annotations"]):
            span = "start_offset" in entry
            answer = Other.SPANS if span else scalar(entry.get("label", entry.get("text")))
            yield Submission(item, scalar(entry.get("user")), {"label": answer}, fields=record)
        return
    answer = Other.TEXT if written else typed(_label(record))
    answers = {"cats" if "cats" in record else "label": answer}
    if isinstance(record.get("entities"), list):
        answers = {**({} if "cats" not in record else answers), "entities": Other.SPANS}
    status = "blank" if answer == [] and Other.SPANS not in answers.values() else ""
    person = scalar(record.get("user")) if "annotation_approver" in record else user
    yield Submission(item, person, answers, status, fields=record)


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    if all(map(_names_users, parts)):
        return {"annotator": "user"}
    return {"annotator": "all members"} if options.annotators == SHARED else {}


FORMAT = ExportFormat(
    "doccano",
    recognise,
    read,
    item="id",
    annotator="file of the user",
    stray=0.01,
    taken=_taken,
)
