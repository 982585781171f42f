"""What an item says or looks like, beside its id: text made short, pictures made small."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from coterie.data.annotations import Annotations
from coterie.data.table import look_up, value_array
from coterie.errors import DataError
from coterie.words.names import Name, name
from coterie.words.visible import quoted

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
    pairs = list(given.items())
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
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
        link = {"src": None, "href": address(value), "name": name(value)}
        if is_on_the_web(value):
            return link
        source = embedded(self.folder / value)
        if source is None or len(source) > self.room:
            return link
        self.room -= len(source)
        return {**link, "src": source, "href": None}


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
            start = handle.read(4)
            kind = next((word for mark, word in KINDS.items() if start.startswith(mark)), None)
            if kind is None:
                return None
            content = start + handle.read(SMALL)
    except (OSError, ValueError):
        return None
    small = thumbnail(path)
    if small is not None:
        return uri("jpeg", small)
    return uri(kind, content) if len(content) <= SMALL else None


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


def uri(kind: str, content: bytes) -> str:
    """Give a picture as text that a page can hold."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"
