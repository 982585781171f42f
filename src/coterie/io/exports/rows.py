"""Files of an export -> what was submitted -> one row per label, what is known -> Annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.data import Table, annotations_from
from coterie.data.annotations import Annotations
from coterie.data.columns import ROLES, moment
from coterie.data.provenance import OWN_GOLD, Export, Format, Source
from coterie.data.table import columns_table
from coterie.errors import Argument, CoterieError, DataError, Words
from coterie.io.exports.crowds import is_manifest, manifest_labels
from coterie.io.exports.evaluations import SCORERS
from coterie.io.exports.label_studio import PREDICTIONS
from coterie.io.exports.part import Part, Path_, parts_of
from coterie.io.exports.port import MISSING, ExportFormat, Submission, field_of, scalar
from coterie.io.exports.questions import (
    SEVERAL,
    SINGLE,
    Question,
    choose,
    in_order,
    label_of,
    questions_of,
)
from coterie.io.exports.registry import BUILT_IN, FORMATS, TABLE, recognised, recognises
from coterie.io.exports.tools import SHARED, SUGGESTIONS
from coterie.io.files import File, find
from coterie.io.reading import Reading
from coterie.io.tables import table_of_file
from coterie.words.numbers import count
from coterie.words.values import did_you_mean, join, not_one_of, written

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("item", "annotator", "label", "gold", "time", "seconds")
STRICTER = frozenset({"accepted", "done", "trusted", "parsed"})
"""Words of ``keep`` that leave out more, and name no status."""
ANNOTATORS = (PREDICTIONS, SUGGESTIONS, SCORERS, SHARED)
"""Whose labels may be read in place of the annotators'."""


@dataclass(frozen=True)
class ExportRows:
    """What was read of an export: one row per label, in the order of time where it is known.

    Parameters
    ----------
    columns
        item, annotator, label, gold (None where unknown), time (seconds since 1970), seconds.
    facts
        Which question was read, and what was left out.
    source
        What was read.
    known
        Known labels, by item: of items nobody labelled, too.
    has_gold_field
        The field that was asked for as gold is one of the export.
    """

    columns: Mapping[str, list[Any]]
    facts: Export
    source: Source
    known: Mapping[Hashable, Hashable]
    has_gold_field: bool = False

    @property
    def timed(self) -> bool:
        """Whether every label has a time."""
        return all(time is not None and isfinite(time) for time in self.columns["time"])

    def table(self, gold: str) -> Table:
        """See items, annotators, labels, their times and known labels, of this name, as a table."""
        names = (*COLUMNS[:3], "time") if self.timed else COLUMNS[:3]
        columns: dict[Hashable, list[Any]] = {name: self.columns[name] for name in names}
        said = "labels that count; the first is row 0"
        return columns_table(self.source, {**columns, gold: self.columns["gold"]}, counted=said)

    def frame(self) -> pd.DataFrame:
        """Give the rows as a frame: item, annotator, label, gold, time (UTC), seconds."""
        import pandas as pd

        frame = pd.DataFrame(
            {name: pd.Series(self.columns[name], dtype=object) for name in COLUMNS}
        )
        frame["time"] = pd.to_datetime(frame["time"].astype(float), unit="s", utc=True)
        frame["seconds"] = frame["seconds"].astype(float)
        return frame


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
    found = None if format == TABLE else recognised(parts, format)
    if found is None:
        return None
    name, own = found
    called, kind = _called(own), FORMATS.find(name)
    strange = format is not None and not any(recognises(kind, part) for part in own)
    with _no_export(called, kind) if strange else _strange(called, kind):
        if name in BUILT_IN and options.annotators not in (None, *ANNOTATORS):
            told = Argument("annotators", options.annotators)
            raise DataError([told, not_one_of(options.annotators, ANNOTATORS)])
        submissions = [_with_fields(one, kind, options) for one in kind.read(own, options)]
        telling = [one for one in submissions if one.gold or _counts(one, options)] or submissions
        stray = 1.0 if single else kind.stray
        question = choose(called, questions_of(telling, stray, options.option), options)
        taken: dict[str, Any] = {"item": kind.item, "annotator": kind.annotator}
        taken |= kind.taken(own, options)
        asked = {role: getattr(options, role) for role in taken}
        taken |= {role: str(told) for role, told in asked.items() if told is not None}
        rows = _Sorting(question, options).rows_of(submissions)
        notes = [*rows.facts.notes, *kind.notes(own, options), *_items_inside(rows)]
    if aside := [part.name for part in parts if part not in own]:  # names may be people's
        names = count(len(aside), "file") if options.anonymise else written(aside)
        notes.append(f"of no known format, and not read: {names}")
    facts = replace(rows.facts, format=name, title=kind.title, notes=tuple(notes), **taken)
    return replace(rows, source=Source(called, Format.EXPORT, own[0].file.path), facts=facts)


