"""Which column holds what, in the long form or the wide one, and its cells as triples of codes.

Columns are guessed from the names people use, and refused when two fit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from coterie.data.codes import Array, FloatArray
from coterie.data.table import Coded, Table, Unusable, code_objects, in_order, value_array
from coterie.errors import Argument, DataError, alternatives
from coterie.words.values import did_you_mean, join, written
from coterie.words.visible import quoted, text_of

# Names by role, best first, from crowd-kit, cleanlab, rater, spark-crowd, the Active Crowd Toolkit,
# Get-Another-Label, NLTK, Mechanical Turk, CrowdFlower, Toloka, Prodigy, Label Studio and published
# data sets. Each also counts with "id" behind it, annotators with "name", and in the plural.
NAMES = {
    "item": (
        "item task question example instance unit object hit orig inputhash",
        "documentid docid sampleid sentenceid imageid tweetid postid queryid pairid recordid "
        "caseid",
        "id uid",
        "document doc sample sentence image tweet post query pair record case",
    ),
    "annotator": (
        "annotator worker amtworker rater coder judge labeler labeller assessor reviewer "
        "evaluator grader contributor turker performer",
        "user participant expert model session completedby createdby",
    ),
    "label": (
        "label answer response rating judgment judgement annotation choice vote verdict "
        "workerlabel workeranswer workerresponse annotatorlabel raterlabel",
        "class category value result",
    ),
}
GOLD = (
    "gold goldlabel goldanswer goldstandard truth truelabel trueclass groundtruth correct "
    "correctlabel correctanswer expected reference"
)
ROLES = ("item", "annotator", "label")
_ENDINGS = {"item": ("id", ""), "annotator": ("id", "", "name"), "label": ("",)}


class Asked(NamedTuple):
    """The columns the user named, None where coterie is to guess."""

    item: Hashable | None = None
    annotator: Any = None  # a name, or the names of the wide form's columns
    label: Hashable | None = None


class Columns(NamedTuple):
    """The places of the columns taken; in the wide form there is no label column."""

    item: int
    annotators: tuple[int, ...]
    label: int | None


class Triples(NamedTuple):
    """The codes of each label's item, annotator and answer; items and annotators in order."""

    item: Coded  # codes (labels,)
    annotator: Coded  # codes (labels,)
    label: Coded  # codes (labels,); values as they came
    row: Array | None  # (labels,) the row each came from; None if label and row are the same
    item_of_row: Array  # (rows,)

    def rows_of(self, labels: Array) -> Array:
        """Give the rows that these labels came from."""
        return labels if self.row is None else self.row[labels]


def plain(name: Hashable) -> str:
    """Give a column's name without case, blanks and signs."""
    return re.sub(r"[\W_]+", "", re.sub(r"^assignment:", "", text_of(name), flags=re.I)).casefold()


def place_of(table: Table, name: Hashable, argument: str) -> int:
    """Find the column the user named."""
    places = [place for place, column in enumerate(table.columns) if _is(column, name)]
    if not places:
        raise DataError(
            [
                f"{table.name} has no column {quoted(name)}, which ",
                Argument(argument),
                f" asks for{did_you_mean(name, table.columns)}; "
                f"its columns are {written(table.columns)}",
            ]
        )
    if len(places) > 1:
        raise _of_one_name(table, len(places), name)
    return places[0]


def _of_one_name(table: Table, n: int, name: Hashable) -> DataError:
    return DataError(f"{table.name} has {n} columns called {quoted(name)}", remedy="rename one")


def _is(column: object, name: object) -> bool:
    """Compare two names, of which either may be what answers with no yes or no (pandas.NA)."""
    try:
        return bool(column == name)
    except (TypeError, ValueError):
        return column is name


