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
NO_ANSWER, SLIPS, GOLD_UNCLEAR = "no_answer", "several", "gold with several answers"
STRICTER = frozenset({"accepted", "done", "trusted", "parsed"})
"""Words of ``keep`` that leave out more, and name no status."""
_FEWEST_WORDS = 4
"""Different answers below which nothing is said of answers that belong to one item."""


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


def counts(submission: Submission, options: Reading) -> bool:
    """Tell whether a submission's status lets it count."""
    return not submission.status or submission.status.lower() in options.keep


@dataclass
class _Sorting:
    """Submissions, sorted one by one."""

    question: Question
    options: Reading
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    known: dict[Hashable, set[Hashable]] = field(default_factory=dict)
    slips: list[Hashable] = field(default_factory=list)
    has_gold_field: bool = False

    def take(self, submission: Submission) -> None:
        """Sort one submission: status first, the answer second."""
        if scalar(submission.item) is None:
            self.left_out["without an item"] += 1
            return
        self._note_gold(submission)
        answer = submission.answers.get(self.question.name, MISSING)
        if answer is MISSING and not submission.asks_all:
            return
        if not counts(submission, self.options):
            self.left_out[submission.status] += 1
            return
        label = self._label(None if answer is MISSING else answer)
        if scalar(submission.annotator) is None:
            self.left_out["without an annotator"] += 1
        elif label is None or label is SEVERAL:
            self.left_out[NO_ANSWER if label is None else SLIPS] += 1
            self.slips += [submission.item] if label is SEVERAL else []
        else:
            time, seconds = moment(submission.time), _number(submission.seconds)
            self.rows.append((submission.item, submission.annotator, label, time, seconds))
            self.kept[submission.status] += bool(submission.status)

    def _label(self, answer: Any) -> Any:
        return label_of(answer, self.question, self.options.option)

    def _note_gold(self, submission: Submission) -> None:
        """Note what is known of the item: the field that was asked for, else references."""
        name = self.question.name
        if self.options.gold:
            told = field_of(submission.fields, self.options.gold)
            self.has_gold_field = self.has_gold_field or told is not MISSING
            self._note(submission.item, [scalar(told)])
            return
        if name in submission.known:
            self._note(submission.item, [self._label(submission.known[name])])
        if submission.gold and (name in submission.answers or submission.asks_all):
            self._note(submission.item, [self._label(submission.answers.get(name))])

    def _note(self, item: Hashable, labels: Iterable[Any]) -> None:
        for label in labels:
            if label is not None:  # several answers accepted are no single truth
                several = {label, ""} if label is SEVERAL else {label}
                self.known.setdefault(item, set()).update(several)


def rows_from(
    submissions: Sequence[Submission], question: Question, options: Reading
) -> ExportRows:
    """Sort what was submitted into labels, known labels and what does not count."""
    sorting = _Sorting(question, options)
    for submission in submissions:
        sorting.take(submission)
    rows, left_out = sorting.rows, sorting.left_out
    known = {item: next(iter(said)) for item, said in sorting.known.items() if len(said) == 1}
    if len(known) < len(sorting.known):
        left_out[GOLD_UNCLEAR] = len(sorting.known) - len(known)
    if all(row[3] is not None for row in rows):
        rows.sort(key=lambda row: row[3])
    item, annotator, label, time, seconds = map(list, zip(*rows, strict=True)) if rows else [[]] * 5
    gold = [known.get(one) for one in item]
    cells = (item, annotator, label, gold, time, seconds)
    facts = Export(
        format="",
        title="",
        question=question.name,
        kind=question.kind,
        option=options.option,
        left_out=tuple(sorted(left_out.items())),
        kept=tuple(sorted((+sorting.kept).items())),
        gold=len(known.keys() & set(item)),
        told=_told(options),
        notes=(*_of_slips(sorting.slips), *_of_kept(submissions, options)),
    )
    columns = dict(zip(COLUMNS, cells, strict=True))
    return ExportRows(columns, facts, Source("", Format.EXPORT), known, sorting.has_gold_field)


def _of_slips(items: Sequence[Hashable]) -> tuple[str, ...]:
    """Say of which items somebody ticked several options where one was meant."""
    which = written(list(dict.fromkeys(items)))
    return (f"several options where one was meant: item {which}",) if items else ()


def _of_kept(submissions: Iterable[Submission], options: Reading) -> tuple[str, ...]:
    """Say which words that were to be kept no submission goes by."""
    there = {one.status.lower() for one in submissions}
    unmet = sorted(frozenset(options.keep) - there - STRICTER)
    told = [f"{word!r}{did_you_mean(word, there)}" for word in unmet]
    return (f"nothing to keep is called {join(told, 'or')}",) if unmet else ()


def items_inside(rows: ExportRows) -> list[str]:
    """Say so if every answer belongs to one item: then the item is perhaps inside the answer."""
    items: dict[Hashable, set[Hashable]] = {}
    for item, label in zip(rows.columns["item"], rows.columns["label"], strict=True):
        items.setdefault(label, set()).add(item)
    one_each = all(len(some) == 1 for some in items.values())
    if not one_each or len(items) < _FEWEST_WORDS or len(set(rows.columns["item"])) < 2:
        return []
    return [
        "every answer is said of one item only: if the item is inside the answer, make a table of "
        "one row per label"
    ]


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _told(options: Reading) -> tuple[tuple[str, Any], ...]:
    """Give what was asked besides the question, so that the call can be made again."""
    plain = Reading()
    told = {
        name: getattr(options, name)
        for name in ("item", "annotator", "annotators", "order", "threshold", "workflow")
        if getattr(options, name) != getattr(plain, name)
    }
    if options.keep:
        told["keep"] = tuple(sorted(options.keep))
    return tuple(told.items())


ANNOTATORS = (PREDICTIONS, SUGGESTIONS, SCORERS, SHARED)
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


def named_by(rows: ExportRows, source: Any) -> ExportRows:
    """Note the files as the user named them."""
    several = isinstance(source, (list, tuple))
    names = [
        str(one.path if isinstance(one, File) else one) for one in (source if several else [source])
    ]
    own = replace(rows.source, path=names[0])
    return replace(
        rows, source=own, facts=replace(rows.facts, paths=tuple(names) if len(names) > 1 else ())
    )


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
    said: dict[Hashable, set[Hashable]] = {}
    for item, label in zip(rows.columns["item"], rows.columns["label"], strict=True):
        said.setdefault(item, set()).add(label)
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
