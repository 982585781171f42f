"""Which column holds what: guessed from the names people use, refused when two fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from coterie.data.table import Table
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
_STEMS = {role: [names.split() for names in NAMES[role]] for role in ROLES}
_ENDINGS = {"item": ("id", ""), "annotator": ("id", "", "name"), "label": ("",)}


class Columns(NamedTuple):
    """The places of the columns taken; in the wide form there is no label column."""

    item: int
    annotators: tuple[int, ...]
    label: int | None


class Asked(NamedTuple):
    """The columns the user named, None where coterie is to guess."""

    item: Hashable | None = None
    annotator: Any = None  # a name, or the names of the wide form's columns
    label: Hashable | None = None


def plain(name: Hashable) -> str:
    """Give a column's name without case, blanks and signs.

    Examples
    --------
    >>> plain("_worker_id"), plain("WorkerID"), plain("ASSIGNMENT:worker id")
    ('workerid', 'workerid', 'workerid')
    """
    return re.sub(r"[\W_]+", "", re.sub(r"^assignment:", "", text_of(name), flags=re.I)).casefold()


def place_of(table: Table, name: Hashable, argument: str) -> int:
    """Find the column the user named."""
    places = [place for place, column in enumerate(table.columns) if _is(column, name)]
    if not places:
        raise DataError(
            [
                *(
                    f"{table.name} has no column {quoted(name)}, which ",
                    Argument(argument),
                    f" asks for{did_you_mean(name, table.columns)}; ",
                ),
                f"its columns are {written(table.columns)}",
            ]
        )
    if len(places) > 1:
        raise DataError(
            f"{table.name} has {len(places)} columns called {quoted(name)}", remedy="rename one"
        )
    return places[0]


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
    fits: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for place, column in enumerate(table.columns):
        fit = _fit(role, column)
        if fit and place not in taken:
            rank, stem, form = fit
            fits.setdefault((rank, stem), []).append((form, place))
    if not fits:
        return None
    lowest = min(rank for rank, _ in fits)
    best = [
        place
        for (rank, _), forms in fits.items()
        for form, place in forms
        if rank == lowest and form == min(forms)[0]
    ]
    if len(best) > 1:
        raise _several_fit(table, role, best)
    return best[0]


def _fit(role: str, column: Hashable) -> tuple[int, str, int] | None:
    """Give (rank, what the column is about, how it is written), lower is better, or None."""
    if role == "label" and re.match(r"(output:|answer\.).", text_of(column), flags=re.I):
        return 0, text_of(column), 0  # Toloka and Mechanical Turk: one column per question
    name = plain(column)
    for rank, stems in enumerate(_STEMS[role]):
        for stem in stems:
            for form, ending in enumerate(_ENDINGS[role]):
                if name in (stem + ending, stem + ending + "s"):
                    return rank, stem, form
    return None


def _several_fit(table: Table, role: str, places: list[int]) -> DataError:
    columns = [table.columns[place] for place in sorted(places)]
    name, count = Counter(columns).most_common(1)[0]
    if count > 1:
        return DataError(
            f"{table.name} has {count} columns called {quoted(name)}", remedy="rename one"
        )
    return DataError(
        f"{len(columns)} columns of {table.name} fit the {role} equally well, "
        f"{join([quoted(column) for column in columns])}",
        remedy=["pass ", *alternatives([Argument(role, column) for column in columns])],
    )


def find_long(table: Table, asked: Asked) -> Columns | None:
    """Find the three columns of the long form; None if neither annotator nor label has one."""
    taken: dict[str, int] = {
        role: place_of(table, name, role)
        for role, name in zip(ROLES, asked, strict=True)
        if name is not None
    }
    guesses: dict[str, int | None] = {
        role: guess(table, role, list(taken.values())) for role in ROLES if role not in taken
    }
    found = guesses | taken
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
    usual = ", ".join(_STEMS[role][0][:2])
    wide = (", or ", Argument(role, several=True), " if there is one column per annotator")
    return DataError(
        f"no column of {table.name} is named like the {role} ({usual}, ...){_nearly(table, role)}; "
        f"its columns are {written(table.columns)}",
        remedy=["pass ", Argument(role), *(wide if role == "annotator" else ())],
    )


def _nearly(table: Table, role: str) -> str:
    """Ask for the column that is written nearly like a name of the role."""
    stems = [stem for stems in _STEMS[role] for stem in stems]
    free = [name for name in table.columns if not any(_fit(other, name) for other in ROLES)]
    for column in free:
        if get_close_matches(plain(column).removesuffix("id"), stems, n=1):
            return f" (did you mean {quoted(column)}?)"
    return ""


def not_recognised(table: Table) -> DataError:
    """Say that neither form was recognised."""
    item, annotator, label = map(Argument, ROLES)
    return DataError(
        f"{table.name} has no columns named like annotator and label, and is not one row per item "
        f"with one column per annotator; its columns are {written(table.columns)}"
        f"{_seems_data(table)}",
        remedy=[
            *("pass ", item, ", ", annotator, " and ", label),
            *(", or ", Argument("annotator", several=True), " with the annotators' columns"),
        ],
    )


def _seems_data(table: Table) -> str:
    """Say so if the first row, taken for names, holds what also stands below it."""
    for name, coded in zip(table.columns, table.read(range(len(table.columns))), strict=True):
        if name in set(coded.values.tolist()):
            return (
                f", and {quoted(name)} also stands below: if the first row is data, put a line"
                " such as item,annotator,label above it"
            )
    return ""


def gold_like(table: Table) -> list[int]:
    """Find the columns named like known labels."""
    return [
        place
        for place, column in enumerate(table.columns)
        if plain(column) in GOLD.split() or text_of(column).lower().startswith("golden:")
    ]
