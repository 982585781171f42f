"""Back again: a consensus as the file that a platform imports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from coterie.data.annotations import Annotations
from coterie.data.provenance import Export, Provenance
from coterie.errors import Argument, DataError
from coterie.files.atomic import Writer, text_writer, write_files
from coterie.files.paths import to_write
from coterie.files.values import json_text
from coterie.io.exports.label_studio import CONTROLS
from coterie.io.exports.part import parts_of
from coterie.io.exports.port import Submission, as_list, as_map, is_true, scalar
from coterie.io.exports.questions import NO_OPTION, SETS
from coterie.io.exports.registry import FORMATS, recognised
from coterie.io.exports.tools import ANSWERED, HASH, ITEM
from coterie.io.reading import Reading
from coterie.io.write import table_writer
from coterie.words.values import not_one_of

SUGGESTIONS, TRUTH = "suggestions", "truth"
KINDS = (SUGGESTIONS, TRUTH)


class Said(NamedTuple):
    """What is said of one item."""

    item: Any
    label: Any
    probability: float
    fields: Mapping[str, Any]  # the item's own data, where they are known


@dataclass(frozen=True)
class Consensus:
    """What is written: one entry per item, and what it is about."""

    said: tuple[Said, ...]
    question: str
    classes: tuple[Any, ...]
    model: str
    kind: str
    to_name: str | None
    option: str | None


class Result(NamedTuple):
    """What is known of a result here: the data, the table of labels, the model's name."""

    annotations: Annotations
    labels: pd.DataFrame  # item, label, probability
    model: str


def export(
    result: Result,
    to: str,
    path: str | PathLike[str],
    *,
    kind: str = SUGGESTIONS,
    tasks: Any = None,
    question: str | None = None,
    to_name: str | None = None,
    least: float = 0.0,
) -> None:
    """Write the consensus as the file that a platform's documentation says it imports.

    Parameters
    ----------
    result
        What :meth:`coterie.Posterior.export` passes on by itself.
    to
        ``"label-studio"``, ``"argilla"``, ``"prodigy"`` or ``"csv-gold"``.
    path
        The file to write; a file of that name is replaced.
    kind
        ``"suggestions"`` (pre-annotations with the probability as their score) or ``"truth"``.
    tasks
        The export whose items' own data (texts and the like) go into the file; by default the
        one that was read, if it is still there.
    question
        The name of the question; by default the one that was read, or ``"label"``.
    to_name
        What a Label Studio control is about (``toName``); by default as in the tasks, or
        ``"text"``.
    least
        The probability below which an item is left out.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "yes"), ("q2", "ann", "no")]
    >>> coterie.MajorityVote().fit(rows).posterior_.export("csv-gold", "gold.csv", least=0.9)
    >>> pd.read_csv("gold.csv")["label"].tolist(), Path("gold.csv").unlink()
    (['yes', 'no'], None)
    """
    consensus = consensus_of(result, kind, tasks, question, to_name, least)
    write_files({to_write(path): writer_of(consensus, to)})


def writer_of(consensus: Consensus, to: str) -> Writer:
    """Give what writes the file that a platform imports."""
    return TARGETS[target(to)](consensus)


def target(to: str) -> str:
    """Give the name of a platform as it is written here; one that is not known is an error."""
    name = to.strip().lower().replace("_", "-")
    if name not in TARGETS:
        raise DataError([Argument("to", to), not_one_of(to, TARGETS)])
    return name


def consensus_of(
    result: Result,
    kind: str = SUGGESTIONS,
    tasks: Any = None,
    question: str | None = None,
    to_name: str | None = None,
    least: float = 0.0,
) -> Consensus:
    """Put together what is written; the parameters are those of :func:`export`."""
    if kind not in KINDS:
        raise DataError([Argument("kind", kind), not_one_of(kind, KINDS)])
    if len(result.labels) and not (result.labels["probability"] >= least).any():
        raise DataError(
            ["no label has the probability of ", Argument("least", least), ": nothing is written"],
            remedy=f"the surest has {result.labels['probability'].max():.2f}",
        )
    found = result.annotations.provenance
    facts = None if found is None else found.export
    return Consensus(
        said=tuple(_said(result.labels, _fields(found, tasks), least)),
        question=question or (facts.question if facts is not None else "label"),
        classes=tuple(result.annotations.classes.tolist()),
        model=f"coterie {result.model}",
        kind=kind,
        to_name=to_name,
        option=None if facts is None else facts.option,
    )