def _called(parts: Sequence[Part]) -> str:
    """Name files in a sentence: by their folder or zip, since files may be named after people."""
    homes = {part.home for part in parts}
    if len(parts) > 1 and len(homes) == 1 and None not in homes:
        return str(homes.pop())
    return parts[0].name + (f" and {len(parts) - 1:,} more" if len(parts) > 1 else "")


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


def _counts(submission: Submission, options: Reading) -> bool:
    """Tell whether a submission's status lets it count."""
    return not submission.status or submission.status.lower() in options.keep


def _with_fields(submission: Submission, kind: ExportFormat, options: Reading) -> Submission:
    """Give a submission with the fields that were asked for as item and annotator."""
    changed: dict[str, Any] = {}
    for role, own in (("item", kind.item), ("annotator", kind.annotator)):
        asked = getattr(options, role)
        if asked is None or asked == own:
            continue
        changed[role] = scalar(field_of(submission.fields, asked))
        if changed[role] is None:
            names: list[str] = []  # as they can be asked for
            for name, cell in submission.fields.items():
                names += [f"{name}.{x}" for x in cell] if isinstance(cell, Mapping) else [name]
            has_no = f"item {submission.item!r} has no field {asked!r}, which "
            raise DataError([has_no, Argument(role), f" asks for; its fields are {written(names)}"])
    return submission._replace(**changed) if changed else submission


@dataclass
class _Sorting:
    """What was submitted, sorted one by one into labels, known labels and what does not count."""

    question: Question
    options: Reading
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    known: dict[Hashable, set[Hashable]] = field(default_factory=dict)
    slips: dict[Hashable, None] = field(default_factory=dict)
    has_gold_field: bool = False

    def rows_of(self, submissions: Sequence[Submission]) -> ExportRows:
        """Sort all."""
        for submission in submissions:
            self._take(submission)
        rows, question, options = self.rows, self.question, self.options
        known = {item: next(iter(said)) for item, said in self.known.items() if len(said) == 1}
        if len(known) < len(self.known):
            self.left_out["gold with several answers"] = len(self.known) - len(known)
        if all(row[3] is not None for row in rows):
            rows.sort(key=lambda row: row[3])
        item, annotator, label, time, seconds = zip(*rows, strict=True) if rows else [()] * 5
        gold = [known.get(one) for one in item]
        cells = map(list, (item, annotator, label, gold, time, seconds))
        notes = []
        if self.slips:
            notes.append(f"several options where one was meant: item {written(list(self.slips))}")
        there = {one.status.lower() for one in submissions}
        if unmet := sorted(frozenset(options.keep) - there - STRICTER):
            near = [f"{word!r}{did_you_mean(word, there)}" for word in unmet]
            notes.append(f"nothing to keep is called {join(near, 'or')}")
        names = ("item", "annotator", "annotators", "order", "threshold", "workflow")
        told = [(name, getattr(options, name)) for name in names]
        told = [(name, value) for name, value in told if value != getattr(Reading(), name)]
        facts = Export(
            format="",
            title="",
            question=question.name,
            kind=question.kind,
            option=options.option,
            left_out=tuple(sorted(self.left_out.items())),
            kept=tuple(sorted((+self.kept).items())),
            gold=len(known.keys() & set(item)),
            told=(*told, *([("keep", tuple(sorted(options.keep)))] if options.keep else [])),
            notes=tuple(notes),
        )
        columns, source = dict(zip(COLUMNS, cells, strict=True)), Source("", Format.EXPORT)
        return ExportRows(columns, facts, source, known, self.has_gold_field)

    def _take(self, submission: Submission) -> None:
        """Sort one submission: status first, the answer second."""
        item = submission.item
        if scalar(item) is None:
            self.left_out["without an item"] += 1
            return
        self._note_gold(submission)
        answer = submission.answers.get(self.question.name, MISSING)
        if answer is MISSING and not submission.asks_all:
            return
        if not _counts(submission, self.options):
            self.left_out[submission.status] += 1
            return
        label = self._label(None if answer is MISSING else answer)
        if scalar(submission.annotator) is None:
            self.left_out["without an annotator"] += 1
        elif label is None:
            self.left_out["no_answer"] += 1
        elif label is SEVERAL:
            self.left_out["several"] += 1
            self.slips[item] = None
        else:
            time, seconds = moment(submission.time), _number(submission.seconds)
            self.rows.append((item, submission.annotator, label, time, seconds))
            self.kept[submission.status] += bool(submission.status)

    def _label(self, answer: Any) -> Any:
        return label_of(answer, self.question, self.options.option)

    def _note_gold(self, submission: Submission) -> None:
        """Note what is known of the item: the field that was asked for, else references."""
        name, told = self.question.name, []
        if self.options.gold:
            cell = field_of(submission.fields, self.options.gold)
            self.has_gold_field = self.has_gold_field or cell is not MISSING
            told = [scalar(cell)]
        else:
            if name in submission.known:
                told = [self._label(submission.known[name])]
            if submission.gold and (name in submission.answers or submission.asks_all):
                told.append(self._label(submission.answers.get(name)))
        for label in told:
            if label is not None:  # several answers accepted are no single truth
                several = {label, ""} if label is SEVERAL else {label}
                self.known.setdefault(submission.item, set()).update(several)


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _items_inside(rows: ExportRows) -> list[str]:
    """Say so if every answer belongs to one item: then the item is perhaps inside the answer."""
    items = _items_by(rows, "label", "item")
    if any(len(some) > 1 for some in items.values()) or len(items) < 4:
        return []
    said = (
        "every answer is said of one item only: if the item is inside the answer, make a table of"
    )
    return [f"{said} one row per label"] if len(set(rows.columns["item"])) > 1 else []


