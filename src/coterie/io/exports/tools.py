"""Tools for labelling: Argilla, CVAT, doccano, Labelbox, Prodigy."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.data.columns import NAMES, plain
from coterie.errors import Argument, DataError
from coterie.io.exports.part import XML, Part
from coterie.io.exports.port import (
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
    typed,
)
from coterie.io.exports.questions import is_free_text
from coterie.io.reading import Reading
from coterie.words.numbers import count

Record = Mapping[str, Any]

# Argilla 2 (flat: datasets, Parquet; records.json), Argilla 1 (datasets) and records before it.
SUGGESTIONS = "suggestions"
_USERS, _STATUS, _V1 = ".responses.users", ".responses.status", "-suggestion-metadata"
_ASIDE = ("id", "external_id", "status", "_server_id", "inserted_at", "updated_at")
"""Columns of flat records that are no fields of the item."""
_BEFORE = frozenset({"annotation", "annotation_agent", "prediction", "prediction_agent", "status"})
"""Keys of a record of Rubrix, and of Argilla's text classification before feedback data sets."""


def _is_argilla(part: Part) -> bool:
    """Tell the flat form by its columns of users, records.json and the others by their keys."""
    names = {*part.first, *part.header}
    flat = any(name.endswith((_USERS, _V1)) for name in names)
    flat = flat or any(map(_is_version_1, part.first.values()))
    return names >= _BEFORE or flat or {"fields", "responses", "suggestions"} <= {*part.first}


