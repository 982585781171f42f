"""What the page says of kinds of items: which are hard, how many are of each, who knows which."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.posterior.items import HARDNESS, KIND
from coterie.words.names import name

MOST_ROWS = 20
HARD = 0.5
"""Probability from which on an item counts as hard."""

Facts = dict[str, Any]


def kind_facts(posterior: Posterior) -> Facts | None:
    """Give what is known of kinds of items; None where the model is not about them.

    Of the default every item says itself how hard it is.
    """
    facts: Facts = {"hard": None, "rows": None, "people": None, "known": False}
    hard_accuracy = posterior.drawn("hard_accuracy")
    if hard_accuracy is not None:
        facts["hard"] = hard_facts(posterior, hard_accuracy)
    elif KIND in posterior.item_numbers and HARDNESS not in posterior.item_numbers:
        facts["rows"] = share_facts(posterior)
        facts["people"] = people_facts(posterior)
        facts["known"] = bool((posterior.item_numbers[KIND].values.max(axis=1) == 1).all())
    return facts if facts["hard"] or facts["rows"] else None


def hard_facts(posterior: Posterior, accuracy: NDArray[np.float64]) -> Facts:
    """Count the hard items, and list the hardest; ``accuracy`` on these is of everybody, drawn."""
    table = posterior.difficulty()
    top = table.head(MOST_ROWS)
    rows: list[Facts] = [
        {"item": name(item), "label": name(label), "hardness": hardness}
        for item, label, hardness in zip(
            top["item"], top["label"], top[HARDNESS].tolist(), strict=True
        )
    ]
    return {
        "n": int((table[HARDNESS] > HARD).sum()),
        "of": len(table),
        "rows": rows,
        "people": good_at_hard(posterior, accuracy),
    }


def good_at_hard(posterior: Posterior, drawn: NDArray[np.float64]) -> list[Facts]:
    """List who answers hard items best, among those who have labelled at all."""
    a = posterior.annotations
    pooled = drawn.reshape(-1, drawn.shape[-1])
    mean, (low, high) = pooled.mean(axis=0), np.quantile(pooled, INTERVAL, axis=0)
    spoke = np.flatnonzero(a.labels_per_annotator)
    best = spoke[np.argsort(-mean[spoke], kind="stable")][:MOST_ROWS]
    return [
        {
            "annotator": name(a.annotators[l]),
            "n_labels": int(a.labels_per_annotator[l]),
            "accuracy": float(mean[l]),
            "low": float(low[l]),
            "high": float(high[l]),
        }
        for l in best
    ]


def share_facts(posterior: Posterior) -> list[Facts]:
    """Give how many items are of each kind, by their probabilities."""
    numbers = posterior.item_numbers[KIND]
    total = numbers.values.sum(axis=0)
    most = np.bincount(numbers.values.argmax(axis=1), minlength=len(total))
    return [
        {"kind": name(kind), "items": int(n), "share": float(share)}
        for kind, n, share in zip(numbers.columns, most, total / max(total.sum(), 1), strict=True)
    ]


def people_facts(posterior: Posterior) -> list[Facts] | None:
    """Give the accuracy of those with most labels in every known kind; None of latent ones."""
    drawn = posterior.drawn("accuracy_by_kind")
    if drawn is None:
        return None
    a, accuracy = posterior.annotations, drawn.mean(axis=(0, 1))
    busiest = np.argsort(-a.labels_per_annotator, kind="stable")[:MOST_ROWS]
    return [
        {"annotator": name(a.annotators[l]), "accuracy": accuracy[l].tolist()}
        for l in busiest
        if a.labels_per_annotator[l] > 0
    ]