def guess(table: Table, role: str, taken: Sequence[int] = ()) -> int | None:
    """Find the column whose name fits a role best; None if none fits, an error if several do.

    Of a thing and its id (``question``, ``question_id``) the id is taken.
    """
    fits = [
        (*fit, place)
        for place, column in enumerate(table.columns)
        if place not in taken and (fit := _fit(role, column)) is not None
    ]
    if not fits:
        return None
    lowest = min(fits)[0]
    best = [fit for fit in fits if fit[0] == lowest]
    forms = {stem: min(form for _, other, form, _ in best if other == stem) for _, stem, *_ in best}
    places = sorted(place for _, stem, form, place in best if form == forms[stem])
    if len(places) == 1:
        return places[0]
    columns = [table.columns[place] for place in places]
    name, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise _of_one_name(table, count, name)
    raise DataError(
        f"{len(columns)} columns of {table.name} fit the {role} equally well, "
        f"{join([quoted(column) for column in columns])}",
        remedy=["pass ", *alternatives([Argument(role, column) for column in columns])],
    )


def _fit(role: str, column: Hashable) -> tuple[int, str, int] | None:
    """Give (rank, what the column is about, how it is written), lower is better, or None."""
    if role == "label" and re.match(r"(output:|answer\.).", text_of(column), flags=re.I):
        return 0, text_of(column), 0  # Toloka and Mechanical Turk: one column per question
    name = plain(column)
    for rank, stems in enumerate(NAMES[role]):
        for stem in stems.split():
            for form, ending in enumerate(_ENDINGS[role]):
                if name in (stem + ending, stem + ending + "s"):
                    return rank, stem, form
    return None


def gold_like(table: Table) -> list[int]:
    """Find the columns named like known labels."""
    return [
        place
        for place, column in enumerate(table.columns)
        if plain(column) in GOLD.split() or text_of(column).lower().startswith("golden:")
    ]


def find_long(table: Table, asked: Asked) -> Columns | None:
    """Find the three columns of the long form; None if neither annotator nor label has one."""
    named = [(role, name) for role, name in zip(ROLES, asked, strict=True) if name is not None]
    found: dict[str, int | None] = {role: place_of(table, name, role) for role, name in named}
    taken = [place for place in found.values() if place is not None]
    found |= {role: guess(table, role, taken) for role in ROLES if role not in found}
    item, annotator, label = (found[role] for role in ROLES)
    if annotator is None and label is None:
        return None
    if item is None or annotator is None or label is None:
        raise _not_found(table, next(role for role in ROLES if found[role] is None))
    if len({item, annotator, label}) < 3:
        raise DataError(
            f"item, annotator and label must be three different columns of {table.name}, "
            f"got {written(table.columns[place] for place in (item, annotator, label))}"
        )
    return Columns(item, (annotator,), label)


def _not_found(table: Table, role: str) -> DataError:
    stems = [stem for some in NAMES[role] for stem in some.split()]
    free = [name for name in table.columns if not any(_fit(other, name) for other in ROLES)]
    near = (x for x in free if get_close_matches(plain(x).removesuffix("id"), stems, n=1))
    nearly = next((f" (did you mean {quoted(column)}?)" for column in near), "")
    wide = (", or ", Argument(role, several=True), " if there is one column per annotator")
    return DataError(
        f"no column of {table.name} is named like the {role} ({', '.join(stems[:2])}, ...){nearly};"
        f" its columns are {written(table.columns)}",
        remedy=["pass ", Argument(role), *(wide if role == "annotator" else ())],
    )


def _not_recognised(table: Table) -> DataError:
    """Say that neither form was recognised; that the first row is data, if it stands below too."""
    cells = zip(table.columns, table.read(range(len(table.columns))), strict=True)
    below = (name for name, coded in cells if name in set(coded.values.tolist()))
    seems = (
        f", and {quoted(name)} also stands below: if the first row is data, put a line such as "
        "item,annotator,label above it"
        for name in below
    )
    item, annotator, label = map(Argument, ROLES)
    return DataError(
        f"{table.name} has no columns named like annotator and label, and is not one row per item "
        f"with one column per annotator; its columns are {written(table.columns)}{next(seems, '')}",
        remedy=[
            *("pass ", item, ", ", annotator, " and ", label),
            *(", or ", Argument("annotator", several=True), " with the annotators' columns"),
        ],
    )


