"""SageMaker Ground Truth: consolidation requests and worker responses."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Other, Submission, Ticked
from coterie.io.exports.values import (
    MISSING,
    as_json,
    as_map,
    choice,
    is_true,
    maps_in,
    scalar,
    ticked,
)
from coterie.io.reading import Reading

_REGIONS = {"annotatedResult", "boundingBoxes", "polygons", "keypoints", "labeledImage", "entities"}


def recognise(part: Part) -> bool:
    """Tell requests, worker responses and manifests by their keys."""
    first = part.first
    response = any("answerContent" in answer for answer in maps_in(first.get("answers")))
    return {"datasetObjectId", "annotations"} <= set(first) or response or is_manifest(first)


def is_manifest(first: Mapping[str, Any]) -> bool:
    """Tell an output manifest, which holds the consensus, by its source and metadata."""
    source = "source" in first or "source-ref" in first
    return source and any(name.endswith("-metadata") for name in first)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give workers' answers, which are JSON inside a text."""
    given = [part for part in parts if not is_manifest(part.first)]
    responses = [part for part in given if "answers" in part.first]
    for part in responses or given or parts:  # a request repeats the responses that it consolidates
        if is_manifest(part.first):
            raise DataError(
                f"{part.name} is an output manifest: it holds the consensus and no annotators; "
                "name the folder annotations/worker-response, or the request to the consolidation"
            )
        for record in part.records():
            if "answers" in record:
                yield from _of_response(record, part)
            else:
                yield from _of_request(record)


def manifest_labels(part: Part, items: Collection[Hashable] = ()) -> dict[Hashable, Hashable]:
    """Give the classes of an output manifest, by the source of the item.

    Items that are none of its sources are its lines, counted from 0: ``datasetObjectId``.
    """
    labels: dict[Hashable, Hashable] = {}
    by_line: dict[Hashable, Hashable] = {}
    for place, record in enumerate(part.records()):
        item = scalar(record.get("source", record.get("source-ref")))
        names = [
            as_map(told).get("class-name")
            for key, told in record.items()
            if key.endswith("-metadata")
        ]
        said = [name for name in map(scalar, names) if name is not None]
        if item is not None and len(said) == 1:
            labels[item] = by_line[str(place)] = said[0]
    return by_line if items and labels.keys().isdisjoint(items) else labels


def _of_request(record: Mapping[str, Any]) -> Iterator[Submission]:
    for annotation in maps_in(record.get("annotations")):
        content = as_map(annotation.get("annotationData")).get("content")
        yield Submission(
            scalar(record.get("datasetObjectId")),
            scalar(annotation.get("workerId")),
            _answers(content),
            fields=as_map(record.get("dataObject")),
        )


def _of_response(record: Mapping[str, Any], part: Part) -> Iterator[Submission]:
    """Give the answers of one file, which is one item, named by its folder."""
    for answer in maps_in(record["answers"]):
        yield Submission(
            _folder(part),
            scalar(answer.get("workerId")),
            _answers(answer.get("answerContent")),
            time=answer.get("submissionTime"),
            seconds=answer.get("timeSpentInSeconds"),
        )


def _folder(part: Part) -> Hashable:
    return part.folders[-1] if part.folders else part.stem


def _answers(content: Any) -> dict[str, Any]:
    found = as_json(content)
    answers: dict[str, Any] = {}
    for name, said in as_map(None if found is MISSING else found).items():
        answers[name] = _said(said)
    return answers


def _said(said: Any) -> Any:
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


FORMAT = ExportFormat(
    "SageMaker Ground Truth", recognise, read, item="datasetObjectId", annotator="workerId"
)