def _said(
    table: pd.DataFrame, fields: Mapping[Hashable, Mapping[str, Any]], least: float
) -> Iterator[Said]:
    for row in zip(table["item"], table["label"], table["probability"], strict=True):
        # JSON knows no numbers of numpy
        item, label, sure = (cell.item() if hasattr(cell, "item") else cell for cell in row)
        if sure >= least:
            yield Said(item, label, float(sure), fields.get(item, {}))


def _fields(found: Provenance | None, tasks: Any) -> dict[Hashable, Mapping[str, Any]]:
    """Find the items' own data in an export; none where it is not there any more."""
    facts: Export | None = None if found is None else found.export
    if tasks is None:
        if found is None or facts is None or found.source.path is None:
            return {}
        tasks = list(facts.paths) or [found.source.path]
        if not all(Path(str(one)).exists() for one in tasks):
            return {}
    own = recognised(parts_of(tasks), None)
    if own is None:
        raise DataError([Argument("tasks"), f" {tasks} is no export that coterie knows"])
    asked = dict(facts.told).get("item") if facts is not None else None
    options = Reading(item=asked, order="ignore").of_export()
    submissions = FORMATS[own[0]].read(own[1], options)
    return own_data(one for one in submissions if scalar(one.item) is not None)


def own_data(submissions: Iterable[Submission]) -> dict[Hashable, Mapping[str, Any]]:
    """Give the data of each item without what belongs to who answered: ids, times, answers.

    A field that differs between two who answered about one item is theirs, and so is one that
    always names who answered.

    Examples
    --------
    >>> row = {"text": "a", "worker": "ann", "at": 1}
    >>> one = Submission(1, "ann", {}, fields=row)
    >>> own_data([one, Submission(1, "bob", {}, fields=row | {"worker": "bob", "at": 2})])
    {1: {'text': 'a'}}
    """
    items: dict[Hashable, Mapping[str, Any]] = {}
    cells: dict[tuple[Hashable, str, str], Any] = {}
    differ: set[tuple[str, str]] = set()
    no_names: set[tuple[str, str]] = set()
    for one in submissions:
        items.setdefault(one.item, one.fields)
        for name, cell in one.fields.items():
            for below, value in cell.items() if isinstance(cell, Mapping) else [("", cell)]:
                if not isinstance(value, (str, int, float)):
                    continue
                if value != one.annotator:
                    no_names.add((name, below))
                if cells.setdefault((one.item, name, below), value) != value:
                    differ.add((name, below))
    theirs = differ | ({(name, below) for _, name, below in cells} - no_names)
    return {item: _without(fields, theirs) for item, fields in items.items()}


def _without(fields: Mapping[str, Any], theirs: Collection[tuple[str, str]]) -> dict[str, Any]:
    brought = ANSWERED if HASH in fields else ()  # of a task of Prodigy, what answers brought
    return {
        name: {below: value for below, value in cell.items() if (name, below) not in theirs}
        if isinstance(cell, Mapping)
        else cell
        for name, cell in fields.items()
        if (name, "") not in theirs and name not in brought
    }


def _label_studio(consensus: Consensus) -> Writer:
    """Write tasks with predictions, or with annotations that are ground truth."""
    tasks = []
    for one in consensus.said:
        controls = as_map(one.fields.get(CONTROLS))
        to_name, kind = controls.get(consensus.question, ("text", "choices"))
        result = {
            "from_name": consensus.question,
            "to_name": consensus.to_name or to_name,
            "type": kind,
            "value": _value(kind, one.label, consensus.option),
        }
        told: dict[str, Any] = {"annotations": [], "predictions": []}
        if consensus.kind == TRUTH:
            annotation = {"result": [result], "ground_truth": True, "was_cancelled": False}
            told["annotations"].append(annotation)
        else:
            score = {"score": one.probability, "model_version": consensus.model}
            told["predictions"].append({"result": [result], **score})
        tasks.append({"id": one.item, "data": _data(one), **told})
    return _json(tasks)


