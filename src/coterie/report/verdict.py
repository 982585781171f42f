"""The verdict in a few sentences: how many items, how sure, what stands out, what to do."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from coterie.abilities import Abilities
from coterie.posterior import Posterior
from coterie.report.annotator_kinds import kinds_of
from coterie.report.items import CERTAIN, DOUBTFUL
from coterie.report.truth import OVERCONFIDENT
from coterie.roles import Kind
from coterie.words.names import isolated
from coterie.words.numbers import be, count, listed, percent, rough, tenths

Facts = dict[str, Any]


class Trouble(NamedTuple):
    """What annotators of some kind do, one and several of them, and what to do about it."""

    one: str
    several: str
    remedy: str


TROUBLES = {
    Kind.NOISE: Trouble(
        "answers without regard to the item",
        "answer without regard to the item",
        "the labels here already discount that, but consider asking others instead",
    ),
    Kind.AGAINST: Trouble(
        "tends to answer against the truth",
        "tend to answer against the truth",
        "check whether they misread the instructions",
    ),
    Kind.WEAK: Trouble(
        "is good on some classes only, or not yet good",
        "are good on some classes only, or not yet good",
        "see their tables for what to explain better",
    ),
}

ABOUT_VOTES = (
    "a vote counts everybody alike and cannot tell good annotators from bad: DawidSkene can, and "
    "HCBCC also finds who answers alike"
)


def verdict(posterior: Posterior, facts: Facts, table: pd.DataFrame) -> list[str]:
    """Write the sentences: three, or, where the answers cannot be compared, that first; by gold.

    Parameters
    ----------
    posterior
        The result.
    facts
        What the page says already: caveat, items, coteries, truth, convergence.
    table
        ``posterior.annotators()``.
    """
    return [*_sentences(posterior, facts, table), *by_gold(posterior)]


def by_gold(posterior: Posterior) -> list[str]:
    """Say how far probabilities hold on known items, if that was looked at, and what to do."""
    found = posterior.run.get("gold_check")
    if found is None:
        return []
    then = ""
    if "recalibrated" in posterior.run:
        then = " The probabilities on this page are mended by that."
    elif found.get("significant") and not found.get("reversed"):
        then = " Run again with --recalibrate to mend them."
    return [f"By gold: {found['sentence']}{then}"]


def _sentences(posterior: Posterior, facts: Facts, table: pd.DataFrame) -> list[str]:
    caveat = facts["caveat"]
    many = how_many(posterior, facts["items"])
    if caveat is not None and caveat.nothing:
        right = against_truth(facts["truth"])
        return [caveat.sentence, many, *([f"{right[0].upper()}{right[1:]}."] if right else [])]
    sure = how_sure(posterior.abilities, facts["items"], facts["truth"])
    clauses = what_stands_out(posterior, facts, table)
    if caveat is not None:
        return [caveat.sentence, many, sure, *([sentence_of(clauses)] if clauses else [])]
    return [many, sure, sentence_of(clauses) if clauses else all_clear(facts["convergence"])]


def how_many(posterior: Posterior, items: Facts) -> str:
    """Say how much was labelled by whom."""
    a, n = posterior.annotations, items["n_labelled"]
    each = f", {rough(a.n_labels / n)} per item" if n else ""
    text = (
        f"{count(n, 'item')} {'has' if n == 1 else 'have'} a label, from "
        f"{count(a.n_labels, 'answer')} by {count(a.n_annotators, 'annotator')}{each}"
    )
    if items["n"] > n:
        text += f"; {count(items['n'] - n, 'more item')} nobody has answered yet"
    return text + "."


def how_sure(abilities: Abilities, items: Facts, truth: Facts | None) -> str:
    """Say how sure the labels are, and, with a truth, how often they are right."""
    n, sure = items["n_labelled"], items["n_certain"]
    share = percent(sure / n) if n else "0 %"
    if not abilities.probabilities:
        text = (
            f"On {sure:,} of them ({share}) at least {percent(CERTAIN)} of the votes agree, but "
            "a share of votes is not a probability: it cannot say how many labels are wrong"
        )
    else:
        wrong = n * (1 - (items["expected_right"] or 0))
        about = "fewer than one" if wrong < 0.5 else f"about {rough(round(wrong))}"
        known = items["n_known"]
        if known >= n > 0:
            return f"Every label is known: gold was given for {count(n, 'item')} of {n:,}."
        given = f", {known:,} of them known" if known else ""
        text = (
            f"{sure:,} of the labels ({share}{given}) {be(sure)} at least "
            f"{percent(CERTAIN)} certain, and by the model's own account {about} of the {n:,} "
            f"{'is' if wrong < 1.5 else 'are'} wrong"
        )
    if truth is not None:
        text += f"; {against_truth(truth)}"
        if abilities.probabilities and truth["judged"] == OVERCONFIDENT:
            text += f", not the {tenths(truth['mean_confidence'])} that the model expects of them"
    return text + "."


def against_truth(truth: Facts | None) -> str:
    """Say how often the labels are right; nothing without a truth."""
    if truth is None:
        return ""
    return (
        f"against the truth of {count(truth['n'], 'item')}, "
        f"{tenths(truth['accuracy'])} {be(truth['n'])} right"
    )


def what_stands_out(posterior: Posterior, facts: Facts, table: pd.DataFrame) -> list[str]:
    """Say what a person should look at first, and what to do about it; the worst first."""
    about_items = _about_items(posterior.abilities, facts["items"]["n_doubtful"])
    if not posterior.abilities.accuracies:  # agreement with the vote itself accuses nobody
        return [*about_items, ABOUT_VOTES]
    return [*_about_people(table, kinds_of(posterior, table)), *about_items]


def sentence_of(clauses: list[str]) -> str:
    """Join clauses to a sentence."""
    said = "; ".join(clauses)
    return said[0].upper() + said[1:] + "."


def all_clear(convergence: Facts) -> str:
    """Say that nothing stands out; if the computation has not settled, the page says so above."""
    start = "Nothing" if convergence["trust"]["state"] == "ok" else "Apart from that, nothing"
    return (
        f"{start} stands out: nobody is seen to answer at random or against the truth, and no "
        f"item is less than {percent(DOUBTFUL)} certain."
    )


def _about_people(table: pd.DataFrame, kinds: list[Kind]) -> list[str]:
    """Point out who answers at random and who against the truth; weaknesses if nobody does."""
    worst = [kind for kind in (Kind.NOISE, Kind.AGAINST) if kind in kinds]
    clauses = []
    for kind in worst or {*kinds} & {Kind.WEAK}:
        some, trouble = table[[one is kind for one in kinds]], TROUBLES[kind]
        does = trouble.one if len(some) == 1 else trouble.several
        clauses.append(f"{_who(some, table)} {does}: {trouble.remedy}")
    return clauses


def _who(some: pd.DataFrame, table: pd.DataFrame) -> str:
    """Name a few annotators and say how much of the labels is theirs."""
    share = percent(some["n_labels"].sum() / max(table["n_labels"].sum(), 1))
    some = some.sort_values("n_labels", ascending=False, kind="stable")
    names = listed([isolated(l) for l in some["annotator"].tolist()], 3)
    if len(some) == 1:
        return f"annotator {names} ({share} of the labels)"
    return f"{count(len(some), 'annotator')} ({names}; {share} of the labels)"


def _about_items(abilities: Abilities, n: int) -> list[str]:
    if not n:
        return []
    items, limit = count(n, "item"), percent(DOUBTFUL)
    if not abilities.probabilities:
        return [f"on {items} less than {limit} of the votes agree: ask more people there first"]
    are = be(n)
    return [f"{items} {are} less than {limit} certain: ask for more labels there first"]
