"""Everything the page says, as plain values: gathered here, shown by the templates."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import coterie
from coterie import metrics
from coterie.abilities import Abilities
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.posterior.items import HARDNESS, KIND
from coterie.report.chains import Convergence, convergence_facts
from coterie.report.items import Pictures, by_item, item_facts, packed, text_of
from coterie.report.people import (
    Axes,
    annotator_facts,
    axes_of,
    cooccurrence_facts,
    coterie_facts,
    records,
)
from coterie.report.reproduce import Recipe, recipe_of
from coterie.report.scores import next_facts, truth_facts
from coterie.report.verdict import Caveat, caveat_of, troubles
from coterie.words.names import name
from coterie.words.numbers import count

MOST_TITLE = 200
RESAMPLES, ENOUGH = 2_000, 4e7
"""Of the bootstrap of the agreement; resamples times items beyond which it makes do with fewer."""
MOST_ROWS, MOST_CLASSES = 20, 50
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
HARD, CHANGED = 0.5, 0.9
"""Probabilities from which on an item counts as hard, and somebody is said to have changed."""

Section = dict[str, Any] | None


class Shown(NamedTuple):
    """What a page shows beside the result."""

    text: Any = None  # Series or mapping, item -> text
    image: Any = None  # the same, item -> a local file, or an address
    folder: Path | None = None  # what paths of images are relative to
    date: datetime.date | None = None  # where the run has none: by default today
    budget: float | None = None  # what may be spent next: the page then says on what


@dataclass(frozen=True)
class Facts:
    """What a report says; sections that do not apply are None."""

    date: str
    title: str
    model: str
    abilities: Abilities
    own: bool  # whether the model is one of this package
    sizes: Mapping[str, int]
    axes: Axes
    caveat: Caveat | None  # where the answers cannot be compared
    troubles: list[dict[str, Any]]
    items: dict[str, Any]
    annotators: dict[str, Any]
    coteries: Section  # of a model that groups people
    cooccurrence: Section
    kinds: Section  # of a model that knows of kinds of items
    drift: Section  # or of time
    balance: dict[str, Any]
    agreement: Section  # where an item has two labels
    gold_check: Section
    recalibrated: bool
    truth: Section  # if there is one
    next: Section  # with a budget
    convergence: Convergence
    recipe: Recipe
    block: str  # for the script


def gather(
    posterior: Posterior,
    *,
    truth: Any = None,
    title: str | None = None,
    record: Mapping[str, Any] | None = None,
    shown: Shown | None = None,
) -> Facts:
    """Gather what the report says.

    Parameters
    ----------
    posterior
        The result.
    truth
        True labels that only score the result: a file, frame, Series or mapping.
    title
        The title; by default the numbers of annotators and items.
    record
        What ``run.json`` says of the run: its date, command, input and gold, shown under how to
        make the result again.
    shown
        What items say and look like, and the date.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "yes"), ("q2", "ann", "no")]
    >>> rows += [("q2", "bob", "no")]
    >>> facts = gather(coterie.MajorityVote().fit(rows).posterior_)
    >>> facts.title
    'What 2 annotators say about 2 items'
    >>> facts.coteries is None, facts.agreement["alpha"]
    (True, 1.0)
    """
    a, run, shown, record = posterior.annotations, posterior.run, shown or Shown(), record or {}
    table, axes = posterior.annotators(), axes_of(posterior)
    grouped = posterior.abilities.coteries
    after = posterior.groups is not None and posterior.abilities.uncertainty
    texts = by_item(a, shown.text, "text")
    pictures = Pictures(by_item(a, shown.image, "image"), shown.folder)
    people = annotator_facts(posterior, table, axes)
    says = f"{count(a.n_annotators, 'annotator')} {'says' if a.n_annotators == 1 else 'say'}"
    asked = {"upright": axes.room.upright, "rows": axes.rows, "columns": axes.columns}
    asked["matrices"] = people["matrices"]
    all_texts = [text_of(texts.get(i)) for i in range(a.n_items)] if texts else None
    return Facts(
        date=date_of(record, shown.date),
        title=name(title, MOST_TITLE) if title else f"What {says} about {count(a.n_items, 'item')}",
        model=posterior.model,
        abilities=posterior.abilities,
        own=posterior.model in coterie.__all__,
        sizes={"items": a.n_items, "annotators": a.n_annotators, "labels": a.n_labels},
        axes=axes,
        caveat=caveat_of(a),
        troubles=troubles(posterior, table),
        items=item_facts(posterior, texts, pictures),
        annotators=people,
        coteries=coterie_facts(posterior, table, axes) if grouped or after else None,
        cooccurrence=cooccurrence_facts(posterior, table) if grouped else None,
        kinds=kind_facts(posterior),
        drift=_drift(posterior),
        balance=_balance(posterior),
        agreement=_agreement(a),
        gold_check=run.get("gold_check"),
        recalibrated="recalibrated" in run,
        truth=None if truth is None else truth_facts(posterior, truth),
        next=None if shown.budget is None else next_facts(posterior, shown.budget),
        convergence=convergence_facts(posterior),
        recipe=recipe_of(posterior, record),
        block=packed(asked, posterior, all_texts),
    )


def date_of(record: Mapping[str, Any], date: datetime.date | None) -> str:
    """Write the date of the run, or, if nobody noted it, today's.

    Examples
    --------
    >>> date_of({"finished": "2026-11-07T09:30:00+00:00"}, None)
    '7 November 2026'
    """
    try:
        day = datetime.datetime.fromisoformat(str(record.get("finished"))).date()
    except ValueError:
        day = date or datetime.datetime.now(datetime.UTC).date()
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _agreement(a: Annotations) -> Section:
    """Give Krippendorff's alpha with its interval; None where nothing can agree."""
    resamples = int(min(RESAMPLES, max(200, ENOUGH / max(a.n_items, 1))))
    try:
        alpha = metrics.krippendorff_alpha(a)
        low, high = metrics.krippendorff_interval(a, resamples=resamples, random_state=0)
    except DataError:  # no item has two labels
        return None
    if alpha != alpha:
        return None
    return {"alpha": alpha, "low": low, "high": high}


