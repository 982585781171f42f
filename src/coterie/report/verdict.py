"""The verdict in three sentences: how many items, how sure, what stands out and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from coterie.posterior import Posterior
from coterie.report.items import CERTAIN, DOUBTFUL
from coterie.report.words import count, isolated, listed, percent, rough, tenths

VOTE = "MajorityVote"

FEW_LABELS = 20
NO_INFORMATION = 0.05
"""A point estimate has no roles: this many labels and so little information make a spammer."""

KINDS = {
    "expert": "good",
    "good": "good",
    "spammer": "noise",
    "always says": "noise",
    "adversary": "against",
    "novice": "weak",
    "weak on": "weak",
    "biased": "weak",
    "confuses": "weak",
}
"""Roles, by how they begin, and what one does about them."""

Facts = dict[str, Any]


class Trouble(NamedTuple):
    """What annotators of some kind do, one and several of them, and what to do about it."""

    one: str
    several: str
    remedy: str


TROUBLES = {
    "noise": Trouble(
        "answers without regard to the item",
        "answer without regard to the item",
        "the labels here already discount that, but consider asking others instead",
    ),
    "against": Trouble(
        "tends to answer against the truth",
        "tend to answer against the truth",
        "check whether they misread the instructions",
    ),
    "weak": Trouble(
        "is good on some classes only, or not yet good",
        "are good on some classes only, or not yet good",
        "see their tables for what to explain better",
    ),
}


def kind(role: str | None) -> str:
    """Tell roles apart by what one does about them: good, weak, noise, against or unknown.

    Examples
    --------
    >>> kind("expert"), kind("always says b"), kind("too few labels to say"), kind(None)
    ('good', 'noise', 'unknown', 'unknown')
    """
    found = (word for start, word in KINDS.items() if role is not None and role.startswith(start))
    return next(found, "unknown")


def verdict(posterior: Posterior, facts: Facts, table: pd.DataFrame) -> list[str]:
    """Write the three sentences.

    Parameters
    ----------
    posterior
        The result.
    facts
        What the page says already: items, coteries, truth, convergence.
    table
        ``posterior.annotators()``.
    """
    return [
        how_many(posterior, facts["items"]),
        how_sure(posterior.model, facts["items"], facts["truth"]),
        what_stands_out(posterior.model, facts, table),
    ]


def how_many(posterior: Posterior, items: Facts) -> str:
    """Say how much was labelled by whom."""
    a, n = posterior.annotations, items["n_labelled"]
    each = f", {rough(a.n_labels / n)} an item" if n else ""
    text = (
        f"{count(n, 'item')} {'has' if n == 1 else 'have'} a label, from "
        f"{count(a.n_labels, 'answer')} by {count(a.n_annotators, 'annotator')}{each}"
    )
    if items["n"] > n:
        text += f"; {count(items['n'] - n, 'more item')} nobody has answered yet"
    return text + "."


def how_sure(model: str, items: Facts, truth: Facts | None) -> str:
    """Say how sure the labels are, and, with a truth, how often they are right."""
    n, sure = items["n_labelled"], items["n_certain"]
    share = percent(sure / n) if n else "0 %"
    if model == VOTE:
        text = (
            f"On {sure:,} of them ({share}) at least {percent(CERTAIN)} of the votes agree, but "
            "a share of votes is not a probability: it cannot say how many labels are wrong"
        )
    else:
        wrong = n * (1 - (items["expected_right"] or 0))
        about = "fewer than one" if wrong < 0.5 else f"about {rough(round(wrong))}"
        text = (
            f"{sure:,} of the labels ({share}) {'is' if sure == 1 else 'are'} at least "
            f"{percent(CERTAIN)} certain, and by the model's own account {about} of the {n:,} "
            f"{'is' if wrong < 1.5 else 'are'} wrong"
        )
    if truth is not None:
        text += f"; against the truth of {count(truth['n'], 'item')}, "
        text += f"{tenths(truth['accuracy'])} are right"
        if model != VOTE and is_overconfident(truth):
            text += f", not the {tenths(truth['mean_confidence'])} that the model expects of them"
    return text + "."


def is_overconfident(truth: Facts) -> bool:
    """Whether fewer labels are right than the model expects, by more than chance (3 s.e.)."""
    expected = truth["mean_confidence"]
    error = (max(expected * (1 - expected), 0.25 / truth["n"]) / truth["n"]) ** 0.5
    return bool(truth["mean_accuracy"] < expected - 3 * error)


def what_stands_out(model: str, facts: Facts, table: pd.DataFrame) -> str:
    """Say what a person should look at first, and what to do about it."""
    cards = facts["coteries"]["cards"] if facts["coteries"] else []
    kinds = kinds_of(table, {card["coterie"]: card["role"] for card in cards})
    clauses = [
        *_about_trust(facts["convergence"]["trust"]),
        *_about_people(model, table, kinds),
        *_about_items(model, facts["items"]["n_doubtful"]),
    ]
    if not clauses:
        return (
            "Nothing stands out: nobody is seen to answer at random or against the truth, and no "
            f"item is less than {percent(DOUBTFUL)} certain."
        )
    said = "; ".join(clauses)
    return said[0].upper() + said[1:] + "."


def kinds_of(table: pd.DataFrame, roles: Mapping[int, str]) -> pd.Series[Any]:
    """Give the kind of each annotator: by role, or, where that is open, by the coterie's role.

    Point estimates have neither, and go by plain limits.
    """
    if "role" not in table:
        enough = table["n_labels"] >= FEW_LABELS
        noise = enough & (table["informativeness"] < NO_INFORMATION)
        return pd.Series("unknown", table.index).mask(noise, "noise")
    own, shared = kinds_by(table, roles)
    return own.where(own != "unknown", shared)


def kinds_by(
    table: pd.DataFrame, roles: Mapping[int, str]
) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Give the kind of each annotator by own role, and by the role of the coterie."""
    own = table["role"].map(kind)
    if "coterie" not in table:
        return own, own
    return own, table["coterie"].map(lambda m: kind(roles.get(m)), na_action=None)


