"""The last line of a command: what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from coterie.abilities import SAMPLED
from coterie.posterior import Posterior
from coterie.posterior.sheets import REVIEW, needs_review
from coterie.words.numbers import count


def next_step(posterior: Posterior, paths: Sequence[Path]) -> str:
    """Say where to look, and what would help most: gold, longer chains, more labels.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no"), ("q2", "bob", "no")]
    >>> next_step(coterie.MajorityVote().fit(rows).posterior_, [])
    'Next: add --out result/ for a report; ask for more labels of the 2 items below 80 %'
    """
    return f"Next: {_where_to_look(paths)}; {_what_helps(posterior, paths)}"


def _where_to_look(paths: Sequence[Path]) -> str:
    if not paths:
        return "add --out result/ for a report"
    report = next((path for path in paths if path.suffix == ".html"), None)
    return f"open {shlex.quote(str(report or paths[0]))}"


def _what_helps(posterior: Posterior, paths: Sequence[Path]) -> str:
    if posterior.readings() is not None:
        return "find out the true labels of the items that would decide, and give them with --gold"
    labels = posterior.verdicts.labels
    if posterior.method in SAMPLED and not labels.settled:
        if labels.agree:
            return f"run longer chains (--sweeps {3 * int(posterior.run['sweeps'])})"
        n = int(posterior.run["chains"])
        return f"run more chains (--chains {2 * n if n > 1 else 4}), or give gold"
    found = posterior.run.get("gold_check") or {}
    if found.get("reversed"):
        return "give gold for more items, and check how it is written: it says the opposite"
    if found.get("significant") and "recalibrated" not in posterior.run:
        return "run again with --recalibrate, which mends probabilities that gold refutes"
    sure = f"{100 * REVIEW:.0f} %"
    doubtful = int(needs_review(posterior).sum())
    if doubtful:
        how = _how(posterior, paths)
        return f"ask for more labels of the {count(doubtful, 'item')} below {sure}{how}"
    if not posterior.annotations.gold:
        return "give known labels of some items with --gold, and see what probabilities are worth"
    return f"use the labels: none is below {sure}"


def _how(posterior: Posterior, paths: Sequence[Path]) -> str:
    """Say where to see which items those are, and whom to ask."""
    if not paths:
        return ""
    if not posterior.abilities.accuracies:
        return " (review in the table of labels)"
    if not posterior.annotations.sparsity:
        return " from somebody new (all of these people have labelled everything)"
    folder = shlex.quote(str(paths[0].parent))
    return f" (coterie plan {folder} --budget 100 says whom)"