def _balance(posterior: Posterior) -> dict[str, Any]:
    """Describe the classes: how many items each has, and its proportion with an interval."""
    a, uncertain = posterior.annotations, posterior.abilities.uncertainty
    items = np.bincount(posterior.label_code, minlength=a.n_classes)
    low = high = [None] * a.n_classes
    if uncertain:
        pooled = posterior.require_draws("intervals").class_balance.reshape(-1, a.n_classes)
        low, high = (end.tolist() for end in np.quantile(pooled, INTERVAL, axis=0))
    rows: list[dict[str, Any]] = [
        {
            "class": name(a.classes[t]),
            "items": int(items[t]),
            "share": float(items[t] / max(a.n_items, 1)),
            "proportion": float(posterior.class_balance[t]),
            "low": low[t],
            "high": high[t],
        }
        for t in range(a.n_classes)
    ]
    if len(rows) > MOST_CLASSES:
        rows.sort(key=lambda row: -row["items"])
    left_out = max(len(rows) - MOST_CLASSES, 0)
    return {"rows": rows[:MOST_CLASSES], "left_out": left_out, "has_interval": uncertain}


def _drift(posterior: Posterior) -> Section:
    """List those likeliest to have changed; None where the model does not know of time."""
    if posterior.drawn("accuracy_at") is None:
        return None
    table = posterior.drift()
    rows = records(table.head(MOST_ROWS))
    return {"n": int((table["changed"] >= CHANGED).sum()), "of": len(table), "rows": rows}


def kind_facts(posterior: Posterior) -> Section:
    """Give what is known of kinds of items; None where the model is not about them.

    Of the default every item says itself how hard it is.
    """
    drawn = posterior.drawn("hard_accuracy")
    if drawn is not None:
        return {"hard": _hard(posterior, drawn), "rows": None, "people": None, "known": False}
    if KIND not in posterior.item_numbers or HARDNESS in posterior.item_numbers:
        return None
    numbers, a = posterior.item_numbers[KIND], posterior.annotations
    total = numbers.values.sum(axis=0)
    likeliest = np.bincount(numbers.values.argmax(axis=1), minlength=len(total)).tolist()
    shares = (total / max(total.sum(), 1)).tolist()
    rows = [
        {"kind": name(kind), "items": n, "share": share}
        for kind, n, share in zip(numbers.columns, likeliest, shares, strict=True)
    ]
    people, by_kind = None, posterior.drawn("accuracy_by_kind")
    if by_kind is not None:  # of known kinds, by those with most labels
        accuracy = by_kind.mean(axis=(0, 1))
        busiest = np.argsort(-a.labels_per_annotator, kind="stable")[:MOST_ROWS]
        people = [
            {"annotator": name(a.annotators[l]), "accuracy": accuracy[l].tolist()}
            for l in busiest
            if a.labels_per_annotator[l] > 0
        ]
    known = bool((numbers.values.max(axis=1) == 1).all())
    return {"hard": None, "rows": rows, "people": people, "known": known} if rows else None


def _hard(posterior: Posterior, drawn: Any) -> dict[str, Any]:
    """Count the hard items, list the hardest, and who of those with labels is best at them."""
    a, table = posterior.annotations, posterior.difficulty()
    pooled = drawn.reshape(-1, drawn.shape[-1])
    mean, (low, high) = pooled.mean(axis=0), np.quantile(pooled, INTERVAL, axis=0)
    spoke = np.flatnonzero(a.labels_per_annotator)
    best = spoke[np.argsort(-mean[spoke], kind="stable")][:MOST_ROWS]
    return {
        "n": int((table[HARDNESS] > HARD).sum()),
        "of": len(table),
        "rows": [
            {**row, "item": name(row["item"]), "label": name(row["label"])}
            for row in records(table.head(MOST_ROWS))
        ],
        "people": [
            {
                "annotator": name(a.annotators[l]),
                "n_labels": int(a.labels_per_annotator[l]),
                "accuracy": float(mean[l]),
                "low": float(low[l]),
                "high": float(high[l]),
            }
            for l in best
        ],
    }
