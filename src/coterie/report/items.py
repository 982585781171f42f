"""What the page says of items: how sure labels are, who said what, and all of them packed small."""

from __future__ import annotations

import base64
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from coterie.data.annotations import Annotations
from coterie.data.table import look_up, value_array
from coterie.errors import DataError
from coterie.files.values import json_text
from coterie.posterior import Posterior
from coterie.posterior.items import second_codes
from coterie.posterior.sheets import REVIEW
from coterie.words.names import LONGEST, WHOLE, Name, name
from coterie.words.numbers import percent
from coterie.words.visible import quoted

MOST_ITEMS, MOST_NAMES, MOST_ANSWERS = 200, 12, 12
CERTAIN, DOUBTFUL = 0.95, REVIEW
BANDS = (0.99, CERTAIN, DOUBTFUL, 0.5, 0.0)
"""Lower ends of the bands of certainty, the surest first."""
MOST_BLOCK = 800_000
"""Bytes of the packed block; what would make it larger is left out."""

MOST_TEXT = 240
"""Characters of an item's text that are shown."""
SIDE = 240
"""Pixels of the longer side of a picture."""
SMALL = 30_000
"""Bytes of a picture that is embedded as it is, where nothing can make it smaller."""
MOST_BYTES = 1_200_000
"""Of all pictures together, as text; the others are linked."""
MOST_PIXELS = 60_000_000
KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
"""How files of pictures begin."""

Facts = dict[str, Any]
NOTHING: Mapping[int, str] = MappingProxyType({})


def item_facts(
    posterior: Posterior, texts: Mapping[int, str] = NOTHING, pictures: Pictures | None = None
) -> Facts:
    """Count the items by certainty, and list the least certain with who said what.

    ``texts`` is what items say, by code.
    """
    a, labels = posterior.annotations, posterior.labels()
    probability = labels["probability"].to_numpy()
    labelled, known = a.labels_per_item > 0, a.codes.gold >= 0
    (candidates,) = np.nonzero(labelled & ~known)
    entropy = labels["entropy"].to_numpy()[candidates]
    order = np.lexsort((candidates, -entropy, probability[candidates]))
    shown, tops = candidates[order[:MOST_ITEMS]], (2, *BANDS[:-1])
    sure, n = probability[labelled], max(int(labelled.sum()), 1)
    counts = [int(((sure >= x) & (sure < y)).sum()) for x, y in zip(BANDS, tops, strict=True)]
    return {
        "n": a.n_items,
        "n_labelled": int(labelled.sum()),
        "n_known": int(known.sum()),
        "n_certain": int((sure >= CERTAIN).sum()),
        "n_doubtful": int((probability[candidates] < DOUBTFUL).sum()),
        "expected_right": float(sure.mean()) if labelled.any() else None,
        "bands": [
            {"low": low, "high": None if top == 2 else top, "items": k, "share": k / n}
            for low, top, k in zip(BANDS, tops, counts, strict=True)
        ],
        "rows": [
            {
                **_row(posterior, i),
                "text": text_of(texts.get(i)),
                "picture": None if pictures is None else pictures.of(i),
            }
            for i in shown.tolist()
        ],
        "left_out": len(candidates) - len(shown),
        "has_text": bool(texts),
    }


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


def _row(posterior: Posterior, i: int) -> Facts:
    """Describe an item: its label, the runner-up, the answers, the commonest first, with names."""
    a, p, chosen = posterior.annotations, posterior.item_probability[i], posterior.label_code[i]
    second = int(np.argmax(np.where(np.arange(len(p)) == chosen, -1, p)))
    labels = slice(a.codes.item_start[i], a.codes.item_start[i + 1])
    answer, who = a.codes.item_answer[labels], a.codes.item_annotator[labels]
    given, times = np.unique(answer, return_counts=True)
    said = []
    for c, n in sorted(zip(given.tolist(), times.tolist(), strict=True), key=lambda x: -x[1]):
        names = [name(word) for word in a.annotators[who[answer == c][:MOST_NAMES]].tolist()]
        said.append({"answer": name(a.answers[c]), "n": n, "who": names, "more": n - len(names)})
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