def _value(kind: str, label: Any, option: str | None) -> dict[str, Any]:
    """Write a label as the value of a Label Studio control; of an option, yes is to tick it."""
    if kind == "rating":
        return {"rating": label}
    if kind == "pairwise":
        return {"selected": label}
    ticked = [str(label)] if option is None else _ticked(label, option)
    if kind == "taxonomy":
        return {"taxonomy": [path.split(" > ") for path in ticked]}
    return {"choices": ticked}


def _ticked(label: Any, option: str) -> list[str]:
    """Give the options of a multi-select that a label stands for."""
    if option == SETS:
        return [] if label == NO_OPTION else str(label).split(" | ")
    return [option] if is_true(label) else []


_BELOW = ("data", "fields", "data_row")
"""Where Label Studio, Argilla and Labelbox keep an item's own data."""


def _data(one: Said) -> dict[str, Any]:
    """Give a task's own data; where they are not known, the item's id."""
    below = (as_map(one.fields.get(name)) for name in _BELOW)
    data = next((some for some in below if some), one.fields)
    if data is not one.fields.get("data"):
        data = {name: cell for name, cell in data.items() if scalar(cell) is not None}
    return dict(data) or {"item": one.item}


def _argilla(consensus: Consensus) -> Writer:
    """Write records with suggestions (``Dataset.records.from_json``); truth goes into metadata."""
    records = []
    for one in consensus.said:
        value = one.label if consensus.option is None else _ticked(one.label, consensus.option)
        told = {"value": value, "score": one.probability, "agent": consensus.model}
        truth = consensus.kind == TRUTH
        records.append(
            {
                "id": str(one.item),
                "fields": dict(as_map(one.fields.get("fields"))) or _data(one),
                "metadata": {"gold": one.label} if truth else {},
                "suggestions": {} if truth else {consensus.question: told},
                "responses": {},
                "vectors": {},
            }
        )
    return _json(records)


def _prodigy(consensus: Consensus) -> Writer:
    """Write tasks for ``db-in`` (truth: accepted) or to be looked over (an option is chosen)."""
    binary = set(map(str, consensus.classes)) <= {"accept", "reject"}
    options = [{"id": name, "text": str(name)} for name in consensus.classes]
    lines = []
    for place, one in enumerate(consensus.said):
        task = dict(one.fields if HASH in one.fields else _data(one))
        texts = (cell for cell in task.values() if isinstance(cell, str))
        task.setdefault("text", next(texts, str(one.item)))
        meta = {**as_map(task.get("meta")), "probability": round(one.probability, 4)}
        number = one.item if isinstance(one.item, int) else place
        if not isinstance(one.item, int):
            meta[ITEM] = one.item
        task |= {"meta": meta, "_input_hash": number, "_annotator_id": consensus.model}
        task.setdefault("_task_hash", number)
        if binary:
            task |= {"label": consensus.question, "answer": str(one.label)}
        else:
            style, offered, chosen = "single", options, [one.label]
            if consensus.option is not None:
                style, chosen = "multiple", _ticked(one.label, consensus.option)
                offered = as_list(task.get("options")) or _offered(consensus)
            task |= {"options": offered, "accept": chosen, "config": {"choice_style": style}}
            task |= {"answer": "accept"}
        lines.append(json_text(task))
    return text_writer("\n".join(lines) + "\n")


def _offered(consensus: Consensus) -> list[dict[str, str]]:
    """Give the options of a multi-select, as far as the labels tell them."""
    option = str(consensus.option)
    words = (
        [_ticked(label, option) for label in consensus.classes] if option == SETS else [[option]]
    )
    return [{"id": word, "text": word} for word in dict.fromkeys(w for some in words for w in some)]


def _csv_gold(consensus: Consensus) -> Writer:
    """Write a table that ``gold=`` and ``--truth`` take."""
    rows = [(one.item, one.label, one.probability) for one in consensus.said]
    return table_writer(pd.DataFrame(rows, columns=["item", "label", "probability"]), "csv")


def _json(content: Any) -> Writer:
    return text_writer(json_text(content, indent=1) + "\n")


TARGETS: dict[str, Callable[[Consensus], Writer]] = {
    "label-studio": _label_studio,
    "argilla": _argilla,
    "prodigy": _prodigy,
    "csv-gold": _csv_gold,
}