def read_triples(
    table: Table, asked: Asked, gold: int | None
) -> tuple[Columns, Triples, Coded | None]:
    """Find the columns and read them, long or wide, with each row's gold if there is a column."""
    columns = _asked_wide(table, asked) or find_long(table, asked)
    columns = _guessed_wide(table, asked, gold) if columns is None else columns
    places = [columns.item, *columns.annotators]
    places += [place for place in (columns.label, gold) if place is not None]
    cells = table.read(places)
    if not len(cells[0].codes):
        raise DataError(
            f"{table.name} has no rows, only the columns {written(table.columns)}; "
            "expected one row per label"
        )
    known = None if gold is None else cells.pop()
    return columns, (_wide if columns.label is None else _long)(table, columns, cells), known


def _long(table: Table, columns: Columns, cells: list[Coded]) -> Triples:
    for role, coded in zip(ROLES, cells, strict=True):
        refuse_blanks(table, role, coded)
    item, annotator = in_order(cells[0]), in_order(cells[1])
    return Triples(item, annotator, cells[2], None, item.codes)


def refuse_blanks(table: Table, role: str, coded: Coded) -> None:
    """Refuse missing cells, with their rows."""
    if coded.codes.min(initial=0) < 0:
        (blank,) = np.nonzero(coded.codes < 0)
        one = len(blank) == 1
        raise DataError(
            f"{table.rows(blank)} {'has' if one else 'have'} a blank {role}; "
            f"fill {'it' if one else 'them'} in, or remove the {'row' if one else 'rows'}"
        )


def _wide(table: Table, columns: Columns, cells: list[Coded]) -> Triples:
    refuse_blanks(table, "item", cells[0])
    item, answers = in_order(cells[0]), cells[1:]
    # One vocabulary for all columns; each column's values are a stretch of the merged codes.
    try:
        merged = code_objects([value for coded in answers for value in coded.values.tolist()])
    except Unusable as error:
        raise error.where(f"the annotators' columns of {table.name} hold") from error
    given = [np.flatnonzero(coded.codes >= 0) for coded in answers]
    first = np.cumsum([0, *(len(coded.values) for coded in answers)])
    labels = [
        merged.codes[start + coded.codes[rows]]
        for start, coded, rows in zip(first, answers, given, strict=False)
    ]
    row = np.concatenate(given)
    names = value_array(table.columns[place] for place in columns.annotators)
    who = np.repeat(np.arange(len(given), dtype=np.int32), list(map(len, given)))
    return Triples(
        Coded(item.codes[row], item.values),
        in_order(Coded(who, names)),
        Coded(np.concatenate(labels), merged.values),
        row,
        item.codes,
    )


def _asked_wide(table: Table, asked: Asked) -> Columns | None:
    """Take the annotators' columns if the user listed them; one column's name may be a tuple."""
    names = asked.annotator
    if isinstance(names, str) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) == 0:
        return None
    if isinstance(names, tuple) and names in table.columns:
        return None
    names = list(names)
    if asked.label is not None:
        raise DataError(
            [
                *(Argument("annotator"), " lists columns, one per annotator, whose cells are the "),
                *("labels: ", Argument("label", asked.label), " has no place"),
            ],
            argument="label",
            remedy="leave it out, or pass one annotator column",
        )
    places = tuple(place_of(table, name, "annotator") for name in names)
    if len(set(places)) < len(places) or not places:
        raise DataError(
            [Argument("annotator"), " must list each annotator's column once, and at least one"]
        )
    item = _item_of_wide(table, asked, places)
    if item is None:
        raise DataError(
            f"no column of {table.name} is named like the item; "
            f"its columns are {written(table.columns)}",
            remedy=["pass ", Argument("item")],
        )
    return Columns(item, places, None)


def _item_of_wide(table: Table, asked: Asked, taken: Sequence[int]) -> int | None:
    if asked.item is not None:
        return place_of(table, asked.item, "item")
    place = guess(table, "item", taken)
    return table.index if place is None else place


