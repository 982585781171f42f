"""Data that the page's script shows on demand: one block of text, packed small."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.files.values import json_text
from coterie.posterior import Posterior
from coterie.posterior.items import second_codes
from coterie.report.items import certainty
from coterie.words.names import LONGEST, WHOLE, name

MOST_BYTES = 800_000
"""Of the packed block; what would make it larger is left out."""

Facts = dict[str, Any]


def pack(data: Any) -> str:
    """Pack plain values: JSON, deflated, in base64.

    Examples
    --------
    >>> unpack(pack({"a": [1, 2]}))
    {'a': [1, 2]}
    """
    text = json_text(data, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"))).decode("ascii")


def unpack(block: str) -> Any:
    """Give what was packed."""
    return json.loads(zlib.decompress(base64.b64decode(block)))


def packed(people: Facts, posterior: Posterior, texts: Sequence[str | None] | None) -> str:
    """Pack the annotators' matrices and all items; names of who said what if there is room.

    Parameters
    ----------
    people
        What the script shows of annotators.
    posterior
        The result.
    texts
        What each item says, if that is known.
    """
    items = all_items(posterior)
    if texts is not None:
        items["text"] = list(texts)
    for left_out in ((), ("who", "people"), ("answer",), ("text",), tuple(items)):
        for key in left_out:
            items.pop(key, None)
        block = pack({**people, "items": items or None})
        if len(block) <= MOST_BYTES:
            return block
    return block


def all_items(posterior: Posterior) -> Facts:
    """Describe every item in a few numbers: label, certainty, runner-up, who said what."""
    a, p, chosen = posterior.annotations, posterior.item_probability, posterior.label_code
    places = np.arange(a.n_items)
    second, sure = second_codes(p, chosen), p[places, chosen]
    next_sure = np.where(second == chosen, 0.0, p[places, second])
    words: dict[str, int] = {}
    shown = [
        words.setdefault(certainty(x, y), len(words))
        for x, y in zip(sure.tolist(), next_sure.tolist(), strict=True)
    ]
    return {
        "item": [plain(word, WHOLE) for word in a.items.tolist()],
        "label": chosen.tolist(),
        "sure": shown,
        "words": list(words),
        "second": second.tolist(),
        "p2": np.rint(100 * next_sure).astype(int).tolist(),
        "n": a.labels_per_item.tolist(),
        "known": np.flatnonzero(a.codes.gold >= 0).tolist(),
        "answers": [plain(word) for word in a.answers.tolist()],
        "answer": a.codes.item_answer.tolist(),
        "who": a.codes.item_annotator.tolist(),
        "people": [plain(word) for word in a.annotators.tolist()],
    }


def plain(value: object, longest: int = LONGEST) -> str:
    """Give a name as it is shown: most are, as they are."""
    text = str(value)
    if len(text) <= longest and text.isascii() and text.isprintable() and text.strip():
        return text
    return name(value, longest)