def packed(people: Facts, posterior: Posterior, texts: Sequence[str | None] | None) -> str:
    """Pack what the script shows on demand: JSON, deflated, in base64.

    Of all items, what would make the block too large is left out, who said what first.

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
        text = json_text({**people, "items": items or None}, separators=(",", ":"))
        block = base64.b64encode(zlib.compress(text.encode("utf-8"))).decode("ascii")
        if len(block) <= MOST_BLOCK:
            break
    return block


def unpack(block: str) -> Any:
    """Give what was packed."""
    return json.loads(zlib.decompress(base64.b64decode(block)))


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
        "item": _names(a.items, WHOLE),
        "label": chosen.tolist(),
        "sure": shown,
        "words": list(words),
        "second": second.tolist(),
        "p2": np.rint(100 * next_sure).astype(int).tolist(),
        "n": a.labels_per_item.tolist(),
        "known": np.flatnonzero(a.codes.gold >= 0).tolist(),
        "answers": _names(a.answers),
        "answer": a.codes.item_answer.tolist(),
        "who": a.codes.item_annotator.tolist(),
        "people": _names(a.annotators),
    }


def _names(values: Any, longest: int = LONGEST) -> list[str]:
    """Give names as they are shown: most are, as they are, and quickly told."""
    return [
        text
        if len(text) <= longest and text.isascii() and text.isprintable() and text.strip()
        else name(value, longest)
        for value in values.tolist()
        for text in [str(value)]
    ]


def by_item(annotations: Annotations, given: Any, argument: str) -> dict[int, str]:
    """Match values to items: code of the item -> text; blanks, and items not here, are left out.

    Parameters
    ----------
    annotations
        The data.
    given
        Series or mapping, item -> text.
    argument
        What it is called, for the error if it is neither.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping | pd.Series):
        raise DataError(
            f"{argument} must be a Series or dict, item -> text, got {quoted(given)}",
            argument=argument,
        )
    keys, values = [key for key, _ in given.items()], [value for _, value in given.items()]
    places = look_up(value_array(keys), annotations.items).tolist() if keys else []
    return {
        i: str(value)
        for i, value in zip(places, values, strict=True)
        if i >= 0 and not (value is None or value != value or not str(value).strip())
    }


def text_of(text: str | None) -> Name | None:
    """Give an item's text on one line, not too long."""
    return None if text is None else name(" ".join(text.split()), MOST_TEXT)


class Pictures:
    """Pictures of items, embedded as long as there is room.

    Parameters
    ----------
    given
        Code of the item -> a local file, or an address on the web, which is only linked.
    folder
        What paths are relative to; by default where one is.
    """

    def __init__(self, given: Mapping[int, str], folder: Path | None = None) -> None:
        self.given = given
        self.folder = folder or Path()
        self.room = MOST_BYTES

    def of(self, i: int) -> Facts | None:
        """Give a picture: its content as a data URI, or where it is; None if there is none."""
        if i not in self.given:
            return None
        value = self.given[i].strip()
        source = None if is_on_the_web(value) else embedded(self.folder / value)
        if source is None or len(source) > self.room:
            return {"src": None, "href": address(value), "name": name(value)}
        self.room -= len(source)
        return {"src": source, "href": None, "name": name(value)}


def is_on_the_web(value: str) -> bool:
    """Tell an address from a file."""
    return value.lower().startswith(("http://", "https://"))


def address(value: str) -> str:
    """Give what a link may lead to: the web, or a file; nothing that a browser would run.

    Examples
    --------
    >>> address("https://example.org/a b.png"), address("pictures/7.png")
    ('https://example.org/a%20b.png', 'pictures/7.png')
    >>> address("javascript:alert(1)")
    'javascript%3Aalert%281%29'
    """
    if is_on_the_web(value):
        return quote(value, safe=":/?&=#%+,;@~")
    return quote(value.replace("\\", "/"), safe="/~")


def embedded(path: Path) -> str | None:
    """Give a small picture of a file as a data URI; None if it is none, or cannot be made small."""
    try:
        with path.open("rb") as handle:
            content = handle.read(SMALL + 1)
    except (OSError, ValueError):
        return None
    kind = next((word for mark, word in KINDS.items() if content.startswith(mark)), None)
    if kind is None:
        return None
    small = thumbnail(path)
    if small is not None:
        kind, content = "jpeg", small
    elif len(content) > SMALL:
        return None
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def thumbnail(path: Path) -> bytes | None:
    """Make a picture small, if Pillow is there and can read it."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with Image.open(path) as found:
            if found.width * found.height > MOST_PIXELS:
                return None
            found.draft("RGB", (SIDE, SIDE))
            whole = found.convert("RGBA")
            whole.thumbnail((SIDE, SIDE))
            paper = Image.new("RGB", whole.size, "white")
            paper.paste(whole, mask=whole.getchannel("A"))
            out = io.BytesIO()
            paper.save(out, "JPEG", quality=70)
    except Exception:  # a damaged picture can raise almost anything
        return None
    return out.getvalue()