def _guessed_wide(table: Table, asked: Asked, gold: int | None) -> Columns:
    """Take every other column as an annotator, if they all speak the same words.

    At least two columns are not blank, half of all words are said in more than one column, and
    words come back: there are at least twice as many cells as different words.
    """
    item = _item_of_wide(table, asked, ())
    if item is None:
        raise _not_recognised(table)
    left_out = {item, gold, *gold_like(table)}
    places = [place for place in range(len(table.columns)) if place not in left_out]
    names = [table.columns[place] for place in places]
    if len(set(names)) < len(names):
        raise _not_recognised(table)
    columns = table.read(places)
    spoken = [set(coded.values.tolist()) for coded in columns if len(coded.values)]
    speakers = Counter(word for words in spoken for word in words)
    shared = 2 * sum(count > 1 for count in speakers.values()) >= len(speakers)
    cells = sum(int(np.count_nonzero(coded.codes >= 0)) for coded in columns)
    if len(spoken) < 2 or not shared or cells < 2 * len(speakers):
        raise _not_recognised(table)
    return Columns(item, tuple(places), None)


_ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6}
_ZONES |= {"CDT": -5, "EST": -5, "EDT": -4, "BST": 1, "CET": 1, "CEST": 2}
_MTURK = re.compile(r"\w{3} (\w{3} \d\d? \d\d:\d\d:\d\d) ([A-Z]{3,4}) (\d{4})")  # Jan 09 .. PST
_MILLISECONDS = 1e11  # seconds beyond the year 5000 are milliseconds


def moment(told: Any) -> float | None:
    """Give seconds since 1970, in UTC unless a zone is named; None if it is no time.

    Examples
    --------
    >>> moment("2017-01-06 20:36:55 UTC") == moment("2017-01-06T20:36:55.000Z")
    True
    >>> moment("Mon Jan 09 14:06:01 PST 2017"), moment(1652787105), moment("1652787105")
    (1483999561.0, 1652787105.0, 1652787105.0)
    >>> moment("3/24/2016 17:57"), moment("3/24/2016 5:57:00 PM"), moment("soon")
    (1458842220.0, 1458842220.0, None)
    """
    if isinstance(told, bool) or told is None:
        return None
    if isinstance(told, (int, float)):
        number = float(told)
        return number / 1000 if abs(number) > _MILLISECONDS else number
    try:
        found = _parsed(str(told).strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _parsed(text: str) -> datetime:
    told = _MTURK.fullmatch(text)
    if told:
        day, zone, year = told.groups()
        if zone not in _ZONES:  # better no time than a wrong one
            raise ValueError(zone)
        place = timezone(timedelta(hours=_ZONES[zone]))
        return datetime.strptime(f"{day} {year}", "%b %d %H:%M:%S %Y").replace(tzinfo=place)
    if re.match(r"\d\d?/\d\d?/\d{4} ", text):  # CrowdFlower: month first
        clock = "%H:%M:%S" if text.count(":") == 2 else "%H:%M"
        clock = clock.replace("%H", "%I") + " %p" if text[-1] in "Mm" else clock
        return datetime.strptime(text, f"%m/%d/%Y {clock}")
    if re.fullmatch(r"\d{9,}(\.\d+)?", text):  # seconds since 1970, written in a table
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment(float(text)) or 0.0)
    return datetime.fromisoformat(text.removesuffix(" UTC"))


def elapsed(start: Any, end: Any) -> float | None:
    """Give the seconds from one time to another; None if either is none."""
    begin, finish = moment(start), moment(end)
    return None if begin is None or finish is None else finish - begin


def read_times(table: Table, place: int) -> FloatArray:
    """Read a column of times: numbers, which stay as they are, or dates, as seconds since 1970."""
    (coded,) = table.read([place])
    (blank,) = np.nonzero(coded.codes < 0)
    if len(blank):
        raise DataError(
            f"{table.rows(blank[:1])} has no time",
            argument="time",
            remedy="fill it in, or remove the row",
        )
    numbers = np.empty(len(coded.values))
    for k, value in enumerate(coded.values):
        try:
            number: float | None = float(value)
        except (TypeError, ValueError):
            number = moment(value.isoformat() if isinstance(value, datetime) else text_of(value))
        if number is None:
            (rows,) = np.nonzero(coded.codes == k)
            raise DataError(
                f"the time {quoted(text_of(value))} in {table.rows(rows[:1])} is neither a "
                "number nor a date; write 2026-01-31T12:30:00"
            )
        if not np.isfinite(number):
            raise DataError(f"the time {quoted(value)} in {table.name} is no finite number")
        numbers[k] = number
    return numbers[coded.codes]