def _argilla(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give one submission per response: a person may have submitted some questions only."""
    for row, record in enumerate(record for part in parts for record in part.records()):
        own = record.get("id")
        if record.keys() >= _BEFORE:
            yield _of_record(record, row, options)
        elif options.annotators == SUGGESTIONS:
            item = record.get("id", record.get("external_id"))
            yield from _suggestions(record, row if item is None else item)
        elif _has_responses(record):
            fields: Record = {name: record.get(name) for name in ("fields", "metadata", "id")}
            for question, responses in as_map(record["responses"]).items():
                for told in maps_in(responses):
                    yield _response(own, question, told, told.get("status"), fields)
        elif any(name.endswith(_USERS) for name in record):
            fields = _fields(record)
            for column in (name for name in record if name.endswith(_USERS)):
                question = column.removesuffix(_USERS)
                lists = {"user_id": record[column], "value": record.get(f"{question}.responses")}
                lists["status"] = record.get(f"{question}{_STATUS}")
                for told in list(_turned(lists))[: len(as_list(record[column]))]:
                    status = told["status"] or "unknown"
                    yield _response(record.get("id", row), question, told, status, fields)
        else:
            item = record.get("external_id")
            fields = {**_fields(record), "metadata": as_map(as_json(record.get("metadata")))}
            for question in [name for name, value in record.items() if _is_version_1(value)]:
                found = record[question]  # an object of lists, as Parquet may have it
                for told in _turned(found) if isinstance(found, Mapping) else maps_in(found):
                    place, status = row if item is None else item, told.get("status") or "unknown"
                    yield _response(place, question, told, status, fields)


def _response(item: Any, question: str, told: Record, status: Any, fields: Any) -> Submission:
    """Make a submission of one response; what is not said to be submitted does not count."""
    word = str(status or "").lower().rsplit(".", 1)[-1]  # "ResponseStatus.draft" in some versions
    return Submission(
        scalar(item),
        scalar(told.get("user_id")),
        {question: typed(told.get("value"))},
        status="" if word in ("", "submitted") else word,
        fields=fields,
        asks_all=False,
    )


def _of_record(record: Record, row: int, options: Reading) -> Submission:
    """Give the one annotation of a record, or what a model predicted for it."""
    who, said, word = "annotation", record["annotation"], str(record["status"] or "").lower()
    if options.annotators == SUGGESTIONS:
        told = list(maps_in(record["prediction"]))
        scores = {scalar(one.get("label")): one.get("score") for one in told}
        who, word = "prediction", ""
        said = max(scores, key=lambda label: scores[label] or 0.0, default=None)
    if any(isinstance(one, (list, tuple, Mapping)) for one in as_list(said)):
        answer: Any = Other.SPANS  # ["PER", 0, 4]
    else:
        answer = Ticked(ticked(said)) if is_true(record.get("multi_label")) else typed(said)
    item = scalar(record.get("id"))
    return Submission(
        row if item is None else item,
        scalar(record[f"{who}_agent"]) or who,
        {"annotation": answer},
        status="blank" if said is None else "" if word in ("", "validated") else word,
        time=record.get("event_timestamp"),
        fields=record,
    )


def _suggestions(record: Record, item: Any) -> Iterator[Submission]:
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
    fields = _fields(record)
    for question, one in told.items():
        if one.get("value") is not None:
            said = {**one, "user_id": scalar(one.get("agent")) or "suggestion"}
            yield _response(item, question, said, None, fields)


def _fields(record: Record) -> Record:
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


def _is_aside(name: str, record: Record) -> bool:
    """Tell what the platform adds to an item: ids, responses and suggestions, in both versions."""
    parts = name.split(".")
    added = name in _ASIDE or parts[0] in ("metadata", "vectors")
    flat = "responses" in parts[1:] or "suggestion" in parts[1:]
    older = name.endswith(("-suggestion", _V1)) or f"{name}-suggestion" in record
    return added or flat or older or _is_version_1(record[name])


def _has_responses(record: Record) -> bool:
    return isinstance(record.get("responses"), Mapping) and "fields" in record


def _is_version_1(value: Any) -> bool:
    """Tell the responses to one question of version 1: a list of objects, or an object of lists."""
    entries = [value] if isinstance(value, Mapping) else list(maps_in(value))
    return bool(entries) and all({"user_id", "value", "status"} <= {*one} for one in entries)


def _turned(lists: Record) -> Iterator[Record]:
    """Turn an object of lists into objects; what a list lacks is None."""
    columns = {name: as_list(values) for name, values in lists.items()}
    for place in range(max(map(len, columns.values()), default=0)):
        yield {k: v[place] if place < len(v) else None for k, v in columns.items()}


def _notes_of_argilla(parts: Sequence[Part], options: Reading) -> list[str]:
    first = parts[0].first
    if not _has_responses(first) or any(
        "status" in one for said in first["responses"].values() for one in maps_in(said)
    ):
        return []
    return [
        f"{parts[0].name} does not say which responses were submitted; export with to_datasets() "
        "to leave drafts out"
    ]


def _taken_of_argilla(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    first, names = parts[0].first, {*parts[0].first, *parts[0].header}
    models = options.annotators == SUGGESTIONS
    if names >= _BEFORE:
        person = "prediction_agent" if models else "annotation_agent"
        return {"annotator": person, "item": "row" if first.get("id") is None else "id"}
    taken = {"annotator": "agent"} if models else {}
    if "id" not in names:
        taken["item"] = "row" if first.get("external_id") is None else "external_id"
    return taken


# CVAT for images: tags of whole images, one file per job or task.
_SHAPES = {"box", "polygon", "polyline", "points", "cuboid", "mask", "ellipse", "skeleton"}
_Element = ElementTree.Element


def _cvat(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the tags of every image; images without one are not annotated."""
    people = [_assignee(part) or _name_of_file(part) for part in parts]
    for part, person in zip(parts, people, strict=True):
        root = _root(part)
        if root.find("track") is not None and root.find("image") is None:
            raise DataError(
                f"{part.name} is a video with tracks; coterie aggregates one label per image: "
                "export it as 'CVAT for images' with tags"
            )
        updated = root.findtext("meta/job/updated") or root.findtext("meta/task/updated")
        tasks = _tasks(root)
        for image in root.iter("image"):
            who = tasks.get(image.get("task_id") or "", person)
            name, tags = image.get("name") or image.get("id"), image.findall("tag")
            for shape in image:
                if shape.tag in _SHAPES:
                    yield Submission(name, who, {shape.tag: Other.REGIONS}, "shapes")
            answers: dict[str, Any] = {
                "tag": [one.get("label") for one in tags if one.get("label")]
            }
            for tag in tags:
                for told in tag.findall("attribute"):
                    said = (told.text or "").strip() or None
                    answers[f"{tag.get('label')}.{told.get('name')}"] = said
            yield Submission(name, who, answers, "" if tags else "blank", time=updated)


def _tasks(root: _Element) -> dict[str, str]:
    """Name who did each task of a project with several, in which images say their task."""
    tasks = {task.findtext("id") or "": task for task in root.findall("meta/project/tasks/task")}
    named = {key: (task.findtext("assignee/username") or "").strip() for key, task in tasks.items()}
    return {key: name or f"task {key}" for key, name in named.items()} if len(tasks) > 1 else {}


def _root(part: Part) -> _Element:
    with part.file.open() as handle:
        raw = handle.read()
    if b"<!ENTITY" in raw or b"<!DOCTYPE" in raw:  # entities that unfold for ever
        raise DataError(f"{part.name} declares entities, which no CVAT export does")
    try:
        return ElementTree.fromstring(raw)
    except ElementTree.ParseError as error:
        raise DataError(f"{part.name} is damaged XML: {error}; export it again") from None


def _assignee(part: Part) -> str:
    root = _root(part)
    found = (root.findtext(f"meta/{one}/assignee/username") for one in ("job", "task", "project"))
    return next((name.strip() for name in found if name and name.strip()), "")


def _name_of_file(part: Part) -> str:
    """Name who annotated a file: in every zip it is called annotations."""
    named = part.stem != "annotations" or not part.folders
    return part.stem if named else part.folders[-1].removesuffix(".zip")


# doccano: a file per user since 1.3 (JSONL, JSON, CSV; fastText is not read), one file before.
_ANNOTATORS = {
    stem + end for name in NAMES["annotator"] for stem in name.split() for end in ("", "id")
}
_TEXTS = ("text", "data", "filename")  # data: the text in 1.3 and 1.4
_LABELS = ("label", "labels", "cats")  # cats: of the whole text, beside entities
_FAST_TEXT = b"__label__"
SHARED = "all"
"""The one file of a project whose members share their annotations."""


def _is_doccano(part: Part) -> bool:
    """Tell it by ``annotations`` of users, or by text and a list of labels."""
    first, columns = part.first, {*part.header}
    old = list(maps_in(first.get("annotations")))
    if old or "annotation_approver" in first:
        return all("user" in entry for entry in old) and "id" in first
    if "id" in first and any(isinstance(first.get(name), str) for name in _TEXTS):
        return any(isinstance(first.get(name), list) for name in (*_LABELS, "entities"))
    if part.head.startswith(_FAST_TEXT) or {"annotation_approver", "user"} <= columns:
        return True
    named = any(plain(column) in _ANNOTATORS for column in columns)
    return {"id", "label"} <= columns and not columns.isdisjoint(_TEXTS[:2]) and not named


def _doccano(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
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
    files = {}
    for part in users or parts:
        if part.head.startswith(_FAST_TEXT):
            raise DataError(
                f"{part.name} is fastText, which has no ids of documents; export it as JSONL"
            )
        files[part] = list(part.records())
    words = [word for records in files.values() for record in records for word in _label(record)]
    written = is_free_text([word for word in words if isinstance(word, str)])
    for part, records in files.items():
        named = ("annotations", "user", "entities")
        if any(_label(one) or any(name in one for name in named) for one in records):
            for record in records:
                yield from _of_document(record, part.stem, written)


def _names_users(part: Part) -> bool:
    return "annotations" in part.first or "user" in part.header


def _label(record: Record) -> list[Any]:
    """Give the labels of a record: a list, or text joined by ``#`` in CSV."""
    found = next((record[name] for name in _LABELS if name in record), None)
    if isinstance(found, str):
        return [word for word in found.split("#") if word.strip()]
    return found if isinstance(found, list) else [] if found is None else [found]


def _of_document(record: Record, user: str, written: bool) -> Iterator[Submission]:
    """Give what a record holds; labels that were written, and not chosen, are free text."""
    item = scalar(record.get("id"))
    if "annotations" in record:
        for entry in maps_in(record["annotations"]):
            span = "start_offset" in entry
            told = Other.SPANS if span else scalar(entry.get("label", entry.get("text")))
            yield Submission(item, scalar(entry.get("user")), {"label": told}, fields=record)
        return
    answer = Other.TEXT if written else typed(_label(record))
    answers = {"cats" if "cats" in record else "label": answer}
    if isinstance(record.get("entities"), list):
        answers = {**({} if "cats" not in record else answers), "entities": Other.SPANS}
    status = "blank" if answer == [] and Other.SPANS not in answers.values() else ""
    person = scalar(record.get("user")) if "annotation_approver" in record else user
    yield Submission(item, person, answers, status, fields=record)


def _taken_of_doccano(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    if all(map(_names_users, parts)):
        return {"annotator": "user"}
    return {"annotator": "all members"} if options.annotators == SHARED else {}


# Labelbox: version 2 (NDJSON, one line per data row) and version 1 (JSON, one entry per label).
DONE, REWORK = "done", "in rework"
"""Stages of a row in the workflow: reviewed, and sent back by a reviewer."""


def _labelbox(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give labels; skipped ones do not count, the benchmark of a row is gold and counts, too."""
    for part in parts:
        for record in part.records():
            if "DataRow ID" in record:
                yield _of_version_1(record)
            for project in _projects(record) if "DataRow ID" not in record else ():
                for label in maps_in(project.get("labels")):
                    one = _of_label(label, record)
                    strict = DONE in options.keep and _stage(project) != DONE and not one.status
                    yield one._replace(status=f"not {DONE}", gold=False) if strict else one


def _projects(record: Record) -> Iterator[Record]:
    return map(as_map, as_map(record.get("projects")).values())


def _stage(project: Record) -> str:
    """Say where a row is in the workflow of a project: "in rework" if a reviewer sent it back."""
    told = as_map(project.get("project_details")).get("workflow_status")
    return str(told or "").lower().replace("_", " ")


def _of_label(label: Record, record: Record) -> Submission:
    details = as_map(label.get("label_details"))
    performance = as_map(label.get("performance_details"))
    annotations = as_map(label.get("annotations"))
    answers = _classified(annotations.get("classifications"))
    for thing in maps_in(annotations.get("objects")):
        answers.setdefault(str(thing.get("name")), Other.REGIONS)
    for frame in map(as_map, as_map(annotations.get("frames")).values()):  # of a video
        for name in _classified(frame.get("classifications")):
            answers.setdefault(name, Other.PER_REGION)
    reference = performance.get("benchmark_reference_label")
    benchmark = reference is not None and reference == label.get("id")
    skipped = is_true(performance.get("skipped"))
    blank = not answers and "skipped" not in performance  # nobody says whether it was submitted
    return Submission(
        scalar(as_map(record.get("data_row")).get("id")),
        scalar(details.get("created_by")),
        answers,
        status="skipped" if skipped else "blank" if blank else "",
        gold=benchmark and not skipped,
        time=details.get("created_at"),
        seconds=performance.get("seconds_to_create"),
        fields=record,
    )


def _classified(classifications: Any, above: str = "") -> dict[str, Any]:
    """Give answers; a follow-up question is named by what it follows: ``sentiment > why``."""
    answers: dict[str, Any] = {}
    for one in maps_in(classifications):
        name = above + str(one.get("name") or one.get("value") or one.get("title"))
        chosen: list[Record] = []
        if "radio_answer" in one:
            chosen = [as_map(one["radio_answer"])]
            answers[name] = choice(chosen[0].get("name") or chosen[0].get("value"))
        elif "checklist_answers" in one:
            chosen = list(maps_in(one["checklist_answers"]))
            answers[name] = Ticked(
                ticked([each.get("name") or each.get("value") for each in chosen])
            )
        else:
            answers[name] = Other.TEXT
        for option in chosen:
            answers |= _classified(option.get("classifications"), f"{name} > ")
    return answers


def _of_version_1(record: Record) -> Submission:
    label = as_map(as_json(record.get("Label")))  # an object, as text in CSV
    answers: dict[str, Any] = {}
    for one in maps_in(label.get("classifications")):
        name = str(one.get("value") or one.get("title"))
        several = [each.get("title") or each.get("value") for each in maps_in(one.get("answers"))]
        if isinstance(one.get("answer"), Mapping):
            answers[name] = choice(one["answer"].get("title") or one["answer"].get("value"))
        else:
            listed = isinstance(one.get("answers"), list)
            answers[name] = Ticked(ticked(several)) if listed else Other.TEXT
    for thing in maps_in(label.get("objects")):
        answers.setdefault(str(thing.get("title") or thing.get("value")), Other.REGIONS)
    reviews = sorted(
        maps_in(as_json(record.get("Reviews"))), key=lambda one: str(one.get("createdAt"))
    )
    score = scalar(reviews[-1].get("score")) if reviews else None  # the last reviewer's thumb
    rejected = isinstance(score, (int, float)) and score < 0
    skipped, against = is_true(record.get("Skipped")), record.get("Benchmark ID")
    return Submission(
        scalar(record.get("DataRow ID")),
        scalar(record.get("Created By")),
        answers,
        status="skipped" if skipped else "rejected" if rejected else "",
        # What a label is measured against: its own id on the benchmark.
        gold=against not in (None, "") and against == record.get("ID") and not skipped,
        time=record.get("Created At"),
        seconds=record.get("Seconds to Label"),
        fields=record,
    )


def _notes_of_labelbox(parts: Sequence[Part], options: Reading) -> list[str]:
    marked = sum(one.gold for one in _labelbox(parts, options))
    what = count(marked, "benchmark label")
    notes = [f"{what} counted as gold, and as labels of their authors"] if marked else []
    sent_back = sum(
        _stage(project) == REWORK and bool(project.get("labels"))
        for part in parts
        for record in part.records()
        for project in _projects(record)
    )
    if sent_back and DONE not in options.keep:
        rows = count(sent_back, "row")
        notes.append(f"labels of {rows} {REWORK} counted, too (keep {DONE!r}: finished rows only)")
    return notes


# Prodigy (``db-out``): one line per answer; the label is what was chosen, not the button.
_INTERFACES = {
    **dict.fromkeys(
        ["ner_manual", "ner", "spans", "spans_manual", "pos", "pos_manual"], Other.SPANS
    ),
    **dict.fromkeys(["relations", "dep"], Other.RELATIONS),
    **dict.fromkeys(["image_manual", "audio_manual"], Other.REGIONS),
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


def _prodigy(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give answers; ``ignore`` never counts, nor does ``reject`` where options were offered."""
    for part in parts:
        records = list(part.records())
        styles = {as_map(record.get("config")).get("choice_style") for record in records}
        multiple = "multiple" in styles
        for record in records:
            named = _named_by(record)  # old files name neither person nor session: one annotator
            person = part.stem if named is None else record[named]
            if not _reviewed(record):
                yield _of_answer(record, record, person, options, multiple)
                continue
            # What everybody said before, and the reviewer's decision: gold, and nobody's label.
            for version in maps_in(record.get("versions")):
                # Versions of a binary task may leave out what is the same in all of them.
                said = {"label": record.get("label"), "_view_id": record.get("view_id"), **version}
                said.setdefault("answer", "accept")
                for session in as_list(version.get("sessions")):
                    yield _of_answer(record, said, scalar(session), options, multiple)
            told = {**record, "_view_id": record.get("view_id", record.get("_view_id"))}
            decided = _of_answer(record, told, person, options, multiple)
            yield decided._replace(gold=not decided.status, status=decided.status or "review")


def _of_answer(
    record: Record, said: Record, person: Any, options: Reading, multiple: bool
) -> Submission:
    """Give what a person said about a task, named by its hash, or as before coterie wrote it."""
    told = scalar(as_map(record.get("meta")).get(ITEM))
    chosen = isinstance(said.get("accept"), list) or "options" in said
    button, view = str(said.get("answer") or "no answer"), str(said.get("_view_id"))
    counts = button == "accept" or (button == "reject" and not chosen)
    if chosen:
        ticks = ticked(said.get("accept"))
        answer: dict[str, Any] = {"accept": Ticked(ticks) if multiple else ticks}
    elif view in _INTERFACES:
        answer = {view: _INTERFACES[view]}
    elif as_list(said.get("spans")) and "label" not in said:
        answer = {"spans": Other.SPANS}
    else:
        pressed = button if button in ("accept", "reject") else None
        answer = {str(scalar(said.get("label")) or "answer"): pressed}
    return Submission(
        scalar(record.get(HASH)) if told is None or options.item == HASH else told,
        person,
        answer,
        status="" if counts else button,
        time=said.get("_timestamp"),
        fields=record,
        asks_all=False,
    )


def _reviewed(record: Record) -> bool:
    """Tell a task of the recipe ``review``, which holds what everybody said before."""
    return any("sessions" in version for version in maps_in(record.get("versions")))


def _named_by(record: Record) -> str | None:
    return next((name for name in _PEOPLE if scalar(record.get(name)) is not None), None)


def _taken_of_prodigy(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    names = dict.fromkeys(
        "versions.sessions" if _reviewed(part.first) else _named_by(part.first) or "file name"
        for part in parts
    )
    again = all(ITEM in as_map(part.first.get("meta")) for part in parts)
    return {"annotator": " or ".join(names), **({"item": f"meta.{ITEM}"} if again else {})}


ARGILLA = ExportFormat(
    "Argilla",
    _is_argilla,
    _argilla,
    item="id",
    annotator="user_id",
    notes=_notes_of_argilla,
    taken=_taken_of_argilla,
)
CVAT = ExportFormat(
    "CVAT",
    lambda part: part.mark == XML and b"<annotations" in part.head and b"<version>" in part.head,
    _cvat,
    item="image name",
    annotator="assignee",
    stray=0.05,
    taken=lambda parts, _: {} if _assignee(parts[0]) or _tasks(_root(parts[0]))
    else {"annotator": "file name"},
)  # fmt: skip
DOCCANO = ExportFormat(
    "doccano",
    _is_doccano,
    _doccano,
    item="id",
    annotator="file of the user",
    stray=0.01,
    taken=_taken_of_doccano,
)
LABELBOX = ExportFormat(
    "Labelbox",
    lambda part: (
        {"data_row", "projects"} <= {*part.first}
        or {"DataRow ID", "Label"} <= {*part.first, *part.header}
    ),
    _labelbox,
    item="data_row.id",
    annotator="created_by",
    notes=_notes_of_labelbox,
)
PRODIGY = ExportFormat(
    "Prodigy",
    lambda part: {HASH, "_task_hash", "answer"} <= {*part.first},
    _prodigy,
    item=HASH,
    annotator="_annotator_id",
    taken=_taken_of_prodigy,
)