def _items_by(rows: ExportRows, by: str, what: str) -> dict[Hashable, set[Hashable]]:
    found: dict[Hashable, set[Hashable]] = {}
    for key, value in zip(rows.columns[by], rows.columns[what], strict=True):
        found.setdefault(key, set()).add(value)
    return found


def named_by(rows: ExportRows, source: Any) -> ExportRows:
    """Note the files as the user named them."""
    given = source if isinstance(source, (list, tuple)) else [source]
    names = tuple(str(one.path if isinstance(one, File) else one) for one in given)
    facts = replace(rows.facts, paths=names if len(names) > 1 else ())
    return replace(rows, source=replace(rows.source, path=names[0]), facts=facts)


def annotations_of(
    rows: ExportRows, gold: Any, plain: Mapping[str, Any], options: Reading
) -> Annotations:
    """Make Annotations of rows; ``gold`` may be one of their fields, a file, or data."""
    if not rows.columns["item"]:
        models: Words = ["pass ", Argument("annotators", PREDICTIONS), " to read the models"]
        raise DataError(
            f"nothing in {rows.source.name} counts: {rows.facts.sentence()}",
            remedy=models if PREDICTIONS in dict(rows.facts.left_out) else "",
        )
    by_field = isinstance(gold, str) and rows.has_gold_field
    column = gold if by_field else OWN_GOLD
    known: Any = column if any(label is not None for label in rows.columns["gold"]) else None
    if gold is not None and not by_field:
        known = _of_file(rows, gold, options) if isinstance(gold, (str, PathLike, File)) else gold
    told = dict(plain)
    if known == OWN_GOLD and told["classes"] is None:
        told["classes"] = _classes(rows, told["extra_answers"])
    table, facts = rows.table(column), rows.facts
    roles: dict[str, Any] = {role: role for role in ROLES}
    roles["time"] = "time" if rows.timed else None
    return annotations_from(table, gold=known, export=facts, **roles, **told)


def _classes(rows: ExportRows, extra_answers: Any) -> tuple[Hashable, ...] | None:
    """Give the classes where a reference has one that nobody said; else None: every label seen."""
    said, never = set(rows.columns["label"]), set(extra_answers or ())
    unsaid = {label for label in rows.columns["gold"] if label is not None} - said - never
    return in_order([*(said - never), *unsaid]) if unsaid else None


def _of_file(rows: ExportRows, gold: str | PathLike[str] | File, options: Reading) -> Any:
    """Read known labels from a file: an export of references, or a table of items and labels."""
    if not isinstance(gold, File) and gold != "-" and not Path(gold).expanduser().exists():
        raise DataError(
            [Argument("gold", str(gold)), f" is neither a field of {rows.source.name} nor a file"]
        )
    parts = parts_of(gold)
    single = rows.facts.kind == SINGLE
    asked = replace(options, gold=None, question=rows.facts.question)
    known = rows_of(parts, None, asked, single=single)
    if known is None:
        return table_of_file(gold if isinstance(gold, File) else find(gold))
    labelled = set(rows.columns["item"])
    agreed = {item: label for item, label in _agreed(known).items() if item in labelled}
    path = gold.path if isinstance(gold, File) else str(gold)
    columns: dict[Hashable, list[Any]] = {"item": [*agreed], "label": [*agreed.values()]}
    return columns_table(replace(known.source, path=path), columns)


def _agreed(rows: ExportRows) -> dict[Hashable, Hashable]:
    """Give the labels on which all who labelled an item agree."""
    said = _items_by(rows, "item", "label")
    return {item: next(iter(one)) for item, one in said.items() if len(one) == 1}


def truth_in(source: Any, items: Collection[Hashable] = ()) -> dict[Hashable, Hashable] | None:
    """Give the true labels of an export: references, else what all agree on; None for a table.

    An output manifest of SageMaker holds no annotators, but a consensus.
    """
    parts = parts_of(source)
    if all(part.header for part in parts):
        return None
    if len(parts) == 1 and is_manifest(parts[0].first):
        return manifest_labels(parts[0], items)
    rows = rows_of(parts, None, Reading().of_export())
    return None if rows is None else dict(rows.known) or _agreed(rows)
