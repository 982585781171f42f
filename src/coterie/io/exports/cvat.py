"""CVAT for images: tags of whole images, one file per job or task."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence

from coterie.errors import DataError
from coterie.io.exports.part import XML, Part
from coterie.io.exports.port import ExportFormat, Other, Submission
from coterie.io.reading import Reading

_SHAPES = {"box", "polygon", "polyline", "points", "cuboid", "mask", "ellipse", "skeleton"}
TAG = "tag"


def recognise(part: Part) -> bool:
    """Tell it by its root and the version that stands first."""
    return part.mark == XML and b"<annotations" in part.head and b"<version>" in part.head


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the tags of every image; images without one are not annotated."""
    people = [_person(part) for part in parts]
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
            task = image.get("task_id") or ""
            yield from _of_image(image, tasks.get(task, person), updated)


def _tasks(root: ElementTree.Element) -> dict[str, str]:
    """Name who did each task of a project with several, in which images say their task."""
    tasks = {task.findtext("id") or "": task for task in root.findall("meta/project/tasks/task")}
    if len(tasks) < 2:
        return {}
    named = {key: (task.findtext("assignee/username") or "").strip() for key, task in tasks.items()}
    return {key: name or f"task {key}" for key, name in named.items()}


def _of_image(image: ElementTree.Element, person: str, updated: str | None) -> Iterator[Submission]:
    name = image.get("name") or image.get("id")
    tags = image.findall(TAG)
    for shape in image:
        if shape.tag in _SHAPES:
            yield Submission(name, person, {shape.tag: Other.REGIONS}, "shapes")
    answers: dict[str, object] = {TAG: [tag.get("label") for tag in tags if tag.get("label")]}
    for tag in tags:
        for attribute in tag.findall("attribute"):
            answers[f"{tag.get('label')}.{attribute.get('name')}"] = (
                attribute.text or ""
            ).strip() or None
    yield Submission(name, person, answers, "" if tags else "blank", time=updated)


def _root(part: Part) -> ElementTree.Element:
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
    found = (
        root.findtext(f"meta/{place}/assignee/username") for place in ("job", "task", "project")
    )
    return next((name.strip() for name in found if name and name.strip()), "")


def _person(part: Part) -> str:
    found = _assignee(part)
    if found:
        return found
    if part.stem == "annotations" and part.folders:  # so it is called in every zip
        return part.folders[-1].removesuffix(".zip")
    return part.stem


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    return {} if _assignee(parts[0]) or _tasks(_root(parts[0])) else {"annotator": "file name"}


FORMAT = ExportFormat(
    "CVAT", recognise, read, item="image name", annotator="assignee", stray=0.05, taken=_taken
)