def _about_trust(trust: Facts) -> list[str]:
    if trust["state"] == "ok":
        return []
    return ["the computation has not settled: read Convergence below before using any of this"]


def _about_people(model: str, table: pd.DataFrame, kinds: pd.Series[Any]) -> list[str]:
    """Point out who answers at random and who against the truth; weaknesses if nobody does."""
    found = [word for word in ("noise", "against") if (kinds == word).any()]
    found = found or [word for word in ("weak",) if (kinds == word).any()]
    clauses = []
    for word in found:
        some, trouble = table[kinds == word], TROUBLES[word]
        remedy = trouble.remedy
        if model == VOTE:
            remedy = "a vote counts them like everybody, so use a model that weighs annotators"
        does = trouble.one if len(some) == 1 else trouble.several
        clauses.append(f"{_who(some, table)} {does}: {remedy}")
    return clauses


def _who(some: pd.DataFrame, table: pd.DataFrame) -> str:
    """Name a few annotators and say how much of the labels is theirs."""
    share = percent(some["n_labels"].sum() / max(table["n_labels"].sum(), 1))
    some = some.sort_values("n_labels", ascending=False, kind="stable")
    names = listed([isolated(l) for l in some["annotator"].tolist()], 3)
    if len(some) == 1:
        return f"annotator {names} ({share} of the labels)"
    return f"{count(len(some), 'annotator')} ({names}; {share} of the labels)"


def _about_items(model: str, n: int) -> list[str]:
    if not n:
        return []
    items, limit = count(n, "item"), percent(DOUBTFUL)
    if model == VOTE:
        return [f"on {items} less than {limit} of the votes agree: ask more people there first"]
    are = "is" if n == 1 else "are"
    return [f"{items} {are} less than {limit} certain: ask for more labels there first"]
