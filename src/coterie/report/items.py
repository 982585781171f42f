"""What the page says of items: how sure the labels are, and who said what of the least sure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.posterior.sheets import REVIEW
from coterie.report.media import Pictures, text_of
from coterie.words.names import name
from coterie.words.numbers import percent

MOST_ITEMS = 200
MOST_NAMES = 12
MOST_ANSWERS = 12

CERTAIN = 0.95
DOUBTFUL = REVIEW
BANDS = (0.99, CERTAIN, DOUBTFUL, 0.5, 0.0)
"""Lower ends of the bands of certainty, the surest first."""

Facts = dict[str, Any]
NOTHING: Mapping[int, str] = MappingProxyType({})


def item_facts(
    posterior: Posterior, texts: Mapping[int, str] = NOTHING, pictures: Pictures | None = None
) -> Facts:
    """Count the items by certainty, and list the least certain with who said what.

    Parameters
    ----------
    posterior
        The result.
    texts, pictures
        What the items say, by code, and look like.
    """
    a = posterior.annotations
    labels = posterior.labels()
    probability = labels["probability"].to_numpy()
    entropy = labels["entropy"].to_numpy()
    labelled = a.labels_per_item > 0
    (candidates,) = np.nonzero(labelled & (a.codes.gold < 0))
    order = np.lexsort((candidates, -entropy[candidates], probability[candidates]))
    shown = candidates[order[:MOST_ITEMS]]
    return {
        "n": a.n_items,
        "n_labelled": int(labelled.sum()),
        "n_known": int((a.codes.gold >= 0).sum()),
        "n_certain": int((probability[labelled] >= CERTAIN).sum()),
        "n_doubtful": int((probability[candidates] < DOUBTFUL).sum()),
        "expected_right": float(probability[labelled].mean()) if labelled.any() else None,
        "bands": bands(probability[labelled]),
        "rows": [
            {
                **item_row(posterior, int(i), int(t)),
                "text": text_of(texts.get(int(i))),
                "picture": None if pictures is None else pictures.of(int(i)),
            }
            for i, t in zip(shown, posterior.label_code[shown], strict=True)
        ],
        "left_out": len(candidates) - len(shown),
        "has_text": bool(texts),
    }


def bands(probability: NDArray[np.float64]) -> list[Facts]:
    """Count items between the ends of each band, lower ends included."""
    tops = (None, *BANDS[:-1])
    counts = [
        np.count_nonzero((probability >= low) & (probability < (2 if top is None else top)))
        for low, top in zip(BANDS, tops, strict=True)
    ]
    return [
        {"low": low, "high": top, "items": int(n), "share": float(n / max(len(probability), 1))}
        for low, top, n in zip(BANDS, tops, counts, strict=True)
    ]


def certainty(probability: float, runner_up: float = 0.0) -> str:
    """Write a certainty in whole percent: never one that its band, or the runner-up, denies.

    Examples
    --------
    >>> shown = [certainty(0.984), certainty(0.986), certainty(0.99), certainty(1.0, 1e-20)]
    >>> [word.replace("\N{NO-BREAK SPACE}", " ") for word in shown]
    ['98 %', '98 %', '99 %', '>99 %']
    """
    if runner_up > 0:  # a runner-up below the float's last digit would leave 1.0: 100 %, and denied
        probability = min(probability, 1 - 1e-9)
    above = round(100 * probability)
    crosses = any(probability < end <= above / 100 for end in BANDS)
    return percent((above - 1) / 100 if crosses else probability)


def item_row(posterior: Posterior, i: int, chosen: int) -> Facts:
    """Describe an item: its label, the runner-up, and the answers with those who gave them."""
    a = posterior.annotations
    p = posterior.item_probability[i]
    second = int(np.argmax(np.where(np.arange(len(p)) == chosen, -1, p)))
    said = answers_to(posterior, i)
    return {
        "item": name(a.items[i]),
        "label": name(a.classes[chosen]),
        "probability": float(p[chosen]),
        "runner_up": name(a.classes[second]),
        "runner_up_probability": float(p[second]),
        "n_labels": int(a.labels_per_item[i]),
        "said": said[:MOST_ANSWERS],
        "more_answers": max(len(said) - MOST_ANSWERS, 0),
    }


def answers_to(posterior: Posterior, i: int) -> list[Facts]:
    """List the answers an item was given, the commonest first, with the names."""
    a = posterior.annotations
    labels = slice(a.codes.item_start[i], a.codes.item_start[i + 1])
    answer, who = a.codes.item_answer[labels], a.codes.item_annotator[labels]
    given, times = np.unique(answer, return_counts=True)
    said = []
    for c, n in sorted(zip(given.tolist(), times.tolist(), strict=True), key=lambda x: -x[1]):
        names = [name(word) for word in a.annotators[who[answer == c][:MOST_NAMES]].tolist()]
        word = name(a.answers[c])
        said.append({"answer": word, "n": n, "who": names, "more": n - len(names)})
    return said


def balance_facts(posterior: Posterior) -> Facts:
    """Describe the classes: how many items each has, and its proportion with an interval."""
    a, uncertain = posterior.annotations, posterior.abilities.uncertainty
    items = np.bincount(posterior.label_code, minlength=a.n_classes)
    low = high = [None] * a.n_classes
    if uncertain:
        pooled = posterior.require_draws("intervals").class_balance.reshape(-1, a.n_classes)
        low, high = (end.tolist() for end in np.quantile(pooled, INTERVAL, axis=0))
    rows: list[Facts] = [
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
    most = 50
    if len(rows) > most:
        rows.sort(key=lambda row: -row["items"])
    return {
        "rows": rows[:most],
        "left_out": max(len(rows) - most, 0),
        "has_interval": uncertain,
    }
