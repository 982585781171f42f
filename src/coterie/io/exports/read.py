"""Files of an export -> one row per label, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from coterie.data.provenance import Format, Source
from coterie.errors import Argument, CoterieError, DataError
from coterie.io.exports.archive import Path_, parts_of
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.questions import choose, questions_of
from coterie.io.exports.registry import BUILT_IN, FORMATS, TABLE, recognised, recognises
from coterie.io.exports.rows import ExportRows, counts, items_inside, rows_from
from coterie.io.exports.values import field_of, scalar
from coterie.io.reading import Reading
from coterie.words.numbers import count
from coterie.words.values import not_one_of, written

ANNOTATORS = ("predictions", "suggestions", "scorers", "all")
"""Whose labels may be read in place of the annotators'."""


def read_export(
    source: Path_ | Iterable[Path_],
    *,
    format: str | None = None,
    options: Reading | None = None,
) -> ExportRows:
    """Read an export of an annotation platform, an evaluation or another tool's table.

    Parameters
    ----------
    source
        A file, a folder, a zip, or several of them: one data set.
    format
        The short name of its format; by default it is told from the content.
    options
        Which question, and what to count.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("votes.jsonl").write_text(
    ...     '{"question_id": 1, "model_a": "x", "model_b": "y", "winner": "model_b", "judge": "j"}'
    ... )
    >>> read_export("votes.jsonl").frame()["label"].tolist()
    ['y']
    >>> Path("votes.jsonl").unlink()
    """
    rows = rows_of(parts_of(source), format, (options or Reading()).of_export())
    if rows is None:
        raise not_known(str(source))
    return rows


def not_known(name: str) -> DataError:
    """Say that files are of no known format."""
    return DataError(
        f"{name} is no export that coterie knows",
        argument="format",
        remedy=["pass ", Argument("format"), f" with one of {', '.join(FORMATS)}"],
    )


def rows_of(
    parts: Sequence[Part], format: str | None, options: Reading, *, single: bool = False
) -> ExportRows | None:
    """Read files of one data set; None if they are no export.

    With ``single``, several options are slips, however many there are.
    """
    if format == TABLE:
        return None
    found = recognised(parts, format)
    if found is None:
        return None
    name, own = found
    called, kind = _called(own), FORMATS.find(name)
    strange = format is not None and not any(recognises(kind, part) for part in own)
    with _no_export(called, kind) if strange else _strange(called, kind):
        rows = _read(called, name, own, options, single=single)
    notes = (*rows.facts.notes, *_of_aside([part for part in parts if part not in own], options))
    return replace(rows, facts=replace(rows.facts, notes=notes))


def _of_aside(parts: Sequence[Part], options: Reading) -> tuple[str, ...]:
    """Say which files were not read, since they are of no known format: names may be people's."""
    if parts and options.anonymise:
        return (f"of no known format, and not read: {count(len(parts), 'file')}",)
    names = written([part.name for part in parts])
    return (f"of no known format, and not read: {names}",) if parts else ()


def _called(parts: Sequence[Part]) -> str:
    """Name files in a sentence: by their folder or zip, since files may be named after people."""
    if len(parts) == 1:
        return parts[0].name
    homes = {part.home for part in parts}
    if len(homes) == 1 and None not in homes:
        return str(homes.pop())
    return f"{parts[0].name} and {len(parts) - 1:,} more"


@contextmanager
def _no_export(called: str, kind: ExportFormat) -> Iterator[None]:
    """Say in one sentence that files without the marks of a format cannot be read as one, too."""
    try:
        yield
    except Exception as error:  # files of any kind: whatever a reader stumbles over
        if isinstance(error, CoterieError) and (error.argument or not isinstance(error, DataError)):
            raise  # it was read, and the question is which part of it
        raise DataError(
            f"{called} is no {kind.title} export",
            argument="format",
            remedy=["leave out ", Argument("format"), " to have the format told from the content"],
        ) from error


@contextmanager
def _strange(called: str, kind: ExportFormat) -> Iterator[None]:
    """Say in one sentence that an export is not as the platform writes it."""
    try:
        yield
    except CoterieError:
        raise
    # A value where an object was expected, a number of 5,000 digits, half a character, ...
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as e:
        raise DataError(
            f"{called} looks like an export of {kind.title}, but holds what such a one does not "
            f"({type(e).__name__}: {e})",
            argument="format",
            remedy=["export it again, or pass ", Argument("format", TABLE), " if it is a table"],
        ) from e


def _read(
    called: str, name: str, own: Sequence[Part], options: Reading, *, single: bool
) -> ExportRows:
    """Read files of one format."""
    kind = FORMATS.find(name)
    if name in BUILT_IN and options.annotators not in (None, *ANNOTATORS):
        told = Argument("annotators", options.annotators)
        raise DataError([told, not_one_of(options.annotators, ANNOTATORS)])
    submissions = list(_collected(kind, own, options))
    stray = 1.0 if single else kind.stray
    telling = [one for one in submissions if one.gold or counts(one, options)] or submissions
    questions = questions_of(telling, stray, options.option)
    question = choose(called, questions, options)
    rows = rows_from(submissions, question, options)
    taken = {"item": kind.item, "annotator": kind.annotator, **kind.taken(own, options)}
    notes = (*rows.facts.notes, *kind.notes(own, options), *items_inside(rows))
    return replace(
        rows,
        source=Source(called, Format.EXPORT, own[0].file.path),
        facts=replace(
            rows.facts,
            format=name,
            title=kind.title,
            item=taken["item"] if options.item is None else str(options.item),
            annotator=taken["annotator"] if options.annotator is None else str(options.annotator),
            notes=notes,
        ),
    )


def _collected(kind: ExportFormat, parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Read, with the fields that were asked for as items and annotators."""
    for submission in kind.read(parts, options):
        changed: dict[str, Any] = {}
        for role in ("item", "annotator"):
            asked = getattr(options, role)
            if asked is not None and asked != getattr(kind, role):
                changed[role] = _asked_field(submission, role, asked)
        yield submission._replace(**changed) if changed else submission


def _asked_field(submission: Submission, role: str, name: str) -> Any:
    found = scalar(field_of(submission.fields, name))
    if found is None:
        raise DataError(
            [
                f"item {submission.item!r} has no field {name!r}, which ",
                Argument(role),
                f" asks for; its fields are {written(_paths(submission.fields))}",
            ]
        )
    return found


def _paths(fields: Mapping[str, Any]) -> list[str]:
    """Name fields as they can be asked for."""
    found = []
    for name, value in fields.items():
        found += [f"{name}.{below}" for below in value] if isinstance(value, Mapping) else [name]
    return found
