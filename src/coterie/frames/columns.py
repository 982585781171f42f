"""Which column holds what: guessed from the names people use, refused when two fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from coterie.errors import DataError
from coterie.frames.table import Table, join, listed

# Whole headers in common use: coterie, crowd-kit, cleanlab, rater, truth-inference data sets,
# spark-crowd, Active Crowd Toolkit, Get-Another-Label, NLTK. They win over single names.
HEADERS = [
    ("item", "annotator", "label"),
    ("task", "worker", "label"),
    ("task", "annotator", "label"),
    ("item", "rater", "rating"),
    ("item", "worker", "label"),
    ("question", "worker", "answer"),
    ("example", "annotator", "value"),
    ("taskid", "workerid", "workerlabel"),
    ("object", "worker", "label"),
    ("item", "coder", "label"),
]
# Names by role: what a column is about. Beside each, its id ("task_id") and its name
# ("worker name") count, and of these the id is taken. Weak names count when no other fits.
STRONG = {
    "item": "item task question example instance unit object hit document doc sample sentence "
    "image tweet post comment query pair record case orig inputhash",
    "annotator": "annotator worker amtworker rater coder judge labeler labeller assessor reviewer "
    "evaluator grader contributor turker expert",
    "label": "label answer response rating judgment judgement annotation class category choice "
    "vote verdict workerlabel workeranswer workerresponse annotatorlabel raterlabel",
}
WEAK = {
    "item": "id uid",
    "annotator": "user username participant model session completedby createdby",
    "label": "value result",
}
GOLD = (
    "gold goldlabel goldanswer goldstandard truth truelabel trueclass groundtruth correct "
    "correctlabel correctanswer expected reference"
)
ROLES = ("item", "annotator", "label")
_STEMS = {role: (STRONG[role].split(), WEAK[role].split()) for role in ROLES}
_FORMS = {"item": ("id", ""), "annotator": ("id", "", "name"), "label": ("",)}


class Columns(NamedTuple):
    """The places of the columns taken; in the wide form there is no label column."""

    item: int
    annotators: tuple[int, ...]
    label: int | None


class Asked(NamedTuple):
    """The columns the user named, None where coterie is to guess."""

    item: Hashable | None = None
    annotator: Hashable | Sequence[Hashable] | None = None
    label: Hashable | None = None


def plain(name: Hashable) -> str:
    """Give a column's name without case, blanks and signs.

    Examples
    --------
    >>> plain("_worker_id"), plain("WorkerID"), plain("ASSIGNMENT:worker id")
    ('workerid', 'workerid', 'workerid')
    """
    return re.sub(r"[\W_]+", "", re.sub(r"^assignment:", "", str(name), flags=re.I)).casefold()


def place_of(table: Table, name: Hashable, argument: str) -> int:
    """Find the column the user named."""
    places = [place for place, column in enumerate(table.columns) if column == name]
    if not places:
        raise DataError(
            f"{table.name} has no column {name!r}, which {argument}= asks for; "
            f"its columns are {listed(table.columns)}"
        )
    if len(places) > 1:
        raise DataError(f"{table.name} has {len(places)} columns called {name!r}; rename one")
    return places[0]


def guess(table: Table, role: str, taken: Sequence[int] = ()) -> int | None:
    """Find the column whose name fits a role best; None if none fits, an error if several do."""
    fits: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for place, column in enumerate(table.columns):
        fit = _fit(role, column)
        if fit and place not in taken:
            strength, stem, form = fit
            fits.setdefault((strength, stem), []).append((form, place))
    if not fits:
        return None
    strongest = min(strength for strength, _ in fits)
    best = [
        place
        for (strength, _), forms in sorted(fits.items(), key=lambda fit: fit[1])
        if strength == strongest
        for form, place in forms
        if form == min(forms)[0]
    ]
    if len(best) > 1:
        raise DataError(_several_fit(table, role, best))
    return best[0]


def _fit(role: str, column: Hashable) -> tuple[int, str, int] | None:
    """Give (0 strong or 1 weak, what the column is about, how it is written), or None."""
    if role == "label" and re.match(r"(output:|answer\.).", str(column), flags=re.I):
        return 0, str(column), 0  # Toloka and Mechanical Turk: one column a question
    name = plain(column)
    for strength, stems in enumerate(_STEMS[role]):
        for stem in stems:
            for form, ending in enumerate(_FORMS[role]):
                if name in (stem + ending, stem + ending + "s"):
                    return strength, stem, form
    return None


def _several_fit(table: Table, role: str, places: list[int]) -> str:
    names = [repr(table.columns[place]) for place in sorted(places)]
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        return f"{table.name} has {count} columns called {name}; rename one"
    choices = join([f"{role}={name}" for name in names], "or")
    return (
        f"{len(names)} columns of {table.name} fit the {role} equally well, {join(names)}; "
        f"pass {choices}"
    )


def known_header(table: Table) -> Columns | None:
    """Find the one header in common use that the table has, if there is one."""
    names = [plain(column) for column in table.columns]
    found = {
        tuple(names.index(name) for name in header)
        for header in HEADERS
        if all(names.count(name) == 1 for name in header)
    }
    if len(found) != 1:
        return None
    item, annotator, label = found.pop()
    return Columns(item, (annotator,), label)


def find_long(table: Table, asked: Asked) -> Columns | None:
    """Find the three columns of the long form; None if neither annotator nor label has one."""
    header = known_header(table) if asked == Asked() else None
    if header:
        return header
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
        raise DataError(_not_found(table, next(role for role in ROLES if found[role] is None)))
    if len({item, annotator, label}) < 3:
        raise DataError(
            f"item, annotator and label must be three different columns of {table.name}, "
            f"got {listed(table.columns[place] for place in (item, annotator, label))}"
        )
    return Columns(item, (annotator,), label)


def _not_found(table: Table, role: str) -> str:
    usual = ", ".join(STRONG[role].split()[:3])
    wide = ", or annotator=[...] if there is one column an annotator"
    return (
        f"no column of {table.name} is named like the {role} ({usual}, ...); its columns are "
        f"{listed(table.columns)}; pass {role}={wide if role == 'annotator' else ''}"
    )


def not_recognised(table: Table) -> str:
    """Say that neither form was recognised."""
    return (
        f"{table.name} has no columns named like annotator and label, and is not one row an item "
        f"with one column an annotator; its columns are {listed(table.columns)}; pass item=, "
        "annotator= and label=, or annotator=[...] with the annotators' columns"
    )


def gold_like(table: Table) -> list[int]:
    """Find the columns named like known labels."""
    return [
        place
        for place, column in enumerate(table.columns)
        if plain(column) in GOLD.split() or str(column).lower().startswith("golden:")
    ]
