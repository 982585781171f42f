"""Everything the page says, as plain values: gathered here, shown by the template."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from coterie import metrics
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.posterior import Posterior
from coterie.report.caveat import caveat_of
from coterie.report.chains import convergence_facts
from coterie.report.cooccurrence import cooccurrence_facts
from coterie.report.decisions import next_facts
from coterie.report.drift import drift_facts
from coterie.report.items import balance_facts, item_facts
from coterie.report.kinds import kind_facts
from coterie.report.matrix import axes_of, room_of
from coterie.report.media import Pictures, by_item, text_of
from coterie.report.people import annotator_facts, coterie_facts
from coterie.report.reproduce import settings_facts
from coterie.report.script_data import packed
from coterie.report.truth import truth_facts
from coterie.report.verdict import verdict
from coterie.report.worth import worth_of
from coterie.words.names import name
from coterie.words.numbers import count

Facts = dict[str, Any]
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class Shown(NamedTuple):
    """What a page shows beside the result."""

    text: Any = None  # Series or mapping, item -> text
    image: Any = None  # the same, item -> a local file, or an address
    folder: Path | None = None  # what paths of images are relative to
    date: datetime.date | None = None  # where the run has none: by default today
    budget: float | None = None  # what may be spent next: the page then says on what


NOTHING_SHOWN = Shown()

MOST_TITLE = 200
RESAMPLES = 2_000
ENOUGH = 4e7
"""Resamples times items beyond which the bootstrap of the agreement makes do with fewer."""


def gather(
    posterior: Posterior,
    *,
    truth: Any = None,
    title: str | None = None,
    record: Mapping[str, Any] | None = None,
    shown: Shown = NOTHING_SHOWN,
) -> Facts:
    """Gather what the report says, as dicts, lists, numbers and text.

    Sections that do not apply are None: ``coteries`` and ``cooccurrence`` of a model that groups
    nobody, ``kinds`` and ``drift`` of one that knows none, ``truth`` without one, ``agreement``
    where no item has two labels, ``caveat`` where the answers can be compared.

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
    >>> facts["verdict"][0]
    '2 items have a label, from 4 answers by 2 annotators, 2 per item.'
    >>> facts["coteries"] is None, facts["agreement"]["alpha"]
    (True, 1.0)
    """
    a = posterior.annotations
    table = posterior.annotators()
    axes = axes_of(posterior)
    grouped = posterior.abilities.coteries
    groups = grouped or (posterior.groups is not None and posterior.abilities.uncertainty)
    texts = by_item(a, shown.text, "text")
    pictures = Pictures(by_item(a, shown.image, "image"), shown.folder)
    facts: Facts = {
        "date": date_of(record or {}, shown.date),
        "title": name(title, MOST_TITLE) if title else default_title(a),
        "model": posterior.model,
        "abilities": posterior.abilities,
        "caveat": caveat_of(a),
        "sizes": {"items": a.n_items, "annotators": a.n_annotators, "labels": a.n_labels},
        "axes": {
            "rows": axes.rows,
            "columns": axes.columns,
            "left_out": axes.n_classes - len(axes.rows),
            "room": room_of(axes.rows, axes.columns),
        },
        "items": item_facts(posterior, texts, pictures),
        "annotators": annotator_facts(posterior, table, axes),
        "coteries": coterie_facts(posterior, table, axes) if groups else None,
        "cooccurrence": cooccurrence_facts(posterior, table) if grouped else None,
        "kinds": kind_facts(posterior),
        "drift": drift_facts(posterior),
        "balance": balance_facts(posterior),
        "agreement": agreement_facts(a),
        "gold_check": posterior.run.get("gold_check"),
        "truth": None if truth is None else truth_facts(posterior, truth),
        "next": None if shown.budget is None else next_facts(posterior, shown.budget),
        "convergence": convergence_facts(posterior),
        "settings": settings_facts(posterior, record or {}),
    }
    facts["verdict"] = verdict(posterior, facts, table)
    facts["worth"] = worth_of(posterior, facts)
    facts["block"] = packed(people_block(facts), posterior, short_texts(a, texts))
    return facts


def people_block(facts: Facts) -> Facts:
    """Give what the script needs to show matrices of annotators."""
    axes = facts["axes"]
    return {
        "upright": axes["room"].upright,
        "rows": axes["rows"],
        "columns": axes["columns"],
        "matrices": facts["annotators"]["matrices"],
    }


def short_texts(a: Annotations, texts: Mapping[int, str]) -> list[str | None] | None:
    """Give the text of every item, made short; None if no item has any."""
    return [text_of(texts.get(i)) for i in range(a.n_items)] if texts else None


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


def default_title(a: Annotations) -> str:
    """Name the report by its size."""
    who, what = count(a.n_annotators, "annotator"), count(a.n_items, "item")
    return f"What {who} {'says' if a.n_annotators == 1 else 'say'} about {what}"


def agreement_facts(a: Annotations) -> Facts | None:
    """Give Krippendorff's alpha with its interval; None where nothing can agree."""
    resamples = int(min(RESAMPLES, max(200, ENOUGH / max(a.n_items, 1))))
    try:
        alpha = metrics.krippendorff_alpha(a)
        low, high = metrics.krippendorff_interval(a, resamples=resamples, random_state=0)
    except DataError:  # no item has two labels
        return None
    if alpha != alpha:
        return None
    return {"alpha": alpha, "low": low, "high": high, "words": strength(alpha)}


def strength(alpha: float) -> str:
    """Say what an alpha means, by Krippendorff's own limits.

    Examples
    --------
    >>> strength(0.85)
    'reliable by the usual standard (0.8 or more)'
    """
    if alpha >= 0.8:
        return "reliable by the usual standard (0.8 or more)"
    if alpha >= 2 / 3:
        return "enough for tentative conclusions (0.67 to 0.8)"
    if alpha > 0.2:
        return "too low to use single answers as they are, which is why they are weighed here"
    return "little better than chance"
