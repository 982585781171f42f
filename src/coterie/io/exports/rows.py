"""What was submitted -> one row per label, known labels, and what does not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from coterie.data import Table
from coterie.data.moments import moment
from coterie.data.provenance import Export, Format, Source
from coterie.data.table import columns_table
from coterie.io.exports.labels import SEVERAL, label_of
from coterie.io.exports.port import Submission
from coterie.io.exports.questions import Question
from coterie.io.exports.values import MISSING, field_of, scalar
from coterie.io.reading import Reading
from coterie.words.values import did_you_mean, join, written

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
