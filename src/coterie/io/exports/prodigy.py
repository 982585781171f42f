"""Prodigy (``db-out``): one line per answer; the label is what was chosen, not the button."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Other, Submission, Ticked
from coterie.io.exports.values import as_list, as_map, maps_in, scalar, ticked
from coterie.io.reading import Reading

_OTHER = {
    "ner_manual": Other.SPANS,
    "ner": Other.SPANS,
    "spans": Other.SPANS,
    "spans_manual": Other.SPANS,
    "pos": Other.SPANS,
    "pos_manual": Other.SPANS,
    "relations": Other.RELATIONS,
    "dep": Other.RELATIONS,
    "image_manual": Other.REGIONS,
    "audio_manual": Other.REGIONS,
    "text_input": Other.TEXT,
}
"""Interfaces without a choice, by what is done there."""
HASH = "_input_hash"
ITEM = "coterie_item"
"""Where ``meta`` keeps an item's id that is no number, as hashes are."""
_PEOPLE = ("_annotator_id", "_session_id")
ANSWERED = frozenset(
    ["_timestamp", *_PEOPLE, "answer", "accept", "versions", "sessions", "view_id", "_view_id"]
)
"""Keys of a record that an answer, or a review of answers, brought."""
REVIEW = "review"
"""The status of a reviewer's decision, which is gold and nobody's label."""


def recognise(part: Part) -> bool:
    """Tell it by its hashes and the button."""
    return {HASH, "_task_hash", "answer"} <= set(part.first)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give answers; ``ignore`` never counts, nor does ``reject`` where options were offered."""
    for part in parts:
        records = list(part.records())
        multiple = any(_is_multiple(record) for record in records)
        for record in records:
            if _reviewed(record):
                yield from _of_review(record, part, options, multiple)
            else:
                yield _submission(record, record, _person(record, part), options, multiple)


def _submission(
    record: Mapping[str, Any],
    said: Mapping[str, Any],
    person: Any,
    options: Reading,
    multiple: bool,
) -> Submission:
    """Give what a person said about a task."""
    chosen = isinstance(said.get("accept"), list) or "options" in said
    button = str(said.get("answer") or "no answer")
    counts = button == "accept" or (button == "reject" and not chosen)
    return Submission(
        _item(record, options),
        person,
        _answer(said, button, chosen, multiple),
        status="" if counts else button,
        time=said.get("_timestamp"),
        fields=record,
        asks_all=False,
    )


def _reviewed(record: Mapping[str, Any]) -> bool:
    """Tell a task of the recipe ``review``, which holds what everybody said before."""
    return any("sessions" in version for version in maps_in(record.get("versions")))


def _of_review(
    record: Mapping[str, Any], part: Part, options: Reading, multiple: bool
) -> Iterator[Submission]:
    """Give what the sessions of each version said, and what the reviewer decided: gold."""
    for version in maps_in(record.get("versions")):
        # Versions of a binary task may leave out what is the same in all of them.
        said = {"label": record.get("label"), "_view_id": record.get("view_id"), **version}
        said.setdefault("answer", "accept")
        for session in as_list(version.get("sessions")):
            yield _submission(record, said, scalar(session), options, multiple)
    told = {**record, "_view_id": record.get("view_id", record.get("_view_id"))}
    decided = _submission(record, told, _person(record, part), options, multiple)
    yield decided._replace(gold=not decided.status, status=decided.status or REVIEW)


def _item(record: Mapping[str, Any], options: Reading) -> Any:
    """Name the task by its hash, or as it was called before coterie wrote it."""
    told = scalar(as_map(record.get("meta")).get(ITEM))
    plain = told is None or options.item == HASH
    return scalar(record.get(HASH)) if plain else told


def _is_multiple(record: Mapping[str, Any]) -> bool:
    return as_map(record.get("config")).get("choice_style") == "multiple"


def _person(record: Mapping[str, Any], part: Part) -> Any:
    """Name the annotator, else the session; old files name neither: one annotator."""
    name = _named_by(record)
    return part.stem if name is None else record[name]


def _named_by(record: Mapping[str, Any]) -> str | None:
    named = (name for name in _PEOPLE if scalar(record.get(name)) is not None)
    return next(named, None)


def _answer(record: Mapping[str, Any], button: str, chosen: bool, multiple: bool) -> dict[str, Any]:
    if chosen:
        options = ticked(record.get("accept"))
        return {"accept": Ticked(options) if multiple else options}
    view = str(record.get("_view_id"))
    if view in _OTHER or (as_list(record.get("spans")) and "label" not in record):
        return {view if view in _OTHER else "spans": _OTHER.get(view, Other.SPANS)}
    answer = button if button in ("accept", "reject") else None
    return {str(scalar(record.get("label")) or "answer"): answer}


def _named(part: Part) -> str:
    return "versions.sessions" if _reviewed(part.first) else _named_by(part.first) or "file name"


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    names = dict.fromkeys(_named(part) for part in parts)
    again = all(ITEM in as_map(part.first.get("meta")) for part in parts)
    return {"annotator": " or ".join(names), **({"item": f"meta.{ITEM}"} if again else {})}


FORMAT = ExportFormat(
    "Prodigy", recognise, read, item=HASH, annotator="_annotator_id", taken=_taken
)
